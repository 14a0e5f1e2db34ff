/* Encodes raw rows as dense rows or as sparse rows without zeros. Encodes single raw values. */
#include "encoder/encoder_apply.h"
#include "encoder/encoder_impl.h"

#include <string.h>

/* Returns the level of a raw value. NaN is a missing value. DN_UNSEEN and every other number
 * that is not the index of a level is an unseen category. */
static uint32_t raw_level(const dn_input *input, double raw) {
    if (isnan(raw)) {
        return DN_CODE_MISSING;
    }
    return raw >= 0 && raw < (double)input->levels.n ? (uint32_t)raw : (uint32_t)input->levels.n;
}

size_t dni_encoder_level_feature(const dn_encoder *encoder, size_t input, double raw) {
    return dni_encode_level(&encoder->inputs[input], raw_level(&encoder->inputs[input], raw));
}

void dni_encode_bases(const dn_encoder *encoder, const double *raw, bool standardize, double *out) {
    for (size_t b = 0; b < encoder->n_bases; b++) {
        const dni_basis *basis = &encoder->bases[b];
        dni_basis_evaluate_raw(basis, encoder->inputs, raw,
                               out + (basis->first_feature - encoder->n_base));
    }
    for (size_t j = encoder->n_base; standardize && j < encoder->n_features; j++) {
        out[j - encoder->n_base] =
            (out[j - encoder->n_base] - encoder->mean[j]) / encoder->scale[j];
    }
}

/* Encodes the scalar inputs and the bases of one row; the features of vector inputs are set as
 * for a row without entries. */
static void encode_values(const dn_encoder *encoder, const double *value, bool standardize,
                          double *out) {
    for (size_t k = 0; k < encoder->n_inputs; k++) {
        const dn_input *input = &encoder->inputs[k];
        size_t j = input->first_feature;
        if (input->type == DN_CATEGORICAL) {
            dni_put_category(input, dni_encoder_level_feature(encoder, k, value[k]), out);
            continue;
        }
        if (dni_input_is_vector(input)) {
            dni_encode_empty(encoder, input, standardize, out + j);
            continue;
        }
        if (!input->in_basis_only) {
            double mean = standardize ? dni_encoder_mean_of(encoder, j) : 0,
                   scale = standardize ? dni_encoder_scale_of(encoder, j) : 1;
            out[j++] = dni_encode_number(value[k], input->fill, mean, scale);
        }
        if (input->indicator) {
            out[j] = isnan(value[k]);
        }
    }
    if (encoder->n_bases > 0) {
        dni_encode_bases(encoder, value, standardize && encoder->standardize,
                         out + encoder->n_base);
    }
}

/* stride: distance of two rows of `out`. */
static void encode_part(const dn_encoder *encoder, dn_raw_rows rows, bool standardize,
                        size_t stride, double *out) {
    for (size_t i = 0; i < rows.n; i++, out += stride) {
        encode_values(encoder, rows.value + i * encoder->n_inputs, standardize, out);
        if (rows.row_start == NULL) {
            continue;
        }
        for (size_t e = rows.row_start[i]; e < rows.row_start[i + 1]; e++) {
            size_t j = rows.feature[e];
            out[j] = standardize ? dni_encode_entry(encoder, j, rows.entry[e]) : rows.entry[e];
        }
    }
}

static void encode_rows(const dn_encoder *encoder, dn_raw_rows rows, bool standardize,
                        double *out) {
    if (encoder->n_parts == 0) {
        encode_part(encoder, rows, standardize, encoder->n_features, out);
    }
    for (size_t p = 0; p < encoder->n_parts; p++) {
        encode_part(encoder->parts[p], rows, standardize, encoder->n_features, out);
        out += encoder->parts[p]->n_features;
    }
}

void dn_encoder_apply(const dn_encoder *encoder, dn_raw_rows rows, double *out) {
    encode_rows(encoder, rows, true, out);
}

void dni_encoder_expand(const dn_encoder *encoder, dn_raw_rows rows, double *out) {
    encode_rows(encoder, rows, false, out);
}

/* ---- vector inputs ---- */
void dni_encode_empty(const dn_encoder *encoder, const dn_input *input, bool standardize,
                      double *out) {
    memset(out, 0, input->n_features * sizeof *out);
    for (size_t k = 0; standardize && dni_input_is_scaled(encoder, input) && k < input->n_features;
         k++) {
        out[k] = dni_encode_entry(encoder, input->first_feature + k, 0);
    }
}

