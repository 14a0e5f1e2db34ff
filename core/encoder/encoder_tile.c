/* Encodes a tile of source rows: dense rows column by column, sparse rows row by row. */
#include "encoder/encoder_tile.h"
#include "base/layout.h"
#include "base/run_memory.h"
#include <math.h>
#include <string.h>

#define GROUP 8 /* numeric inputs that are encoded together: one cache line of a row */

/* Reserves the arrays of a slot. The levels of a chunk grow with the data and are not part of the
 * layout. */
static void slot_layout(dni_layout *layout, const void *shape, void *work) {
    const dni_encoding_shape *s = shape;
    dni_encoding_slot *w = work;
    w->open.views = dni_layout_array(layout, s->n_inputs, sizeof *w->open.views);
    w->level = dni_layout_array(layout, s->n_inputs, sizeof *w->level);
    w->level_capacity = dni_layout_array(layout, s->n_inputs, sizeof *w->level_capacity);
    w->shift = s->has_vectors ? dni_layout_array(layout, s->n_inputs, sizeof *w->shift) : NULL;
    w->empty = s->has_scaled ? dni_layout_doubles(layout, s->n_base) : NULL;
    w->raw = s->n_basis_features > 0 ? dni_layout_doubles(layout, s->n_inputs) : NULL;
    w->x = s->n_basis_features > 0 ? dni_layout_doubles(layout, s->n_basis_features) : NULL;
}

double dni_encoding_memory(const dni_encoding_shape *shape) {
    dni_encoding_slot work;
    return sizeof work + dni_layout_bytes(slot_layout, shape, &work);
}

static dni_encoding_shape shape_of(const dn_encoder *encoder) {
    dni_encoding_shape shape = {.n_inputs = encoder->n_inputs,
                                .n_base = encoder->n_base,
                                .n_basis_features = encoder->n_features - encoder->n_base,
                                .has_vectors = encoder->n_vector_inputs > 0};
    for (size_t u = 0; u < encoder->n_vector_inputs; u++) {
        shape.has_scaled =
            shape.has_scaled ||
            dni_input_is_scaled(encoder, &encoder->inputs[encoder->vector_inputs[u]]);
    }
    return shape;
}

dn_status dni_encoding_slot_init(dni_encoding_slot *slot, const dn_encoder *encoder,
                                 const dn_run *run, dn_error *err) {
    const dni_encoding_shape shape = shape_of(encoder);
    *slot = (dni_encoding_slot){.open = {.chunk = SIZE_MAX}};
    dn_status status = dni_layout_take(run, slot_layout, &shape, slot,
                                       "the workspace of the encoding", &slot->memory, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t u = 0; u < encoder->n_vector_inputs; u++) {
        const dn_input *input = &encoder->inputs[encoder->vector_inputs[u]];
        if (dni_input_is_scaled(encoder, input)) {
            dni_encode_empty(encoder, input, true, slot->empty + input->first_feature);
        }
        if (input->type != DN_TEXT || slot->work != NULL) {
            continue;
        }
        status = dn_text_work_new(&slot->work, err);
        if (status != DN_OK) {
            dni_encoding_slot_done(slot, encoder, run);
            return status;
        }
    }
    for (size_t b = 0; b < encoder->n_bases; b++) {
        slot->row_flops += dni_basis_flops(&encoder->bases[b]);
    }
    return DN_OK;
}

void dni_encoding_slot_done(dni_encoding_slot *slot, const dn_encoder *encoder, const dn_run *run) {
    for (size_t i = 0; slot->level != NULL && i < encoder->n_inputs; i++) {
        dn_run_free(run, slot->level[i]);
    }
    dn_run_free(run, slot->memory);
    dn_text_work_free(slot->work);
    *slot = (dni_encoding_slot){.open = {.chunk = SIZE_MAX}};
}

