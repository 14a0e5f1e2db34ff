/* The passes over a sparse column. A index is a number column whose missing values are 0: the moments of encoder_moments.h, summed over the entries alone. */
#include "encoder/encoder_sparse.h"

#include "base/sum.h"
#include "base/tasks.h"
#include "encoder/encoder_moments.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One thread's own. */
struct slot {
    dni_open_chunk open;
    dn_column_view view;       /* of the open chunk */
    unsigned char *met;        /* [width/8 + 1] */
    double *minimum, *maximum; /* [width] of the entries, with moments; NULL otherwise */
    char pad[64];              /* away from the next thread's */
};

struct filter {
    const dni_selection *rows;
    const dn_table_column *column;
    size_t index; /* the column's, in the source */
    const dni_index_set
        *set; /* which of its filter take part; below, a index is its number in it */
    const double *weight;
    const dn_run *run;
    size_t width; /* set->n */
    bool moments;
    dn_run passes; /* for passes over the source */
    size_t n_slots;
    struct slot *slots;       /* [n_slots] */
    dni_scan_column *results; /* [width] with moments: of the entries */
    double *totals;           /* [1 + 2 width] */
};

static dn_status slot_init(const struct filter *self, struct slot *slot, dn_error *err) {
    void *met = NULL, *extremes = NULL;
    slot->open = (dni_open_chunk){.chunk = SIZE_MAX, .views = &slot->view};
    dn_status status =
        dn_run_alloc(self->run, self->width / 8 + 1, 1, "the filter of a sparse column", &met, err);
    slot->met = met;
    if (status != DN_OK || !self->moments) {
        return status;
    }
    status = dn_run_alloc(self->run, 2 * self->width, sizeof(double),
                          "the filter of a sparse column", &extremes, err);
    if (status != DN_OK) {
        return status;
    }
    slot->minimum = extremes;
    slot->maximum = slot->minimum + self->width;
    for (size_t j = 0; j < self->width; j++) {
        slot->minimum[j] = (double)INFINITY;
        slot->maximum[j] = -(double)INFINITY;
    }
    return DN_OK;
}

static dn_status places_init(struct filter *self, dn_error *err) {
    void *slots = NULL, *results = NULL, *totals = NULL;
    self->passes = dni_source_run(self->rows->source, self->run);
    size_t n_slots = self->passes.n_slots;
    dn_status status = dn_run_alloc(self->run, n_slots, sizeof *self->slots,
                                    "the filter of a sparse column", &slots, err);
    if (status != DN_OK) {
        return status;
    }
    self->slots = slots;
    self->n_slots = n_slots;
    for (size_t k = 0; status == DN_OK && k < n_slots; k++) {
        status = slot_init(self, &self->slots[k], err);
    }
    if (status == DN_OK && self->moments) {
        status = dn_run_alloc(self->run, self->width, sizeof *self->results,
                              "the filter of a sparse column", &results, err);
    }
    self->results = results;
    if (status == DN_OK) {
        status = dn_run_alloc(self->run, 1 + (self->moments ? 2 * self->width : 0), sizeof(double),
                              "the filter of a sparse column", &totals, err);
    }
    self->totals = totals;
    return status;
}

static void places_done(const struct filter *self) {
    for (size_t k = 0; k < self->n_slots; k++) {
        dn_run_free(self->run, self->slots[k].met);
        dn_run_free(self->run, self->slots[k].minimum);
    }
    dn_run_free(self->run, self->slots);
    dn_run_free(self->run, self->results);
    dn_run_free(self->run, self->totals);
}

/* ---- the rows ---- */
/* A row's entries: what to do with one is told by `add`, which is inlined. */
typedef void (*add_entry)(const struct filter *self, struct slot *slot, size_t index, double x,
                          double v, double *out);

static dn_status not_finite(const struct filter *self, size_t row, size_t index, double x,
                            dn_error *err) {
    dn_status status =
        dn_error_set(err, DN_ERR_DATA, "column \"%s%llu\" must be a finite number (got %g)",
                     self->column->name, (unsigned long long)self->column->first_place + index, x);
    dn_error_set_field(err, self->column->name);
    dn_error_set_row(err, (int64_t)row);
    return status;
}

