/* A step of stochastic descent on some rows of a block, w ← (1 − 2·rate·λ·Σv) w − rate·Σ v ∂ℓ/∂w, and what its learning rate has to know of the weights.
 *
 * Dense rows are gathered and go through matrix products. Of sparse rows only the weights of their entries are looked at, which wait for decay and l1 in a dni_lazy:
 * scores of all rows first, then the decay of everything, then the entries' steps. */
#include "learners/logistic/logistic_loss.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <string.h>

#define GATHERED ((size_t)1 << 18) /* numbers of gathered rows at most: what stays in a cache */

size_t dni_logistic_gathered_rows(size_t width) {
    size_t n = GATHERED / width;
    return n > DNI_TILE_ROWS ? DNI_TILE_ROWS : n == 0 ? 1 : n;
}

/* Rows order[0 … n-1] of a block side by side, with their targets and weights. */
static dn_block gather(const dni_logistic *loss, const dn_block *block, const size_t *order,
                       size_t n) {
    dni_logistic_slot *slot = &loss->slots[0];
    size_t d = loss->width - 1;
    for (size_t i = 0; i < n; i++) {
        memcpy(loss->batch + i * d, block->x.values + order[i] * block->x.stride,
               d * sizeof(double));
        slot->target[i] = block->target[order[i]];
        slot->weights[i] = block->weight == NULL ? 1 : block->weight[order[i]];
    }
    return (dn_block){.x = dn_matrix_dense(loss->batch, n, d),
                      .target = slot->target,
                      .weight = slot->weights};
}

dn_status dni_logistic_batch(dni_logistic *loss, const dn_block *block, const size_t *order,
                             size_t n_rows, double rate, double *x, double *weight, dn_error *err) {
    double *sum = loss->sums + 3, *scores = loss->slots[0].scores;
    double batch_weight = 0;
    size_t most = dni_logistic_gathered_rows(loss->width);
    dni_logistic_tally tally = {0};
    dn_status status = dn_run_stop(loss->run, err);
    if (status != DN_OK) {
        return status;
    }
    memset(sum, 0, loss->n * sizeof *sum);
    for (size_t first = 0, n; first < n_rows; first += n) {
        n = n_rows - first < most ? n_rows - first : most;
        dn_block tile = gather(loss, block, order + first, n);
        for (size_t i = 0; i < n; i++) {
            batch_weight += tile.weight[i];
        }
        dni_tile_scores(tile.x, x, loss->n_scores, scores);
        dni_logistic_residuals(loss, &tile, scores, &tally);
        dni_tile_gradient(tile.x, scores, loss->n_scores, sum);
    }
    size_t d = loss->width - 1;
    double shrink = 2 * rate * loss->lambda * batch_weight;
    for (size_t k = 0; k < loss->n_scores; k++) {
        double *w = x + k * loss->width;
        const double *g = sum + k * loss->width;
        for (size_t j = 0; j < d; j++) {
            w[j] -= rate * g[j] + shrink * w[j];
        }
        w[d] -= rate * g[d];
    }
    *weight = batch_weight;
    return DN_OK;
}

/* ---- sparse rows: the point is the transposed table of tile.h, [d × K] weights and K intercepts ---- */
/* The entries' weights pay what they owe; scores [K] of row t. */
static void score_row(const dni_logistic *loss, dn_matrix x, size_t t, dni_lazy *point,
                      double *scores) {
    size_t K = loss->n_scores;
    const double *intercept = point->x + point->n_held;
    memset(scores, 0, K * sizeof *scores);
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        size_t first = x.cols[e] * K;
        for (size_t k = 0; point->paid != NULL && k < K; k++) {
            dni_lazy_settle(point, first + k);
        }
        for (size_t k = 0; k < K; k++) {
            scores[k] += x.values[e] * point->x[first + k];
        }
    }
    for (size_t k = 0; k < K; k++) {
        scores[k] = point->scale * scores[k] + intercept[k];
    }
}

/* x ← x − step/scale·residual [K] ⊗ the row's entries; intercepts have no scale. */
static void step_row(const dni_logistic *loss, dn_matrix x, size_t t, const double *residual,
                     double rate, dni_lazy *point) {
    size_t K = loss->n_scores;
    double step = rate / point->scale, *intercept = point->x + point->n_held;
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        dni_axpy(-step * x.values[e], residual, point->x + x.cols[e] * K, K);
    }
    for (size_t k = 0; k < K; k++) {
        intercept[k] -= rate * residual[k];
    }
}

dn_status dni_logistic_batch_lazily(dni_logistic *loss, const dn_block *block, const size_t *order,
                                    size_t n_rows, double rate, dni_lazy *point, dn_error *err) {
    size_t K = loss->n_scores;
    double weight = 0;
    dni_logistic_tally tally = {0};
    dn_status status = dn_run_stop(loss->run, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < n_rows; i++) {
        size_t t = order[i];
        dn_block row = {.x = dn_matrix_rows(block->x, t, 1),
                        .target = block->target + t,
                        .weight = block->weight == NULL ? NULL : block->weight + t};
        score_row(loss, block->x, t, point, loss->batch + i * K);
        dni_logistic_residuals(loss, &row, loss->batch + i * K, &tally);
        weight += row.weight == NULL ? 1 : *row.weight;
    }
    dni_lazy_decay(point, 1 - 2 * rate * loss->lambda * weight);
    for (size_t i = 0; i < n_rows; i++) {
        step_row(loss, block->x, order[i], loss->batch + i * K, rate, point);
    }
    point->due += rate * weight / point->scale;
    return DN_OK;
}

/* out[0] += Σv², out[1] += Σv */
static dn_status weigh_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
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

dn_status dni_logistic_typical_weight(dni_logistic *loss, const dn_run *run, double *out,
                                      dn_error *err) {
    double sums[2];
    dn_status status =
        dn_run_sum(run, loss->rows, &(dn_sum){.fn = weigh_block, .n_out = 2}, sums, err);
    if (status == DN_OK) {
        *out = sums[0] / sums[1];
    }
    return status;
}
