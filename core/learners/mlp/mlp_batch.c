/* The gradient of a mini-batch.
 *
 *   ∇f ≈ (n/Σv) · mean over the batch of v ∇ℓ + 2λW
 *
 * with n training rows of weight Σv, so that the mean over the batches of a pass is ∇f. There are
 * two rounds of tasks. In the first, each task runs the forward and the backward pass for one tile
 * of the batch's rows. In the second, each task sums one panel of the gradient, some inputs of one
 * layer, over all tiles. The sizes of tiles and panels depend on the shape only, so that the result
 * does not depend on the number of threads. Does not allocate. */
#include "learners/mlp/mlp_batch.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "linalg/layer.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <string.h>

enum { TILE = 128, MIN_PANEL = 32, SPARSE_PANELS = 8 };
#define PANEL_FLOPS 8e6 /* floating-point operations per panel: about 0.3 ms */
#define TASK_FLOPS 4e6  /* with fewer operations per batch, one thread is faster */

/* ---- memory ---- */
struct batch_shape {
    const dni_layers *layers;
    size_t n_rows, n_blocks, batch_rows;
    bool sparse;
};

static void batch_layout(dni_layout *layout, const void *shape, void *work) {
    const struct batch_shape *s = shape;
    dni_mlp_batch *b = work;
    const size_t n_units = dni_layers_units(s->layers);
    b->outputs = dni_layout_matrix(layout, s->batch_rows, n_units);
    b->delta = dni_layout_matrix(layout, s->batch_rows, n_units);
    b->x = s->sparse ? NULL : dni_layout_matrix(layout, s->batch_rows, s->layers->n_inputs);
}

static void row_layout(dni_layout *layout, const void *shape, void *work) {
    const struct batch_shape *s = shape;
    dni_mlp_batch *b = work;
    b->blocks = dni_layout_array(layout, s->n_blocks, sizeof *b->blocks);
    b->target = dni_layout_doubles(layout, s->n_rows);
    b->weight = dni_layout_doubles(layout, s->n_rows);
    b->row = dni_layout_array(layout, s->n_rows, sizeof *b->row);
}

static struct batch_shape batch_shape_of(const dni_layers *layers, size_t n_rows, size_t batch_rows,
                                         bool sparse) {
    return (struct batch_shape){.layers = layers,
                                .n_rows = n_rows,
                                .n_blocks = n_rows / DN_BLOCK_ROWS + (n_rows % DN_BLOCK_ROWS > 0),
                                .batch_rows = batch_rows < n_rows ? batch_rows : n_rows,
                                .sparse = sparse};
}

double dni_mlp_batch_memory(const dni_layers *layers, size_t n_rows, size_t batch_rows,
                            bool sparse) {
    const struct batch_shape shape = batch_shape_of(layers, n_rows, batch_rows, sparse);
    dni_mlp_batch unused;
    return dni_layout_bytes(batch_layout, &shape, &unused) +
           dni_layout_bytes(row_layout, &shape, &unused);
}

/* ---- setup ---- */
/* Fills in b->target, b->weight and b->row. */
static dn_status index_rows(dni_mlp_batch *b, dn_error *err) {
    const dni_mlp_loss *loss = b->loss;
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
            const bool validation = loss->validation != NULL && loss->validation[row];
            b->target[row] = block.target[t];
            b->weight[row] = validation ? 0 : block.weight == NULL ? 1 : block.weight[t];
            if (b->weight[row] > 0) {
                b->row[b->n_used++] = row;
            }
        }
    }
    return DN_OK;
}

