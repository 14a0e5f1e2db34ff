/* Newton's method for an objective with l1: quadratic models minimised by coordinate descent. */
#ifndef DNI_PROXIMAL_NEWTON_H
#define DNI_PROXIMAL_NEWTON_H

#include "optimize/objective.h"

/* Bytes that the solver allocates for n variables. */
double dni_proximal_newton_bytes(size_t n);

/* Minimises F from x [n], which becomes the answer; zeros are exact. Needs objective->hessian,
 * positive semidefinite with a positive diagonal, and ->l1. outcome.inner counts sweeps over the
 * variables. */
DN_MUST_USE dn_status dni_proximal_newton(const dni_objective *objective, const dn_run *run,
                                          size_t max_iterations, double *x, dni_outcome *out,
                                          dn_error *err);

#endif
