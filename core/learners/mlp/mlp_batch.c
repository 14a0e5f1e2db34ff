/* The gradient that a mini-batch tells: rows gathered from anywhere in the table.
 *
 *   ∇f ≈ (n/Σv)·mean over the batch of v ∇ℓ + 2λW
 *
 * with n rows of weight Σv in a pass, so that the mean over all batches is ∇f. Two rounds of tasks: tiles of the batch's rows, forward and backward; then panels of the gradient, each of some inputs of a
 * layer over all tiles. Both are cut by the shape alone. Rows must be in memory: their blocks are looked up once and stay (the algorithm does not stream). */
#include "base/tasks.h"
#include "learners/mlp/mlp_loss.h"
#include "linalg/layer.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <string.h>

enum { TILE = 128, LEAST_PANEL = 32, SPARSE_PANELS = 8 };
#define PANEL_FLOPS 8e6 /* of a panel, about: 0.3 ms */
#define TASK_FLOPS 4e6  /* of a batch that is worth waking threads for */

/* ---- memory ---- */
double dni_mlp_batch_memory(const dni_layers *layers, size_t n_rows, size_t batch_rows) {
    const double units = (double)dni_layers_units(layers),
                 blocks = (double)n_rows / DN_BLOCK_ROWS + 1;
    return 8 * (double)batch_rows * ((double)layers->n_inputs + 2 * units) + 24 * (double)n_rows +
           blocks * (double)sizeof(dn_matrix);
}

/* Targets, weights and rows by number. */
static dn_status look_up(dni_mlp *loss, dn_error *err) {
    dni_mlp_batch *b = &loss->batch;
    for (size_t i = 0; i < loss->rows->n_blocks; i++) {
        dn_block block;
        dn_status status = dn_run_stop(loss->run, err);
        if (status == DN_OK) {
            status = dn_rows_block(loss->rows, i, 0, &block, err);
        }
        if (status != DN_OK) {
            return status;
        }
        b->blocks[i] = block.x;
        for (size_t t = 0; t < block.x.n_rows; t++) {
            const size_t row = block.first_row + t;
            const bool aside = loss->aside != NULL && loss->aside[row];
            b->target[row] = block.target[t];
            b->weight[row] = aside ? 0 : block.weight == NULL ? 1 : block.weight[t];
            if (b->weight[row] > 0) {
                b->row[b->n_used++] = row;
            }
        }
    }
    return DN_OK;
}

