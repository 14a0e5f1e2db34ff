/* Formats one line of the log: key=value, or a JSON object. */
#include "base/log/log_line.h"
#include "base/json/json_write.h"
#include "base/process/clock.h"
#include "base/utf8.h"

#include <discern/number.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE_TAIL = 32, NUMBER_SIZE = 32 };

const char *log_level_name(enum log_level level) {
    static const char *const names[] = {"debug", "info", "warn", "error"};
    return names[level];
}

static void put(struct log_line *l, const char *bytes, size_t n) {
    if (n > LOG_LINE_MAX - LINE_TAIL - l->size) {
        l->full = true;
        return;
    }
    memcpy(l->data + l->size, bytes, n);
    l->size += n;
}

static void puts_line(struct log_line *l, const char *text) {
    put(l, text, strlen(text));
}

/* Whether this character (a valid UTF-8 sequence of `length` bytes) must be escaped, because it
 * could forge a line, end a quoted value or change the direction of text. */
static bool is_dangerous(const unsigned char *p, size_t length) {
    if (length == 1) {
        return p[0] < 0x20 || p[0] == 0x7F || p[0] == '"' || p[0] == '\\';
    }
    if (length == 2) {
        return p[0] == 0xC2 && p[1] < 0xA0; /* C1 control characters */
    }
    if (length != 3 || p[0] != 0xE2) {
        return false;
    }
    /* U+2028, U+2029: line ends; U+202A–202E: direction overrides; U+2066–2069: direction
     * isolates. */
    return (p[1] == 0x80 && p[2] >= 0xA8 && p[2] <= 0xAE) ||
           (p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9);
}

static void put_escaped(struct log_line *l, const unsigned char *p, size_t length) {
    char text[8];
    unsigned code = p[0];
    if (length == 2) {
        code = ((p[0] & 0x1Fu) << 6) | (p[1] & 0x3Fu);
    } else if (length == 3) {
        code = ((p[0] & 0x0Fu) << 12) | ((p[1] & 0x3Fu) << 6) | (p[2] & 0x3Fu);
    }
    const char *named = code == '\n'   ? "\\n"
                        : code == '\r' ? "\\r"
                        : code == '\t' ? "\\t"
                        : code == '"'  ? "\\\""
                        : code == '\\' ? "\\\\"
                                       : NULL;
    if (named == NULL) {
        (void)snprintf(text, sizeof text, "\\u%04x", code & 0xFFFFu);
        named = text;
    }
    puts_line(l, named);
}

static size_t sequence_size(unsigned char first) {
    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* Writes the contents of a quoted string. Both formats have the same escapes, except for a byte
 * that is not UTF-8: JSON has no escape for it, so U+FFFD replaces it. */
static void put_quoted(struct log_line *l, const char *s, size_t n, enum log_format format) {
    const unsigned char *p = (const unsigned char *)s;
    size_t valid_to = utf8_valid_prefix(s, n);
    for (size_t i = 0; i < n;) {
        if (i == valid_to) {
            char hex[8];
            (void)snprintf(hex, sizeof hex, "\\x%02x", p[i]);
            puts_line(l, format == LOG_JSON ? UTF8_REPLACEMENT : hex);
            i++;
            valid_to = i + utf8_valid_prefix(s + i, n - i);
            continue;
        }
        const size_t length = sequence_size(p[i]);
        if (is_dangerous(p + i, length)) {
            put_escaped(l, p + i, length);
        } else {
            put(l, s + i, length);
        }
        i += length;
    }
}

/* Whether the text needs no quotes: it is printable ASCII without space, '=', quote and backslash,
 * and is not "-", which means NULL. */
static bool is_plain(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (s[i] <= ' ' || s[i] > '~' || s[i] == '=' || s[i] == '"' || s[i] == '\\') {
            return false;
        }
    }
    return n > 0 && !(n == 1 && s[0] == '-');
}

static void put_string(struct log_line *l, const char *s, size_t n, enum log_format format) {
    if (s == NULL) {
        puts_line(l, format == LOG_JSON ? "null" : "-");
        return;
    }
    if (n == SIZE_MAX) {
        n = strnlen(s, LOG_VALUE_MAX + 4); /* enough to detect that the value must be truncated */
    }
    const size_t cut = utf8_cut(s, n, LOG_VALUE_MAX);
    if (format == LOG_TEXT && cut == n && is_plain(s, n)) {
        put(l, s, n);
        return;
    }
    puts_line(l, "\"");
    put_quoted(l, s, cut, format);
    puts_line(l, cut < n ? "\xE2\x80\xA6\"" : "\"");
}

