/* Products and distances of two rows, dense or sparse, column by column. For all forms, but slow.
 * The kinds of points call it for pairs that they have no faster way for. */
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
/* Returns Σ x z (also for the cosine), Σ(x − z)², Σ|x − z| or max|x − z|, depending on `form`, over
 * the columns in ascending order. Bit for bit the same if x and z are exchanged, and for dense and
 * sparse rows. */
double dni_pair_measure(dni_form form, dni_row x, dni_row z);

#endif
