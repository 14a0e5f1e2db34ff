/* The loop that all solvers share: it evaluates the objective, calls `accepted`, checks the limits
 * and fills the outcome. */
#ifndef DNI_DESCENT_H
#define DNI_DESCENT_H

#include "base/layout.h"
#include "optimize/objective.h"

/* Base of a solver's struct, which must be its first member. The arrays have n elements and are
 * allocated by the solver's layout. */
typedef struct dni_descent dni_descent;
struct dni_descent {
    /* Set by the solver: */
    dni_layout_fn layout;
    const char *memory;     /* what the layout allocates, for error messages */
    const char *divergence; /* likely cause, for the error message when a value or gradient after
                             * the start is not finite */
    /* Makes one step from x, where value = F(x) and gradient = ∇f(x). *moved is false before the
     * call; it stays false if no step decreases F. A solver with x_new sets x_new, gradient_new =
     * ∇f(x_new) and value = F(x_new). A solver without x_new changes x, and sets `step` unless it
     * is NULL. Adds to the counts in `out`, except `iterations`. */
    dn_status (*advance)(dni_descent *d, bool *moved, dn_error *err);
    /* Called after `accepted`; if the value or gradient is not finite, called instead of
     * `accepted`. `adjust` may change x and value. If `adjust` returns false, the solver ends with
     * DN_STOP_NO_PROGRESS. NULL: nothing is called, and a value that is not finite is an error. */
    bool (*adjust)(dni_descent *d, bool finite);
    double *gradient;
    double *x_new, *gradient_new; /* NULL: `advance` changes x directly */
    double *step;                 /* the last change of x, passed to `accepted`; NULL: not
                                   * recorded */
    /* Set by dni_descent_run: */
    const dni_objective *objective;
    const dn_run *run;
    size_t n;
    double *x;
    double value;
    dni_outcome out;
};

/* Argument of the layouts of the solvers in solver.h. */
typedef struct dni_descent_shape {
    size_t n, n_blocks;
    bool l1;
} dni_descent_shape;

/* Adds gradient, x_new, gradient_new and step to the layout of a solver with a line search. */
void dni_descent_layout(dni_layout *layout, size_t n, dni_descent *d);

/* Minimises from x [n], which becomes the solution. Ends when `accepted` sets a reason, after
 * max_iterations, or when no step decreases F. Allocates the arrays of the solver's layout for
 * `shape`. *out is unchanged on failure. */
DN_MUST_USE dn_status dni_descent_run(dni_descent *d, const void *shape,
                                      const dni_objective *objective, const dn_run *run,
                                      size_t max_iterations, double *x, dni_outcome *out,
                                      dn_error *err);

/* Returns DN_ERR_NUMERIC with a message: the objective is not finite at `iteration` (0: at the
 * start). `cause`: the likely cause. */
dn_status dni_objective_not_finite(size_t iteration, const char *cause, dn_error *err);
/* Returns DN_ERR_NUMERIC with a message: the Hessian for the next iteration is not finite. */
dn_status dni_hessian_not_finite(const dni_descent *d, dn_error *err);

#endif
