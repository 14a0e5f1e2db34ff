/* The solvers as a table: the functions of the objective that each solver needs, its memory, its
 * step. */
#ifndef DNI_SOLVER_H
#define DNI_SOLVER_H

#include "base/layout.h"
#include "optimize/lazy.h"
#include "optimize/objective.h"
#include <discern/rows.h>

/* Functions of the objective that a solver calls besides `evaluate` and `accepted`. */
enum dni_solver_needs {
    DNI_NEEDS_HESSIAN = 1,
    DNI_NEEDS_PRODUCT = 2, /* calls `product` and `diagonal` */
    DNI_NEEDS_METRIC = 4,  /* uses `precondition` unless it is NULL */
    DNI_NEEDS_BATCHES = 8  /* needs dni_solver_options.sgd and .rows */
};

/* Settings of sgd: the batches of a pass, and the step. */
typedef struct dni_sgd_settings {
    size_t batch_rows; /* 1 … DN_BLOCK_ROWS; a batch does not cross the end of a piece of a block */
    double rate;       /* first learning rate; the factor of the gradient sum of a batch */
    double decay;      /* 2λ of an L2 penalty: a batch of weight v multiplies the penalised
                        * variables by 1 − rate·decay·v */
    uint64_t seed;     /* seed of the order of blocks and rows */
    bool given_order; /* visits blocks and rows in their order in every pass */
    /* x ← (1 − rate·decay·v)x − rate·g, where g is the gradient of the sum of the losses of the
     * batch, v is its weight, and the batch has the rows order[0 … n_rows − 1] of the block.
     * *weight ← v. NULL: step_lazily is used. */
    dn_status (*step)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                      double rate, double *x, double *weight, dn_error *err);
    /* Makes the same step as `step` for sparse rows. Reads only the variables that occur in the
     * rows. During a pass the variables may have another order: first the penalised variables, all
     * with the same l1. The step calls dni_lazy_apply before it reads a variable, calls
     * dni_lazy_decay, and adds rate·v/scale to point->accrued. */
    dn_status (*step_lazily)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                             double rate, dni_lazy *point, dn_error *err);
    size_t n_penalised; /* number of variables with a penalty */
    /* `ordered` [n] ← x in the order of step_lazily */
    void (*to_ordered)(void *ctx, const double *x, double *ordered);
    /* the inverse of to_ordered */
    void (*from_ordered)(void *ctx, const double *ordered, double *x);
} dni_sgd_settings;

/* Settings of adam (adam.h). */
typedef struct dni_adam_settings dni_adam_settings;

typedef struct dni_solver_options {
    size_t max_iterations;
    double step;                   /* gradient_descent: the constant factor of the gradient */
    const dni_sgd_settings *sgd;   /* for solvers with DNI_NEEDS_BATCHES */
    const dn_rows *rows;           /* for solvers with DNI_NEEDS_BATCHES */
    const dni_adam_settings *adam; /* for dni_solver_adam */
} dni_solver_options;

/* The common part of a solver's struct (descent.h). */
typedef struct dni_descent dni_descent;

typedef struct dni_solver {
    const char *name;
    unsigned needs;     /* bitwise or of enum dni_solver_needs */
    bool smooth;        /* can minimise objectives without l1 */
    bool l1;            /* can minimise objectives with l1 */
    const char *inner;  /* name of the inner solver, whose iterations outcome.inner counts; NULL:
                        * none */
    const char *memory; /* what the layout allocates, for error messages */
    const char *divergence; /* likely cause, for the error message when a value or gradient after
                             * the start is not finite; NULL: none */
    size_t state_size;      /* size of the solver's struct; at most DNI_MAX_SOLVER_STATE */
    /* The arrays of the solver's struct for a dni_descent_shape. */
    dni_layout_fn layout;
    /* Sets members of the solver's struct, which is 0, before the arrays are allocated. May fail.
     * NULL: all members remain 0. */
    dn_status (*start)(dni_descent *d, const dni_solver_options *options, dn_error *err);
    /* Makes one step from x, where value = F(x) and gradient = ∇f(x). *moved is false before the
     * call; it stays false if no step decreases F. A solver with x_new sets x_new, gradient_new =
     * ∇f(x_new) and value = F(x_new). A solver without x_new changes x, and sets `step` unless it
     * is NULL. Adds to the counts in `out`, except `iterations`. */
    dn_status (*advance)(dni_descent *d, bool *moved, dn_error *err);
    /* Called after `accepted`; if the value or gradient is not finite, called instead of
     * `accepted`. `adjust` may change x and value. If `adjust` returns false, the solver ends with
     * DN_STOP_NO_PROGRESS. NULL: nothing is called, and a value that is not finite is an error. */
    bool (*adjust)(dni_descent *d, bool finite);
} dni_solver;

#define DNI_MAX_SOLVER_STATE 1024 /* bytes */

/* Returns the bytes of the solver's arrays for n variables. n_units: number of units that a pass
 * visits in random order: blocks of rows for sgd, rows for adam. Other solvers ignore n_units. */
double dni_solver_bytes(const dni_solver *solver, size_t n, size_t n_units);

/* Minimises from x [n], which becomes the solution. Ends when `accepted` sets a reason, after
 * max_iterations, or when no step decreases F. *out is unchanged on failure. */
DN_MUST_USE dn_status dni_solver_minimise(const dni_solver *solver, const dni_objective *objective,
                                          const dn_run *run, const dni_solver_options *options,
                                          double *x, dni_outcome *out, dn_error *err);

/* dni_solver_lbfgs_20 keeps at most 20 pairs. Networks use it: their objective has many minima, and
 * the number of pairs decides which one a start reaches. */
/* dni_solver_sgd_constant does not change the learning rate, and ends at its last point. */
extern const dni_solver dni_solver_newton, dni_solver_newton_full, dni_solver_newton_cg,
    dni_solver_proximal_newton, dni_solver_lbfgs, dni_solver_lbfgs_20, dni_solver_owlqn,
    dni_solver_gradient_descent, dni_solver_sgd, dni_solver_sgd_constant, dni_solver_adam;

#endif
