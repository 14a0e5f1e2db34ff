/* The struct that the solvers of solver.h share, and its errors. */
#ifndef DNI_DESCENT_H
#define DNI_DESCENT_H

#include "optimize/solver.h"

/* Base of a solver's struct, which must be its first member. The arrays have n elements and are
 * allocated by the solver's layout. */
struct dni_descent {
    double *gradient;
    double *x_new, *gradient_new; /* NULL: `advance` changes x directly */
    double *step;                 /* the last change of x, passed to `accepted`; NULL: not
                                   * recorded */
    /* Set by dni_solver_minimise: */
    const dni_solver *solver;
    const dni_objective *objective;
    const dn_run *run;
    size_t n;
    double *x;
    double value;
    dni_outcome out;
};

/* Argument of the layouts of the solvers in solver.h. */
typedef struct dni_descent_shape {
    size_t n;       /* number of variables */
    size_t n_units; /* see dni_solver_bytes */
    bool l1;
} dni_descent_shape;

/* Adds gradient, x_new, gradient_new and step to the layout of a solver with a line search. */
void dni_descent_layout(dni_layout *layout, size_t n, dni_descent *d);

/* Returns DN_ERR_NUMERIC with a message: the objective is not finite at `iteration` (0: at the
 * start). `cause`: the likely cause. */
dn_status dni_objective_not_finite(size_t iteration, const char *cause, dn_error *err);
/* Returns DN_ERR_NUMERIC with a message: the Hessian for the next iteration is not finite. */
dn_status dni_hessian_not_finite(const dni_descent *d, dn_error *err);

#endif
