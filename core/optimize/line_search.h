/* Step length along a descent direction: weak Wolfe conditions, approximate ones near a minimum. */
#ifndef DNI_LINE_SEARCH_H
#define DNI_LINE_SEARCH_H

#include "optimize/descent.h"

/* Searches along `direction` [n] from x with slope = ∇f(x)·direction < 0; first_step > 0 is tried
 * first. Sets x_new, gradient_new and value, and *found; or leaves value, with *found = false, if
 * no step decreases the objective: x may be as good as rounding allows. Counts its evaluations in
 * `out`. Errors are those of the objective. */
DN_MUST_USE dn_status dni_line_search_run(dni_descent *d, const double *direction, double slope,
                                          double first_step, bool *found, dn_error *err);

#endif
