/* The largest contributions to one score. */
#ifndef FORMATS_TOP_CONTRIBUTIONS_H
#define FORMATS_TOP_CONTRIBUTIONS_H

#include <stddef.h>

/* out [top] ← the indices of the `top` numbers of x [n] with the largest absolute values, the
 * largest first; of equal ones the first. top <= n. A number that is not finite counts as the
 * largest. Returns the sum of the other numbers. Cost: O(n) comparisons if few numbers are large,
 * otherwise O(n · top). */
double top_contributions(const double *x, size_t n, size_t top, size_t *out);

#endif
