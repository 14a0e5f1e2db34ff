/* Support vector machines with kernels, by sequential minimal optimisation. All machines of a
 * decision are trained on one prepared problem (learners/shared/prepared.h). */
#ifndef DNI_SVM_KERNEL_H
#define DNI_SVM_KERNEL_H

#include "learners/svm/svm_solution.h"
#include <discern/decision.h>
#include <discern/kernel.h>

/* Fits the machines of the decision, in parallel. DN_DECISION_NATIVE is for two classes and has one
 * machine. The machines share their support vectors. If the kernel is not positive semidefinite,
 * the solutions satisfy the optimality conditions but may not be optimal; the reports have a
 * warning.
 *
 *   machines  [n], filled in on success
 *   receiver  receives the report of each machine
 *
 * Errors: those of dni_prepared_get; DN_ERR_DATA if the hard margin does not exist; DN_ERR_NUMERIC
 * if C times a weight, or a kernel value, overflows. */
DN_MUST_USE dn_status dni_svm_kernel_fit(const dn_fit_input *input, dn_decision decision,
                                         const dni_svm_options *options, const dn_run *run,
                                         dn_machine **machines, const dn_report_receiver *receiver,
                                         dn_error *err);
/* Bytes of the working memory of dni_svm_kernel_fit, including its result. */
double dni_svm_kernel_memory(const dni_svm_options *options, const dn_kernel *kernel,
                             dn_decision decision, const dn_fit_shape *shape);

#endif