/* Finds the level of each string of the chunk. */
static dn_status map_levels(dni_encoding_slot *slot, const dn_encoder *encoder, size_t i,
                            const dn_run *run, dn_error *err) {
    dn_strings strings = slot->open.views[i].strings;
    if (strings.n > slot->level_capacity[i]) {
        void *memory = NULL;
        dn_status status = dni_run_alloc_raw(run, strings.n, sizeof **slot->level,
                                             "the levels of a chunk", &memory, err);
        if (status != DN_OK) {
            return status;
        }
        dn_run_free(run, slot->level[i]);
        slot->level[i] = memory;
        slot->level_capacity[i] = strings.n;
    }
    for (size_t k = 0; k < strings.n; k++) {
        uint32_t found = dni_encoder_find_level(encoder, i, strings.bytes + strings.start[k],
                                                strings.start[k + 1] - strings.start[k]);
        slot->level[i][k] = found == DNI_NO_STRING ? (uint32_t)encoder->inputs[i].levels.n : found;
    }
    return DN_OK;
}

/* Prepares input i of the chunk that was opened: levels of strings, offset of indices. */
static dn_status prepare_chunk(dni_encoding_slot *slot, const dn_table_source *source,
                               const dn_encoder *encoder, const size_t *columns, size_t i,
                               const dn_run *run, dn_error *err) {
    const dn_input *input = &encoder->inputs[i];
    if (input->type == DN_CATEGORICAL) {
        return map_levels(slot, encoder, i, run, err);
    }
    if (input->type == DN_SPARSE) {
        slot->shift[i] =
            (int64_t)source->columns[columns[i]].first_index - (int64_t)input->first_index;
    }
    return DN_OK;
}

dn_status dni_encoding_open(dni_encoding_slot *slot, const dn_table_source *source,
                            const dn_encoder *encoder, const size_t *columns, size_t chunk,
                            size_t slot_index, const dn_run *run, dn_error *err) {
    bool changed = false;
    dn_status status = dni_chunk_open(&slot->open, source, columns, encoder->n_inputs, chunk,
                                      slot_index, &changed, err);
    slot->first_row = source->chunk_first_row[chunk];
    if (status != DN_OK || !changed) {
        goto cleanup;
    }
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        if (columns[i] == DNI_NO_COLUMN) {
            continue;
        }
        status = prepare_chunk(slot, source, encoder, columns, i, run, err);
        if (status != DN_OK) {
            goto cleanup;
        }
    }
cleanup:
    if (status != DN_OK) {
        slot->open.chunk = SIZE_MAX;
    }
    return status;
}

