/* Naive Bayes machines: g_k = ln P(C_k) + Σ_j ln p(x_j | C_k), with one factor per feature.
 * For two classes g = g_2 − g_1. */
#ifndef DNI_BAYES_H
#define DNI_BAYES_H

#include "machine/machine_dispatch.h"
#include <stdint.h>

/* The distribution of feature j given the class. a and b are the parameters of class C. */
typedef enum dni_factor {
    /* ln N(x; a, b), with a = mean and b = variance > 0 */
    DNI_FACTOR_GAUSSIAN,
    /* x·a + (1 − x)·b, with a = ln P(1 | C), b = ln P(0 | C) and 0·(−∞) = 0 */
    DNI_FACTOR_BERNOULLI,
    /* x·a with a = ln θ, and 0 for x <= 0: a feature of a 1-of-K code, a word count */
    DNI_FACTOR_COUNT,
    /* a for x > 0, b for x <= 0, with a = ln P(x > 0 | C) and b = ln P(x <= 0 | C) */
    DNI_FACTOR_PRESENCE
} dni_factor;

typedef struct dni_naive_bayes {
    double *prior;         /* [K] > 0, sum 1 */
    unsigned char *factor; /* [d] dni_factor */
    double *a, *b;         /* [d × K] */
    double *at_zero;       /* [K × 3] the score of each class at x = 0 as a compensated sum */
} dni_naive_bayes;

/* Creates a machine with all numbers 0. The learner sets the members of dni_bayes_of(machine) and
 * then calls dni_bayes_precompute. Fails with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_bayes_machine_new(size_t n_classes, size_t n_features, dn_machine **out,
                                            dn_error *err);
/* Returns the parameters of a naive Bayes machine. The machine must be of this kind. */
dni_naive_bayes *dni_bayes_of(const dn_machine *machine);

/* Returns ln p(x_j | C_k) for x_j = x. */
double dni_bayes_factor(const dni_naive_bayes *bayes, size_t j, size_t k, size_t K, double x);
/* Computes at_zero from prior, factor, a and b. The scores of a sparse x are computed from at_zero.
 * O(K·d). */
void dni_bayes_precompute(dni_naive_bayes *bayes, size_t K, size_t d);

#endif
