/* Splits by the values of a column. */
#include "task/split_column.h"
#include "base/argument.h"
#include "number/number_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes without a training row ---- */
/* DN_ERR_DATA if a class has no row with role DN_ROW_TRAIN.
 *
 *   where  the end of the message: which rows these are */
static dn_status check_classes(const dni_labels *l, size_t n_rows, const char *column,
                               const char *where, dn_error *err) {
    size_t *count = calloc(l->n_strata + 1, sizeof *count);
    if (count == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the rows of %zu classes",
                            l->n_strata);
    }
    for (size_t i = 0; i < n_rows; i++) {
        if (l->role[i] == DN_ROW_TRAIN) {
            count[(size_t)l->stratum[i]]++;
        }
    }
    size_t k = 0;
    while (k < l->n_strata && count[k] > 0) {
        k++;
    }
    free(count);
    if (k == l->n_strata) {
        return DN_OK;
    }
    return dni_error_at(l->task->has_truth
                            ? dn_error_set(err, DN_ERR_DATA, "class \"%.64s\" has no row %s",
                                           l->class_name[k], where)
                            : dn_error_set(err, DN_ERR_DATA, "there is no row %s", where),
                        column, -1, err);
}

static void count_roles(const dni_labels *l, size_t n_rows, dni_split *out) {
    *out = (dni_split){0};
    for (size_t i = 0; i < n_rows; i++) {
        out->n_train += l->role[i] == DN_ROW_TRAIN;
        out->n_validation += l->role[i] == DN_ROW_VALIDATE;
        out->n_skipped += l->role[i] == DN_ROW_SKIP;
    }
}

/* ---- order ---- */
struct place {
    double value;
    size_t row;
};

/* The rows that are not ignored, in order. */
struct ordered {
    const char *column; /* its name */
    struct place *place;
    size_t n;
};

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->row > y->row) - (x->row < y->row);
}

double dni_split_order_memory(size_t n_rows) {
    return (double)n_rows * sizeof(struct place);
}

static dn_status refuse_order(const struct ordered *o, const char *what, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_DATA, "order column \"%.64s\" %s", o->column,
                                     what),
                        o->column, -1, err);
}

/* Reads the values and sorts the rows. The caller frees out->place with dn_run_free. */
static dn_status sort_rows(const dn_table_source *source, size_t column, const double *stratum,
                           const dn_run *run, struct ordered *out, dn_error *err) {
    void *memory = NULL;
    *out = (struct ordered){.column = source->columns[column].name};
    if (!dn_column_type_is_real(source->columns[column].type)) {
        return refuse_order(out, "must be numeric or a datetime", err);
    }
    dn_status status = dn_run_alloc(run, source->n_rows, sizeof(struct place),
                                    "the order of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    out->place = memory;
    for (size_t c = 0; c < source->n_chunks && status == DN_OK; c++) {
        dn_column_view view;
        status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = source->column(source, c, column, 0, &view, err);
        }
        for (size_t i = 0; status == DN_OK && i < view.n_rows; i++) {
            const size_t row = source->chunk_first_row[c] + i;
            if (isnan(stratum[row])) {
                continue;
            }
            if (isnan(view.number[i])) {
                status = dni_error_at(
                    dn_error_set(err, DN_ERR_DATA,
                                 "order column \"%.64s\", row %zu: the value is missing; every row "
                                 "with a class needs one",
                                 out->column, row),
                    out->column, (int64_t)row, err);
            }
            out->place[out->n++] = (struct place){view.number[i], row};
        }
    }
    if (status == DN_OK) {
        qsort(out->place, out->n, sizeof *out->place, compare_places);
    } else {
        dn_run_free(run, memory);
    }
    return status;
}

static bool is_border(const struct ordered *o, size_t at) {
    return o->place[at - 1].value != o->place[at].value;
}

/* Returns the border between different values that is nearest to `at`; 0: all values are equal. */
static size_t nearest_border(const struct ordered *o, size_t at) {
    for (size_t d = 0; d < o->n; d++) {
        if (at > d && at - d < o->n && is_border(o, at - d)) {
            return at - d;
        }
        if (at + d > 0 && at + d < o->n && is_border(o, at + d)) {
            return at + d;
        }
    }
    return 0;
}

