/* Limited-memory BFGS with a preconditioner and a line search. */
#ifndef DNI_LBFGS_H
#define DNI_LBFGS_H

#include "optimize/objective.h"

/* Number of pairs for n variables: 20, fewer if s or y would exceed 16 million numbers, at least
 * 5. */
#define DNI_LBFGS_PAIRS 20
size_t dni_lbfgs_pairs(size_t n);
/* Bytes that the solver allocates for n variables. */
double dni_lbfgs_bytes(size_t n);

/* Minimises from x [n], which becomes the answer. Uses objective->precondition if there is one. */
DN_MUST_USE dn_status dni_lbfgs(const dni_objective *objective, const dn_run *run,
                                size_t max_iterations, double *x, dni_outcome *out, dn_error *err);

#endif
