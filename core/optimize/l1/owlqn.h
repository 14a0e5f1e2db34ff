/* Limited-memory BFGS for an objective with l1: orthant-wise steps. */
#ifndef DNI_OWLQN_H
#define DNI_OWLQN_H

#include "optimize/objective.h"

/* Bytes that the solver allocates for n variables. */
double dni_owlqn_bytes(size_t n);

/* Minimises F from x [n], which becomes the answer; zeros are exact. objective->precondition must
 * be diagonal. */
DN_MUST_USE dn_status dni_owlqn(const dni_objective *objective, const dn_run *run,
                                size_t max_iterations, double *x, dni_outcome *out, dn_error *err);

#endif
