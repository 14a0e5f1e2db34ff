/* Training from arrays of the caller. The arrays become a table source; columns are copied in
 * chunks of rows. */
#include "base/argument.h"
#include "base/layout.h"
#include "base/string_set.h"
#include "catalogue/suggest.h"
#include "table/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_ROWS = 1024, /* a chunk of a strided column stays in the L2 cache */
    NAME_SIZE = 24,    /* bytes of a generated name such as "x12" */
    EXTRA_COLUMNS = 2  /* number of columns after the inputs: target and weight */
};

/* The arrays as a table: the columns of x, then the target, then the weight if there is one. */
struct arrays {
    dn_table_source source; /* source.ctx points to this struct */
    const dn_fit_data *data;
    const dn_run *run;
    size_t n_inputs;
    size_t target, weight; /* column indices; SIZE_MAX: no such column */
    size_t chunk_rows;
    void *memory;             /* the allocation that contains the arrays columns ... codes */
    dn_table_column *columns; /* [n_inputs + EXTRA_COLUMNS] */
    char *names;              /* [n_inputs + EXTRA_COLUMNS][NAME_SIZE] */
    size_t *inputs;           /* [n_inputs] 0, 1, … */
    size_t *borders;          /* [n_chunks + 1] */
    double *copies;           /* [n_slots × n_inputs × chunk_rows] copies of chunks of strided
                               * columns */
    uint32_t *codes;          /* [n_rows] class index of each label; empty without labels */
    dni_string_set classes;   /* the different labels */
};

struct shape {
    size_t n_inputs, n_chunks, chunk_rows, n_slots;
    size_t n_labels; /* number of labels: n_rows if the classes are strings, otherwise 0 */
};

static dn_status refuse_infinite(const char *name, size_t row, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                     "row %zu, column \"%.64s\": a value must be finite", row,
                                     name),
                        name, (int64_t)row, err);
}

static dn_status arrays_column(const dn_table_source *source, size_t chunk, size_t column,
                               size_t slot, dn_column_view *out, dn_error *err) {
    const struct arrays *a = source->ctx;
    const size_t first = a->borders[chunk], n = a->borders[chunk + 1] - first;
    *out = (dn_column_view){.type = a->columns[column].type, .n_rows = n};
    if (column == a->weight) {
        out->number = a->data->weight + first;
        return DN_OK;
    }
    if (column == a->target && a->data->labels != NULL) {
        out->code = a->codes + first;
        out->strings = dni_string_set_view(&a->classes);
        return DN_OK;
    }
    if (column == a->target) {
        out->number = a->data->y + first;
        for (size_t i = 0; i < n; i++) {
            if (isinf(out->number[i])) {
                return refuse_infinite(a->columns[column].name, first + i, err);
            }
        }
        return DN_OK;
    }
    double *values = a->copies + (slot * a->n_inputs + column) * a->chunk_rows;
    const size_t copied = dni_array_column(&a->data->x, first, n, column, values);
    if (copied < n) {
        return refuse_infinite(a->columns[column].name, first + copied, err);
    }
    out->number = values;
    return DN_OK;
}

/* Finds a name for the target or the weight column that no feature has: "y", "y_", "y__", … */
static dn_status free_name(const dni_string_set *names, char letter, char out[NAME_SIZE],
                           dn_error *err) {
    out[0] = letter;
    for (size_t length = 1; length < NAME_SIZE; length++) {
        out[length] = '\0';
        if (dni_string_set_find(names, out, length) == DNI_NO_STRING) {
            return DN_OK;
        }
        out[length] = '_';
    }
    return dn_error_set(err, DN_ERR_ARGUMENT,
                        "every name that is tried for column %c is the name of a feature", letter);
}

/* Names the columns. DN_ERR_ARGUMENT: a feature has an empty name, or two have the same name. */
static dn_status name_columns(struct arrays *a, dn_error *err) {
    dni_string_set names = {0};
    dn_status status = DN_OK;
    for (size_t j = 0; j < a->n_inputs; j++) {
        char *generated = a->names + j * NAME_SIZE;
        const char *name = a->data->names == NULL ? generated : a->data->names[j];
        uint32_t index;
        (void)snprintf(generated, NAME_SIZE, "x%zu", j);
        if (name == NULL || *name == '\0') {
            status = dn_error_set(err, DN_ERR_ARGUMENT, "the name of column %zu is empty", j);
            goto cleanup;
        }
        status = dni_string_set_add(&names, name, strlen(name), &index, err);
        if (status != DN_OK) {
            goto cleanup;
        }
        if (index != j) {
            status = dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                               "columns %lu and %zu are both named \"%.64s\"",
                                               (unsigned long)index, j, name),
                                  name, -1, err);
            goto cleanup;
        }
        a->columns[j] = (dn_table_column){.name = name, .type = DN_NUMERIC};
    }
    for (size_t j = a->n_inputs; j < a->source.n_cols; j++) {
        char *name = a->names + j * NAME_SIZE;
        status = free_name(&names, j == a->target ? 'y' : 'w', name, err);
        if (status != DN_OK) {
            goto cleanup;
        }
        const bool strings = j == a->target && a->data->labels != NULL;
        a->columns[j] =
            (dn_table_column){.name = name, .type = strings ? DN_CATEGORICAL : DN_NUMERIC};
    }
