/* How long a computation may go on without looking at the run's stop flag, in arithmetic instead of time. */
#ifndef DNI_LINALG_STEP_H
#define DNI_LINALG_STEP_H

#include <stddef.h>

/* Floating point operations between two polls of dn_run_stop: some 0.1 s of one slow core in matrix products. */
#define DNI_STEP_FLOPS 2e9

/* How many of n rows of `flops` each make one step; at least `least`, the fewest that a matrix product is worth. */
static inline size_t dni_step_rows(size_t n, double flops, size_t least) {
    double rows = DNI_STEP_FLOPS / flops;
    if (rows >= (double)n)
        return n;
    return rows > (double)least ? (size_t)rows : least < n ? least : n;
}

#endif
