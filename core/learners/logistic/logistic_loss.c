/* A mean of losses over rows, and its gradient.
 *
 *   f = Σ v ℓ / Σv + λ Σ_k ‖w_k‖²,   ∂f/∂w_k = Σ v (∂ℓ/∂g_k) x / Σv + 2λw_k,   the intercept without the penalty
 *
 * One pass reads each tile of rows once: scores, residuals and gradient while it is in the cache. */
#include "learners/logistic/logistic_loss.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static size_t pairs_of(size_t n_scores) {
    return n_scores * (n_scores + 1) / 2;
}

static double slot_doubles(double n_scores, double width, unsigned uses) {
    double expanded = (uses & (DNI_LOGISTIC_HESSIAN | DNI_LOGISTIC_GRAM)) ? 2 : 0;
    double along = (uses & DNI_LOGISTIC_PRODUCT) ? n_scores : 0;
    return DNI_TILE_ROWS * (n_scores + 2 + expanded * width + along);
}

/* Of a batch: its rows gathered, or its residuals. */
static size_t batch_doubles(size_t n_scores, size_t width, bool sparse) {
    return sparse ? DN_BLOCK_ROWS * n_scores : dni_logistic_gathered_rows(width) * width;
}

double dni_logistic_memory(size_t n_rows, size_t n_cols, size_t n_classes, size_t n_slots,
                           unsigned uses) {
    double width = (double)n_cols + 1, scores = n_classes == 2 ? 1 : (double)n_classes;
    double n = width * scores, slots = (double)n_slots;
    double sum = (uses & DNI_LOGISTIC_PRODUCT) ? 3 + 2 * n : 3 + n;
    if (uses & DNI_LOGISTIC_GRAM) {
        sum = fmax(sum, width * width);
    }
    if (uses & DNI_LOGISTIC_HESSIAN) {
        sum = fmax(sum, scores * (scores + 1) / 2 * width * width);
    }
    double own = 2 * width + 6 * n + slots * slot_doubles(scores, width, uses);
    if (uses & DNI_LOGISTIC_HESSIAN) {
        own += scores * (scores + 1) / 2 * width * width;
    }
    if (uses & DNI_LOGISTIC_PRODUCT) {
        own += 3 * n;
    }
    if (uses & DNI_LOGISTIC_BATCH) {
        own += fmax(DN_BLOCK_ROWS * scores, (double)batch_doubles(1, n_cols + 1, false));
    }
    return 8 * own + dn_run_sum_memory(n_rows, n_slots, sum);
}

static dn_status init_slots(dni_logistic *loss, unsigned uses, const dn_run *run, dn_error *err) {
    bool expanded = (uses & (DNI_LOGISTIC_HESSIAN | DNI_LOGISTIC_GRAM)) != 0;
    bool along = (uses & DNI_LOGISTIC_PRODUCT) != 0;
    size_t tile = DNI_TILE_ROWS;
    size_t each = tile * (loss->n_scores + 2 + (expanded ? 2 * loss->width : 0) +
                          (along ? loss->n_scores : 0));
    void *slots, *memory;
    dn_status status = dn_run_alloc(run, loss->n_slots, sizeof *loss->slots,
                                    "the threads' work areas", &slots, err);
    if (status != DN_OK) {
        return status;
    }
    loss->slots = slots;
    if (each > SIZE_MAX / loss->n_slots) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the work areas of %zu threads are more than can be addressed",
                            loss->n_slots);
    }
    status = dn_run_alloc(run, loss->n_slots * each, sizeof(double), "the threads' tiles of rows",
                          &memory, err);
    if (status != DN_OK) {
        return status;
    }
    loss->slot_memory = memory;
    double *next = memory;
    for (size_t i = 0; i < loss->n_slots; i++, next += each) {
        dni_logistic_slot *slot = &loss->slots[i];
        slot->scores = next;
        slot->weights = slot->scores + tile * loss->n_scores;
        slot->target = slot->weights + tile;
        slot->z = expanded ? slot->target + tile : NULL;
        slot->scratch = expanded ? slot->z + tile * loss->width : NULL;
        slot->along = along ? next + each - tile * loss->n_scores : NULL;
    }
    return DN_OK;
}

static void choose_variables(dni_logistic *loss, const dni_moments *moments, bool change) {
    for (size_t j = 0; j + 1 < loss->width; j++) {
        double m = moments->mean[j], s = moments->deviation[j] > 0 ? moments->deviation[j] : 1;
        bool standardised =
            fabs(m) <= 1e-9 * s &&
            fabs(s - 1) <= 1e-9; /* already: keep the problem as stated to the last bit */
        loss->shift[j] = change && !standardised ? m : 0;
        loss->scale[j] = change && !standardised ? s : 1;
    }
}

