/* Conjugate gradients for systems A x_k = b_k that share a matrix nobody writes down. */
#ifndef DNI_CONJUGATE_GRADIENTS_H
#define DNI_CONJUGATE_GRADIENTS_H

#include <discern/run.h>
#include <discern/status.h>
#include <discern/stop_reason.h>
#include <stddef.h>

/* A is symmetric and positive semidefinite, and every b_k is in its range. Vectors of all systems lie one after the other: [n_systems × n]. */
typedef struct dni_systems {
    size_t n_systems, n;
    void *ctx;
    /* out_k ← A p_k */
    dn_status (*product)(void *ctx, const dn_run *run, const double *p, double *out, dn_error *err);
    /* out_k ← b_k − A x_k from the data, not from what the solver has added up */
    dn_status (*residual)(void *ctx, const dn_run *run, const double *x, double *out,
                          dn_error *err);
    double rounding;     /* lengths of residuals up to it are taken for 0 */
    const double *scale; /* [n] > 0, about A's diagonal: lengths of residuals are √Σ r²/scale */
    bool
        preconditioned; /* the steps use `scale` too. Without, the answer is the solution of least Euclidean norm when A is singular */
    /* Told after every product: x and the largest of ‖r_k‖/‖b_k‖. A status other than DN_OK ends the solver with it. */
    dn_status (*accepted)(void *ctx, const dn_run *run, size_t iteration, const double *x,
                          double measure, dn_error *err);
} dni_systems;

/* How it ended. */
typedef struct dni_systems_outcome {
    size_t iterations;     /* products with A */
    size_t residuals;      /* computed from the data */
    double measure;        /* largest ‖b_k − A x_k‖/‖b_k‖, from the data */
    dn_stop_reason reason; /* DN_STOP_TOLERANCE, DN_STOP_MAX_ITERATIONS or DN_STOP_NO_PROGRESS */
} dni_systems_outcome;

/* Bytes that the solver allocates. */
double dni_conjugate_gradients_bytes(size_t n_systems, size_t n);

/* x [n_systems × n] ← the solutions, from 0. Ends when every ‖b_k − A x_k‖ is at most tolerance·‖b_k‖, computed from the data: where the residuals that were added
 * up have drifted from it, it goes on from there, and ends with "no_progress" when that no longer halves them. A product an iteration serves all systems; those that are solved
 * wait. DN_ERR_NUMERIC: the numbers are no longer finite. O(n_systems·n) memory; no allocation in the loop. */
DN_MUST_USE dn_status dni_conjugate_gradients(const dni_systems *systems, const dn_run *run,
                                              double tolerance, size_t max_iterations, double *x,
                                              dni_systems_outcome *out, dn_error *err);

#endif