dn_status dn_encoder_text(const dn_encoder *encoder, size_t input, const char *text, size_t length,
                          dn_text_work *work, const uint32_t **feature, const double **entry,
                          size_t *n, dn_error *err) {
    if (input >= encoder->n_inputs || encoder->inputs[input].type != DN_TEXT) {
        return dn_error_set(err, DN_ERR_ARGUMENT, "input %zu of the encoder is not a text input",
                            input);
    }
    dn_status status =
        dni_vocabulary_entries(&encoder->texts[input], encoder->inputs[input].first_feature, text,
                               length, work, feature, entry, n, err);
    if (status == DN_ERR_DATA) {
        dn_error_set_field(err, encoder->inputs[input].name);
    }
    return status;
}

size_t dn_encoder_sparse_feature(const dn_encoder *encoder, size_t input, uint32_t index) {
    if (input >= encoder->n_inputs || encoder->inputs[input].type != DN_SPARSE) {
        return SIZE_MAX;
    }
    const size_t k = dni_index_set_find(&encoder->index_sets[input], index);
    return k == SIZE_MAX ? k : encoder->inputs[input].first_feature + k;
}

uint32_t dn_encoder_sparse_index(const dn_encoder *encoder, size_t input, size_t k) {
    if (input >= encoder->n_inputs || encoder->inputs[input].type != DN_SPARSE ||
        k >= encoder->index_sets[input].n) {
        return UINT32_MAX;
    }
    return (uint32_t)dni_index_set_at(&encoder->index_sets[input], k);
}

/* ---- sparse rows ---- */
/* The row that is being written. */
struct writing {
    uint32_t *cols;
    double *values;
    size_t n;
};

static inline void put(struct writing *w, size_t feature, double value) {
    w->n = dni_put_entry(w->values, w->cols, w->n, feature, value);
}

/* Appends the entries of one input, from entry *e on. A feature of a standardised input is
 * nonzero even where the row has no entry. */
static void put_vector(struct writing *w, const dn_encoder *encoder, const dn_input *input,
                       dn_raw_rows rows, size_t *e, size_t end) {
    const size_t stop = input->first_feature + input->n_features;
    const bool scaled = dni_input_is_scaled(encoder, input);
    size_t next = input->first_feature;
    for (; *e < end && rows.feature[*e] < stop; ++*e) {
        const size_t j = rows.feature[*e];
        for (; scaled && next < j; next++) {
            put(w, next, dni_encode_entry(encoder, next, 0));
        }
        put(w, j, dni_encode_entry(encoder, j, rows.entry[*e]));
        next = j + 1;
    }
    for (; scaled && next < stop; next++) {
        put(w, next, dni_encode_entry(encoder, next, 0));
    }
}

size_t dni_raw_entries_work(const dn_encoder *encoder) {
    size_t most = encoder->n_features - encoder->n_base;
    for (size_t p = 0; p < encoder->n_parts; p++) {
        const size_t own = encoder->parts[p]->n_features - encoder->parts[p]->n_base;
        most = own > most ? own : most;
    }
    return most;
}

static size_t encode_part_entries(const dn_encoder *encoder, dn_raw_rows rows, size_t i,
                                  uint32_t *cols, double *values, double *work) {
    const double *raw = rows.value + i * encoder->n_inputs;
    size_t e = rows.row_start == NULL ? 0 : rows.row_start[i],
           end = rows.row_start == NULL ? 0 : rows.row_start[i + 1];
    struct writing w = {cols, values, 0};
    for (size_t k = 0; k < encoder->n_inputs; k++) {
        const dn_input *input = &encoder->inputs[k];
        if (dni_input_is_vector(input)) {
            put_vector(&w, encoder, input, rows, &e, end);
        } else if (input->type == DN_CATEGORICAL) {
            const size_t feature = dni_encoder_level_feature(encoder, k, raw[k]);
            if (feature != SIZE_MAX) {
                put(&w, feature, 1);
            }
        } else {
            w.n = dni_put_number(encoder, input, raw[k], w.values, w.cols, w.n);
        }
    }
    if (encoder->n_bases > 0) {
        dni_encode_bases(encoder, raw, encoder->standardize, work);
    }
    for (size_t j = encoder->n_base; j < encoder->n_features; j++) {
        put(&w, j, work[j - encoder->n_base]);
    }
    return w.n;
}

size_t dni_encode_raw_entries(const dn_encoder *encoder, dn_raw_rows rows, size_t i, uint32_t *cols,
                              double *values, double *work) {
    if (encoder->n_parts == 0) {
        return encode_part_entries(encoder, rows, i, cols, values, work);
    }
    size_t n = 0, first = 0;
    for (size_t p = 0; p < encoder->n_parts; p++) {
        const size_t end =
            n + encode_part_entries(encoder->parts[p], rows, i, cols + n, values + n, work);
        for (; n < end; n++) {
            cols[n] += (uint32_t)first;
        }
        first += encoder->parts[p]->n_features;
    }
    return n;
}
