/* The passes over scalar columns. The sums of a block are computed in four lanes by the row's
 * position in the block, so that additions do not wait for each other and the result does not
 * depend on chunk borders. Extremes and levels do not depend on the order; each slot has
 * its own extremes and levels, which are merged at the end. */
#include "encoder/encoder_scan.h"
#include "base/argument.h"
#include "base/bytes.h"
#include "base/group.h"
#include "base/layout.h"
#include "base/sum.h"
#include "base/tasks.h"
#include <math.h>
#include <string.h>

#define LANES 4

/* The sums of one column in one block, by lane. */
struct lanes {
    double a[LANES], b[LANES];
};

/* The workspace of one slot. */
struct dni_scan_slot {
    dni_open_chunk open;
    struct lanes *lanes;       /* [n] */
    double *minimum, *maximum; /* [n] */
    /* [n] missing: some row is missing. overflow: the column has too many levels, and no more are
     * collected */
    bool *missing, *overflow;
    unsigned char *marks;   /* [n] `missing`, while ranks exchange it */
    dni_string_set *levels; /* [n] */
    /* [n][code] 1: the string with this code of the open chunk is already in `levels` */
    unsigned char **seen;
    size_t *seen_capacity; /* [n] */
    /* bytes of all levels; beyond DN_MAX_LEVELS_BYTES they are no longer collected */
    size_t level_bytes;
    double weights[DNI_CHUNK_TILE_ROWS]; /* weight of each row of the tile */
    /* number in each row of the tile, if the rows are not contiguous */
    double values[DNI_CHUNK_TILE_ROWS];
};

static dn_column_type type_of(const dni_scan *scan, size_t i) {
    return scan->source->columns[scan->columns[i]].type;
}

/* Reserves the arrays of a slot for n columns. */
static void slot_layout(dni_layout *layout, size_t n, dni_scan_slot *slot) {
    slot->open.views = dni_layout_array(layout, n, sizeof *slot->open.views);
    slot->lanes = dni_layout_array(layout, n, sizeof *slot->lanes);
    slot->minimum = dni_layout_doubles(layout, n);
    slot->maximum = dni_layout_doubles(layout, n);
    slot->missing = dni_layout_array(layout, n, sizeof *slot->missing);
    slot->overflow = dni_layout_array(layout, n, sizeof *slot->overflow);
    slot->marks = dni_layout_array(layout, n, sizeof *slot->marks);
    slot->levels = dni_layout_array(layout, n, sizeof *slot->levels);
    slot->seen = dni_layout_array(layout, n, sizeof *slot->seen);
    slot->seen_capacity = dni_layout_array(layout, n, sizeof *slot->seen_capacity);
}

struct scan_shape {
    size_t n, n_slots;
};

/* Levels, and the strings of a chunk in `seen`, grow with the data and are not part of the
 * layout. */
static void scan_layout(dni_layout *layout, const void *shape, void *work) {
    const struct scan_shape *s = shape;
    dni_scan *w = work;
    dni_scan_slot *slots = dni_layout_array(layout, s->n_slots, sizeof *slots);
    for (size_t i = 0; i < s->n_slots; i++) {
        dni_scan_slot measured = {0};
        slot_layout(layout, s->n, slots == NULL ? &measured : &slots[i]);
    }
    w->slots = slots;
    w->results = dni_layout_array(layout, s->n, sizeof *w->results);
    w->totals = dni_layout_doubles(layout, 2 * s->n + 1);
    w->opened = dni_layout_array(layout, s->n, sizeof *w->opened);
}

double dni_scan_memory(size_t n_columns, size_t n_slots) {
    const struct scan_shape shape = {n_columns, n_slots};
    dni_scan work;
    return dni_layout_bytes(scan_layout, &shape, &work);
}

