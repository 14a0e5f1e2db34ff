#include "base/json/json_lexical.h"

#include <string.h>

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Returns the value of the escape \uXXXX at p; -1 if there is none. */
static long unit(const char *p, const char *end) {
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return -1;
    }
    long u = 0;
    for (int i = 2; i < 6; i++) {
        const int d = hex_digit(p[i]);
        if (d < 0) {
            return -1;
        }
        u = u * 16 + d;
    }
    return u;
}

static char *put_utf8(char *out, unsigned long c) {
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3F));
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

const char *json_unescape(const char **at, const char *end, char **out) {
    static const char named[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *p = *at;
    const char c = end - p > 1 ? p[1] : '\0', *which = c != '\0' ? strchr(named, c) : NULL;
    if (which != NULL) {
        *(*out)++ = meant[which - named];
        *at = p + 2;
        return NULL;
    }
    long u = unit(p, end);
    if (u < 0) {
        return "the escape in the string is none of \\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t and "
               "\\u "
               "with four hexadecimal digits";
    }
    if (u == 0) {
        return "\\u0000 is not allowed in a string or a name";
    }
    p += 6;
    if (u >= 0xD800 && u <= 0xDFFF) {
        const long low = u <= 0xDBFF ? unit(p, end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            return "the \\u escape is half of a surrogate pair without the other half";
        }
        u = 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    *out = put_utf8(*out, (unsigned long)u);
    *at = p;
    return NULL;
}

static size_t skip_digits(const char *s, size_t n, size_t i) {
    while (i < n && s[i] >= '0' && s[i] <= '9') {
        i++;
    }
    return i;
}

size_t json_number_size(const char *s, size_t n) {
    const size_t whole = n > 0 && s[0] == '-';
    size_t i = skip_digits(s, n, whole);
    if (i == whole || (s[whole] == '0' && i > whole + 1)) {
        return 0;
    }
    if (i < n && s[i] == '.') {
        const size_t part = i + 1;
        i = skip_digits(s, n, part);
        if (i == part) {
            return 0;
        }
    }
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        const size_t power = i + 1 + (i + 1 < n && (s[i + 1] == '+' || s[i + 1] == '-'));
        i = skip_digits(s, n, power);
        if (i == power) {
            return 0;
        }
    }
    return i;
}
