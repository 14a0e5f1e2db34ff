/* The run of one fit among several: stop, clock, sums and memory are those of the whole; progress is a part of the whole's. */
#ifndef DNI_SHARE_H
#define DNI_SHARE_H

#include <discern/run.h>

typedef struct dni_share {
    dn_run run; /* what the fit gets; copies of it are fine, its ctx is the share */
    const dn_run *whole;
    size_t i, n; /* which fit of how many */
    size_t fold; /* as dn_progress has it; 0: the whole's */
    bool
        machine; /* one of several machines of a model: iterations are counted on, there are no snapshots */
    size_t iterations; /* of the machines before */
} dni_share;

/* Fit i of n that count the same. The share must stay where it is while its run is used. */
void dni_share_init(dni_share *share, const dn_run *whole, size_t i, size_t n);
/* … which is a fold's, counted from 1, or one of several machines. */
void dni_share_fold(dni_share *share, size_t fold);
void dni_share_machine(dni_share *share, size_t iterations);

#endif
