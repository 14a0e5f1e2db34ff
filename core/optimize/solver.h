/* The solvers as a table: the functions of the objective that each needs, its memory, its entry
 * point. */
#ifndef DNI_SOLVER_H
#define DNI_SOLVER_H

#include "optimize/lazy.h"
#include "optimize/objective.h"
#include <discern/rows.h>

/* Functions of the objective that a solver calls besides `evaluate` and `accepted`. */
enum dni_solver_needs {
    DNI_NEEDS_HESSIAN = 1,
    DNI_NEEDS_PRODUCT = 2, /* and the diagonal */
    DNI_NEEDS_METRIC = 4,  /* uses `precondition` unless it is NULL */
    DNI_NEEDS_BATCHES = 8  /* needs dni_solver_options.sgd and .rows */
};

/* Settings of sgd: the batches of a pass, and the step. */
typedef struct dni_sgd_settings {
    size_t batch_rows; /* 1 … DN_BLOCK_ROWS; a batch does not cross the end of a piece of a block */
    double rate;       /* first learning rate; the factor of the gradient sum of a batch */
    double decay;      /* 2λ of an L2 penalty: a batch of weight v multiplies the penalised
                        * variables by 1 − rate·decay·v */
    uint64_t seed;
    /* x ← (1 − rate·decay·v)x − rate·g, where g is the gradient of the sum of the losses of the
     * batch, v is its weight, and the batch has the rows order[0 … n_rows − 1] of the block.
     * *weight ← v. NULL: step_lazily is used. */
    dn_status (*step)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                      double rate, double *x, double *weight, dn_error *err);
    /* The step of `step` for sparse rows. Reads only the variables that occur in the rows. During a
     * pass the variables may have another order: first the penalised variables, all with the same
     * l1. The step calls dni_lazy_apply before it reads a variable, calls dni_lazy_decay, and adds
     * rate·v/scale to point->accrued. */
    dn_status (*step_lazily)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                             double rate, dni_lazy *point, dn_error *err);
    size_t n_penalised; /* number of variables with a penalty */
    void (*to_ordered)(void *ctx, const double *x,
                       double *ordered); /* `ordered` [n] ← x in the order of step_lazily */
    void (*from_ordered)(void *ctx, const double *ordered,
                         double *x); /* the inverse of to_ordered */
} dni_sgd_settings;

typedef struct dni_solver_options {
    size_t max_iterations;
    double step;                 /* gradient_descent: the constant factor of the gradient */
    const dni_sgd_settings *sgd; /* for solvers with DNI_NEEDS_BATCHES */
    const dn_rows *rows;         /* for solvers with DNI_NEEDS_BATCHES */
} dni_solver_options;

typedef struct dni_solver {
    const char *name;
    unsigned needs;    /* bitwise or of enum dni_solver_needs */
    bool smooth;       /* can minimise objectives without l1 */
    bool l1;           /* can minimise objectives with l1 */
    const char *inner; /* name of the inner solver, whose iterations outcome.inner counts; NULL:
                        * none */
    /* Returns the bytes of the solver's layout for n variables and n_blocks blocks of rows. */
    double (*bytes)(size_t n, size_t n_blocks);
    /* Minimises from x [n], which becomes the solution. *out is unchanged on failure. */
    dn_status (*minimise)(const dni_objective *objective, const dn_run *run,
                          const dni_solver_options *options, double *x, dni_outcome *out,
                          dn_error *err);
} dni_solver;

extern const dni_solver dni_solver_newton, dni_solver_newton_cg, dni_solver_proximal_newton,
    dni_solver_lbfgs, dni_solver_owlqn, dni_solver_gradient_descent, dni_solver_sgd;

#endif
