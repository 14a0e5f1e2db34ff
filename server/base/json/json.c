/* The beginning of a JSON text, and JSON pointers. */
#include "base/json/json.h"

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
