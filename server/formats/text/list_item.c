/* One item of a comma-separated list. */
#include "formats/text/list_item.h"

#include <string.h>

const char *list_item(const char *list, char *out, size_t room, size_t *n, struct text *behind) {
    const bool quoted = *list == '"';
    bool closed = !quoted;
    size_t size = 0;
    const char *at = list + quoted;
    for (; *at != '\0' && (quoted || *at != ','); at++) {
        if (quoted && *at == '"' && *++at != '"') {
            closed = true;
            break;
        }
        if (size < room) {
            out[size] = *at;
        }
        size++;
    }
    if (!closed) {
        return NULL;
    }
    *behind = (struct text){at, strcspn(at, ",")};
    *n = size;
    return at + behind->n;
}
