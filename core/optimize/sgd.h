/* Stochastic gradient descent in mini-batches over rows that may be streamed. */
#ifndef DNI_OPTIMIZE_SGD_H
#define DNI_OPTIMIZE_SGD_H

#include "optimize/objective.h"
#include <discern/rows.h>

/* How to go through the rows. */
typedef struct dni_sgd_settings {
    size_t max_passes;
    size_t batch_rows; /* 1 … DN_BLOCK_ROWS; batches do not cross blocks */
    double rate;       /* the first learning rate; multiplies a batch's sum */
    uint64_t seed;
    /* x ← x − rate·(gradient of the sum of the batch's terms, without l1): the rows order[0 … n_rows-1] of the block. *weight: Σv of the batch. */
    dn_status (*step)(void *ctx, const dn_block *block, const size_t *order, size_t n_rows, double rate, double *x, double *weight,
                      dn_error *err);
} dni_sgd_settings;

/* Minimises from x [n], which becomes the answer: the best of the points between passes. The objective judges each pass's end. Knows l1, of a mean over the rows
 * as the objective is: a batch of weight v owes v times it. */
DN_MUST_USE dn_status dni_sgd(const dni_objective *objective, const dn_rows *rows, const dn_run *run, const dni_sgd_settings *settings,
                              double *x, dni_outcome *out, dn_error *err);

#endif
