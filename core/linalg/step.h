/* How long a computation may go on without looking at the run's stop flag, in arithmetic instead of time. */
#ifndef DNI_STEP_H
#define DNI_STEP_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Floating point operations between two polls of dn_run_stop: some 0.1 s of one slow core in matrix products. */
#define DNI_STEP_FLOPS 2e9

/* How many of n rows of `flops` each make one step; at least `least`, the fewest that a matrix product is worth. */
static inline size_t dni_step_rows(size_t n, double flops, size_t least) {
    double rows = DNI_STEP_FLOPS / flops;
    if (rows >= (double)n) {
        return n;
    }
    return rows > (double)least ? (size_t)rows : least < n ? least : n;
}

/* Operations between two polls of a loop that is no matrix product: some 10 ms. */
#define DNI_PACE_FLOPS 1e7

/* Counts what such a loop does, so that one over narrow rows need not poll at each of them. {.run = run} */
typedef struct dni_pace {
    const dn_run *run;
    double flops; /* since the last poll */
} dni_pace;

/* After `flops` more operations. */
DN_MUST_USE static inline dn_status dni_pace_poll(dni_pace *pace, double flops, dn_error *err) {
    pace->flops += flops;
    if (pace->flops < DNI_PACE_FLOPS) {
        return DN_OK;
    }
    pace->flops = 0;
    return dn_run_stop(pace->run, err);
}

#endif
