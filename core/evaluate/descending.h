/* Sorts scores together with their row numbers. */
#ifndef DNI_DESCENDING_H
#define DNI_DESCENDING_H

#include <discern/run.h>
#include <stddef.h>
#include <stdint.h>

/* Pairs of a key, which is not NaN, and a row number. */
typedef struct dni_pairs {
    double *key;
    uint32_t *row;
} dni_pairs;

/* Sorts n pairs by descending key; stable. `scratch` has n pairs. O(n log n).
 * DN_ERR_STOPPED, DN_ERR_TIME. */
DN_MUST_USE dn_status dni_sort_descending(dni_pairs pairs, size_t n, dni_pairs scratch,
                                          const dn_run *run, dn_error *err);

#endif
