/* The run of one fit among several: its memory, stop, clock and threads are those of the whole run;
 * its progress is a part of the progress of the whole. */
#ifndef DNI_SHARE_H
#define DNI_SHARE_H

#include <discern/run.h>

typedef struct dni_share {
    dn_run run; /* for the fit; may be copied, its ctx is the share */
    const dn_run *whole;
    size_t i, n;       /* number of the fit, and of all fits */
    size_t fold;       /* for dn_progress.fold; 0: that of the whole run */
    bool machine;      /* one of several machines of a model: iteration numbers continue, and
                          reports have no weights */
    size_t iterations; /* iterations of the machines before this one */
} dni_share;

/* Prepares the run of fit i of n, all of equal duration. `share` must not move while the run is
 * used. */
void dni_share_init(dni_share *share, const dn_run *whole, size_t i, size_t n);
/* Marks the fit as that of a fold, from 1. */
void dni_share_fold(dni_share *share, size_t fold);
/* Marks the fit as one of several machines. */
void dni_share_machine(dni_share *share, size_t iterations);

#endif