dn_status dni_split_order_holdout(const dn_table_source *source, size_t column, double holdout,
                                  const dn_run *run, dni_labels *l, dni_split *out, dn_error *err) {
    struct ordered o;
    dn_status status = sort_rows(source, column, l->stratum, run, &o, err);
    if (status != DN_OK) {
        return status;
    }
    const size_t border = nearest_border(&o, o.n - (size_t)floor((double)o.n * holdout + 0.5));
    for (size_t i = 0; i < source->n_rows; i++) {
        l->role[i] = DN_ROW_SKIP;
    }
    for (size_t i = 0; i < o.n; i++) {
        l->role[o.place[i].row] = i < border ? DN_ROW_TRAIN : DN_ROW_VALIDATE;
    }
    dn_run_free(run, o.place);
    if (border == 0) {
        return refuse_order(&o, "has the same value in all rows: there are no last rows", err);
    }
    count_roles(l, source->n_rows, out);
    return check_classes(l, source->n_rows, o.column,
                         "among the training rows, which are the first in order: take a smaller "
                         "holdout, or another split",
                         err);
}

/* Returns the number of borders between different values. */
static size_t count_borders(const struct ordered *o) {
    size_t n = 0;
    for (size_t at = 1; at < o->n; at++) {
        n += is_border(o, at);
    }
    return n;
}

/* Returns the border after `before` that is nearest to `at`, of those with at least n_after borders
 * behind them; of two that are equally near, the first.
 *
 *   left  in/out: the number of borders after `before`, > n_after; after the returned one */
static size_t next_border(const struct ordered *o, size_t before, double at, size_t n_after,
                          size_t *left) {
    size_t best = 0, i = before + 1, n = *left;
    for (; n > n_after; i++) {
        if (!is_border(o, i)) {
            continue;
        }
        if (best > 0 && fabs((double)i - at) >= fabs((double)best - at)) {
            break;
        }
        best = i;
        *left = --n;
    }
    return best;
}

static dn_status refuse_blocks(const struct ordered *o, size_t n_values, size_t n_folds,
                               dn_error *err) {
    char what[160];
    (void)snprintf(what, sizeof what,
                   "has %zu different value%s; rows with equal values stay together, and %zu folds "
                   "need %zu blocks of rows: use fewer folds",
                   n_values, n_values == 1 ? "" : "s", n_folds, n_folds + 1);
    return refuse_order(o, what, err);
}

dn_status dni_split_order_folds(const dn_table_source *source, size_t column, size_t n_folds,
                                const dn_run *run, const dni_labels *labels, uint16_t *fold,
                                dn_error *err) {
    struct ordered o;
    dni_labels first = *labels; /* its roles are those of the fit of fold 0 */
    dn_status status = sort_rows(source, column, labels->stratum, run, &o, err);
    if (status != DN_OK) {
        return status;
    }
    size_t left = count_borders(&o), border = 0;
    if (left < n_folds) {
        dn_run_free(run, o.place);
        return refuse_blocks(&o, left + 1, n_folds, err);
    }
    for (size_t i = 0; i < source->n_rows; i++) {
        fold[i] = (uint16_t)n_folds;
        first.role[i] = DN_ROW_SKIP;
    }
    for (size_t block = 0; block <= n_folds; block++) {
        const size_t before = border;
        const double at = floor((double)o.n * (double)(block + 1) / (double)(n_folds + 1) + 0.5);
        border = block == n_folds ? o.n : next_border(&o, before, at, n_folds - block - 1, &left);
        for (size_t i = before; i < border; i++) {
            fold[o.place[i].row] = (uint16_t)(block == 0 ? n_folds : block - 1);
            first.role[o.place[i].row] = block == 0 ? DN_ROW_TRAIN : DN_ROW_SKIP;
        }
    }
    dn_run_free(run, o.place);
    return check_classes(&first, source->n_rows, o.column,
                         "in the first block of the order, to which the first fold is fitted: use "
                         "fewer folds, or another split",
                         err);
}

