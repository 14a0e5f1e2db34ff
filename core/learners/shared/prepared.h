/* The prepared problem of a method with a kernel: the data that a fit computes before it solves a
 * dual.
 *
 * The problem holds the kernel with estimated width or covariance, the distinct rows as points, the
 * Gram matrix if it fits into the cache, and whether the kernel is positive semidefinite. The
 * problem does not depend on C, nu, the tolerance or the decision. All machines of a fit share one
 * problem. If the caller sets dn_fit_input.prepared, the problem is kept for the next fit, which
 * may have other values of these parameters.
 *
 * Fits share a problem only if they have the same rows. Folds of a cross-validation do not share a
 * problem, for two reasons. First, encoders, widths and covariances are fitted to the training rows
 * of the fold. Second, distances are computed from centred rows, so that kernel values would differ
 * in the last bits. */
#ifndef DNI_PREPARED_H
#define DNI_PREPARED_H

#include "learners/shared/smo/smo_rows.h"
#include "learners/shared/smo/svm_points.h"
#include "machine/support.h"

/* The inputs that a problem depends on. */
typedef struct dni_prepared_key {
    const dn_rows *rows;
    const uint8_t *role;
    uint64_t seed;
    double cache_bytes;
    dn_kernel kernel; /* as given by the parameters, without estimates */
} dni_prepared_key;

/* The dual variables of a fit, at which the next fit with another C may start. */
typedef struct dni_kept_duals {
    double *alpha; /* [n] of all machines, one after the other; NULL: none */
    double *g;     /* [n] gradients of the duals; in the same block */
    size_t n;
    dn_decision decision;
    int intercept; /* a dni_svm_intercept: the equality constraints of the duals depend on it */
    double C;
} dni_kept_duals;

/* Kernel values between held-out rows and the points (prepared_scores.h). */
typedef struct dni_held_values {
    const dn_rows *rows; /* NULL: none */
    double *values;      /* [n_points × rows->n_rows]; NULL: they take too much memory */
} dni_held_values;

typedef struct dn_prepared dni_prepared;
struct dn_prepared {
    const dn_run *run;
    dni_prepared_key key;
    dn_kernel kernel;      /* with estimated width and factor */
    dni_svm_points points; /* distinct rows */
    dni_gram gram;
    bool definite;           /* the kernel is positive semidefinite on (a sample of) the points */
    double least_eigenvalue; /* smallest eigenvalue of K; NaN: the kernel is always semidefinite */
    double n_rows;           /* normalized kernels: number of rows, else 0 */
    double n_zero;           /* normalized kernels: number of rows with K(x, x) <= 0, else 0 */
    bool shared;             /* input->prepared keeps the problem after the fit */
    double *factor;          /* [d × d] factor of kernel mahalanobis; else NULL */
    void *gram_memory;    /* block of the Gram matrix; NULL: kernel rows are computed on demand */
    dni_kept_duals duals; /* of the last fit that kept the problem */
    uint32_t *support;    /* point of each support vector of this fit; NULL: unknown */
    dni_held_values held;
};

/* Returns the problem of input->prepared if it was prepared for the same rows, kernel, seed and
 * cache size. Otherwise prepares a new problem, and stores it in *input->prepared if
 * input->prepared is not NULL.
 *
 *   cache_bytes  limit of the bytes of the Gram matrix. Up to 2,000 points the matrix has double
 *                precision, so that the solver can iterate past the tolerance, otherwise single
 *                precision
 *   run          must outlive the problem if it is kept
 *
 * Errors: those of dni_svm_points_gather, _prepare and _given, of dni_kernel_width and of
 * dni_kernel_factor. */
DN_MUST_USE dn_status dni_prepared_get(const dn_fit_input *input, double cache_bytes,
                                       const dn_run *run, dni_prepared **out, dn_error *err);

/* Frees the points and the Gram matrix. Call it when all duals are solved, before the support
 * vectors are built. Does nothing if the problem is kept for another fit. */
void dni_prepared_drop_values(dni_prepared *problem);

/* Called at the end of a fit: frees the problem unless it is kept for another fit. NULL is
 * allowed. */
void dni_prepared_release(dni_prepared *problem);

/* The machines that a fit trains on the points; input of the estimate of memory. */
typedef struct dni_kernel_machines {
    size_t n;            /* number of machines of the decision */
    size_t n_per_row;    /* number of machines that a row is used for */
    size_t n_parallel;   /* number of machines that are trained in parallel */
    double dual_bytes;   /* bytes of the dual variables of all machines */
    double solver_bytes; /* working memory of one dual in bytes, without kernel rows */
    double result_bytes; /* working memory in bytes while the resulting machines are built */
} dni_kernel_machines;

/* Bytes of a whole fit without the rows: the problem, cached kernel rows, the duals, and the
 * support vectors and machines of the result. This is an upper bound, because the number of
 * distinct rows and the layout of the points depend on the data. A kept problem and the result of a
 * fit exist at the same time: a caller that keeps problems must add the larger of the two. */
double dni_prepared_memory(const dn_kernel *kernel, const dn_fit_shape *shape, double cache_bytes,
                           const dni_kernel_machines *machines);

/* Creates n support vectors from the points i with number[i] < UINT32_MAX; these numbers ascend
 * from 0 to n − 1. The caller owns the reference. */
DN_MUST_USE dn_status dni_prepared_support(dni_prepared *problem, const uint32_t *number, size_t n,
                                           dni_support **out, dn_error *err);

/* Adds kernel_width to the report, and a warning if there are rows with K(x, x) <= 0. */
void dni_prepared_report(const dni_prepared *problem, dn_report *report);

/* Returns the end of the warning about a dual that was not solved to the tolerance: the remedy. */
const char *dni_prepared_remedy(dn_stop_reason stop_reason);

#endif
