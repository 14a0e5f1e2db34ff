/* Newton–Raphson with a dense Hessian and a line search. For logistic regression this is
 * iteratively reweighted least squares. */
#ifndef DNI_NEWTON_H
#define DNI_NEWTON_H

#include "optimize/objective.h"

/* Bytes that the solver allocates for n variables. */
double dni_newton_bytes(size_t n);

/* Minimises from x [n], which becomes the answer. Needs objective->hessian. DN_ERR_BUDGET: more
 * than DNI_MAX_ORDER variables. */
DN_MUST_USE dn_status dni_newton(const dni_objective *objective, const dn_run *run,
                                 size_t max_iterations, double *x, dni_outcome *out, dn_error *err);

#endif
