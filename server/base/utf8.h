/* UTF-8: validity, cutting, repair. Thread safe. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

/* Length of the longest valid prefix (no overlongs, no surrogates, <= U+10FFFF): n when all is
 * valid. Fast on ASCII. A sequence cut by the end counts as invalid. */
size_t utf8_valid_prefix(const char *bytes, size_t n);
/* n if n <= limit, else the largest length <= limit that does not cut a sequence (in text that is
 * no UTF-8: limit). */
size_t utf8_cut(const char *bytes, size_t n, size_t limit);
#define UTF8_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
/* Appends the bytes, each invalid one as U+FFFD. */
void utf8_append(struct buf *out, const char *bytes, size_t n);

#endif
