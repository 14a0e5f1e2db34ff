/* The threshold on one direction that has the least training error. */
#ifndef DNI_FISHER_THRESHOLD_H
#define DNI_FISHER_THRESHOLD_H

#include <discern/algorithm.h>

/* Finds the threshold on the projections wᵀx of the rows of two classes that misclassifies the
 * least weight. Candidates are the midpoints of adjacent projections. A row above the threshold is
 * assigned to the second class.
 *
 *   w              [n_cols]
 *   midpoint       among thresholds of equal error the one nearest to `midpoint` is chosen
 *   out_threshold  the threshold
 *   out_error      misclassified weight, as a share of the weight of all rows
 *
 * Errors
 *   DN_ERR_DATA     all projections are equal
 *   DN_ERR_NUMERIC  a projection overflows
 *   and those of dn_run_alloc and dn_run_each
 *
 * Cost: one pass and a sort of the projections, during which the stop flag is not polled (0.3 s for
 * a million rows). */
DN_MUST_USE dn_status dni_fisher_threshold(const dn_fit_input *input, const dn_run *run,
                                           const double *w, double midpoint, double *out_threshold,
                                           double *out_error, dn_error *err);
/* Bytes of working memory that dni_fisher_threshold needs. */
double dni_fisher_threshold_memory(size_t n_rows, size_t n_slots);

#endif
