/* Writes the summary of a column as the API shows it. */
#include "formats/formats.h"
#include "formats/summary/column_summary.h"
#include "formats/summary/number_ranks.h"

#include <math.h>
#include <stdlib.h>

enum { TOP = 10, BINS = 20 };

static const struct {
    const char *name;
    double p;
} quantiles[] = {{"0.01", 0.01}, {"0.05", 0.05}, {"0.25", 0.25}, {"0.5", 0.5},
                 {"0.75", 0.75}, {"0.95", 0.95}, {"0.99", 0.99}};

/* Writes the number of distinct values: exact if it is known, otherwise an estimate. If there are
 * more than TALLY_MAX values, the estimate is at least TALLY_MAX + 1. */
static void write_distinct(const struct column_summary *s, dn_column_type type,
                           struct json_writer *w) {
    int64_t distinct = column_summary_distinct(s, type);
    if (distinct < 0) {
        const bool many = s->many || !s->estimated;
        distinct = s->estimated ? distinct_sketch_estimate(&s->distinct)
                                : (int64_t)number_tally_distinct(&s->numbers);
        json_kv_int(w, "distinct", many && distinct <= TALLY_MAX ? TALLY_MAX + 1 : distinct);
        json_kv_bool(w, "distinct_estimated", true);
        if (many) {
            json_kv_int(w, "distinct_above", TALLY_MAX);
        }
        return;
    }
    json_kv_int(w, "distinct", distinct);
    if (type == DN_CATEGORICAL) {
        json_kv_int(w, "distinct_bytes",
                    (int64_t)(s->recounted ? s->distinct_bytes : s->texts.size));
    }
}

/* Whether all rows have different values: certain, or the estimate is at most two
 * standard errors below. */
static bool all_differ(const struct column_summary *s, dn_column_type type) {
    const int64_t distinct = column_summary_distinct(s, type);
    if (s->missing > 0 || s->n_rows < 2 || distinct >= 0) {
        return s->missing == 0 && s->n_rows >= 2 && distinct == s->n_rows;
    }
    const double error = distinct_sketch_error(&s->distinct);
    return error < 0.02 &&
           (double)distinct_sketch_estimate(&s->distinct) >= (1 - 2 * error) * (double)s->n_rows;
}

/* Marks a column of identifiers. Texts of several words are documents, although they differ. */
static void write_identifier(const struct column_summary *s, dn_column_type type,
                             const struct column_words *words, struct json_writer *w) {
    const bool is_document =
        words != NULL && (double)words->n >= SCHEMA_DOCUMENT_WORDS * (double)s->n_rows;
    if (type == DN_NUMERIC ? s->counts_up && s->n_rows >= 2 : !is_document && all_differ(s, type)) {
        json_kv_bool(w, "identifier", true);
    }
}

/* Records that memory is exhausted: the buffer fails. */
static void give_up(struct json_writer *w) {
    w->out->failed = true;
}

static void write_quantiles(const struct column_summary *s, int64_t total,
                            const struct number_count *list, size_t n, struct json_writer *w) {
    json_kv_begin_object(w, "quantiles");
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        json_kv_double(w, quantiles[i].name, number_ranks_quantile(list, n, total, quantiles[i].p));
    }
    json_end_object(w);
    json_kv_bool(w, "quantiles_exact", !s->estimated);
    if (s->estimated) {
        json_kv_double(w, "quantiles_error", ceil(number_sample_error(s->sample) * 1e4) / 1e4);
    }
}

static void write_histogram(const struct column_summary *s, const struct moments *m,
                            const struct number_count *list, size_t n, struct json_writer *w) {
    int64_t bin[BINS];
    const bool constant = m->minimum == m->maximum;
    if (constant) {
        bin[0] = m->n;
    } else {
        number_ranks_histogram(list, n, m->minimum, m->maximum, bin, BINS);
    }
    json_kv_begin_object(w, "histogram");
    json_kv_begin_array(w, "counts");
    for (size_t b = 0; b < (constant ? 1 : BINS); b++) {
        json_put_int(w, bin[b]);
    }
    json_end_array(w);
    json_kv_bool(w, "exact", !s->estimated);
    json_end_object(w);
}

