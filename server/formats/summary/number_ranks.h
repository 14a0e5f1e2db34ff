/* Sorting numbers; quantiles and histograms of sorted numbers with counts. Private to formats. */
#ifndef FORMATS_NUMBER_RANKS_H
#define FORMATS_NUMBER_RANKS_H

#include "formats/summary/number_tally.h"

/* Sorts x[n], none of them NaN, in ascending order, -0 before 0. */
void number_ranks_sort(double *x, size_t n);
/* Returns the quantile p of `total` > 0 numbers, interpolated linearly (type 7 of Hyndman and Fan
 * 1996, the default of R, NumPy and pandas). list: ascending; the sum of its counts is `total`. */
double number_ranks_quantile(const struct number_count *list, size_t n, int64_t total, double p);
/* Counts the numbers in each of n_bins bins of equal width from `least` to `most`, which must
 * differ. A number on a border is counted in the bin above it; `most` is counted in the last
 * bin. */
void number_ranks_histogram(const struct number_count *list, size_t n, double least, double most,
                            int64_t *bin, size_t n_bins);

#endif
