#include "unit/formats/nasty_rows.h"

void nasty_row(uint64_t *seed, int row, uint32_t rarely, struct buf *out) {
    static const size_t from[NASTY_COLUMNS] = {0, 8, 0, 13, 0, 11},
                        upto[NASTY_COLUMNS] = {6, 11, N_NASTY, 16, 2, 13};
    for (size_t j = 0; j < NASTY_COLUMNS; j++) {
        const bool wild = row > 20 && cells_random(seed) % rarely == 0;
        const size_t lowest = wild ? 0 : from[j], n = (wild ? N_NASTY : upto[j]) - lowest;
        buf_printf(out, "%s%s", j > 0 ? "," : "", nasty[lowest + cells_random(seed) % n]);
    }
    buf_puts(out, "\n");
}
