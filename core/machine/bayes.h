/* The naive Bayes kind: g_k = ln P(C_k) + Σ_j ln p(x_j | C_k), one factor for each feature; of two
 * classes g = g_2 − g_1. */
#ifndef DNI_BAYES_H
#define DNI_BAYES_H

#include "machine/machine_impl.h"
#include <stdint.h>

/* How feature j enters. */
typedef enum dn_factor {
    DN_FACTOR_GAUSSIAN, /* a = mean, b = variance > 0: ln N(x; a, b) */
    DN_FACTOR_BERNOULLI, /* a = ln P(1 | C), b = ln P(0 | C): x·a + (1 − x)·b, with 0·(−∞) = 0 */
    DN_FACTOR_COUNT, /* a = ln θ: x·a, 0 where x <= 0: a feature of a 1-of-K code, a word count */
    DN_FACTOR_PRESENCE /* a = ln P(x > 0 | C), b = ln P(x <= 0 | C) */
} dn_factor;

typedef struct dn_naive_bayes {
    double *prior;         /* [K] > 0, sum 1 */
    unsigned char *factor; /* [d] dn_factor */
    double *a, *b;         /* [d × K], feature after feature */
    double *at_zero;       /* [3 × K] sums over all features at x = 0: dni_bayes_settle */
} dn_naive_bayes;

/* All numbers 0, for the learner to fill in through dni_bayes_of; then dni_bayes_settle.
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_bayes_machine_new(size_t n_classes, size_t n_features, dn_machine **out,
                                            dn_error *err);
/* The factors of a machine that dni_bayes_machine_new made. */
dn_naive_bayes *dni_bayes_of(const dn_machine *machine);

/* ln p(x_j | C_k) */
double dni_bayes_factor(const dn_naive_bayes *bayes, size_t j, size_t k, size_t K, double x);
/* Precomputes the log densities at x = 0, from which those of an x with few entries are computed.
 * Needs prior, factor, a and b. O(K·d). */
void dni_bayes_settle(dn_naive_bayes *bayes, size_t K, size_t d);

#endif
