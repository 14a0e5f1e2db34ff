/* Content negotiation: Accept and the media types that a handler offers (RFC 9110, section 12.5.1).
 */
#include "http/http.h"
#include "http/protocol/fields.h"
#include <string.h>
#include <strings.h>

/* Returns how well a media range matches: 3 the media type, 2 the type, 1 any type, 0 not at
 * all. */
static int match(struct part range, const char *offered) {
    const struct part whole = element_value((struct part){offered, strlen(offered)});
    const size_t type = strcspn(offered, "/");
    if (range.n == whole.n && strncasecmp(range.text, whole.text, whole.n) == 0) {
        return 3;
    }
    if (part_is(range, "*/*") || part_is(range, "*")) { /* "*" is not in the grammar, but some
                                                           clients send it */
        return 1;
    }
    return range.n == type + 2 && strncmp(range.text + type, "/*", 2) == 0 &&
                   strncasecmp(range.text, offered, type) == 0
               ? 2
               : 0;
}

int http_accepts(const struct http_call *call, const char *const *offered) {
    const char *accept = http_header(call, "Accept");
    if (accept == NULL || strcmp(accept, "*/*") == 0 || accept[strspn(accept, " \t,")] == '\0') {
        return 0;
    }
    int best = -1, best_weight = 0;
    for (int i = 0; offered[i] != NULL; i++) {
        int weight = 0, matched = 0;
        const char *list = accept;
        struct part element;
        while (list_next(&list, &element)) {
            const int m = match(element_value(element), offered[i]);
            if (m > matched) {
                matched = m;
                weight = element_weight(element);
            }
        }
        if (weight > best_weight) {
            best_weight = weight;
            best = i;
        }
    }
    return best;
}
