/* Products and distances of two rows of any kind, column by column. Slow, but supports every
 * form; the kinds of points fall back on it. */
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
/* Σ x z (also for the cosine), Σ(x − z)², Σ|x − z| or max|x − z|, by the form, over the columns in
 * ascending order. Symmetric, and equal for dense and sparse rows, to the last bit. */
double dni_pair_measure(dni_form form, dni_row x, dni_row z);

#endif
