/* Limited-memory BFGS with a preconditioner and a line search. */
#ifndef DNI_LBFGS_H
#define DNI_LBFGS_H

#include "optimize/objective.h"

/* How many pairs are kept of n variables: 20, fewer where these would be more than 16 million numbers each way, at least 5. A function of n alone. */
#define DNI_LBFGS_PAIRS 20
size_t dni_lbfgs_pairs(size_t n);
/* Bytes that the solver allocates for n variables. */
double dni_lbfgs_bytes(size_t n);

/* Minimises from x [n], which becomes the answer. */
DN_MUST_USE dn_status dni_lbfgs(const dni_objective *objective, const dn_run *run,
                                size_t max_iterations, double *x, dni_outcome *out, dn_error *err);

#endif
