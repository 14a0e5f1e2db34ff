/* Stochastic gradient descent in mini-batches over rows that may be streamed. */
#ifndef DNI_SGD_H
#define DNI_SGD_H

#include "optimize/lazy.h"
#include "optimize/objective.h"
#include <discern/rows.h>

/* How to go through the rows. */
typedef struct dni_sgd_settings {
    size_t max_passes;
    size_t batch_rows; /* 1 … DN_BLOCK_ROWS; batches do not cross blocks, nor pieces of them */
    double rate;       /* the first learning rate; multiplies a batch's sum */
    double
        decay; /* a batch of weight v multiplies the variables that l1 holds by 1 − rate·decay·v: 2λ of an L2 penalty */
    uint64_t seed;
    /* x ← (1 − rate·decay·v)x − rate·(gradient of the sum of the batch's losses): the rows order[0 … n_rows-1] of the block. *weight: v, the batch's. NULL: step_lazily. */
    dn_status (*step)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                      double rate, double *x, double *weight, dn_error *err);
    /* The same on variables that are looked at only where the rows have entries, for sparse rows. They may lie in another order while a pass lasts: those held back
     * by the penalty first, all by the same l1. Looks are dni_lazy_settle, the decay dni_lazy_decay, and `due` grows by rate·v/scale. */
    dn_status (*step_lazily)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                             double rate, dni_lazy *point, dn_error *err);
    size_t n_held;                                                /* of them */
    void (*lay_out)(void *ctx, const double *x, double *ordered); /* x as step_lazily wants it … */
    void (*read_back)(void *ctx, const double *ordered, double *x); /* … and back */
} dni_sgd_settings;

/* Minimises from x [n], which becomes the answer: the best of the points between passes. The objective judges each pass's end. Knows l1, of a mean over the rows
 * as the objective is: a batch of weight v owes v times it. */
DN_MUST_USE dn_status dni_sgd(const dni_objective *objective, const dn_rows *rows,
                              const dn_run *run, const dni_sgd_settings *settings, double *x,
                              dni_outcome *out, dn_error *err);

#endif
