/* A fitted encoder: its life, its questions, and raw rows to features. */
#include "data/encoder.h"

#include "data/encoder_bytes.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static dn_status no_memory(dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY, "the encoder needs memory which the system does not have");
}

dn_status dni_encoder_new(size_t n_inputs, dn_encoder **out, dn_error *err) {
    dn_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL)
        return no_memory(err);
    atomic_init(&encoder->references, 1);
    encoder->n_inputs = n_inputs;
    encoder->inputs = calloc(n_inputs + 1, sizeof *encoder->inputs);
    encoder->levels = calloc(n_inputs + 1, sizeof *encoder->levels);
    if (encoder->inputs == NULL || encoder->levels == NULL) {
        dn_encoder_unref(encoder);
        return no_memory(err);
    }
    for (size_t i = 0; i < n_inputs; i++) {
        encoder->inputs[i].name = "";
        encoder->inputs[i].levels = dni_string_set_view(&encoder->levels[i]);
    }
    *out = encoder;
    return DN_OK;
}

dn_status dni_encoder_set_bases(dn_encoder *encoder, size_t n_bases, dn_error *err) {
    encoder->bases = calloc(n_bases + 1, sizeof *encoder->bases);
    if (encoder->bases == NULL)
        return no_memory(err);
    encoder->n_bases = n_bases;
    return DN_OK;
}

dn_encoder *dn_encoder_ref(dn_encoder *encoder) {
    atomic_fetch_add_explicit(&encoder->references, 1, memory_order_relaxed);
    return encoder;
}

void dn_encoder_unref(dn_encoder *encoder) {
    if (encoder == NULL || atomic_fetch_sub_explicit(&encoder->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; encoder->levels != NULL && i < encoder->n_inputs; i++)
        dni_string_set_done(&encoder->levels[i]);
    for (size_t b = 0; b < encoder->n_bases; b++)
        dni_basis_done(&encoder->bases[b]);
    free(encoder->bases);
    free(encoder->basis_inputs);
    free(encoder->levels);
    free(encoder->inputs);
    free(encoder->names);
    free(encoder->mean);
    free(encoder->scale);
    free(encoder);
}

dn_status dni_encoder_set_names(dn_encoder *encoder, const char *const *names, const size_t *lengths, dn_error *err) {
    size_t size = 1;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        if (lengths[i] >= SIZE_MAX - size)
            return no_memory(err);
        size += lengths[i] + 1;
    }
    char *at = malloc(size);
    if (at == NULL)
        return no_memory(err);
    free(encoder->names);
    encoder->names = at;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        encoder->inputs[i].name = at;
        memcpy(at, names[i], lengths[i]);
        at += lengths[i];
        *at++ = '\0';
    }
    return DN_OK;
}

/* ---- the features ----------------------------------------------------------------------------------------------------------------------- */
/* Which inputs bases have, and which are no features themselves: a column that a polynomial holds, or that no basis keeps. */
static dn_status take_columns(dn_encoder *encoder, dn_error *err) {
    enum { HAD = 1, KEPT = 2, HELD = 4 };
    unsigned char *what = calloc(encoder->n_inputs + 1, 1);
    encoder->basis_inputs = calloc(encoder->n_inputs + 1, sizeof *encoder->basis_inputs);
    if (what == NULL || encoder->basis_inputs == NULL) {
        free(what);
        return no_memory(err);
    }
    for (size_t b = 0; b < encoder->n_bases; b++) {
        const dni_basis *basis = &encoder->bases[b];
        int mark = HAD | (basis->kind == DN_BASIS_POLYNOMIAL ? HELD : basis->keep ? KEPT : 0);
        for (size_t c = 0; c < basis->n_columns; c++)
            what[basis->columns[c]] = (unsigned char)(what[basis->columns[c]] | mark);
    }
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        encoder->inputs[i].taken = (what[i] & HELD) != 0 || (what[i] & (HAD | KEPT)) == HAD;
        if (what[i] != 0)
            encoder->basis_inputs[encoder->n_basis_inputs++] = i;
    }
    free(what);
    return DN_OK;
}

