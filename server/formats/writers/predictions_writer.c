/* Writes classes and features as JSON, and predictions as JSON and NDJSON; predictions_csv.c writes
 * CSV and TSV. The text of each class is made only once. */
#include "base/json/json_write.h"
#include "formats/csv/predictions_csv.h"
#include "formats/text/view_cell.h"
#include "formats/writers/top_contributions.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes ---- */
void answer_class_write(const dn_classes *classes, size_t k, struct buf *out) {
    const struct text name = strings_text(&classes->names, k);
    if (classes->type == DN_NUMERIC || classes->type == DN_BOOLEAN) {
        /* the text of a number or a boolean is valid JSON */
        buf_append(out, name.bytes, name.n);
    } else {
        json_escape(out, name.bytes, name.n);
    }
}

/* Makes the texts of all classes: cells for this delimiter; '\0': JSON. Returns false if out of
 * memory. */
static bool make_classes(struct answer_texts *texts, const dn_classes *classes, char delimiter) {
    texts->class_end = calloc(classes->n > 0 ? classes->n : 1, sizeof *texts->class_end);
    for (size_t k = 0; texts->class_end != NULL && k < classes->n; k++) {
        if (delimiter != '\0') {
            const struct text name = strings_text(&classes->names, k);
            csv_text_write(name.bytes, name.n, delimiter, &texts->classes);
        } else {
            answer_class_write(classes, k, &texts->classes);
        }
        texts->class_end[k] = texts->classes.size;
    }
    return texts->class_end != NULL && !texts->classes.failed;
}

static void put_class(const struct answer_texts *texts, size_t k, struct buf *out) {
    const size_t from = k > 0 ? texts->class_end[k - 1] : 0;
    buf_append(out, texts->classes.data + from, texts->class_end[k] - from);
}

void predictions_put_class(const struct predictions_writer *p, size_t k) {
    put_class(p->texts, k, p->out);
}

bool answer_texts_init(struct answer_texts *texts, const dn_model *model, const char *name,
                       int64_t version) {
    const dn_classes *classes = dn_model_classes(model);
    struct buf *out = &texts->head;
    *texts = (struct answer_texts){0};
    if (!make_classes(texts, classes, '\0')) {
        return false;
    }
    buf_puts(out, "{\"model\":");
    json_escape(out, name, strlen(name));
    buf_printf(out, ",\"version\":%" PRId64 ",\"classes\":[", version);
    for (size_t k = 0; k < classes->n; k++) {
        if (k > 0) {
            buf_putc(out, ',');
        }
        put_class(texts, k, out);
    }
    buf_putc(out, ']');
    return !out->failed;
}

void answer_texts_done(struct answer_texts *texts) {
    free(texts->class_end);
    texts->class_end = NULL;
    buf_done(&texts->classes);
    buf_done(&texts->head);
}

/* ---- features ---- */
const char *answer_feature_name(const dn_encoder *encoder, size_t j, struct buf *name) {
    buf_clear(name);
    size_t n = dn_encoder_feature_name(encoder, j, name->data, name->capacity);
    /* the text has the name of a column and perhaps a category, so it can be long */
    if (n >= name->capacity) {
        if (!buf_reserve(name, n + 1)) {
            return NULL;
        }
        n = dn_encoder_feature_name(encoder, j, name->data, name->capacity);
    }
    name->size = n;
    return name->data;
}

void answer_feature_names_write(const dn_encoder *encoder, struct buf *out) {
    struct buf name = {0};
    buf_putc(out, '[');
    for (size_t j = 0; j < dn_encoder_n_features(encoder) && !out->failed; j++) {
        if (answer_feature_name(encoder, j, &name) == NULL) {
            out->failed = true;
            break;
        }
        if (j > 0) {
            buf_putc(out, ',');
        }
        json_escape(out, name.data, name.size);
    }
    buf_putc(out, ']');
    buf_done(&name);
}

/* ---- rows ---- */
void answer_numbers_write(const double *x, size_t n, struct buf *out) {
    if (!buf_reserve(out, n * (DN_NUMBER_SIZE + 1) + 2)) {
        return;
    }
    char *p = out->data + out->size;
    *p++ = '[';
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            *p++ = ',';
        }
        p += json_double_format(x[i], p); /* null if not finite */
    }
    *p++ = ']';
    out->size = (size_t)(p - out->data);
}

/* Writes a key, after a comma if it is not the first member. */
static void put_key(struct predictions_writer *p, const char *key) {
    if (p->out->size > 0 && p->out->data[p->out->size - 1] != '{') {
        buf_putc(p->out, ',');
    }
    buf_puts(p->out, key);
}

static void put_number(struct predictions_writer *p, const char *key, const double *x) {
    put_key(p, key);
    json_double_write(x != NULL ? *x : (double)NAN, p->out);
}

