/* The growable byte buffer. Its capacity is doubled when needed. A failure sets a sticky flag, so
 * the caller need not check each append. */
#include "base/memory/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUF_FIRST = 256 };

void buf_init(struct buf *b) {
    *b = (struct buf){0};
}

void buf_done(struct buf *b) {
    free(b->data);
    *b = (struct buf){0};
}

bool buf_reserve(struct buf *b, size_t more) {
    if (b->failed) {
        return false;
    }
    if (more <= b->capacity - b->size) {
        return true;
    }
    /* No allocator returns more. The limit also keeps the doubling from overflowing. */
    if (more > PTRDIFF_MAX - b->size) {
        b->failed = true;
        return false;
    }
    const size_t need = b->size + more;
    size_t capacity = b->capacity > 0 ? b->capacity : BUF_FIRST;
    while (capacity < need) {
        capacity *= 2;
    }
    char *grown = realloc(b->data, capacity);
    if (grown == NULL) {
        b->failed = true;
        return false;
    }
    b->data = grown;
    b->capacity = capacity;
    return true;
}

bool buf_set_capacity(struct buf *b, size_t capacity) {
    if (b->failed || capacity <= b->capacity) {
        return !b->failed;
    }
    char *grown = realloc(b->data, capacity);
    if (grown == NULL) {
        b->failed = true;
        return false;
    }
    b->data = grown;
    b->capacity = capacity;
    return true;
}

void buf_append(struct buf *b, const void *bytes, size_t n) {
    if (n == 0 || !buf_reserve(b, n)) {
        return;
    }
    memcpy(b->data + b->size, bytes, n);
    b->size += n;
}

void buf_puts(struct buf *b, const char *text) {
    buf_append(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c) {
    if (buf_reserve(b, 1)) {
        b->data[b->size++] = c;
    }
}

void buf_vprintf(struct buf *b, const char *format, va_list args) {
    if (!buf_reserve(b, 1)) {
        return;
    }
    va_list again;
    va_copy(again, args);
    const size_t room = b->capacity - b->size;
    const int n = vsnprintf(b->data + b->size, room, format, args);
    if (n < 0) {
        b->failed = true;
    } else if ((size_t)n < room) {
        b->size += (size_t)n;
    } else if (buf_reserve(b, (size_t)n + 1)) { /* plus one byte for the NUL of vsnprintf */
        (void)vsnprintf(b->data + b->size, (size_t)n + 1, format, again);
        b->size += (size_t)n;
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

void buf_clear(struct buf *b) {
    b->size = 0;
    b->failed = false;
}

const char *buf_cstr(struct buf *b) {
    if (b->failed) {
        return NULL;
    }
    if (b->size == 0) {
        return "";
    }
    if (!buf_reserve(b, 1)) {
        return NULL;
    }
    b->data[b->size] = '\0';
    return b->data;
}

char *buf_take(struct buf *b, size_t *size) {
    if (!buf_reserve(b, 1)) {
        return NULL;
    }
    char *data = b->data;
    data[b->size] = '\0';
    if (size != NULL) {
        *size = b->size;
    }
    *b = (struct buf){0};
    return data;
}
