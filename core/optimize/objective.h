/* What a solver knows of the problem: a function of n variables, its gradient, its Hessian, and who judges the iterates.
 *
 *   F(x) = f(x) + Σ l1_i |x_i|,   f smooth; without l1 the objective is f
 *
 * Solvers know no model. Sums over rows are the objective's affair (dn_run_sum); a solver only moves a vector. */
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
    const double *l1; /* [n] >= 0 and finite; NULL: none. Only the solvers that say so know it */
    /* f and ∇f at x. A result that is not finite is no error here: the solver decides. */
    dn_status (*evaluate)(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err);
    /* Hessian at x, [n × n], the lower triangle of the row-major matrix; positive definite. NULL: none. */
    dn_status (*hessian)(void *ctx, const dn_run *run, const double *x, double *hessian,
                         dn_error *err);
    /* product [n] ← Hv with the Hessian of f at x; positive semidefinite. NULL: none. */
    dn_status (*product)(void *ctx, const dn_run *run, const double *x, const double *v,
                         double *product, dn_error *err);
    /* diagonal [n] ← the diagonal of that Hessian, each entry > 0 (a guess where it is 0). NULL: none. */
    dn_status (*diagonal)(void *ctx, const dn_run *run, const double *x, double *diagonal,
                          dn_error *err);
    /* v ← M⁻¹v with M a positive definite guess of the Hessian. NULL: the identity. */
    void (*precondition)(void *ctx, double *v);
    /* Told of every accepted point, the start included: reports progress, and sets *reason when the solver is to end there; *reason is DN_STOP_NONE before. */
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

/* The error for arithmetic that left the finite numbers at `iteration` (0: already at the start). */
dn_status dni_objective_not_finite(size_t iteration, const char *cause, dn_error *err);

#endif
