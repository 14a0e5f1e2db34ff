/* Newton's method without a matrix: conjugate gradients solve its systems. */
#ifndef DNI_NEWTON_CG_H
#define DNI_NEWTON_CG_H

#include "optimize/objective.h"

/* Bytes that the solver allocates for n variables. */
double dni_newton_cg_bytes(size_t n);

/* Minimises F from x [n], which becomes the answer; zeros by l1 are exact. Needs objective->product
 * and ->diagonal. outcome.inner counts products. */
DN_MUST_USE dn_status dni_newton_cg(const dni_objective *objective, const dn_run *run,
                                    size_t max_iterations, double *x, dni_outcome *out,
                                    dn_error *err);

#endif
