/* The passes over a sparse column. The statistics of an index are those of a number whose missing
 * values are 0; the sums are over the entries only.
 *
 * An index of the column is `index`; its position in the index set, which is its feature, is
 * `k`. */
#include "encoder/encoder_sparse.h"
#include "base/argument.h"
#include "base/group.h"
#include "base/layout.h"
#include "base/sum.h"
#include "base/tasks.h"
#include "encoder/encoder_impl.h"
#include "encoder/encoder_moments.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The workspace of one slot. */
struct slot {
    dni_open_chunk open;
    dn_column_view view;    /* view of the open chunk */
    unsigned char *nonzero; /* [n/8 + 1] bit k is 1 if feature k is nonzero in some row */
    double *minimum;        /* [n] smallest entry of each feature; NULL without moments */
    double *maximum;        /* [n] largest entry of each feature; NULL without moments */
};

struct sparse_fit {
    const dni_selection *rows;
    const dn_table_column *column;
    size_t column_index;
    const dni_index_set *set; /* the indices that are features */
    const double *weight;
    const dn_run *run;
    dn_run passes; /* the run of passes over the source */
    dni_sparse_shape shape;
    struct slot *slots;       /* [shape.n_slots] */
    dni_scan_column *results; /* [n] statistics of the entries; NULL without moments */
    double *totals;           /* [1 + 2 × n] the sums of a pass; [1] without moments */
};

/* The arrays of two slots are in different cache lines, because the arrays of a layout are aligned
 * to cache lines. */
static void sparse_layout(dni_layout *layout, const void *shape, void *work) {
    const dni_sparse_shape *s = shape;
    struct sparse_fit *w = work;
    struct slot *slots = dni_layout_array(layout, s->n_slots, sizeof *slots);
    for (size_t i = 0; i < s->n_slots; i++) {
        unsigned char *nonzero = dni_layout_array(layout, s->n_features / 8 + 1, 1);
        double *extremes = s->moments ? dni_layout_matrix(layout, 2, s->n_features) : NULL;
        if (slots != NULL) {
            slots[i] = (struct slot){.nonzero = nonzero, .minimum = extremes};
            slots[i].maximum = extremes == NULL ? NULL : extremes + s->n_features;
        }
    }
    w->slots = slots;
    w->results = s->moments ? dni_layout_array(layout, s->n_features, sizeof *w->results) : NULL;
    w->totals = dni_layout_doubles(layout, s->moments ? 1 + 2 * s->n_features : 1);
}

double dni_sparse_fit_memory(const dni_sparse_shape *shape) {
    struct sparse_fit work;
    return dni_layout_bytes(sparse_layout, shape, &work);
}

static void slots_init(struct sparse_fit *self) {
    for (size_t i = 0; i < self->shape.n_slots; i++) {
        struct slot *slot = &self->slots[i];
        slot->open = (dni_open_chunk){.chunk = SIZE_MAX, .views = &slot->view};
        for (size_t k = 0; self->shape.moments && k < self->set->n; k++) {
            slot->minimum[k] = (double)INFINITY;
            slot->maximum[k] = -(double)INFINITY;
        }
    }
}

/* ---- rows ---- */
/* Adds one entry to the sums. The function is inlined into the loop over the entries. */
typedef void (*add_entry)(const struct sparse_fit *self, struct slot *slot, size_t k, double x,
                          double v, double *out);

static dn_status not_finite(const struct sparse_fit *self, size_t row, size_t index, double x,
                            dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_DATA,
                                     "column \"%s%llu\" must be a finite number (got %g)",
                                     self->column->name,
                                     (unsigned long long)self->column->first_index + index, x),
                        self->column->name, (int64_t)row, err);
}

static inline dn_status add_tile(const struct sparse_fit *self, struct slot *slot,
                                 const dni_chunk_tile *tile, add_entry add, double *out,
                                 dn_error *err) {
    const dn_column_view *view = &slot->view;
    const size_t base = self->rows->source->chunk_first_row[tile->chunk];
    for (size_t i = 0; i < tile->n; i++) {
        const size_t row = dni_chunk_tile_row(tile, i);
        const double v = self->weight == NULL ? 1 : self->weight[base + row];
        for (size_t e = view->row_start[row]; v > 0 && e < view->row_start[row + 1]; e++) {
            const double x = view->number[e];
            const size_t k = dni_index_set_find(self->set, view->index[e]);
            if (k == SIZE_MAX) {
                continue;
            }
            if (!isfinite(x)) {
                return not_finite(self, base + row, view->index[e], x, err);
            }
            if (x != 0) {
                add(self, slot, k, x, v, out);
            }
        }
    }
    return DN_OK;
}

