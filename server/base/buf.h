/* A growable byte buffer. Failure to grow is sticky: further appends do nothing, `failed` is set,
 * the caller checks once at the end. One thread. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;      /* NULL when capacity is 0; not NUL-terminated unless buf_cstr was called */
    size_t size;     /* bytes in use */
    size_t capacity; /* bytes allocated */
    bool failed;     /* an allocation failed: contents are incomplete */
};

void buf_init(struct buf *b); /* also `struct buf b = {0}` */
void buf_done(struct buf *b);
bool buf_reserve(struct buf *b, size_t more); /* room for `more` bytes after size */
bool buf_set_capacity(
    struct buf *b,
    size_t capacity); /* exactly this much is allocated, unless there is more already */
void buf_append(struct buf *b, const void *bytes, size_t n);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void buf_clear(struct buf *b);       /* size 0, memory kept, failed reset */
const char *buf_cstr(struct buf *b); /* NUL-terminated view; "" when empty; NULL when failed */
char *buf_take(struct buf *b, size_t *size); /* gives the (NUL-terminated) memory to the caller, who
                                                frees it; NULL when failed */

#endif
