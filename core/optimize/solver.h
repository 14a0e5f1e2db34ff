/* The solvers as rows of a table: what each needs of an objective, its memory, its function. */
#ifndef DNI_SOLVER_H
#define DNI_SOLVER_H

#include "optimize/lazy.h"
#include "optimize/objective.h"
#include <discern/rows.h>

/* What a solver calls beside `evaluate` and `accepted`. */
enum dni_solver_needs {
    DNI_NEEDS_HESSIAN = 1,
    DNI_NEEDS_PRODUCT = 2, /* and the diagonal */
    DNI_NEEDS_METRIC = 4,  /* uses `precondition` if there is one */
    DNI_NEEDS_BATCHES = 8  /* dni_solver_options.sgd and rows */
};

/* sgd: batches of a pass, and the step. */
typedef struct dni_sgd_settings {
    size_t batch_rows; /* 1 … DN_BLOCK_ROWS; a batch is within a piece of a block */
    double rate;       /* the first learning rate; multiplies a batch's sum */
    double decay;      /* 2λ of an L2 penalty: a batch of weight v multiplies the variables with l1
                     by 1 − rate·decay·v */
    uint64_t seed;
    /* x ← (1 − rate·decay·v)x − rate·(gradient of the sum of the batch's losses): the rows order[0
     * … n_rows-1] of the block. *weight: v, the batch's. NULL: step_lazily. */
    dn_status (*step)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                      double rate, double *x, double *weight, dn_error *err);
    /* The same for sparse rows; reads only the variables of their entries. During a pass the
     * variables may be in another order: those with a penalty first, all with the same l1. A step
     * calls dni_lazy_apply before it reads a variable and dni_lazy_decay, and adds rate·v/scale to
     * `due`. */
    dn_status (*step_lazily)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                             double rate, dni_lazy *point, dn_error *err);
    size_t n_penalised; /* number of variables with a penalty */
    void (*to_ordered)(void *ctx, const double *x,
                       double *ordered); /* x in the order of step_lazily … */
    void (*from_ordered)(void *ctx, const double *ordered, double *x); /* … and back */
} dni_sgd_settings;

typedef struct dni_solver_options {
    size_t max_iterations;
    double step;                 /* gradient_descent: the factor of the gradient */
    const dni_sgd_settings *sgd; /* BATCHES */
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
