/* The JSON writer, and the escaping of strings. */
#include "base/json/json_write.h"
#include "base/process/clock.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRITER_MAX_DEPTH = 60 };

struct json_writer json_writer_of(struct buf *out) {
    return (struct json_writer){.out = out};
}

struct json_writer json_writer_inside(struct buf *out) {
    return (struct json_writer){.out = out, .comma = 1};
}

/* Called before every value and key: writes a comma if one is needed. */
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

size_t json_double_format(double v, char out[DN_NUMBER_SIZE]) {
    size_t n = dn_number_format(v, out);
    if (fabs(v) >= 0x1p63 && memchr(out, 'e', n) == NULL && isfinite(v)) {
        memcpy(out + n, ".0", 3);
        n += 2;
    }
    return n;
}

void json_double_write(double v, struct buf *out) {
    if (buf_reserve(out, DN_NUMBER_SIZE)) {
        out->size += json_double_format(v, out->data + out->size);
    }
}

void json_put_double(struct json_writer *w, double v) {
    char text[DN_NUMBER_SIZE];
    const size_t n = json_double_format(v, text);
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

void json_kv_begin_object(struct json_writer *w, const char *key) {
    json_put_key(w, key);
    json_begin_object(w);
}

void json_kv_begin_array(struct json_writer *w, const char *key) {
    json_put_key(w, key);
    json_begin_array(w);
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
    static const char names[] = "btn\0fr"; /* escape letters of the bytes 8 to 13; 11 has none */
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
    size_t from = 0; /* start of the bytes that are not written yet */
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            /* A byte of this kind is never within a valid sequence, so the pieces can be repaired
             * separately. */
            utf8_append(out, s + from, i - from);
            escape_byte(out, c);
            from = i + 1;
        }
    }
    utf8_append(out, s + from, n - from);
    buf_putc(out, '"');
}

void json_put_vector(struct json_writer *w, const char *key, const double *v, size_t n) {
    if (key != NULL) {
        json_put_key(w, key);
    }
    json_begin_array(w);
    for (size_t j = 0; j < n; j++) {
        json_put_double(w, v[j]);
    }
    json_end_array(w);
}

void json_put_matrix(struct json_writer *w, const char *key, const double *m, size_t n_rows,
                     size_t n_cols) {
    if (key != NULL) {
        json_put_key(w, key);
    }
    json_begin_array(w);
    for (size_t i = 0; i < n_rows && !w->out->failed; i++) {
        json_put_vector(w, NULL, m + i * n_cols, n_cols);
    }
    json_end_array(w);
}
