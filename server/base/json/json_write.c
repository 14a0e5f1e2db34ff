/* The JSON writer and string escaping. */
#include "base/json/json_write.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <assert.h>
#include <discern/number.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITER_MAX_DEPTH = 60 };

void json_writer_init(struct json_writer *w, struct buf *out) {
    *w = (struct json_writer){.out = out};
}

/* Before every value: the comma, if one is due. */
static void value_begins(struct json_writer *w) {
    const uint64_t bit = UINT64_C(1) << w->depth;
    if (w->after_key) {
        w->after_key = false;
    } else {
        if ((w->comma & bit) != 0) {
            buf_putc(w->out, ',');
        }
        w->comma |= bit;
    }
}

static void begin(struct json_writer *w, char bracket) {
    value_begins(w);
    assert(w->depth < WRITER_MAX_DEPTH);
    w->depth++;
    w->comma &= ~(UINT64_C(1) << w->depth);
    buf_putc(w->out, bracket);
}

static void end(struct json_writer *w, char bracket) {
    assert(w->depth > 0 && !w->after_key);
    w->depth--;
    buf_putc(w->out, bracket);
}

void json_begin_object(struct json_writer *w) {
    begin(w, '{');
}

void json_end_object(struct json_writer *w) {
    end(w, '}');
}

void json_begin_array(struct json_writer *w) {
    begin(w, '[');
}

void json_end_array(struct json_writer *w) {
    end(w, ']');
}

void json_put_key(struct json_writer *w, const char *key) {
    assert(!w->after_key);
    value_begins(w);
    json_escape(w->out, key, strlen(key));
    buf_putc(w->out, ':');
    w->after_key = true;
}

void json_put_string(struct json_writer *w, const char *s) {
    if (s == NULL) {
        json_put_null(w);
    } else {
        json_put_stringn(w, s, strlen(s));
    }
}

void json_put_stringn(struct json_writer *w, const char *s, size_t n) {
    value_begins(w);
    json_escape(w->out, s, n);
}

void json_put_double(struct json_writer *w, double v) {
    char text[DN_NUMBER_SIZE];
    const size_t n = dn_number_format(v, text);
    json_put_raw(w, text, n);
}

void json_put_int(struct json_writer *w, int64_t v) {
    char text[32];
    const int n = snprintf(text, sizeof text, "%" PRId64, v);
    json_put_raw(w, text, (size_t)n);
}

void json_put_bool(struct json_writer *w, bool v) {
    value_begins(w);
    buf_puts(w->out, v ? "true" : "false");
}

void json_put_null(struct json_writer *w) {
    json_put_raw(w, "null", 4);
}

void json_put_raw(struct json_writer *w, const char *json, size_t n) {
    value_begins(w);
    buf_append(w->out, json, n);
}

void json_kv_string(struct json_writer *w, const char *key, const char *s) {
    json_put_key(w, key);
    json_put_string(w, s);
}

void json_kv_double(struct json_writer *w, const char *key, double v) {
    json_put_key(w, key);
    json_put_double(w, v);
}

void json_kv_int(struct json_writer *w, const char *key, int64_t v) {
    json_put_key(w, key);
    json_put_int(w, v);
}

void json_kv_bool(struct json_writer *w, const char *key, bool v) {
    json_put_key(w, key);
    json_put_bool(w, v);
}

void json_kv_null(struct json_writer *w, const char *key) {
    json_put_key(w, key);
    json_put_null(w);
}

void json_kv_raw(struct json_writer *w, const char *key, const char *json) {
    json_put_key(w, key);
    if (json == NULL) {
        json_put_null(w);
    } else {
        json_put_raw(w, json, strlen(json));
    }
}

void json_kv_time(struct json_writer *w, const char *key, int64_t real_ms) {
    char text[CLOCK_TEXT_SIZE];
    json_put_key(w, key);
    if (real_ms == 0) {
        json_put_null(w);
    } else {
        clock_format(real_ms, text);
        json_put_string(w, text);
    }
}

static void escape_byte(struct buf *out, unsigned char c) {
    static const char names[] = "btn\0fr"; /* of 8 to 13; 11 has none */
    if (c == '"' || c == '\\') {
        buf_putc(out, '\\');
        buf_putc(out, (char)c);
    } else if (c >= 8 && c <= 13 && c != 11) {
        buf_putc(out, '\\');
        buf_putc(out, names[c - 8]);
    } else {
        buf_printf(out, "\\u%04x", c);
    }
}

void json_escape(struct buf *out, const char *s, size_t n) {
    buf_putc(out, '"');
    size_t from = 0; /* what is not yet written */
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            utf8_append(out, s + from, i - from); /* such a byte ends no valid sequence, so pieces
                                                     may be repaired one by one */
            escape_byte(out, c);
            from = i + 1;
        }
    }
    utf8_append(out, s + from, n - from);
    buf_putc(out, '"');
}
