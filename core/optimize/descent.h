/* The loop that the solvers share: judge the point, step, again. */
#ifndef DNI_DESCENT_H
#define DNI_DESCENT_H

#include "optimize/objective.h"

/* What makes a step. The vectors have n numbers and are the solver's; the loop fills `gradient` with ∇f(x) and, for the judge, `step` with x_new − x. */
typedef struct dni_descent {
    void *solver;
    /* One step from x: x_new, gradient_new = ∇f(x_new), *value = F(x_new) and *moved = true; or *moved = false when none decreases F. *value comes as F(x). Adds to
     * out's counts, but not to its iterations. */
    dn_status (*advance)(void *solver, const dni_objective *objective, const dn_run *run,
                         const double *x, double *value, bool *moved, dni_outcome *out,
                         dn_error *err);
    double *gradient, *x_new, *gradient_new, *step;
} dni_descent;

/* From x [n], which becomes the answer, until the objective, max_iterations or arithmetic end it. out is that of a solver, untouched on failure. */
DN_MUST_USE dn_status dni_descent_run(const dni_descent *descent, const dni_objective *objective,
                                      const dn_run *run, size_t max_iterations, double *x,
                                      dni_outcome *out, dn_error *err);

#endif
