/* Sparse rows of a column chunk of type DN_SPARSE: under construction, serialized
 * (column_format.h), and decoded. */
#ifndef DNI_COLUMN_SPARSE_H
#define DNI_COLUMN_SPARSE_H

#include "base/bytes.h"
#include "table/column_format.h"

/* Sparse rows under construction. Zero-initialised: no rows. */
typedef struct dni_sparse_rows {
    uint32_t *length; /* [n_rows] number of entries of each row */
    size_t length_capacity;
    uint32_t *index; /* [n_entries] indices, row after row */
    size_t index_capacity;
    double *number; /* [n_entries] */
    size_t number_capacity;
    size_t n_rows, n_entries;
    uint32_t max_length; /* the largest number of entries of a row */
    uint32_t max_index;  /* the largest index of an entry */
} dni_sparse_rows;

void dni_sparse_rows_done(dni_sparse_rows *rows);
void dni_sparse_rows_clear(dni_sparse_rows *rows); /* keeps the memory */
/* Appends a row of n entries. DN_ERR_ARGUMENT unless indices ascend strictly and values are
 * finite; DN_ERR_DATA if the chunk has too many entries. On failure the rows are unchanged. */
DN_MUST_USE dn_status dni_sparse_rows_add(dni_sparse_rows *rows, const uint32_t *index,
                                          const double *value, size_t n, dn_error *err);
/* Writes the part of a chunk after the kind and the number of rows. */
void dni_sparse_rows_write(dni_writer *writer, const dni_sparse_rows *rows);

/* Arrays of decoded sparse rows, to which views point. Zero-initialised: no rows. */
typedef struct dni_sparse_view {
    size_t *row_start; /* [n_rows + 1] */
    size_t row_capacity;
    uint32_t *index; /* [row_start[n_rows]] index of each entry */
    size_t index_capacity;
    double *number; /* [row_start[n_rows]] value of each entry */
    size_t number_capacity;
    size_t n_ones; /* the first n_ones elements of `number` are 1, written for an earlier chunk */
} dni_sparse_view;

void dni_sparse_view_done(dni_sparse_view *view);
size_t dni_sparse_view_memory(const dni_sparse_view *view); /* bytes allocated */
/* Reads the bytes that dni_sparse_rows_write wrote. DN_ERR_CORRUPT if they are inconsistent.
 * Allocates at most a small multiple of the size of the bytes. */
DN_MUST_USE dn_status dni_sparse_view_read(dni_sparse_view *view, dni_reader *reader, size_t n_rows,
                                           dn_error *err);

#endif
