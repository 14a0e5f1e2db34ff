/* Limited-memory BFGS with a preconditioner and a line search. */
#ifndef DNI_OPTIMIZE_LBFGS_H
#define DNI_OPTIMIZE_LBFGS_H

#include "optimize/objective.h"

#define DNI_LBFGS_PAIRS 20

/* Doubles of working memory for n variables. */
double dni_lbfgs_memory(size_t n);

/* Minimises from x [n], which becomes the answer. */
DN_MUST_USE dn_status dni_lbfgs(const dni_objective *objective, const dn_run *run, size_t max_iterations, double *x, dni_outcome *out,
                                dn_error *err);

#endif
