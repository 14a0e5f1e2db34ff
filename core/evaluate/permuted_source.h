/* A table source with the cells of one column in another order. */
#ifndef DNI_PERMUTED_SOURCE_H
#define DNI_PERMUTED_SOURCE_H

#include "base/random.h"
#include <discern/run.h>
#include <discern/table.h>

/* A permuted source. `table` is valid between dni_permuted_open and dni_permuted_close; it has the
 * chunks and the slots of the base. Each chunk of a categorical column has the strings of the whole
 * column. */
typedef struct dni_permuted {
    dn_table_source table;
    const dn_table_source *base;
    const dn_run *run;
    size_t column; /* the permuted column */
    dn_column_type type;
    size_t *rows; /* [n_rows] the first n_moved: the rows that are permuted, ascending */
    size_t n_moved;
    size_t *order; /* [n_rows] the first n_moved: the same rows in random order */
    size_t *from;  /* [n_rows] row i has the cell of row from[i] */
    /* the cells of the column, in the order of the base */
    double *number;  /* [n_rows] numeric, boolean; [n_entries] sparse */
    uint32_t *code;  /* [n_rows] categorical, text: index in `text`; DN_CODE_MISSING */
    uint32_t *start; /* [n_texts + 1] categorical: distinct texts; text: a text for each row */
    char *bytes;
    size_t n_texts;
    size_t *row_start;               /* [n_rows + 1] sparse */
    uint32_t *index;                 /* [n_entries] sparse */
    struct dni_permuted_slot *slots; /* [n_slots] buffers of the views */
} dni_permuted;

/* Reads column `column` of `base`, which must outlive the source.
 *
 *   role  [n_rows] the cells of rows with role `wanted` are permuted; others keep their cells
 *
 * Memory: the decoded column, and once more its cells of one chunk for each slot (a text or sparse
 * column: of all chunks). DN_ERR_BUDGET if the texts have more than 4 GiB; errors of dn_run_alloc
 * and of the base. Call dni_permuted_close also after a failure. */
DN_MUST_USE dn_status dni_permuted_open(dni_permuted *permuted, const dn_table_source *base,
                                        size_t column, const uint8_t *role, uint8_t wanted,
                                        const dn_run *run, dn_error *err);
/* Draws a new order. Until the first call the cells are in the order of the base. */
void dni_permuted_shuffle(dni_permuted *permuted, dni_random *random);
void dni_permuted_close(dni_permuted *permuted); /* permuted may be zero-initialised */

#endif
