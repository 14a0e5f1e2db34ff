/* The two passes over all active variables in a step of sequential minimal optimisation, and sums of
 * kernel rows. The solver spends nearly all of its time in these functions.
 *
 * up[k] is the gradient g_k if a_k can increase, else −∞; low[k] is g_k if a_k can decrease, else
 * ∞. An update changes both by the same amount, and infinite numbers stay infinite. */
#ifndef DNI_SMO_PASSES_H
#define DNI_SMO_PASSES_H

#include <stddef.h>

/* The extremes of a range of variables. up_at and low_at are positions among the active variables,
 * the first of equal values; SIZE_MAX: all values are infinite. */
typedef struct dni_smo_extremes {
    double up, low;
    size_t up_at, low_at;
} dni_smo_extremes;

/* Subtracts step·(row_i − row_j) from up and low at positions first … end − 1. row_j NULL: zeros.
 * Returns the new extremes. */
dni_smo_extremes dni_smo_update(double *up, double *low, const double *row_i, const double *row_j,
                                double step, size_t first, size_t end);

/* Returns the k in first … end − 1 with low[k] < g_i that has the largest (g_i −
 * low[k])²/curvature, with curvature = max(K_ii + self[k] − 2 row[k], least). SIZE_MAX: there is
 * none. */
size_t dni_smo_partner(const double *low, const double *self, const double *row, double g_i,
                       double self_i, double least, size_t first, size_t end);

/* For problems without a constraint: returns the k with the largest g²/max(K_kk, least) among
 * the variables that can move along their gradient. SIZE_MAX: there is none. */
size_t dni_smo_single(const double *up, const double *low, const double *self, double least,
                      size_t n);

/* sum [n] += a·row. The product is rounded before it is added. */
void dni_smo_add(double *sum, const double *row, double a, size_t n);
void dni_smo_add_single(double *sum, const float *row, double a, size_t n);

#endif
