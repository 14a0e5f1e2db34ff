/* Encoded rows of a table: in memory or streamed. In a group of ranks, only the rows of the blocks
 * of this rank are in memory; other blocks are streamed.
 *
 * In memory, dense rows are encoded chunk by chunk into one matrix, and sparse rows block by
 * block into memory of the exact size. Streamed blocks are encoded in the memory of a slot at
 * each request. Rows in memory and streamed rows use the same kernels (encoder_tile.h), so that
 * their blocks are equal bit for bit. */
#include "base/group.h"
#include "base/run_memory.h"
#include "base/tasks.h"
#include "encoder/encoded_rows.h"
#include "encoder/encoder_tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Encoded rows: all of them, or a block. */
typedef struct dni_encoded {
    double *values;          /* dense: [rows × n_features]; CSR: [entries] */
    uint32_t *cols;          /* CSR: [entries] */
    size_t *row_start;       /* CSR: [rows + 1] */
    double *target, *weight; /* NULL: none */
    /* The allocation of the arrays. In a slot's CSR block `values` and `cols` are not part of it:
     * they point into the slot's `entries`. */
    void *memory;
} dni_encoded;

/* The workspace of one slot. */
typedef struct dni_block_slot {
    dni_encoding_slot encoding;
    dni_encoded block;
    dni_entries entries; /* CSR: the entries of the block, in memory that grows */
    size_t capacity;     /* number of rows that `block` can hold */
} dni_block_slot;

typedef struct dni_source_rows {
    dn_rows rows; /* first member, so that a dn_rows * can be converted */
    const dn_table_source *source;
    const dn_encoder *encoder;
    dn_run run;      /* used until the rows are freed */
    size_t *columns; /* [n_inputs] the source's column of each input */
    dni_selection selection;
    const double *target, *weight; /* [source->n_rows] or NULL */
    size_t own_block, own_end;     /* the blocks in memory: own_block ... own_end - 1 */
    dni_encoded all;               /* dense rows in memory, from block own_block on */
    dni_encoded *blocks;           /* CSR rows in memory: [rows.n_blocks] */
    dni_block_slot *slots;         /* [n_slots] for streaming and while rows in memory are built */
    size_t n_slots;
} dni_source_rows;

/* ---- sizes ---- */
/* Returns the bytes of n encoded rows with target and weight, and of `entries` entries of CSR
 * rows. SIZE_MAX: more than can be addressed. */
static size_t encoded_bytes(const dn_encoder *encoder, size_t n, double entries) {
    const double rows = (double)n,
                 values = encoder->sparse ? (rows + 1) * sizeof(size_t) +
                                                entries * (sizeof(double) + sizeof(uint32_t))
                                          : rows * (double)encoder->n_features * sizeof(double),
                 bytes = values + rows * 2 * sizeof(double);
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX;
}

size_t dn_encoder_rows_bytes(const dn_encoder *encoder, size_t n_rows) {
    return encoded_bytes(encoder, n_rows, ceil(dni_encoder_stored_entries(encoder, n_rows)));
}

/* Allocates n rows and, for CSR, `entries` entries. The arrays are in the order of their element
 * size, so that each is aligned. */
static dn_status encoded_init(dni_encoded *encoded, const dni_source_rows *self, size_t n,
                              size_t entries, const char *what, dn_error *err) {
    const bool sparse = self->encoder->sparse;
    dn_status status =
        dni_run_alloc_raw(&self->run, encoded_bytes(self->encoder, n, (double)entries), 1, what,
                          &encoded->memory, err);
    if (status != DN_OK) {
        return status;
    }
    double *at = encoded->memory;
    encoded->values = at;
    at += sparse ? entries : n * self->encoder->n_features;
    encoded->target = self->target == NULL ? NULL : at;
    at += n;
    encoded->weight = self->weight == NULL ? NULL : at;
    at += n;
    if (sparse) {
        encoded->row_start = (size_t *)(void *)at;
        encoded->cols = (uint32_t *)(void *)(encoded->row_start + n + 1);
    }
    return DN_OK;
}

/* ---- rows of a walk ---- */
static void copy_rows(const dni_source_rows *self, const dni_chunk_tile *tile, const double *from,
                      double *to) {
    if (from == NULL) {
        return;
    }
    from += self->source->chunk_first_row[tile->chunk];
    const double *rows = dni_chunk_tile_gather(tile, from, to);
    if (rows != to) {
        memcpy(to, rows, tile->n * sizeof *to);
    }
}

