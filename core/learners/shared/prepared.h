/* The prepared problem of a method with a kernel: what a fit computes before it solves a dual.
 *
 * It holds the complete kernel (width and covariance are estimated), the distinct rows as points,
 * the Gram matrix if it fits into the cache, and whether the kernel is positive semidefinite. It
 * does not depend on C, nu, the tolerance or the decision. The machines of one fit share it, and so
 * do fits with other values of those parameters: a caller that sets dn_fit_input.prepared keeps the
 * problem from one fit to the next.
 *
 * Fits share a problem only if they have the same rows: all pairs of classes of a decision, and
 * values of C or nu. Folds do not share. Their encoders differ wherever the encoder is fitted to the
 * training rows (standardised features, text vocabularies, category levels, bins and bases at
 * quantiles), and so do estimated widths and covariances. Where they agree, kernel values of a
 * larger set of dense rows differ in the last bits, since distances are those of centred rows. */
#ifndef DNI_PREPARED_H
#define DNI_PREPARED_H

#include "learners/shared/smo/smo_rows.h"
#include "learners/shared/smo/svm_points.h"
#include "machine/support.h"

/* What the problem was prepared for. */
typedef struct dni_prepared_key {
    const dn_rows *rows;
    const uint8_t *role;
    uint64_t seed;
    double cache_bytes;
    dn_kernel kernel; /* as the parameters describe it */
} dni_prepared_key;

typedef struct dn_prepared dni_prepared;
struct dn_prepared {
    const dn_run *run;
    dni_prepared_key key;
    dn_kernel kernel;      /* complete */
    dni_svm_points points; /* distinct rows */
    dni_gram gram;
    bool definite;  /* the kernel is positive semidefinite on the points, or on a sample of them */
    double least;   /* smallest eigenvalue; NaN if the kernel is known to be semidefinite */
    double n_rows;  /* normalized kernels: rows of the points */
    double n_zero;  /* normalized kernels: rows whose K(x, x) is not positive */
    bool shared;    /* input->prepared keeps it after the fit */
    double *factor; /* mahalanobis; else NULL */
    void *gram_memory; /* NULL: kernel rows are computed one by one */
};

/* Returns the problem of input->prepared if it was prepared for the same rows, kernel, seed and
 * cache; else prepares one, and keeps it in *input->prepared if that is not NULL.
 *
 *   cache_bytes  limit of the Gram matrix. It is in double precision up to 2,000 points, so that
 *                the solver can go beyond the tolerance, else in single precision
 *   run          must outlive the problem if it is kept
 *
 * Errors: those of dni_svm_points_gather, _prepare and _given, and of the kernel's estimates. */
DN_MUST_USE dn_status dni_prepared_get(const dn_fit_input *input, double cache_bytes,
                                       const dn_run *run, dni_prepared **out, dn_error *err);

/* The duals are solved: frees the kernel's values, which makes room for the support vectors. Does
 * nothing to a problem that is kept. */
void dni_prepared_drop_values(dni_prepared *problem);

/* Ends a fit's use of the problem: frees it unless it is kept. NULL is allowed. */
void dni_prepared_release(dni_prepared *problem);

/* The machines that are trained over the points, for estimates. */
typedef struct dni_kernel_machines {
    size_t n;       /* of the decision */
    size_t per_row; /* that a row takes part in */
    size_t at_once; /* in parallel */
    double duals;   /* bytes of all machines' dual variables */
    double solving; /* bytes of one machine's dual while it is solved, without kernel rows */
    double making;  /* bytes of scratch while the machines of the result are made */
} dni_kernel_machines;

/* Bytes of a whole fit without the rows: the problem, cached kernel rows, the duals, and the
 * support vectors and machines of the result. An upper bound: the distinct rows, and the layout of
 * the points, depend on the data. A kept problem and the result of a fit exist at the same time: a
 * caller that keeps problems adds the larger of the two. */
double dni_prepared_memory(const dn_kernel *kernel, const dn_fit_shape *shape, double cache_bytes,
                           const dni_kernel_machines *machines);

/* The points whose number is below UINT32_MAX as support vectors; the numbers ascend from 0 to
 * n − 1. The caller owns the reference. */
DN_MUST_USE dn_status dni_prepared_support(const dni_prepared *problem, const uint32_t *number,
                                           size_t n, dni_support **out, dn_error *err);

/* Adds kernel_width, and a warning of rows whose K(x, x) is not positive. */
void dni_prepared_report(const dni_prepared *problem, dn_report *report);

/* The end of the warning of a dual that was not solved, before further suggestions. */
const char *dni_prepared_remedy(dn_stop_reason stop_reason);

#endif
