/* Rows of feature vectors, in blocks.
 *
 * Encoders produce data, and learners and metrics read them, as a dn_rows: a sequence of rows
 * divided into blocks of DN_BLOCK_ROWS rows; the last block may be shorter. Block borders depend on
 * row numbers only, not on chunks of files, threads or machines, so that sums over blocks are the
 * same for every source of the data. dn_rows_from_matrix makes rows of a matrix in memory.
 * dn_rows_from_source (encoder.h) makes rows of a table that is read chunk by chunk and encoded
 * when a block is read.
 *
 * A block of wide dense rows needs much memory. It is read in pieces, one after the other, of
 * which only one needs to be in memory. The number of rows of a piece depends only on the number
 * of columns, so that results computed piece by piece do not depend on the source either. */
#ifndef DISCERN_ROWS_H
#define DISCERN_ROWS_H

#include <discern/api.h>
#include <discern/matrix.h>
#include <discern/status.h>
#include <stddef.h>

DN_BEGIN_DECLS

#define DN_BLOCK_ROWS 4096
/* Maximum bytes of the dense values of a piece; exceeded only if 256 rows need more. */
#define DN_PIECE_BYTES ((size_t)4 << 20)

/* One block or one piece of a block. The arrays are valid until the next call with the same
 * slot. */
typedef struct dn_block {
    size_t first_row;     /* number of the first row of the block or piece among all rows */
    dn_matrix x;          /* [n_rows x n_cols] */
    const double *target; /* [n_rows] class index 0 ... K - 1, or a numeric target; NULL: none */
    const double *weight; /* [n_rows] >= 0; NULL: every weight is 1 */
} dn_block;

typedef struct dn_rows dn_rows;
struct dn_rows {
    size_t n_rows, n_cols, n_blocks;
    size_t n_slots;    /* number of slots: calls with different slots 0 ... n_slots - 1 may run
                        * concurrently */
    size_t piece_rows; /* number of rows of a piece (dn_piece_rows); 0: a block is one piece */

    /* Delivers block i. */
    dn_status (*block)(const dn_rows *rows, size_t i, size_t slot, dn_block *out, dn_error *err);

    /* Reads rows first ... first + n - 1 of block i. NULL: the piece is a part of the result of
     * `block`. */
    dn_status (*piece)(const dn_rows *rows,
                       size_t i,
                       size_t first,
                       size_t n,
                       size_t slot,
                       dn_block *out,
                       dn_error *err);
    void (*free)(dn_rows *rows);
};

/* Reads block i < n_blocks into *out. DN_ERR_SOURCE if the source of the data fails. Concurrent
 * calls must use different slots. */
DN_MUST_USE dn_status
dn_rows_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out, dn_error *err);

/* Returns the number of rows of a piece of dense rows with n_cols columns: a power of two from 256
 * to DN_BLOCK_ROWS. */
size_t dn_piece_rows(size_t n_cols);
/* Returns the number of pieces of block i. */
size_t dn_rows_n_pieces(const dn_rows *rows, size_t i);
/* Reads piece k of block i, which begins at row k * piece_rows of the block. Otherwise like
 * dn_rows_block. */
DN_MUST_USE dn_status
dn_rows_piece(const dn_rows *rows, size_t i, size_t k, size_t slot, dn_block *out, dn_error *err);

/* Makes rows from arrays in memory, which are not copied and must outlive the rows.
 *
 *   x       dense or sparse
 *   target  [x.n_rows] or NULL
 *   weight  [x.n_rows] or NULL
 *   out     heap object; the caller frees it with dn_rows_free
 *
 * DN_ERR_MEMORY if memory is exhausted. */
DN_MUST_USE dn_status dn_rows_from_matrix(
    dn_matrix x, const double *target, const double *weight, dn_rows **out, dn_error *err);

void dn_rows_free(dn_rows *rows); /* NULL is allowed */

DN_END_DECLS

#endif
