/* Encoded rows of a table (dn_rows_from_source). The rows of a joined encoder are the blocks of its
 * parts, copied side by side. */
#include "base/argument.h"
#include "encoder/encoded_rows.h"
#include "encoder/encoder_impl.h"

#include <stdlib.h>
#include <string.h>

/* The latest block of a slot. */
struct slot {
    double *values;    /* dense: [rows × n_cols]; CSR: [n_entries] */
    uint32_t *cols;    /* CSR: [n_entries] */
    size_t *row_start; /* CSR: [rows + 1] */
    dn_block *blocks;  /* [n_parts] those of the parts */
    size_t n_values, n_rows;
};

struct joined_rows {
    dn_rows rows; /* first member, so that a dn_rows * can be converted */
    dn_run run;
    dn_rows **parts; /* [n_parts] */
    size_t n_parts;
    bool sparse;
    struct slot *slots; /* [n_slots] */
    size_t n_slots;
};

/* Makes room for n_values values and n_rows rows; the old contents are lost. */
static dn_status reserve(const struct joined_rows *self, struct slot *slot, size_t n_values,
                         size_t n_rows, dn_error *err) {
    void *values = NULL, *cols = NULL, *starts = NULL;
    dn_status status = DN_OK;
    if (n_values > slot->n_values) {
        dn_run_free(&self->run, slot->values);
        dn_run_free(&self->run, slot->cols);
        slot->values = NULL;
        slot->cols = NULL;
        slot->n_values = 0;
        status = dn_run_alloc(&self->run, n_values, sizeof *slot->values, "a block of joined rows",
                              &values, err);
        if (status == DN_OK && self->sparse) {
            status = dn_run_alloc(&self->run, n_values, sizeof *slot->cols,
                                  "a block of joined rows", &cols, err);
        }
        slot->values = values;
        slot->cols = cols;
        slot->n_values = status == DN_OK ? n_values : 0;
    }
    if (status == DN_OK && self->sparse && n_rows > slot->n_rows) {
        dn_run_free(&self->run, slot->row_start);
        status = dn_run_alloc(&self->run, n_rows + 1, sizeof *slot->row_start,
                              "a block of joined rows", &starts, err);
        slot->row_start = starts;
        slot->n_rows = status == DN_OK ? n_rows : 0;
    }
    return status;
}

/* Copies row i of x to the entries from *at on. */
static void add_entries(const struct slot *slot, dn_matrix x, size_t i, size_t first, size_t *at) {
    if (x.kind == DN_DENSE) {
        for (size_t j = 0; j < x.n_cols; j++) {
            *at =
                dni_put_entry(slot->values, slot->cols, *at, first + j, x.values[i * x.stride + j]);
        }
        return;
    }
    for (size_t e = x.row_start[i]; e < x.row_start[i + 1]; e++) {
        slot->cols[*at] = (uint32_t)(first + x.cols[e]);
        slot->values[(*at)++] = x.values[e];
    }
}

static dn_status join_sparse(const struct joined_rows *self, struct slot *slot, size_t n,
                             dn_matrix *out, dn_error *err) {
    size_t most = 1, at = 0; /* + 1: dni_put_entry writes one entry past the end */
    for (size_t p = 0; p < self->n_parts; p++) {
        const dn_matrix x = slot->blocks[p].x;
        most += x.kind == DN_DENSE ? n * x.n_cols : x.row_start[n] - x.row_start[0];
    }
    const dn_status status = reserve(self, slot, most, n, err);
    if (status != DN_OK) {
        return status;
    }
    slot->row_start[0] = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t p = 0, first = 0; p < self->n_parts; p++) {
            add_entries(slot, slot->blocks[p].x, i, first, &at);
            first += slot->blocks[p].x.n_cols;
        }
        slot->row_start[i + 1] = at;
    }
    *out = dn_matrix_csr(slot->row_start, slot->cols, slot->values, n, self->rows.n_cols);
    return DN_OK;
}

static dn_status join_dense(const struct joined_rows *self, struct slot *slot, size_t n,
                            dn_matrix *out, dn_error *err) {
    const size_t width = self->rows.n_cols;
    const dn_status status = reserve(self, slot, n * width, n, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t p = 0, first = 0; p < self->n_parts; p++) {
        const dn_matrix x = slot->blocks[p].x;
        for (size_t i = 0; i < n; i++) {
            memcpy(slot->values + i * width + first, x.values + i * x.stride,
                   x.n_cols * sizeof *x.values);
        }
        first += x.n_cols;
    }
    *out = dn_matrix_dense(slot->values, n, width);
    return DN_OK;
}

/* Makes a block of those of the parts. */
static dn_status join_blocks(const struct joined_rows *self, size_t slot_index, dn_block *out,
                             dn_error *err) {
    struct slot *slot = &self->slots[slot_index];
    *out = slot->blocks[0];
    const size_t n = out->x.n_rows;
    return self->sparse ? join_sparse(self, slot, n, &out->x, err)
                        : join_dense(self, slot, n, &out->x, err);
}