dn_status dni_scan_init(dni_scan *scan, const dn_table_source *source, const size_t *columns,
                        size_t n, const uint8_t *role, const double *weight, size_t max_levels,
                        const dn_run *run, dn_error *err) {
    *scan = (dni_scan){.source = source,
                       .columns = columns,
                       .n = n,
                       .weight = weight,
                       .max_levels = max_levels,
                       .passes = dni_source_run(source, run),
                       .run = run};
    dn_status status = dni_selection_init(&scan->selection, source, role, DN_ROW_TRAIN, run, err);
    if (status != DN_OK) {
        return status;
    }
    const struct scan_shape shape = {n, scan->passes.n_slots};
    status = dni_layout_take(run, scan_layout, &shape, scan, "the sums of the columns",
                             &scan->memory, err);
    if (status != DN_OK) {
        return status;
    }
    scan->n_slots = shape.n_slots;
    for (size_t k = 0; k < scan->n_slots; k++) {
        dni_scan_slot *slot = &scan->slots[k];
        slot->open.chunk = SIZE_MAX;
        for (size_t i = 0; i < n; i++) {
            slot->minimum[i] = (double)INFINITY;
            slot->maximum[i] = -(double)INFINITY;
        }
    }
    return DN_OK;
}

void dni_scan_done(dni_scan *scan) {
    for (size_t k = 0; k < scan->n_slots; k++) {
        for (size_t i = 0; i < scan->n; i++) {
            dni_string_set_done(&scan->slots[k].levels[i]);
            dn_run_free(scan->run, scan->slots[k].seen[i]);
        }
    }
    dn_run_free(scan->run, scan->memory);
    dni_selection_done(&scan->selection, scan->run);
    *scan = (dni_scan){0};
}

const dni_string_set *dni_scan_levels(const dni_scan *scan, size_t i) {
    return &scan->slots[0].levels[i];
}

/* ---- tiles ---- */
/* Copies the weights of the tile's rows and checks them. */
static dn_status tile_weights(const dni_scan *scan, const dni_chunk_tile *tile, double *out,
                              dn_error *err) {
    size_t base = scan->source->chunk_first_row[tile->chunk];
    for (size_t i = 0; i < tile->n; i++) {
        size_t row = base + (dni_chunk_tile_row(tile, i));
        double weight = scan->weight == NULL ? 1 : scan->weight[row];
        if (!(weight >= 0) || isinf(weight)) {
            return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT,
                                             "a row's weight must be finite and >= 0 (got %g)",
                                             weight),
                                NULL, (int64_t)row, err);
        }
        out[i] = weight;
    }
    return DN_OK;
}

/* Adds a number to a lane. A missing number adds nothing. Rows with weight 0 do not affect the
 * extremes. */
static inline void add_sum(double x, double v, double *a, double *b, double *low, double *high) {
    double weight = isnan(x) ? 0.0 : v, value = isnan(x) ? 0.0 : x;
    *a += weight;
    *b += weight * value;
    double least = weight > 0 ? value : *low, most = weight > 0 ? value : *high;
    *low = least < *low ? least : *low;
    *high = most > *high ? most : *high;
}

static void add_sums(const double *x, const double *v, size_t n, size_t position,
                     struct lanes *lanes, double *minimum, double *maximum) {
    struct lanes now = *lanes;
    double low = *minimum, high = *maximum, other_low = low,
           other_high = high; /* two accumulators each, to shorten the dependency chains */
    size_t i = 0;
    for (; i < n && (position + i) % LANES != 0; i++) {
        add_sum(x[i], v[i], &now.a[(position + i) % LANES], &now.b[(position + i) % LANES], &low,
                &high);
    }
    for (; i + LANES <= n; i += LANES) {
        add_sum(x[i], v[i], &now.a[0], &now.b[0], &low, &high);
        add_sum(x[i + 1], v[i + 1], &now.a[1], &now.b[1], &other_low, &other_high);
        add_sum(x[i + 2], v[i + 2], &now.a[2], &now.b[2], &low, &high);
        add_sum(x[i + 3], v[i + 3], &now.a[3], &now.b[3], &other_low, &other_high);
    }
    for (size_t k = 0; i < n; i++, k++) {
        add_sum(x[i], v[i], &now.a[k], &now.b[k], &low, &high);
    }
    *lanes = now;
    *minimum = low < other_low ? low : other_low;
    *maximum = high > other_high ? high : other_high;
}

static inline void add_moment(double x, double v, double shift, double factor, double *a,
                              double *b) {
    double d = isnan(x) ? 0.0 : (x - shift) * factor;
    *a += v * d;
    *b += v * d * d;
}