dn_status dni_encoding_open_part(dni_encoding_slot *slot, const dn_table_source *source,
                                 const dn_encoder *encoder, const size_t *columns, size_t first,
                                 size_t n, size_t chunk, size_t slot_index, const dn_run *run,
                                 dn_error *err) {
    bool changed = false;
    dni_open_chunk part = {.chunk = SIZE_MAX, .views = slot->open.views + first};
    slot->open.chunk = SIZE_MAX;
    dn_status status =
        dni_chunk_open(&part, source, columns + first, n, chunk, slot_index, &changed, err);
    slot->first_row = source->chunk_first_row[chunk];
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = first; i < first + n; i++) {
        status = prepare_chunk(slot, source, encoder, columns, i, run, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static dn_status refuse_unseen(const dni_encoding_slot *slot, const dn_input *input, size_t i,
                               size_t row, dn_error *err) {
    const dn_column_view *view = &slot->open.views[i];
    const uint32_t code = view->code[row];
    if (code == DN_CODE_MISSING || slot->level[i][code] < input->levels.n) {
        return DN_OK;
    }
    const uint32_t start = view->strings.start[code],
                   length = view->strings.start[code + 1] - start;
    dn_status status =
        dn_error_set(err, DN_ERR_DATA,
                     "column \"%s\" is \"%.*s\", a category that no training row has", input->name,
                     length < DN_FIELD_SIZE ? (int)length : DN_FIELD_SIZE,
                     view->strings.bytes + start);
    return dni_error_at(status, input->name, (int64_t)(slot->first_row + row), err);
}

static dn_status refuse_missing(const dni_encoding_slot *slot, const dn_input *input, size_t i,
                                size_t row, dn_error *err) {
    if (!isnan(slot->open.views[i].number[row])) {
        return DN_OK;
    }
    const size_t at = slot->first_row + row;
    return dni_error_at(
        dn_error_set(
            err, DN_ERR_DATA,
            "row %zu has no value for \"%.128s\", and the encoding does not allow missing values",
            at, input->name),
        input->name, (int64_t)at, err);
}

dn_status dni_encoding_check(const dni_encoding_slot *slot, const dn_table_source *source,
                             const dn_encoder *encoder, const dni_chunk_tile *tile, size_t first,
                             size_t n, const double *weight, dn_error *err) {
    const size_t base = source->chunk_first_row[tile->chunk];
    for (size_t i = first; i < first + n; i++) {
        const dn_input *input = &encoder->inputs[i];
        const bool category = input->type == DN_CATEGORICAL;
        if (category ? !encoder->refuse_unseen
                     : !encoder->refuse_missing || dni_input_is_vector(input)) {
            continue;
        }
        for (size_t k = 0; k < tile->n; k++) {
            const size_t row = dni_chunk_tile_row(tile, k);
            if (weight != NULL && weight[base + row] == 0) {
                continue;
            }
            dn_status status = category ? refuse_unseen(slot, input, i, row, err)
                                        : refuse_missing(slot, input, i, row, err);
            if (status != DN_OK) {
                return status;
            }
        }
    }
    return DN_OK;
}

/* Up to eight numeric inputs with consecutive features. */
struct group {
    size_t n, first_feature;
    bool standardizes; /* some mean is not 0 or some scale is not 1 */
    const double *number[GROUP];
    double fill[GROUP], mean[GROUP], scale[GROUP];
};

static struct group group_of(const dni_encoding_slot *slot, const dn_encoder *encoder, size_t input,
                             size_t n) {
    struct group group = {.n = n, .first_feature = encoder->inputs[input].first_feature};
    for (size_t k = 0; k < n; k++, input++) {
        size_t feature = encoder->inputs[input].first_feature;
        group.number[k] = slot->open.views[input].number;
        group.fill[k] = encoder->inputs[input].fill;
        group.mean[k] = dni_encoder_mean_of(encoder, feature);
        group.scale[k] = dni_encoder_scale_of(encoder, feature);
        group.standardizes = group.standardizes || group.mean[k] != 0 || group.scale[k] != 1;
    }
    return group;
}

/* Encodes one row of a group. Without standardisation the division of dni_encode_number is
 * omitted, which does not change the result. */
static inline void encode_row(const struct group *restrict group, size_t n, size_t row,
                              double *restrict out) {
    if (group->standardizes) {
        for (size_t k = 0; k < n; k++) {
            out[k] = dni_encode_number(group->number[k][row], group->fill[k], group->mean[k],
                                       group->scale[k]);
        }
        return;
    }
    for (size_t k = 0; k < n; k++) {
        double x = group->number[k][row];
        out[k] = isnan(x) ? group->fill[k] : x;
    }
}

/* Encodes a group row by row. With the constant GROUP the compiler unrolls the inner loop. */
static void encode_group(const struct group *restrict group, const dni_chunk_tile *tile,
                         size_t stride, double *restrict out) {
    out += group->first_feature;
    if (group->n == GROUP && tile->contiguous) {
        for (size_t i = 0; i < tile->n; i++) {
            encode_row(group, GROUP, tile->first + i, out + i * stride);
        }
        return;
    }
    for (size_t i = 0; i < tile->n; i++) {
        encode_row(group, group->n, dni_chunk_tile_row(tile, i), out + i * stride);
    }
}

size_t dni_encode_group(const dn_encoder *encoder, size_t first) {
    size_t n = 0;
    while (n < GROUP && first + n < encoder->n_inputs &&
           dni_input_is_plain(&encoder->inputs[first + n])) {
        n++;
    }
    return n == 0 ? 1 : n;
}

/* Encodes a number that has an indicator or is used by bases only. */
static void dense_number(const dni_encoding_slot *slot, const dn_encoder *encoder,
                         const dni_chunk_tile *tile, size_t i, double *out) {
    const dn_input *input = &encoder->inputs[i];
    const double *number = slot->open.views[i].number;
    size_t stride = encoder->n_features, j = input->first_feature;
    if (!input->in_basis_only) {
        for (size_t k = 0; k < tile->n; k++) {
            out[k * stride + j] = dni_encode_number(number[dni_chunk_tile_row(tile, k)],
                                                    input->fill, dni_encoder_mean_of(encoder, j),
                                                    dni_encoder_scale_of(encoder, j));
        }
        j++;
    }
    for (size_t k = 0; input->indicator && k < tile->n; k++) {
        out[k * stride + j] = isnan(number[dni_chunk_tile_row(tile, k)]);
    }
}

static void dense_category(const dni_encoding_slot *slot, const dn_encoder *encoder,
                           const dni_chunk_tile *tile, size_t i, double *out) {
    const dn_input *input = &encoder->inputs[i];
    for (size_t k = 0; k < tile->n; k++) {
        dni_put_category(input, dni_slot_category(slot, input, i, dni_chunk_tile_row(tile, k)),
                         out + k * encoder->n_features);
    }
}

static dn_status dense_vector(const dni_encoding_slot *slot, const dn_encoder *encoder,
                              const dni_chunk_tile *tile, size_t i, double *out, dn_error *err) {
    const dn_input *input = &encoder->inputs[i];
    const dn_column_view *view = &slot->open.views[i];
    const bool scaled = dni_input_is_scaled(encoder, input);
    for (size_t k = 0; k < tile->n; k++, out += encoder->n_features) {
        const size_t row = dni_chunk_tile_row(tile, k);
        if (scaled) {
            memcpy(out + input->first_feature, slot->empty + input->first_feature,
                   input->n_features * sizeof *out);
        } else {
            memset(out + input->first_feature, 0, input->n_features * sizeof *out);
        }
        if (input->type == DN_TEXT) {
            const uint32_t *feature;
            const double *value;
            size_t n;
            dn_status status = dni_slot_text(slot, encoder, i, row, &feature, &value, &n, err);
            if (status != DN_OK) {
                return status;
            }
            for (size_t e = 0; e < n; e++) {
                out[feature[e]] = value[e];
            }
            continue;
        }
        for (size_t e = view->row_start[row]; e < view->row_start[row + 1]; e++) {
            const size_t feature = dni_slot_feature(slot, encoder, i, view->index[e]);
            if (feature != SIZE_MAX) {
                out[input->first_feature + feature] =
                    dni_encode_entry(encoder, input->first_feature + feature, view->number[e]);
            }
        }
    }
    return DN_OK;
}

dn_status dni_encode_dense(const dni_encoding_slot *slot, const dn_encoder *encoder,
                           const dni_chunk_tile *tile, size_t first, size_t n, double *out,
                           dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = first; status == DN_OK && i < first + n;) {
        const dn_input *input = &encoder->inputs[i];
        if (dni_input_is_plain(input)) {
            size_t together = dni_encode_group(encoder, i);
            struct group group =
                group_of(slot, encoder, i, together < first + n - i ? together : first + n - i);
            encode_group(&group, tile, encoder->n_features, out);
            i += group.n;
            continue;
        }
        if (input->type == DN_CATEGORICAL) {
            dense_category(slot, encoder, tile, i, out);
        } else if (dni_input_is_vector(input)) {
            status = dense_vector(slot, encoder, tile, i, out, err);
        } else {
            dense_number(slot, encoder, tile, i, out);
        }
        i++;
    }
    return status;
}

dn_status dni_encode_row_bases(const dni_encoding_slot *slot, const dn_table_source *source,
                               const dn_encoder *encoder, const dni_chunk_tile *tile, size_t k,
                               double *x, dni_pace *pace, dn_error *err) {
    size_t row = dni_chunk_tile_row(tile, k), n = encoder->n_features - encoder->n_base;
    for (size_t u = 0; u < encoder->n_basis_inputs; u++) {
        size_t i = encoder->basis_inputs[u];
        slot->raw[i] = slot->open.views[i].number[row];
    }
    dni_encode_bases(encoder, slot->raw, encoder->standardize, x);
    for (size_t j = 0; j < n; j++) {
        if (isfinite(x[j])) {
            continue;
        }
        return dni_error_at(dni_encoder_feature_error(encoder, encoder->n_base + j, slot->raw, err),
                            NULL, (int64_t)(source->chunk_first_row[tile->chunk] + row), err);
    }
    return dni_pace_poll(pace, slot->row_flops, err);
}

dn_status dni_encode_dense_bases(const dni_encoding_slot *slot, const dn_table_source *source,
                                 const dn_encoder *encoder, const dni_chunk_tile *tile, double *out,
                                 dni_pace *pace, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t k = 0; status == DN_OK && k < tile->n && encoder->n_bases > 0; k++) {
        status = dni_encode_row_bases(slot, source, encoder, tile, k,
                                      out + k * encoder->n_features + encoder->n_base, pace, err);
    }
    return status;
}