dn_status dni_logistic_init(dni_logistic *loss, const dn_rows *rows, size_t n_classes,
                            double lambda, const dni_moments *moments, unsigned uses,
                            const dn_run *run, dn_error *err) {
    size_t width = rows->n_cols + 1, n_scores = n_classes == 2 ? 1 : n_classes;
    *loss = (dni_logistic){.run = run,
                           .rows = rows,
                           .n_classes = n_classes,
                           .n_scores = n_scores,
                           .width = width,
                           .n = n_scores * width,
                           .sparse = moments->sparse,
                           .lambda = lambda,
                           .total_weight = moments->weight,
                           .n_slots = run->n_slots};
    size_t rows_held = (uses & (DNI_LOGISTIC_HESSIAN | DNI_LOGISTIC_GRAM))
                           ? 2 * DNI_TILE_ROWS
                           : 1; /* expanded, one behind the other */
    if (width > INT_MAX / rows_held || n_scores > INT_MAX / width) {
        return dn_error_set(
            err, DN_ERR_BUDGET,
            "%zu features for %zu classes are more weights than can be computed with", rows->n_cols,
            n_classes);
    }
    void *memory;
    dn_status status = dn_run_alloc(run, 2 * rows->n_cols + 5 * loss->n + 3, sizeof(double),
                                    "the weights and the gradient", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    loss->memory = memory;
    loss->shift = memory;
    loss->scale = loss->shift + rows->n_cols;
    loss->stated = loss->scale + rows->n_cols;
    loss->gradient = loss->stated + loss->n;
    loss->table = loss->gradient + loss->n;
    loss->threshold = loss->table + loss->n;
    loss->sums = loss->threshold + loss->n;
    choose_variables(loss, moments, (uses & DNI_LOGISTIC_CHANGE) != 0);
    status = init_slots(loss, uses, run, err);
    if (status == DN_OK && (uses & DNI_LOGISTIC_PRODUCT)) {
        status = dn_run_alloc(run, 3 * loss->n, sizeof(double), "products with the Hessian",
                              &memory, err);
        loss->along = status == DN_OK ? memory : NULL;
        loss->products = status == DN_OK ? loss->along + loss->n : NULL;
    }
    if (status == DN_OK && (uses & DNI_LOGISTIC_BATCH)) {
        status = dn_run_alloc(run, batch_doubles(n_scores, width, loss->sparse), sizeof(double),
                              "the rows of a batch", &memory, err);
        loss->batch = status == DN_OK ? memory : NULL;
    }
    if (status != DN_OK || !(uses & DNI_LOGISTIC_HESSIAN)) {
        return status;
    }
    size_t pairs = pairs_of(n_scores);
    if (width > SIZE_MAX / width / pairs / sizeof(double)) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "newton's Hessian for %zu variables cannot be addressed", loss->n);
    }
    status = dn_run_alloc(run, pairs * width * width, sizeof(double), "newton's Hessian blocks",
                          &memory, err);
    if (status == DN_OK) {
        loss->hessian_sums = memory;
    }
    return status;
}

void dni_logistic_done(dni_logistic *loss, const dn_run *run) {
    dn_run_free(run, loss->hessian_sums);
    dn_run_free(run, loss->batch);
    dn_run_free(run, loss->along);
    dn_run_free(run, loss->slot_memory);
    dn_run_free(run, loss->slots);
    dn_run_free(run, loss->memory);
    *loss = (dni_logistic){0};
}

void dni_logistic_set_l1(dni_logistic *loss, double l1) {
    const double most = 1e300; /* times 0 it is 0 */
    loss->l1 = l1;
    for (size_t k = 0; k < loss->n_scores; k++) {
        for (size_t j = 0; j + 1 < loss->width; j++) {
            loss->threshold[k * loss->width + j] = fmin(l1 / loss->scale[j], most);
        }
    }
}

void dni_logistic_state(const dni_logistic *loss, const double *x, double *stated) {
    size_t width = loss->width, d = width - 1;
    for (size_t k = 0; k < loss->n_scores; k++) {
        const double *u = x + k * width;
        double *w = stated + k * width;
        double intercept = u[d];
        for (size_t j = 0; j < d; j++) {
            w[j] = u[j] / loss->scale[j];
            intercept -= w[j] * loss->shift[j];
        }
        w[d] = intercept;
    }
}

