/* Gradient descent with a fixed rate. */
#ifndef DNI_GRADIENT_DESCENT_H
#define DNI_GRADIENT_DESCENT_H

#include "optimize/objective.h"

/* x ← x − step·∇f(x), with l1 then shrunk by step·l1, at most max_iterations times. x [n] is the
 * start and becomes the answer. */
DN_MUST_USE dn_status dni_gradient_descent(const dni_objective *objective, const dn_run *run,
                                           size_t max_iterations, double step, double *x,
                                           dni_outcome *out, dn_error *err);

#endif
