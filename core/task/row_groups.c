/* Reads a column of groups. The values are numbered by a set of byte strings; a number is the
 * string of its bytes. */
#include "task/row_groups.h"
#include "base/argument.h"
#include "base/string_set.h"

#include <math.h>
#include <stdlib.h>

struct reader {
    const dn_table_column *column;
    const double *stratum;
    uint32_t *group;
    dni_string_set values;
    uint32_t *code_group; /* [code_capacity] group of each string of a chunk; DNI_NO_STRING: none
                           * yet */
    size_t code_capacity;
};

static dn_status refuse_missing(const struct reader *r, size_t row, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                     "group column \"%.64s\", row %zu: the value is missing; every "
                                     "row with a class needs a group",
                                     r->column->name, row),
                        r->column->name, (int64_t)row, err);
}

static dn_status read_numbers(struct reader *r, const dn_column_view *view, size_t first,
                              dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; i < view->n_rows && status == DN_OK; i++) {
        const size_t row = first + i;
        const double value = view->number[i] + 0.0; /* −0 becomes 0 */
        if (isnan(r->stratum[row])) {
            continue;
        }
        status = isnan(value) ? refuse_missing(r, row, err)
                              : dni_string_set_add(&r->values, (const char *)&value, sizeof value,
                                                   &r->group[row], err);
    }
    return status;
}

static dn_status reserve_codes(struct reader *r, size_t n, dn_error *err) {
    if (r->code_group == NULL || n > r->code_capacity) {
        uint32_t *groups = realloc(r->code_group, (n + 1) * sizeof *groups);
        if (groups == NULL) {
            return dn_error_set(err, DN_ERR_MEMORY, "no memory for the groups of the rows");
        }
        r->code_group = groups;
        r->code_capacity = n;
    }
    for (size_t c = 0; c < n; c++) {
        r->code_group[c] = DNI_NO_STRING;
    }
    return DN_OK;
}

static dn_status read_strings(struct reader *r, const dn_column_view *view, size_t first,
                              dn_error *err) {
    const dn_strings *s = &view->strings;
    dn_status status = reserve_codes(r, s->n, err);
    for (size_t i = 0; i < view->n_rows && status == DN_OK; i++) {
        const size_t row = first + i;
        const uint32_t c = view->code[i];
        if (isnan(r->stratum[row])) {
            continue;
        }
        if (c == DN_CODE_MISSING) {
            return refuse_missing(r, row, err);
        }
        if (r->code_group[c] == DNI_NO_STRING) {
            status = dni_string_set_add(&r->values, s->bytes + s->start[c],
                                        s->start[c + 1] - s->start[c], &r->code_group[c], err);
        }
        r->group[row] = r->code_group[c];
    }
    return status;
}

dn_status dni_row_groups_read(const dn_table_source *source, size_t column, const double *stratum,
                              const dn_run *run, uint32_t *group, size_t *out_n, dn_error *err) {
    struct reader r = {.column = &source->columns[column], .stratum = stratum, .group = group};
    const dn_column_type type = r.column->type;
    dn_status status = DN_OK;
    if (type == DN_SPARSE) {
        return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                         "group column \"%.64s\" is sparse: a group is one value",
                                         r.column->name),
                            r.column->name, -1, err);
    }
    for (size_t c = 0; c < source->n_chunks && status == DN_OK; c++) {
        dn_column_view view;
        status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = source->column(source, c, column, 0, &view, err);
        }
        if (status == DN_OK) {
            const size_t first = source->chunk_first_row[c];
            status = type == DN_CATEGORICAL || type == DN_TEXT
                         ? read_strings(&r, &view, first, err)
                         : read_numbers(&r, &view, first, err);
        }
    }
    *out_n = r.values.n;
    free(r.code_group);
    dni_string_set_done(&r.values);
    return status;
}
