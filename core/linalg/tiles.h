/* The loop over the tiles of a block, which every pass over rows uses.
 *
 *     dni_tiles tiles = dni_tiles_of(run, block);
 *     while (dni_tiles_next(&tiles, err)) {
 *         dni_tile_scores(tiles.tile.x, table, n_scores, scores);
 *         …
 *     }
 *     return tiles.status;
 *
 * Tiles begin at fixed row numbers of the block and have DNI_TILE_ROWS rows, the last one fewer, so
 * that the results of matrix products do not depend on how the work is shared. */
#ifndef DNI_TILES_H
#define DNI_TILES_H

#include "linalg/tile.h"
#include <discern/rows.h>
#include <stdbool.h>

/* Consecutive rows of a block. */
typedef struct dni_tile {
    size_t first_row;     /* number of the first row among all rows */
    dn_matrix x;          /* dense or sparse, at most DNI_TILE_ROWS rows */
    const double *target; /* [x.n_rows]; NULL: the rows have no target */
    const double *weight; /* [x.n_rows], never NULL: 1 for rows without weights */
} dni_tile;

typedef struct dni_tiles {
    const dn_run *run;
    const dn_block *block;
    size_t next;      /* row of the block where the next tile begins */
    dni_tile tile;    /* the current tile */
    dn_status status; /* DN_OK, or the status that ended the loop */
} dni_tiles;

static inline dni_tiles dni_tiles_of(const dn_run *run, const dn_block *block) {
    return (dni_tiles){.run = run, .block = block, .status = DN_OK};
}

/* Sets `tile` to the next tile. Polls the run's stop function first; if it stops the run, the loop
 * ends with this status. Returns false at the end of the block and after a stop. */
bool dni_tiles_next(dni_tiles *tiles, dn_error *err);

/* [DNI_TILE_ROWS] weights of rows without weights. */
extern const double dni_tile_ones[DNI_TILE_ROWS];

#endif
