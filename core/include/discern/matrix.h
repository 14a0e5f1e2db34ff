/* Views of dense and sparse matrices. They are passed by value and own nothing. */
#ifndef DISCERN_MATRIX_H
#define DISCERN_MATRIX_H

#include <discern/api.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

typedef enum dn_matrix_kind { DN_DENSE, DN_CSR } dn_matrix_kind;

/* A read-only matrix of doubles, [n_rows x n_cols].
 *
 *   DN_DENSE  row-major: element (i, j) is values[i * stride + j]; stride >= n_cols
 *   DN_CSR    compressed sparse rows: the entries of row i are k = row_start[i] ...
 *             row_start[i + 1] - 1, each with column cols[k] and value values[k]. Columns are below
 *             n_cols and ascend strictly within a row. row_start has n_rows + 1 elements and need
 *             not begin with 0: a range of rows of a larger matrix is a view, too */
typedef struct dn_matrix {
    dn_matrix_kind kind;
    size_t n_rows, n_cols;
    size_t stride; /* DN_DENSE only */
    const double *values;
    const size_t *row_start; /* DN_CSR only */
    const uint32_t *cols;    /* DN_CSR only */
} dn_matrix;

/* Views of whole arrays. */
dn_matrix dn_matrix_dense(const double *values, size_t n_rows, size_t n_cols);
dn_matrix dn_matrix_csr(const size_t *row_start,
                        const uint32_t *cols,
                        const double *values,
                        size_t n_rows,
                        size_t n_cols);

/* Rows first … first + n_rows - 1 of m. What lies behind the end of m is left out. */
dn_matrix dn_matrix_rows(dn_matrix m, size_t first, size_t n_rows);

DN_END_DECLS

#endif