static void put_int(struct log_line *l, int64_t v) {
    char text[NUMBER_SIZE], *p = text + sizeof text;
    uint64_t left = v < 0 ? UINT64_C(0) - (uint64_t)v : (uint64_t)v;
    do {
        *--p = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (v < 0) {
        *--p = '-';
    }
    put(l, p, (size_t)(text + sizeof text - p));
}

/* Writes v if it is a multiple of 0.001, as durations are; faster than dn_number_format. Returns
 * false if v is not such a multiple. */
static bool put_thousandths(struct log_line *l, double v) {
    const double scaled = v * 1000;
    if (!(v >= 0 && v < 1e9)) {
        return false;
    }
    const int64_t n = (int64_t)(scaled + 0.5);
    if ((double)n / 1000 != v || (n == 0 && signbit(v))) { // NOLINT: exact comparison is the point
        return false;
    }
    put_int(l, n / 1000);
    const int fraction = (int)(n % 1000);
    const char digits[4] = {'.', (char)('0' + fraction / 100), (char)('0' + fraction / 10 % 10),
                            (char)('0' + fraction % 10)};
    put(l, digits, fraction == 0 ? 0 : fraction % 10 != 0 ? 4 : fraction % 100 != 0 ? 3 : 2);
    return true;
}

static void put_value(struct log_line *l, const struct log_field *f, enum log_format format) {
    char text[NUMBER_SIZE];
    switch (f->kind) {
    case LOG_FIELD_STR:
        put_string(l, f->str, f->length, format);
        break;
    case LOG_FIELD_INT:
        put_int(l, f->i);
        break;
    case LOG_FIELD_DBL:
        if (put_thousandths(l, f->d)) {
            break;
        }
        (void)dn_number_format(f->d, text);
        puts_line(l, isfinite(f->d) || format == LOG_JSON ? text
                     : isnan(f->d)                        ? "nan"
                     : f->d > 0                           ? "inf"
                                                          : "-inf");
        break;
    }
}

/* Writes the whole field, or nothing if it does not fit, so that a line that is too long is still
 * well-formed. */
static void put_field(struct log_line *l, const struct log_field *f, enum log_format format) {
    const size_t before = l->size;
    const bool was_full = l->full;
    l->full = false;
    if (format == LOG_JSON) {
        puts_line(l, ",\"");
        put_quoted(l, f->key, strlen(f->key), format);
        puts_line(l, "\":");
    } else {
        puts_line(l, " ");
        puts_line(l, f->key);
        puts_line(l, "=");
    }
    put_value(l, f, format);
    if (l->full) {
        l->size = before;
    }
    l->full = l->full || was_full;
}

static void put_head(struct log_line *l, int64_t time_ms, enum log_level level, const char *event,
                     enum log_format format) {
    char time[CLOCK_TEXT_SIZE];
    clock_format(time_ms, time);
    if (format == LOG_JSON) {
        puts_line(l, "{\"time\":\"");
        puts_line(l, time);
        puts_line(l, "\",\"level\":\"");
        puts_line(l, log_level_name(level));
        puts_line(l, "\",\"event\":");
    } else {
        puts_line(l, time);
        puts_line(l, " ");
        puts_line(l, log_level_name(level));
        puts_line(l, " ");
        /* The event is a constant: it may contain blanks, and needs no quotes. */
        put_quoted(l, event, strlen(event), format);
        return;
    }
    put_string(l, event, SIZE_MAX, format);
}

static void put_tail(struct log_line *l, enum log_format format) {
    const char *tail = format == LOG_JSON ? (l->full ? ",\"truncated\":1}\n" : "}\n")
                                          : (l->full ? " truncated=1\n" : "\n");
    const size_t n = strlen(tail);
    /* put has left LINE_TAIL bytes free */
    memcpy(l->data + l->size, tail, n);
    l->size += n;
}

void log_line_build(struct log_line *l, enum log_format format, int64_t time_ms,
                    enum log_level level, const char *event, const struct log_field *fields,
                    size_t n) {
    l->size = 0;
    l->full = false;
    put_head(l, time_ms, level, event, format);
    for (size_t i = 0; i < n; i++) {
        put_field(l, &fields[i], format);
    }
    put_tail(l, format);
}
