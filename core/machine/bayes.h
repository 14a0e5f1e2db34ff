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

typedef struct dni_bayes_range dni_bayes_range; /* consecutive features with one factor */

typedef struct dni_naive_bayes {
    double *prior;         /* [K] > 0, sum 1 */
    unsigned char *factor; /* [d] dni_factor */
    double *a, *b;         /* [d × K] */

    /* Members that dni_bayes_fold sets. */
    double *at_zero;         /* [K × 3] the score of each class at x = 0 as a compensated sum */
    double *constant;        /* [K] terms of the scores that do not depend on x */
    dni_bayes_range *ranges; /* [n_ranges] all features */
    size_t n_ranges;
    size_t n_normals;                     /* number of Gaussian features */
    double *normal_mean, *normal_inverse; /* [K × n_normals] mean and 1/σ of Gaussian features */
} dni_naive_bayes;

/* Creates a machine with all numbers 0. The learner sets the members of dni_bayes_of(machine) and
 * then calls dni_bayes_fold. Fails with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_bayes_machine_new(size_t n_classes, size_t n_features, dn_machine **out,
                                            dn_error *err);
/* Returns the parameters of a naive Bayes machine. The machine must be of this kind. */
dni_naive_bayes *dni_bayes_of(const dn_machine *machine);

/* Returns ln p(x_j | C_k) for x_j = x. */
double dni_bayes_factor(const dni_naive_bayes *bayes, size_t j, size_t k, size_t K, double x);
/* Computes the numbers of the scores that do not depend on x from prior, factor, a and b. Called
 * once, after the four arrays are set and before the first score. O(K·d). Fails with
 * DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_bayes_fold(dn_machine *machine, dn_error *err);

#endif
