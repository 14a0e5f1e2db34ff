/* Kernel machines of two classes: g = Σ_i c_i K(s_i, x) + w0 over support vectors s_i. The machines
 * of a model share the support vectors and, in prediction, the kernel values of a row.
 *
 * Source: Schölkopf and Smola, Learning with Kernels, section 7.4. */
#ifndef DNI_KERNEL_MACHINE_H
#define DNI_KERNEL_MACHINE_H

#include "machine/machine_dispatch.h"
#include "machine/support.h"

typedef struct dni_kernel_machine {
    dn_machine base;
    dni_support *support;
    size_t n;        /* number of support vectors of this machine */
    uint32_t *index; /* [n] row numbers in support->x, ascending */
    double *coef;    /* [n] c_i = α_i t_i, t_i = ±1; one-class machines: α_i */
    double w0;
    /* √(Σ_ij c_i c_j K(s_i, s_j)), the length of w in the feature space of the kernel. NaN if the
     * sum is negative, which a kernel that is not positive semidefinite allows. */
    double norm;
} dni_kernel_machine;

/* Creates a machine over n rows of the support and takes a reference to the support. index, coef,
 * w0 and norm are 0; the learner sets them. Fails with DN_ERR_MEMORY or DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_kernel_machine_new(dni_support *support, size_t n, dn_machine **out,
                                             dn_error *err);
/* Converts a machine of this kind to its structure. */
dni_kernel_machine *dni_kernel_machine_of(const dn_machine *machine);
/* Estimates the bytes of n_machines machines with n_rows support vectors in total, without the
 * support. */
double dni_kernel_machines_estimate(size_t n_machines, double n_rows);
/* Estimates the bytes of scratch for scores of machines over n support vectors. */
double dni_kernel_machines_work(const dn_kernel *kernel, size_t n, double n_entries,
                                size_t n_slots);

#endif
