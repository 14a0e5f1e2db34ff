/* The run that is passed to one of several fits. Memory, stop function, clock and threads are those
 * of the whole run; the progress of the fit is reported as a part of the progress of the whole
 * run. */
#ifndef DNI_SHARE_H
#define DNI_SHARE_H

#include <discern/run.h>

typedef struct dni_share {
    dn_run run; /* the run to pass to the fit; may be copied; its ctx points to this struct */
    const dn_run *whole;
    size_t i, n;       /* index of the fit; number of fits */
    size_t fold;       /* reported as dn_progress.fold; 0: the fold of the whole run is reported */
    bool machine;      /* true: the fit is one of several machines of a model; iteration numbers
                        * continue from machine to machine, and reports have no weights */
    size_t iterations; /* number of iterations of the machines before this one */
    size_t updates;    /* number of updates that the machines before this one have reported */
    size_t reported;   /* number of the last iteration or update that this fit has reported */
} dni_share;

/* Prepares the run of fit i of n fits, which are assumed to take equal time. `share` must not move
 * while the run is used. */
void dni_share_init(dni_share *share, const dn_run *whole, size_t i, size_t n);
/* Sets the number of the fold that the fit belongs to, from 1. */
void dni_share_fold(dni_share *share, size_t fold);
/* Sets that the fit is one of several machines. iterations, updates: the totals of the machines
 * before it. */
void dni_share_machine(dni_share *share, size_t iterations, size_t updates);

#endif