static void copy_labels(const dni_source_rows *self, const dni_chunk_tile *tile, size_t row,
                        dni_encoded *out) {
    if (out->target != NULL) {
        copy_rows(self, tile, self->target, out->target + row);
    }
    if (out->weight != NULL) {
        copy_rows(self, tile, self->weight, out->weight + row);
    }
}

static dn_status encode_dense_tile(const dni_source_rows *self, dni_encoding_slot *slot,
                                   const dni_chunk_tile *tile, double *out, dni_pace *pace,
                                   dn_error *err) {
    const dn_encoder *encoder = self->encoder;
    dn_status status = dni_encode_dense(slot, encoder, tile, 0, encoder->n_inputs, out, err);
    return status == DN_OK
               ? dni_encode_dense_bases(slot, self->source, encoder, tile, out, pace, err)
               : status;
}

/* Encodes the rows of a walk: dense rows to `out` from row `first` on, CSR rows to the entries of
 * the slot. */
static dn_status encode_walk(const dni_source_rows *self, size_t slot_index, dni_walk walk,
                             size_t first, dni_encoded *out, dn_error *err) {
    const dn_encoder *encoder = self->encoder;
    const size_t width = encoder->n_features;
    dni_encoding_slot *slot = &self->slots[slot_index].encoding;
    dni_entries *entries = &self->slots[slot_index].entries;
    dni_pace pace = {.run = &self->run};
    dni_chunk_tile tile;
    while (dni_walk_next(&walk, &tile)) {
        dn_status status = dni_encoding_open(slot, self->source, encoder, self->columns, tile.chunk,
                                             slot_index, &self->run, err);
        if (status != DN_OK) {
            return status;
        }
        status = dni_encoding_check(slot, self->source, encoder, &tile, 0, encoder->n_inputs,
                                    self->weight, err);
        if (status != DN_OK) {
            return status;
        }
        const size_t row = first + tile.position;
        status = encoder->sparse
                     ? dni_encode_sparse(slot, self->source, encoder, &tile, entries, &pace, err)
                     : encode_dense_tile(self, slot, &tile, out->values + row * width, &pace, err);
        if (status != DN_OK) {
            return status;
        }
        status = dni_pace_poll(
            &pace, 4 * (double)tile.n * (double)(encoder->sparse ? encoder->n_inputs : width), err);
        if (status != DN_OK) {
            return status;
        }
        copy_labels(self, &tile, row, out);
    }
    return DN_OK;
}

/* ---- a block ---- */
static size_t block_rows(const dni_source_rows *self, size_t i) {
    const size_t left = self->rows.n_rows - i * DN_BLOCK_ROWS;
    return left < DN_BLOCK_ROWS ? left : DN_BLOCK_ROWS;
}

/* Returns n rows of `encoded` as the block that begins at row first_row of self->rows. Dense rows
 * are taken from row `skipped` of `encoded`; for sparse rows `skipped` must be 0. */
static dn_block block_view(const dni_source_rows *self, size_t first_row, size_t n,
                           const dni_encoded *encoded, size_t skipped) {
    const size_t width = self->rows.n_cols;
    return (dn_block){.first_row = first_row,
                      .x = self->encoder->sparse
                               ? dn_matrix_csr(encoded->row_start, encoded->cols, encoded->values,
                                               n, width)
                               : dn_matrix_dense(encoded->values + skipped * width, n, width),
                      .target = encoded->target == NULL ? NULL : encoded->target + skipped,
                      .weight = encoded->weight == NULL ? NULL : encoded->weight + skipped};
}

/* ---- slots ---- */
/* Allocates the slots. slot_ready allocates the memory of a slot before its first use. */
static dn_status slots_init(dni_source_rows *self, size_t n_slots, dn_error *err) {
    void *slots = NULL;
    dn_status status = dn_run_alloc(&self->run, n_slots, sizeof *self->slots,
                                    "the slots of the encoded rows", &slots, err);
    if (status != DN_OK) {
        return status;
    }
    self->slots = slots;
    self->n_slots = n_slots;
    for (size_t i = 0; i < n_slots; i++) {
        self->slots[i].entries.run = &self->run;
    }
    return DN_OK;
}

static void slots_done(dni_source_rows *self) {
    for (size_t i = 0; i < self->n_slots; i++) {
        dni_encoding_slot_done(&self->slots[i].encoding, self->encoder, &self->run);
        dn_run_free(&self->run, self->slots[i].block.memory);
        dni_entries_done(&self->slots[i].entries);
    }
    dn_run_free(&self->run, self->slots);
    self->slots = NULL;
    self->n_slots = 0;
}