/* What an input becomes; its place is known. */
static void finish_input(dn_encoder *encoder, size_t i) {
    dn_input *input = &encoder->inputs[i];
    input->levels = dni_string_set_view(&encoder->levels[i]);
    input->missing_as = input->missing_level ? input->levels.n : DN_NO_LEVEL;
    input->unseen_as = DN_NO_LEVEL;
    input->n_features = (size_t)!input->taken + input->indicator;
    if (input->type == DN_CATEGORICAL) {
        size_t n = dni_input_n_levels(input);
        input->n_features = n - (encoder->drop_first && n > 0);
    }
    encoder->n_entries += input->type == DN_CATEGORICAL ? input->n_features > 0 : input->n_features;
}

static dn_status place_bases(dn_encoder *encoder, dn_error *err) {
    size_t number[DN_BASIS_FISHER + 1] = {0}, n = 0;
    for (size_t b = 0; b < encoder->n_bases; b++) {
        dni_basis *basis = &encoder->bases[b];
        if (basis->n_features > DN_MAX_BASIS_FEATURES - n)
            return dn_error_set(err, DN_ERR_DATA, "the bases make more than %d features", DN_MAX_BASIS_FEATURES);
        basis->first_feature = encoder->n_base + n;
        basis->first_number = number[basis->kind] + 1;
        number[basis->kind] += basis->n_features;
        n += basis->n_features;
    }
    encoder->n_features = encoder->n_base + n;
    encoder->n_entries += n;
    return DN_OK;
}

dn_status dni_encoder_finish(dn_encoder *encoder, dn_error *err) {
    size_t n_features = 0;
    if (encoder->n_bases > 0) {
        dn_status status = take_columns(encoder, err);
        if (status != DN_OK)
            return status;
    }
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        dn_input *input = &encoder->inputs[i];
        finish_input(encoder, i);
        input->first_feature = n_features;
        if (input->n_features > UINT32_MAX - DN_MAX_BASIS_FEATURES - n_features)
            return dn_error_set(err, DN_ERR_DATA, "the inputs make more than %zu features", (size_t)UINT32_MAX - DN_MAX_BASIS_FEATURES);
        n_features += input->n_features;
    }
    encoder->n_base = n_features;
    dn_status status = place_bases(encoder, err);
    if (status != DN_OK)
        return status;
    n_features = encoder->n_features;
    encoder->mean = calloc(n_features + 1, sizeof *encoder->mean);
    encoder->scale = calloc(n_features + 1, sizeof *encoder->scale);
    if (encoder->mean == NULL || encoder->scale == NULL)
        return no_memory(err);
    for (size_t j = 0; j < n_features; j++)
        encoder->scale[j] = 1;
    return DN_OK;
}

/* ---- questions ------------------------------------------------------------------------------------------------------------------------ */
size_t dn_encoder_n_inputs(const dn_encoder *encoder) {
    return encoder->n_inputs;
}

const dn_input *dn_encoder_input(const dn_encoder *encoder, size_t i) {
    assert(i < encoder->n_inputs);
    return &encoder->inputs[i];
}

size_t dn_encoder_n_features(const dn_encoder *encoder) {
    return encoder->n_features;
}

size_t dn_encoder_n_constant(const dn_encoder *encoder, size_t *out_first) {
    *out_first = encoder->first_constant;
    return encoder->n_constant;
}

bool dn_encoder_standardizes(const dn_encoder *encoder) {
    return encoder->standardize;
}

const double *dn_encoder_mean(const dn_encoder *encoder) {
    return encoder->mean;
}

const double *dn_encoder_scale(const dn_encoder *encoder) {
    return encoder->scale;
}

size_t dn_encoder_n_bases(const dn_encoder *encoder) {
    return encoder->n_bases;
}

dn_basis dn_encoder_basis(const dn_encoder *encoder, size_t b) {
    assert(b < encoder->n_bases);
    const dni_basis *basis = &encoder->bases[b];
    return (dn_basis){.kind = basis->kind,
                      .keep = basis->keep,
                      .interactions = basis->interactions,
                      .degree = basis->degree,
                      .width = basis->width,
                      .n_columns = basis->n_columns,
                      .n_features = basis->n_features,
                      .first_feature = basis->first_feature,
                      .columns = basis->columns,
                      .mean = basis->mean,
                      .scale = basis->scale,
                      .points = basis->points,
                      .phase = basis->phase};
}

bool dn_encoder_refuses_unseen(const dn_encoder *encoder) {
    return encoder->refuse_unseen;
}