dn_status dni_mlp_batch_init(dni_mlp_batch *b, const dni_mlp_loss *loss, size_t batch_rows,
                             dn_error *err) {
    const struct batch_shape shape =
        batch_shape_of(&loss->layers, loss->rows->n_rows, batch_rows, loss->sparse);
    *b = (dni_mlp_batch){.loss = loss, .max_rows = shape.batch_rows};
    dn_status status = dni_layout_take(loss->run, batch_layout, &shape, b, "the rows of a batch",
                                       &b->batch_memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_layout_take(loss->run, row_layout, &shape, b, "the index of the rows",
                             &b->row_memory, err);
    return status == DN_OK ? index_rows(b, err) : status;
}

void dni_mlp_batch_done(dni_mlp_batch *b) {
    if (b->loss != NULL) {
        dn_run_free(b->loss->run, b->row_memory);
        dn_run_free(b->loss->run, b->batch_memory);
    }
    *b = (dni_mlp_batch){0};
}

/* ---- tiles of rows ---- */
static size_t batch_tile_rows(const dni_mlp_batch *b, size_t i) {
    const size_t first = i * TILE;
    return b->n_rows - first < TILE ? b->n_rows - first : TILE;
}

/* Returns a view of row t of the batch. */
static dn_matrix batch_row(const dni_mlp_batch *b, size_t t) {
    const size_t row = b->row[b->order[t]];
    return dn_matrix_rows(b->blocks[row / DN_BLOCK_ROWS], row % DN_BLOCK_ROWS, 1);
}

/* Runs the forward pass for rows first … first + n − 1 of the batch. Sparse rows are not copied:
 * the first layer is computed row by row. */
static dn_status forward_sparse(const dni_mlp_batch *b, size_t first, size_t n, double *outputs,
                                dn_error *err) {
    const dni_layers *layers = &b->loss->layers;
    const size_t units = layers->units[0], d = layers->n_inputs;
    for (size_t t = 0; t < n; t++) {
        dni_layer_forward(batch_row(b, first + t), b->w, units, outputs + t * units);
    }
    dni_activate(layers->activation, outputs, n * units);
    const dni_layers above = {layers->activation, units, layers->n_layers - 1, layers->units + 1};
    return dni_layers_forward(&above, b->w + (d + 1) * units, dn_matrix_dense(outputs, n, units),
                              b->loss->run, outputs + n * units, err);
}

/* Task: runs the forward and the backward pass for tile i. */
static dn_status process_tile(void *arg, size_t i, size_t slot, dn_error *err) {
    const dni_mlp_batch *b = arg;
    const dni_mlp_loss *loss = b->loss;
    const size_t first = i * TILE, n = batch_tile_rows(b, i), d = loss->rows->n_cols,
                 last = n * (loss->n_units - loss->n_scores);
    double *outputs = b->outputs + first * loss->n_units, *delta = b->delta + first * loss->n_units;
    double target[TILE], v[TILE];
    dni_mlp_totals unused = {0};
    dn_status status;
    (void)slot;
    for (size_t t = 0; t < n; t++) {
        const size_t row = b->row[b->order[first + t]];
        target[t] = b->target[row];
        v[t] = b->weight[row] / loss->training_weight * ((double)b->n_used / (double)b->n_rows);
        if (!loss->sparse) {
            memcpy(b->x + (first + t) * d, batch_row(b, first + t).values, d * sizeof(double));
        }
    }
    if (loss->sparse) {
        status = forward_sparse(b, first, n, outputs, err);
    } else {
        status = dni_layers_forward(&loss->layers, b->w, dn_matrix_dense(b->x + first * d, n, d),
                                    loss->run, outputs, err);
    }
    if (status != DN_OK) {
        return status;
    }
    dni_mlp_residuals(loss, outputs + last, target, v, n, delta + last, &unused);
    return dni_mlp_backward(loss, b->w, n, outputs, delta, err);
}

/* ---- panels of the gradient ---- */
/* Returns the number of inputs of layer l that one panel covers. */
static size_t panel_inputs(const dni_mlp_batch *b, size_t l) {
    const size_t part = b->loss->rows->n_cols / SPARSE_PANELS + 1;
    if (l == 0 && b->loss->sparse) {
        return part < MIN_PANEL ? MIN_PANEL : part;
    }
    const double inputs =
        PANEL_FLOPS / (2 * (double)b->max_rows * (double)b->loss->layers.units[l]);
    return inputs < MIN_PANEL ? MIN_PANEL : inputs > 1e6 ? 1000000 : (size_t)inputs;
}

static size_t n_panels(const dni_mlp_batch *b, size_t l) {
    const size_t each = panel_inputs(b, l);
    return (dni_layers_inputs(&b->loss->layers, l) + each - 1) / each;
}

/* The offsets of a layer. */
struct layer_start {
    size_t units; /* number of units in the previous layers: offset in the outputs of a row */
    size_t table; /* offset of the layer's weights in the network's weights */
};

static struct layer_start layer_start_of(const dni_layers *layers, size_t l) {
    struct layer_start start = {0, 0};
    for (size_t k = 0; k < l; k++) {
        start.units += layers->units[k];
        start.table += (dni_layers_inputs(layers, k) + 1) * layers->units[k];
    }
    return start;
}

static void sum_biases(const dni_mlp_batch *b, size_t l) {
    const dni_mlp_loss *loss = b->loss;
    const struct layer_start start = layer_start_of(&loss->layers, l);
    const size_t units = loss->layers.units[l];
    double *bias = b->gradient + start.table + dni_layers_inputs(&loss->layers, l) * units;
    memset(bias, 0, units * sizeof *bias);
    for (size_t i = 0; i < b->n_tiles; i++) {
        const size_t n = batch_tile_rows(b, i);
        const double *delta = b->delta + i * TILE * loss->n_units + n * start.units;
        for (size_t t = 0; t < n; t++) {
            dni_axpy(1, delta + t * units, bias, units);
        }
    }
}

/* Returns the index of the first entry of a sparse row whose column is at least `col`. */
static size_t first_entry(dn_matrix x, size_t col) {
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

/* Sparse rows: adds the gradient of all rows for inputs first … first + n − 1 of the first
 * layer. */
static dn_status sum_sparse_panel(const dni_mlp_batch *b, size_t first, size_t n, dn_error *err) {
    const size_t units = b->loss->layers.units[0];
    dni_pace pace = {.run = b->loss->run};
    for (size_t t = 0; t < b->n_rows; t++) {
        const dn_matrix x = batch_row(b, t);
        const double *delta = b->delta + t / TILE * TILE * b->loss->n_units + t % TILE * units;
        const size_t from = first_entry(x, first);
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

/* Adds the gradient of all tiles for inputs first … first + n − 1 of layer l. */
static void sum_panel(const dni_mlp_batch *b, size_t l, size_t first, size_t n) {
    const dni_mlp_loss *loss = b->loss;
    const struct layer_start start = layer_start_of(&loss->layers, l);
    const size_t units = loss->layers.units[l], inputs = dni_layers_inputs(&loss->layers, l);
    for (size_t i = 0; i < b->n_tiles; i++) {
        const size_t rows = batch_tile_rows(b, i), tile = i * TILE * loss->n_units;
        const double *x =
            l == 0 ? b->x + i * TILE * inputs : b->outputs + tile + rows * (start.units - inputs);
        dni_layer_gradient_part(dn_matrix_dense(x, rows, inputs),
                                b->delta + tile + rows * start.units, units, first, n,
                                b->gradient + start.table);
    }
}

/* Task: computes panel i of the gradient. Panels are numbered through all layers. */
static dn_status process_panel(void *arg, size_t i, size_t slot, dn_error *err) {
    const dni_mlp_batch *b = arg;
    const dni_mlp_loss *loss = b->loss;
    size_t l = 0;
    (void)slot;
    for (; i >= n_panels(b, l); l++) {
        i -= n_panels(b, l);
    }
    const size_t units = loss->layers.units[l], inputs = dni_layers_inputs(&loss->layers, l),
                 each = panel_inputs(b, l), first = i * each,
                 n = inputs - first < each ? inputs - first : each,
                 at = layer_start_of(&loss->layers, l).table + first * units;
    memset(b->gradient + at, 0, n * units * sizeof *b->gradient);
    if (l == 0 && loss->sparse) {
        dn_status status = sum_sparse_panel(b, first, n, err);
        if (status != DN_OK) {
            return status;
        }
    } else {
        sum_panel(b, l, first, n);
    }
    dni_axpy(2 * loss->lambda, b->w + at, b->gradient + at, n * units);
    if (l == 0) {
        dni_mlp_standardise_gradient(loss, first, n, b->gradient);
    }
    return DN_OK;
}

/* ---- a batch ---- */
static dn_status run_tasks(dni_mlp_batch *b, const dn_run *run, size_t n, dni_task_fn fn,
                           dn_error *err) {
    if (n > 1 && 6 * (double)b->loss->n * (double)b->n_rows > TASK_FLOPS) {
        return dni_tasks_run(run, n, fn, b, err);
    }
    for (size_t i = 0; i < n; i++) {
        dn_status status = fn(b, i, 0, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

dn_status dni_mlp_batch_gradient(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                                 const double *x, double *gradient, dn_error *err) {
    dni_mlp_batch *b = ctx;
    size_t panels = 0;
    b->n_rows = n_rows;
    b->n_tiles = (n_rows + TILE - 1) / TILE;
    b->order = order;
    b->gradient = gradient;
    b->w = b->loss->w;
    dni_mlp_network_weights(b->loss, x, b->w);
    dn_status status = run_tasks(b, run, b->n_tiles, process_tile, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t l = 0; l < b->loss->layers.n_layers; l++) {
        sum_biases(b, l);
        panels += n_panels(b, l);
    }
    return run_tasks(b, run, panels, process_panel, err);
}
