/* Reads a target column. Classes are numbered in the order of their first rows; after the last row
 * the classes are sorted and the class indices of the rows are renumbered. */
#include "task/target.h"
#include "base/argument.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const dn_table_column *column;
    size_t max_classes;
    size_t n, capacity;
    double *sorted; /* [n] distinct values in ascending order */
    size_t *rank;   /* [n] class number of each element of `sorted` */
    dni_string_set strings;
    double *code_index; /* [code_capacity] class number of each string of a chunk; −1: the string
                           * has no number yet */
    size_t code_capacity; /* maximum number of strings of a chunk */
};

static void reader_done(struct reader *r) {
    free(r->sorted);
    free(r->rank);
    free(r->code_index);
    dni_string_set_done(&r->strings);
}

static dn_status no_memory(dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY, "no memory for the classes of the target");
}

static dn_status too_many(const struct reader *r, dn_error *err) {
    return dni_error_at(
        dn_error_set(err, DN_ERR_DATA,
                     "target column \"%.64s\" has more than %zu classes: choose a column with few "
                     "different values, not a measurement or an identifier",
                     r->column->name, r->max_classes),
        r->column->name, -1, err);
}

static dn_status too_long(const struct reader *r, dn_error *err) {
    return dni_error_at(
        dn_error_set(
            err, DN_ERR_DATA,
            "target column \"%.64s\" has classes whose names have more than %zu bytes in all",
            r->column->name, DN_MAX_LEVEL_BYTES),
        r->column->name, -1, err);
}

static dn_status grow(struct reader *r, dn_error *err) {
    if (r->n < r->capacity) {
        return DN_OK;
    }
    size_t capacity = r->capacity == 0 ? 16 : 2 * r->capacity;
    double *sorted = realloc(r->sorted, capacity * sizeof *sorted);
    if (sorted != NULL) {
        r->sorted = sorted;
    }
    size_t *rank = realloc(r->rank, capacity * sizeof *rank);
    if (rank != NULL) {
        r->rank = rank;
    }
    if (sorted == NULL || rank == NULL) {
        return no_memory(err);
    }
    r->capacity = capacity;
    return DN_OK;
}

/* Finds the class number of a value; adds a class if the value is new. */
static dn_status number_class(struct reader *r, double value, double *out, dn_error *err) {
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->sorted[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < r->n && r->sorted[low] == value) {
        *out = (double)r->rank[low];
        return DN_OK;
    }
    if (r->n == r->max_classes) {
        return too_many(r, err);
    }
    dn_status status = grow(r, err);
    if (status != DN_OK) {
        return status;
    }
    memmove(r->sorted + low + 1, r->sorted + low, (r->n - low) * sizeof *r->sorted);
    memmove(r->rank + low + 1, r->rank + low, (r->n - low) * sizeof *r->rank);
    r->sorted[low] = value + 0.0; /* −0 becomes 0 */
    r->rank[low] = r->n;
    *out = (double)r->n++;
    return DN_OK;
}

