#include "table/array.h"

#include "base/argument.h"

#include <math.h>

dn_array dn_array_doubles(const double *values, size_t n_rows, size_t n_cols) {
    return (
        dn_array){.values = values, .type = DN_ARRAY_DOUBLE, .n_rows = n_rows, .n_cols = n_cols};
}

dn_array dn_array_floats(const float *values, size_t n_rows, size_t n_cols) {
    return (dn_array){.values = values, .type = DN_ARRAY_FLOAT, .n_rows = n_rows, .n_cols = n_cols};
}

static size_t row_stride(const dn_array *x) {
    return x->row_stride == 0 ? x->n_cols : x->row_stride;
}

static size_t col_stride(const dn_array *x) {
    return x->col_stride == 0 ? 1 : x->col_stride;
}

dn_status dni_array_check(const dn_array *x, dn_error *err) {
    dn_status status = dni_argument_not_null(x, "x", err);
    if (status != DN_OK) {
        return status;
    }
    if (x->type != DN_ARRAY_DOUBLE && x->type != DN_ARRAY_FLOAT) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the type of x must be DN_ARRAY_DOUBLE or "
                            "DN_ARRAY_FLOAT (got %d)",
                            (int)x->type);
    }
    if (x->n_rows == 0 || x->n_cols == 0) {
        return DN_OK;
    }
    status = dni_argument_not_null(x->values, "the values of x", err);
    if (status != DN_OK) {
        return status;
    }
    const double last = (double)(x->n_rows - 1) * (double)row_stride(x) +
                        (double)(x->n_cols - 1) * (double)col_stride(x);
    return last < (double)SIZE_MAX / 16
               ? DN_OK
               : dn_error_set(err, DN_ERR_ARGUMENT,
                              "x has %zu rows and %zu columns, which is more than can be addressed",
                              x->n_rows, x->n_cols);
}

static size_t copy_values(const dn_array *x, size_t at, size_t stride, size_t n, double *out) {
    const double *doubles = x->values;
    const float *floats = x->values;
    for (size_t k = 0; k < n; k++) {
        out[k] =
            x->type == DN_ARRAY_DOUBLE ? doubles[at + k * stride] : (double)floats[at + k * stride];
        if (isinf(out[k])) {
            return k;
        }
    }
    return n;
}

size_t dni_array_column(const dn_array *x, size_t first, size_t n, size_t j, double *out) {
    return copy_values(x, first * row_stride(x) + j * col_stride(x), row_stride(x), n, out);
}

size_t dni_array_row(const dn_array *x, size_t i, double *out) {
    return copy_values(x, i * row_stride(x), col_stride(x), x->n_cols, out);
}
