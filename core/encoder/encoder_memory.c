/* Encoded rows that are built once and kept in memory: dense ones chunk by chunk, sparse ones block by block. */
#include "encoder/encoder_rows.h"

#include <string.h>

/* A chunk's rows to dense rows `first` and following, some columns at a time: encoded while what was decoded is still in cache. */
static dn_status encode_chunk(const dni_source_rows *self, dni_encoding_slot *slot,
                              size_t slot_index, size_t chunk, size_t first, const dni_encoded *out,
                              dn_error *err) {
    const dn_encoder *encoder = self->encoder;
    dni_pace pace = {.run = &self->run};
    dni_tile tile;
    for (size_t input = 0, n; input < encoder->n_inputs; input += n) {
        n = dni_encode_group(encoder, input);
        dn_status status = dni_encoding_open_part(slot, self->source, encoder, self->columns, input,
                                                  n, chunk, slot_index, &self->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_walk walk = dni_walk_chunk(&self->selection, chunk);
        while (dni_walk_next(&walk, &tile)) {
            status = dni_pace_poll(&pace, 4 * (double)tile.n * (double)n, err);
            if (status == DN_OK) {
                status = dni_encoding_check(slot, self->source, encoder, &tile, input, n,
                                            self->weight, err);
            }
            if (status != DN_OK) {
                return status;
            }
            status =
                dni_encode_dense(slot, encoder, &tile, input, n,
                                 out->values + (first + tile.position) * encoder->n_features, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

static dn_status build_chunk(void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    (void)out;
    dni_source_rows *self = arg;
    size_t chunk = block->first_row, first = dni_selection_chunk_rank(&self->selection, chunk);
    dni_walk walk = dni_walk_chunk(&self->selection, chunk);
    if (self->encoder->n_bases > 0 || walk.left == 0) { /* a basis wants all its columns at once */
        return dni_encode_walk(self, &self->builders[slot], slot, walk, first, &self->all, NULL,
                               err);
    }
    dn_status status =
        encode_chunk(self, &self->builders[slot], slot, chunk, first, &self->all, err);
    dni_tile tile;
    while (status == DN_OK && dni_walk_next(&walk, &tile)) {
        dni_copy_labels(self, &tile, first + tile.position, &self->all);
    }
    return status;
}

static dn_status build_dense(dni_source_rows *self, const dn_run *run, size_t n_slots, bool serial,
                             dn_error *err) {
    size_t made = 0;
    void *builders = NULL;
    dn_status status =
        dni_encoded_init(&self->all, self, self->rows.n_rows, 0, "the encoded rows", err);
    if (status == DN_OK) {
        status = dn_run_alloc(&self->run, n_slots, sizeof *self->builders, "the encoder's inputs",
                              &builders, err);
    }
    self->builders = builders;
    for (; status == DN_OK && made < n_slots; made++) {
        status = dni_encoding_slot_init(&self->builders[made], self->encoder, &self->run, err);
    }
    if (status == DN_OK) {
        status = dni_sum_numbers(run, serial, self->source->n_chunks, 1, build_chunk, self, 0, NULL,
                                 err);
    }
    for (size_t i = 0; i < made; i++) {
        dni_encoding_slot_done(&self->builders[i], self->encoder, &self->run);
    }
    dn_run_free(&self->run, builders);
    self->builders = NULL;
    return status;
}

/* A block encoded in the slot's memory, then kept in memory of its own size: so no entry has room that it does not need, and none is moved twice. */
static dn_status build_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                             dn_error *err) {
    (void)out;
    dni_source_rows *self = arg;
    const size_t i = block->first_row, n = dni_block_rows(self, i);
    dn_status status = dni_encode_block(self, i, slot_index, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_encoded *from = &self->slots[slot_index].block;
    const size_t entries = from->row_start[n];
    dni_encoded *to = &self->blocks[i];
    status = dni_encoded_init(to, self, n, entries, "a block of encoded rows", err);
    if (status != DN_OK) {
        return status;
    }
    memcpy(to->values, from->values, entries * sizeof *to->values);
    memcpy(to->cols, from->cols, entries * sizeof *to->cols);
    memcpy(to->row_start, from->row_start, (n + 1) * sizeof *to->row_start);
    if (to->target != NULL) {
        memcpy(to->target, from->target, n * sizeof *to->target);
    }
    if (to->weight != NULL) {
        memcpy(to->weight, from->weight, n * sizeof *to->weight);
    }
    return DN_OK;
}

static dn_status build_sparse(dni_source_rows *self, const dn_run *run, size_t n_slots, bool serial,
                              dn_error *err) {
    void *trial = NULL, *blocks = NULL, *slots = NULL;
    /* Better refused at once than when most of it is done. */
    dn_status status =
        dni_run_alloc_raw(&self->run, dn_encoder_rows_bytes(self->encoder, self->rows.n_rows), 1,
                          "the encoded rows", &trial, err);
    dn_run_free(&self->run, trial);
    if (status == DN_OK) {
        status = dn_run_alloc(&self->run, self->rows.n_blocks, sizeof *self->blocks,
                              "the encoded rows", &blocks, err);
    }
    self->blocks = blocks;
    if (status == DN_OK) {
        status = dn_run_alloc(&self->run, n_slots, sizeof *self->slots, "the encoder's inputs",
                              &slots, err);
    }
    self->slots = slots;
    self->n_slots = n_slots;
    if (status == DN_OK) {
        status =
            dni_sum_numbers(run, serial, self->rows.n_blocks, 1, build_block, self, 0, NULL, err);
    }
    dni_slots_done(self);
    return status;
}

dn_status dni_rows_build(dni_source_rows *self, const dn_run *run, dn_error *err) {
    bool serial = false;
    const size_t n_slots = dni_source_slots(self->source, &self->run, &serial);
    return self->encoder->sparse ? build_sparse(self, run, n_slots, serial, err)
                                 : build_dense(self, run, n_slots, serial, err);
}

dn_status dni_memory_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                           dn_error *err) {
    (void)slot;
    (void)err;
    const dni_source_rows *self = (const dni_source_rows *)rows;
    if (self->encoder->sparse) {
        *out = dni_block_view(self, i, &self->blocks[i]);
        return DN_OK;
    }
    const size_t first = i * DN_BLOCK_ROWS;
    dni_encoded part = self->all;
    part.values += first * rows->n_cols;
    part.target = part.target == NULL ? NULL : part.target + first;
    part.weight = part.weight == NULL ? NULL : part.weight + first;
    *out = dni_block_view(self, i, &part);
    return DN_OK;
}