void dni_logistic_unstate(const dni_logistic *loss, const double *stated, double *x) {
    size_t width = loss->width, d = width - 1;
    for (size_t k = 0; k < loss->n_scores; k++) {
        const double *w = stated + k * width;
        double *u = x + k * width;
        double centred = w[d];
        for (size_t j = 0; j < d; j++) {
            u[j] = w[j] * loss->scale[j];
            centred += w[j] * loss->shift[j];
        }
        u[d] = centred;
    }
}

void dni_logistic_set_table(const dni_logistic *loss, const double *stated, double *table) {
    if (loss->sparse) {
        dni_transpose(stated, loss->n_scores, loss->width, table);
    } else {
        memcpy(table, stated, loss->n * sizeof *stated);
    }
}

dn_block dni_logistic_tile(const dn_block *block, size_t first) {
    size_t n = block->x.n_rows - first;
    if (n > DNI_TILE_ROWS) {
        n = DNI_TILE_ROWS;
    }
    return (dn_block){.first_row = block->first_row + first,
                      .x = dn_matrix_rows(block->x, first, n),
                      .target = block->target + first,
                      .weight = block->weight == NULL ? NULL : block->weight + first};
}

static dn_status evaluate_block(const void *arg, const dn_block *block, size_t slot, double *out,
                                dn_error *err) {
    const dni_logistic *loss = arg;
    double *scores = loss->slots[slot].scores;
    dni_logistic_tally tally = {0};
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_status status = dn_run_stop(loss->run, err);
        if (status != DN_OK) {
            return status;
        }
        dn_block tile = dni_logistic_tile(block, first);
        dni_tile_scores(tile.x, loss->table, loss->n_scores, scores);
        dni_logistic_residuals(loss, &tile, scores, &tally);
        dni_tile_gradient(tile.x, scores, loss->n_scores, out + 3);
    }
    out[0] += tally.loss;
    out[1] += tally.wrong;
    out[2] += tally.unseparated;
    return DN_OK;
}

dn_status dni_logistic_evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                                double *gradient, dn_error *err) {
    dni_logistic *loss = ctx;
    size_t width = loss->width, d = width - 1;
    dni_logistic_state(loss, x, loss->stated);
    dni_logistic_set_table(loss, loss->stated, loss->table);
    dn_status status =
        dn_run_sum(run, loss->rows, &(dn_sum){evaluate_block, loss, sizeof *loss, 3 + loss->n},
                   loss->sums, err);
    if (status != DN_OK) {
        return status;
    }
    loss->wrong = loss->sums[1];
    loss->unseparated = loss->sums[2];
    if (loss->sparse) {
        dni_transpose(loss->sums + 3, width, loss->n_scores, loss->gradient);
    } else {
        memcpy(loss->gradient, loss->sums + 3, loss->n * sizeof *gradient);
    }
    double penalty = 0;
    for (size_t k = 0; k < loss->n_scores; k++) {
        const double *w = loss->stated + k * width;
        double *g = loss->gradient + k * width, *own = gradient + k * width;
        g[d] /= loss->total_weight;
        own[d] = g[d];
        for (size_t j = 0; j < d; j++) {
            g[j] = g[j] / loss->total_weight + 2 * loss->lambda * w[j];
            own[j] = (g[j] - loss->shift[j] * g[d]) / loss->scale[j];
        }
        penalty += dni_dot(w, w, d);
    }
    *value = loss->sums[0] / loss->total_weight + (loss->lambda > 0 ? loss->lambda * penalty : 0);
    return DN_OK;
}

static dn_status count_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const dni_logistic *loss = arg;
    double *scores = loss->slots[slot].scores;
    dni_logistic_tally tally = {0};
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_status status = dn_run_stop(loss->run, err);
        if (status != DN_OK) {
            return status;
        }
        dn_block tile = dni_logistic_tile(block, first);
        dni_tile_scores(tile.x, loss->table, loss->n_scores, scores);
        dni_logistic_residuals(loss, &tile, scores, &tally);
        for (size_t t = 0; t < tile.x.n_rows; t++) {
            double own = loss->n_scores == 1 ? scores[t]
                                             : scores[t * loss->n_scores + (size_t)tile.target[t]];
            bool counts = tile.weight == NULL || tile.weight[t] > 0;
            out[0] += counts && !(fabs(own) > loss->u_floor);
        }
    }
    return DN_OK;
}

dn_status dni_logistic_count_below(dni_logistic *loss, const dn_run *run, double floor, double *out,
                                   dn_error *err) {
    loss->u_floor = floor;
    return dn_run_sum(run, loss->rows, &(dn_sum){count_block, loss, sizeof *loss, 1}, out, err);
}
