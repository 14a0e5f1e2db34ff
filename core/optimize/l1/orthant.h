/* Steps within one orthant of F(x) = f(x) + Σ l1_i |x_i|, where the objective is smooth. A step
 * that would leave the orthant ends at its border. */
#ifndef DNI_ORTHANT_H
#define DNI_ORTHANT_H

#include "optimize/descent.h"

#define DNI_ORTHANT_TRIALS 40 /* enough for any descent direction */

/* Sets direction_i to 0 for variables at 0 that it would move against the orthant, or whose
 * subgradient is 0. A direction −B·subgradient with B positive definite on the free variables stays
 * a descent direction. */
void dni_orthant_align(const double *x, const double *subgradient, size_t n, double *direction);

/* Halves the step until F decreases.
 *
 *   subgradient  [n] of least norm at x (l1.h)
 *   direction    [n] with Σ subgradient_i·direction_i < 0; for a variable at 0 either 0 or of the
 *                sign opposite to its subgradient
 *   first_step   > 0, tried first
 *   *trials      the most trials, > 0; becomes the number made
 *
 * Sets x_new, gradient_new and value, and *found; or leaves value, with *found = false, if no trial
 * decreases F: with DNI_ORTHANT_TRIALS x may be as good as rounding allows. Counts its evaluations
 * in `out`. Errors are those of the objective. */
DN_MUST_USE dn_status dni_orthant_search_run(dni_descent *d, const double *subgradient,
                                             const double *direction, double first_step,
                                             size_t *trials, bool *found, dn_error *err);

#endif
