#include "unit/core/table/chunked.h"

static dn_status chunked_column_of(const dn_table_source *source, size_t chunk, size_t column,
                                   size_t slot, dn_column_view *out, dn_error *err) {
    chunked *self = (chunked *)source->ctx;
    if (self->fail_at != 0 && ++self->calls == self->fail_at) {
        return dn_error_set(err, DN_ERR_SOURCE, "the disk is gone");
    }
    const chunked_column *data = &self->data[column];
    dn_column_builder *builder = NULL;
    void *bytes = NULL;
    size_t size = 0;
    dn_status status = dn_column_builder_new(&builder, err);
    for (size_t i = source->chunk_first_row[chunk];
         status == DN_OK && i < source->chunk_first_row[chunk + 1]; i++) {
        if (data->row_start != NULL) {
            status = dn_column_builder_entries(builder, data->index + data->row_start[i],
                                               data->number + data->row_start[i],
                                               data->row_start[i + 1] - data->row_start[i], err);
        } else if (data->number != NULL) {
            status = dn_column_builder_number(builder, data->number[i], NULL, 0, err);
        } else if (data->text[i] == NULL) {
            status = dn_column_builder_missing(builder, err);
        } else {
            status = dn_column_builder_string(builder, data->text[i], strlen(data->text[i]), err);
        }
    }
    if (status == DN_OK) {
        status = dn_column_builder_encode(builder, &bytes, &size, err);
    }
    if (status == DN_OK && self->chunks[slot][column] == NULL) {
        status = dn_column_chunk_new(&self->chunks[slot][column], err);
    }
    if (status == DN_OK) {
        status = dn_column_chunk_decode(self->chunks[slot][column], bytes, size, data->column.type,
                                        out, err);
    }
    dn_column_builder_free(builder);
    free(bytes);
    return status;
}

void chunked_init(chunked *self, const chunked_column *data, size_t n_cols, size_t n_rows,
                  const size_t *borders, size_t n_chunks) {
    memset(self, 0, sizeof *self);
    self->data = data;
    for (size_t i = 0; i < n_cols; i++) {
        self->columns[i] = data[i].column;
    }
    self->source = (dn_table_source){.n_rows = n_rows,
                                     .n_cols = n_cols,
                                     .n_chunks = n_chunks,
                                     .columns = self->columns,
                                     .chunk_first_row = borders,
                                     .n_slots = CHUNKED_SLOTS,
                                     .column = chunked_column_of,
                                     .ctx = self};
}

void chunked_done(chunked *self) {
    for (size_t s = 0; s < CHUNKED_SLOTS; s++) {
        for (size_t c = 0; c < CHUNKED_COLUMNS; c++) {
            dn_column_chunk_free(self->chunks[s][c]);
        }
    }
}

/* A dn_run.each that simulates several threads on one thread: it computes ranges of two blocks from
 * the last range to the first, on alternating slots. */
static dn_status scattered_each(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                                dn_error *err) {
    for (size_t r = (rows->n_blocks + 1) / 2; r-- > 0;) {
        for (size_t i = 2 * r; i < 2 * r + 2 && i < rows->n_blocks; i++) {
            dn_status status =
                dn_run_each_block(NULL, rows, i, (r * 7 + 3) % run->n_slots, fn, arg, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

dn_run scattered_run(void) {
    dn_run run = dn_run_default();
    run.n_slots = CHUNKED_SLOTS;
    run.each = scattered_each;
    return run;
}

static void *refusing_allocate(void *ctx, size_t size) {
    refusing *self = (refusing *)ctx;
    if (++self->calls == self->refuse || (size > self->limit && size < self->below)) {
        self->refused++;
        return NULL;
    }
    void *memory = malloc(size);
    if (memory != NULL) {
        memset(memory, 0xa5, size);
        self->live++;
    }
    return memory;
}

static void refusing_release(void *ctx, void *memory) {
    refusing *self = (refusing *)ctx;
    self->live -= memory != NULL;
    free(memory);
}

void refusing_init(refusing *self, size_t refuse) {
    *self = (refusing){.refuse = refuse};
    self->allocator = (dn_allocator){.allocate = refusing_allocate,
                                     .release = refusing_release,
                                     .ctx = self,
                                     .budgeted = true};
}
