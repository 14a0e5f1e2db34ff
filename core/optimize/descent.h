/* The loop of the solvers that decrease the objective at every step. */
#ifndef DNI_DESCENT_H
#define DNI_DESCENT_H

#include "optimize/objective.h"

/* A solver's step. The vectors are the solver's, [n]. The loop sets `gradient` to ∇f(x) and `step`,
 * for `accepted`, to x_new − x. */
typedef struct dni_descent {
    void *solver;
    /* One step from x, with *value = F(x): sets x_new, gradient_new = ∇f(x_new), *value = F(x_new)
     * and *moved = true, or leaves *moved = false if no step decreases F. Adds to the counts of
     * `out` except its iterations. */
    dn_status (*advance)(void *solver, const dni_objective *objective, const dn_run *run,
                         const double *x, double *value, bool *moved, dni_outcome *out,
                         dn_error *err);
    double *gradient, *x_new, *gradient_new, *step;
} dni_descent;

/* Minimises from x [n], which becomes the answer, until `accepted` ends it, max_iterations are
 * made, or no step decreases F. *out is untouched on failure. */
DN_MUST_USE dn_status dni_descent_run(const dni_descent *descent, const dni_objective *objective,
                                      const dn_run *run, size_t max_iterations, double *x,
                                      dni_outcome *out, dn_error *err);

#endif
