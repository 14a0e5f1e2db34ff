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

dn_encoder *dn_encoder_ref(dn_encoder *encoder) {
    atomic_fetch_add_explicit(&encoder->references, 1, memory_order_relaxed);
    return encoder;
}

void dn_encoder_unref(dn_encoder *encoder) {
    if (encoder == NULL || atomic_fetch_sub_explicit(&encoder->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; encoder->levels != NULL && i < encoder->n_inputs; i++)
        dni_string_set_done(&encoder->levels[i]);
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

dn_status dni_encoder_finish(dn_encoder *encoder, dn_error *err) {
    size_t n_features = 0;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        dn_input *input = &encoder->inputs[i];
        input->levels = dni_string_set_view(&encoder->levels[i]);
        input->first_feature = n_features;
        input->n_features = input->type == DN_CATEGORICAL ? input->levels.n + input->missing_level : 1;
        if (input->n_features > UINT32_MAX - n_features)
            return dn_error_set(err, DN_ERR_DATA, "the inputs make more than %zu features", (size_t)UINT32_MAX);
        n_features += input->n_features;
    }
    encoder->n_features = n_features;
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

bool dn_encoder_standardizes(const dn_encoder *encoder) {
    return encoder->standardize;
}

const double *dn_encoder_mean(const dn_encoder *encoder) {
    return encoder->mean;
}

const double *dn_encoder_scale(const dn_encoder *encoder) {
    return encoder->scale;
}

/* The input a feature belongs to: the last one that begins at or before it and has features. */
static const dn_input *input_of_feature(const dn_encoder *encoder, size_t j) {
    size_t low = 0, high = encoder->n_inputs;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (encoder->inputs[middle].first_feature <= j)
            low = middle;
        else
            high = middle;
    }
    return &encoder->inputs[low];
}

/* Text of known length being written into a buffer that may be too small. */
struct name_out {
    char *bytes;
    size_t size, length; /* room, and what all of it takes */
};

static void put_byte(struct name_out *out, char c) {
    if (out->length + 1 < out->size)
        out->bytes[out->length] = c;
    out->length++;
}

/* Quoted: between double quotes, those within doubled. */
static void put_part(struct name_out *out, const char *text, size_t n, bool quoted) {
    if (quoted)
        put_byte(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (quoted && text[i] == '"')
            put_byte(out, '"');
        put_byte(out, text[i]);
    }
    if (quoted)
        put_byte(out, '"');
}

size_t dn_encoder_feature_name(const dn_encoder *encoder, size_t j, char *out, size_t size) {
    static const char missing[] = "(missing)";
    const size_t n_missing = sizeof missing - 1;
    assert(j < encoder->n_features);
    const dn_input *input = input_of_feature(encoder, j);
    struct name_out name = {.bytes = out, .size = size};
    put_part(&name, input->name, strlen(input->name), strchr(input->name, '=') != NULL || input->name[0] == '"');
    if (input->type == DN_CATEGORICAL) {
        const size_t level = j - input->first_feature;
        put_byte(&name, '=');
        if (level < input->levels.n) {
            const char *text = input->levels.bytes + input->levels.start[level];
            const size_t n = input->levels.start[level + 1] - input->levels.start[level];
            put_part(&name, text, n, (n > 0 && text[0] == '"') || (n == n_missing && memcmp(text, missing, n) == 0));
        } else {
            put_part(&name, missing, n_missing, false);
        }
    }
    if (size > 0)
        out[name.length < size ? name.length : size - 1] = '\0';
    return name.length;
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

void dn_encoder_apply(const dn_encoder *encoder, const double *raw, size_t n_rows, double *out) {
    for (size_t i = 0; i < n_rows; i++, raw += encoder->n_inputs, out += encoder->n_features) {
        for (size_t k = 0; k < encoder->n_inputs; k++) {
            const dn_input *input = &encoder->inputs[k];
            size_t j = input->first_feature;
            if (input->type == DN_CATEGORICAL)
                put_category(input, raw[k], out);
            else
                out[j] = dni_encode_number(raw[k], input->fill, encoder->mean[j], encoder->scale[j]);
        }
    }
}

void dni_encoder_expand(const dn_encoder *encoder, const double *raw, size_t n_rows, double *out) {
    for (size_t i = 0; i < n_rows; i++, raw += encoder->n_inputs, out += encoder->n_features) {
        for (size_t k = 0; k < encoder->n_inputs; k++) {
            const dn_input *input = &encoder->inputs[k];
            if (input->type == DN_CATEGORICAL)
                put_category(input, raw[k], out);
            else
                out[input->first_feature] = isnan(raw[k]) ? input->fill : raw[k];
        }
    }
}
