/* Selected rows of a source: blocks, tiles, and the open chunk of a slot. */
#include "table/selection.h"

#include <string.h>

static inline bool selected(const dni_selection *selection, size_t row) {
    return selection->role[row] == selection->wanted;
}

dn_status dni_selection_init(dni_selection *selection, const dn_table_source *source,
                             const uint8_t *role, enum dn_row_role wanted, const dn_run *run,
                             dn_error *err) {
    dni_selection self = {.source = source, .role = role, .wanted = (uint8_t)wanted};
    if (role == NULL) {
        self.n_rows = source->n_rows;
        self.n_blocks = self.n_rows / DN_BLOCK_ROWS + (self.n_rows % DN_BLOCK_ROWS != 0);
        *selection = self;
        return DN_OK;
    }
    void *chunk_rank = NULL, *block_row = NULL;
    dn_status status = dn_run_alloc(run, source->n_chunks + 1, sizeof(size_t), "the selected rows",
                                    &chunk_rank, err);
    if (status != DN_OK) {
        return status;
    }
    self.chunk_rank = chunk_rank;
    for (size_t chunk = 0; chunk < source->n_chunks; chunk++) {
        self.chunk_rank[chunk] = self.n_rows;
        for (size_t row = source->chunk_first_row[chunk]; row < source->chunk_first_row[chunk + 1];
             row++) {
            self.n_rows += selected(&self, row);
        }
    }
    self.chunk_rank[source->n_chunks] = self.n_rows;
    self.n_blocks = self.n_rows / DN_BLOCK_ROWS + (self.n_rows % DN_BLOCK_ROWS != 0);
    status = dn_run_alloc(run, self.n_blocks, sizeof(size_t), "the selected rows", &block_row, err);
    if (status != DN_OK) {
        dn_run_free(run, chunk_rank);
        return status;
    }
    self.block_row = block_row;
    size_t rank = 0;
    for (size_t row = 0; row < source->n_rows; row++) {
        if (!selected(&self, row)) {
            continue;
        }
        if (rank % DN_BLOCK_ROWS == 0) {
            self.block_row[rank / DN_BLOCK_ROWS] = row;
        }
        rank++;
    }
    *selection = self;
    return DN_OK;
}

void dni_selection_done(dni_selection *selection, const dn_run *run) {
    dn_run_free(run, selection->block_row);
    dn_run_free(run, selection->chunk_rank);
    *selection = (dni_selection){0};
}

size_t dni_selection_chunk_rank(const dni_selection *selection, size_t chunk) {
    return selection->role == NULL ? selection->source->chunk_first_row[chunk]
                                   : selection->chunk_rank[chunk];
}

/* Returns the chunk of a row: the last chunk that begins at or before the row. (An empty chunk
 * begins at the same row as the next chunk.) */
