/* The rows of a source, encoded: built once in memory, chunk by chunk, or block by block whenever one is asked for. Both go through the same kernel, so that
 * the blocks are the same bit for bit. */
#include "data/encoder_tile.h"
#include "data/run_memory.h"

#include <stdlib.h>
#include <string.h>

/* Encoded rows: the whole of them, or one block. */
struct encoded {
    double *values;
    uint32_t *cols, *count;  /* CSR: columns, entries of each row */
    size_t *row_start;       /* CSR */
    double *target, *weight; /* NULL: none, or the caller's arrays serve as they are */
    void *memory;            /* of all of it */
};

/* What one thread needs for streaming. */
struct stream_slot {
    dni_encoding_slot encoding;
    struct encoded block;
    bool ready; /* allocated at first use */
};

struct source_rows {
    dn_rows rows; /* first: a dn_rows * is a struct source_rows * */
    const dn_table_source *source;
    const dn_encoder *encoder;
    dn_run run;      /* its allocator and its stop serve until the end */
    size_t *columns; /* [n_inputs] of the source */
    dni_selection selection;
    const double *target, *weight; /* by source row, or NULL */
    bool sparse;
    struct encoded all;          /* in memory */
    struct stream_slot *slots;   /* streaming: [rows.n_slots] */
    dni_encoding_slot *builders; /* in memory, while it is built: one for each slot */
};

/* ---- sizes ------------------------------------------------------------------------------------------------------------------------------ */
/* Fewer than a quarter of the features can be other than 0 in a row. */
static bool is_sparse(const dn_encoder *encoder) {
    size_t quarter = encoder->n_features / 4;
    return encoder->n_entries < quarter || (encoder->n_entries == quarter && encoder->n_features % 4 != 0);
}

/* Adds count × size to *bytes; false on overflow. */
static bool add_bytes(size_t *bytes, size_t count, size_t size) {
    if (size != 0 && count > (SIZE_MAX / 2 - *bytes) / size)
        return false;
    *bytes += count * size;
    return true;
}

/* Bytes of n encoded rows with room for target and weight; SIZE_MAX: more than can be addressed. */
static size_t encoded_bytes(const dn_encoder *encoder, size_t n) {
    size_t bytes = 0, width = is_sparse(encoder) ? encoder->n_entries : encoder->n_features;
    if (width != 0 && n > SIZE_MAX / 2 / width)
        return SIZE_MAX;
    bool fits = add_bytes(&bytes, n * width, sizeof(double)) && add_bytes(&bytes, n, 2 * sizeof(double));
    if (is_sparse(encoder))
        fits = fits && add_bytes(&bytes, n + 1, sizeof(size_t)) && add_bytes(&bytes, n * width, sizeof(uint32_t)) &&
               add_bytes(&bytes, n, sizeof(uint32_t));
    return fits ? bytes : SIZE_MAX;
}

size_t dn_encoder_rows_bytes(const dn_encoder *encoder, size_t n_rows) {
    return encoded_bytes(encoder, n_rows);
}

/* One piece of memory for everything, wide elements first. */
static dn_status encoded_init(struct encoded *encoded, const struct source_rows *self, size_t n, const char *what, dn_error *err) {
    size_t width = self->sparse ? self->encoder->n_entries : self->encoder->n_features;
    dn_status status = dni_run_alloc_raw(&self->run, encoded_bytes(self->encoder, n), 1, what, &encoded->memory, err);
    if (status != DN_OK)
        return status;
    double *at = encoded->memory;
    encoded->values = at;
    at += n * width;
    encoded->target = self->target == NULL ? NULL : at;
    at += n;
    encoded->weight = self->weight == NULL ? NULL : at;
    at += n;
    if (self->sparse) {
        encoded->row_start = (size_t *)(void *)at;
        encoded->cols = (uint32_t *)(void *)(encoded->row_start + n + 1);
        encoded->count = encoded->cols + n * width;
    }
    return DN_OK;
}

/* ---- rows of a walk ---------------------------------------------------------------------------------------------------------------------- */
static void copy_rows(const struct source_rows *self, const dni_tile *tile, const double *from, double *to) {
    if (from == NULL)
        return;
    from += self->source->chunk_first_row[tile->chunk];
    const double *rows = dni_tile_gather(tile, from, to);
    if (rows != to)
        memcpy(to, rows, tile->n * sizeof *to);
}