/* Allocates the slot's encoding workspace and, for n > 0, its block of at least n rows. */
static dn_status slot_ready(const dni_source_rows *self, dni_block_slot *slot, size_t n,
                            dn_error *err) {
    dn_status status = DN_OK;
    if (slot->encoding.open.views == NULL) {
        status = dni_encoding_slot_init(&slot->encoding, self->encoder, &self->run, err);
    }
    if (status != DN_OK || n <= slot->capacity) {
        return status;
    }
    dn_run_free(&self->run, slot->block.memory);
    slot->block = (dni_encoded){0};
    slot->capacity = 0;
    status = encoded_init(&slot->block, self, n, 0, "a block of encoded rows", err);
    if (status != DN_OK) {
        return status;
    }
    if (self->encoder->sparse) {
        const double expected = ceil(dni_encoder_stored_entries(self->encoder, n));
        status =
            dni_entries_reserve(&slot->entries,
                                (size_t)fmin(1.125 * expected + 1, (double)(SIZE_MAX / 2)), err);
        if (status != DN_OK) {
            return status;
        }
    }
    slot->capacity = n;
    return DN_OK;
}

/* Encodes rows first … first + n - 1 of block i into the slot's block.
 *
 *   capacity  number of rows that the slot's block can hold at least; >= n */
static dn_status encode_part(const dni_source_rows *self, size_t i, size_t first, size_t n,
                             size_t capacity, size_t slot_index, dn_block *out, dn_error *err) {
    dni_block_slot *slot = &self->slots[slot_index];
    dn_status status = slot_ready(self, slot, capacity, err);
    if (status != DN_OK) {
        return status;
    }
    const bool sparse = self->encoder->sparse;
    if (sparse) {
        slot->entries.n = slot->entries.n_rows = 0;
        slot->entries.row_start = slot->block.row_start;
        slot->entries.row_start[0] = 0;
    }
    status = encode_walk(self, slot_index, dni_walk_part(&self->selection, i, first, n), 0,
                         &slot->block, err);
    if (status != DN_OK) {
        return status;
    }
    if (sparse) {
        slot->block.values = slot->entries.values;
        slot->block.cols = slot->entries.cols;
    }
    *out = block_view(self, i * DN_BLOCK_ROWS + first, n, &slot->block, 0);
    return DN_OK;
}

/* Delivers a streamed block. Every slot has memory for a full block, so that CSR entries are not
 * reallocated for each block. */
static dn_status stream_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                              dn_error *err) {
    const dni_source_rows *self = (const dni_source_rows *)rows;
    return encode_part(self, i, 0, block_rows(self, i), block_rows(self, 0), slot, out, err);
}

static dn_status stream_piece(const dn_rows *rows, size_t i, size_t first, size_t n, size_t slot,
                              dn_block *out, dn_error *err) {
    return encode_part((const dni_source_rows *)rows, i, first, n, n, slot, out, err);
}

/* ---- in memory ---- */
/* Encodes a chunk to the dense rows from `first` on. Inputs are encoded in groups, while their
 * decoded columns are in the cache. */
