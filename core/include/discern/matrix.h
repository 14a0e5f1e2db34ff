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
 *             not begin with 0, so that a range of rows of a larger matrix is also a view */
typedef struct dn_matrix {
    dn_matrix_kind kind;
    size_t n_rows, n_cols;
    size_t stride; /* DN_DENSE only */
    const double *values;
    const size_t *row_start; /* DN_CSR only */
    const uint32_t *cols;    /* DN_CSR only */
} dn_matrix;

/* Return views of whole arrays. */
dn_matrix dn_matrix_dense(const double *values, size_t n_rows, size_t n_cols);
dn_matrix dn_matrix_csr(const size_t *row_start,
                        const uint32_t *cols,
                        const double *values,
                        size_t n_rows,
                        size_t n_cols);

/* Returns a view of the rows first … first + n_rows - 1 of m. Rows after the end of m are
 * omitted. */
dn_matrix dn_matrix_rows(dn_matrix m, size_t first, size_t n_rows);

DN_END_DECLS

#endif
