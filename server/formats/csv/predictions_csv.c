/* Writes predictions as CSV or TSV: a header, then a line for each row. */
#include "formats/csv/predictions_csv.h"
#include "formats/text/view_cell.h"
#include "formats/writers/top_contributions.h"

#include <math.h>
#include <string.h>

/* ---- the header ---- */
static void put_column(struct predictions_writer *p, const char *name, size_t n) {
    if (p->n_columns++ > 0) {
        buf_putc(p->out, p->delimiter);
    }
    csv_text_write(name, n, p->delimiter, p->out);
}

static void put_word(struct predictions_writer *p, const char *name) {
    put_column(p, name, strlen(name));
}

static void put_class_text(const dn_classes *classes, size_t k, struct buf *out) {
    const struct text name = strings_text(&classes->names, k);
    buf_append(out, name.bytes, name.n);
}

/* Writes what score s stands for: the class for which it is, or "a vs b" for a pair. */
static void put_score_text(const dn_model *model, size_t s, struct buf *out) {
    const dn_classes *classes = dn_model_classes(model);
    const dn_decision decision = dn_model_decision(model);
    size_t negative = SIZE_MAX, positive = SIZE_MAX;
    if (decision == DN_DECISION_NATIVE) {
        put_class_text(classes, s, out); /* one score for each class */
        return;
    }
    dn_decision_machine(decision, classes->n, s, &negative, &positive);
    put_class_text(classes, positive, out);
    if (negative != SIZE_MAX) {
        buf_puts(out, " vs ");
        put_class_text(classes, negative, out);
    }
}

/* Adds the closing parenthesis to a name like "p(setosa)", "score(setosa)" or "contribution(setosa:
 * width)" and writes it. */
static void put_made(struct predictions_writer *p, struct buf *name) {
    buf_putc(name, ')');
    if (name->failed) {
        p->out->failed = true;
        return;
    }
    put_column(p, name->data, name->size);
}

static void put_scores(struct predictions_writer *p, struct buf *name) {
    const size_t n = dn_model_n_scores(p->model);
    if (n == 1) {
        put_word(p, "score");
        return;
    }
    for (size_t s = 0; s < n && !p->out->failed; s++) {
        buf_clear(name);
        buf_puts(name, "score(");
        put_score_text(p->model, s, name);
        put_made(p, name);
    }
}

/* Writes "<name><number>(<score>)", without the number if it is 0, and without the score if there
 * is only one. */
static void put_top_column(struct predictions_writer *p, const char *word, size_t number, size_t s,
                           struct buf *name) {
    buf_clear(name);
    buf_puts(name, word);
    if (number > 0) {
        buf_printf(name, "%zu", number);
    }
    if (dn_model_n_scores(p->model) > 1) {
        buf_putc(name, '(');
        put_score_text(p->model, s, name);
        put_made(p, name);
        return;
    }
    if (name->failed) {
        p->out->failed = true;
        return;
    }
    put_column(p, name->data, name->size);
}

static void put_top_header(struct predictions_writer *p, struct buf *name) {
    for (size_t s = 0; s < dn_model_n_scores(p->model) && !p->out->failed; s++) {
        for (size_t i = 1; i <= p->contributions.top && !p->out->failed; i++) {
            put_top_column(p, "feature", i, s, name);
            put_top_column(p, "contribution", i, s, name);
        }
        put_top_column(p, "rest", 0, s, name);
    }
}

static void put_contributions(struct predictions_writer *p, struct buf *name) {
    /* without contributions there is one column of empty cells */
    if (!dn_model_has_contributions(p->model)) {
        put_word(p, "contributions");
        return;
    }
    if (p->contributions.top > 0) {
        put_top_header(p, name);
        return;
    }
    const dn_encoder *encoder = dn_model_encoder(p->model);
    const size_t n_scores = dn_model_n_scores(p->model),
                 n_features = dn_encoder_n_features(encoder);
    struct buf feature = {0};
    for (size_t s = 0; s < n_scores && !p->out->failed; s++) {
        for (size_t j = 0; j < n_features && !p->out->failed; j++) {
            buf_clear(name);
            buf_puts(name, "contribution(");
            if (n_scores > 1) {
                put_score_text(p->model, s, name);
                buf_puts(name, ": ");
            }
            if (answer_feature_name(encoder, j, &feature) == NULL) {
                p->out->failed = true;
                break;
            }
            buf_append(name, feature.data, feature.size);
            put_made(p, name);
        }
    }
    buf_done(&feature);
}

