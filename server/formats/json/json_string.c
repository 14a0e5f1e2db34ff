/* Texts of tokens: the end of a string, escapes, UTF-8, the grammar of numbers. */
#include "formats/json/json_string.h"
#include "base/utf8.h"
#include "formats/csv/csv_text.h"
#include "formats/text/scan.h"

#include <string.h>

const char *json_text_end(const char *p, const char *limit, bool *escaped, bool *decode) {
    bool skip = *escaped;
    while (p < limit) {
        if (!skip && limit - p >= 8) {
            const uint64_t w = scan_load(p);
            const uint64_t special = scan_equal(w, scan_repeat('"')) |
                                     scan_equal(w, scan_repeat('\\')) | scan_control(w);
            if (special == 0) {
                p += 8;
                continue;
            }
            p += scan_first(special);
        }
        const unsigned char c = (unsigned char)*p;
        if (c < 0x20 || (c == '"' && !skip)) {
            break;
        }
        skip = c == '\\' && !skip;
        *decode |= skip;
        p++;
    }
    *escaped = skip;
    return p;
}

const char *json_text_check_utf8(const char *text, size_t n, size_t *wrong) {
    const size_t valid = utf8_valid_prefix(text, n);
    if (valid == n) {
        return NULL;
    }
    *wrong = valid;
    return csv_text_wrong(text + valid, n - valid);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Returns the value of four hexadecimal digits at p, which follow \u; -1 if there are not four
 * digits. */
static long unit(const char *p, const char *end) {
    if (end - p < 4) {
        return -1;
    }
    long u = 0;
    for (int i = 0; i < 4; i++) {
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

/* Decodes the \u escape whose digits begin at *p: appends its character to *out and moves *p after
 * it. Returns NULL, or a description of the fault. */
static const char *unicode(const char **p, const char *end, char **out) {
    long u = unit(*p, end);
    if (u < 0) {
        return "\\u must be followed by four hexadecimal digits";
    }
    *p += 4;
    if (u == 0) {
        return "\\u0000 is not allowed";
    }
    if (u >= 0xDC00 && u <= 0xDFFF) {
        return "lone low surrogate";
    }
    if (u >= 0xD800 && u <= 0xDBFF) {
        const long low =
            end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' ? unit(*p + 2, end) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            return "lone high surrogate";
        }
        *p += 6;
        u = 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00);
    }
    *out = put_utf8(*out, (unsigned long)u);
    return NULL;
}

const char *json_text_unescape(char *text, size_t n, size_t *out_n, size_t *wrong) {
    static const char named[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *p = text, *end = text + n;
    char *out = text;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        const size_t plain = (size_t)((slash != NULL ? slash : end) - p);
        const size_t valid = utf8_valid_prefix(p, plain);
        if (valid < plain) {
            *wrong = (size_t)(p - text) + valid;
            return csv_text_wrong(p + valid, plain - valid);
        }
        memmove(out, p, plain);
        out += plain;
        p += plain;
        if (slash == NULL) {
            break;
        }
        *wrong = (size_t)(p - text);
        /* there is a character after the backslash, because the closing quote is not escaped */
        p++;
        const char c = *p++;
        if (c == 'u') {
            const char *fault = unicode(&p, end, &out);
            if (fault != NULL) {
                return fault;
            }
            continue;
        }
        const char *which = c != '\0' ? strchr(named, c) : NULL;
        if (which == NULL) {
            return "unknown escape";
        }
        *out++ = meant[which - named];
    }
    *out_n = (size_t)(out - text);
    return NULL;
}

bool json_text_is_number(const char *s, size_t n) {
    size_t i = n > 0 && s[0] == '-';
    const size_t whole = i;
    while (i < n && s[i] >= '0' && s[i] <= '9') {
        i++;
    }
    if (i == whole || (s[whole] == '0' && i > whole + 1)) {
        return false;
    }
    if (i < n && s[i] == '.') {
        const size_t part = ++i;
        while (i < n && s[i] >= '0' && s[i] <= '9') {
            i++;
        }
        if (i == part) {
            return false;
        }
    }
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        i++;
        i += i < n && (s[i] == '+' || s[i] == '-');
        const size_t power = i;
        while (i < n && s[i] >= '0' && s[i] <= '9') {
            i++;
        }
        if (i == power) {
            return false;
        }
    }
    return i == n;
}
