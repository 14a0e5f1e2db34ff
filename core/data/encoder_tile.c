/* A tile of source rows to features. Columns are read one after the other, as chunks hold them; eight of them are written together, a cache line of a row at a time. */
#include "data/encoder_tile.h"

#include "data/run_memory.h"
#include <string.h>

#define GROUP 8       /* numeric inputs written together */
#define GROUP_ROWS 64 /* rows at a time: what is read and written stays in the first cache */

dn_status dni_encoding_slot_init(dni_encoding_slot *slot, size_t n_inputs, const dn_run *run, dn_error *err) {
    *slot = (dni_encoding_slot){.open = {.chunk = SIZE_MAX}};
    void *views = NULL, *level = NULL, *room = NULL;
    dn_status status = dn_run_alloc(run, n_inputs, sizeof *slot->open.views, "the encoder's inputs", &views, err);
    slot->open.views = views;
    if (status == DN_OK)
        status = dn_run_alloc(run, n_inputs, sizeof *slot->level, "the encoder's inputs", &level, err);
    slot->level = level;
    if (status == DN_OK)
        status = dn_run_alloc(run, n_inputs, sizeof *slot->level_room, "the encoder's inputs", &room, err);
    slot->level_room = room;
    if (status != DN_OK)
        dni_encoding_slot_done(slot, n_inputs, run);
    return status;
}

void dni_encoding_slot_done(dni_encoding_slot *slot, size_t n_inputs, const dn_run *run) {
    for (size_t i = 0; slot->level != NULL && i < n_inputs; i++)
        dn_run_free(run, slot->level[i]);
    dn_run_free(run, slot->open.views);
    dn_run_free(run, (void *)slot->level);
    dn_run_free(run, slot->level_room);
    *slot = (dni_encoding_slot){.open = {.chunk = SIZE_MAX}};
}

/* Looks each of the chunk's strings up once. */
static dn_status map_levels(dni_encoding_slot *slot, const dn_encoder *encoder, size_t i, const dn_run *run, dn_error *err) {
    dn_strings strings = slot->open.views[i].strings;
    if (strings.n > slot->level_room[i]) {
        void *memory = NULL;
        dn_status status = dni_run_alloc_raw(run, strings.n, sizeof **slot->level, "the levels of a chunk", &memory, err);
        if (status != DN_OK)
            return status;
        dn_run_free(run, slot->level[i]);
        slot->level[i] = memory;
        slot->level_room[i] = strings.n;
    }
    for (size_t k = 0; k < strings.n; k++) {
        uint32_t found =
            dni_string_set_find(&encoder->levels[i], strings.bytes + strings.start[k], strings.start[k + 1] - strings.start[k]);
        slot->level[i][k] = found == DNI_NO_STRING ? (uint32_t)encoder->inputs[i].levels.n : found;
    }
    return DN_OK;
}

dn_status dni_encoding_open(dni_encoding_slot *slot, const dn_table_source *source, const dn_encoder *encoder, const size_t *columns,
                            size_t chunk, size_t slot_index, const dn_run *run, dn_error *err) {
    bool changed = false;
    dn_status status = dni_chunk_open(&slot->open, source, columns, encoder->n_inputs, chunk, slot_index, &changed, err);
    for (size_t i = 0; status == DN_OK && changed && i < encoder->n_inputs; i++)
        if (encoder->inputs[i].type == DN_CATEGORICAL)
            status = map_levels(slot, encoder, i, run, err);
    if (status != DN_OK)
        slot->open.chunk = SIZE_MAX;
    return status;
}

static inline size_t row_of(const dni_tile *tile, size_t i) {
    return tile->contiguous ? tile->first + i : tile->row[i];
}