static inline dn_status add_block(const struct sparse_fit *self, const dn_block *block,
                                  size_t slot_index, add_entry add, double *out, dn_error *err) {
    struct slot *slot = &self->slots[slot_index];
    dni_walk walk = dni_walk_block(self->rows, block->first_row / DN_BLOCK_ROWS);
    dni_chunk_tile tile;
    while (dni_walk_next(&walk, &tile)) {
        bool changed;
        dn_status status = dni_chunk_open(&slot->open, self->rows->source, &self->column_index, 1,
                                          tile.chunk, slot_index, &changed, err);
        if (status != DN_OK) {
            return status;
        }
        status = add_tile(self, slot, &tile, add, out, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static inline void count_entry(const struct sparse_fit *self, struct slot *slot, size_t k, double x,
                               double v, double *out) {
    (void)self;
    (void)x;
    out[0] += v;
    slot->nonzero[k / 8] |= (unsigned char)(1U << k % 8);
}

static inline void sum_entry(const struct sparse_fit *self, struct slot *slot, size_t k, double x,
                             double v, double *out) {
    count_entry(self, slot, k, x, v, out);
    slot->minimum[k] = fmin(slot->minimum[k], x);
    slot->maximum[k] = fmax(slot->maximum[k], x);
    out[1 + 2 * k] += v;
    out[2 + 2 * k] += v * x;
}

static inline void moment_entry(const struct sparse_fit *self, struct slot *slot, size_t k,
                                double x, double v, double *out) {
    (void)slot;
    const dni_scan_column *column = &self->results[k];
    const double d = (x - column->shift) * column->factor;
    out[1 + 2 * k] += v * d;
    out[2 + 2 * k] += v * d * d;
}

/* Adds to `out` the sum of v × (number of entries of the row). */
static dn_status count_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                             dn_error *err) {
    return add_block(arg, block, slot_index, count_entry, out, err);
}

/* Adds to `out` the sum of v × (number of entries of the row), then the sum of v and of v x of
 * each index. */
static dn_status sum_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                           dn_error *err) {
    return add_block(arg, block, slot_index, sum_entry, out, err);
}

/* Adds to `out` the scaled sums of v (x - shift) and v (x - shift)^2 of each index. */
static dn_status moment_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                              dn_error *err) {
    return add_block(arg, block, slot_index, moment_entry, out, err);
}

static dn_status pass(struct sparse_fit *self, dni_each_sum_fn fn, dn_error *err) {
    for (size_t i = 0; i < self->shape.n_slots; i++) {
        self->slots[i].open.chunk = SIZE_MAX;
    }
    const dn_rows blocks = dni_numbered_rows(self->rows->n_blocks);
    return dni_each_sum(&self->passes, &blocks, fn, self,
                        1 + (self->shape.moments ? 2 * self->set->n : 0), self->totals, err);
}

/* ---- results ---- */
/* Merges the extremes of all slots and ranks into the first slot. */
static dn_status merge_extremes(const struct sparse_fit *self, dn_error *err) {
    struct slot *first = &self->slots[0];
    for (size_t i = 1; i < self->shape.n_slots; i++) {
        for (size_t k = 0; k < self->set->n; k++) {
            first->minimum[k] = fmin(first->minimum[k], self->slots[i].minimum[k]);
            first->maximum[k] = fmax(first->maximum[k], self->slots[i].maximum[k]);
        }
    }
    dn_status status = dni_group_least(&self->passes, DN_OK, first->minimum, self->set->n, err);
    return status == DN_OK ? dni_group_most(&self->passes, DN_OK, first->maximum, self->set->n, err)
                           : status;
}

