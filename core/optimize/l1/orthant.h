/* Steps within one orthant. F(x) = f(x) + Σ l1_i |x_i| is smooth within an orthant. A step that
 * would leave the orthant is projected onto its boundary. */
#ifndef DNI_ORTHANT_H
#define DNI_ORTHANT_H

#include "optimize/descent.h"

/* Maximum number of halvings of a step. If none of them decreases F, x is regarded as optimal up to
 * rounding. */
#define DNI_ORTHANT_TRIALS 40

/* For x_i = 0, sets direction_i to 0 unless it points into the orthant, that is unless
 * direction_i·subgradient_i < 0. A direction −B·subgradient, with B positive definite on the free
 * variables, remains a descent direction. */
void dni_orthant_align(const double *x, const double *subgradient, size_t n, double *direction);

/* Halves the step until F decreases.
 *
 *   subgradient  [n] minimum-norm subgradient at x (l1.h)
 *   direction    [n] with Σ subgradient_i·direction_i < 0; for x_i = 0 direction_i is 0 or
 *                has the sign opposite to subgradient_i
 *   first_step   > 0, length of the first trial
 *   *trials      in: maximum number of trials, > 0; out: number of trials made
 *
 * Success: sets x_new, gradient_new, value and *found = true. If no trial decreases F: *found =
 * false and `value` is unchanged; after DNI_ORTHANT_TRIALS trials x may be optimal up to rounding.
 * Adds its evaluations to `out`. Errors: those of the objective. */
DN_MUST_USE dn_status dni_orthant_search_run(dni_descent *d, const double *subgradient,
                                             const double *direction, double first_step,
                                             size_t *trials, bool *found, dn_error *err);

#endif
