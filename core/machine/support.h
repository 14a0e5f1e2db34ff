/* The support vectors that the machines of a model share, and the machines over them. A learner fills a support, makes its machines over it, and lets go of it:
 *
 *   dni_support_new → dni_support_add … → dni_support_end → dni_kernel_machine_new for each machine (index, coef, w0 and norm are the caller's to fill in) → dni_support_unref
 *
 * All memory is malloc'ed: it becomes the model's. Until then it counts as the run's, whose allocator must outlive it. */
#ifndef DNI_SUPPORT_H
#define DNI_SUPPORT_H

#include <discern/kernel.h>
#include <discern/matrix.h>
#include <discern/run.h>
#include <discern/status.h>

/* Support vectors: encoded rows, standardised where the encoder standardises. */
typedef struct dn_support {
    size_t references; /* machines that have it; changed by one thread at a time */
    dn_kernel kernel;  /* its factor is the support's */
    dn_matrix
        x; /* [n × d] dense or CSR; the arrays are the support's. precomputed: the entry 1 in the
                  * column of the training table's row */
    struct dni_points *points; /* x prepared for prediction; NULL: no rows */
    bool single;               /* kernel values of prediction may be computed in float */
} dn_support;

/* Room for n rows (0: a machine that is w0 alone) of kernel->n_features columns, dense, or sparse with n_entries entries in all (SIZE_MAX: dense, as a mahalanobis kernel's always are). The kernel is copied, with its factor. One
 * reference, the caller's. The run's allocator counts it, and its machines (dn_run_charge); NULL: nobody does. DN_ERR_MEMORY, DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_support_new(const dn_kernel *kernel, size_t n, size_t n_entries,
                                      const dn_run *run, dn_support **out, dn_error *err);
/* Copies the rows of x, encoded and standardised where the encoder standardises, behind those that are there, and no more of them than there is room for (asserted); sparse rows
 * may become dense ones, not the other way round. */
void dni_support_add(dn_support *support, dn_matrix x);
/* When all rows are there: prepares what prediction walks through. DN_ERR_MEMORY, DN_ERR_NUMERIC: a row has no finite K(x, x). */
DN_MUST_USE dn_status dni_support_end(dn_support *support, dn_error *err);

/* Counted without a lock: by one thread at a time. */
dn_support *dni_support_ref(dn_support *support);
void dni_support_unref(dn_support *support); /* NULL is allowed */
/* It is no run's any more. */
void dni_support_settle(dn_support *support);
/* Charges the run for more bytes that belong to the support's machines. DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_support_charge(dn_support *support, double bytes, dn_error *err);
/* Bytes it holds, about; and what one with n rows and so many entries (INFINITY: dense) will. */
double dni_support_memory(const dn_support *support);
double dni_support_foretold(const dn_kernel *kernel, size_t n, double n_entries);

#endif
