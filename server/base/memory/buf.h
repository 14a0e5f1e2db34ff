/* A growable byte buffer. A failure to grow is sticky: `failed` is set, further appends have no
 * effect, and the caller checks once at the end. Used by one thread at a time. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;      /* NULL when capacity is 0; not NUL-terminated unless buf_cstr was called */
    size_t size;     /* bytes in use */
    size_t capacity; /* bytes allocated */
    bool failed;     /* an allocation failed: the contents are incomplete */
};

void buf_init(struct buf *b); /* same as `struct buf b = {0}` */
void buf_done(struct buf *b);
/* Allocates room for `more` bytes after `size`. Returns false if the buffer has failed. */
bool buf_reserve(struct buf *b, size_t more);
/* Makes the capacity exactly this, unless it is larger already. Returns false if the buffer has
 * failed. */
bool buf_set_capacity(struct buf *b, size_t capacity);
void buf_append(struct buf *b, const void *bytes, size_t n);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void buf_clear(struct buf *b);       /* size 0, keeps the memory, resets `failed` */
const char *buf_cstr(struct buf *b); /* NUL-terminated contents; "" if empty; NULL if failed */
/* Returns the memory, NUL-terminated, which the caller frees; NULL if the buffer has failed. */
char *buf_take(struct buf *b, size_t *size);

#endif
