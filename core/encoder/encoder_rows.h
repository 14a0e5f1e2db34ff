/* The rows of a source, encoded: what encoder_rows.c (blocks, streaming) and encoder_memory.c (all at once) share. */
#ifndef DNI_ENCODER_ROWS_H
#define DNI_ENCODER_ROWS_H

#include "base/run_memory.h"
#include "encoder/encoder_entries.h"

/* Encoded rows: the whole of them, or one block. */
typedef struct dni_encoded {
    double *values;          /* dense: [rows × n_features]; CSR: of the entries */
    uint32_t *cols;          /* CSR: of the entries */
    size_t *row_start;       /* CSR */
    double *target, *weight; /* NULL: none */
    void *memory; /* of all of it; while a sparse block is made, of all but values and cols */
} dni_encoded;

/* What one thread needs to encode blocks. */
typedef struct dni_block_slot {
    dni_encoding_slot encoding;
    dni_encoded block;
    dni_entries entries; /* CSR: the block's, whose memory grows */
    size_t room;         /* rows that `block` has memory for; 0: nothing is allocated yet */
} dni_block_slot;

typedef struct dni_source_rows {
    dn_rows rows; /* first: a dn_rows * is a dni_source_rows * */
    const dn_table_source *source;
    const dn_encoder *encoder;
    dn_run run;      /* its allocator and its stop serve until the end */
    size_t *columns; /* [n_inputs] of the source */
    dni_selection selection;
    const double *target, *weight; /* by source row, or NULL */
    dni_encoded all;               /* dense, in memory */
    dni_encoded *blocks;           /* CSR, in memory: [rows.n_blocks] */
    dni_block_slot *slots;         /* streaming, and while sparse blocks are built: [n_slots] */
    size_t n_slots;
    dni_encoding_slot *builders; /* while dense rows are built in memory: one for each slot */
} dni_source_rows;

/* One piece of memory for n rows, of CSR with so many entries. */
DN_MUST_USE dn_status dni_encoded_init(dni_encoded *encoded, const dni_source_rows *self, size_t n,
                                       size_t entries, const char *what, dn_error *err);
/* Targets and weights of a tile's rows to those of `out` from row `row` on. */
void dni_copy_labels(const dni_source_rows *self, const dni_tile *tile, size_t row,
                     dni_encoded *out);
/* Encodes all rows of a walk: to rows `first`, first + 1 … of dense ones, or to the entries (NULL: dense). */
DN_MUST_USE dn_status dni_encode_walk(const dni_source_rows *self, dni_encoding_slot *slot,
                                      size_t slot_index, dni_walk walk, size_t first,
                                      dni_encoded *out, dni_entries *entries, dn_error *err);
/* Rows of block i. */
size_t dni_block_rows(const dni_source_rows *self, size_t i);
/* Block i of the selection to the slot's block. */
DN_MUST_USE dn_status dni_encode_block(const dni_source_rows *self, size_t i, size_t slot_index,
                                       dn_error *err);
dn_block dni_block_view(const dni_source_rows *self, size_t i, const dni_encoded *encoded);
void dni_slots_done(dni_source_rows *self);

/* Encodes all rows; and what dn_rows.block is then. */
DN_MUST_USE dn_status dni_rows_build(dni_source_rows *self, const dn_run *run, dn_error *err);
DN_MUST_USE dn_status dni_memory_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                                       dn_error *err);

#endif