/* ---- sparse rows ---- */
dn_status dni_entries_reserve(dni_entries *entries, size_t capacity, dn_error *err) {
    void *values = NULL, *cols = NULL;
    if (capacity <= entries->capacity) {
        return DN_OK;
    }
    dn_status status = dni_run_alloc_raw(entries->run, capacity, sizeof *entries->values,
                                         "encoded rows", &values, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_run_alloc_raw(entries->run, capacity, sizeof *entries->cols, "encoded rows", &cols,
                               err);
    if (status != DN_OK) {
        dn_run_free(entries->run, values);
        return status;
    }
    if (entries->n > 0) {
        memcpy(values, entries->values, entries->n * sizeof *entries->values);
        memcpy(cols, entries->cols, entries->n * sizeof *entries->cols);
    }
    dn_run_free(entries->run, entries->values);
    dn_run_free(entries->run, entries->cols);
    entries->values = values;
    entries->cols = cols;
    entries->capacity = capacity;
    return DN_OK;
}

void dni_entries_done(dni_entries *entries) {
    dn_run_free(entries->run, entries->values);
    dn_run_free(entries->run, entries->cols);
    *entries = (dni_entries){0};
}

/* Reserves n entries, and one more because a zero is written before the next entry overwrites
 * it. */
static inline dn_status entries_reserve_more(dni_entries *out, size_t n, dn_error *err) {
    const size_t need = out->n + n + 1;
    return need <= out->capacity ? DN_OK : dni_entries_reserve(out, need + need / 2, err);
}

static inline void put_entry(dni_entries *out, size_t feature, double value) {
    out->n = dni_put_entry(out->values, out->cols, out->n, feature, value);
}

/* Encodes the scalar inputs from *next on, up to the next vector input. */
static void sparse_plain(const dni_encoding_slot *slot, const dn_encoder *encoder, size_t *next,
                         size_t row, dni_entries *out) {
    double *values = out->values;
    uint32_t *cols = out->cols;
    size_t n = out->n, i = *next;
    for (; i < encoder->n_inputs && !dni_input_is_vector(&encoder->inputs[i]); i++) {
        const dn_input *input = &encoder->inputs[i];
        if (input->type == DN_CATEGORICAL) {
            const size_t feature = dni_slot_category(slot, input, i, row);
            if (feature != SIZE_MAX) {
                n = dni_put_entry(values, cols, n, feature, 1);
            }
            continue;
        }
        n = dni_put_number(encoder, input, slot->open.views[i].number[row], values, cols, n);
    }
    out->n = n;
    *next = i;
}

static dn_status sparse_text(const dni_encoding_slot *slot, const dn_encoder *encoder, size_t i,
                             size_t row, dni_entries *out, dn_error *err) {
    const uint32_t *feature;
    const double *value;
    size_t n;
    dn_status status = dni_slot_text(slot, encoder, i, row, &feature, &value, &n, err);
    if (status != DN_OK) {
        return status;
    }
    status = entries_reserve_more(out, n + encoder->n_entries, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t e = 0; e < n; e++) {
        put_entry(out, feature[e], value[e]);
    }
    return DN_OK;
}

/* Encodes a standardised sparse input: all of its features are nonzero. */
static void sparse_scaled(const dni_encoding_slot *slot, const dn_encoder *encoder,
                          const dn_input *input, size_t i, size_t row, dni_entries *out) {
    const dn_column_view *view = &slot->open.views[i];
    size_t next = 0;
    for (size_t e = view->row_start[row]; e <= view->row_start[row + 1]; e++) {
        const bool last = e == view->row_start[row + 1];
        const size_t feature =
            last ? input->n_features : dni_slot_feature(slot, encoder, i, view->index[e]);
        if (feature == SIZE_MAX) {
            continue;
        }
        for (; next < feature; next++) {
            put_entry(out, input->first_feature + next, slot->empty[input->first_feature + next]);
        }
        if (!last) {
            put_entry(out, input->first_feature + feature,
                      dni_encode_entry(encoder, input->first_feature + feature, view->number[e]));
        }
        next = feature + 1;
    }
}

static dn_status sparse_vector(const dni_encoding_slot *slot, const dn_encoder *encoder,
                               const dn_input *input, size_t i, size_t row, dni_entries *out,
                               dn_error *err) {
    const dn_column_view *view = &slot->open.views[i];
    if (dni_input_is_scaled(encoder, input)) {
        sparse_scaled(slot, encoder, input, i, row, out);
        return DN_OK;
    }
    dn_status status =
        entries_reserve_more(out,
                             view->row_start[row + 1] - view->row_start[row] + encoder->n_entries,
                             err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t e = view->row_start[row]; e < view->row_start[row + 1]; e++) {
        const size_t feature = dni_slot_feature(slot, encoder, i, view->index[e]);
        if (feature != SIZE_MAX) {
            put_entry(out, input->first_feature + feature, view->number[e]);
        }
    }
    return DN_OK;
}

/* Encodes the inputs of one row. */
static dn_status sparse_row(const dni_encoding_slot *slot, const dn_encoder *encoder, size_t row,
                            dni_entries *out, dn_error *err) {
    dn_status status = entries_reserve_more(out, encoder->n_entries, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        sparse_plain(slot, encoder, &i, row, out);
        if (i == encoder->n_inputs) {
            break;
        }
        if (encoder->inputs[i].type == DN_TEXT) {
            status = sparse_text(slot, encoder, i, row, out, err);
        } else {
            status = sparse_vector(slot, encoder, &encoder->inputs[i], i, row, out, err);
        }
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

dn_status dni_encode_sparse(const dni_encoding_slot *slot, const dn_table_source *source,
                            const dn_encoder *encoder, const dni_chunk_tile *tile, dni_entries *out,
                            dni_pace *pace, dn_error *err) {
    for (size_t k = 0; k < tile->n; k++) {
        const size_t before = out->n;
        dn_status status = sparse_row(slot, encoder, dni_chunk_tile_row(tile, k), out, err);
        if (status != DN_OK) {
            return status;
        }
        if (encoder->n_bases > 0) {
            status = dni_encode_row_bases(slot, source, encoder, tile, k, slot->x, pace, err);
            if (status != DN_OK) {
                return status;
            }
        }
        for (size_t j = encoder->n_base; j < encoder->n_features; j++) {
            put_entry(out, j, slot->x[j - encoder->n_base]);
        }
        out->row_start[++out->n_rows] = out->n;
        status = dni_pace_poll(pace, 4 * (double)(out->n - before), err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}
