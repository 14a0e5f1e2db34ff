/* A step of stochastic descent on some rows of a block, w ← w − rate·Σ v ∂ℓ/∂w − 2·rate·λ(Σv)w, and what its learning rate has to know of the weights. */
#include "learners/logistic_loss.h"
#include "linalg/tile.h"

#include <string.h>

/* Rows order[0 … n-1] of a block side by side, with their targets and weights. */
static dn_block gather(const dni_logistic *loss, const dn_block *block, const size_t *order, size_t n) {
    dni_logistic_slot *slot = &loss->slots[0];
    size_t d = loss->width - 1;
    for (size_t i = 0; i < n; i++) {
        memcpy(slot->z + i * d, block->x.values + order[i] * block->x.stride, d * sizeof(double));
        slot->target[i] = block->target[order[i]];
        slot->weights[i] = block->weight == NULL ? 1 : block->weight[order[i]];
    }
    return (dn_block){.x = dn_matrix_dense(slot->z, n, d), .target = slot->target, .weight = slot->weights};
}

dn_status dni_logistic_batch(dni_logistic *loss, const dn_block *block, const size_t *order, size_t n_rows, double rate, double *x,
                             double *weight, dn_error *err) {
    double *sum = loss->sums + 3, *scores = loss->slots[0].scores;
    double batch_weight = 0;
    dni_logistic_tally tally = {0};
    dn_status status = dn_run_stop(loss->run, err);
    if (status != DN_OK)
        return status;
    dni_logistic_set_table(loss, x, loss->table);
    memset(sum, 0, loss->n * sizeof *sum);
    for (size_t first = 0; first < n_rows;) {
        size_t n = loss->sparse ? 1 : n_rows - first < DNI_TILE_ROWS ? n_rows - first : DNI_TILE_ROWS;
        dn_block tile;
        if (loss->sparse) {
            size_t row = order[first];
            tile = (dn_block){.x = dn_matrix_rows(block->x, row, 1),
                              .target = block->target + row,
                              .weight = block->weight == NULL ? NULL : block->weight + row};
        } else {
            tile = gather(loss, block, order + first, n);
        }
        for (size_t i = 0; i < n; i++)
            batch_weight += tile.weight == NULL ? 1 : tile.weight[i];
        dni_tile_scores(tile.x, loss->table, loss->n_scores, scores);
        dni_logistic_residuals(loss, &tile, scores, &tally);
        dni_tile_gradient(tile.x, scores, loss->n_scores, sum);
        first += n;
    }
    if (loss->sparse) {
        dni_transpose(sum, loss->width, loss->n_scores, loss->gradient);
        sum = loss->gradient;
    }
    size_t d = loss->width - 1;
    double shrink = 2 * rate * loss->lambda * batch_weight;
    for (size_t k = 0; k < loss->n_scores; k++) {
        double *w = x + k * loss->width;
        const double *g = sum + k * loss->width;
        for (size_t j = 0; j < d; j++)
            w[j] -= rate * g[j] + shrink * w[j];
        w[d] -= rate * g[d];
    }
    *weight = batch_weight;
    return DN_OK;
}

/* out[0] += Σv², out[1] += Σv */
static dn_status weigh_block(void *arg, const dn_block *block, size_t slot, double *out, dn_error *err) {
    (void)arg;
    (void)slot;
    (void)err;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        double v = block->weight == NULL ? 1 : block->weight[t];
        out[0] += v * v;
        out[1] += v;
    }
    return DN_OK;
}

dn_status dni_logistic_typical_weight(dni_logistic *loss, const dn_run *run, double *out, dn_error *err) {
    double sums[2];
    dn_status status = dn_run_sum(run, loss->rows, weigh_block, loss, 2, sums, err);
    if (status == DN_OK)
        *out = sums[0] / sums[1];
    return status;
}