/* Writes a column "<word>(<class>)" for each class. */
static void put_class_columns(struct predictions_writer *p, const char *word, struct buf *name) {
    const dn_classes *classes = dn_model_classes(p->model);
    for (size_t k = 0; k < classes->n && !p->out->failed; k++) {
        buf_clear(name);
        buf_puts(name, word);
        buf_putc(name, '(');
        put_class_text(classes, k, name);
        put_made(p, name);
    }
}

void predictions_csv_header(struct predictions_writer *p, const dn_prediction *will) {
    static const struct {
        unsigned bit;
        const char *name;
    } single[] = {{ANSWER_DISTANCE, "distance"},
                  {ANSWER_AMBIGUOUS, "ambiguous"},
                  {ANSWER_LOG_DENSITY, "log_density"}};
    struct buf name = {0};
    for (size_t k = 0; p->keep != NULL && k < p->keep->names.n; k++) {
        put_column(p, p->keep->names.text[k].bytes, p->keep->names.text[k].n);
    }
    if (p->outputs & ANSWER_LABEL) {
        put_word(p, "label");
    }
    if (p->outputs & ANSWER_PROBABILITIES) {
        put_class_columns(p, "p", &name);
    }
    if (p->outputs & ANSWER_SCORES) {
        put_scores(p, &name);
    }
    if (p->outputs & ANSWER_CONTRIBUTIONS) {
        put_contributions(p, &name);
    }
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        if (p->outputs & single[i].bit) {
            put_word(p, single[i].name);
        }
    }
    if ((p->outputs & ANSWER_LOG_DENSITY) && will->class_log_density != NULL) {
        put_class_columns(p, "log_density", &name);
    }
    if (p->outputs & ANSWER_PRIOR) {
        put_class_columns(p, "prior", &name);
    }
    if (p->outputs & ANSWER_POSTERIOR) {
        put_class_columns(p, "posterior", &name);
    }
    if (p->outputs & ANSWER_SET) {
        put_word(p, "set");
    }
    if (will->candidates != NULL) {
        put_word(p, "candidates");
    }
    if (will->out_of_support != NULL) {
        put_word(p, "out_of_support");
    }
    if (p->refusal_base != NULL) {
        put_word(p, "error");
    }
    buf_putc(p->out, '\n');
    buf_done(&name);
}

void predictions_columns_write(const dn_model *model, unsigned outputs, struct buf *out) {
    struct predictions_writer p = {.model = model,
                                   .outputs = outputs,
                                   .delimiter = ',',
                                   .out = out};
    const dn_prediction none = {0};
    predictions_csv_header(&p, &none);
}

/* ---- rows ---- */
static void put_number(double x, struct buf *out) {
    if (isfinite(x)) {
        number_write(x, out);
    }
}

/* Writes a delimiter before each cell, also before the first cell of a row, where
 * predictions_csv_row removes it. */
static void put_numbers(struct predictions_writer *p, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        buf_putc(p->out, p->delimiter);
        put_number(x[i], p->out);
    }
}

static void put_top(struct predictions_writer *p, const double *x, size_t n_scores,
                    size_t n_features) {
    struct buf name = {0};
    for (size_t s = 0; s < n_scores && !p->out->failed; s++, x += n_features) {
        const double rest = top_contributions(x, n_features, p->contributions.top, p->top);
        for (size_t i = 0; i < p->contributions.top; i++) {
            if (answer_feature_name(dn_model_encoder(p->model), p->top[i], &name) == NULL) {
                p->out->failed = true;
                break;
            }
            buf_putc(p->out, p->delimiter);
            csv_text_write(name.data, name.size, p->delimiter, p->out);
            put_numbers(p, x + p->top[i], 1);
        }
        put_numbers(p, &rest, 1);
    }
    buf_done(&name);
}

