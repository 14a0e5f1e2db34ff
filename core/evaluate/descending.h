/* Sorting scores together with the numbers of their rows. */
#ifndef DNI_DESCENDING_H
#define DNI_DESCENDING_H

#include <discern/run.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers without NaN, and what goes with each. */
typedef struct dni_pairs {
    double *key;
    uint32_t *row;
} dni_pairs;

/* Sorts n pairs by key, the greatest first; equal keys stay in their order. `room` holds n pairs of scratch. O(n log n); polls the run's stop, the only failure. */
DN_MUST_USE dn_status dni_sort_descending(dni_pairs pairs, size_t n, dni_pairs room,
                                          const dn_run *run, dn_error *err);

#endif
