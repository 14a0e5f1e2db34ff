/* Column types by name, and a table source for columns in memory. */
#include "base/argument.h"
#include <discern/table.h>

#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
    [DN_NUMERIC] = "numeric", [DN_BOOLEAN] = "boolean", [DN_CATEGORICAL] = "categorical",
    [DN_TEXT] = "text",       [DN_SPARSE] = "sparse",   [DN_DATETIME] = "datetime"};
#define N_TYPES (sizeof type_names / sizeof *type_names)

const char *dn_column_type_name(dn_column_type type) {
    return (size_t)type < N_TYPES ? type_names[type] : "unknown";
}

bool dn_column_type_parse(const char *name, dn_column_type *out) {
    for (size_t i = 0; i < N_TYPES; i++) {
        if (strcmp(name, type_names[i]) == 0) {
            *out = (dn_column_type)i;
            return true;
        }
    }
    return false;
}

struct memory_source {
    dn_table_source source; /* first member, so that a dn_table_source * can be cast to struct
                             * memory_source * */
    size_t first_row[2];    /* first row of the only chunk, and its end */
    const dn_column_view *views;
};

static dn_status memory_column(const dn_table_source *source, size_t chunk, size_t column,
                               size_t slot, dn_column_view *out, dn_error *err) {
    (void)slot;
    const struct memory_source *self = (const struct memory_source *)source;
    if (chunk > 0 || column >= source->n_cols) {
        return dn_error_set(err, DN_ERR_SOURCE, "there is no column %zu in chunk %zu", column,
                            chunk);
    }
    *out = self->views[column];
    return DN_OK;
}

/* Checks the indices of a sparse column, which later code uses without checks. */
static dn_status check_sparse(const dn_table_column *column, const dn_column_view *view,
                              dn_error *err) {
    bool well = column->width > 0 && view->row_start != NULL && view->row_start[0] == 0;
    for (size_t i = 0; well && i < view->n_rows; i++) {
        const size_t first = view->row_start[i], end = view->row_start[i + 1];
        well = first <= end;
        for (size_t k = first; well && k < end; k++) {
            well = view->index[k] < column->width &&
                   (k == first || view->index[k] > view->index[k - 1]);
        }
    }
    if (well) {
        return DN_OK;
    }
    return dni_error_at(
        dn_error_set(
            err, DN_ERR_ARGUMENT,
            "column \"%s\": the indices of each row must ascend and be below its width, %zu",
            column->name, column->width),
        column->name, -1, err);
}

dn_status dn_table_source_from_columns(const dn_table_column *columns, const dn_column_view *views,
                                       size_t n_cols, size_t n_rows, dn_table_source **out,
                                       dn_error *err) {
    if (n_cols > 0 && (columns == NULL || views == NULL)) {
        return dni_argument_null(columns == NULL ? "columns" : "views", err);
    }
    if (out == NULL) {
        return dni_argument_null("out", err);
    }
    for (size_t i = 0; i < n_cols; i++) {
        dn_status status = DN_OK;
        const bool fits = views[i].n_rows == n_rows && views[i].type == columns[i].type;
        if (fits && columns[i].type == DN_SPARSE) {
            status = check_sparse(&columns[i], &views[i], err);
        }
        if (status != DN_OK) {
            return status;
        }
        if (fits) {
            continue;
        }
        return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                         "column \"%s\" must be %s with %zu rows (got %s with %zu)",
                                         columns[i].name, dn_column_type_name(columns[i].type),
                                         n_rows, dn_column_type_name(views[i].type),
                                         views[i].n_rows),
                            columns[i].name, -1, err);
    }
    struct memory_source *self = malloc(sizeof *self);
    if (self == NULL) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "a table source needs %zu bytes of memory, which the system does not have",
            sizeof *self);
    }
    *self = (struct memory_source){.first_row = {0, n_rows}, .views = views};
    self->source = (dn_table_source){.n_rows = n_rows,
                                     .n_cols = n_cols,
                                     .n_chunks = 1,
                                     .columns = columns,
                                     .chunk_first_row = self->first_row,
                                     .n_slots = SIZE_MAX,
                                     .column = memory_column};
    *out = &self->source;
    return DN_OK;
}

void dn_table_source_free(dn_table_source *source) {
    free(source);
}
