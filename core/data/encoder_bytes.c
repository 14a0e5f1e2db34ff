/* An encoder as bytes and back.
 *
 *   u8 version, u8 standardize, u64 n_inputs, then for each input
 *     text name, u8 type,
 *     numeric, boolean: f64 fill, f64 mean, f64 scale
 *     categorical:      u8 missing_level, u64 n_levels, text level[n_levels] ascending by bytes */
#include "data/encoder_bytes.h"

#include "data/encoder.h"
#include <stdlib.h>
#include <string.h>

#define ENCODER_VERSION 1
#define LEAST_INPUT_SIZE (8 + 1 + 1 + 8) /* an input without name, levels or numbers */

void dni_encoder_write(const dn_encoder *encoder, dni_writer *writer) {
    dni_write_u8(writer, ENCODER_VERSION);
    dni_write_u8(writer, encoder->standardize);
    dni_write_u64(writer, encoder->n_inputs);
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        const dn_input *input = &encoder->inputs[i];
        dni_write_text(writer, input->name, strlen(input->name));
        dni_write_u8(writer, (uint8_t)input->type);
        if (input->type != DN_CATEGORICAL) {
            dni_write_f64(writer, input->fill);
            dni_write_f64(writer, encoder->mean[input->first_feature]);
            dni_write_f64(writer, encoder->scale[input->first_feature]);
            continue;
        }
        dni_write_u8(writer, input->missing_level);
        dni_write_u64(writer, input->levels.n);
        for (size_t k = 0; k < input->levels.n; k++)
            dni_write_text(writer, input->levels.bytes + input->levels.start[k], input->levels.start[k + 1] - input->levels.start[k]);
    }
}

static dn_status corrupt(dn_error *err, const char *what) {
    return dn_error_set(err, DN_ERR_CORRUPT, "an encoder is damaged: %s", what);
}

/* Levels must ascend: found by hash and written out in this order. */
static dn_status read_levels(dni_reader *reader, dn_encoder *encoder, size_t i, dn_error *err) {
    unsigned missing = dni_read_u8(reader);
    size_t n = dni_read_count(reader, 8);
    if (reader->failed || missing > 1)
        return corrupt(err, "the levels of an input are cut short");
    encoder->inputs[i].missing_level = missing == 1;
    const char *before = NULL;
    size_t before_length = 0;
    for (size_t k = 0; k < n; k++) {
        size_t length;
        const char *text = dni_read_text(reader, &length);
        if (text == NULL)
            return corrupt(err, "a level is cut short");
        if (before != NULL) {
            size_t shorter = length < before_length ? length : before_length;
            int order = shorter > 0 ? memcmp(before, text, shorter) : 0;
            if (order > 0 || (order == 0 && before_length >= length))
                return corrupt(err, "the levels of an input do not ascend");
        }
        uint32_t index;
        dn_status status = dni_string_set_add(&encoder->levels[i], text, length, &index, err);
        if (status != DN_OK)
            return status;
        before = text;
        before_length = length;
    }
    return DN_OK;
}

/* What is read of the inputs before the encoder knows how many features it has. */
struct draft {
    const char **names; /* [n_inputs] in the reader's memory */
    size_t *lengths;    /* [n_inputs] */
    double *moments;    /* [n_inputs × 2] mean and scale of numbers */
};

static dn_status read_input(dni_reader *reader, dn_encoder *encoder, size_t i, struct draft *draft, dn_error *err) {
    dn_input *input = &encoder->inputs[i];
    draft->names[i] = dni_read_text(reader, &draft->lengths[i]);
    unsigned type = dni_read_u8(reader);
    if (draft->names[i] == NULL || reader->failed || memchr(draft->names[i], '\0', draft->lengths[i]) != NULL)
        return corrupt(err, "the name of an input is none");
    if (type == DN_CATEGORICAL) {
        input->type = DN_CATEGORICAL;
        return read_levels(reader, encoder, i, err);
    }
    if (type != DN_NUMERIC && type != DN_BOOLEAN)
        return corrupt(err, "an input is of no type that can be one");
    input->type = (dn_column_type)type;
    input->fill = dni_read_f64(reader);
    double mean = dni_read_f64(reader), scale = dni_read_f64(reader);
    if (reader->failed || !isfinite(input->fill) || !isfinite(mean) || !isfinite(scale) || !(scale > 0))
        return corrupt(err, "the mean or deviation of an input is not finite");
    draft->moments[2 * i] = mean;
    draft->moments[2 * i + 1] = scale;
    return DN_OK;
}

static dn_status read_inputs(dni_reader *reader, dn_encoder *encoder, struct draft *draft, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; status == DN_OK && i < encoder->n_inputs; i++)
        status = read_input(reader, encoder, i, draft, err);
    if (status == DN_OK)
        status = dni_encoder_set_names(encoder, draft->names, draft->lengths, err);
    if (status == DN_OK)
        status = dni_encoder_finish(encoder, err);
    for (size_t i = 0; status == DN_OK && i < encoder->n_inputs; i++) {
        const dn_input *input = &encoder->inputs[i];
        if (input->type == DN_CATEGORICAL)
            continue;
        encoder->mean[input->first_feature] = draft->moments[2 * i];
        encoder->scale[input->first_feature] = draft->moments[2 * i + 1];
    }
    return status;
}

dn_status dni_encoder_read(dni_reader *reader, dn_encoder **out, dn_error *err) {
    unsigned version = dni_read_u8(reader), standardize = dni_read_u8(reader);
    if (!reader->failed && version > ENCODER_VERSION)
        return dn_error_set(err, DN_ERR_VERSION, "an encoder has version %u, this program reads version %d", version, ENCODER_VERSION);
    size_t n = dni_read_count(reader, LEAST_INPUT_SIZE);
    if (reader->failed || version != ENCODER_VERSION || standardize > 1)
        return corrupt(err, "its header is none");
    dn_encoder *encoder = NULL;
    dn_status status = dni_encoder_new(n, &encoder, err);
    if (status != DN_OK)
        return status;
    encoder->standardize = standardize == 1;
    struct draft draft = {.names = calloc(n + 1, sizeof *draft.names),
                          .lengths = calloc(n + 1, sizeof *draft.lengths),
                          .moments = calloc(2 * n + 1, sizeof *draft.moments)};
    if (draft.names == NULL || draft.lengths == NULL || draft.moments == NULL)
        status = dn_error_set(err, DN_ERR_MEMORY, "the encoder needs memory which the system does not have");
    else
        status = read_inputs(reader, encoder, &draft, err);
    free((void *)draft.names);
    free(draft.lengths);
    free(draft.moments);
    if (status == DN_OK)
        *out = encoder;
    else
        dn_encoder_unref(encoder);
    return status;
}