static void copy_labels(const struct source_rows *self, const dni_tile *tile, size_t row, struct encoded *out) {
    if (out->target != NULL)
        copy_rows(self, tile, self->target, out->target + row);
    if (out->weight != NULL)
        copy_rows(self, tile, self->weight, out->weight + row);
}

/* Encodes all rows of a walk to rows `first`, first + 1 … of `out`. */
static dn_status encode_walk(const struct source_rows *self, dni_encoding_slot *slot, size_t slot_index, dni_walk walk, size_t first,
                             struct encoded *out, dn_error *err) {
    size_t width = self->sparse ? self->encoder->n_entries : self->encoder->n_features;
    dni_pace pace = {.run = &self->run};
    dni_tile tile;
    while (dni_walk_next(&walk, &tile)) {
        dn_status status = dni_encoding_open(slot, self->source, self->encoder, self->columns, tile.chunk, slot_index, &self->run, err);
        if (status != DN_OK)
            return status;
        const dn_encoder *encoder = self->encoder;
        size_t row = first + tile.position;
        if (encoder->refuse_unseen)
            status = dni_encoding_refuse_unseen(slot, self->source, encoder, &tile, 0, encoder->n_inputs, self->weight, err);
        if (status == DN_OK && self->sparse)
            status = dni_encode_sparse(slot, self->source, encoder, &tile, out->values + row * width, out->cols + row * width,
                                       out->count + row, &pace, err);
        if (status == DN_OK && !self->sparse) {
            dni_encode_dense(slot, encoder, &tile, 0, encoder->n_inputs, out->values + row * width);
            status = dni_encode_dense_bases(slot, self->source, encoder, &tile, out->values + row * width, &pace, err);
        }
        if (status == DN_OK)
            status = dni_pace_poll(&pace, 4 * (double)tile.n * (double)width, err);
        if (status != DN_OK)
            return status;
        copy_labels(self, &tile, row, out);
    }
    return DN_OK;
}

static dn_matrix encoded_view(const struct source_rows *self, const struct encoded *encoded, size_t n) {
    return self->sparse ? dn_matrix_csr(encoded->row_start, encoded->cols, encoded->values, n, self->rows.n_cols)
                        : dn_matrix_dense(encoded->values, n, self->rows.n_cols);
}

/* ---- in memory --------------------------------------------------------------------------------------------------------------------------- */
/* A chunk's rows to dense rows `first` and following, some columns at a time: encoded while what was decoded is still in cache. */
static dn_status encode_chunk(const struct source_rows *self, dni_encoding_slot *slot, size_t slot_index, size_t chunk, size_t first,
                              const struct encoded *out, dn_error *err) {
    const dn_encoder *encoder = self->encoder;
    dni_pace pace = {.run = &self->run};
    dni_tile tile;
    for (size_t input = 0, n; input < encoder->n_inputs; input += n) {
        n = dni_encode_group(encoder, input);
        dn_status status = dni_encoding_open_part(slot, self->source, encoder, self->columns, input, n, chunk, slot_index, &self->run, err);
        if (status != DN_OK)
            return status;
        dni_walk walk = dni_walk_chunk(&self->selection, chunk);
        while (dni_walk_next(&walk, &tile)) {
            status = dni_pace_poll(&pace, 4 * (double)tile.n * (double)n, err);
            if (status == DN_OK && encoder->refuse_unseen)
                status = dni_encoding_refuse_unseen(slot, self->source, encoder, &tile, input, n, self->weight, err);
            if (status != DN_OK)
                return status;
            dni_encode_dense(slot, encoder, &tile, input, n, out->values + (first + tile.position) * encoder->n_features);
        }
    }
    return DN_OK;
}

static dn_status build_chunk(void *arg, const dn_block *block, size_t slot, double *out, dn_error *err) {
    (void)out;
    struct source_rows *self = arg;
    size_t chunk = block->first_row, first = dni_selection_chunk_rank(&self->selection, chunk);
    dni_walk walk = dni_walk_chunk(&self->selection, chunk);
    if (self->sparse || self->encoder->n_bases > 0 || walk.left == 0) /* a basis wants all its columns at once */
        return encode_walk(self, &self->builders[slot], slot, walk, first, &self->all, err);
    dn_status status = encode_chunk(self, &self->builders[slot], slot, chunk, first, &self->all, err);
    dni_tile tile;
    while (status == DN_OK && dni_walk_next(&walk, &tile))
        copy_labels(self, &tile, first + tile.position, &self->all);
    return status;
}