static inline dn_status add_tile(const struct filter *self, struct slot *slot, const dni_tile *tile,
                                 add_entry add, double *out, dn_error *err) {
    const dn_column_view *view = &slot->view;
    const size_t base = self->rows->source->chunk_first_row[tile->chunk];
    for (size_t i = 0; i < tile->n; i++) {
        const size_t row = dni_tile_row(tile, i);
        const double v = self->weight == NULL ? 1 : self->weight[base + row];
        for (size_t e = view->row_start[row]; v > 0 && e < view->row_start[row + 1]; e++) {
            const double x = view->number[e];
            const size_t index = dni_index_set_find(self->set, view->place[e]);
            if (index == SIZE_MAX) {
                continue;
            }
            if (!isfinite(x)) {
                return not_finite(self, base + row, view->place[e], x, err);
            }
            if (x != 0) {
                add(self, slot, index, x, v, out);
            }
        }
    }
    return DN_OK;
}

static inline dn_status add_block(const struct filter *self, const dn_block *block,
                                  size_t slot_index, add_entry add, double *out, dn_error *err) {
    struct slot *slot = &self->slots[slot_index];
    dni_walk walk = dni_walk_block(self->rows, block->first_row / DN_BLOCK_ROWS);
    dni_tile tile;
    dn_status status = DN_OK;
    while (status == DN_OK && dni_walk_next(&walk, &tile)) {
        bool changed;
        status = dni_chunk_open(&slot->open, self->rows->source, &self->index, 1, tile.chunk,
                                slot_index, &changed, err);
        if (status == DN_OK) {
            status = add_tile(self, slot, &tile, add, out, err);
        }
    }
    return status;
}

static inline void count_entry(const struct filter *self, struct slot *slot, size_t index, double x,
                               double v, double *out) {
    (void)self;
    (void)x;
    out[0] += v;
    slot->met[index / 8] |= (unsigned char)(1U << index % 8);
}

static inline void sum_entry(const struct filter *self, struct slot *slot, size_t index, double x,
                             double v, double *out) {
    count_entry(self, slot, index, x, v, out);
    slot->minimum[index] = fmin(slot->minimum[index], x);
    slot->maximum[index] = fmax(slot->maximum[index], x);
    out[1 + 2 * index] += v;
    out[2 + 2 * index] += v * x;
}

static inline void moment_entry(const struct filter *self, struct slot *slot, size_t index,
                                double x, double v, double *out) {
    (void)slot;
    const dni_scan_column *column = &self->results[index];
    const double d = (x - column->shift) * column->factor;
    out[1 + 2 * index] += v * d;
    out[2 + 2 * index] += v * d * d;
}

/* out: Σ v·(entries of the row) */
static dn_status count_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                             dn_error *err) {
    return add_block(arg, block, slot_index, count_entry, out, err);
}

/* … and for each index Σv and Σvx of its entries */
static dn_status sum_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                           dn_error *err) {
    return add_block(arg, block, slot_index, sum_entry, out, err);
}

/* for each index Σv(x − shift) and Σv(x − shift)² of its entries, scaled */
static dn_status moment_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                              dn_error *err) {
    return add_block(arg, block, slot_index, moment_entry, out, err);
}

static dn_status pass(const struct filter *self, dni_each_sum_fn fn, dn_error *err) {
    for (size_t k = 0; k < self->n_slots; k++) {
        self->slots[k].open.chunk = SIZE_MAX;
    }
    const dn_rows blocks = dni_numbered_rows(self->rows->n_blocks);
    return dni_each_sum(&self->passes, &blocks, fn, (void *)(uintptr_t)self,
                        1 + (self->moments ? 2 * self->width : 0), self->totals, err);
}

