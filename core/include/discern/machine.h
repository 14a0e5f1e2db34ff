/* A machine: the result of a learner, the functions of the encoded x that separate the classes.
 *
 *   two classes  one score g; the second class is chosen if g > 0
 *   K classes    K scores; the class with the greatest score is chosen
 *
 * A model has one machine, or several machines of two classes each if K classes are separated two
 * at a time (decision.h). Kinds of machine:
 *
 *   linear       g = W x + w0, with or without Gaussian class densities of one covariance
 *   gaussian     g_k = ln P(C_k) + ln N(x; m_k, Σ_k), quadratic in x; two classes: g_2 − g_1
 *   naive_bayes  g_k = ln P(C_k) + Σ_j ln p(x_j | C_k); two classes: g_2 − g_1
 *   kernel       g = Σ_i c_i K(s_i, x) + w0 over support vectors s_i; two classes only
 *   neighbours   g_k = ln of the share of class k in the votes of the nearest stored rows
 *   network      g = W_Lᵀ z_{L−1} + b_L over layers of units z_l = h(W_lᵀ z_{l−1} + b_l), z_0 = x
 *
 * Only the differences of K scores have a meaning: the scores of a linear machine with densities
 * omit the terms that are equal for all classes. */
#ifndef DISCERN_MACHINE_H
#define DISCERN_MACHINE_H

#include <discern/api.h>
#include <discern/describe.h>
#include <discern/encoder.h>
#include <discern/kernel.h>
#include <stddef.h>

DN_BEGIN_DECLS

/* Immutable once it belongs to a model. */
typedef struct dn_machine dn_machine;

/* Returns the number of scores: 1 for two classes, otherwise K. */
size_t dn_machine_n_scores(const dn_machine *machine);

/* Frees a machine that does not belong to a model. NULL and incomplete machines are allowed. */
void dn_machine_free(dn_machine *machine);

DN_END_DECLS

#endif