/* Writes row i of x [n × n_classes]. x == NULL: nothing. */
static void put_numbers(struct predictions_writer *p, const char *key, const double *x, size_t i) {
    const size_t n_classes = dn_model_classes(p->model)->n;
    if (x != NULL) {
        put_key(p, key);
        answer_numbers_write(x + i * n_classes, n_classes, p->out);
    }
}

/* Writes the largest contributions to each score, and the sum of the others. */
static void put_top(struct predictions_writer *p, const double *x, size_t n_scores,
                    size_t n_features) {
    struct buf name = {0}, rest = {0};
    put_key(p, "\"contributions\":[");
    for (size_t k = 0; k < n_scores && !p->out->failed; k++) {
        const double *of_score = x + k * n_features;
        const double others = top_contributions(of_score, n_features, p->contributions.top, p->top);
        buf_puts(p->out, k > 0 ? ",[" : "[");
        for (size_t i = 0; i < p->contributions.top; i++) {
            if (answer_feature_name(dn_model_encoder(p->model), p->top[i], &name) == NULL) {
                p->out->failed = true;
                break;
            }
            buf_puts(p->out, i > 0 ? ",{\"feature\":" : "{\"feature\":");
            json_escape(p->out, name.data, name.size);
            buf_puts(p->out, ",\"value\":");
            json_double_write(of_score[p->top[i]], p->out);
            buf_putc(p->out, '}');
        }
        buf_putc(p->out, ']');
        buf_puts(&rest, k > 0 ? "," : "");
        json_double_write(others, &rest);
    }
    buf_puts(p->out, "],\"rest\":[");
    buf_append(p->out, rest.data, rest.size);
    buf_putc(p->out, ']');
    p->out->failed |= rest.failed;
    buf_done(&name);
    buf_done(&rest);
}

static void put_contributions(struct predictions_writer *p, const double *x) {
    const size_t n_scores = dn_model_n_scores(p->model),
                 n_features = dn_encoder_n_features(dn_model_encoder(p->model));
    if (x == NULL) {
        put_key(p, "\"contributions\":null");
        return;
    }
    if (p->contributions.top > 0) {
        put_top(p, x, n_scores, n_features);
        return;
    }
    put_key(p, "\"contributions\":[");
    for (size_t k = 0; k < n_scores; k++) {
        if (k > 0) {
            buf_putc(p->out, ',');
        }
        answer_numbers_write(x + k * n_features, n_features, p->out);
    }
    buf_putc(p->out, ']');
}

/* Writes the classes that are marked in marks [n_classes] as a list. */
static void put_classes(struct predictions_writer *p, const char *key, const bool *marks) {
    const size_t n_classes = dn_model_classes(p->model)->n;
    const char *comma = "";
    put_key(p, key);
    buf_putc(p->out, '[');
    for (size_t k = 0; k < n_classes; k++) {
        if (marks[k]) {
            buf_puts(p->out, comma);
            predictions_put_class(p, k);
            comma = ",";
        }
    }
    buf_putc(p->out, ']');
}

/* Writes whether the label is ambiguous, and the candidate classes. */
static void put_ambiguity(struct predictions_writer *p, const dn_prediction *rows, size_t i) {
    const size_t n_classes = dn_model_classes(p->model)->n;
    if (rows->candidates == NULL || rows->label[i] != DN_AMBIGUOUS) {
        if (p->outputs & ANSWER_AMBIGUOUS) {
            put_key(p, "\"ambiguous\":false");
        }
        return;
    }
    put_classes(p, "\"ambiguous\":true,\"candidates\":", rows->candidates + i * n_classes);
}

static void put_support(struct predictions_writer *p, const dn_prediction *rows, size_t i) {
    const bool outside = rows->out_of_support != NULL && rows->out_of_support[i];
    if (outside) {
        put_key(p, "\"out_of_support\":true");
    } else if ((p->outputs & ANSWER_LOG_DENSITY) && rows->log_density != NULL) {
        put_key(p, "\"out_of_support\":false");
    }
}

