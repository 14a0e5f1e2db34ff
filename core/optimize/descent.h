/* The iteration that all solvers share: evaluation, `accepted`, limits, the outcome. */
#ifndef DNI_DESCENT_H
#define DNI_DESCENT_H

#include "base/layout.h"
#include "optimize/objective.h"

/* The first member of a solver's struct. The vectors are carved by the solver's layout, [n]. */
typedef struct dni_descent dni_descent;
struct dni_descent {
    /* Set by the solver: */
    dni_layout_fn layout;
    const char *memory;     /* names the layout in messages */
    const char *divergence; /* the likely cause when an evaluation of dni_descent_run after the
                               start is not finite */
    /* One step from x, with value = F(x) and gradient = ∇f(x). *moved, which is false, stays false
     * if no step decreases F. A solver with x_new sets x_new, gradient_new = ∇f(x_new) and value =
     * F(x_new). A solver without x_new changes x, and sets `step` if it has one. Adds to the counts
     * of `out` except its iterations. */
    dn_status (*advance)(dni_descent *d, bool *moved, dn_error *err);
    /* Called after `accepted`, and instead of it for a point whose value or gradient is not finite:
     * may replace x and value. False ends the solver with DN_STOP_NO_PROGRESS. NULL: nothing to
     * do, and a point that is not finite is an error. */
    bool (*review)(dni_descent *d, bool finite);
    double *gradient;
    double *x_new, *gradient_new; /* NULL: `advance` changes x */
    double *step;                 /* what led to x, for `accepted`; NULL: not known */
    /* Set by dni_descent_run: */
    const dni_objective *objective;
    const dn_run *run;
    size_t n;
    double *x;
    double value;
    dni_outcome out;
};

/* Shape of the layouts of the solvers in solver.h. */
typedef struct dni_descent_shape {
    size_t n, n_blocks;
    bool l1;
} dni_descent_shape;

/* Reserves gradient, x_new, gradient_new and step for a solver with a line search. */
void dni_descent_layout(dni_layout *layout, size_t n, dni_descent *d);

/* Minimises from x [n], which becomes the answer, until `accepted` ends it, max_iterations are
 * made, or no step decreases F. Allocates the layout for `shape`. *out is untouched on failure. */
DN_MUST_USE dn_status dni_descent_run(dni_descent *d, const void *shape,
                                      const dni_objective *objective, const dn_run *run,
                                      size_t max_iterations, double *x, dni_outcome *out,
                                      dn_error *err);

/* The error for arithmetic that left the finite numbers at `iteration` (0: already at the
 * start). */
dn_status dni_objective_not_finite(size_t iteration, const char *cause, dn_error *err);
/* The same for the Hessian of the next iteration. */
dn_status dni_hessian_not_finite(const dni_descent *d, dn_error *err);

#endif
