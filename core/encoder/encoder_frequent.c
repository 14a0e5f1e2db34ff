/* The most frequent numbers and levels. Numbers are counted serially in a hash table, levels by
 * a sum over blocks; both add the weights in the order of the rows. */
#include "encoder/encoder_frequent.h"
#include "base/layout.h"
#include "base/tasks.h"
#include "encoder/encoder_tile.h"
#include <string.h>

enum { FIRST_SLOTS = 1024, TILES_A_POLL = 64 };

/* ---- numbers ---- */
struct count {
    double value, weight; /* weight 0: the slot is empty */
};

/* A hash table with open addressing, at most half full. */
struct counts {
    struct count *slots;
    size_t n_slots, n; /* n_slots: a power of two; n: number of different values */
    /* random, so that no client can choose values that collide; results do not depend on it */
    uint64_t seed;
};

static struct count *find(const struct counts *counts, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ counts->seed) * UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 32)) * (counts->seed | 1);
    size_t at = (size_t)(bits >> 20) & (counts->n_slots - 1);
    while (counts->slots[at].weight > 0 && counts->slots[at].value != value) {
        at = (at + 1) & (counts->n_slots - 1);
    }
    return &counts->slots[at];
}

static dn_status grow(struct counts *counts, const dn_run *run, dn_error *err) {
    struct counts larger = {.n_slots = counts->n_slots == 0 ? FIRST_SLOTS : 2 * counts->n_slots,
                            .n = counts->n,
                            .seed = counts->seed};
    void *memory = NULL;
    dn_status status = dn_run_alloc(run, larger.n_slots, sizeof *larger.slots,
                                    "the different values of a column", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    larger.slots = memory;
    if (larger.seed == 0) {
        larger.seed = (uint64_t)(uintptr_t)memory * UINT64_C(0xd6e8feb86659fd93) | 1;
    }
    for (size_t k = 0; k < counts->n_slots; k++) {
        if (counts->slots[k].weight > 0) {
            *find(&larger, counts->slots[k].value) = counts->slots[k];
        }
    }
    dn_run_free(run, counts->slots);
    *counts = larger;
    return DN_OK;
}

static dn_status add_tile(struct counts *counts, const dni_scan *scan, const dni_chunk_tile *tile,
                          const double *values, dn_error *err) {
    double scratch[DNI_CHUNK_TILE_ROWS];
    const double *x = dni_chunk_tile_gather(tile, values, scratch);
    size_t base = scan->source->chunk_first_row[tile->chunk];
    for (size_t k = 0; k < tile->n; k++) {
        double weight =
            scan->weight == NULL ? 1 : scan->weight[base + (dni_chunk_tile_row(tile, k))];
        if (isnan(x[k]) || weight == 0) {
            continue;
        }
        if (2 * counts->n >= counts->n_slots) {
            dn_status status = grow(counts, scan->run, err);
            if (status != DN_OK) {
                return status;
            }
        }
        struct count *count = find(counts, x[k] + 0.0); /* -0 becomes 0 */
        counts->n += !(count->weight > 0);
        count->value = x[k] + 0.0;
        count->weight += weight;
    }
    return DN_OK;
}

static dn_status count_numbers(struct counts *counts, const dni_scan *scan, size_t i,
                               dn_error *err) {
    dn_column_view view;
    dni_open_chunk open = {.chunk = SIZE_MAX, .views = &view};
    size_t tiles = 0;
    for (size_t chunk = 0; chunk < scan->source->n_chunks; chunk++) {
        dni_walk walk = dni_walk_chunk(&scan->selection, chunk);
        dni_chunk_tile tile;
        while (dni_walk_next(&walk, &tile)) {
            bool changed;
            dn_status status = tiles++ % TILES_A_POLL == 0 ? dn_run_stop(scan->run, err) : DN_OK;
            if (status != DN_OK) {
                return status;
            }
            status =
                dni_chunk_open(&open, scan->source, scan->columns + i, 1, chunk, 0, &changed, err);
            if (status != DN_OK) {
                return status;
            }
            status = add_tile(counts, scan, &tile, view.number, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

dn_status dni_frequent_number(const dni_scan *scan, size_t i, double *out, dn_error *err) {
    struct counts counts = {0};
    struct count best = {0};
    dn_status status = count_numbers(&counts, scan, i, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    for (size_t k = 0; k < counts.n_slots; k++) {
        const struct count *count = &counts.slots[k];
        if (count->weight > best.weight ||
            (count->weight > 0 && count->weight == best.weight && count->value < best.value)) {
            best = *count;
        }
    }
    *out = best.value;
cleanup:
    dn_run_free(scan->run, counts.slots);
    return status;
}

/* ---- levels ---- */
struct level_count {
    const dni_scan *scan;
    const dn_encoder *encoder;
    size_t *first;            /* [n_inputs] index of an input's first level in the counts */
    dni_encoding_slot *slots; /* [scan->n_slots] */
};

static void count_tile(const struct level_count *self, const dni_encoding_slot *slot,
                       const dni_chunk_tile *tile, double *out) {
    size_t base = self->scan->source->chunk_first_row[tile->chunk];
    for (size_t i = 0; i < self->encoder->n_inputs; i++) {
        const dn_input *input = &self->encoder->inputs[i];
        if (input->type != DN_CATEGORICAL) {
            continue;
        }
        for (size_t k = 0; k < tile->n; k++) {
            size_t row = dni_chunk_tile_row(tile, k);
            uint32_t code = slot->open.views[i].code[row],
                     level = code == DN_CODE_MISSING ? code : slot->level[i][code];
            if (level < input->levels.n) {
                out[self->first[i] + level] +=
                    self->scan->weight == NULL ? 1 : self->scan->weight[base + row];
            }
        }
    }
}

static dn_status count_block(const void *arg, const dn_block *block, size_t slot_index, double *out,
                             dn_error *err) {
    const struct level_count *self = arg;
    dni_encoding_slot *slot = &self->slots[slot_index];
    dni_walk walk = dni_walk_block(&self->scan->selection, block->first_row / DN_BLOCK_ROWS);
    dni_chunk_tile tile;
    while (dni_walk_next(&walk, &tile)) {
        dn_status status =
            dni_encoding_open(slot, self->scan->source, self->encoder, self->scan->opened,
                              tile.chunk, slot_index, self->scan->run, err);
        if (status != DN_OK) {
            return status;
        }
        count_tile(self, slot, &tile, out);
    }
    return DN_OK;
}

/* Finds the level with the largest count of each input. */
static void choose(const struct level_count *self, const double *counts, size_t *out) {
    for (size_t i = 0; i < self->encoder->n_inputs; i++) {
        size_t n = self->encoder->inputs[i].levels.n, best = 0;
        for (size_t k = 1; k < n; k++) {
            if (counts[self->first[i] + k] > counts[self->first[i] + best]) {
                best = k;
            }
        }
        out[i] = n == 0 ? DN_NO_LEVEL : best;
    }
}

struct levels_shape {
    size_t n_inputs, n_levels, n_slots;
};

struct levels_work {
    size_t *first;            /* [n_inputs] */
    double *counts;           /* [n_levels] */
    dni_encoding_slot *slots; /* [n_slots] */
};

static void levels_layout(dni_layout *layout, const void *shape, void *work) {
    const struct levels_shape *s = shape;
    struct levels_work *w = work;
    w->first = dni_layout_array(layout, s->n_inputs, sizeof *w->first);
    w->counts = dni_layout_doubles(layout, s->n_levels);
    w->slots = dni_layout_array(layout, s->n_slots, sizeof *w->slots);
}

dn_status dni_frequent_levels(const dni_scan *scan, const dn_encoder *encoder, size_t *out,
                              dn_error *err) {
    struct levels_shape shape = {.n_inputs = encoder->n_inputs, .n_slots = scan->n_slots};
    struct levels_work work;
    void *memory = NULL;
    size_t made = 0;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        shape.n_levels += encoder->inputs[i].levels.n;
    }
    dn_status status = dni_layout_take(scan->run, levels_layout, &shape, &work,
                                       "the counts of the categories", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0, n = 0; i < encoder->n_inputs; i++) {
        work.first[i] = n;
        n += encoder->inputs[i].levels.n;
    }
    for (; made < shape.n_slots; made++) {
        status = dni_encoding_slot_init(&work.slots[made], encoder, scan->run, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    const struct level_count self = {.scan = scan,
                                     .encoder = encoder,
                                     .first = work.first,
                                     .slots = work.slots};
    if (shape.n_levels > 0) {
        const dn_rows blocks = dni_numbered_rows(scan->selection.n_blocks);
        status = dn_run_sum(&scan->passes, &blocks,
                            &(dn_sum){count_block, &self, sizeof self, shape.n_levels}, work.counts,
                            err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    choose(&self, work.counts, out);
cleanup:
    for (size_t k = 0; k < made; k++) {
        dni_encoding_slot_done(&work.slots[k], encoder, scan->run);
    }
    dn_run_free(scan->run, memory);
    return status;
}
