/* The selected rows of a source, divided into blocks of DN_BLOCK_ROWS and visited in tiles that do
 * not cross chunk borders; and the chunk that a slot has open. All code that reads a table row by
 * row uses these. */
#ifndef DNI_SELECTION_H
#define DNI_SELECTION_H

#include <discern/encoder.h>

#define DNI_CHUNK_TILE_ROWS 256 /* rows; a divisor of DN_BLOCK_ROWS */

/* Rows with role[row] == wanted (role NULL: all), renumbered from 0. */
typedef struct dni_selection {
    const dn_table_source *source;
    const uint8_t *role;
    uint8_t wanted;
    size_t n_rows;      /* selected */
    size_t n_blocks;    /* of DN_BLOCK_ROWS selected rows */
    size_t *block_row;  /* [n_blocks] source row of each block's first row; NULL without role */
    size_t *chunk_rank; /* [n_chunks + 1] selected rows before the chunk; NULL without role */
} dni_selection;

DN_MUST_USE dn_status dni_selection_init(dni_selection *selection, const dn_table_source *source,
                                         const uint8_t *role, enum dn_row_role wanted,
                                         const dn_run *run, dn_error *err);
void dni_selection_done(dni_selection *selection, const dn_run *run);
size_t dni_selection_chunk_rank(const dni_selection *selection, size_t chunk);

/* Consecutive selected rows within one chunk. */
typedef struct dni_chunk_tile {
    size_t chunk;
    size_t n;        /* 1 … DNI_CHUNK_TILE_ROWS */
    size_t position; /* number of the first row, from the beginning of the walk */
    size_t first;    /* its row within the chunk */
    bool contiguous; /* rows first ... first + n - 1 of the chunk; otherwise row[] */
    size_t row[DNI_CHUNK_TILE_ROWS]; /* rows within the chunk; set only when not contiguous */
} dni_chunk_tile;

/* Row i of the tile, within the chunk. */
static inline size_t dni_chunk_tile_row(const dni_chunk_tile *tile, size_t i) {
    return tile->contiguous ? tile->first + i : tile->row[i];
}

typedef struct dni_walk {
    const dni_selection *selection;
    size_t chunk, next;    /* the next row of the source, and its chunk */
    size_t position, left; /* selected rows visited, and to visit */
} dni_walk;

dni_walk dni_walk_block(const dni_selection *selection, size_t block);
/* n rows of the block, beginning with its row `first`. They must exist. */
dni_walk dni_walk_part(const dni_selection *selection, size_t block, size_t first, size_t n);
dni_walk dni_walk_chunk(const dni_selection *selection, size_t chunk);
bool dni_walk_next(dni_walk *walk, dni_chunk_tile *tile); /* returns false at the end */

/* Returns [tile->n] the elements of `from`, an array over the rows of the chunk, at the rows of the
 * tile: a pointer into `from` if the tile is contiguous, otherwise `room`,
 * [DNI_CHUNK_TILE_ROWS]. */
const double *dni_chunk_tile_gather(const dni_chunk_tile *tile, const double *from, double *room);

/* ---- what a slot has open ---- */
typedef struct dni_open_chunk {
    size_t chunk;          /* SIZE_MAX: none */
    dn_column_view *views; /* [n] of the requested columns */
} dni_open_chunk;

#define DNI_NO_COLUMN SIZE_MAX
/* Opens chunk `chunk`, unless it is open, and stores views of columns[n] of the source;
 * DNI_NO_COLUMN is skipped. *out_changed: it was not open before. */
DN_MUST_USE dn_status dni_chunk_open(dni_open_chunk *open, const dn_table_source *source,
                                     const size_t *columns, size_t n, size_t chunk, size_t slot,
                                     bool *out_changed, dn_error *err);

/* Slots that the run's passes use: 1 if it has neither sum nor each. */
size_t dni_run_slots(const dn_run *run);

/* The run for passes over the source: `run` if the source has as many slots, otherwise one that
 * computes on the calling thread. Its n_slots is that of dni_run_slots. */
dn_run dni_source_run(const dn_table_source *source, const dn_run *run);

#endif
