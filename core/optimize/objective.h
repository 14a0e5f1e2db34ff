/* The interface between a solver and its problem: a function of n variables and its derivatives.
 *
 *   F(x) = f(x) + Σ l1_i |x_i|,   f smooth; without l1 the objective is f
 *
 * Solvers do not depend on a model. The objective computes sums over rows in parallel
 * (dn_run_sum). */
#ifndef DNI_OBJECTIVE_H
#define DNI_OBJECTIVE_H

#include <discern/run.h>
#include <discern/status.h>
#include <discern/stop_reason.h>
#include <stdbool.h>
#include <stddef.h>

/* A point that a solver accepted. */
typedef struct dni_iterate {
    size_t iteration;       /* 0 is the start */
    const double *x;        /* [n] */
    const double *step;     /* [n] last change of x; NULL at the start */
    double value;           /* F(x) */
    const double *gradient; /* [n] ∇f(x) */
} dni_iterate;

typedef struct dni_objective dni_objective;
struct dni_objective {
    size_t n; /* number of variables */
    void *ctx;
    const double *l1; /* [n] >= 0 and finite; NULL: none. See dni_solver.l1 */
    /* Computes f and ∇f at x. A result that is not finite is not an error; the solver checks it. */
    dn_status (*evaluate)(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err);
    /* Computes the Hessian of f at x, positive definite: the lower triangle of a row-major [n × n]
     * matrix. NULL: not available. */
    dn_status (*hessian)(void *ctx, const dn_run *run, const double *x, double *hessian,
                         dn_error *err);
    /* product [n] ← Hv, where H is the Hessian of f at x, positive semidefinite. NULL: not
     * available. */
    dn_status (*product)(void *ctx, const dn_run *run, const double *x, const double *v,
                         double *product, dn_error *err);
    /* diagonal [n] ← the diagonal of the Hessian of f at x. Entries are > 0; an entry that would
     * be 0 is replaced by an estimate. NULL: not available. */
    dn_status (*diagonal)(void *ctx, const dn_run *run, const double *x, double *diagonal,
                          dn_error *err);
    /* v ← M⁻¹v, where M is a positive definite approximation of the Hessian. NULL: M is the
     * identity. */
    void (*precondition)(void *ctx, double *v);
    /* Called for every accepted point, including the start. Reports progress. *reason is
     * DN_STOP_NONE; another value ends the solver at this point. An error also ends the solver. */
    dn_status (*accepted)(void *ctx, const dn_run *run, const dni_iterate *iterate,
                          dn_stop_reason *reason, dn_error *err);
};

/* Result of a solver. */
typedef struct dni_outcome {
    size_t iterations;
    size_t evaluations; /* number of evaluations of f and ∇f */
    size_t hessians;
    size_t inner;          /* number of inner iterations: sweeps, or products with the Hessian */
    double value;          /* the objective at the solution */
    dn_stop_reason reason; /* DN_STOP_MAX_ITERATIONS, DN_STOP_NO_PROGRESS or the reason that
                            * `accepted` set */
} dni_outcome;

#endif