/* ---- marks ---- */
enum { UNKNOWN = DN_ROW_SKIP };

/* Returns true if a text is a word of lower-case letters, except for the case of its letters. */
static bool is_word(const char *text, size_t length, const char *word) {
    size_t i = 0;
    for (; i < length && word[i] != '\0'; i++) {
        const char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
        if (c != word[i]) {
            return false;
        }
    }
    return i == length && word[i] == '\0';
}

bool dn_row_mark_parse(const char *text, size_t length, bool *training) {
    static const char *const marks[] = {"train", "training",   "true",    "1",     "test",
                                        "valid", "validation", "holdout", "false", "0"};
    enum { N_TRAINING = 4 };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (is_word(text, length, marks[i])) {
            *training = i < N_TRAINING;
            return true;
        }
    }
    return false;
}

/* Returns the role of a row of the view, and its value as text. */
static uint8_t role_of(const dn_column_view *view, size_t i, char text[DN_NUMBER_SIZE + 64]) {
    text[0] = '\0';
    if (view->type == DN_CATEGORICAL || view->type == DN_TEXT) {
        const uint32_t c = view->code[i];
        if (c == DN_CODE_MISSING) {
            return UNKNOWN;
        }
        const char *bytes = view->strings.bytes + view->strings.start[c];
        const size_t length = view->strings.start[c + 1] - view->strings.start[c];
        (void)snprintf(text, DN_NUMBER_SIZE + 64, "%.*s", (int)(length < 64 ? length : 64), bytes);
        bool training;
        return (uint8_t)(!dn_row_mark_parse(bytes, length, &training) ? UNKNOWN
                         : training                                   ? DN_ROW_TRAIN
                                                                      : DN_ROW_VALIDATE);
    }
    if (isnan(view->number[i])) {
        return UNKNOWN;
    }
    (void)dni_number_text(view->number[i], text);
    return view->number[i] == 1 ? DN_ROW_TRAIN : view->number[i] == 0 ? DN_ROW_VALIDATE : UNKNOWN;
}

static dn_status refuse_mark(const char *column, size_t row, const char *text, dn_error *err) {
    return dni_error_at(
        text[0] == '\0'
            ? dn_error_set(
                  err, DN_ERR_DATA,
                  "split column \"%.64s\", row %zu: the value is missing; it must mark the "
                  "row as training or validation",
                  column, row)
            : dn_error_set(
                  err, DN_ERR_DATA,
                  "split column \"%.64s\", row %zu: the value must be true, 1 or \"train\" "
                  "for a training row, or false, 0, \"test\" or \"validation\" for a "
                  "validation row (got \"%s\")",
                  column, row, text),
        column, (int64_t)row, err);
}

dn_status dni_split_marks(const dn_table_source *source, size_t column, const dn_run *run,
                          dni_labels *l, dni_split *out, dn_error *err) {
    const dn_table_column *from = &source->columns[column];
    if (from->type == DN_SPARSE || from->type == DN_DATETIME) {
        return dni_error_at(dn_error_set(err, DN_ERR_DATA, "split column \"%.64s\" must not be %s",
                                         from->name, dn_column_type_name(from->type)),
                            from->name, -1, err);
    }
    for (size_t c = 0; c < source->n_chunks; c++) {
        dn_column_view view;
        dn_status status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = source->column(source, c, column, 0, &view, err);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0, row = source->chunk_first_row[c]; i < view.n_rows; i++, row++) {
            char text[DN_NUMBER_SIZE + 64];
            l->role[row] = DN_ROW_SKIP;
            if (isnan(l->stratum[row])) {
                continue;
            }
            l->role[row] = role_of(&view, i, text);
            if (l->role[row] == UNKNOWN) {
                return refuse_mark(from->name, row, text, err);
            }
        }
    }
    count_roles(l, source->n_rows, out);
    if (out->n_validation == 0) {
        return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                         "split column \"%.64s\" marks no validation row",
                                         from->name),
                            from->name, -1, err);
    }
    return check_classes(l, source->n_rows, from->name, "among the training rows", err);
}
