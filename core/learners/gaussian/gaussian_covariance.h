/* From the scatter of rows to the inverse Cholesky factor of their covariance: what Gaussian densities are evaluated with. */
#ifndef DNI_GAUSSIAN_COVARIANCE_H
#define DNI_GAUSSIAN_COVARIANCE_H

#include "learners/shared/scatter.h"

/* Of which rows. */
typedef struct dni_covariance_task {
    const dn_fit_input *input;
    const dn_run *run;
    const dni_scatter *scatter; /* of any kind */
    size_t k;                   /* the class; SIZE_MAX: all of them, pooled */
    const bool *constant; /* [d] columns left out of the densities, of dni_scatter_constants */
    double divisor;       /* Σ = S / divisor, > 0 */
    double shrinkage;     /* 0 … 1 (shrinkage.h) */
    const char *
        whose; /* for messages: the covariance "of the training rows"; NULL: within the classes, or of class k */
    const char *
        remedy; /* for messages: what else to do where it is singular; NULL: that of a Gaussian density */
} dni_covariance_task;

/* whiten [d × d] ← A, lower triangular with AᵀA = Σ⁻¹, zeros above; *log_det ← ln|Σ|, both of the columns not left out: the others have zeros in A. The scatter is
 * pooled, or that of the classes. DN_ERR_DATA, columns named: one that is constant in these rows only, a class whose rows are all the same, a singular matrix (an eigenvalue of the correlations at most 1e-10 of the greatest). */
DN_MUST_USE dn_status dni_covariance_whiten(const dni_covariance_task *task, double *whiten,
                                            double *log_det, dn_error *err);
/* The same without covariances: whiten [d] ← 1/σ of class k. The scatter is a diagonal. */
DN_MUST_USE dn_status dni_covariance_whiten_diagonal(const dni_covariance_task *task,
                                                     double *whiten, double *log_det,
                                                     dn_error *err);
/* Bytes they need beside their results. */
double dni_covariance_memory(dni_scatter_kind kind, size_t n_features);

#endif