static void put_row(struct predictions_writer *p, const dn_prediction *rows, size_t i) {
    const size_t n_scores = dn_model_n_scores(p->model);
    buf_putc(p->out, '{');
    if (p->keep != NULL) {
        kept_write_json(p->kept, p->first_kept + i, p->out);
    }
    if (p->outputs & ANSWER_LABEL) {
        put_key(p, "\"label\":");
        if (rows->label[i] == DN_AMBIGUOUS) {
            buf_puts(p->out, "null");
        } else {
            predictions_put_class(p, rows->label[i]);
        }
    }
    if (p->outputs & ANSWER_PROBABILITIES) {
        put_numbers(p, "\"probabilities\":", rows->probabilities, i);
    }
    if (p->outputs & ANSWER_SCORES) {
        put_key(p, "\"scores\":");
        answer_numbers_write(rows->scores + i * n_scores, n_scores, p->out);
    }
    if (p->outputs & ANSWER_DISTANCE) {
        put_number(p, "\"distance\":", rows->distance + i);
    }
    if (p->outputs & ANSWER_CONTRIBUTIONS) {
        const size_t each = n_scores * dn_encoder_n_features(dn_model_encoder(p->model));
        put_contributions(p, rows->contributions == NULL ? NULL : rows->contributions + i * each);
    }
    if (p->outputs & (ANSWER_LABEL | ANSWER_AMBIGUOUS)) {
        put_ambiguity(p, rows, i);
    }
    if (p->outputs & ANSWER_LOG_DENSITY) {
        put_number(p, "\"log_density\":", rows->log_density == NULL ? NULL : rows->log_density + i);
        put_numbers(p, "\"class_log_density\":", rows->class_log_density, i);
    }
    if (p->outputs & ANSWER_PRIOR) {
        put_numbers(p, "\"prior\":", dn_model_prior(p->model), 0);
    }
    if (p->outputs & ANSWER_POSTERIOR) {
        put_numbers(p, "\"posterior\":", rows->posterior, i);
    }
    if (p->outputs & ANSWER_SET) {
        put_classes(p, "\"set\":", rows->set + i * dn_model_classes(p->model)->n);
    }
    put_support(p, rows, i);
    buf_putc(p->out, '}');
}

/* ---- the answer ---- */
/* Writes the members of the document before the rows. */
static void put_head(struct predictions_writer *p) {
    struct buf *out = p->out;
    buf_append(out, p->texts->head.data, p->texts->head.size);
    if (p->outputs & ANSWER_CONTRIBUTIONS) {
        if (p->contributions.top == 0) {
            buf_puts(out, ",\"features\":");
            answer_feature_names_write(dn_model_encoder(p->model), out);
        }
        if (p->contributions.baseline != NULL) {
            buf_puts(out, ",\"baseline\":");
            json_escape(out, p->contributions.baseline, strlen(p->contributions.baseline));
        }
        buf_puts(out, ",\"intercept\":");
        if (dn_model_has_contributions(p->model)) {
            answer_numbers_write(p->contributions.intercept != NULL ? p->contributions.intercept
                                                                    : dn_model_intercept(p->model),
                                 dn_model_n_scores(p->model), out);
        } else {
            buf_puts(out, "null");
        }
    }
    buf_puts(out, ",\"predictions\":[");
}

void predictions_writer_begin(struct predictions_writer *p, const struct answer_head *head,
                              const dn_model *model, const dn_prediction *will, struct buf *out) {
    *p = (struct predictions_writer){.model = model,
                                     .outputs = head->outputs,
                                     .contributions = head->contributions,
                                     .format = head->format,
                                     .delimiter = head->format->answers->delimiter,
                                     .refusal_base = head->refusal_base,
                                     .keep = head->keep,
                                     .out = out,
                                     .texts = head->texts};
    bool made = true;
    if (p->delimiter != '\0') {
        p->texts = &p->own_texts;
        made = make_classes(&p->own_texts, dn_model_classes(model), p->delimiter);
    } else if (p->texts == NULL) {
        p->texts = &p->own_texts;
        made = answer_texts_init(&p->own_texts, model, head->name, head->version);
    }
    const size_t n_features = dn_encoder_n_features(dn_model_encoder(model));
    if (p->contributions.top > 0) {
        p->contributions.top =
            p->contributions.top < n_features ? p->contributions.top : n_features;
        p->top = calloc(p->contributions.top, sizeof *p->top);
        made = made && p->top != NULL;
    }
    if (!made) {
        out->failed = true;
        return;
    }
    if (p->format->answers->document) {
        put_head(p);
    } else if (p->delimiter != '\0') {
        predictions_csv_header(p, will);
    }
}

size_t predictions_writer_part(struct predictions_writer *p, size_t first, size_t n,
                               const dn_prediction *rows, size_t most) {
    size_t i = first;
    for (; i < n && (i == first || p->out->size < most) && !p->out->failed; i++) {
        answer_item_begin(p->format, &p->begun, p->out);
        if (p->delimiter != '\0') {
            predictions_csv_row(p, rows, i);
        } else {
            put_row(p, rows, i);
        }
        answer_item_end(p->format, p->out);
    }
    return (p->out->failed ? n : i) - first;
}

void predictions_writer_rows(struct predictions_writer *p, size_t n, const dn_prediction *rows) {
    (void)predictions_writer_part(p, 0, n, rows, SIZE_MAX);
}

void predictions_writer_refusal(struct predictions_writer *p, int64_t line,
                                const struct problem *problem) {
    answer_item_begin(p->format, &p->begun, p->out);
    answer_item_refusal(p->format, p->n_columns, p->refusal_base, line, problem, p->out);
    answer_item_end(p->format, p->out);
}

void predictions_writer_end(struct predictions_writer *p, const dn_encoder *encoder,
                            const struct row_notes *notes) {
    answer_end(p->format, encoder, notes, p->out);
}

void predictions_writer_done(struct predictions_writer *p) {
    answer_texts_done(&p->own_texts);
    free(p->top);
    p->top = NULL;
}