static size_t chunk_of(const dn_table_source *source, size_t row) {
    size_t low = 0, high = source->n_chunks;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (source->chunk_first_row[middle] <= row) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

dni_walk dni_walk_block(const dni_selection *selection, size_t block) {
    size_t first = block * DN_BLOCK_ROWS;
    size_t n =
        selection->n_rows - first < DN_BLOCK_ROWS ? selection->n_rows - first : DN_BLOCK_ROWS;
    size_t row = selection->role == NULL ? first : selection->block_row[block];
    return (dni_walk){.selection = selection,
                      .chunk = chunk_of(selection->source, row),
                      .next = row,
                      .left = n};
}

dni_walk dni_walk_part(const dni_selection *selection, size_t block, size_t first, size_t n) {
    dni_walk walk = dni_walk_block(selection, block);
    dni_chunk_tile tile;
    walk.left = first;
    while (dni_walk_next(&walk, &tile)) {
    }
    walk.position = 0;
    walk.left = n;
    return walk;
}

dni_walk dni_walk_chunk(const dni_selection *selection, size_t chunk) {
    size_t n =
        dni_selection_chunk_rank(selection, chunk + 1) - dni_selection_chunk_rank(selection, chunk);
    return (dni_walk){.selection = selection,
                      .chunk = chunk,
                      .next = selection->source->chunk_first_row[chunk],
                      .left = n};
}

bool dni_walk_next(dni_walk *walk, dni_chunk_tile *tile) {
    if (walk->left == 0) {
        return false;
    }
    const dni_selection *selection = walk->selection;
    const size_t *border = selection->source->chunk_first_row;
    size_t most = walk->left < DNI_CHUNK_TILE_ROWS ? walk->left : DNI_CHUNK_TILE_ROWS, n = 0;
    for (;;) { /* skips to the next selected row, which must exist */
        while (walk->next >= border[walk->chunk + 1]) {
            walk->chunk++;
        }
        if (selection->role == NULL || selected(selection, walk->next)) {
            break;
        }
        walk->next++;
    }
    size_t start = border[walk->chunk], end = border[walk->chunk + 1];
    tile->chunk = walk->chunk;
    tile->position = walk->position;
    tile->first = walk->next - start;
    if (selection->role == NULL) {
        n = end - walk->next < most ? end - walk->next : most;
        tile->contiguous = true;
        walk->next += n;
    } else {
        size_t row = walk->next;
        for (; row < end && n < most; row++) {
            tile->row[n] = row - start;
            n += selected(selection, row);
        }
        tile->contiguous = tile->row[n - 1] - tile->first + 1 == n;
        walk->next = row;
    }
    tile->n = n;
    walk->position += n;
    walk->left -= n;
    return true;
}

const double *dni_chunk_tile_gather(const dni_chunk_tile *tile, const double *from,
                                    double *scratch) {
    if (tile->contiguous) {
        return from + tile->first;
    }
    for (size_t i = 0; i < tile->n; i++) {
        scratch[i] = from[tile->row[i]];
    }
    return scratch;
}

/* ---- the open chunk of a slot ---- */
dn_status dni_chunk_open(dni_open_chunk *open, const dn_table_source *source, const size_t *columns,
                         size_t n, size_t chunk, size_t slot, bool *out_changed, dn_error *err) {
    *out_changed = open->chunk != chunk;
    if (open->chunk == chunk) {
        return DN_OK;
    }
    open->chunk = SIZE_MAX;
    size_t n_rows = source->chunk_first_row[chunk + 1] - source->chunk_first_row[chunk];
    for (size_t i = 0; i < n; i++) {
        if (columns[i] == DNI_NO_COLUMN) {
            continue;
        }
        const dn_table_column *column = &source->columns[columns[i]];
        dn_column_view view;
        dn_status status = source->column(source, chunk, columns[i], slot, &view, err);
        if (status == DN_OK && (view.n_rows != n_rows || view.type != column->type)) {
            status = dn_error_set(
                err, DN_ERR_SOURCE,
                "chunk %zu of column \"%s\" has %zu rows of type %s, expected %zu of type %s",
                chunk, column->name, view.n_rows, dn_column_type_name(view.type), n_rows,
                dn_column_type_name(column->type));
        }
        if (status != DN_OK) {
            if (err != NULL && err->field[0] == '\0') {
                dn_error_set_field(err, column->name);
            }
            return status;
        }
        open->views[i] = view;
    }
    open->chunk = chunk;
    return DN_OK;
}

size_t dni_run_slots(const dn_run *run) {
    const bool threads = run != NULL && (run->sum != NULL || run->each != NULL);
    return threads && run->n_slots > 0 ? run->n_slots : 1;
}

dn_run dni_source_run(const dn_table_source *source, const dn_run *run) {
    dn_run passes = run == NULL ? dn_run_default() : *run;
    passes.n_slots = dni_run_slots(run);
    if (source->n_slots < passes.n_slots) {
        passes.n_slots = 1;
        passes.sum = NULL;
        passes.each = NULL;
    }
    return passes;
}
