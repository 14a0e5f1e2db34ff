/* What naive Bayes says of one x: the sum over its features. */
#ifndef DNI_BAYES_H
#define DNI_BAYES_H

#include <discern/machine.h>
#include <stdint.h>

/* Some of the entries of an x: n different features, in any order. */
typedef struct dni_entry_part {
    const uint32_t *feature;
    const double *value;
    size_t n;
} dni_entry_part;

/* Empty, with room for K classes and d features, zeroed; NULL: no memory for it. */
dn_naive_bayes *dni_bayes_new(size_t K, size_t d);
void dni_bayes_free(dn_naive_bayes *bayes); /* NULL and a half-built one are allowed */

/* ln p(x_j | C_k) */
double dni_bayes_factor(const dn_naive_bayes *bayes, size_t j, size_t k, size_t K, double x);
/* ln P(C_k) + Σ_j ln p(x_j | C_k) of x [d]; −∞ for a class that is impossible. */
double dni_bayes_joint(const dn_naive_bayes *bayes, size_t k, size_t K, const double *x, size_t d);
/* The same of an x that is 0 but for its entries: O(n) for n of them. Needs dni_bayes_settle. What is added for x = 0 is taken away again number for number and in twice
 * the precision, so that a feature whose density at 0 is e^(−10¹²) leaves no trace. */
double dni_bayes_joint_entries(const dn_naive_bayes *bayes, size_t k, size_t K,
                               const dni_entry_part *parts, size_t n_parts);

/* Sums what x = 0 says, when prior, factor, a and b are there. O(K·d). */
void dni_bayes_settle(dn_naive_bayes *bayes, size_t K, size_t d);
/* Of x = (raw − mean)/scale as one of raw, into `to`, settled; NULL: 0 and 1. false: a variance is not finite or not above 0. */
bool dni_bayes_to_raw(const dn_naive_bayes *from, size_t K, size_t d, const double *mean,
                      const double *scale, dn_naive_bayes *to);

#endif