/* ---- what they say ---- */
/* The sums of all filter: where rows have no entry, 0 is one of the values. */
static void read_sums(const struct filter *self, double total_weight) {
    for (size_t j = 0; j < self->width; j++) {
        dni_scan_column *column = &self->results[j];
        *column = (dni_scan_column){.weight = self->totals[1 + 2 * j],
                                    .sum = self->totals[2 + 2 * j],
                                    .minimum = (double)INFINITY};
        column->maximum = -column->minimum;
        for (size_t k = 0; k < self->n_slots; k++) {
            column->minimum = fmin(column->minimum, self->slots[k].minimum[j]);
            column->maximum = fmax(column->maximum, self->slots[k].maximum[j]);
        }
        if (column->weight < total_weight) {
            column->minimum = fmin(column->minimum, 0);
            column->maximum = fmax(column->maximum, 0);
        }
    }
}

static dn_status too_large(const struct filter *self, size_t j, dn_error *err) {
    dn_status status = dn_error_set(
        err, DN_ERR_NUMERIC,
        "column \"%s%llu\" holds numbers too large to be standardised: divide it by a power of ten",
        self->column->name,
        (unsigned long long)self->column->first_place + dni_index_set_at(self->set, j));
    dn_error_set_field(err, self->column->name);
    return status;
}

static dn_status fit_moments(const struct filter *self, double total_weight, double *mean,
                             double *scale, dn_error *err) {
    const double nothing = 0;
    read_sums(self, total_weight);
    for (size_t j = 0; j < self->width; j++) {
        dni_scan_column all = self->results[j];
        all.weight = total_weight;
        if (!dni_moments_mean(&all, &mean[j])) {
            return too_large(self, j, err);
        }
        scale[j] = 1;
        dni_moments_prepare(&self->results[j], mean[j]);
    }
    dn_status status = pass(self, moment_block, err);
    for (size_t j = 0; status == DN_OK && j < self->width; j++) {
        dni_scan_column *column = &self->results[j];
        column->first = self->totals[1 + 2 * j];
        column->second = self->totals[2 + 2 * j];
        if (column->factor != 0 &&
            !dni_moments_finish(column, total_weight, &nothing, &mean[j], &scale[j])) {
            status = too_large(self, j, err);
        }
    }
    return status;
}

/* The slots' bits together, of the encoded filter. */
static dn_status merge_active(const struct filter *self, unsigned char **out, dn_error *err) {
    unsigned char *active = calloc(self->width / 8 + 1, 1);
    if (active == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the encoder needs memory which the system does not have");
    }
    for (size_t k = 0; k < self->n_slots; k++) {
        for (size_t b = 0; b < self->width / 8 + 1; b++) {
            active[b] |= self->slots[k].met[b];
        }
    }
    for (size_t j = 0; self->moments && j < self->width; j++) {
        if (self->results[j].factor == 0) { /* of one value, which standardised is 0 */
            active[j / 8] &= (unsigned char)~(1U << j % 8);
        }
    }
    *out = active;
    return DN_OK;
}

dn_status dni_sparse_fit(const dni_selection *rows, size_t column, const dni_index_set *set,
                         const double *weight, double total_weight, const dn_run *run, double *mean,
                         double *scale, dni_sparse_stats *out, dn_error *err) {
    struct filter self = {.rows = rows,
                          .column = &rows->source->columns[column],
                          .index = column,
                          .weight = weight,
                          .run = run,
                          .set = set,
                          .width = set->n,
                          .moments = mean != NULL};
    dn_status status = places_init(&self, err);
    if (status == DN_OK) {
        status = pass(&self, self.moments ? sum_block : count_block, err);
    }
    const double entries = status == DN_OK ? self.totals[0] / total_weight : 0;
    if (status == DN_OK && mean != NULL && scale != NULL) {
        status = fit_moments(&self, total_weight, mean, scale, err);
    }
    if (status == DN_OK) {
        status = merge_active(&self, &out->active, err);
    }
    if (status == DN_OK) {
        out->entries = entries;
    }
    places_done(&self);
    return status;
}
