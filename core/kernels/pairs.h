/* Two rows of any kind, column by column: slow beside the layouts, but for every form, and what these fall back on. */
#ifndef DNI_PAIRS_H
#define DNI_PAIRS_H

#include "kernels/kernel_impl.h"
#include <discern/matrix.h>

/* A view of one row. */
typedef struct dni_row {
    const double *values; /* [n] */
    const uint32_t *cols; /* [n] strictly ascending; NULL: columns 0 … n - 1 */
    size_t n;
} dni_row;

dni_row dni_row_of(dn_matrix x, size_t i);
/* Σ x z, Σ(x − z)², Σ|x − z| or max|x − z| over the columns in ascending order, by the form; of the cosine the product. Symmetric to the last bit, and the same for rows written out as for CSR ones. */
double dni_pair_measure(dni_form form, dni_row x, dni_row z);

#endif
