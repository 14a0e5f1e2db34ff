/* The solvers as rows of a table: what each needs of an objective, its memory, its function. */
#ifndef DNI_SOLVER_H
#define DNI_SOLVER_H

#include "optimize/objective.h"
#include "optimize/sgd.h"
#include <discern/rows.h>

/* What a solver calls beside `evaluate` and `accepted`. */
enum dni_solver_needs {
    DNI_NEEDS_HESSIAN = 1,
    DNI_NEEDS_PRODUCT = 2, /* and the diagonal */
    DNI_NEEDS_METRIC = 4,  /* uses `precondition` if there is one */
    DNI_NEEDS_BATCHES = 8  /* dni_solver_options.sgd and rows */
};

typedef struct dni_solver_options {
    size_t max_iterations;
    double step;                 /* gradient_descent: the factor of the gradient */
    const dni_sgd_settings *sgd; /* BATCHES; max_passes is replaced by max_iterations */
    const dn_rows *rows;         /* BATCHES */
} dni_solver_options;

typedef struct dni_solver {
    const char *name;
    unsigned needs;    /* sum of dni_solver_needs */
    bool smooth;       /* minimises objectives without l1 */
    bool l1;           /* minimises objectives with l1 */
    const char *inner; /* the solver of its steps, which outcome.inner counts; NULL: none */
    /* Bytes of its layout for n variables and rows in n_blocks blocks. */
    double (*bytes)(size_t n, size_t n_blocks);
    /* Minimises from x [n], which becomes the answer. *out is untouched on failure. */
    dn_status (*minimise)(const dni_objective *objective, const dn_run *run,
                          const dni_solver_options *options, double *x, dni_outcome *out,
                          dn_error *err);
} dni_solver;

extern const dni_solver dni_solver_newton, dni_solver_newton_cg, dni_solver_proximal_newton,
    dni_solver_lbfgs, dni_solver_owlqn, dni_solver_gradient_descent, dni_solver_sgd;

#endif
