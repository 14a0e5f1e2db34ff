/* The summary of a column as the API shows it. */
#include "wire/column_summary.h"

#include <math.h>

enum { TOP = 10 };

/* Whether the count is unknown because there are more than TALLY_MAX, not because it took too much memory. */
static bool many_distinct(const struct column_summary *s) {
    return s->texts.many || s->numbers.many || s->numbers.n + s->numbers.n_small > TALLY_MAX;
}

static void write_distinct(const struct column_summary *s, dn_column_type type, struct json_writer *w) {
    const int64_t distinct = column_summary_distinct(s, type);
    if (distinct < 0) {
        json_kv_null(w, "distinct");
        if (many_distinct(s)) {
            json_kv_int(w, "distinct_above", TALLY_MAX);
        }
        return;
    }
    json_kv_int(w, "distinct", distinct);
    if (type == DN_CATEGORICAL) {
        json_kv_int(w, "distinct_bytes", (int64_t)s->texts.size);
    }
}

static void write_top_texts(const struct tally *texts, struct json_writer *w) {
    struct tally_entry top[TOP];
    const size_t n = tally_top(texts, top, TOP);
    json_begin_array(w);
    for (size_t i = 0; i < n; i++) {
        json_begin_array(w);
        json_put_stringn(w, texts->bytes != NULL ? texts->bytes + top[i].start : "", top[i].length);
        json_put_int(w, top[i].count);
        json_end_array(w);
    }
    json_end_array(w);
}

static void write_top_booleans(const int64_t truths[2], struct json_writer *w) {
    const int first = truths[1] > truths[0];
    json_begin_array(w);
    for (int i = 0; i < 2; i++) {
        const int value = i == 0 ? first : !first;
        if (truths[value] > 0) {
            json_begin_array(w);
            json_put_bool(w, value);
            json_put_int(w, truths[value]);
            json_end_array(w);
        }
    }
    json_end_array(w);
}

void column_summary_write(const struct column_summary *s, const char *name, dn_column_type type, struct json_writer *w) {
    const struct moments *m = &s->moments;
    json_begin_object(w);
    json_kv_string(w, "name", name);
    json_kv_string(w, "type", dn_column_type_name(type));
    json_kv_int(w, "missing", s->missing);
    if (type == DN_NUMERIC) {
        const bool any = m->n > 0;
        const double nothing = (double)NAN; /* written as null */
        json_kv_double(w, "min", any ? m->minimum : nothing);
        json_kv_double(w, "max", any ? m->maximum : nothing);
        json_kv_double(w, "mean", any ? m->mean : nothing);
        json_kv_double(w, "std", any ? sqrt(m->m2 / (double)m->n) : nothing);
    }
    write_distinct(s, type, w);
    if (type == DN_BOOLEAN) {
        json_put_key(w, "top");
        write_top_booleans(s->truths, w);
    } else if (type == DN_CATEGORICAL) {
        json_put_key(w, "top");
        if (!s->texts.over) {
            write_top_texts(&s->texts, w);
        } else {
            json_put_null(w);
        }
    }
    json_end_object(w);
}