static dn_status encode_chunk(const dni_source_rows *self, size_t slot_index, size_t chunk,
                              size_t first, const dni_encoded *out, dn_error *err) {
    const dn_encoder *encoder = self->encoder;
    dni_encoding_slot *slot = &self->slots[slot_index].encoding;
    dni_pace pace = {.run = &self->run};
    dni_chunk_tile tile;
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
            if (status != DN_OK) {
                return status;
            }
            status =
                dni_encoding_check(slot, self->source, encoder, &tile, input, n, self->weight, err);
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

static dn_status build_chunk(void *arg, size_t chunk, size_t slot, dn_error *err) {
    dni_source_rows *self = arg;
    size_t first = dni_selection_chunk_rank(&self->selection, chunk);
    dni_walk walk = dni_walk_chunk(&self->selection, chunk);
    if (walk.left == 0) {
        return DN_OK;
    }
    dn_status status = slot_ready(self, &self->slots[slot], 0, err);
    if (status != DN_OK) {
        return status;
    }
    if (self->encoder->n_bases > 0) { /* bases need all of their columns open at the same time */
        return encode_walk(self, slot, walk, first, &self->all, err);
    }
    status = encode_chunk(self, slot, chunk, first, &self->all, err);
    if (status != DN_OK) {
        return status;
    }
    dni_chunk_tile tile;
    while (dni_walk_next(&walk, &tile)) {
        copy_labels(self, &tile, first + tile.position, &self->all);
    }
    return DN_OK;
}

/* Encodes dense block own_block + i to its place in memory. */
static dn_status build_dense_block(void *arg, size_t i, size_t slot, dn_error *err) {
    dni_source_rows *self = arg;
    const size_t block = self->own_block + i;
    dn_status status = slot_ready(self, &self->slots[slot], 0, err);
    return status == DN_OK
               ? encode_walk(self, slot,
                             dni_walk_part(&self->selection, block, 0, block_rows(self, block)),
                             i * DN_BLOCK_ROWS, &self->all, err)
               : status;
}

/* Encodes sparse block own_block + i in the slot's memory and copies it to memory of its exact size. */
static dn_status build_block(void *arg, size_t task, size_t slot_index, dn_error *err) {
    dni_source_rows *self = arg;
    const size_t i = self->own_block + task, n = block_rows(self, i);
    dn_block from;
    dn_status status = stream_block(&self->rows, i, slot_index, &from, err);
    if (status != DN_OK) {
        return status;
    }
    const size_t entries = from.x.row_start[n];
    dni_encoded *to = &self->blocks[i];
    status = encoded_init(to, self, n, entries, "a block of encoded rows", err);
    if (status != DN_OK) {
        return status;
    }
    memcpy(to->values, from.x.values, entries * sizeof *to->values);
    memcpy(to->cols, from.x.cols, entries * sizeof *to->cols);
    memcpy(to->row_start, from.x.row_start, (n + 1) * sizeof *to->row_start);
    if (to->target != NULL && from.target != NULL) {
        memcpy(to->target, from.target, n * sizeof *to->target);
    }
    if (to->weight != NULL && from.weight != NULL) {
        memcpy(to->weight, from.weight, n * sizeof *to->weight);
    }
    return DN_OK;
}

/* Returns the number of rows in memory. */
static size_t own_rows(const dni_source_rows *self) {
    const size_t n = self->rows.n_rows, first = self->own_block * DN_BLOCK_ROWS,
                 end = self->own_end * DN_BLOCK_ROWS;
    return self->own_block == self->own_end ? 0 : (end < n ? end : n) - first;
}

/* Allocates the list of CSR blocks. Fails before the work begins if the memory for the rows is not
 * available. */
static dn_status blocks_init(dni_source_rows *self, dn_error *err) {
    void *trial = NULL, *blocks = NULL;
    dn_status status =
        dni_run_alloc_raw(&self->run, dn_encoder_rows_bytes(self->encoder, own_rows(self)), 1,
                          "the encoded rows", &trial, err);
    if (status != DN_OK) {
        return status;
    }
    dn_run_free(&self->run, trial);
    status = dn_run_alloc(&self->run, self->rows.n_blocks, sizeof *self->blocks, "the encoded rows",
                          &blocks, err);
    self->blocks = blocks;
    return status;
}

static dn_status build_rows(dni_source_rows *self, const dn_run *run, dn_error *err) {
    const dn_run passes = dni_source_run(self->source, run);
    const bool sparse = self->encoder->sparse;
    dn_status status =
        sparse ? blocks_init(self, err)
               : encoded_init(&self->all, self, own_rows(self), 0, "the encoded rows", err);
    if (status != DN_OK) {
        return status;
    }
    status = slots_init(self, passes.n_slots, err);
    if (status != DN_OK) {
        return status;
    }
    const size_t n_own = self->own_end - self->own_block;
    status = sparse ? dni_tasks_run(&passes, n_own, build_block, self, err)
             : n_own < self->rows.n_blocks
                 ? dni_tasks_run(&passes, n_own, build_dense_block, self, err)
                 : dni_tasks_run(&passes, self->source->n_chunks, build_chunk, self, err);
    slots_done(self);
    return status;
}

static dn_status memory_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                              dn_error *err) {
    const dni_source_rows *self = (const dni_source_rows *)rows;
    const bool sparse = self->encoder->sparse;
    if (i < self->own_block || i >= self->own_end) {
        return stream_block(rows, i, slot, out, err);
    }
    *out = block_view(self, i * DN_BLOCK_ROWS, block_rows(self, i),
                      sparse ? &self->blocks[i] : &self->all,
                      sparse ? 0 : (i - self->own_block) * DN_BLOCK_ROWS);
    return DN_OK;
}

static dn_status prepare_stream(dni_source_rows *self, dn_error *err) {
    size_t n_slots = dni_run_slots(&self->run);
    if (self->source->n_slots < n_slots) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the run uses %zu slots at once, but the table source has only %zu",
                            self->run.n_slots, self->source->n_slots);
    }
    self->rows.n_slots = n_slots;
    return slots_init(self, n_slots, err);
}

