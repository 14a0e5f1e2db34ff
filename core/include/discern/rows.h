/* Rows: the one way in which encoder, learners and metrics see data.
 *
 * A dn_rows is a sequence of rows cut into blocks of DN_BLOCK_ROWS (the last may be shorter): borders are row numbers, never chunks of a file,
 * threads or machines, so that sums over blocks are the same however the data is held. A matrix in memory is the first implementation
 * (dn_rows_from_matrix), a table source read chunk by chunk and encoded on the fly the second (dn_rows_from_source in encoder.h).
 *
 * A block of wide dense rows is large: it is looked at in pieces, one after the other, so that no more than one of them need be in memory at once. How many rows a piece has is told by the number of
 * columns alone, so that what is computed piece by piece is the same however the data is held, too. */
#ifndef DISCERN_ROWS_H
#define DISCERN_ROWS_H

#include <discern/api.h>
#include <discern/matrix.h>
#include <discern/status.h>
#include <stddef.h>

DN_BEGIN_DECLS

#define DN_BLOCK_ROWS 4096
#define DN_PIECE_BYTES ((size_t)4 << 20) /* dense values of a piece, unless 256 rows are more */

/* One block, or a piece of one. Views are valid until the next call of dn_rows_block with the same slot. */
typedef struct dn_block {
    size_t first_row; /* number of its first row */
    dn_matrix x;      /* [n_rows × n_cols] */
    const double *
        target; /* [n_rows] class index 0 … K-1 (or the value, for methods with a numeric target); NULL: none */
    const double *weight; /* [n_rows] >= 0; NULL: all 1 */
} dn_block;

typedef struct dn_rows dn_rows;
struct dn_rows {
    size_t n_rows, n_cols, n_blocks;
    size_t
        n_slots; /* calls with different slots 0 … n_slots-1 may run at once; an in-memory one has SIZE_MAX */
    size_t piece_rows; /* dn_piece_rows; 0: a block is one piece */
    dn_status (*block)(const dn_rows *rows, size_t i, size_t slot, dn_block *out, dn_error *err);
    /* Rows first … first + n - 1 of block i. NULL: `block` is called, whose rows are there anyway. */
    dn_status (*piece)(const dn_rows *rows,
                       size_t i,
                       size_t first,
                       size_t n,
                       size_t slot,
                       dn_block *out,
                       dn_error *err);
    void (*free)(dn_rows *rows);
};

/* Block i (< n_blocks). DN_ERR_SOURCE when the data cannot be delivered. */
DN_MUST_USE dn_status
dn_rows_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out, dn_error *err);

/* Rows of a piece of dense rows: a power of two from 256 to DN_BLOCK_ROWS. */
size_t dn_piece_rows(size_t n_cols);
/* How many pieces block i has, and piece k (< that) of it, from row k · piece_rows of the block on. */
size_t dn_rows_n_pieces(const dn_rows *rows, size_t i);
DN_MUST_USE dn_status
dn_rows_piece(const dn_rows *rows, size_t i, size_t k, size_t slot, dn_block *out, dn_error *err);

/* Rows over arrays in memory, which must outlive it. target, weight: [n_rows] or NULL. Heap object; free with dn_rows_free. */
DN_MUST_USE dn_status dn_rows_from_matrix(
    dn_matrix x, const double *target, const double *weight, dn_rows **out, dn_error *err);

void dn_rows_free(dn_rows *rows); /* NULL is allowed */

DN_END_DECLS

#endif
