/* The two passes of a step of sequential minimal optimisation over all active variables: all of its time.
 *
 * up[k] is the gradient g_k where a_k may rise and −∞ where it may not, low[k] likewise where it may fall, +∞ where not: an update changes both alike, and what is infinite stays. */
#ifndef DNI_SMO_PASSES_H
#define DNI_SMO_PASSES_H

#include <stddef.h>

/* The extremes of a range of variables: places among the active ones, SIZE_MAX: all infinite (the value then is −∞, +∞). The first among equals. */
typedef struct dni_smo_extremes {
    double up, low;
    size_t up_at, low_at;
} dni_smo_extremes;

/* up and low of places first … end − 1 −= step (row_i − row_j), row_j NULL: zeros. */
dni_smo_extremes dni_smo_update(double *up, double *low, const double *row_i, const double *row_j,
                                double step, size_t first, size_t end);

/* For the i of gradient g_i, row `row` and K_ii: the k of first … end − 1 with low[k] < g_i for which (g_i − low[k])²/(K_ii + self[k] − 2 row[k]) is greatest, a curvature below `least` counted as
 * that; SIZE_MAX: there is none. */
size_t dni_smo_partner(const double *low, const double *self, const double *row, double g_i,
                       double self_i, double least, size_t first, size_t end);

/* Without a constraint: the k for which g²/K_kk is greatest among those that may move where g points; SIZE_MAX: g is 0 for all of them. */
size_t dni_smo_single(const double *up, const double *low, const double *self, double least,
                      size_t n);

#endif