static dn_status build_all(struct source_rows *self, const dn_run *run, dn_error *err) {
    size_t n = self->rows.n_rows;
    dn_status status = encoded_init(&self->all, self, n, "the encoded rows", err);
    if (status != DN_OK)
        return status;
    bool serial = false;
    size_t n_slots = dni_source_slots(self->source, &self->run, &serial), made = 0;
    void *builders = NULL;
    status = dn_run_alloc(&self->run, n_slots, sizeof *self->builders, "the encoder's inputs", &builders, err);
    self->builders = builders;
    for (; status == DN_OK && made < n_slots; made++)
        status = dni_encoding_slot_init(&self->builders[made], self->encoder, &self->run, err);
    if (status == DN_OK)
        status = dni_sum_numbers(run, serial, self->source->n_chunks, 1, build_chunk, self, 0, NULL, err);
    for (size_t i = 0; i < made; i++)
        dni_encoding_slot_done(&self->builders[i], self->encoder, &self->run);
    dn_run_free(&self->run, builders);
    self->builders = NULL;
    dni_pace pace = {.run = &self->run};
    if (status == DN_OK && self->sparse)
        status = dni_encode_compact(n, self->encoder->n_entries, self->all.count, self->all.values, self->all.cols, self->all.row_start,
                                    &pace, err);
    return status;
}

static dn_status memory_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out, dn_error *err) {
    (void)slot;
    (void)err;
    const struct source_rows *self = (const struct source_rows *)rows;
    size_t first = i * DN_BLOCK_ROWS;
    size_t n = rows->n_rows - first < DN_BLOCK_ROWS ? rows->n_rows - first : DN_BLOCK_ROWS;
    *out = (dn_block){.first_row = first,
                      .x = dn_matrix_rows(encoded_view(self, &self->all, rows->n_rows), first, n),
                      .target = self->target == NULL ? NULL : self->all.target + first,
                      .weight = self->weight == NULL ? NULL : self->all.weight + first};
    return DN_OK;
}

/* ---- streaming --------------------------------------------------------------------------------------------------------------------------- */
static dn_status stream_ready(const struct source_rows *self, struct stream_slot *slot, dn_error *err) {
    if (slot->ready)
        return DN_OK;
    size_t n = self->rows.n_rows < DN_BLOCK_ROWS ? self->rows.n_rows : DN_BLOCK_ROWS;
    dn_status status = dni_encoding_slot_init(&slot->encoding, self->encoder, &self->run, err);
    if (status != DN_OK)
        return status;
    status = encoded_init(&slot->block, self, n, "a block of encoded rows", err);
    if (status != DN_OK) {
        dni_encoding_slot_done(&slot->encoding, self->encoder, &self->run);
        return status;
    }
    slot->ready = true;
    return DN_OK;
}

static dn_status stream_block(const dn_rows *rows, size_t i, size_t slot_index, dn_block *out, dn_error *err) {
    const struct source_rows *self = (const struct source_rows *)rows;
    struct stream_slot *slot = &self->slots[slot_index];
    dn_status status = stream_ready(self, slot, err);
    if (status == DN_OK)
        status = encode_walk(self, &slot->encoding, slot_index, dni_walk_block(&self->selection, i), 0, &slot->block, err);
    if (status != DN_OK)
        return status;
    size_t first = i * DN_BLOCK_ROWS;
    size_t n = rows->n_rows - first < DN_BLOCK_ROWS ? rows->n_rows - first : DN_BLOCK_ROWS;
    dni_pace pace = {.run = &self->run};
    if (self->sparse)
        status = dni_encode_compact(n, self->encoder->n_entries, slot->block.count, slot->block.values, slot->block.cols,
                                    slot->block.row_start, &pace, err);
    if (status != DN_OK)
        return status;
    *out = (dn_block){.first_row = first,
                      .x = encoded_view(self, &slot->block, n),
                      .target = slot->block.target,
                      .weight = slot->block.weight};
    return DN_OK;
}

