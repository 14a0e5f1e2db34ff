/* Line search along a descent direction: weak Wolfe conditions; near a minimum approximate Wolfe
 * conditions. */
#ifndef DNI_LINE_SEARCH_H
#define DNI_LINE_SEARCH_H

#include "optimize/descent.h"

/* Searches from x along `direction` [n], where slope = ∇f(x)·direction < 0. first_step > 0 is the
 * first trial. Success: sets x_new, gradient_new, value and *found = true. If no step decreases
 * the objective: *found = false and `value` is unchanged; x may be optimal up to rounding. Adds
 * its evaluations to `out`. Errors: those of the objective. */
DN_MUST_USE dn_status dni_line_search_run(dni_descent *d, const double *direction, double slope,
                                          double first_step, bool *found, dn_error *err);

#endif
