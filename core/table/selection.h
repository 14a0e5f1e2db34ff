/* The selected rows of a source, divided into blocks of DN_BLOCK_ROWS and visited in tiles that do
 * not cross chunk borders; and the chunk that a slot has opened. All code that reads a table row
 * by row uses these functions. */
#ifndef DNI_SELECTION_H
#define DNI_SELECTION_H

#include <discern/encoder.h>

#define DNI_CHUNK_TILE_ROWS 256 /* number of rows; a divisor of DN_BLOCK_ROWS */

/* The rows with role[row] == wanted (role NULL: all rows), numbered from 0. */
typedef struct dni_selection {
    const dn_table_source *source;
    const uint8_t *role;
    uint8_t wanted;
    size_t n_rows;      /* number of selected rows */
    size_t n_blocks;    /* number of blocks of DN_BLOCK_ROWS selected rows; the last block may have
                         * fewer */
    size_t *block_row;  /* [n_blocks] source row of the first row of each block; NULL if `role` is
                         * NULL */
    size_t *chunk_rank; /* [n_chunks + 1] number of selected rows before each chunk; NULL if `role`
                         * is NULL */
} dni_selection;

DN_MUST_USE dn_status dni_selection_init(dni_selection *selection, const dn_table_source *source,
                                         const uint8_t *role, enum dn_row_role wanted,
                                         const dn_run *run, dn_error *err);
void dni_selection_done(dni_selection *selection, const dn_run *run);
size_t dni_selection_chunk_rank(const dni_selection *selection, size_t chunk);

/* Consecutive selected rows within one chunk. */
typedef struct dni_chunk_tile {
    size_t chunk;
    size_t n;        /* number of rows, 1 … DNI_CHUNK_TILE_ROWS */
    size_t position; /* number of the first row, counted from the start of the walk */
    size_t first;    /* index of the first row within the chunk */
    bool contiguous; /* true: the rows are first ... first + n - 1 of the chunk; false: row[] */
    size_t row[DNI_CHUNK_TILE_ROWS]; /* row indices within the chunk; set only if not contiguous */
} dni_chunk_tile;

/* Returns the index within the chunk of row i of the tile. */
static inline size_t dni_chunk_tile_row(const dni_chunk_tile *tile, size_t i) {
    return tile->contiguous ? tile->first + i : tile->row[i];
}

typedef struct dni_walk {
    const dni_selection *selection;
    size_t chunk, next;    /* the chunk of the next row; the next row of the source */
    size_t position, left; /* number of selected rows already visited; number still to visit */
} dni_walk;

dni_walk dni_walk_block(const dni_selection *selection, size_t block);
/* Starts a walk over n rows of the block, starting with its row `first`. The rows must exist. */
dni_walk dni_walk_part(const dni_selection *selection, size_t block, size_t first, size_t n);
dni_walk dni_walk_chunk(const dni_selection *selection, size_t chunk);
bool dni_walk_next(dni_walk *walk, dni_chunk_tile *tile); /* returns false at the end */

/* Selects elements of `from`, an array over the rows of the chunk. Returns [tile->n] the elements
 * for the rows of the tile: a pointer into `from` if the tile is contiguous, otherwise `scratch`,
 * [DNI_CHUNK_TILE_ROWS]. */
const double *dni_chunk_tile_gather(const dni_chunk_tile *tile, const double *from,
                                    double *scratch);

/* ---- the open chunk of a slot ---- */
typedef struct dni_open_chunk {
    size_t chunk;          /* SIZE_MAX: none */
    dn_column_view *views; /* [n] views of the requested columns */
} dni_open_chunk;

#define DNI_NO_COLUMN SIZE_MAX
/* Opens chunk `chunk`, unless it is already open, and stores views of columns[n] of the source;
 * DNI_NO_COLUMN is skipped. *out_changed: true if the chunk was not open before. */
DN_MUST_USE dn_status dni_chunk_open(dni_open_chunk *open, const dn_table_source *source,
                                     const size_t *columns, size_t n, size_t chunk, size_t slot,
                                     bool *out_changed, dn_error *err);

/* Returns the number of slots that passes over rows use: 1 if the run has neither sum nor each. */
size_t dni_run_slots(const dn_run *run);

/* Returns the run for passes over the source: a copy of `run` if the source has as many slots as
 * the run, otherwise a run that computes on the calling thread. n_slots is that of
 * dni_run_slots. */
dn_run dni_source_run(const dn_table_source *source, const dn_run *run);

#endif