static dn_status prepare_stream(struct source_rows *self, dn_error *err) {
    bool serial = false;
    size_t n_slots = dni_source_slots(self->source, &self->run, &serial);
    if (serial)
        return dn_error_set(err, DN_ERR_ARGUMENT, "the run uses %zu slots at once, the table source has only %zu", self->run.n_slots,
                            self->source->n_slots);
    void *slots = NULL;
    dn_status status = dn_run_alloc(&self->run, n_slots, sizeof *self->slots, "the encoder's inputs", &slots, err);
    if (status != DN_OK)
        return status;
    self->slots = slots;
    self->rows.n_slots = n_slots;
    return DN_OK;
}

/* ---- life -------------------------------------------------------------------------------------------------------------------------------- */
static void source_rows_free(dn_rows *rows) {
    struct source_rows *self = (struct source_rows *)rows;
    dn_run *run = &self->run;
    for (size_t i = 0; self->slots != NULL && i < rows->n_slots; i++) {
        if (!self->slots[i].ready)
            continue;
        dni_encoding_slot_done(&self->slots[i].encoding, self->encoder, run);
        dn_run_free(run, self->slots[i].block.memory);
    }
    dn_run_free(run, self->slots);
    dn_run_free(run, self->all.memory);
    dn_run_free(run, self->columns);
    dni_selection_done(&self->selection, run);
    free(self);
}

/* Finds the encoder's inputs among the source's columns by name; usually each follows the one before. */
static dn_status find_columns(struct source_rows *self, dn_error *err) {
    const dn_table_source *source = self->source;
    void *columns = NULL;
    dn_status status = dn_run_alloc(&self->run, self->encoder->n_inputs, sizeof *self->columns, "the encoder's inputs", &columns, err);
    if (status != DN_OK)
        return status;
    self->columns = columns;
    size_t next = 0;
    for (size_t i = 0; i < self->encoder->n_inputs; i++) {
        const dn_input *input = &self->encoder->inputs[i];
        size_t looked = 0;
        for (; looked < source->n_cols; looked++, next++) {
            next = next < source->n_cols ? next : 0;
            if (strcmp(source->columns[next].name, input->name) == 0)
                break;
        }
        if (looked == source->n_cols)
            status = dn_error_set(err, DN_ERR_DATA, "there is no column \"%s\"", input->name);
        else if (source->columns[next].type != input->type)
            status = dn_error_set(err, DN_ERR_DATA, "column \"%s\" must be %s (it is %s)", input->name, dn_column_type_name(input->type),
                                  dn_column_type_name(source->columns[next].type));
        if (status != DN_OK) {
            dn_error_set_field(err, input->name);
            return status;
        }
        self->columns[i] = next++;
    }
    return DN_OK;
}

dn_status dn_rows_from_source(const dn_table_source *source, const dn_encoder *encoder, const uint8_t *role, enum dn_row_role wanted,
                              const double *target, const double *weight, bool in_memory, const dn_run *run, dn_rows **out, dn_error *err) {
    struct source_rows *self = calloc(1, sizeof *self);
    if (self == NULL)
        return dn_error_set(err, DN_ERR_MEMORY, "the rows need %zu bytes of memory, which the system does not have", sizeof *self);
    self->source = source;
    self->encoder = encoder;
    dn_run fallback = dn_run_default();
    if (run == NULL)
        run = &fallback;
    self->run = *run;
    self->target = target;
    self->weight = weight;
    self->sparse = is_sparse(encoder);
    self->rows.n_slots = in_memory ? SIZE_MAX : 1;
    self->rows.n_cols = encoder->n_features;
    self->rows.block = in_memory ? memory_block : stream_block;
    self->rows.free = source_rows_free;
    dn_status status = find_columns(self, err);
    if (status == DN_OK)
        status = dni_selection_init(&self->selection, source, role, wanted, &self->run, err);
    self->rows.n_rows = self->selection.n_rows;
    self->rows.n_blocks = self->selection.n_blocks;
    if (status == DN_OK)
        status = in_memory ? build_all(self, run, err) : prepare_stream(self, err);
    if (status == DN_OK)
        *out = &self->rows;
    else
        source_rows_free(&self->rows);
    return status;
}
