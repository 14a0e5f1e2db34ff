/* Adam: stochastic descent whose steps are scaled by running moments of the gradient. */
#ifndef DNI_ADAM_H
#define DNI_ADAM_H

#include "optimize/objective.h"

/* Settings of Adam. Rows are numbers 0 … n_rows − 1, which only `batch` interprets. */
typedef struct dni_adam_settings {
    size_t max_passes;
    size_t n_rows;     /* at least 1 */
    size_t batch_rows; /* at least 1; the last batch of a pass has the remaining rows */
    double rate;       /* η, about the most by which a variable moves in a step */
    bool fades;        /* η decreases linearly to 0 at the end of max_passes */
    uint64_t seed, stream;
    /* gradient [n] ← the estimate of ∇f(x) by the rows order[0 … n_rows − 1]; its mean over all
     * batches is ∇f(x). May use the run's tasks. */
    dn_status (*batch)(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                       const double *x, double *gradient, dn_error *err);
} dni_adam_settings;

/* Bytes that the solver allocates. */
double dni_adam_bytes(size_t n, size_t n_rows);

/* Minimises from x [n], which becomes the last point of the last pass. At the start and after each
 * pass the objective is evaluated and `accepted` is called. Not every pass decreases the objective;
 * the caller can keep the best point there. Polls the run's stop before each batch. The objective
 * must not have l1. DN_ERR_NUMERIC: a value is not finite; the message has the pass. */
DN_MUST_USE dn_status dni_adam(const dni_objective *objective, const dn_run *run,
                               const dni_adam_settings *settings, double *x, dni_outcome *out,
                               dn_error *err);

#endif