/* Writes the marked classes as a JSON array. */
static void put_classes(const struct predictions_writer *p, const bool *marks) {
    const dn_classes *classes = dn_model_classes(p->model);
    struct buf text = {0};
    buf_putc(&text, '[');
    for (size_t k = 0; k < classes->n; k++) {
        if (marks[k]) {
            if (text.size > 1) {
                buf_putc(&text, ',');
            }
            answer_class_write(classes, k, &text);
        }
    }
    buf_putc(&text, ']');
    csv_text_write(text.data, text.failed ? 0 : text.size, p->delimiter, p->out);
    p->out->failed |= text.failed;
    buf_done(&text);
}

static void put_label(struct predictions_writer *p, size_t label) {
    buf_putc(p->out, p->delimiter);
    if (label != DN_AMBIGUOUS) {
        predictions_put_class(p, label);
    }
}

static void put_flag(struct predictions_writer *p, bool flag) {
    buf_putc(p->out, p->delimiter);
    buf_puts(p->out, flag ? "true" : "false");
}

void predictions_csv_row(struct predictions_writer *p, const dn_prediction *rows, size_t i) {
    const size_t n_classes = dn_model_classes(p->model)->n, n_scores = dn_model_n_scores(p->model);
    const size_t n_features = dn_encoder_n_features(dn_model_encoder(p->model)),
                 begin = p->out->size;
    const bool ambiguous =
        (p->outputs & (ANSWER_LABEL | ANSWER_AMBIGUOUS)) != 0 && rows->label[i] == DN_AMBIGUOUS;
    struct buf *out = p->out;
    if (p->keep != NULL) {
        kept_write_cells(p->kept, p->first_kept + i, p->delimiter, out);
    }
    if (p->outputs & ANSWER_LABEL) {
        put_label(p, rows->label[i]);
    }
    if (p->outputs & ANSWER_PROBABILITIES) {
        put_numbers(p, rows->probabilities + i * n_classes, n_classes);
    }
    if (p->outputs & ANSWER_SCORES) {
        put_numbers(p, rows->scores + i * n_scores, n_scores);
    }
    if (p->outputs & ANSWER_CONTRIBUTIONS) {
        if (rows->contributions != NULL && p->contributions.top > 0) {
            put_top(p, rows->contributions + i * n_scores * n_features, n_scores, n_features);
        } else if (rows->contributions != NULL) {
            put_numbers(p, rows->contributions + i * n_scores * n_features, n_scores * n_features);
        } else {
            buf_putc(out, p->delimiter);
        }
    }
    if (p->outputs & ANSWER_DISTANCE) {
        put_numbers(p, rows->distance + i, 1);
    }
    if (p->outputs & ANSWER_AMBIGUOUS) {
        put_flag(p, ambiguous);
    }
    if (p->outputs & ANSWER_LOG_DENSITY) {
        buf_putc(out, p->delimiter);
        put_number(rows->log_density == NULL ? (double)NAN : rows->log_density[i], out);
    }
    if ((p->outputs & ANSWER_LOG_DENSITY) && rows->class_log_density != NULL) {
        put_numbers(p, rows->class_log_density + i * n_classes, n_classes);
    }
    if (p->outputs & ANSWER_PRIOR) {
        put_numbers(p, dn_model_prior(p->model), n_classes);
    }
    if (p->outputs & ANSWER_POSTERIOR) {
        put_numbers(p, rows->posterior + i * n_classes, n_classes);
    }
    if (p->outputs & ANSWER_SET) {
        buf_putc(out, p->delimiter);
        put_classes(p, rows->set + i * n_classes);
    }
    if (rows->candidates != NULL) {
        buf_putc(out, p->delimiter);
        if (ambiguous) {
            put_classes(p, rows->candidates + i * n_classes);
        }
    }
    if (rows->out_of_support != NULL) {
        put_flag(p, rows->out_of_support[i]);
    }
    if (p->refusal_base != NULL) {
        buf_putc(out, p->delimiter);
    }
    answer_cells_end(begin, out);
    if (out->size == begin) {
        /* the only cell is empty; readers skip an empty line */
        buf_puts(out, "\"\"");
    }
}