/* ---- creation and release ---- */
static void source_rows_free(dn_rows *rows) {
    dni_source_rows *self = (dni_source_rows *)rows;
    dn_run *run = &self->run;
    slots_done(self);
    for (size_t i = 0; self->blocks != NULL && i < rows->n_blocks; i++) {
        dn_run_free(run, self->blocks[i].memory);
    }
    dn_run_free(run, self->blocks);
    dn_run_free(run, self->all.memory);
    dn_run_free(run, self->columns);
    dni_selection_done(&self->selection, run);
    free(self);
}

static dn_status refuse_form(const dn_input *input, const dn_datetime_form *form, dn_error *err) {
    char own[DN_DATETIME_FORM_SIZE], other[DN_DATETIME_FORM_SIZE];
    (void)dn_datetime_form_write(&input->form, own);
    (void)dn_datetime_form_write(form, other);
    return dn_error_set(err, DN_ERR_DATA, "column \"%s\" has the form %s, and in these rows %s",
                        input->column, own, other);
}

/* Finds the source's column of each input by name. The search begins after the column found
 * last, as columns are usually in the same order. */
static dn_status find_columns(dni_source_rows *self, dn_error *err) {
    const dn_table_source *source = self->source;
    void *columns = NULL;
    dn_status status = dn_run_alloc(&self->run, self->encoder->n_inputs, sizeof *self->columns,
                                    "the columns of the rows", &columns, err);
    if (status != DN_OK) {
        return status;
    }
    self->columns = columns;
    size_t next = 0;
    for (size_t i = 0; i < self->encoder->n_inputs; i++) {
        const dn_input *input = &self->encoder->inputs[i];
        size_t searched = 0;
        for (; searched < source->n_cols; searched++, next++) {
            next = next < source->n_cols ? next : 0;
            if (strcmp(source->columns[next].name, input->name) == 0) {
                break;
            }
        }
        if (searched == source->n_cols) {
            status = dn_error_set(err, DN_ERR_DATA, "there is no column \"%s\"", input->name);
        } else if (dn_datetime_is_form(&input->form) &&
                   dn_datetime_is_form(&source->columns[next].form) &&
                   !dn_datetime_is_alike(&source->columns[next].form, &input->form)) {
            status = refuse_form(input, &source->columns[next].form, err);
        } else if (source->columns[next].type != input->type &&
                   !(input->type == DN_TEXT && source->columns[next].type == DN_CATEGORICAL)) {
            status = dn_error_set(err, DN_ERR_DATA, "column \"%s\" must be %s (it is %s)",
                                  input->name, dn_column_type_name(input->type),
                                  dn_column_type_name(source->columns[next].type));
        }
        if (status != DN_OK) {
            dn_error_set_field(err, input->name);
            return status;
        }
        self->columns[i] = next++;
    }
    return DN_OK;
}

void dni_encoded_rows_close(dn_rows *rows, size_t slot) {
    const dni_source_rows *self = (const dni_source_rows *)rows;
    if (self->slots != NULL) {
        self->slots[slot].encoding.open.chunk = SIZE_MAX;
    }
}

dn_status dni_encoded_rows(const dn_table_source *source, const dn_encoder *encoder,
                           const uint8_t *role, enum dn_row_role wanted, const double *target,
                           const double *weight, bool in_memory, const dn_run *run, dn_rows **out,
                           dn_error *err) {
    dni_source_rows *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the rows need %zu bytes of memory, which the system does not have",
                            sizeof *self);
    }
    self->source = source;
    self->encoder = encoder;
    self->run = *run;
    self->target = target;
    self->weight = weight;
    self->rows.n_slots = in_memory ? SIZE_MAX : 1;
    self->rows.n_cols = encoder->n_features;
    self->rows.block = in_memory ? memory_block : stream_block;
    self->rows.piece = in_memory ? NULL : stream_piece;
    self->rows.piece_rows = encoder->sparse ? 0 : dn_piece_rows(encoder->n_features);
    self->rows.free = source_rows_free;
    dn_status status = find_columns(self, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_selection_init(&self->selection, source, role, wanted, &self->run, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    self->rows.n_rows = self->selection.n_rows;
    self->rows.n_blocks = self->selection.n_blocks;
    dni_group_own(run, self->rows.n_blocks, &self->own_block, &self->own_end);
    if (in_memory) {
        status = build_rows(self, run, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    if (!in_memory || self->own_end - self->own_block < self->rows.n_blocks) {
        status = prepare_stream(self, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    *out = &self->rows;
    self = NULL;
cleanup:
    if (self != NULL) {
        source_rows_free(&self->rows);
    }
    return status;
}
