/* One line of the log in binary form: a header, the fields, the bytes of the strings. */
#include "base/log/log_record.h"

#include <string.h>

#define NO_STRING UINT32_MAX

struct packed_field {
    const char *key;
    uint32_t kind;   /* enum of struct log_field: LOG_FIELD_… */
    uint32_t length; /* STR: length of the string; NO_STRING: NULL */
    union {
        int64_t i;
        double d;
    } number;
};

struct record {
    const char *event;
    int64_t time_ms;
    uint32_t size; /* bytes of the whole record */
    uint16_t level;
    uint16_t n_fields;
    struct packed_field fields[];
};

/* Returns how many bytes of a string are kept: a few more than are written, so that the line shows
 * that the value was truncated. */
static uint32_t length_of(const struct log_field *f) {
    if (f->str == NULL) {
        return NO_STRING;
    }
    const size_t most = LOG_VALUE_MAX + 4;
    const size_t n = f->length == SIZE_MAX ? strnlen(f->str, most) : f->length;
    return (uint32_t)(n < most ? n : most);
}

size_t log_record_pack(char *out, size_t room, int64_t time_ms, enum log_level level,
                       const char *event, const struct log_field *fields, size_t n) {
    struct record *r = (struct record *)(void *)out;
    n = n < LOG_RECORD_FIELDS ? n : LOG_RECORD_FIELDS;
    size_t size = sizeof *r + n * sizeof r->fields[0];
    if (size > room) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        const struct log_field *f = &fields[i];
        struct packed_field *p = &r->fields[i];
        *p = (struct packed_field){.key = f->key, .kind = (uint32_t)f->kind};
        if (f->kind == LOG_FIELD_INT) {
            p->number.i = f->i;
        } else if (f->kind == LOG_FIELD_DBL) {
            p->number.d = f->d;
        } else {
            p->length = length_of(f);
            const size_t bytes = p->length == NO_STRING ? 0 : p->length;
            if (bytes > room - size) {
                return 0;
            }
            if (bytes > 0) {
                memcpy(out + size, f->str, bytes);
            }
            size += bytes;
        }
    }
    size = (size + 7) & ~(size_t)7;
    if (size > room) {
        return 0;
    }
    r->event = event;
    r->time_ms = time_ms;
    r->size = (uint32_t)size;
    r->level = (uint16_t)level;
    r->n_fields = (uint16_t)n;
    return size;
}

size_t log_record_line(const char *record, enum log_format format, struct log_line *line) {
    const struct record *r = (const struct record *)(const void *)record;
    struct log_field fields[LOG_RECORD_FIELDS];
    const char *text = (const char *)&r->fields[r->n_fields];
    for (size_t i = 0; i < r->n_fields; i++) {
        const struct packed_field *p = &r->fields[i];
        switch (p->kind) {
        case LOG_FIELD_INT:
            fields[i] = log_int(p->key, p->number.i);
            break;
        case LOG_FIELD_DBL:
            fields[i] = log_dbl(p->key, p->number.d);
            break;
        default:
            fields[i] =
                p->length == NO_STRING ? log_str(p->key, NULL) : log_strn(p->key, text, p->length);
            text += p->length == NO_STRING ? 0 : p->length;
        }
    }
    log_line_build(line, format, r->time_ms, (enum log_level)r->level, r->event, fields,
                   r->n_fields);
    return r->size;
}
