/* The kernel kind: g = Σ_i c_i K(s_i, x) + w0 over support vectors s_i, of two classes. The machines of
 * a model share the support vectors and, in prediction, the kernel values of a row.
 *
 * Source: Schölkopf and Smola, Learning with Kernels, section 7.4. */
#ifndef DNI_KERNEL_MACHINE_H
#define DNI_KERNEL_MACHINE_H

#include "machine/machine_impl.h"
#include "machine/support.h"

typedef struct dn_kernel_machine {
    dn_machine base;
    dn_support *support;
    size_t n;        /* support vectors of this machine */
    uint32_t *index; /* [n] ascending: rows of support->x */
    double *coef;    /* [n] c_i = α_i t_i, t_i = ±1; of one class α_i */
    double w0;
    double norm; /* √(Σ_ij c_i c_j K(s_i, s_j)), the length of w in the kernel's space; NaN when the
                  * kernel is not positive semidefinite and the sum is below 0 */
} dn_kernel_machine;

/* A machine over n rows of the support, of which it takes a reference; index, coef, w0 and norm are 0,
 * for the learner to fill in. DN_ERR_MEMORY, DN_ERR_BUDGET. */
DN_MUST_USE dn_status dni_kernel_machine_new(dn_support *support, size_t n, dn_machine **out,
                                             dn_error *err);
/* A machine that dni_kernel_machine_new made. */
dn_kernel_machine *dni_kernel_machine_of(const dn_machine *machine);
/* Bytes of n_machines machines that have n_rows support vectors together. */
double dni_kernel_machines_foretold(size_t n_machines, double n_rows);

#endif
