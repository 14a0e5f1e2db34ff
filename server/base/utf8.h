/* UTF-8: validation, truncation, repair. Thread safe. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/memory/buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the longest valid prefix (no overlong forms, no surrogates, <= U+10FFFF).
 * Fast for ASCII. A sequence that is cut off at the end is invalid. */
size_t utf8_valid_prefix(const char *bytes, size_t n);
/* Returns n if n <= limit, otherwise the largest length <= limit that does not divide a sequence
 * (limit, if the text is not UTF-8). */
size_t utf8_cut(const char *bytes, size_t n, size_t limit);
#define UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
/* Appends the bytes; each invalid byte is replaced by U+FFFD. */
void utf8_append(struct buf *out, const char *bytes, size_t n);

#endif
