/* The loop over the tiles of a block. */
#include "linalg/tiles.h"

#define ONES_8 1, 1, 1, 1, 1, 1, 1, 1
#define ONES_64 ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8, ONES_8
const double dni_tile_ones[DNI_TILE_ROWS] = {ONES_64, ONES_64, ONES_64, ONES_64};

bool dni_tiles_next(dni_tiles *tiles, dn_error *err) {
    const dn_block *block = tiles->block;
    const size_t first = tiles->next;
    if (first >= block->x.n_rows) {
        return false;
    }
    tiles->status = dn_run_stop(tiles->run, err);
    if (tiles->status != DN_OK) {
        return false;
    }
    const size_t left = block->x.n_rows - first, n = left < DNI_TILE_ROWS ? left : DNI_TILE_ROWS;
    tiles->tile =
        (dni_tile){.first_row = block->first_row + first,
                   .x = dn_matrix_rows(block->x, first, n),
                   .target = block->target == NULL ? NULL : block->target + first,
                   .weight = block->weight == NULL ? dni_tile_ones : block->weight + first};
    tiles->next = first + n;
    return true;
}
