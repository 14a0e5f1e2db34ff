/* Entity tags: the lists of If-Match and If-None-Match (RFC 9110, sections 8.8.3 and 13.1). */
#include "base/etag.h"

#include <stddef.h>
#include <string.h>

/* One tag: its opaque part with quotes, and whether W/ stood before it. */
struct tag {
    const char *opaque; /* from the opening quote */
    size_t length;      /* to the closing one, both counted */
    bool is_weak;
};

/* Reads the tag at s; NULL if there is none there, else what follows it. A tag's text may hold commas, no quotes: there is no escape. */
static const char *tag_read(const char *s, struct tag *out) {
    out->is_weak = s[0] == 'W' && s[1] == '/';
    s += out->is_weak ? 2 : 0;
    if (*s != '"') {
        return NULL;
    }
    const char *end = strchr(s + 1, '"');
    if (end == NULL) {
        return NULL;
    }
    out->opaque = s;
    out->length = (size_t)(end - s) + 1;
    return end + 1;
}

bool etag_list_matches(const char *list, const char *etag, bool weak) {
    struct tag ours, theirs;
    if (etag == NULL) {
        return false;
    }
    list += strspn(list, " \t");
    if (list[0] == '*' && list[1 + strspn(list + 1, " \t")] == '\0') {
        return true;
    }
    if (tag_read(etag, &ours) == NULL) {
        return false;
    }
    while (*list != '\0') {
        const char *after = tag_read(list, &theirs);
        if (after != NULL) {
            const bool end =
                after[strspn(after, " \t")] == ',' || after[strspn(after, " \t")] == '\0';
            if (end && theirs.length == ours.length &&
                memcmp(theirs.opaque, ours.opaque, ours.length) == 0 &&
                (weak || (!theirs.is_weak && !ours.is_weak))) {
                return true;
            }
            list = after;
        }
        list += strcspn(list, ","); /* what is no tag is passed over */
        list += strspn(list, ", \t");
    }
    return false;
}
