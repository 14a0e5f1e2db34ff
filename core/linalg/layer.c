/* The products of a layer. Dense rows use BLAS. Sparse rows use the products of linear scores of
 * tile.h: their transposed table has the same form as the table of a layer. */
#include "linalg/layer.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <cblas.h>
#include <string.h>

void dni_layer_forward(dn_matrix x, const double *table, size_t units, double *out) {
    const size_t d = x.n_cols;
    if (x.kind == DN_CSR) {
        dni_tile_scores(x, table, units, out);
        return;
    }
    for (size_t t = 0; t < x.n_rows; t++) {
        memcpy(out + t * units, table + d * units, units * sizeof *out);
    }
    if (x.n_rows == 0 || d == 0) {
        return;
    }
    if (units == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)x.n_rows, (int)d, 1.0, x.values,
                    (int)x.stride, table, 1, 1.0, out, 1);
    } else {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)x.n_rows, (int)units, (int)d,
                    1.0, x.values, (int)x.stride, table, (int)units, 1.0, out, (int)units);
    }
}

void dni_layer_backward(const double *delta, size_t n_rows, const double *table, size_t inputs,
                        size_t units, double *out) {
    if (n_rows > 0) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n_rows, (int)inputs, (int)units,
                    1.0, delta, (int)units, table, (int)units, 0.0, out, (int)inputs);
    }
}

void dni_layer_gradient(dn_matrix x, const double *delta, size_t units, double *table) {
    if (x.kind == DN_CSR) {
        dni_tile_gradient(x, delta, units, table);
    } else {
        dni_layer_gradient_part(x, delta, units, 0, x.n_cols + 1, table);
    }
}

void dni_layer_gradient_part(dn_matrix x, const double *delta, size_t units, size_t first, size_t n,
                             double *table) {
    const size_t d = x.n_cols, weights = first + n > d ? d - first : n;
    if (x.n_rows == 0) {
        return;
    }
    if (weights > 0 && units == 1) {
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)x.n_rows, (int)weights, 1.0, x.values + first,
                    (int)x.stride, delta, 1, 1.0, table + first, 1);
    } else if (weights > 0) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)weights, (int)units,
                    (int)x.n_rows, 1.0, x.values + first, (int)x.stride, delta, (int)units, 1.0,
                    table + first * units, (int)units);
    }
    for (size_t t = 0; weights < n && t < x.n_rows; t++) {
        dni_axpy(1, delta + t * units, table + d * units, units);
    }
}
