/* Rows of a matrix in memory: blocks are views of the matrix. */
#include <discern/rows.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct matrix_rows {
    /* first member, so that a pointer to it can be cast to a pointer to struct matrix_rows */
    dn_rows rows;
    dn_matrix x;          /* view of the caller's arrays */
    const double *target; /* [n_rows] or NULL */
    const double *weight; /* [n_rows] or NULL */
};

static dn_status matrix_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                              dn_error *err) {
    (void)slot;
    (void)err;
    const struct matrix_rows *self = (const struct matrix_rows *)rows;
    size_t first = i * DN_BLOCK_ROWS;
    size_t n = rows->n_rows - first < DN_BLOCK_ROWS ? rows->n_rows - first : DN_BLOCK_ROWS;
    *out = (dn_block){
        .first_row = first,
        .x = dn_matrix_rows(self->x, first, n),
        .target = self->target == NULL ? NULL : self->target + first,
        .weight = self->weight == NULL ? NULL : self->weight + first,
    };
    return DN_OK;
}

static void matrix_free(dn_rows *rows) {
    free(rows);
}

dn_status dn_rows_from_matrix(dn_matrix x, const double *target, const double *weight,
                              dn_rows **out, dn_error *err) {
    struct matrix_rows *self = malloc(sizeof *self);
    if (self == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the rows need %zu bytes of memory, which the system does not have",
                            sizeof *self);
    }
    *self = (struct matrix_rows){
        .rows = {.n_rows = x.n_rows,
                 .n_cols = x.n_cols,
                 .n_blocks = x.n_rows / DN_BLOCK_ROWS + (x.n_rows % DN_BLOCK_ROWS != 0),
                 .n_slots = SIZE_MAX,
                 .piece_rows = x.kind == DN_DENSE ? dn_piece_rows(x.n_cols) : 0,
                 .block = matrix_block,
                 .free = matrix_free},
        .x = x,
        .target = target,
        .weight = weight,
    };
    *out = &self->rows;
    return DN_OK;
}

static dn_status refuse_block(const dn_rows *rows, size_t i, size_t slot, dn_error *err) {
    return dn_error_set(err, DN_ERR_ARGUMENT,
                        "there is no block %zu in slot %zu (of %zu blocks, %zu slots)", i, slot,
                        rows->n_blocks, rows->n_slots);
}

dn_status dn_rows_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out, dn_error *err) {
    if (i >= rows->n_blocks || slot >= rows->n_slots) {
        return refuse_block(rows, i, slot, err);
    }
    return rows->block(rows, i, slot, out, err);
}

/* ---- pieces ---- */
/* Minimum number of rows of a piece: a multiple of the tile size of learners. */
enum { MIN_PIECE_ROWS = 256 };

size_t dn_piece_rows(size_t n_cols) {
    size_t n = DN_BLOCK_ROWS;
    while (n > MIN_PIECE_ROWS && n_cols > DN_PIECE_BYTES / sizeof(double) / n) {
        n /= 2;
    }
    return n;
}

static size_t rows_of_block(const dn_rows *rows, size_t i) {
    const size_t left = rows->n_rows - i * DN_BLOCK_ROWS;
    return left < DN_BLOCK_ROWS ? left : DN_BLOCK_ROWS;
}

static bool is_cut(const dn_rows *rows) {
    return rows->piece_rows > 0 && rows->piece_rows < DN_BLOCK_ROWS;
}

size_t dn_rows_n_pieces(const dn_rows *rows, size_t i) {
    return is_cut(rows) ? (rows_of_block(rows, i) + rows->piece_rows - 1) / rows->piece_rows : 1;
}

dn_status dn_rows_piece(const dn_rows *rows, size_t i, size_t k, size_t slot, dn_block *out,
                        dn_error *err) {
    if (i >= rows->n_blocks || slot >= rows->n_slots) {
        return refuse_block(rows, i, slot, err);
    }
    if (k >= dn_rows_n_pieces(rows, i)) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "block %zu has no piece %zu", i, k);
    }
    if (!is_cut(rows)) {
        return rows->block(rows, i, slot, out, err);
    }
    const size_t first = k * rows->piece_rows, left = rows_of_block(rows, i) - first;
    const size_t n = left < rows->piece_rows ? left : rows->piece_rows;
    if (rows->piece != NULL) {
        return rows->piece(rows, i, first, n, slot, out, err);
    }
    dn_status status = rows->block(rows, i, slot, out, err);
    if (status != DN_OK) {
        return status;
    }
    out->first_row += first;
    out->x = dn_matrix_rows(out->x, first, n);
    out->target = out->target == NULL ? NULL : out->target + first;
    out->weight = out->weight == NULL ? NULL : out->weight + first;
    return DN_OK;
}

void dn_rows_free(dn_rows *rows) {
    if (rows != NULL) {
        rows->free(rows);
    }
}
