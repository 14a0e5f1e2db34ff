/* Sorting numbers. Private to formats. */
#ifndef FORMATS_NUMBER_SORT_H
#define FORMATS_NUMBER_SORT_H

#include <stddef.h>

/* Sorts x[n], none of them NaN, in ascending order; room: [n]. Stable: 0 and -0 keep their order.
 * O(n log n); O(n) if x is sorted already. */
void number_sort(double *x, size_t n, double *room);

#endif
