/* Sorting, quantiles and histograms. */
#include "formats/summary/number_ranks.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x != y ? (x > y) - (x < y) : (signbit(y) != 0) - (signbit(x) != 0);
}

void number_ranks_sort(double *x, size_t n) {
    qsort(x, n, sizeof *x, ascending);
}

double number_ranks_quantile(const struct number_count *list, size_t n, int64_t total, double p) {
    const double rank = p * (double)(total - 1), below = floor(rank), share = rank - below;
    int64_t behind = list[0].count; /* number of values that are at most list[i].value */
    size_t i = 0;
    while (i + 1 < n && (double)behind <= below) {
        behind += list[++i].count;
    }
    if (share == 0 || i + 1 == n || (double)behind > below + 1) {
        return list[i].value;
    }
    /* Not computed from the difference of the two values, which may overflow. */
    return (1 - share) * list[i].value + share * list[i + 1].value;
}

void number_ranks_histogram(const struct number_count *list, size_t n, double least, double most,
                            int64_t *bin, size_t n_bins) {
    /* half of the width, because the width itself may overflow */
    const double width = most / 2 - least / 2;
    for (size_t b = 0; b < n_bins; b++) {
        bin[b] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        const double at = (list[i].value / 2 - least / 2) / width * (double)n_bins;
        const size_t b = at > 0 ? (size_t)at : 0; /* `at` is NaN if `width` is 0 */
        bin[b < n_bins ? b : n_bins - 1] += list[i].count;
    }
}
