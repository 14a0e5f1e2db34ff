/* Adam: stochastic descent whose steps are scaled by running moments of the gradient. */
#ifndef DNI_ADAM_H
#define DNI_ADAM_H

#include "optimize/solver.h"

/* Settings of Adam. Rows are numbered 0 … n_rows − 1; only `batch` interprets the numbers. */
struct dni_adam_settings {
    size_t max_passes;
    size_t n_rows;     /* at least 1 */
    size_t batch_rows; /* at least 1; the last batch of a pass has the remaining rows */
    double rate;       /* η: a step changes a variable by at most about η */
    bool linear_decay; /* η decreases linearly, to 0 at the end of max_passes */
    uint64_t seed, stream;
    /* gradient [n] ← an estimate of ∇f(x) from the rows order[0 … n_rows − 1]. The mean of the
     * estimates over all batches is ∇f(x). The callback may start tasks with `run`. */
    dn_status (*batch)(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                       const double *x, double *gradient, dn_error *err);
};

/* Minimises the objective from x [n]. x becomes the iterate at the end of the last pass. The
 * objective is evaluated and `accepted` is called at the start and after each pass. The objective
 * may increase in a pass; `accepted` can save the best x. The stop function of `run` is polled
 * before each batch. objective->l1 must be NULL. DN_ERR_NUMERIC: a value is not finite; the
 * message names the pass. */
DN_MUST_USE dn_status dni_adam(const dni_objective *objective, const dn_run *run,
                               const dni_adam_settings *settings, double *x, dni_outcome *out,
                               dn_error *err);

#endif
