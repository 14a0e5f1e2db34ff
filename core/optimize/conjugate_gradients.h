/* Conjugate gradients for systems A x_k = b_k with one matrix A, which is given by its products. */
#ifndef DNI_CONJUGATE_GRADIENTS_H
#define DNI_CONJUGATE_GRADIENTS_H

#include <discern/run.h>
#include <discern/status.h>
#include <discern/stop_reason.h>
#include <stddef.h>

/* A is symmetric and positive semidefinite, and every b_k is in its range. The vectors of all
 * systems form a matrix [n_systems × n]. */
typedef struct dni_systems {
    size_t n_systems, n;
    void *ctx;
    /* out_k ← A p_k */
    dn_status (*product)(void *ctx, const dn_run *run, const double *p, double *out, dn_error *err);
    /* out_k ← b_k − A x_k, computed from the data, not from the recurrence */
    dn_status (*residual)(void *ctx, const dn_run *run, const double *x, double *out,
                          dn_error *err);
    double rounding; /* ‖r_k‖ <= rounding counts as ‖r_k‖ = 0 */
    /* [n] > 0, approximately the diagonal of A: the length of r is √Σ r_i²/scale_i */
    const double *scale;
    bool preconditioned; /* true: M = diag(scale). false: M = 1; the solution of a singular system
                          * then has least norm */
    /* Called after every iteration. x: the current solutions; measure: the largest ‖r_k‖/‖b_k‖. A
     * failure ends the solver. */
    dn_status (*accepted)(void *ctx, const dn_run *run, size_t iteration, const double *x,
                          double measure, dn_error *err);
} dni_systems;

/* Result of the solver. */
typedef struct dni_systems_outcome {
    size_t iterations;     /* number of products with A */
    size_t residuals;      /* number of times that all residuals were computed from the data */
    double measure;        /* largest ‖b_k − A x_k‖/‖b_k‖, computed from the data */
    dn_stop_reason reason; /* DN_STOP_TOLERANCE, DN_STOP_MAX_ITERATIONS or DN_STOP_NO_PROGRESS */
} dni_systems_outcome;

/* Returns the bytes that the solver allocates. */
double dni_conjugate_gradients_bytes(size_t n_systems, size_t n);

/* Solves the systems from the start point 0. x [n_systems × n] ← the solutions.
 *
 * Ends when every ‖b_k − A x_k‖, computed from the data, is at most tolerance·‖b_k‖. The residuals
 * of the recurrence differ from the residuals computed from the data by rounding errors. If only
 * the residuals of the recurrence are below the tolerance, the solver restarts from the current x.
 * It ends with DN_STOP_NO_PROGRESS when a restart does not halve the residuals. An iteration calls
 * `product` once for all systems; solved systems have direction 0. Does not allocate in the loop.
 *
 * Errors: DN_ERR_NUMERIC if numbers are no longer finite; the errors of the callbacks. */
DN_MUST_USE dn_status dni_conjugate_gradients(const dni_systems *systems, const dn_run *run,
                                              double tolerance, size_t max_iterations, double *x,
                                              dni_systems_outcome *out, dn_error *err);

#endif