static void write_numbers(const struct column_summary *s, struct json_writer *w) {
    const struct moments m = column_summary_moments(s);
    const double nothing = (double)NAN; /* written as null */
    const bool any = m.n > 0;
    json_kv_double(w, "min", any ? m.minimum : nothing);
    json_kv_double(w, "max", any ? m.maximum : nothing);
    json_kv_double(w, "mean", any ? m.mean : nothing);
    json_kv_double(w, "std", any ? sqrt(m.m2 / (double)m.n) : nothing);
    write_distinct(s, DN_NUMERIC, w);
    if (number_tally_has_fractions(&s->numbers)) {
        json_kv_bool(w, "fractions", true);
    }
    write_identifier(s, DN_NUMERIC, NULL, w);
    if (!column_summary_is_ranked(s)) {
        return;
    }
    if (!any) {
        json_kv_null(w, "quantiles");
        json_kv_null(w, "histogram");
        return;
    }
    size_t n = 0;
    struct number_count *list = column_summary_numbers(s, &n);
    if (list == NULL) {
        give_up(w);
        return;
    }
    write_quantiles(s, m.n, list, n, w);
    write_histogram(s, &m, list, n, w);
    free(list);
}

static void write_words(const struct column_words *words, struct json_writer *w) {
    json_kv_int(w, "words", words->n);
    json_kv_int(w, "distinct_words", distinct_sketch_estimate(&words->distinct));
    json_kv_int(w, "longest", (int64_t)words->longest);
    json_kv_int(w, "text_bytes", words->bytes);
}

/* Writes the summary of a text column. While texts are counted exactly, their words are counted
 * here: it was not known before that the column is text. */
static void write_text(const struct column_summary *s, struct json_writer *w) {
    write_distinct(s, DN_TEXT, w);
    if (s->estimated) {
        write_identifier(s, DN_TEXT, s->words, w);
        write_words(s->words, w);
        return;
    }
    struct column_words *words = column_summary_new_words(s);
    if (words == NULL) {
        give_up(w);
        return;
    }
    for (size_t i = 0; i < s->texts.n; i++) {
        const struct tally_entry *e = &s->texts.entry[i];
        column_words_add(words, tally_text(&s->texts, e), e->length, e->count);
    }
    write_identifier(s, DN_TEXT, words, w);
    write_words(words, w);
    column_words_free(words);
}

static void write_categories(const struct column_summary *s, struct json_writer *w) {
    write_distinct(s, DN_CATEGORICAL, w);
    write_identifier(s, DN_CATEGORICAL, NULL, w);
    if (s->estimated) {
        json_kv_null(w, "top");
        return;
    }
    struct tally_entry top[TOP];
    const size_t n = tally_top(&s->texts, top, TOP);
    int64_t others = s->n_rows - s->missing;
    json_kv_begin_array(w, "top");
    for (size_t i = 0; i < n; i++) {
        json_begin_array(w);
        json_put_stringn(w, tally_text(&s->texts, &top[i]), top[i].length);
        json_put_int(w, top[i].count);
        json_end_array(w);
        others -= top[i].count;
    }
    json_end_array(w);
    if (others > 0) {
        json_kv_int(w, "others", others);
    }
}

static void write_booleans(const struct column_summary *s, struct json_writer *w) {
    const int64_t *truths = s->truths;
    const int first = truths[1] > truths[0];
    write_distinct(s, DN_BOOLEAN, w);
    json_kv_begin_array(w, "top");
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

static void write_date(const char *key, double value, const dn_datetime_form *form,
                       struct json_writer *w) {
    char text[DN_DATETIME_SIZE];
    json_put_key(w, key);
    json_put_stringn(w, text, dn_datetime_format(value, form, text));
}

/* Writes the range of a column of dates, in their form. */
static void write_dates(const struct column_summary *s, const dn_datetime_form *form,
                        struct json_writer *w) {
    const struct moments m = column_summary_moments(s);
    char text[DN_DATETIME_FORM_SIZE];
    if (m.n > 0) {
        json_put_key(w, "form");
        json_put_stringn(w, text, dn_datetime_form_write(form, text));
        write_date("min", m.minimum, form, w);
        write_date("max", m.maximum, form, w);
    } else {
        json_kv_null(w, "form");
        json_kv_null(w, "min");
        json_kv_null(w, "max");
    }
    write_distinct(s, DN_DATETIME, w);
}

void column_summary_write(const struct column_summary *s, const char *name, dn_column_type type,
                          const dn_datetime_form *form, struct json_writer *w) {
    if (type == DN_SPARSE) {
        sparse_summary_write(&s->sparse, name, s->n_rows, w);
        return;
    }
    json_begin_object(w);
    json_kv_string(w, "name", name);
    json_kv_string(w, "type", dn_column_type_name(type));
    json_kv_int(w, "missing", s->missing);
    switch (type) {
    case DN_NUMERIC:
        write_numbers(s, w);
        break;
    case DN_BOOLEAN:
        write_booleans(s, w);
        break;
    case DN_CATEGORICAL:
        write_categories(s, w);
        break;
    case DN_TEXT:
        write_text(s, w);
        break;
    case DN_DATETIME:
        write_dates(s, form, w);
        break;
    case DN_SPARSE:
        break;
    }
}
