/* What every learner with a kernel begins and ends with: a complete kernel, points, a Gram matrix where there is room, and the support vectors of what was found. */
#ifndef DNI_KERNEL_FIT_H
#define DNI_KERNEL_FIT_H

#include "learners/shared/smo/smo_rows.h"
#include "learners/shared/smo/svm_points.h"

/* Memory that a fit holds beside its points. */
typedef struct dni_kernel_fit {
    const dn_run *run;
    double *factor; /* mahalanobis; NULL otherwise */
    void *gram;     /* NULL: kernel rows are computed one by one */
    double n_rows;  /* of the points */
    double n_zero;  /* of these, those whose K(x, x) is not positive, of a normalized kernel */
} dni_kernel_fit;

/* Gathers the rows, completes the kernel of input->params from them (width auto, covariance), and computes all of its values when that takes no more than cache_bytes: in double for few points, so that
 * the solver may go on beyond the tolerance, in single otherwise. out's contents are valid until both _done. On failure everything is freed. */
DN_MUST_USE dn_status dni_kernel_fit_prepare(const dn_fit_input *input, double cache_bytes,
                                             const dn_run *run, dni_kernel_fit *out,
                                             dn_kernel *kernel, dni_svm_points *points,
                                             dni_gram *gram, dn_error *err);
void dni_kernel_fit_done(dni_kernel_fit *fit); /* {0} is allowed */
/* The duals are solved: points and values of the kernel make room for what is left of them. Rows and lists stay. */
void dni_kernel_fit_forget(dni_kernel_fit *fit, dni_svm_points *points, dni_gram *gram);
/* The machines of a decision that are trained over the points. */
typedef struct dni_kernel_machines {
    size_t n, per_row; /* all; those that a row takes part in */
    size_t at_once;    /* trained in threads of their own */
} dni_kernel_machines;
/* Bytes of a whole fit: all this, the points, kept rows of the kernel, the machines' duals, and the support vectors and machines that it leaves. The rows themselves apart. */
double dni_kernel_fit_memory(const dn_kernel *kernel, const dn_fit_shape *shape, double cache_bytes,
                             const dni_kernel_machines *machines);

/* Whether the kernel is positive semidefinite on these points: known of most kernels, looked for in the others (a sample of them when they are many). *least: the least eigenvalue found, NaN when it
 * was not looked for. */
DN_MUST_USE dn_status dni_kernel_fit_definite(const dni_svm_points *points, const dn_kernel *kernel,
                                              const dn_run *run, bool *out, double *least,
                                              dn_error *err);

/* The points with a number below UINT32_MAX, ascending from 0 to n − 1, as support vectors: the caller's reference. */
DN_MUST_USE dn_status dni_kernel_fit_support(const dn_kernel *kernel, const dni_svm_points *points,
                                             const uint32_t *number, size_t n, dn_support **out,
                                             dn_error *err);
/* kernel_width and whatever else the data have told of the kernel. */
void dni_kernel_fit_report(const dni_kernel_fit *fit, const dn_kernel *kernel, dn_report *report);

/* Of a dual that was not solved, by why it ended: how its warning goes on, up to the first of what to try. */
const char *dni_kernel_fit_remedy(dn_stop_reason stop_reason);

#endif
