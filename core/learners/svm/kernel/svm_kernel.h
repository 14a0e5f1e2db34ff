/* Support vector machines with kernels: all machines of a decision over one set of points. */
#ifndef DNI_SVM_KERNEL_H
#define DNI_SVM_KERNEL_H

#include "learners/svm/svm_solution.h"
#include <discern/decision.h>
#include <discern/kernel.h>

/* By sequential minimal optimisation: machines [n] of the decision, and their reports (DN_DECISION_NATIVE: two classes, one machine). They share their support vectors. Pairs are trained in the
 * run's threads at once. Kernels that are not positive semidefinite end on the optimality conditions and warn. */
DN_MUST_USE dn_status dni_svm_kernel_fit(const dn_fit_input *input, dn_decision decision,
                                         const dni_svm_options *options, const dn_run *run,
                                         dn_machine **machines, const dn_report_taker *taker,
                                         dn_error *err);
double dni_svm_kernel_memory(const dni_svm_options *options, const dn_kernel *kernel,
                             dn_decision decision, const dn_fit_shape *shape);

#endif