static dn_status joined_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                              dn_error *err) {
    const struct joined_rows *self = (const struct joined_rows *)rows;
    for (size_t p = 0; p < self->n_parts; p++) {
        dni_encoded_rows_close(self->parts[p], slot);
        const dn_status status =
            dn_rows_block(self->parts[p], i, slot, &self->slots[slot].blocks[p], err);
        if (status != DN_OK) {
            return status;
        }
    }
    return join_blocks(self, slot, out, err);
}

static dn_status joined_piece(const dn_rows *rows, size_t i, size_t first, size_t n, size_t slot,
                              dn_block *out, dn_error *err) {
    const struct joined_rows *self = (const struct joined_rows *)rows;
    for (size_t p = 0; p < self->n_parts; p++) {
        dn_rows *part = self->parts[p];
        dn_block *block = &self->slots[slot].blocks[p];
        dni_encoded_rows_close(part, slot);
        const dn_status status = part->piece != NULL
                                     ? part->piece(part, i, first, n, slot, block, err)
                                     : dn_rows_block(part, i, slot, block, err);
        if (status != DN_OK) {
            return status;
        }
        if (part->piece == NULL) {
            block->first_row += first;
            block->x = dn_matrix_rows(block->x, first, n);
            block->target = block->target == NULL ? NULL : block->target + first;
            block->weight = block->weight == NULL ? NULL : block->weight + first;
        }
    }
    return join_blocks(self, slot, out, err);
}

static void joined_free(dn_rows *rows) {
    struct joined_rows *self = (struct joined_rows *)rows;
    for (size_t s = 0; self->slots != NULL && s < self->n_slots; s++) {
        dn_run_free(&self->run, self->slots[s].values);
        dn_run_free(&self->run, self->slots[s].cols);
        dn_run_free(&self->run, self->slots[s].row_start);
        free(self->slots[s].blocks);
    }
    for (size_t p = 0; self->parts != NULL && p < self->n_parts; p++) {
        dn_rows_free(self->parts[p]);
    }
    free(self->slots);
    free((void *)self->parts);
    free(self);
}

/* Sets the slots after the rows of the parts were made. */
static dn_status make_slots(struct joined_rows *self, dn_error *err) {
    size_t n_slots = dni_run_slots(&self->run);
    for (size_t p = 0; p < self->n_parts; p++) {
        n_slots = self->parts[p]->n_slots < n_slots ? self->parts[p]->n_slots : n_slots;
    }
    self->slots = calloc(n_slots + 1, sizeof *self->slots);
    self->n_slots = self->slots == NULL ? 0 : n_slots;
    bool good = self->slots != NULL;
    for (size_t s = 0; s < self->n_slots; s++) {
        self->slots[s].blocks = calloc(self->n_parts + 1, sizeof *self->slots[s].blocks);
        good = good && self->slots[s].blocks != NULL;
    }
    self->rows.n_slots = n_slots;
    return good ? DN_OK : dni_encoder_no_memory(err);
}

static dn_status join_rows(const dn_table_source *source, const dn_encoder *encoder,
                           const uint8_t *role, enum dn_row_role wanted, const double *target,
                           const double *weight, bool in_memory, const dn_run *run, dn_rows **out,
                           dn_error *err) {
    struct joined_rows *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return dni_encoder_no_memory(err);
    }
    self->run = *run;
    self->sparse = encoder->sparse;
    self->n_parts = encoder->n_parts;
    self->rows = (dn_rows){.n_cols = encoder->n_features,
                           .piece_rows = self->sparse ? 0 : dn_piece_rows(encoder->n_features),
                           .block = joined_block,
                           .piece = self->sparse ? NULL : joined_piece,
                           .free = joined_free};
    self->parts = calloc(self->n_parts + 1, sizeof(*self->parts));
    dn_status status = self->parts == NULL ? dni_encoder_no_memory(err) : DN_OK;
    for (size_t p = 0; p < self->n_parts && status == DN_OK; p++) {
        status = dni_encoded_rows(source, encoder->parts[p], role, wanted, target, weight,
                                  in_memory, run, &self->parts[p], err);
    }
    if (status == DN_OK) {
        self->rows.n_rows = self->parts[0]->n_rows;
        self->rows.n_blocks = self->parts[0]->n_blocks;
        status = make_slots(self, err);
    }
    if (status != DN_OK) {
        joined_free(&self->rows);
        return status;
    }
    *out = &self->rows;
    return DN_OK;
}

dn_status dn_rows_from_source(const dn_table_source *source, const dn_encoder *encoder,
                              const uint8_t *role, enum dn_row_role wanted, const double *target,
                              const double *weight, bool in_memory, const dn_run *run,
                              dn_rows **out, dn_error *err) {
    const dn_run fallback = dn_run_default();
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
    run = run == NULL ? &fallback : run;
    return encoder->n_parts == 0
               ? dni_encoded_rows(source, encoder, role, wanted, target, weight, in_memory, run,
                                  out, err)
               : join_rows(source, encoder, role, wanted, target, weight, in_memory, run, out, err);
}
