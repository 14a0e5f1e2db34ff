/* Adam: stochastic descent whose steps are scaled by running moments of the gradient. */
#ifndef DNI_ADAM_H
#define DNI_ADAM_H

#include "optimize/objective.h"

/* How to go through the rows. The objective's ctx is what knows them: here they are numbers 0 … n_rows - 1. */
typedef struct dni_adam_settings {
    size_t max_passes;
    size_t n_rows;     /* of a pass; at least 1 */
    size_t batch_rows; /* at least 1; the last batch of a pass has what is left */
    double rate;       /* η, about the most by which a variable moves in a step */
    bool fades;        /* η falls in a straight line to 0 at the end of max_passes */
    uint64_t seed, stream;
    /* gradient [n] ← what the rows order[0 … n_rows - 1] say of ∇f(x), in the mean over all batches ∇f(x) itself. May use the run's tasks. */
    dn_status (*batch)(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                       const double *x, double *gradient, dn_error *err);
} dni_adam_settings;

/* Bytes that the solver allocates. */
double dni_adam_bytes(size_t n, size_t n_rows);

/* From x [n], which becomes the last point of the last pass. After each pass, and at the start, the objective is evaluated and `accepted` judges it; steps decrease it in the mean only, so whoever
 * wants the best point keeps it there. DN_ERR_NUMERIC: a value that is not finite, with the pass. The run's stop is looked at before each batch. Does not know l1. */
DN_MUST_USE dn_status dni_adam(const dni_objective *objective, const dn_run *run,
                               const dni_adam_settings *settings, double *x, dni_outcome *out,
                               dn_error *err);

#endif
