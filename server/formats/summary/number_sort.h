/* Sorting numbers. Private to formats. */
#ifndef WIRE_NUMBER_SORT_H
#define WIRE_NUMBER_SORT_H

#include <stddef.h>

/* x[n] ascending, none of them NaN; room: [n]. The same numbers give the same order, 0 and -0
 * apart, which stay as they stood. O(n log n), without branches on the numbers; what is sorted
 * already is only looked at. */
void number_sort(double *x, size_t n, double *room);

#endif
