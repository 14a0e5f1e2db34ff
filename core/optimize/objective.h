/* The interface between a solver and its problem: a function of n variables and its derivatives.
 *
 *   F(x) = f(x) + Σ l1_i |x_i|,   f smooth; without l1 the objective is f
 *
 * Solvers depend on no model. The objective computes sums over rows (dn_run_sum); a solver changes
 * a vector. */
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
    const double *step;     /* [n] what led here; NULL at the start */
    double value;           /* F(x) */
    const double *gradient; /* [n] ∇f(x) */
} dni_iterate;

typedef struct dni_objective dni_objective;
struct dni_objective {
    size_t n; /* number of variables */
    void *ctx;
    const double *l1; /* [n] >= 0 and finite; NULL: none. See dni_solver.l1 */
    /* f and ∇f at x. A result that is not finite is not an error; the solver decides. */
    dn_status (*evaluate)(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err);
    /* Hessian at x, [n × n], the lower triangle of the row-major matrix; positive definite. NULL:
     * none. */
    dn_status (*hessian)(void *ctx, const dn_run *run, const double *x, double *hessian,
                         dn_error *err);
    /* product [n] ← Hv with the Hessian of f at x; positive semidefinite. NULL: none. */
    dn_status (*product)(void *ctx, const dn_run *run, const double *x, const double *v,
                         double *product, dn_error *err);
    /* diagonal [n] ← the diagonal of that Hessian, each entry > 0 (an estimate where it is 0).
     * NULL: none. */
    dn_status (*diagonal)(void *ctx, const dn_run *run, const double *x, double *diagonal,
                          dn_error *err);
    /* v ← M⁻¹v, M a positive definite approximation of the Hessian. NULL: the identity. */
    void (*precondition)(void *ctx, double *v);
    /* Called with every accepted point, the start included. Reports progress, and sets *reason,
     * which is DN_STOP_NONE, to end the solver there. A failure ends it too. */
    dn_status (*accepted)(void *ctx, const dn_run *run, const dni_iterate *iterate,
                          dn_stop_reason *reason, dn_error *err);
};

/* How a solver ended. */
typedef struct dni_outcome {
    size_t iterations;
    size_t evaluations; /* of f and ∇f */
    size_t hessians;
    size_t inner;          /* iterations within the iterations: sweeps, products with the Hessian */
    double value;          /* the objective at the answer */
    dn_stop_reason reason; /* the objective's, DN_STOP_MAX_ITERATIONS or DN_STOP_NO_PROGRESS */
} dni_outcome;

#endif