/* Reads the sums of the first pass. Where some row has no entry, 0 is one of the values. */
static void read_sums(const struct sparse_fit *self, double total_weight) {
    for (size_t k = 0; k < self->set->n; k++) {
        dni_scan_column *column = &self->results[k];
        *column = (dni_scan_column){.weight = self->totals[1 + 2 * k],
                                    .sum = self->totals[2 + 2 * k],
                                    .minimum = self->slots[0].minimum[k],
                                    .maximum = self->slots[0].maximum[k]};
        if (column->weight < total_weight) {
            column->minimum = fmin(column->minimum, 0);
            column->maximum = fmax(column->maximum, 0);
        }
    }
}

static dn_status too_large(const struct sparse_fit *self, size_t k, dn_error *err) {
    return dni_error_at(dn_error_set(err, DN_ERR_NUMERIC,
                                     "column \"%s%llu\" has numbers too large to be standardised: "
                                     "divide the column by a power of ten",
                                     self->column->name,
                                     (unsigned long long)self->column->first_index +
                                         dni_index_set_at(self->set, k)),
                        self->column->name, -1, err);
}

static dn_status fit_moments(struct sparse_fit *self, double total_weight, double *mean,
                             double *scale, dn_error *err) {
    const double fill = 0;
    dn_status status = merge_extremes(self, err);
    if (status != DN_OK) {
        return status;
    }
    read_sums(self, total_weight);
    for (size_t k = 0; k < self->set->n; k++) {
        dni_scan_column all = self->results[k];
        all.weight = total_weight;
        if (!dni_moments_mean(&all, &mean[k])) {
            return too_large(self, k, err);
        }
        scale[k] = 1;
        dni_moments_prepare(&self->results[k], mean[k]);
    }
    status = pass(self, moment_block, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < self->set->n; k++) {
        dni_scan_column *column = &self->results[k];
        column->first = self->totals[1 + 2 * k];
        column->second = self->totals[2 + 2 * k];
        if (column->factor != 0 &&
            !dni_moments_finish(column, total_weight, &fill, &mean[k], &scale[k])) {
            return too_large(self, k, err);
        }
    }
    return DN_OK;
}

/* Merges the bits of all slots and ranks. A constant feature is 0 after standardisation and is cleared. */
static dn_status merge_active(const struct sparse_fit *self, unsigned char **out, dn_error *err) {
    const size_t n_bytes = self->set->n / 8 + 1;
    unsigned char *active = calloc(n_bytes, 1);
    for (size_t i = 0; active != NULL && i < self->shape.n_slots; i++) {
        for (size_t b = 0; b < n_bytes; b++) {
            active[b] |= self->slots[i].nonzero[b];
        }
    }
    dn_status status =
        dni_group_or(&self->passes, active != NULL ? DN_OK : dni_encoder_no_memory(err), active,
                     n_bytes, err);
    if (status != DN_OK) {
        free(active);
        return status;
    }
    assert(active != NULL); /* otherwise the ranks agree on an error */
    for (size_t k = 0; self->shape.moments && k < self->set->n; k++) {
        if (self->results[k].factor == 0) { /* the feature is constant */
            active[k / 8] &= (unsigned char)~(1U << k % 8);
        }
    }
    *out = active;
    return DN_OK;
}

dn_status dni_sparse_fit(const dni_selection *rows, size_t column, const dni_index_set *set,
                         const double *weight, double total_weight, const dn_run *run, double *mean,
                         double *scale, dni_sparse_stats *out, dn_error *err) {
    struct sparse_fit self = {.rows = rows,
                              .column = &rows->source->columns[column],
                              .column_index = column,
                              .weight = weight,
                              .run = run,
                              .set = set,
                              .shape = {.n_features = set->n, .moments = mean != NULL},
                              .passes = dni_source_run(rows->source, run)};
    self.shape.n_slots = self.passes.n_slots;
    void *memory = NULL;
    dn_status status = dni_layout_take(run, sparse_layout, &self.shape, &self,
                                       "the indices of a sparse column", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    slots_init(&self);
    status = pass(&self, self.shape.moments ? sum_block : count_block, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    const double entries = self.totals[0] / total_weight;
    if (mean != NULL) {
        status = fit_moments(&self, total_weight, mean, scale, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    status = merge_active(&self, &out->active, err);
    if (status == DN_OK) {
        out->entries = entries;
    }
cleanup:
    dn_run_free(run, memory);
    return status;
}