dn_status dni_mlp_batch_init(dni_mlp *loss, size_t batch_rows, const dn_run *run, dn_error *err) {
    dni_mlp_batch *b = &loss->batch;
    const size_t d = loss->rows->n_cols, n_rows = loss->rows->n_rows, units = loss->n_units;
    void *memory = NULL;
    b->most = batch_rows < n_rows ? batch_rows : n_rows;
    b->tile = TILE;
    dn_status status = dn_run_alloc(run, b->most * ((loss->sparse ? 0 : d) + 2 * units),
                                    sizeof(double), "the rows of a batch", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    loss->batch_memory = memory;
    b->says = memory;
    b->delta = b->says + b->most * units;
    b->x = loss->sparse ? NULL : b->delta + b->most * units;
    const size_t blocks = loss->rows->n_blocks;
    status =
        dn_run_alloc(run,
                     blocks * sizeof(dn_matrix) + n_rows * (2 * sizeof(double) + sizeof(size_t)), 1,
                     "the rows by their number", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    loss->row_memory = memory;
    b->blocks = memory;
    b->target = (double *)(void *)(b->blocks + blocks);
    b->weight = b->target + n_rows;
    b->row = (size_t *)(void *)(b->weight + n_rows);
    return look_up(loss, err);
}

/* ---- tiles of rows ---- */
static size_t tile_rows(const dni_mlp_batch *b, size_t i) {
    const size_t first = i * b->tile;
    return b->n - first < b->tile ? b->n - first : b->tile;
}

/* Row t of the batch, a view. */
static dn_matrix row_of(const dni_mlp_batch *b, size_t t) {
    const size_t row = b->row[b->order[t]];
    return dn_matrix_rows(b->blocks[row / DN_BLOCK_ROWS], row % DN_BLOCK_ROWS, 1);
}

/* Sparse rows go one by one: nothing is gathered. What the first layer says goes where dni_layers_forward puts it. */
static dn_status forward_sparse(const dni_mlp *loss, size_t first, size_t n, double *says,
                                dn_error *err) {
    const dni_mlp_batch *b = &loss->batch;
    const size_t units = loss->layers.units[0], d = loss->rows->n_cols;
    for (size_t t = 0; t < n; t++) {
        dni_layer_forward(row_of(b, first + t), b->w, units, says + t * units);
    }
    dni_activate(loss->layers.activation, says, n * units);
    const dni_layers above = {loss->layers.activation, units, loss->layers.n_layers - 1,
                              loss->layers.units + 1};
    return dni_layers_forward(&above, b->w + (d + 1) * units, dn_matrix_dense(says, n, units),
                              loss->run, says + n * units, err);
}

static dn_status do_tile(void *arg, size_t i, size_t slot, dn_error *err) {
    const dni_mlp *loss = arg;
    const dni_mlp_batch *b = &loss->batch;
    const size_t first = i * b->tile, n = tile_rows(b, i), d = loss->rows->n_cols,
                 last = n * (loss->n_units - loss->n_scores);
    double *says = b->says + first * loss->n_units, *delta = b->delta + first * loss->n_units;
    double target[TILE], v[TILE];
    dni_mlp_tally tally = {0};
    dn_status status;
    (void)slot;
    for (size_t t = 0; t < n; t++) {
        const size_t row = b->row[b->order[first + t]];
        target[t] = b->target[row];
        v[t] = b->weight[row] / loss->weight * ((double)b->n_used / (double)b->n);
        if (!loss->sparse) {
            memcpy(b->x + (first + t) * d, row_of(b, first + t).values, d * sizeof(double));
        }
    }
    if (loss->sparse) {
        status = forward_sparse(loss, first, n, says, err);
    } else {
        status = dni_layers_forward(&loss->layers, b->w, dn_matrix_dense(b->x + first * d, n, d),
                                    loss->run, says, err);
    }
    if (status != DN_OK) {
        return status;
    }
    dni_mlp_residuals(loss, says + last, target, v, n, delta + last, &tally);
    return dni_mlp_backward(loss, b->w, n, says, delta, err);
}

/* ---- panels of the gradient ---- */
static size_t panel_inputs(const dni_mlp *loss, size_t l) {
    const size_t part = loss->rows->n_cols / SPARSE_PANELS + 1;
    if (l == 0 && loss->sparse) {
        return part < LEAST_PANEL ? LEAST_PANEL : part;
    }
    const double inputs =
        PANEL_FLOPS / (2 * (double)loss->batch.most * (double)loss->layers.units[l]);
    return inputs < LEAST_PANEL ? LEAST_PANEL : inputs > 1e6 ? 1000000 : (size_t)inputs;
}

static size_t n_panels(const dni_mlp *loss, size_t l) {
    const size_t each = panel_inputs(loss, l);
    return (dni_layers_inputs(&loss->layers, l) + each - 1) / each;
}

/* Where layer l begins: in a tile's numbers for each row, and in the weights. */
struct place {
    size_t says, table;
};

static struct place place_of(const dni_mlp *loss, size_t l) {
    struct place place = {0, 0};
    for (size_t k = 0; k < l; k++) {
        place.says += loss->layers.units[k];
        place.table += (dni_layers_inputs(&loss->layers, k) + 1) * loss->layers.units[k];
    }
    return place;
}

static void sum_biases(const dni_mlp *loss, size_t l) {
    const dni_mlp_batch *b = &loss->batch;
    const struct place place = place_of(loss, l);
    const size_t units = loss->layers.units[l];
    double *bias = b->gradient + place.table + dni_layers_inputs(&loss->layers, l) * units;
    memset(bias, 0, units * sizeof *bias);
    for (size_t i = 0; i < b->n_tiles; i++) {
        const size_t n = tile_rows(b, i);
        const double *delta = b->delta + i * b->tile * loss->n_units + n * place.says;
        for (size_t t = 0; t < n; t++) {
            dni_axpy(1, delta + t * units, bias, units);
        }
    }
}

/* The first of a row's entries whose column is at least `col`: columns ascend. */
static size_t entry_from(dn_matrix x, size_t col) {
    size_t low = x.row_start[0], high = x.row_start[1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (x.cols[middle] < col) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Of sparse rows the first layer's gradient is scattered, entry by entry. */
static dn_status scatter(const dni_mlp *loss, size_t first, size_t n, dn_error *err) {
    const dni_mlp_batch *b = &loss->batch;
    const size_t units = loss->layers.units[0];
    dni_pace pace = {.run = loss->run};
    for (size_t t = 0; t < b->n; t++) {
        const dn_matrix x = row_of(b, t);
        const double *delta =
            b->delta + t / b->tile * b->tile * loss->n_units + t % b->tile * units;
        const size_t from = entry_from(x, first);
        size_t e = from;
        for (; e < x.row_start[1] && x.cols[e] < first + n; e++) {
            dni_axpy(x.values[e], delta, b->gradient + x.cols[e] * units, units);
        }
        dn_status status = dni_pace_poll(&pace, 2 * (double)(e - from + 8) * (double)units, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Inputs first … first + n - 1 of layer l, over all tiles. */
static void sum_panel(const dni_mlp *loss, size_t l, size_t first, size_t n) {
    const dni_mlp_batch *b = &loss->batch;
    const struct place place = place_of(loss, l);
    const size_t units = loss->layers.units[l], inputs = dni_layers_inputs(&loss->layers, l);
    for (size_t i = 0; i < b->n_tiles; i++) {
        const size_t rows = tile_rows(b, i), before = i * b->tile * loss->n_units;
        const double *x =
            l == 0 ? b->x + i * b->tile * inputs : b->says + before + rows * (place.says - inputs);
        dni_layer_gradient_part(dn_matrix_dense(x, rows, inputs),
                                b->delta + before + rows * place.says, units, first, n,
                                b->gradient + place.table);
    }
}

static dn_status do_panel(void *arg, size_t i, size_t slot, dn_error *err) {
    const dni_mlp *loss = arg;
    const dni_mlp_batch *b = &loss->batch;
    size_t l = 0;
    dn_status status = DN_OK;
    (void)slot;
    for (; i >= n_panels(loss, l); l++) {
        i -= n_panels(loss, l);
    }
    const size_t units = loss->layers.units[l], inputs = dni_layers_inputs(&loss->layers, l);
    const size_t first = i * panel_inputs(loss, l), n = inputs - first < panel_inputs(loss, l)
                                                            ? inputs - first
                                                            : panel_inputs(loss, l);
    const size_t at = place_of(loss, l).table + first * units;
    memset(b->gradient + at, 0, n * units * sizeof *b->gradient);
    if (l == 0 && loss->sparse) {
        status = scatter(loss, first, n, err);
    } else {
        sum_panel(loss, l, first, n);
    }
    if (status != DN_OK) {
        return status;
    }
    dni_axpy(2 * loss->lambda, b->w + at, b->gradient + at, n * units);
    if (l == 0) {
        dni_mlp_unstate_gradient(loss, first, n, b->gradient);
    }
    return DN_OK;
}

/* ---- a batch ---- */
static dn_status run_tasks(const dni_mlp *loss, const dn_run *run, size_t n, dni_task_fn fn,
                           dn_error *err) {
    dn_status status = DN_OK;
    if (n > 1 && 6 * (double)loss->n * (double)loss->batch.n > TASK_FLOPS) {
        return dni_tasks_run(run, n, fn, (void *)(uintptr_t)loss, err);
    }
    for (size_t i = 0; status == DN_OK && i < n; i++) {
        status = fn((void *)(uintptr_t)loss, i, 0, err);
    }
    return status;
}

dn_status dni_mlp_batch_gradient(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                                 const double *x, double *gradient, dn_error *err) {
    dni_mlp *loss = ctx;
    dni_mlp_batch *b = &loss->batch;
    size_t panels = 0;
    b->n = n_rows;
    b->n_tiles = (n_rows + b->tile - 1) / b->tile;
    b->order = order;
    b->gradient = gradient;
    b->w = loss->stated;
    dni_mlp_state(loss, x, loss->stated);
    dn_status status = run_tasks(loss, run, b->n_tiles, do_tile, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t l = 0; l < loss->layers.n_layers; l++) {
        sum_biases(loss, l);
        panels += n_panels(loss, l);
    }
    return run_tasks(loss, run, panels, do_panel, err);
}