/* Encoded values of rows first … first + n - 1 of the tile, of one number column. */
static void encode_column(const dni_encoding_slot *slot, const dn_encoder *encoder, const dni_tile *tile, size_t input, size_t first,
                          size_t n, double *restrict out) {
    const double *number = slot->open.views[input].number;
    size_t feature = encoder->inputs[input].first_feature;
    double fill = encoder->inputs[input].fill, mean = encoder->mean[feature], scale = encoder->scale[feature];
    if (tile->contiguous) {
        const double *restrict x = number + tile->first + first;
        if (mean == 0 && scale == 1) { /* dni_encode_number's result without its division */
            for (size_t i = 0; i < n; i++)
                out[i] = isnan(x[i]) ? fill : x[i];
            return;
        }
        for (size_t i = 0; i < n; i++)
            out[i] = dni_encode_number(x[i], fill, mean, scale);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = dni_encode_number(number[tile->row[first + i]], fill, mean, scale);
}

/* `group` number inputs from `input` on, whose features follow each other. */
static void encode_group(const dni_encoding_slot *slot, const dn_encoder *encoder, const dni_tile *tile, size_t input, size_t group,
                         double *out) {
    double columns[GROUP][GROUP_ROWS];
    size_t stride = encoder->n_features;
    out += encoder->inputs[input].first_feature;
    for (size_t first = 0; first < tile->n; first += GROUP_ROWS) {
        size_t n = tile->n - first < GROUP_ROWS ? tile->n - first : GROUP_ROWS;
        for (size_t k = 0; k < group; k++)
            encode_column(slot, encoder, tile, input + k, first, n, columns[k]);
        for (size_t i = 0; i < n; i++) {
            double *row = out + (first + i) * stride;
            if (group == GROUP) {
                for (size_t k = 0; k < GROUP; k++)
                    row[k] = columns[k][i];
            } else {
                for (size_t k = 0; k < group; k++)
                    row[k] = columns[k][i];
            }
        }
    }
}

/* The feature that is 1 in row i, SIZE_MAX: none. */
static inline size_t category_feature(const dni_encoding_slot *slot, const dn_input *input, size_t i, size_t row) {
    uint32_t code = slot->open.views[i].code[row];
    return dni_encode_level(input, code == DN_CODE_MISSING ? code : slot->level[i][code]);
}

void dni_encode_dense(const dni_encoding_slot *slot, const dn_encoder *encoder, const dni_tile *tile, double *out) {
    size_t stride = encoder->n_features;
    for (size_t i = 0; i < encoder->n_inputs;) {
        const dn_input *input = &encoder->inputs[i];
        if (input->type != DN_CATEGORICAL) {
            size_t group = 1;
            while (group < GROUP && i + group < encoder->n_inputs && encoder->inputs[i + group].type != DN_CATEGORICAL)
                group++;
            encode_group(slot, encoder, tile, i, group, out);
            i += group;
            continue;
        }
        for (size_t k = 0; k < tile->n; k++) {
            double *row = out + k * stride;
            for (size_t level = 0; level < input->n_features; level++)
                row[input->first_feature + level] = 0;
            size_t feature = category_feature(slot, input, i, row_of(tile, k));
            if (feature != SIZE_MAX)
                row[feature] = 1;
        }
        i++;
    }
}

void dni_encode_sparse(const dni_encoding_slot *slot, const dn_encoder *encoder, const dni_tile *tile, double *values, uint32_t *cols,
                       uint32_t *count) {
    size_t width = encoder->n_inputs;
    memset(count, 0, tile->n * sizeof *count);
    for (size_t i = 0; i < width; i++) {
        const dn_input *input = &encoder->inputs[i];
        if (input->type == DN_CATEGORICAL) {
            for (size_t k = 0; k < tile->n; k++) {
                size_t feature = category_feature(slot, input, i, row_of(tile, k));
                if (feature == SIZE_MAX)
                    continue;
                size_t at = k * width + count[k]++;
                values[at] = 1;
                cols[at] = (uint32_t)feature;
            }
            continue;
        }
        for (size_t first = 0; first < tile->n; first += GROUP_ROWS) {
            double column[GROUP_ROWS];
            size_t n = tile->n - first < GROUP_ROWS ? tile->n - first : GROUP_ROWS;
            encode_column(slot, encoder, tile, i, first, n, column);
            for (size_t k = 0; k < n; k++) {
                if (column[k] == 0)
                    continue;
                size_t at = (first + k) * width + count[first + k]++;
                values[at] = column[k];
                cols[at] = (uint32_t)input->first_feature;
            }
        }
    }
}

void dni_encode_compact(size_t n, size_t n_inputs, const uint32_t *count, double *values, uint32_t *cols, size_t *row_start) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        row_start[i] = at;
        if (at != i * n_inputs && count[i] > 0) {
            memmove(values + at, values + i * n_inputs, count[i] * sizeof *values);
            memmove(cols + at, cols + i * n_inputs, count[i] * sizeof *cols);
        }
        at += count[i];
    }
    row_start[n] = at;
}