cleanup:
    dni_string_set_done(&names);
    return status;
}

/* Assigns a code to each different label. */
static dn_status read_labels(struct arrays *a, dn_error *err) {
    const char *const *labels = a->data->labels;
    for (size_t i = 0; i < a->source.n_rows; i++) {
        a->codes[i] = DN_CODE_MISSING;
        if (labels[i] != NULL) {
            dn_status status =
                dni_string_set_add(&a->classes, labels[i], strlen(labels[i]), &a->codes[i], err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

static void arrays_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct arrays *a = out;
    a->columns = dni_layout_array(layout, s->n_inputs + EXTRA_COLUMNS, sizeof *a->columns);
    a->names = dni_layout_array(layout, s->n_inputs + EXTRA_COLUMNS, NAME_SIZE);
    a->inputs = dni_layout_array(layout, s->n_inputs + 1, sizeof *a->inputs);
    a->borders = dni_layout_array(layout, s->n_chunks + 1, sizeof *a->borders);
    a->copies = dni_layout_matrix(layout, s->n_slots * s->chunk_rows, s->n_inputs);
    a->codes = dni_layout_array(layout, s->n_labels, sizeof *a->codes);
}

static dn_status arrays_init(struct arrays *a, dn_error *err) {
    const size_t d = a->n_inputs, n = a->source.n_rows;
    const struct shape shape = {.n_inputs = d,
                                .n_chunks = a->source.n_chunks,
                                .chunk_rows = a->chunk_rows,
                                .n_slots = a->source.n_slots,
                                .n_labels = a->data->labels == NULL ? 0 : n};
    dn_status status =
        dni_layout_take(a->run, arrays_layout, &shape, a, "the rows", &a->memory, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t j = 0; j < d; j++) {
        a->inputs[j] = j;
    }
    for (size_t c = 0; c <= a->source.n_chunks; c++) {
        a->borders[c] = c < a->source.n_chunks ? c * CHUNK_ROWS : n;
    }
    a->source.columns = a->columns;
    a->source.chunk_first_row = a->borders;
    status = name_columns(a, err);
    return status == DN_OK && a->data->labels != NULL ? read_labels(a, err) : status;
}

static void arrays_done(struct arrays *a) {
    dni_string_set_done(&a->classes);
    dn_run_free(a->run, a->memory);
}

static dn_status find_method(const char *id, const dn_algorithm **out, dn_error *err) {
    dn_status status = dni_argument_not_null(id, "method", err);
    if (status != DN_OK) {
        return status;
    }
    *out = dn_algorithm_find(id);
    if (*out != NULL) {
        return DN_OK;
    }
    const size_t n = dn_algorithm_count();
    const char **ids = calloc(n + 1, sizeof *ids);
    if (ids == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the names of the methods");
    }
    char list[256] = "";
    for (size_t i = 0; i < n; i++) {
        const size_t length = strlen(list);
        ids[i] = dn_algorithm_at(i)->id;
        (void)snprintf(list + length, sizeof list - length, "%s%s", i == 0 ? "" : ", ", ids[i]);
    }
    const char *similar = dni_suggest(ids, NULL, id);
    free(ids);
    return similar == NULL
               ? dn_error_set(err, DN_ERR_ARGUMENT, "there is no method \"%.64s\"; there are: %s",
                              id, list)
               : dn_error_set(err, DN_ERR_ARGUMENT,
                              "there is no method \"%.64s\"; did you mean %s?", id, similar);
}

static dn_status check_arguments(const dn_fit_data *data, const dn_run *run,
                                 const dn_train_result *out, dn_error *err) {
    dn_status status = dni_argument_not_null(data, "data", err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_argument_struct(data->struct_size, sizeof *data, "data", err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_argument_not_null(out, "out", err);
    return status == DN_OK ? dni_argument_run(run, err) : status;
}

static dn_status check_data(const dn_fit_data *data, const dn_algorithm *method, dn_error *err) {
    const bool target = data->y != NULL || data->labels != NULL;
    if (data->y != NULL && data->labels != NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the classes must be numbers (y) or strings (labels), not both");
    }
    if (target && (method->flags & DN_ALGORITHM_TARGET) == 0) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "method \"%s\" has no target: y must be NULL",
                            method->id);
    }
    if (!target && (method->flags & DN_ALGORITHM_TARGET) != 0) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "method \"%s\" needs a target: y must not be NULL", method->id);
    }
    return dni_array_check(&data->x, err);
}

static dn_status train(struct arrays *a, const dn_algorithm *method, const char *words,
                       dn_train_result *out, dn_error *err) {
    dn_params *params;
    dn_status status = dn_params_new(method, &params, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_params_set_words(params, words, err);
    if (status == DN_OK) {
        const dn_train_request request = {.source = &a->source,
                                          .params = params,
                                          .target = a->target,
                                          .weighted = a->weight != SIZE_MAX,
                                          .weight = a->weight,
                                          .weights = a->data->weights,
                                          .features = {.columns = a->inputs,
                                                       .n_columns = a->n_inputs,
                                                       .standardize =
                                                           dn_params_standardizes(params)}};
        status = dn_train(&request, a->run, out, err);
    }
    dn_params_free(params);
    return status;
}

dn_status dn_fit_arrays(const dn_fit_data *data, const char *method, const char *params,
                        const dn_run *run, dn_train_result *out, dn_error *err) {
    const dn_algorithm *algorithm = NULL;
    dn_status status = check_arguments(data, run, out, err);
    if (status != DN_OK) {
        return status;
    }
    status = find_method(method, &algorithm, err);
    if (status != DN_OK) {
        return status;
    }
    status = check_data(data, algorithm, err);
    if (status != DN_OK) {
        return status;
    }
    const dn_run fallback = dn_run_default();
    run = run == NULL ? &fallback : run;
    const size_t d = data->x.n_cols;
    const bool has_target = data->y != NULL || data->labels != NULL;
    struct arrays a = {.data = data,
                       .run = run,
                       .n_inputs = d,
                       .chunk_rows = data->x.n_rows < CHUNK_ROWS ? data->x.n_rows : CHUNK_ROWS,
                       .target = has_target ? d : DN_NO_TARGET,
                       .weight = data->weight != NULL ? d + has_target : SIZE_MAX};
    a.source = (dn_table_source){.n_rows = data->x.n_rows,
                                 .n_cols = d + has_target + (data->weight != NULL),
                                 .n_chunks = (data->x.n_rows + CHUNK_ROWS - 1) / CHUNK_ROWS,
                                 .n_slots = run->n_slots,
                                 .column = arrays_column,
                                 .ctx = &a};
    status = arrays_init(&a, err);
    if (status == DN_OK) {
        status = train(&a, algorithm, params, out, err);
    }
    arrays_done(&a);
    return status;
}

/* Trains a model and returns it; the other members of the result are discarded. */
static dn_status fit(const dn_fit_data *data, const char *method, const char *params,
                     const dn_run *run, dn_model **out, dn_error *err) {
    dn_status status = dni_argument_not_null(out, "out", err);
    if (status != DN_OK) {
        return status;
    }
    dn_train_result *result = calloc(1, sizeof *result); /* tens of kilobytes, too large for the
                                                          * stack */
    if (result == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the report");
    }
    status = dn_fit_arrays(data, method, params, run, result, err);
    if (status == DN_OK) {
        *out = result->model;
        result->model = NULL;
        dn_train_result_done(result);
    }
    free(result);
    return status;
}

dn_status dn_fit(const double *x, size_t n_rows, size_t n_cols, const double *y, const char *method,
                 const char *params, const dn_run *run, dn_model **out, dn_error *err) {
    const dn_fit_data data = {.x = dn_array_doubles(x, n_rows, n_cols), .y = y};
    return fit(&data, method, params, run, out, err);
}

dn_status dn_fit_strings(const double *x, size_t n_rows, size_t n_cols, const char *const *y,
                         const char *method, const char *params, const dn_run *run, dn_model **out,
                         dn_error *err) {
    const dn_fit_data data = {.x = dn_array_doubles(x, n_rows, n_cols), .labels = y};
    return fit(&data, method, params, run, out, err);
}