static void add_moments(const double *x, const double *v, size_t n, size_t position, double shift,
                        double factor, struct lanes *lanes) {
    struct lanes now = *lanes;
    size_t i = 0;
    for (; i < n && (position + i) % LANES != 0; i++) {
        add_moment(x[i], v[i], shift, factor, &now.a[(position + i) % LANES],
                   &now.b[(position + i) % LANES]);
    }
    for (; i + LANES <= n; i += LANES) {
        add_moment(x[i], v[i], shift, factor, &now.a[0], &now.b[0]);
        add_moment(x[i + 1], v[i + 1], shift, factor, &now.a[1], &now.b[1]);
        add_moment(x[i + 2], v[i + 2], shift, factor, &now.a[2], &now.b[2]);
        add_moment(x[i + 3], v[i + 3], shift, factor, &now.a[3], &now.b[3]);
    }
    for (size_t k = 0; i < n; i++, k++) {
        add_moment(x[i], v[i], shift, factor, &now.a[k], &now.b[k]);
    }
    *lanes = now;
}

static bool any_missing(const double *x, const double *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]) && v[i] > 0) {
            return true;
        }
    }
    return false;
}

/* Clears `seen` for the strings of a new chunk. */
static dn_status clear_seen(const dni_scan *scan, dni_scan_slot *slot, size_t i, dn_error *err) {
    size_t n = slot->open.views[i].strings.n;
    if (n > slot->seen_capacity[i]) {
        dn_run_free(scan->run, slot->seen[i]);
        slot->seen[i] = NULL;
        slot->seen_capacity[i] = 0;
        void *memory = NULL;
        dn_status status =
            dn_run_alloc(scan->run, n, 1, "the marks of the categories of a column", &memory, err);
        if (status != DN_OK) {
            return status;
        }
        slot->seen[i] = memory;
        slot->seen_capacity[i] = n;
    } else if (n > 0) {
        memset(slot->seen[i], 0, n);
    }
    return DN_OK;
}

static bool too_large(const dni_scan *scan, const dni_string_set *levels) {
    return levels->n > scan->max_levels || dni_string_set_size(levels) > DN_MAX_LEVEL_BYTES;
}

static dn_status add_levels(const dni_scan *scan, dni_scan_slot *slot, const dni_chunk_tile *tile,
                            size_t i, double *weight, dn_error *err) {
    const dn_column_view *view = &slot->open.views[i];
    for (size_t k = 0; k < tile->n; k++) {
        uint32_t code = view->code[dni_chunk_tile_row(tile, k)];
        if (slot->weights[k] == 0) {
            continue;
        }
        if (code == DN_CODE_MISSING) {
            slot->missing[i] = true;
            continue;
        }
        *weight += slot->weights[k];
        if (slot->overflow[i] || slot->seen[i][code] || slot->level_bytes > DN_MAX_LEVELS_BYTES) {
            continue;
        }
        slot->seen[i][code] = 1;
        uint32_t first = view->strings.start[code], index;
        size_t before = dni_string_set_size(&slot->levels[i]);
        dn_status status = dni_string_set_add(&slot->levels[i], view->strings.bytes + first,
                                              view->strings.start[code + 1] - first, &index, err);
        if (status != DN_OK) {
            return status;
        }
        slot->level_bytes += dni_string_set_size(&slot->levels[i]) - before;
        slot->overflow[i] = too_large(scan, &slot->levels[i]);
    }
    return DN_OK;
}

/* ---- blocks ---- */
static dn_status open_tile(const dni_scan *scan, dni_scan_slot *slot, size_t slot_index,
                           const dni_chunk_tile *tile, dn_error *err) {
    bool changed = false;
    dn_status status = dni_chunk_open(&slot->open, scan->source, scan->opened, scan->n, tile->chunk,
                                      slot_index, &changed, err);
    for (size_t i = 0; status == DN_OK && changed && i < scan->n; i++) {
        if (type_of(scan, i) == DN_CATEGORICAL) {
            status = clear_seen(scan, slot, i, err);
        }
    }
    return status == DN_OK ? tile_weights(scan, tile, slot->weights, err) : status;
}

