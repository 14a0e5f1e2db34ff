/* Removes or selects members of a JSON text. */
#include "base/json/json_brief.h"

#include <stdbool.h>
#include <string.h>

/* Returns the byte after the string that begins at `at`. */
static const char *skip_string(const char *at) {
    for (at++; *at && *at != '"'; at++) {
        at += *at == '\\' && at[1];
    }
    return *at ? at + 1 : at;
}

/* Returns the byte after the value that begins at `at`. */
static const char *skip_value(const char *at) {
    size_t depth = 0;
    while (*at && (depth > 0 || (*at != ',' && *at != '}' && *at != ']'))) {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    }
    return at;
}

/* Whether the string from `at` to `end` - 1 is the key of a member that one of `names` selects. */
static bool is_named(const char *at, const char *end, const char *const *names) {
    if (*end != ':') {
        return false;
    }
    for (; *names; names++) {
        size_t n = strlen(*names);
        const char last = n > 0 ? (*names)[n - 1] : '\0';
        if (last == '[' || last == '{') {
            n--;
            if (end[1] != last) {
                continue;
            }
        }
        if ((size_t)(end - at) == n + 2 && memcmp(at + 1, *names, n) == 0) {
            return true;
        }
    }
    return false;
}

void json_brief(struct buf *out, const char *document, const char *const *names) {
    const char *from = document; /* start of the text that is to be copied next */
    for (const char *at = document; *at;) {
        const char *end = *at == '"' ? skip_string(at) : at + 1;
        if (*at != '"' || !is_named(at, end, names)) {
            at = end;
            continue;
        }
        buf_append(out, from, (size_t)(at - from));
        at = skip_value(end + 1);
        if (*at == ',') {
            at++;
        } else if (!out->failed && out->size > 0 && out->data[out->size - 1] == ',') {
            out->size--;
        }
        from = at;
    }
    buf_append(out, from, strlen(from));
}

/* Appends the members of the object that `name` means. Returns whether there was one. */
static bool pick_one(struct buf *out, const char *document, const char *name, bool begun) {
    const char *const names[] = {name, NULL};
    bool found = false;
    for (const char *at = strchr(document, '"'); at != NULL && *at == '"' && !found;) {
        const char *key = skip_string(at), *end = *key ? skip_value(key + 1) : key;
        found = is_named(at, key, names);
        if (found) {
            if (begun) {
                buf_putc(out, ',');
            }
            buf_append(out, at, (size_t)(end - at));
        }
        at = *end ? end + 1 : end;
    }
    return found;
}

void json_pick(struct buf *out, const char *document, const char *const *names) {
    bool begun = false;
    buf_putc(out, '{');
    for (size_t i = 0; names[i] != NULL; i++) {
        begun = pick_one(out, document, names[i], begun) || begun;
    }
    buf_putc(out, '}');
}
