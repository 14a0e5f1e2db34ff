/* A network's objective over all rows: a pass forward and backward, tile by tile, summed over the blocks. */
#include "learners/mlp/mlp_loss.h"
#include "linalg/layer.h"
#include "linalg/step.h"
#include "linalg/tile.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* ---- life ---- */
/* Rows of a tile: fewer where those of DNI_TILE_ROWS would take long. A function of the shape alone. */
static size_t tile_rows(const dni_layers *layers) {
    return dni_step_rows(DNI_TILE_ROWS, 6 * (double)dni_layers_numbers(layers), 16);
}

double dni_mlp_memory(const dni_layers *layers, size_t n_rows, size_t batch_rows, size_t n_slots) {
    const double n = (double)dni_layers_numbers(layers), d = (double)layers->n_inputs,
                 units = (double)dni_layers_units(layers);
    const double slot = 16 * (double)tile_rows(layers) * units + (double)sizeof(dni_mlp_slot);
    return 8 * (3 * n + d + DNI_MLP_SUMS) + (double)n_slots * slot +
           (batch_rows > 0 ? dni_mlp_batch_memory(layers, n_rows, batch_rows) : 0) +
           dn_run_sum_memory(n_rows, n_slots, n + DNI_MLP_SUMS);
}

static dn_status get_memory(dni_mlp *loss, const dn_run *run, dn_error *err) {
    const size_t d = loss->rows->n_cols, tile = loss->tile_rows * loss->n_units;
    void *memory = NULL;
    dn_status status = dn_run_alloc(run, 3 * loss->n + d + DNI_MLP_SUMS, sizeof(double),
                                    "the weights of the network", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    loss->memory = memory;
    loss->stated = memory;
    loss->gradient = loss->stated + loss->n;
    loss->sums = loss->gradient + loss->n;
    loss->scale = loss->sums + DNI_MLP_SUMS + loss->n;
    status =
        dn_run_alloc(run, run->n_slots, sizeof *loss->slots, "the tiles of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    loss->slots = memory;
    status = dn_run_alloc(run, 2 * tile * run->n_slots, sizeof(double),
                          "what the units say of a tile of rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    loss->slot_memory = memory;
    for (size_t i = 0; i < run->n_slots; i++) {
        loss->slots[i].says = (double *)memory + 2 * tile * i;
        loss->slots[i].delta = loss->slots[i].says + tile;
    }
    return DN_OK;
}

/* out[0] += Σv of the rows learned from, out[1] += of those aside */
static dn_status weigh_block(void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const dni_mlp *loss = arg;
    (void)slot;
    (void)err;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        out[loss->aside != NULL && loss->aside[block->first_row + t]] +=
            block->weight == NULL ? 1 : block->weight[t];
    }
    return DN_OK;
}

dn_status dni_mlp_init(dni_mlp *loss, const dn_rows *rows, size_t n_classes,
                       const dni_layers *layers, double lambda, const dni_moments *moments,
                       const bool *aside, size_t batch_rows, const dn_run *run, dn_error *err) {
    double weights[2];
    *loss = (dni_mlp){.run = run,
                      .rows = rows,
                      .layers = *layers,
                      .n_classes = n_classes,
                      .n_scores = n_classes == 2 ? 1 : n_classes,
                      .n = dni_layers_numbers(layers),
                      .n_first = layers->n_inputs * layers->units[0],
                      .n_units = dni_layers_units(layers),
                      .sparse = moments->sparse,
                      .lambda = lambda,
                      .shift = moments->mean,
                      .aside = aside,
                      .tile_rows = tile_rows(layers)};
    if (loss->n > SIZE_MAX / 256) {
        return dn_error_set(
            err, DN_ERR_MEMORY,
            "the weights of the layers over %zu features are more than can be addressed",
            layers->n_inputs);
    }
    dn_status status = get_memory(loss, run, err);
    if (status == DN_OK) {
        status = dn_run_sum(run, rows, weigh_block, loss, 2, weights, err);
    }
    if (status != DN_OK) {
        return status;
    }
    loss->weight = weights[0];
    loss->aside_weight = weights[1];
    for (size_t j = 0; j < rows->n_cols; j++) {
        loss->scale[j] = moments->deviation[j] > 0 ? moments->deviation[j] : (double)INFINITY;
    }
    return batch_rows > 0 ? dni_mlp_batch_init(loss, batch_rows, run, err) : DN_OK;
}

void dni_mlp_done(dni_mlp *loss, const dn_run *run) {
    dn_run_free(run, loss->row_memory);
    dn_run_free(run, loss->batch_memory);
    dn_run_free(run, loss->slot_memory);
    dn_run_free(run, loss->slots);
    dn_run_free(run, loss->memory);
    *loss = (dni_mlp){0};
}

/* ---- variables ---- */
void dni_mlp_state(const dni_mlp *loss, const double *x, double *stated) {
    const size_t units = loss->layers.units[0], d = loss->rows->n_cols;
    double *bias = stated + loss->n_first;
    memcpy(bias, x + loss->n_first, (loss->n - loss->n_first) * sizeof *x);
    for (size_t j = 0; j < d; j++) {
        const double s = 1 / loss->scale[j];
        for (size_t k = 0; k < units; k++) {
            stated[j * units + k] = x[j * units + k] * s;
        }
        dni_axpy(-loss->shift[j], stated + j * units, bias, units);
    }
}

void dni_mlp_unstate_gradient(const dni_mlp *loss, size_t first, size_t n, double *gradient) {
    const size_t units = loss->layers.units[0];
    const double *bias = gradient + loss->n_first;
    for (size_t j = first; j < first + n; j++) {
        const double s = 1 / loss->scale[j], m = loss->shift[j];
        for (size_t k = 0; k < units; k++) {
            gradient[j * units + k] = (gradient[j * units + k] - m * bias[k]) * s;
        }
    }
}

/* Adds λ Σ w² of the stated weights; biases are free. */
static double penalise(const dni_mlp *loss, const double *w, double *gradient) {
    double sum = 0;
    for (size_t l = 0, at = 0; l < loss->layers.n_layers; l++) {
        const size_t units = loss->layers.units[l],
                     weights = dni_layers_inputs(&loss->layers, l) * units;
        sum += dni_dot(w + at, w + at, weights);
        dni_axpy(2 * loss->lambda, w + at, gradient + at, weights);
        at += weights + units;
    }
    return loss->lambda * sum;
}

/* ---- a pass ---- */
/* Two kinds of rows share a tile: those aside tell their loss and nothing else. `v` [n] ← weights with 0 for those of the other kind. */
static void choose(const dni_mlp *loss, const dn_block *block, size_t first, size_t n, bool aside,
                   double *v) {
    for (size_t t = 0; t < n; t++) {
        const bool own = loss->aside == NULL || loss->aside[block->first_row + first + t] == aside;
        v[t] = !own ? 0 : block->weight == NULL ? 1 : block->weight[first + t];
    }
}

static dn_status pass_tile(const dni_mlp *loss, const dn_block *block, size_t first, size_t n,
                           const dni_mlp_slot *slot, double *out, dn_error *err) {
    const dni_layers *layers = &loss->layers;
    const size_t last = n * (loss->n_units - loss->n_scores);
    const double *target = block->target + first;
    dn_matrix x = dn_matrix_rows(block->x, first, n);
    double v[DNI_TILE_ROWS];
    dni_mlp_tally own = {0}, aside = {0};
    dn_status status = dni_layers_forward(layers, loss->stated, x, loss->run, slot->says, err);
    if (status != DN_OK) {
        return status;
    }
    if (loss->aside != NULL) {
        choose(loss, block, first, n, true, v);
        dni_mlp_residuals(loss, slot->says + last, target, v, n, slot->delta + last, &aside);
    }
    choose(loss, block, first, n, false, v);
    dni_mlp_residuals(loss, slot->says + last, target, v, n, slot->delta + last, &own);
    out[0] += own.loss;
    out[1] += own.wrong;
    out[2] += aside.loss;
    status = dni_mlp_backward(loss, loss->stated, n, slot->says, slot->delta, err);
    double *table = out + DNI_MLP_SUMS;
    const double *delta = slot->delta, *says = slot->says;
    for (size_t l = 0; status == DN_OK && l < layers->n_layers; l++) {
        const size_t units = layers->units[l];
        dni_layer_gradient(x, delta, units, table);
        table += (x.n_cols + 1) * units;
        x = dn_matrix_dense(says, n, units);
        says += n * units;
        delta += n * units;
        status = dn_run_stop(loss->run, err);
    }
    return status;
}

static dn_status pass_block(void *arg, const dn_block *block, size_t slot, double *out,
                            dn_error *err) {
    const dni_mlp *loss = arg;
    dn_status status = DN_OK;
    for (size_t first = 0; status == DN_OK && first < block->x.n_rows; first += loss->tile_rows) {
        const size_t left = block->x.n_rows - first,
                     n = left < loss->tile_rows ? left : loss->tile_rows;
        status = pass_tile(loss, block, first, n, &loss->slots[slot], out, err);
    }
    return status;
}

dn_status dni_mlp_evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                           double *gradient, dn_error *err) {
    dni_mlp *loss = ctx;
    dni_mlp_state(loss, x, loss->stated);
    dn_status status =
        dn_run_sum(run, loss->rows, pass_block, loss, DNI_MLP_SUMS + loss->n, loss->sums, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < loss->n; i++) {
        loss->gradient[i] = loss->sums[DNI_MLP_SUMS + i] / loss->weight;
    }
    *value = loss->sums[0] / loss->weight + penalise(loss, loss->stated, loss->gradient);
    loss->wrong = loss->sums[1];
    loss->aside_loss = loss->aside == NULL ? (double)NAN : loss->sums[2] / loss->aside_weight;
    memcpy(gradient, loss->gradient, loss->n * sizeof *gradient);
    dni_mlp_unstate_gradient(loss, 0, loss->rows->n_cols, gradient);
    return DN_OK;
}
