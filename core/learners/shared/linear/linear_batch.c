/* A step of stochastic gradient descent on some rows of a block.
 *
 *   w ← (1 − 2·rate·λ·Σv) w − rate·Σ v ∂ℓ/∂w
 *
 * Dense rows are copied to consecutive memory and multiplied as a matrix.
 *
 * A step on sparse rows reads and writes only the weights of columns that have an entry in the
 * rows. It computes all scores, then decays all weights by one multiplication of their common
 * factor, then subtracts the gradient entry by entry. l1 is applied to a weight when the weight is
 * next read (optimize/lazy.h). A penalised intercept is treated as the weight of an entry 1 of
 * every row.
 *
 * The origin of the intercept must be 0. */
#include "learners/shared/linear/linear_problem.h"
#include "linalg/vector.h"

#include <string.h>

#define GATHERED ((size_t)1 << 18) /* maximum number of values that are copied at once: 2 MiB */

size_t dni_linear_gathered_rows(size_t width) {
    size_t n = GATHERED / width;
    return n > DNI_TILE_ROWS ? DNI_TILE_ROWS : n == 0 ? 1 : n;
}

/* Copies rows order[0 … n−1] of a block to consecutive memory, with their targets and weights. */
static dni_tile gather(const dni_linear_problem *p, const dn_block *block, const size_t *order,
                       size_t n) {
    const dni_linear_slot *slot = &p->slots[0];
    size_t d = p->width - 1;
    for (size_t i = 0; i < n; i++) {
        memcpy(p->batch + i * d, block->x.values + order[i] * block->x.stride, d * sizeof(double));
        slot->target[i] = block->target[order[i]];
        slot->weights[i] = block->weight == NULL ? 1 : block->weight[order[i]];
    }
    return (dni_tile){.x = dn_matrix_dense(p->batch, n, d),
                      .target = slot->target,
                      .weight = slot->weights};
}

dn_status dni_linear_batch(dni_linear_problem *problem, const dn_block *block, const size_t *order,
                           size_t n_rows, double rate, double *x, double *weight, dn_error *err) {
    dni_linear_problem *p = problem;
    double *sum = p->block_sums, *scores = p->slots[0].scores;
    double batch_weight = 0;
    size_t most = dni_linear_gathered_rows(p->width);
    dni_loss_sums sums = {0};
    dn_status status = dn_run_stop(p->run, err);
    if (status != DN_OK) {
        return status;
    }
    memset(sum, 0, p->n * sizeof *sum);
    for (size_t first = 0, n; first < n_rows; first += n) {
        n = n_rows - first < most ? n_rows - first : most;
        const dni_tile tile = gather(p, block, order + first, n);
        for (size_t i = 0; i < n; i++) {
            batch_weight += tile.weight[i];
        }
        dni_tile_scores(tile.x, x, p->n_scores, scores);
        p->loss->residuals(&tile, p->n_scores, scores, &sums);
        dni_tile_gradient(tile.x, scores, p->n_scores, sum);
    }
    const size_t d = p->width - 1, n_decayed = p->intercept == DNI_INTERCEPT_PENALISED ? d + 1 : d;
    double shrink = 2 * rate * p->lambda * batch_weight;
    for (size_t k = 0; k < p->n_scores; k++) {
        double *w = x + k * p->width;
        const double *g = sum + k * p->width;
        for (size_t j = 0; j < n_decayed; j++) {
            w[j] -= rate * g[j] + shrink * w[j];
        }
        w[d] -= p->intercept == DNI_INTERCEPT_FREE ? rate * g[d] : 0;
    }
    *weight = batch_weight;
    return DN_OK;
}

/* ---- sparse rows: the point is a transposed table, [d × K] weights and K intercepts ---- */
/* Adds `value` times the weights of a column to scores [K]. First applies the pending l1 steps. */
static void score_column(dni_lazy *point, size_t col, size_t K, double value, double *scores) {
    const size_t first = col * K;
    for (size_t k = 0; point->applied != NULL && k < K; k++) {
        dni_lazy_apply(point, first + k);
    }
    for (size_t k = 0; k < K; k++) {
        scores[k] += value * point->x[first + k];
    }
}

/* scores [K] ← the scores of row t. */
static void score_row(const dni_linear_problem *p, dn_matrix x, size_t t, dni_lazy *point,
                      double *scores) {
    const size_t K = p->n_scores, d = p->width - 1;
    const bool penalised = p->intercept == DNI_INTERCEPT_PENALISED;
    memset(scores, 0, K * sizeof *scores);
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        score_column(point, x.cols[e], K, x.values[e], scores);
    }
    if (penalised) {
        score_column(point, d, K, 1, scores);
    }
    for (size_t k = 0; k < K; k++) {
        scores[k] = point->scale * scores[k] + (penalised ? 0 : point->x[d * K + k]);
    }
}

/* weights ← weights − (rate/scale)·residual [K] ⊗ the entries of row t; intercepts ← intercepts −
 * rate·residual. */
static void step_row(const dni_linear_problem *p, dn_matrix x, size_t t, const double *residual,
                     double rate, dni_lazy *point) {
    size_t K = p->n_scores;
    double step = rate / point->scale, *intercept = point->x + (p->width - 1) * K;
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        dni_axpy(-step * x.values[e], residual, point->x + x.cols[e] * K, K);
    }
    const double factor = p->intercept == DNI_INTERCEPT_FREE        ? rate
                          : p->intercept == DNI_INTERCEPT_PENALISED ? step
                                                                    : 0;
    for (size_t k = 0; k < K; k++) {
        intercept[k] -= factor * residual[k];
    }
}

dn_status dni_linear_batch_lazily(dni_linear_problem *problem, const dn_block *block,
                                  const size_t *order, size_t n_rows, double rate, dni_lazy *point,
                                  dn_error *err) {
    dni_linear_problem *p = problem;
    size_t K = p->n_scores;
    double weight = 0;
    dni_loss_sums sums = {0};
    dn_status status = dn_run_stop(p->run, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < n_rows; i++) {
        size_t t = order[i];
        const dni_tile row = {.x = dn_matrix_rows(block->x, t, 1),
                              .target = block->target + t,
                              .weight = block->weight == NULL ? dni_tile_ones : block->weight + t};
        score_row(p, block->x, t, point, p->batch + i * K);
        p->loss->residuals(&row, K, p->batch + i * K, &sums);
        weight += *row.weight;
    }
    dni_lazy_decay(point, 1 - 2 * rate * p->lambda * weight);
    for (size_t i = 0; i < n_rows; i++) {
        step_row(p, block->x, order[i], p->batch + i * K, rate, point);
    }
    point->accrued += rate * weight / point->scale;
    return DN_OK;
}
