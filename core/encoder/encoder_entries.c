/* Rows without their zeros: row by row, the inputs in their order, since a text or a sparse column gives each row as many entries as it likes. */
#include "encoder/encoder_entries.h"

#include "base/run_memory.h"
#include <string.h>

dn_status dni_entries_reserve(dni_entries *entries, size_t room, dn_error *err) {
    void *values = NULL, *cols = NULL;
    if (room <= entries->room) {
        return DN_OK;
    }
    dn_status status = dni_run_alloc_raw(entries->run, room, sizeof *entries->values,
                                         "encoded rows", &values, err);
    if (status == DN_OK) {
        status = dni_run_alloc_raw(entries->run, room, sizeof *entries->cols, "encoded rows", &cols,
                                   err);
    }
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
    entries->room = room;
    return DN_OK;
}

void dni_entries_done(dni_entries *entries) {
    dn_run_free(entries->run, entries->values);
    dn_run_free(entries->run, entries->cols);
    *entries = (dni_entries){0};
}

/* Room for n entries more, and for one that is written and turns out to be 0. */
static inline dn_status reserve(dni_entries *out, size_t n, dn_error *err) {
    const size_t need = out->n + n + 1;
    return need <= out->room ? DN_OK : dni_entries_reserve(out, need + need / 2, err);
}

/* One more entry at place n, unless it is 0. */
static inline size_t put(double *values, uint32_t *cols, size_t n, size_t feature, double value) {
    values[n] = value;
    cols[n] = (uint32_t)feature;
    return n + (value != 0);
}

static inline void put_entry(dni_entries *out, size_t feature, double value) {
    out->n = put(out->values, out->cols, out->n, feature, value);
}

/* The row's numbers and categories from input *next on, up to a text or sparse one. */
static void sparse_plain(const dni_encoding_slot *slot, const dn_encoder *encoder, size_t *next,
                         size_t row, dni_entries *out) {
    double *values = out->values;
    uint32_t *cols = out->cols;
    size_t n = out->n, i = *next;
    for (; i < encoder->n_inputs && !dni_input_is_list(&encoder->inputs[i]); i++) {
        const dn_input *input = &encoder->inputs[i];
        const size_t j = input->first_feature;
        if (input->type == DN_CATEGORICAL) {
            const size_t feature = dni_slot_category(slot, input, i, row);
            if (feature != SIZE_MAX) {
                n = put(values, cols, n, feature, 1);
            }
            continue;
        }
        const double x = slot->open.views[i].number[row], filled = isnan(x) ? input->fill : x;
        if (!input
                 ->taken) { /* unstandardised it is dni_encode_number's result without its division */
            n = put(values, cols, n, j,
                    encoder->mean == NULL
                        ? filled
                        : dni_encode_number(x, input->fill, encoder->mean[j], encoder->scale[j]));
        }
        if (input->indicator) {
            n = put(values, cols, n, j + input->n_features - 1, isnan(x));
        }
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
    if (status == DN_OK) {
        status = reserve(out, n + encoder->n_entries, err);
    }
    for (size_t e = 0; status == DN_OK && e < n; e++) {
        put_entry(out, feature[e], value[e]);
    }
    return status;
}

/* Standardised places: none is 0, so all of them are written. */
static void scaled_places(const dni_encoding_slot *slot, const dn_encoder *encoder,
                          const dn_input *input, size_t i, size_t row, dni_entries *out) {
    const dn_column_view *view = &slot->open.views[i];
    size_t next = 0;
    for (size_t e = view->row_start[row]; e <= view->row_start[row + 1]; e++) {
        const bool last = e == view->row_start[row + 1];
        const size_t place =
            last ? input->n_features : dni_slot_place(slot, encoder, i, view->place[e]);
        if (place == SIZE_MAX) {
            continue;
        }
        for (; next < place; next++) {
            put_entry(out, input->first_feature + next, slot->nothing[input->first_feature + next]);
        }
        if (!last) {
            put_entry(out, input->first_feature + place,
                      dni_encode_entry(encoder, input->first_feature + place, view->number[e]));
        }
        next = place + 1;
    }
}

static dn_status sparse_places(const dni_encoding_slot *slot, const dn_encoder *encoder,
                               const dn_input *input, size_t i, size_t row, dni_entries *out,
                               dn_error *err) {
    const dn_column_view *view = &slot->open.views[i];
    if (dni_input_is_scaled(encoder, input)) {
        scaled_places(slot, encoder, input, i, row, out);
        return DN_OK;
    }
    dn_status status =
        reserve(out, view->row_start[row + 1] - view->row_start[row] + encoder->n_entries, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t e = view->row_start[row]; e < view->row_start[row + 1]; e++) {
        const size_t place = dni_slot_place(slot, encoder, i, view->place[e]);
        if (place != SIZE_MAX) {
            put_entry(out, input->first_feature + place, view->number[e]);
        }
    }
    return DN_OK;
}

/* The inputs' features of one row. */
static dn_status sparse_row(const dni_encoding_slot *slot, const dn_encoder *encoder, size_t row,
                            dni_entries *out, dn_error *err) {
    dn_status status = reserve(out, encoder->n_entries, err);
    for (size_t i = 0; status == DN_OK && i < encoder->n_inputs;) {
        sparse_plain(slot, encoder, &i, row, out);
        if (i == encoder->n_inputs) {
            break;
        }
        if (encoder->inputs[i].type == DN_TEXT) {
            status = sparse_text(slot, encoder, i, row, out, err);
        } else {
            status = sparse_places(slot, encoder, &encoder->inputs[i], i, row, out, err);
        }
        i++;
    }
    return status;
}

dn_status dni_encode_sparse(const dni_encoding_slot *slot, const dn_table_source *source,
                            const dn_encoder *encoder, const dni_tile *tile, dni_entries *out,
                            dni_pace *pace, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t k = 0; status == DN_OK && k < tile->n; k++) {
        const size_t before = out->n;
        status = sparse_row(slot, encoder, dni_tile_row(tile, k), out, err);
        if (status == DN_OK && encoder->n_bases > 0) {
            status = dni_encode_row_bases(slot, source, encoder, tile, k, slot->x, pace, err);
        }
        for (size_t j = encoder->n_base; status == DN_OK && j < encoder->n_features; j++) {
            put_entry(out, j, slot->x[j - encoder->n_base]);
        }
        out->row_start[++out->n_rows] = out->n;
        if (status == DN_OK) {
            status = dni_pace_poll(pace, 4 * (double)(out->n - before), err);
        }
    }
    return status;
}