static dn_status read_numbers(struct reader *r, const dn_column_view *view, double *index,
                              dn_error *err) {
    for (size_t i = 0; i < view->n_rows; i++) {
        double value = view->number[i];
        if (i > 0 && value == view->number[i - 1]) {
            index[i] = index[i - 1];
            continue;
        }
        if (isnan(value)) {
            index[i] = (double)NAN;
            continue;
        }
        dn_status status = number_class(r, value, &index[i], err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status reserve_codes(struct reader *r, size_t n, dn_error *err) {
    if (r->code_index != NULL && n <= r->code_capacity) {
        return DN_OK;
    }
    double *indices = realloc(r->code_index, (n + 1) * sizeof *indices);
    if (indices == NULL) {
        return no_memory(err);
    }
    r->code_index = indices;
    r->code_capacity = n;
    return DN_OK;
}

/* Finds the class number of a string; adds a class if the string is new. */
static dn_status string_class(struct reader *r, const char *text, size_t length, double *out,
                              dn_error *err) {
    uint32_t number;
    dn_status status = dni_string_set_add(&r->strings, text, length, &number, err);
    if (status == DN_OK && r->strings.n > r->max_classes) {
        status = too_many(r, err);
    }
    if (status == DN_OK && dni_string_set_size(&r->strings) > DN_MAX_LEVEL_BYTES) {
        status = too_long(r, err);
    }
    if (status == DN_OK) {
        *out = number;
    }
    return status;
}

/* Reads the classes of the rows of a chunk. A string of the chunk that occurs in no row does not
 * become a class. */
static dn_status read_strings(struct reader *r, const dn_column_view *view, double *index,
                              dn_error *err) {
    const dn_strings *s = &view->strings;
    dn_status status = reserve_codes(r, s->n, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t c = 0; c < s->n; c++) {
        r->code_index[c] = -1;
    }
    for (size_t i = 0; i < view->n_rows; i++) {
        uint32_t c = view->code[i];
        if (c != DN_CODE_MISSING && r->code_index[c] < 0) {
            status = string_class(r, s->bytes + s->start[c], s->start[c + 1] - s->start[c],
                                  &r->code_index[c], err);
            if (status != DN_OK) {
                return status;
            }
        }
        index[i] = c == DN_CODE_MISSING ? (double)NAN : r->code_index[c];
    }
    return DN_OK;
}

struct named {
    const char *text;
    size_t length, number;
};

static int by_bytes(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = shorter > 0 ? memcmp(x->text, y->text, shorter) : 0;
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

/* Sorts the strings by their bytes. position[number] ← the position of class `number` in the
 * sorted order; *out ← the sorted classes. */
static dn_status sort_strings(struct reader *r, double *position, dni_classes *out, dn_error *err) {
    dn_strings names = dni_string_set_view(&r->strings);
    struct named *order = malloc((names.n + 1) * sizeof *order);
    dni_string_set sorted = {0};
    dn_status status = order == NULL ? no_memory(err) : DN_OK;
    for (size_t k = 0; k < names.n && status == DN_OK; k++) {
        order[k] =
            (struct named){names.bytes + names.start[k], names.start[k + 1] - names.start[k], k};
    }
    if (status == DN_OK && names.n > 0) {
        qsort(order, names.n, sizeof *order, by_bytes);
    }
    for (size_t k = 0; k < names.n && status == DN_OK; k++) {
        uint32_t number;
        position[order[k].number] = (double)k;
        status = dni_string_set_append(&sorted, order[k].text, order[k].length, &number, err);
    }
    if (status == DN_OK) {
        status = dni_classes_from_strings(r->column->type, dni_string_set_view(&sorted), out, err);
    }
    dni_string_set_done(&sorted);
    free(order);
    return status;
}

static dn_status finish(struct reader *r, size_t n_rows, double *index, dni_classes *out,
                        dn_error *err) {
    bool numeric = dni_classes_numeric(r->column->type);
    size_t n = numeric ? r->n : r->strings.n;
    if (n < 2) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_DATA,
                         "target column \"%.64s\" has %s: training needs at least two classes",
                         r->column->name, n == 0 ? "no value" : "one class only"),
            r->column->name, -1, err);
    }
    double *position = malloc(n * sizeof *position);
    if (position == NULL) {
        return no_memory(err);
    }
    dn_status status;
    if (numeric) {
        for (size_t k = 0; k < n; k++) {
            position[r->rank[k]] = (double)k;
        }
        status = dni_classes_from_numbers(r->column->type, r->sorted, n, out, err);
    } else {
        status = sort_strings(r, position, out, err);
    }
    for (size_t i = 0; status == DN_OK && i < n_rows; i++) {
        if (!isnan(index[i])) {
            index[i] = position[(size_t)index[i]];
        }
    }
    free(position);
    return status;
}

dn_status dni_target_read(const dn_table_source *source, size_t column, size_t max_classes,
                          const dn_run *run, double *index, dni_classes *out, dn_error *err) {
    struct reader r = {.column = &source->columns[column], .max_classes = max_classes};
    dn_status status = DN_OK;
    for (size_t c = 0; c < source->n_chunks && status == DN_OK; c++) {
        dn_column_view view;
        double *of_chunk = index + source->chunk_first_row[c];
        status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = source->column(source, c, column, 0, &view, err);
        }
        if (status == DN_OK) {
            status = dni_classes_numeric(r.column->type) ? read_numbers(&r, &view, of_chunk, err)
                                                         : read_strings(&r, &view, of_chunk, err);
        }
    }
    if (status == DN_OK) {
        status = finish(&r, source->n_rows, index, out, err);
    }
    reader_done(&r);
    return status;
}

static dn_status match_chunk(const dn_table_source *source, size_t column, size_t chunk,
                             const dni_classes *classes, double *index, dn_error *err) {
    const char *name = source->columns[column].name;
    const size_t first = source->chunk_first_row[chunk];
    dn_column_view view;
    dn_status status = source->column(source, chunk, column, 0, &view, err);
    if (status != DN_OK) {
        return status;
    }
    const bool numeric = view.number != NULL && dni_classes_numeric(view.type);
    for (size_t i = 0; i < view.n_rows; i++) {
        char number[DN_NUMBER_SIZE];
        const char *text = number;
        size_t length = 0, k;
        if (numeric ? isnan(view.number[i]) : view.code[i] == DN_CODE_MISSING) {
            index[first + i] = (double)NAN;
            continue;
        }
        if (numeric) {
            k = dni_classes_find_number(classes, view.number[i]);
            length = k == SIZE_MAX ? dn_number_format(view.number[i], number) : 0;
        } else {
            const uint32_t *start = view.strings.start + view.code[i];
            text = view.strings.bytes + start[0];
            length = start[1] - start[0];
            k = dni_classes_find_text(classes, text, length);
        }
        if (k == SIZE_MAX) {
            return dni_error_at(
                dn_error_set(
                    err, DN_ERR_DATA,
                    "column \"%.64s\", row %zu: \"%.*s\" is not one of the model's classes", name,
                    first + i, length > 64 ? 64 : (int)length, text),
                name, (int64_t)(first + i), err);
        }
        index[first + i] = (double)k;
    }
    return DN_OK;
}

dn_status dni_target_match(const dn_table_source *source, size_t column, const dni_classes *classes,
                           const dn_run *run, double *index, dn_error *err) {
    const dn_table_column *target = &source->columns[column];
    bool numeric = dni_classes_numeric(classes->view.type);
    if (numeric ? target->type != classes->view.type : dni_classes_numeric(target->type)) {
        return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                         "column \"%.64s\" is %s, but the model's target is %s",
                                         target->name, dn_column_type_name(target->type),
                                         dn_column_type_name(classes->view.type)),
                            target->name, -1, err);
    }
    dn_status status = DN_OK;
    for (size_t c = 0; c < source->n_chunks && status == DN_OK; c++) {
        status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = match_chunk(source, column, c, classes, index, err);
        }
    }
    return status;
}
