/* Encoded rows of a table (dn_rows_from_source): in memory or streamed.
 *
 * In memory, dense rows are encoded chunk by chunk into one matrix, and sparse rows block by
 * block into memory of the exact size. Streamed blocks are encoded in the memory of a slot
 * whenever they are asked for. All use the same kernels (encoder_tile.h), so that the blocks are
 * the same bit for bit. */
#include "base/argument.h"
#include "base/run_memory.h"
#include "base/tasks.h"
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
    /* the memory of all arrays; for a CSR block of a slot without values and cols, which are in
     * `entries` */
    void *memory;
} dni_encoded;

/* The workspace of one slot. */
typedef struct dni_block_slot {
    dni_encoding_slot encoding;
    dni_encoded block;
    dni_entries entries; /* CSR: the entries of the block, in memory that grows */
    size_t capacity;     /* number of rows that `block` can hold; 0: nothing is allocated */
} dni_block_slot;

typedef struct dni_source_rows {
    dn_rows rows; /* first member, so that a dn_rows * can be converted */
    const dn_table_source *source;
    const dn_encoder *encoder;
    dn_run run;      /* used until the rows are freed */
    size_t *columns; /* [n_inputs] of the source */
    dni_selection selection;
    const double *target, *weight; /* by source row, or NULL */
    dni_encoded all;               /* dense rows in memory */
    dni_encoded *blocks;           /* CSR rows in memory: [rows.n_blocks] */
    dni_block_slot *slots;         /* [n_slots] for streaming and while CSR rows are built */
    size_t n_slots;
    dni_encoding_slot *builders; /* [n_slots] while dense rows are built */
} dni_source_rows;

/* ---- sizes ---- */
/* Adds count × size to *bytes. Returns false on overflow. */
static bool add_bytes(size_t *bytes, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX / 2 - *bytes) / size) {
        return false;
    }
    *bytes += count * size;
    return true;
}

/* Returns the bytes of n encoded rows with target and weight, and of `entries` entries of CSR
 * rows. SIZE_MAX: more than can be addressed. */
static size_t encoded_bytes(const dn_encoder *encoder, size_t n, size_t entries) {
    size_t bytes = 0;
    bool fits = add_bytes(&bytes, n, 2 * sizeof(double));
    if (encoder->sparse) {
        fits = fits && add_bytes(&bytes, n + 1, sizeof(size_t)) &&
               add_bytes(&bytes, entries, sizeof(double) + sizeof(uint32_t));
    } else {
        fits = fits && (encoder->n_features == 0 || n <= SIZE_MAX / 2 / encoder->n_features) &&
               add_bytes(&bytes, n * encoder->n_features, sizeof(double));
    }
    return fits ? bytes : SIZE_MAX;
}

/* Returns the expected number of entries of n rows; SIZE_MAX / 2 if rows are dense. */
static size_t expected_entries(const dn_encoder *encoder, size_t n) {
    const double entries = ceil(dni_encoder_stored_entries(encoder, n));
    return entries < (double)(SIZE_MAX / 2) ? (size_t)entries : SIZE_MAX / 2;
}

size_t dn_encoder_rows_bytes(const dn_encoder *encoder, size_t n_rows) {
    return encoded_bytes(encoder, n_rows, expected_entries(encoder, n_rows));
}

/* Allocates n rows and, for CSR, `entries` entries. The arrays are in the order of their element
 * size, so that each is aligned. */
