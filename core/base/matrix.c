/* Matrix views. */
#include <discern/matrix.h>

dn_matrix dn_matrix_dense(const double *values, size_t n_rows, size_t n_cols) {
    return (dn_matrix){
        .kind = DN_DENSE, .n_rows = n_rows, .n_cols = n_cols, .stride = n_cols, .values = values};
}

dn_matrix dn_matrix_csr(const size_t *row_start, const uint32_t *cols, const double *values,
                        size_t n_rows, size_t n_cols) {
    return (dn_matrix){.kind = DN_CSR,
                       .n_rows = n_rows,
                       .n_cols = n_cols,
                       .values = values,
                       .row_start = row_start,
                       .cols = cols};
}

dn_matrix dn_matrix_rows(dn_matrix m, size_t first, size_t n_rows) {
    first = first < m.n_rows ? first : m.n_rows;
    n_rows = n_rows < m.n_rows - first ? n_rows : m.n_rows - first;
    m.n_rows = n_rows;
    if (m.kind == DN_CSR) {
        m.row_start += first;
    } else if (n_rows > 0) {
        /* An empty range may start outside the array: its address must not be computed. */
        m.values += first * m.stride;
    }
    return m;
}
