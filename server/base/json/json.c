/* The beginning of a JSON text, JSON pointers, and trees as text. */
#include "base/json/json.h"

#include <stdint.h>
#include <string.h>

size_t json_mark_size(const char *text, size_t size) {
    return size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

const char *json_first(const char *text, size_t size) {
    text += json_mark_size(text, size);
    return text + strspn(text, " \t\r\n");
}

void json_pointer(struct buf *out, const char *parent, const char *key) {
    buf_puts(out, parent);
    buf_putc(out, '/');
    for (; *key != '\0'; key++) {
        if (*key == '~') {
            buf_puts(out, "~0");
        } else if (*key == '/') {
            buf_puts(out, "~1");
        } else {
            buf_putc(out, *key);
        }
    }
}

void json_put_value(const json_t *value, struct json_writer *w) {
    const char *key;
    const json_t *member;
    size_t i;
    if (json_is_object(value)) {
        json_begin_object(w);
        json_object_foreach((json_t *)(uintptr_t)value, key, member) {
            json_put_key(w, key);
            json_put_value(member, w);
        }
        json_end_object(w);
    } else if (json_is_array(value)) {
        json_begin_array(w);
        json_array_foreach(value, i, member) {
            json_put_value(member, w);
        }
        json_end_array(w);
    } else if (json_is_number(value)) {
        json_put_double(w, json_number_value(value));
    } else if (json_is_boolean(value)) {
        json_put_bool(w, json_is_true(value));
    } else if (json_is_string(value)) {
        json_put_stringn(w, json_string_value(value), json_string_length(value));
    } else {
        json_put_null(w);
    }
}
