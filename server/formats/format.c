/* The table of formats, and lookups in it. */
#include "formats/format.h"

#include <assert.h>
#include <string.h>

#define FORMAT_ADDRESS(name) &format_##name,
const struct format *const formats[] = {FORMATS(FORMAT_ADDRESS) NULL};
#undef FORMAT_ADDRESS
static_assert(sizeof formats / sizeof formats[0] <= FORMATS_MAX, "FORMATS_MAX is too small");

bool format_has(const struct format *format, enum format_use use) {
    switch (use) {
    case FORMAT_TABLE:
        return format->table != NULL;
    case FORMAT_INSTANCES:
        return format->instances != NULL;
    case FORMAT_ROWS:
        return format->rows != NULL;
    case FORMAT_ANSWERS:
        return format->answers != NULL;
    case FORMAT_GRID:
        return format->answers != NULL &&
               (format->answers->document || format->answers->delimiter != '\0');
    }
    return false;
}

const char *format_media_type(const struct format *format) {
    return format->media_types[0];
}

bool format_find(const char *media_type, enum format_use use, const struct format **out) {
    *out = NULL;
    if (media_type[0] == '\0') {
        return true;
    }
    for (size_t i = 0; formats[i] != NULL; i++) {
        for (const char *const *type = formats[i]->media_types; *type != NULL; type++) {
            if (format_has(formats[i], use) && strcmp(media_type, *type) == 0) {
                *out = formats[i];
                return true;
            }
        }
    }
    return false;
}

void format_offer(enum format_use use, const struct format *first,
                  const struct format *offered[FORMATS_MAX + 1],
                  const char *types[FORMATS_MAX + 1]) {
    size_t n = 0;
    offered[n++] = first;
    for (size_t i = 0; formats[i] != NULL; i++) {
        if (formats[i] != first && format_has(formats[i], use)) {
            offered[n++] = formats[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        types[i] = format_media_type(offered[i]);
    }
    types[n] = NULL;
}

void format_list(enum format_use use, struct buf *out) {
    const char *last = NULL;
    bool begun = false;
    for (size_t i = 0; formats[i] != NULL; i++) {
        if (!format_has(formats[i], use)) {
            continue;
        }
        if (last != NULL) {
            buf_printf(out, "%s%s", begun ? ", " : "", last);
            begun = true;
        }
        last = format_media_type(formats[i]);
    }
    buf_printf(out, "%s%s", begun ? " or " : "", last != NULL ? last : "");
}
