/* The factors of naive Bayes that are counts: what they are of each feature, how much the classes show of them. */
#ifndef DNI_NAIVE_BAYES_COUNTS_H
#define DNI_NAIVE_BAYES_COUNTS_H

#include "learners/shared/scatter.h"
#include <discern/algorithm.h>

/* The choices of the parameter `numeric`, for numbers that are features themselves. */
extern const char *const dni_bayes_numeric[], *const dni_bayes_numeric_meanings[];

typedef struct dni_bayes_counts {
    const dn_fit_input *input;
    size_t n_classes, d;
    double smoothing;
    dn_factor numeric;           /* of numbers */
    const unsigned char *factor; /* [d] the machine's */
    bool *event;          /* [d] numbers that are counts, of one distribution over all of them */
    double *class_weight; /* [K + K × d] Σv, and behind it sum */
    double *sum;          /* [K × d] Σv x, of DN_FACTOR_PRESENCE Σv over x > 0 */
} dni_bayes_counts;

/* Says of each feature what it is: factor [d] and event [d], both all 0 before. DN_ERR_ARGUMENT (field): a category without a feature for every level, numbers to be counted that are standardised. */
DN_MUST_USE dn_status dni_bayes_choose(const dn_fit_input *input, dn_factor numeric,
                                       unsigned char *factor, bool *event, dn_error *err);

/* class_weight and sum by a pass over the rows; O(entries) of sparse ones. DN_ERR_DATA (field): a number below 0 among those to be counted. */
DN_MUST_USE dn_status dni_bayes_count(const dni_bayes_counts *counts, const dn_run *run,
                                      dn_error *err);
/* … or by what is known of the rows already; there is no DN_FACTOR_PRESENCE and no event then. */
void dni_bayes_count_scatter(const dni_bayes_counts *counts, const dni_scatter *scatter);

/* The factors that are no Gaussians, from class_weight and sum. O(K·d) */
void dni_bayes_fit_counts(const dni_bayes_counts *counts, dn_naive_bayes *out);

#endif