bool dni_encoder_is_simple(const dn_encoder *encoder) {
    for (size_t i = 0; i < encoder->n_inputs; i++)
        if (encoder->inputs[i].indicator)
            return false;
    return encoder->n_bases == 0;
}

size_t dni_encoder_memory(const dn_encoder *encoder) {
    size_t bytes = sizeof *encoder + 2 * encoder->n_features * sizeof(double) + encoder->n_basis_inputs * sizeof(size_t);
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        const dn_input *input = &encoder->inputs[i];
        bytes += sizeof *input + sizeof *encoder->levels + strlen(input->name) + 1 + input->levels.n * 6 * sizeof(uint32_t) +
                 dni_string_set_size(&encoder->levels[i]);
    }
    for (size_t b = 0; b < encoder->n_bases; b++) {
        const dni_basis *basis = &encoder->bases[b];
        size_t numbers = basis->kind == DN_BASIS_POLYNOMIAL ? basis->n_features : basis->n_features * (basis->n_columns + 1);
        bytes += sizeof *basis + (numbers + 3 * basis->n_columns) * sizeof(double);
    }
    return bytes;
}

double dn_encoder_level(const dn_encoder *encoder, size_t input, const char *text, size_t length) {
    assert(input < encoder->n_inputs);
    uint32_t level = dni_string_set_find(&encoder->levels[input], text, length);
    return level == DNI_NO_STRING ? DN_UNSEEN : (double)level;
}

/* ---- raw rows to features ----------------------------------------------------------------------------------------------------------------- */
/* A raw value as a level: NaN is missing; what is no index of a level (DN_UNSEEN, a caller's nonsense) is unseen. */
static uint32_t raw_level(const dn_input *input, double raw) {
    if (isnan(raw))
        return DN_CODE_MISSING;
    return raw >= 0 && raw < (double)input->levels.n ? (uint32_t)raw : (uint32_t)input->levels.n;
}

static void put_category(const dn_input *input, double raw, double *row) {
    for (size_t k = 0; k < input->n_features; k++)
        row[input->first_feature + k] = 0;
    size_t feature = dni_encode_level(input, raw_level(input, raw));
    if (feature != SIZE_MAX)
        row[feature] = 1;
}

size_t dni_encoder_level_feature(const dn_encoder *encoder, size_t input, double raw) {
    return dni_encode_level(&encoder->inputs[input], raw_level(&encoder->inputs[input], raw));
}

void dni_encode_bases(const dn_encoder *encoder, const double *raw, bool standardize, double *out) {
    for (size_t b = 0; b < encoder->n_bases; b++) {
        const dni_basis *basis = &encoder->bases[b];
        dni_basis_of_raw(basis, encoder->inputs, raw, out + (basis->first_feature - encoder->n_base));
    }
    for (size_t j = encoder->n_base; standardize && j < encoder->n_features; j++)
        out[j - encoder->n_base] = (out[j - encoder->n_base] - encoder->mean[j]) / encoder->scale[j];
}

/* Standardised, or in the raw space. */
static void encode_rows(const dn_encoder *encoder, const double *raw, size_t n_rows, bool standardize, double *out) {
    for (size_t i = 0; i < n_rows; i++, raw += encoder->n_inputs, out += encoder->n_features) {
        for (size_t k = 0; k < encoder->n_inputs; k++) {
            const dn_input *input = &encoder->inputs[k];
            size_t j = input->first_feature;
            if (input->type == DN_CATEGORICAL) {
                put_category(input, raw[k], out);
                continue;
            }
            if (!input->taken) {
                double mean = standardize ? encoder->mean[j] : 0, scale = standardize ? encoder->scale[j] : 1;
                out[j++] = dni_encode_number(raw[k], input->fill, mean, scale);
            }
            if (input->indicator)
                out[j] = isnan(raw[k]);
        }
        if (encoder->n_bases > 0)
            dni_encode_bases(encoder, raw, standardize && encoder->standardize, out + encoder->n_base);
    }
}

void dn_encoder_apply(const dn_encoder *encoder, const double *raw, size_t n_rows, double *out) {
    encode_rows(encoder, raw, n_rows, true, out);
}

void dni_encoder_expand(const dn_encoder *encoder, const double *raw, size_t n_rows, double *out) {
    encode_rows(encoder, raw, n_rows, false, out);
}
