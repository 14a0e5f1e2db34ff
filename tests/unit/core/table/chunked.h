/* For tests: a table in memory whose columns are read in chunks with any borders, each encoded and
 * decoded as in the store; a run that computes blocks out of order on several slots; an allocator
 * whose calls fail. */
#ifndef TESTS_CHUNKED_H
#define TESTS_CHUNKED_H

#include <discern/encoder.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A column. A cell of a categorical or text column is missing if its pointer is NULL. */
typedef struct chunked_column {
    dn_table_column column;
    const double *number;    /* numeric, boolean: [n_rows]; sparse: the value of each entry */
    const char *const *text; /* categorical, text: [n_rows] */
    const size_t *row_start; /* sparse: [n_rows + 1] */
    const uint32_t *index;   /* sparse: the index of each entry */
} chunked_column;

#define CHUNKED_SLOTS 4
#define CHUNKED_COLUMNS 1300
typedef struct chunked {
    dn_table_source source; /* first */
    const chunked_column *data;
    dn_table_column columns[CHUNKED_COLUMNS];
    dn_column_chunk *chunks[CHUNKED_SLOTS][CHUNKED_COLUMNS];
    size_t fail_at; /* this call of column() fails, counted from 1; 0: none */
    size_t calls;
} chunked;

/* borders [n_chunks + 1] must outlive `self`. */
void chunked_init(chunked *self, const chunked_column *data, size_t n_cols, size_t n_rows,
                  const size_t *borders, size_t n_chunks);

void chunked_done(chunked *self);

dn_run scattered_run(void);

/* An allocator that counts live allocations. It refuses one call, or all sizes between two
 * limits. */
typedef struct refusing {
    dn_allocator allocator;
    size_t live, calls, refuse;   /* refuse: number of the refused call, from 1; 0: none */
    size_t limit, below, refused; /* limits of a size in bytes, 0: none; number of refused calls */
} refusing;

void refusing_init(refusing *self, size_t refuse);

#endif
