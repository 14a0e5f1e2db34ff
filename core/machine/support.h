/* The support vectors that the machines of a model share, and the machines over them. A learner fills a support, makes its machines over it, and lets go of it:
 *
 *   dni_support_new → dni_support_add … → dni_support_end → dni_kernel_machine_new for each machine (index, coef, w0 and norm are the caller's to fill in) → dni_support_unref
 *
 * All memory is malloc'ed: it becomes the model's. Until then it counts as the run's, whose allocator must outlive it. */
#ifndef DNI_SUPPORT_H
#define DNI_SUPPORT_H

#include <discern/machine.h>
#include <discern/run.h>
#include <discern/status.h>

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
/* Bytes it holds, about; and what one with n rows and so many entries (INFINITY: dense) will. */
double dni_support_memory(const dn_support *support);
double dni_support_foretold(const dn_kernel *kernel, size_t n, double n_entries);
/* … and what machines take that have so many of its rows together. */
double dni_kernel_machines_foretold(size_t n_machines, double n_rows);

/* A machine of two classes over n of the support's rows, with index, coef, w0 and norm zeroed. It takes a reference of its own. DN_ERR_MEMORY, DN_ERR_BUDGET; *out is then untouched. */
DN_MUST_USE dn_status dni_kernel_machine_new(dn_support *support, size_t n, dn_machine **out,
                                             dn_error *err);
static inline dn_kernel_machine *dni_kernel_machine_of(const dn_machine *machine) {
    return machine->kernel;
}
void dni_kernel_machine_free(
    dn_kernel_machine *machine); /* NULL and a half-built one are allowed */

/* score[r] ← Σ_i c_i k[r · stride + index_i] + w0 for n_rows rows of kernel values, in one order whatever n_rows is. score has the stride score_stride. */
void dni_kernel_machine_scores(const dn_kernel_machine *machine, const double *k, size_t stride,
                               size_t n_rows, double *score, size_t score_stride);

#endif
