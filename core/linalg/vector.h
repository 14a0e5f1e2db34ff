/* Operations on vectors, in a fixed order of additions. */
#ifndef DNI_VECTOR_H
#define DNI_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Returns Σ a_i b_i, by four interleaved partial sums; the order of additions depends only on n. */
double dni_dot(const double *a, const double *b, size_t n);
/* Returns Σ (a_i − b_i)², by four interleaved partial sums. */
double dni_square_distance(const double *a, const double *b, size_t n);
/* y ← y + s·x */
void dni_axpy(double s, const double *x, double *y, size_t n);
/* Returns the Euclidean norm, without overflow or underflow of the squares. */
double dni_norm(const double *a, size_t n);
/* Returns max |a_i|; NaN if any a_i is NaN. */
double dni_max_abs(const double *a, size_t n);
bool dni_all_finite(const double *a, size_t n);

#endif
