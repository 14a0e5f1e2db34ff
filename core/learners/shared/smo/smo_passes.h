/* The two passes of a step of sequential minimal optimisation over all active variables. They take
 * nearly all of its time.
 *
 * up[k] is the gradient g_k if a_k can increase, else −∞; low[k] is g_k if a_k can decrease, else
 * ∞. An update changes both by the same amount, and infinite numbers stay infinite. */
#ifndef DNI_SMO_PASSES_H
#define DNI_SMO_PASSES_H

#include <stddef.h>

/* The extremes of a range of variables. Positions are among the active variables; SIZE_MAX: all are
 * infinite. Of equal values the first counts. */
typedef struct dni_smo_extremes {
    double up, low;
    size_t up_at, low_at;
} dni_smo_extremes;

/* up and low of positions first … end − 1 −= step (row_i − row_j); row_j NULL: zeros. Returns the
 * new extremes. */
dni_smo_extremes dni_smo_update(double *up, double *low, const double *row_i, const double *row_j,
                                double step, size_t first, size_t end);

/* The k in first … end − 1 with low[k] < g_i and the largest (g_i − low[k])²/curvature, where the
 * curvature is K_ii + self[k] − 2 row[k], at least `least`. SIZE_MAX: there is none. */
size_t dni_smo_partner(const double *low, const double *self, const double *row, double g_i,
                       double self_i, double least, size_t first, size_t end);

/* Without a constraint: the k with the largest g²/K_kk among the variables that can move along
 * their gradient. SIZE_MAX: there is none. */
size_t dni_smo_single(const double *up, const double *low, const double *self, double least,
                      size_t n);

#endif
