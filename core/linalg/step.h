/* The number of operations between two polls of the run's stop function. */
#ifndef DNI_STEP_H
#define DNI_STEP_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Floating-point operations between two polls of dn_run_stop: about 0.1 s of matrix products on a
 * slow core. */
#define DNI_STEP_FLOPS 2e9

/* Returns the number of rows to process between two polls, out of n rows with `flops` operations
 * each. At least `least` (at most n), because matrix products of fewer rows are inefficient. */
static inline size_t dni_step_rows(size_t n, double flops, size_t least) {
    double rows = DNI_STEP_FLOPS / flops;
    if (rows >= (double)n) {
        return n;
    }
    return rows > (double)least ? (size_t)rows : least < n ? least : n;
}

/* Operations between two polls in loops without matrix products: about 10 ms. */
#define DNI_PACE_FLOPS 1e7

/* Counts operations, so that a loop need not poll at every row. Initialised with {.run = run}. */
typedef struct dni_pace {
    const dn_run *run;
    double flops; /* number of operations since the last poll */
} dni_pace;

/* Adds `flops` operations; polls the run's stop function every DNI_PACE_FLOPS operations. */
DN_MUST_USE static inline dn_status dni_pace_poll(dni_pace *pace, double flops, dn_error *err) {
    pace->flops += flops;
    if (pace->flops < DNI_PACE_FLOPS) {
        return DN_OK;
    }
    pace->flops = 0;
    return dn_run_stop(pace->run, err);
}

#endif
