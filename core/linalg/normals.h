/* Quadratic terms of independent normal densities. */
#ifndef DNI_NORMALS_H
#define DNI_NORMALS_H

#include <stddef.h>

/* out_k −= ½ Σ_j ((x_j − mean_kj) inverse_kj)², for n features of n_classes classes.
 *
 *   x              [n]
 *   mean, inverse  [n_classes × stride] the first n numbers of each row are used; inverse: 1/σ
 *   out            [n_classes]
 *
 * Eight interleaved partial sums. The result depends on n, but not on the processor. */
void dni_subtract_half_squares(const double *x, const double *mean, const double *inverse, size_t n,
                               size_t stride, size_t n_classes, double *out);

#endif
