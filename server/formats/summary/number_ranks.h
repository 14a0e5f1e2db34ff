/* What is read off numbers in order with their counts: quantiles, a histogram. Private to formats.
 */
#ifndef WIRE_NUMBER_RANKS_H
#define WIRE_NUMBER_RANKS_H

#include "formats/summary/number_tally.h"

/* The quantile p of `total` > 0 numbers, between two of them the straight line (type 7 of Hyndman
 * and Fan, what R, NumPy and pandas give). list: ascending, counts adding up to total. */
double number_ranks_quantile(const struct number_count *list, size_t n, int64_t total, double p);
/* How many numbers fall into each of n_bins of equal width from least to most, which are not equal;
 * a border belongs to the bin above it, most to the last. */
void number_ranks_histogram(const struct number_count *list, size_t n, double least, double most,
                            int64_t *bin, size_t n_bins);

#endif
