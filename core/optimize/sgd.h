/* Stochastic gradient descent in mini-batches over rows that may be streamed. */
#ifndef DNI_SGD_H
#define DNI_SGD_H

#include "optimize/lazy.h"
#include "optimize/objective.h"
#include <discern/rows.h>

/* Batches of a pass, and the step. */
typedef struct dni_sgd_settings {
    size_t max_passes;
    size_t batch_rows; /* 1 … DN_BLOCK_ROWS; a batch is within a piece of a block */
    double rate;       /* the first learning rate; multiplies a batch's sum */
    double decay;      /* 2λ of an L2 penalty: a batch of weight v multiplies the variables with l1
                     by 1 − rate·decay·v */
    uint64_t seed;
    /* x ← (1 − rate·decay·v)x − rate·(gradient of the sum of the batch's losses): the rows order[0
     * … n_rows-1] of the block. *weight: v, the batch's. NULL: step_lazily. */
    dn_status (*step)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                      double rate, double *x, double *weight, dn_error *err);
    /* The same for sparse rows; reads only the variables of their entries. During a pass the
     * variables may be in another order: those with a penalty first, all with the same l1. A step
     * calls dni_lazy_apply before it reads a variable and dni_lazy_decay, and adds rate·v/scale to
     * `due`. */
    dn_status (*step_lazily)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                             double rate, dni_lazy *point, dn_error *err);
    size_t n_held; /* number of variables with a penalty */
    void (*lay_out)(void *ctx, const double *x,
                    double *ordered); /* x in the order of step_lazily … */
    void (*read_back)(void *ctx, const double *ordered, double *x); /* … and back */
} dni_sgd_settings;

/* Minimises from x [n], which becomes the best of the points between passes. `accepted` is called
 * after each pass. l1 belongs to a mean over the rows, as the objective does: a batch of weight v
 * adds v times it. */
DN_MUST_USE dn_status dni_sgd(const dni_objective *objective, const dn_rows *rows,
                              const dn_run *run, const dni_sgd_settings *settings, double *x,
                              dni_outcome *out, dn_error *err);

#endif
