/* Raw rows to encoded rows without their zeros. */
#include "encoder/raw_entries.h"
#include "encoder/encoder_bytes.h"
#include "encoder/encoder_impl.h"

/* The row that is being made. */
struct writing {
    uint32_t *cols;
    double *values;
    size_t n;
};

/* One more entry, unless it is 0: then the next is written over it. */
static inline void put(struct writing *w, size_t feature, double value) {
    w->cols[w->n] = (uint32_t)feature;
    w->values[w->n] = value;
    w->n += value != 0;
}

static void put_number(struct writing *w, const dn_encoder *encoder, const dn_input *input,
                       double raw) {
    const size_t j = input->first_feature;
    if (!input->taken) {
        put(w, j,
            dni_encode_number(raw, input->fill, dni_encoder_mean_of(encoder, j),
                              dni_encoder_scale_of(encoder, j)));
    }
    if (input->indicator) {
        put(w, j + input->n_features - 1, isnan(raw));
    }
}

/* Entries from *e on that are the input's. Of a standardised one the places without an entry are no zeros. */
static void put_list(struct writing *w, const dn_encoder *encoder, const dn_input *input,
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
    return encoder->n_features - encoder->n_base;
}

size_t dni_encode_raw_entries(const dn_encoder *encoder, dn_raw_rows rows, size_t i, uint32_t *cols,
                              double *values, double *work) {
    const double *raw = rows.value + i * encoder->n_inputs;
    size_t e = rows.row_start == NULL ? 0 : rows.row_start[i],
           end = rows.row_start == NULL ? 0 : rows.row_start[i + 1];
    struct writing w = {cols, values, 0};
    for (size_t k = 0; k < encoder->n_inputs; k++) {
        const dn_input *input = &encoder->inputs[k];
        if (dni_input_is_list(input)) {
            put_list(&w, encoder, input, rows, &e, end);
        } else if (input->type == DN_CATEGORICAL) {
            const size_t feature = dni_encoder_level_feature(encoder, k, raw[k]);
            if (feature != SIZE_MAX) {
                put(&w, feature, 1);
            }
        } else {
            put_number(&w, encoder, input, raw[k]);
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
