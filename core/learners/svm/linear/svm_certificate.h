/* The certificate of a linear support vector machine: from dual variables to a solution whose
 * duality gap is computed from the data.
 *
 *   primal  ½‖w‖² [+ ½w0²] + Σ U s             squared hinge: Σ U s²
 *   dual    Σα − ½‖w‖² [− ½w0²]                squared hinge: − Σ α²/4U
 *           with w = Σ α t x [and w0 = Σ α t], α feasible
 *
 * The terms in brackets belong to a penalised intercept. The difference is >= 0, and 0 only at the
 * optimum, for any feasible α and any weights of the primal. */
#ifndef DNI_SVM_CERTIFICATE_H
#define DNI_SVM_CERTIFICATE_H

#include "learners/svm/linear/svm_problem.h"

/* Computes the interval of intercepts that minimise Σ U max(0, 1 − t(g + b)) for g = score [n].
 * work [2n]. O(n) expected. */
void dni_svm_hinge_intercept(const dni_svm_problem *svm, const double *score, double *work,
                             double *low, double *high);

/* Makes Σαt = 0 for a free intercept: scales down the α of the class whose sum is larger. Only α
 * below their upper bound are scaled if that is enough. */
void dni_svm_balance(const dni_svm_problem *svm, double *alpha);

/* Stores v with the best intercept in svm->w, and the certificate of it and svm->alpha in *out.
 *
 *   v     [width]; NULL for the weights of svm->alpha; may be svm->w
 *   work  [2n]
 *
 * Two passes over the rows. */
DN_MUST_USE dn_status dni_svm_certify(dni_svm_problem *svm, const double *v, double *work,
                                      dni_svm_solution *out, dn_error *err);

#endif
