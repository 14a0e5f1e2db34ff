/* The certificate of a linear support vector machine: the duality gap of given dual variables and
 * weights, computed from the data.
 *
 *                  primal                     dual
 *   hinge          ½‖w‖² [+ ½w0²] + Σ U s     Σα − ½‖u‖² [− ½u0²]
 *   squared hinge  ½‖w‖² [+ ½w0²] + Σ U s²    Σα − ½‖u‖² [− ½u0²] − Σ α²/(4U)
 *
 * where s = max(0, 1 − t(w'x + w0)), u = Σ α t x, u0 = Σ α t, and α is feasible. U and t are those
 * of svm_problem.h. The terms in brackets apply to a penalised intercept. For any feasible α and
 * any primal weights the difference primal − dual is >= 0, and it is 0 only at the optimum. */
#ifndef DNI_SVM_CERTIFICATE_H
#define DNI_SVM_CERTIFICATE_H

#include "learners/svm/linear/svm_problem.h"

/* Computes the interval low … high of the intercepts b that minimise Σ U max(0, 1 − t(g + b)) for g
 * = score [n]. work: [2n] working memory. Expected cost O(n). */
void dni_svm_hinge_intercept(const dni_svm_problem *svm, const double *score, double *work,
                             double *low, double *high);

/* For a free intercept: makes Σαt = 0 by scaling down the α of the class with the larger Σα. If
 * possible, scales only the α below their upper bound. */
void dni_svm_balance(const dni_svm_problem *svm, double *alpha);

/* True if α_i = a is at its upper bound, up to rounding. False for squared hinge loss. */
bool dni_svm_at_upper(const dni_svm_problem *svm, size_t i, double a);

/* For a free intercept: sets the weights [d] of constant columns to 0, which consist of rounding
 * errors only. */
void dni_svm_clear_constants(const dni_svm_problem *svm, double *v);

/* Sets svm->w to v with the best intercept, and *out to the solution with the duality gap of svm->w
 * and svm->alpha.
 *
 *   v     [width]; NULL: use Σ α t x of svm->alpha; may be svm->w
 *   work  [2n] working memory; NULL is allowed for squared hinge loss
 *
 * Two passes over the rows. */
DN_MUST_USE dn_status dni_svm_certify(dni_svm_problem *svm, const double *v, double *work,
                                      dni_svm_solution *out, dn_error *err);

/* Like dni_svm_certify. With hinge loss and a large C the rounding errors of margins that are 1 can
 * cost more than the tolerance. v is then multiplied by a factor slightly above 1, if this
 * decreases the gap. */
DN_MUST_USE dn_status dni_svm_certify_rounded(dni_svm_problem *svm, double *v, double *work,
                                              dni_svm_solution *out, dn_error *err);

#endif
