/* The stored predictions of held-out rows: chunks that are staged with the bytes of the model.
 *
 * A chunk is little-endian:
 *
 *   u32  "DNHO"              u32  1, the version of this format
 *   u32  number of rows      u32  number of values of a row
 *   u32  flags: 1 the values are probabilities, 2 rows have weights, 4 rows have repeats
 *   u32  size of the head    u64  number of rows of all chunks
 *   the head, in the first chunk only: JSON text {"classes":[…],"columns":"…"}
 *   the rows, each: u64 row, u32 fold, u32 repeat, u32 truth, u32 label, f64 weight with the flag
 *   2, and the values as f64. A label of 0xffffffff: the row is ambiguous
 *
 * Folds and repeats are counted from 1; fold 0: a holdout. "columns" is the CSV header of the label
 * and the values. */
#ifndef JOBS_HELD_OUT_CHUNKS_H
#define JOBS_HELD_OUT_CHUNKS_H

#include "base/memory/buf.h"
#include "base/problem.h"
#include <discern/discern.h>

/* Predictions with more values than this are not kept. */
#define JOBS_HELD_OUT_VALUES 1e7

/* The predictions of a training. */
struct held_out_source {
    const dn_held_out *rows;
    const dn_model *model;
    bool folds; /* the rows were held out by folds, not by a holdout */
};
/* Writes the next rows from `first` on; about 1 MiB. Returns the number of rows written. */
size_t held_out_chunk_write(const struct held_out_source *source, size_t first, struct buf *out);

/* A chunk that was read. Borrows the bytes. */
struct held_out_chunk {
    size_t n, n_values;
    bool probabilities, weighted, repeated;
    uint64_t n_all;   /* rows of all chunks */
    const char *head; /* [head_size] JSON text; not NUL-terminated */
    size_t head_size; /* 0: not the first chunk */
    const unsigned char *rows;
    size_t row_size;
};
struct held_out_row {
    uint64_t row;
    uint32_t fold, repeat, truth, label;
    double weight;
};
/* Returns false after setting PROBLEM_INTERNAL if the bytes are not a chunk. */
bool held_out_chunk_read(const void *bytes, size_t size, struct held_out_chunk *out,
                         struct problem *problem);
struct held_out_row held_out_chunk_row(const struct held_out_chunk *chunk, size_t i);
/* Returns value k of row i. */
double held_out_chunk_value(const struct held_out_chunk *chunk, size_t i, size_t k);

#endif
