/* Linear support vector machines for two classes. Solvers: interior point (hinge loss), Newton's
 * method (squared hinge loss), dual coordinate descent (both), and for the hard margin the nearest
 * points of the convex hulls. */
#ifndef DNI_SVM_LINEAR_H
#define DNI_SVM_LINEAR_H

#include "learners/svm/svm_solution.h"

/* Fits a linear machine. For the hard margin options->solver is ignored.
 *
 * Errors: DN_ERR_DATA if the hard margin does not exist, DN_ERR_NUMERIC if the arithmetic
 * overflows. */
DN_MUST_USE dn_status dni_svm_linear_fit(const dn_fit_input *input, const dni_svm_options *options,
                                         const dn_run *run, dn_machine **out, dn_report *report,
                                         dn_error *err);

/* Bytes of working memory of dni_svm_linear_fit. */
double dni_svm_linear_memory(const dni_svm_options *options, size_t n_rows, size_t n_features,
                             size_t n_slots);

#endif
