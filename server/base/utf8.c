/* Validation of UTF-8 by the table of well-formed byte sequences (Unicode, table 3-7); eight ASCII
 * bytes are checked at a time. */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* Returns the length of the well-formed sequence at p, where n > 0 bytes are available; 0 if there
 * is none. */
static size_t sequence_length(const unsigned char *p, size_t n) {
    const unsigned char c = p[0];
    if (c < 0x80) {
        return 1;
    }
    size_t length;
    unsigned char low = 0x80, high = 0xBF; /* range of the second byte */
    if (c >= 0xC2 && c <= 0xDF) {
        length = 2;
    } else if (c >= 0xE0 && c <= 0xEF) {
        length = 3;
        low = c == 0xE0 ? 0xA0 : low;   /* no overlong forms */
        high = c == 0xED ? 0x9F : high; /* no surrogates */
    } else if (c >= 0xF0 && c <= 0xF4) {
        length = 4;
        low = c == 0xF0 ? 0x90 : low;
        high = c == 0xF4 ? 0x8F : high; /* <= U+10FFFF */
    } else {
        return 0;
    }
    if (n < length || p[1] < low || p[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

size_t utf8_valid_prefix(const char *bytes, size_t n) {
    const unsigned char *p = (const unsigned char *)bytes;
    size_t i = 0;
    while (i < n) {
        while (n - i >= 8) {
            uint64_t word;
            memcpy(&word, p + i, 8);
            if ((word & UINT64_C(0x8080808080808080)) != 0) {
                break;
            }
            i += 8;
        }
        /* There is a non-ASCII byte among the next eight, or fewer than eight bytes are left: check
         * eight sequences one by one. */
        for (size_t k = 0; k < 8 && i < n; k++) {
            const size_t length = sequence_length(p + i, n - i);
            if (length == 0) {
                return i;
            }
            i += length;
        }
    }
    return n;
}

size_t utf8_cut(const char *bytes, size_t n, size_t limit) {
    if (n <= limit) {
        return n;
    }
    size_t end = limit;
    /* Goes back over continuation bytes, at most three: text that is not UTF-8 may have any number
     * of them. */
    for (int k = 0; k < 3 && end > 0 && ((unsigned char)bytes[end] & 0xC0) == 0x80; k++) {
        end--;
    }
    return ((unsigned char)bytes[end] & 0xC0) == 0x80 ? limit : end;
}

void utf8_append(struct buf *out, const char *bytes, size_t n) {
    while (n > 0) {
        const size_t valid = utf8_valid_prefix(bytes, n);
        buf_append(out, bytes, valid);
        if (valid == n) {
            return;
        }
        buf_puts(out, UTF8_REPLACEMENT);
        bytes += valid + 1;
        n -= valid + 1;
    }
}
