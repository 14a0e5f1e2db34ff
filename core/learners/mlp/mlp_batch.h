/* The gradient of a mini-batch, whose rows may be any training rows. */
#ifndef DNI_MLP_BATCH_H
#define DNI_MLP_BATCH_H

#include "learners/mlp/mlp_loss.h"

typedef struct dni_mlp_batch {
    const dni_mlp_loss *loss;
    /* for all rows: */
    dn_matrix *blocks; /* [n_blocks] */
    double *target;    /* [n_rows] class indices */
    double *weight;    /* [n_rows] 0 for validation rows */
    size_t *row;       /* [n_used] the training rows with a weight above 0 */
    size_t n_used;
    /* for the current batch: */
    size_t max_rows;         /* rows of the largest batch */
    size_t n_rows, n_tiles;  /* number of rows and of tiles of the batch */
    const size_t *order;     /* [n_rows] indices into `row` */
    double *w;               /* [n] network weights */
    double *gradient;        /* [n] output array of the caller */
    double *x;               /* [max_rows × n_cols] copy of the rows; NULL if they are sparse */
    double *outputs, *delta; /* [max_rows × n_units] one tile after another, as in dni_mlp_loss */
    void *batch_memory, *row_memory;
} dni_mlp_batch;

/* Prepares batches of at most batch_rows rows. The rows must be in memory: pointers to their blocks
 * are kept until dni_mlp_batch_done.
 *
 *   batch       the caller releases it with dni_mlp_batch_done, also after a failure
 *   loss        initialised by dni_mlp_loss_init; borrowed. Batches overwrite loss->w
 *   batch_rows  >= 1
 *
 * Errors: those of dn_run_alloc, dn_run_stop and dn_rows_block. */
DN_MUST_USE dn_status dni_mlp_batch_init(dni_mlp_batch *batch, const dni_mlp_loss *loss,
                                         size_t batch_rows, dn_error *err);
void dni_mlp_batch_done(dni_mlp_batch *batch);
/* Bytes of working memory that batches of at most batch_rows rows need. */
double dni_mlp_batch_memory(const dni_layers *layers, size_t n_rows, size_t batch_rows,
                            bool sparse);

/* Implements dni_adam_settings.batch: computes the gradient of one batch.
 *
 *   ctx       the dni_mlp_batch
 *   order     [n_rows] indices into the batch's `row`, n_rows <= max_rows
 *   x         [n] standardised weights
 *   gradient  [n] derivatives by the standardised weights; the mean over the batches of a pass is
 *             ∇f(x) */
dn_status dni_mlp_batch_gradient(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                                 const double *x, double *gradient, dn_error *err);

#endif