static double lanes_total(const double lane[LANES]) {
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

/* Adds to `out` the sum of v and of v x of each column, then the sum of v of all rows. */
static dn_status sums_block(void *arg, const dn_block *block, size_t slot_index, double *out,
                            dn_error *err) {
    const dni_scan *scan = arg;
    dni_scan_slot *slot = &scan->slots[slot_index];
    dni_walk walk = dni_walk_block(&scan->selection, block->first_row / DN_BLOCK_ROWS);
    dni_chunk_tile tile;
    memset(slot->lanes, 0, scan->n * sizeof *slot->lanes);
    while (dni_walk_next(&walk, &tile)) {
        dn_status status = open_tile(scan, slot, slot_index, &tile, err);
        for (size_t i = 0; status == DN_OK && i < scan->n; i++) {
            if (type_of(scan, i) == DN_CATEGORICAL) {
                status = add_levels(scan, slot, &tile, i, &slot->lanes[i].a[0], err);
            } else if (scan->opened[i] != DNI_NO_COLUMN) {
                const double *x =
                    dni_chunk_tile_gather(&tile, slot->open.views[i].number, slot->values);
                add_sums(x, slot->weights, tile.n, tile.position, &slot->lanes[i],
                         &slot->minimum[i], &slot->maximum[i]);
                if (scan->find_missing && !slot->missing[i]) {
                    slot->missing[i] = any_missing(x, slot->weights, tile.n);
                }
            }
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t k = 0; k < tile.n; k++) {
            out[2 * scan->n] += slot->weights[k];
        }
    }
    for (size_t i = 0; i < scan->n; i++) {
        out[2 * i] += lanes_total(slot->lanes[i].a);
        out[2 * i + 1] += lanes_total(slot->lanes[i].b);
    }
    return DN_OK;
}

/* Adds to `out` the scaled sums of v (x - shift) and v (x - shift)^2 of each column. */
static dn_status moments_block(const void *arg, const dn_block *block, size_t slot_index,
                               double *out, dn_error *err) {
    const dni_scan *scan = arg;
    dni_scan_slot *slot = &scan->slots[slot_index];
    dni_walk walk = dni_walk_block(&scan->selection, block->first_row / DN_BLOCK_ROWS);
    dni_chunk_tile tile;
    memset(slot->lanes, 0, scan->n * sizeof *slot->lanes);
    while (dni_walk_next(&walk, &tile)) {
        dn_status status = open_tile(scan, slot, slot_index, &tile, err);
        if (status != DN_OK) {
            return status;
        }
        for (size_t i = 0; i < scan->n; i++) {
            const dni_scan_column *column = &scan->results[i];
            if (column->factor == 0) {
                continue;
            }
            const double *x =
                dni_chunk_tile_gather(&tile, slot->open.views[i].number, slot->values);
            add_moments(x, slot->weights, tile.n, tile.position, column->shift, column->factor,
                        &slot->lanes[i]);
        }
    }
    for (size_t i = 0; i < scan->n; i++) {
        out[2 * i] += lanes_total(slot->lanes[i].a);
        out[2 * i + 1] += lanes_total(slot->lanes[i].b);
    }
    return DN_OK;
}

/* ---- passes ---- */
static dn_status refuse_levels(const dni_scan *scan, size_t i, const dni_string_set *levels,
                               dn_error *err) {
    const char *name = scan->source->columns[scan->columns[i]].name;
    return dni_error_at(levels->n > scan->max_levels
                            ? dn_error_set(err, DN_ERR_DATA,
                                           "column \"%s\" has more than %zu distinct values, too "
                                           "many for a categorical input",
                                           name, scan->max_levels)
                            : dn_error_set(err, DN_ERR_DATA,
                                           "column \"%s\" has distinct values of more than %zu "
                                           "bytes in all, too long for a categorical input",
                                           name, DN_MAX_LEVEL_BYTES),
                        name, -1, err);
}

/* Merges the levels of column i of all slots into the first slot. */
static dn_status merge_levels(dni_scan *scan, size_t i, dn_error *err) {
    dni_string_set *all = &scan->slots[0].levels[i];
    for (size_t k = 0; k < scan->n_slots; k++) {
        if (scan->slots[k].overflow[i]) {
            return refuse_levels(scan, i, &scan->slots[k].levels[i], err);
        }
    }
    for (size_t k = 1; k < scan->n_slots; k++) {
        dn_strings more = dni_string_set_view(&scan->slots[k].levels[i]);
        for (size_t s = 0; s < more.n; s++) {
            uint32_t index;
            dn_status status = dni_string_set_add(all, more.bytes + more.start[s],
                                                  more.start[s + 1] - more.start[s], &index, err);
            if (status != DN_OK) {
                return status;
            }
            if (too_large(scan, all)) {
                return refuse_levels(scan, i, all, err);
            }
        }
    }
    return DN_OK;
}

static dn_status check_level_bytes(size_t bytes, dn_error *err) {
    return bytes <= DN_MAX_LEVELS_BYTES
               ? DN_OK
               : dn_error_set(err, DN_ERR_DATA,
                              "the categorical inputs have distinct values of more than %zu bytes "
                              "in all",
                              DN_MAX_LEVELS_BYTES);
}

static dn_status merge_all_levels(dni_scan *scan, dn_error *err) {
    size_t bytes = 0;
    for (size_t k = 0; k < scan->n_slots; k++) {
        if (scan->slots[k].level_bytes > DN_MAX_LEVELS_BYTES) {
            bytes = scan->slots[k].level_bytes;
        }
    }
    for (size_t i = 0; i < scan->n && bytes <= DN_MAX_LEVELS_BYTES; i++) {
        if (type_of(scan, i) != DN_CATEGORICAL) {
            continue;
        }
        dn_status status = dn_run_stop(scan->run, err);
        if (status != DN_OK) {
            return status;
        }
        status = merge_levels(scan, i, err);
        if (status != DN_OK) {
            return status;
        }
        bytes += dni_string_set_size(&scan->slots[0].levels[i]);
    }
    return check_level_bytes(bytes, err);
}

/* ---- levels of all ranks ---- */
/* Appends the levels of all columns: of each column its number of levels, their starts and their
 * bytes. */
static dn_status write_levels(const dni_scan *scan, dni_writer *writer, dn_error *err) {
    for (size_t i = 0; i < scan->n; i++) {
        const dn_strings levels = dni_string_set_view(&scan->slots[0].levels[i]);
        dni_write_u32(writer, (uint32_t)levels.n);
        for (size_t s = 0; s < levels.n; s++) {
            const uint32_t length = levels.start[s + 1] - levels.start[s];
            dni_write_u32(writer, length);
            dni_write_bytes(writer, levels.bytes + levels.start[s], length);
        }
    }
    return writer->failed
               ? dn_error_set(err, DN_ERR_MEMORY, "no memory for the categories of the columns")
               : DN_OK;
}

/* Adds the levels of all columns of one rank to those of this rank. */
static dn_status read_levels(dni_scan *scan, dni_reader *reader, dn_error *err) {
    for (size_t i = 0; i < scan->n; i++) {
        dni_string_set *all = &scan->slots[0].levels[i];
        const uint32_t n = dni_read_u32(reader);
        for (uint32_t s = 0; s < n && !reader->failed; s++) {
            const uint32_t length = dni_read_u32(reader);
            const char *text = dni_read_bytes(reader, length);
            uint32_t index;
            if (text == NULL) {
                break;
            }
            dn_status status = dni_string_set_add(all, text, length, &index, err);
            if (status != DN_OK) {
                return status;
            }
        }
        if (too_large(scan, all)) {
            return refuse_levels(scan, i, all, err);
        }
    }
    return DN_OK;
}

/* Merges the levels of all ranks. status: of the levels of this rank. */
static dn_status join_levels(dni_scan *scan, dn_status status, dn_error *err) {
    dni_writer writer;
    void *joined = NULL;
    size_t size = 0, bytes = 0;
    dni_writer_init(&writer);
    if (status == DN_OK) {
        status = write_levels(scan, &writer, err);
    }
    status = dni_group_join(scan->run, status, writer.bytes, writer.size, &joined, &size, err);
    dni_writer_done(&writer);
    if (status != DN_OK) {
        return status;
    }
    dni_reader reader = dni_reader_of(joined, size);
    while (status == DN_OK && reader.left > 0) {
        status = read_levels(scan, &reader, err);
    }
    if (status == DN_OK) {
        status = dni_reader_end(&reader, "list of categories", err);
    }
    for (size_t i = 0; i < scan->n; i++) {
        bytes += dni_string_set_size(&scan->slots[0].levels[i]);
    }
    dn_run_free(scan->run, joined);
    return status == DN_OK ? check_level_bytes(bytes, err) : status;
}

/* Merges the extremes, the marks of missing values and the levels of all ranks. status: of the
 * levels of this rank. */
static dn_status merge_ranks(dni_scan *scan, dn_status status, dn_error *err) {
    dni_scan_slot *slot = &scan->slots[0];
    for (size_t i = 0; i < scan->n; i++) {
        slot->minimum[i] = scan->results[i].minimum;
        slot->maximum[i] = scan->results[i].maximum;
        slot->marks[i] = scan->results[i].missing;
    }
    status = dni_group_least(scan->run, status, slot->minimum, scan->n, err);
    if (status == DN_OK) {
        status = dni_group_most(scan->run, DN_OK, slot->maximum, scan->n, err);
    }
    if (status == DN_OK) {
        status = dni_group_or(scan->run, DN_OK, slot->marks, scan->n, err);
    }
    for (size_t i = 0; i < scan->n && status == DN_OK; i++) {
        scan->results[i].minimum = slot->minimum[i];
        scan->results[i].maximum = slot->maximum[i];
        scan->results[i].missing = slot->marks[i] != 0;
    }
    return status == DN_OK ? join_levels(scan, status, err) : status;
}

/* Selects the columns that the next pass reads, and closes the chunks that the previous pass
 * opened. */
static void open_columns(const dni_scan *scan, bool moments) {
    for (size_t i = 0; i < scan->n; i++) {
        const bool reads = moments ? scan->results[i].factor != 0
                                   : type_of(scan, i) != DN_TEXT && type_of(scan, i) != DN_SPARSE;
        scan->opened[i] = reads ? scan->columns[i] : DNI_NO_COLUMN;
    }
    for (size_t k = 0; k < scan->n_slots; k++) {
        scan->slots[k].open.chunk = SIZE_MAX;
    }
}

dn_status dni_scan_sums(dni_scan *scan, dn_error *err) {
    open_columns(scan, false);
    const dn_rows blocks = dni_numbered_rows(scan->selection.n_blocks);
    dn_status status =
        dni_each_sum(&scan->passes, &blocks, sums_block, scan, 2 * scan->n + 1, scan->totals, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < scan->n; i++) {
        dni_scan_column *column = &scan->results[i];
        *column = (dni_scan_column){.weight = scan->totals[2 * i],
                                    .sum = scan->totals[2 * i + 1],
                                    .minimum = (double)INFINITY,
                                    .maximum = -(double)INFINITY};
        for (size_t k = 0; k < scan->n_slots; k++) {
            const dni_scan_slot *slot = &scan->slots[k];
            column->minimum = fmin(column->minimum, slot->minimum[i]);
            column->maximum = fmax(column->maximum, slot->maximum[i]);
            column->missing = column->missing || slot->missing[i];
        }
    }
    scan->total_weight = scan->totals[2 * scan->n];
    status = merge_all_levels(scan, err);
    return dni_group_of(scan->run) == NULL ? status : merge_ranks(scan, status, err);
}

dn_status dni_scan_moments(dni_scan *scan, dn_error *err) {
    open_columns(scan, true);
    const dn_rows blocks = dni_numbered_rows(scan->selection.n_blocks);
    dn_status status =
        dn_run_sum(&scan->passes, &blocks,
                   &(dn_sum){moments_block, scan, sizeof *scan, 2 * scan->n}, scan->totals, err);
    for (size_t i = 0; status == DN_OK && i < scan->n; i++) {
        scan->results[i].first = scan->totals[2 * i];
        scan->results[i].second = scan->totals[2 * i + 1];
    }
    return status;
}