static dn_status encoded_init(dni_encoded *encoded, const dni_source_rows *self, size_t n,
                              size_t entries, const char *what, dn_error *err) {
    const bool sparse = self->encoder->sparse;
    dn_status status = dni_run_alloc_raw(&self->run, encoded_bytes(self->encoder, n, entries), 1,
                                         what, &encoded->memory, err);
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

static dn_status encode_walk(const dni_source_rows *self, dni_encoding_slot *slot,
                             size_t slot_index, dni_walk walk, size_t first, dni_encoded *out,
                             dni_entries *entries, dn_error *err) {
    const dn_encoder *encoder = self->encoder;
    const size_t width = encoder->n_features;
    dni_pace pace = {.run = &self->run};
    dni_chunk_tile tile;
    while (dni_walk_next(&walk, &tile)) {
        dn_status status = dni_encoding_open(slot, self->source, encoder, self->columns, tile.chunk,
                                             slot_index, &self->run, err);
        if (status != DN_OK) {
            return status;
        }
        const size_t row = first + tile.position;
        status = dni_encoding_check(slot, self->source, encoder, &tile, 0, encoder->n_inputs,
                                    self->weight, err);
        if (status != DN_OK) {
            return status;
        }
        if (entries != NULL) {
            status = dni_encode_sparse(slot, self->source, encoder, &tile, entries, &pace, err);
        } else {
            status = encode_dense_tile(self, slot, &tile, out->values + row * width, &pace, err);
        }
        if (status != DN_OK) {
            return status;
        }
        status = dni_pace_poll(
            &pace, 4 * (double)tile.n * (double)(entries == NULL ? width : encoder->n_inputs), err);
        if (status != DN_OK) {
            return status;
        }
        copy_labels(self, &tile, row, out);
    }
    return DN_OK;
}

static dn_matrix encoded_view(const dni_source_rows *self, const dni_encoded *encoded, size_t n) {
    return self->encoder->sparse ? dn_matrix_csr(encoded->row_start, encoded->cols, encoded->values,
                                                 n, self->rows.n_cols)
                                 : dn_matrix_dense(encoded->values, n, self->rows.n_cols);
}

/* ---- a block ---- */
static size_t block_rows(const dni_source_rows *self, size_t i) {
    const size_t left = self->rows.n_rows - i * DN_BLOCK_ROWS;
    return left < DN_BLOCK_ROWS ? left : DN_BLOCK_ROWS;
}

/* Allocates the slot's block for n rows. CSR slots are only asked for whole blocks. Dense slots
 * that are asked for pieces allocate a piece only. */
static dn_status slot_ready(const dni_source_rows *self, dni_block_slot *slot, size_t n,
                            dn_error *err) {
    if (n <= slot->capacity) {
        return DN_OK;
    }
    const bool first = slot->capacity == 0;
    dn_status status = DN_OK;
    if (first) {
        status = dni_encoding_slot_init(&slot->encoding, self->encoder, &self->run, err);
        if (status != DN_OK) {
            return status;
        }
    }
    dn_run_free(&self->run, slot->block.memory);
    slot->block = (dni_encoded){0};
    slot->entries.run = &self->run;
    status = encoded_init(&slot->block, self, n, 0, "a block of encoded rows", err);
    if (status != DN_OK) {
        goto failed;
    }
    if (first && self->encoder->sparse) {
        const size_t expected = expected_entries(self->encoder, n);
        status = dni_entries_reserve(&slot->entries, expected + expected / 8 + 1, err);
        if (status != DN_OK) {
            goto failed;
        }
    }
    slot->capacity = n;
    return DN_OK;
failed:
    dn_run_free(&self->run, slot->block.memory);
    slot->block = (dni_encoded){0};
    dni_encoding_slot_done(&slot->encoding, self->encoder, &self->run);
    slot->capacity = 0;
    return status;
}

static void slots_done(dni_source_rows *self) {
    for (size_t i = 0; self->slots != NULL && i < self->n_slots; i++) {
        if (self->slots[i].capacity == 0) {
            continue;
        }
        dni_encoding_slot_done(&self->slots[i].encoding, self->encoder, &self->run);
        dn_run_free(&self->run, self->slots[i].block.memory);
        dni_entries_done(&self->slots[i].entries);
    }
    dn_run_free(&self->run, self->slots);
    self->slots = NULL;
}

/* Encodes rows first … first + n - 1 of block i into the slot's block. */
static dn_status encode_part(const dni_source_rows *self, size_t i, size_t first, size_t n,
                             size_t slot_index, dn_error *err) {
    dni_block_slot *slot = &self->slots[slot_index];
    dn_status status = slot_ready(self, slot, n, err);
    if (status != DN_OK) {
        return status;
    }
    const bool sparse = self->encoder->sparse;
    if (sparse) {
        slot->entries.n = slot->entries.n_rows = 0;
        slot->entries.row_start = slot->block.row_start;
        slot->entries.row_start[0] = 0;
    }
    status =
        encode_walk(self, &slot->encoding, slot_index, dni_walk_part(&self->selection, i, first, n),
                    0, &slot->block, sparse ? &slot->entries : NULL, err);
    if (sparse) {
        slot->block.values = slot->entries.values;
        slot->block.cols = slot->entries.cols;
    }
    return status;
}

/* Every slot has memory for a full block, so that CSR entries are not reallocated for each
 * block. */
static dn_status encode_block(const dni_source_rows *self, size_t i, size_t slot_index,
                              dn_error *err) {
    dn_status status = slot_ready(self, &self->slots[slot_index], block_rows(self, 0), err);
    if (status != DN_OK) {
        return status;
    }
    return encode_part(self, i, 0, block_rows(self, i), slot_index, err);
}

static dn_block part_view(const dni_source_rows *self, size_t first_row, size_t n,
                          const dni_encoded *encoded) {
    return (dn_block){.first_row = first_row,
                      .x = encoded_view(self, encoded, n),
                      .target = encoded->target,
                      .weight = encoded->weight};
}

static dn_block block_view(const dni_source_rows *self, size_t i, const dni_encoded *encoded) {
    return part_view(self, i * DN_BLOCK_ROWS, block_rows(self, i), encoded);
}

/* ---- in memory ---- */
/* Encodes a chunk to the dense rows from `first` on. Inputs are encoded in groups, while their
 * decoded columns are in the cache. */
static dn_status encode_chunk(const dni_source_rows *self, dni_encoding_slot *slot,
                              size_t slot_index, size_t chunk, size_t first, const dni_encoded *out,
                              dn_error *err) {
    const dn_encoder *encoder = self->encoder;
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

static dn_status build_chunk(void *arg, size_t chunk, size_t slot, dn_error *err) {
    dni_source_rows *self = arg;
    size_t first = dni_selection_chunk_rank(&self->selection, chunk);
    dni_walk walk = dni_walk_chunk(&self->selection, chunk);
    /* bases need all of their columns open at the same time */
    if (self->encoder->n_bases > 0 || walk.left == 0) {
        return encode_walk(self, &self->builders[slot], slot, walk, first, &self->all, NULL, err);
    }
    dn_status status =
        encode_chunk(self, &self->builders[slot], slot, chunk, first, &self->all, err);
    if (status != DN_OK) {
        return status;
    }
    dni_chunk_tile tile;
    while (dni_walk_next(&walk, &tile)) {
        copy_labels(self, &tile, first + tile.position, &self->all);
    }
    return DN_OK;
}

static dn_status build_dense(dni_source_rows *self, const dn_run *passes, dn_error *err) {
    const size_t n_slots = passes->n_slots;
    size_t made = 0;
    void *builders = NULL;
    dn_status status =
        encoded_init(&self->all, self, self->rows.n_rows, 0, "the encoded rows", err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_alloc(&self->run, n_slots, sizeof *self->builders, "the encoder's inputs",
                          &builders, err);
    if (status != DN_OK) {
        return status;
    }
    self->builders = builders;
    for (; made < n_slots; made++) {
        status = dni_encoding_slot_init(&self->builders[made], self->encoder, &self->run, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
    status = dni_tasks_run(passes, self->source->n_chunks, build_chunk, self, err);
cleanup:
    for (size_t i = 0; i < made; i++) {
        dni_encoding_slot_done(&self->builders[i], self->encoder, &self->run);
    }
    dn_run_free(&self->run, builders);
    self->builders = NULL;
    return status;
}

/* Encodes a block in the slot's memory and copies it to memory of its exact size. */
static dn_status build_block(void *arg, size_t i, size_t slot_index, dn_error *err) {
    dni_source_rows *self = arg;
    const size_t n = block_rows(self, i);
    dn_status status = encode_block(self, i, slot_index, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_encoded *from = &self->slots[slot_index].block;
    const size_t entries = from->row_start[n];
    dni_encoded *to = &self->blocks[i];
    status = encoded_init(to, self, n, entries, "a block of encoded rows", err);
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

static dn_status build_sparse(dni_source_rows *self, const dn_run *passes, dn_error *err) {
    const size_t n_slots = passes->n_slots;
    void *trial = NULL, *blocks = NULL, *slots = NULL;
    /* Reports a lack of memory before the work begins. */
    dn_status status =
        dni_run_alloc_raw(&self->run, dn_encoder_rows_bytes(self->encoder, self->rows.n_rows), 1,
                          "the encoded rows", &trial, err);
    if (status != DN_OK) {
        return status;
    }
    dn_run_free(&self->run, trial);
    status = dn_run_alloc(&self->run, self->rows.n_blocks, sizeof *self->blocks, "the encoded rows",
                          &blocks, err);
    if (status != DN_OK) {
        return status;
    }
    self->blocks = blocks;
    status =
        dn_run_alloc(&self->run, n_slots, sizeof *self->slots, "the encoder's inputs", &slots, err);
    if (status != DN_OK) {
        return status;
    }
    self->slots = slots;
    self->n_slots = n_slots;
    status = dni_tasks_run(passes, self->rows.n_blocks, build_block, self, err);
    slots_done(self);
    return status;
}

static dn_status rows_build(dni_source_rows *self, const dn_run *run, dn_error *err) {
    const dn_run passes = dni_source_run(self->source, run);
    return self->encoder->sparse ? build_sparse(self, &passes, err)
                                 : build_dense(self, &passes, err);
}

static dn_status memory_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                              dn_error *err) {
    (void)slot;
    (void)err;
    const dni_source_rows *self = (const dni_source_rows *)rows;
    if (self->encoder->sparse) {
        *out = block_view(self, i, &self->blocks[i]);
        return DN_OK;
    }
    const size_t first = i * DN_BLOCK_ROWS;
    dni_encoded part = self->all;
    part.values += first * rows->n_cols;
    part.target = part.target == NULL ? NULL : part.target + first;
    part.weight = part.weight == NULL ? NULL : part.weight + first;
    *out = block_view(self, i, &part);
    return DN_OK;
}

/* ---- streaming ---- */
static dn_status stream_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                              dn_error *err) {
    const dni_source_rows *self = (const dni_source_rows *)rows;
    dn_status status = encode_block(self, i, slot, err);
    if (status != DN_OK) {
        return status;
    }
    *out = block_view(self, i, &self->slots[slot].block);
    return DN_OK;
}

static dn_status stream_piece(const dn_rows *rows, size_t i, size_t first, size_t n, size_t slot,
                              dn_block *out, dn_error *err) {
    const dni_source_rows *self = (const dni_source_rows *)rows;
    dn_status status = encode_part(self, i, first, n, slot, err);
    if (status != DN_OK) {
        return status;
    }
    *out = part_view(self, i * DN_BLOCK_ROWS + first, n, &self->slots[slot].block);
    return DN_OK;
}

static dn_status prepare_stream(dni_source_rows *self, dn_error *err) {
    size_t n_slots = dni_run_slots(&self->run);
    if (self->source->n_slots < n_slots) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the run uses %zu slots at once, the table source has only %zu",
                            self->run.n_slots, self->source->n_slots);
    }
    void *slots = NULL;
    dn_status status =
        dn_run_alloc(&self->run, n_slots, sizeof *self->slots, "the encoder's inputs", &slots, err);
    if (status != DN_OK) {
        return status;
    }
    self->slots = slots;
    self->n_slots = n_slots;
    self->rows.n_slots = n_slots;
    return DN_OK;
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

/* Finds the source's column of each input by name. The search begins after the column found
 * last, as columns are usually in the same order. */
static dn_status find_columns(dni_source_rows *self, dn_error *err) {
    const dn_table_source *source = self->source;
    void *columns = NULL;
    dn_status status = dn_run_alloc(&self->run, self->encoder->n_inputs, sizeof *self->columns,
                                    "the encoder's inputs", &columns, err);
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

dn_status dn_rows_from_source(const dn_table_source *source, const dn_encoder *encoder,
                              const uint8_t *role, enum dn_row_role wanted, const double *target,
                              const double *weight, bool in_memory, const dn_run *run,
                              dn_rows **out, dn_error *err) {
    if (encoder == NULL || out == NULL) {
        return dni_argument_null(encoder == NULL ? "encoder" : "out", err);
    }
    dn_status status = dni_argument_source(source, "source", err);
    if (status == DN_OK) {
        status = dni_argument_run(run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    dni_source_rows *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the rows need %zu bytes of memory, which the system does not have",
                            sizeof *self);
    }
    self->source = source;
    self->encoder = encoder;
    dn_run fallback = dn_run_default();
    if (run == NULL) {
        run = &fallback;
    }
    self->run = *run;
    self->target = target;
    self->weight = weight;
    self->rows.n_slots = in_memory ? SIZE_MAX : 1;
    self->rows.n_cols = encoder->n_features;
    self->rows.block = in_memory ? memory_block : stream_block;
    self->rows.piece = in_memory ? NULL : stream_piece;
    self->rows.piece_rows = encoder->sparse ? 0 : dn_piece_rows(encoder->n_features);
    self->rows.free = source_rows_free;
    status = find_columns(self, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_selection_init(&self->selection, source, role, wanted, &self->run, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    self->rows.n_rows = self->selection.n_rows;
    self->rows.n_blocks = self->selection.n_blocks;
    status = in_memory ? rows_build(self, run, err) : prepare_stream(self, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    *out = &self->rows;
    self = NULL;
cleanup:
    if (self != NULL) {
        source_rows_free(&self->rows);
    }
    return status;
}
