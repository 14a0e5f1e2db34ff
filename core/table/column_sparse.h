/* Sparse rows of a column chunk: growing, as bytes (column_format.h has the layout), decoded. What column_builder.c and column_chunk.c use for columns of DN_SPARSE. */
#ifndef DNI_COLUMN_SPARSE_H
#define DNI_COLUMN_SPARSE_H

#include "base/bytes.h"
#include "table/column_format.h"

/* Rows under construction. All zero is empty. */
typedef struct dni_sparse_rows {
    uint32_t *length; /* [n_rows] entries of each */
    size_t length_room;
    uint32_t *place; /* [n_entries] of all rows, one after the other */
    size_t place_room;
    double *number; /* [n_entries] */
    size_t number_room;
    size_t n_rows, n_entries;
    uint32_t longest;  /* the largest length */
    uint32_t greatest; /* the largest place */
} dni_sparse_rows;

void dni_sparse_rows_done(dni_sparse_rows *rows);
void dni_sparse_rows_clear(dni_sparse_rows *rows); /* keeps the memory */
/* A row of n entries: DN_ERR_ARGUMENT unless places ascend strictly and values are finite, DN_ERR_DATA when the chunk has too many. On failure it was not added. */
DN_MUST_USE dn_status dni_sparse_rows_add(dni_sparse_rows *rows, const uint32_t *place,
                                          const double *value, size_t n, dn_error *err);
/* All that follows the chunk's kind and number of rows. */
void dni_sparse_rows_write(dni_writer *writer, const dni_sparse_rows *rows);

/* Decoded rows: what a view of them shows. All zero is none. */
typedef struct dni_sparse_view {
    size_t *row_start; /* [n_rows + 1] */
    size_t row_room;
    uint32_t *place; /* [row_start[n_rows]] */
    size_t place_room;
    double *number; /* [row_start[n_rows]] */
    size_t number_room;
    size_t n_ones; /* so many of `number` are known to be 1, from the chunk before */
} dni_sparse_view;

void dni_sparse_view_done(dni_sparse_view *view);
/* Reads what dni_sparse_rows_write wrote. DN_ERR_CORRUPT for anything else; never reserves more than a small multiple of the bytes that are there. */
DN_MUST_USE dn_status dni_sparse_view_read(dni_sparse_view *view, dni_reader *reader, size_t n_rows,
                                           dn_error *err);

#endif
