/* Entity tags in If-Match and If-None-Match (RFC 9110, sections 8.8.3 and 13.1). */
#include "base/etag.h"

#include <stddef.h>
#include <string.h>

/* One entity tag. */
struct tag {
    const char *opaque; /* the opaque part, beginning with its opening quote */
    size_t length;      /* length of the opaque part, including both quotes */
    bool is_weak;
};

/* Reads the tag at s. Returns the byte after it; NULL if there is no tag. The opaque part may
 * contain commas, but no quotes: there is no escape. */
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

/* Compares two tags. weak: weak comparison. forms: `theirs` also matches if it is `ours` followed
 * by a hyphen and more text. */
static bool tag_matches(const struct tag *theirs, const struct tag *ours, bool weak, bool forms) {
    const size_t n = ours->length - 1; /* length without the closing quote */
    return (weak || (!theirs->is_weak && !ours->is_weak)) && theirs->length > n &&
           memcmp(theirs->opaque, ours->opaque, n) == 0 &&
           (theirs->length == ours->length || (forms && theirs->opaque[n] == '-'));
}

static bool list_matches(const char *list, const char *etag, bool weak, bool forms) {
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
            if (end && tag_matches(&theirs, &ours, weak, forms)) {
                return true;
            }
            list = after;
        }
        list += strcspn(list, ","); /* skips text that is not a tag */
        list += strspn(list, ", \t");
    }
    return false;
}

bool etag_list_valid(const char *list) {
    struct tag tag;
    bool some = false;
    list += strspn(list, " \t");
    if (list[0] == '*') {
        return list[1 + strspn(list + 1, " \t")] == '\0';
    }
    for (list += strspn(list, ", \t"); *list != '\0'; list += strspn(list, ", \t")) {
        list = tag_read(list, &tag);
        if (list == NULL) {
            return false;
        }
        list += strspn(list, " \t");
        if (*list != ',' && *list != '\0') {
            return false;
        }
        some = true;
    }
    return some;
}

bool etag_list_matches(const char *list, const char *etag, bool weak) {
    return list_matches(list, etag, weak, false);
}

bool etag_list_names(const char *list, const char *state, bool weak) {
    return list_matches(list, state, weak, true);
}

void etag_form(struct buf *out, const char *state, const char *coding) {
    buf_printf(out, "%.*s-%s%s%s\"", (int)strlen(state) - 1, state, DISCERN_VERSION,
               coding != NULL ? "-" : "", coding != NULL ? coding : "");
}
