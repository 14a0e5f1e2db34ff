/* An encoder as bytes and back.
 *
 *   u8 version, u8 flags (1 standardize, 2 drop_first, 4 refuse_unseen), u64 n_inputs, then for each input
 *     text name, u8 type,
 *     numeric, boolean: u8 indicator, f64 fill
 *     categorical:      u8 missing_level, u32 missing_as, u32 unseen_as (UINT32_MAX: none), u64 n_levels, text level[n_levels] ascending by bytes
 *   u32 n_bases, the bases (basis_bytes.c)
 *   f64 mean, f64 scale of every number that is a feature, in the inputs' order, then of every feature of the bases */
#include "data/encoder_bytes.h"

#include "data/basis_bytes.h"
#include "data/encoder.h"
#include <stdlib.h>
#include <string.h>

#define ENCODER_VERSION 2
#define LEAST_INPUT_SIZE (8 + 1 + 1 + 8) /* an input without name, levels or numbers */
#define LEAST_BASIS_SIZE (3 + 8 + 8 + 4 + 8)
#define NO_LEVEL UINT32_MAX

enum { STANDARDIZE = 1, DROP_FIRST = 2, REFUSE_UNSEEN = 4 };

/* The features that have a mean and a scale; *j is the last one or SIZE_MAX. false: no more. */
struct scaled {
    size_t input, feature; /* next input; the feature found, and in the bases the next one */
};

static bool next_scaled(const dn_encoder *encoder, struct scaled *at) {
    while (at->input < encoder->n_inputs) {
        const dn_input *input = &encoder->inputs[at->input++];
        at->feature = input->first_feature;
        if (input->type != DN_CATEGORICAL && !input->taken)
            return true;
    }
    at->feature = at->input++ == encoder->n_inputs ? encoder->n_base : at->feature + 1;
    return at->feature < encoder->n_features;
}

static uint32_t level_number(size_t level) {
    return level == DN_NO_LEVEL ? NO_LEVEL : (uint32_t)level;
}

void dni_encoder_write(const dn_encoder *encoder, dni_writer *writer) {
    dni_write_u8(writer, ENCODER_VERSION);
    dni_write_u8(writer, (uint8_t)((encoder->standardize ? STANDARDIZE : 0) | (encoder->drop_first ? DROP_FIRST : 0) |
                                   (encoder->refuse_unseen ? REFUSE_UNSEEN : 0)));
    dni_write_u64(writer, encoder->n_inputs);
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        const dn_input *input = &encoder->inputs[i];
        dni_write_text(writer, input->name, strlen(input->name));
        dni_write_u8(writer, (uint8_t)input->type);
        if (input->type != DN_CATEGORICAL) {
            dni_write_u8(writer, input->indicator);
            dni_write_f64(writer, input->fill);
            continue;
        }
        dni_write_u8(writer, input->missing_level);
        dni_write_u32(writer, level_number(input->missing_as));
        dni_write_u32(writer, level_number(input->unseen_as));
        dni_write_u64(writer, input->levels.n);
        for (size_t k = 0; k < input->levels.n; k++)
            dni_write_text(writer, input->levels.bytes + input->levels.start[k], input->levels.start[k + 1] - input->levels.start[k]);
    }
    dni_write_u32(writer, (uint32_t)encoder->n_bases);
    for (size_t b = 0; b < encoder->n_bases; b++)
        dni_basis_write(&encoder->bases[b], writer);
    for (struct scaled at = {0}; next_scaled(encoder, &at);) {
        dni_write_f64(writer, encoder->mean[at.feature]);
        dni_write_f64(writer, encoder->scale[at.feature]);
    }
}

static dn_status corrupt(dn_error *err, const char *what) {
    return dn_error_set(err, DN_ERR_CORRUPT, "an encoder is damaged: %s", what);
}

/* ---- inputs --------------------------------------------------------------------------------------------------------------------------------- */
/* What is read of the inputs before the encoder is finished. */
struct draft {
    const char **names; /* [n_inputs] in the reader's memory */
    size_t *lengths;    /* [n_inputs] */
    uint32_t *as;       /* [n_inputs × 2] missing_as, unseen_as */
};

/* Levels must ascend: found by hash and written out in this order. */
static dn_status read_levels(dni_reader *reader, dn_encoder *encoder, size_t i, uint32_t as[2], dn_error *err) {
    unsigned missing = dni_read_u8(reader);
    as[0] = dni_read_u32(reader);
    as[1] = dni_read_u32(reader);
    size_t n = dni_read_count(reader, 8);
    if (reader->failed || missing > 1)
        return corrupt(err, "the levels of an input are cut short");
    if ((missing == 1 ? as[0] != n : as[0] != NO_LEVEL && as[0] >= n) || (as[1] != NO_LEVEL && as[1] >= n))
        return corrupt(err, "a category becomes a level that is none");
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

static dn_status read_input(dni_reader *reader, dn_encoder *encoder, size_t i, struct draft *draft, dn_error *err) {
    dn_input *input = &encoder->inputs[i];
    draft->names[i] = dni_read_text(reader, &draft->lengths[i]);
    unsigned type = dni_read_u8(reader);
    if (draft->names[i] == NULL || reader->failed || memchr(draft->names[i], '\0', draft->lengths[i]) != NULL)
        return corrupt(err, "the name of an input is none");
    if (type == DN_CATEGORICAL) {
        input->type = DN_CATEGORICAL;
        return read_levels(reader, encoder, i, draft->as + 2 * i, err);
    }
    if (type != DN_NUMERIC && type != DN_BOOLEAN)
        return corrupt(err, "an input is of no type that can be one");
    input->type = (dn_column_type)type;
    unsigned indicator = dni_read_u8(reader);
    input->fill = dni_read_f64(reader);
    if (reader->failed || indicator > 1 || !isfinite(input->fill))
        return corrupt(err, "what stands for a missing number is none");
    input->indicator = indicator == 1;
    return DN_OK;
}

static dn_status read_inputs(dni_reader *reader, dn_encoder *encoder, struct draft *draft, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; status == DN_OK && i < encoder->n_inputs; i++)
        status = read_input(reader, encoder, i, draft, err);
    return status == DN_OK ? dni_encoder_set_names(encoder, draft->names, draft->lengths, err) : status;
}

/* ---- all ------------------------------------------------------------------------------------------------------------------------------------- */
static dn_status read_bases(dni_reader *reader, dn_encoder *encoder, dn_error *err) {
    size_t n = dni_read_u32(reader);
    if (reader->failed || n > reader->left / LEAST_BASIS_SIZE)
        return corrupt(err, "its bases are cut short");
    dn_status status = n > 0 ? dni_encoder_set_bases(encoder, n, err) : DN_OK;
    for (size_t b = 0, sum = 0; status == DN_OK && b < n; b++) {
        status = dni_basis_read(reader, encoder->inputs, encoder->n_inputs, &encoder->bases[b], err);
        sum += encoder->bases[b].n_features;
        if (status == DN_OK && (sum > DN_MAX_BASIS_FEATURES || sum > reader->left / (2 * sizeof(double))))
            status = corrupt(err, "its bases have more features than can be");
    }
    return status;
}

static dn_status read_scales(dni_reader *reader, dn_encoder *encoder, dn_error *err) {
    for (struct scaled at = {0}; next_scaled(encoder, &at);) {
        double mean = dni_read_f64(reader), scale = dni_read_f64(reader);
        if (reader->failed || !isfinite(mean) || !isfinite(scale) || !(scale > 0))
            return corrupt(err, "the mean or deviation of a feature is not finite");
        encoder->mean[at.feature] = mean;
        encoder->scale[at.feature] = scale;
    }
    return DN_OK;
}

static dn_status read_body(dni_reader *reader, dn_encoder *encoder, struct draft *draft, dn_error *err) {
    dn_status status = read_inputs(reader, encoder, draft, err);
    if (status == DN_OK)
        status = read_bases(reader, encoder, err);
    if (status == DN_OK)
        status = dni_encoder_finish(encoder, err);
    for (size_t i = 0; status == DN_OK && i < encoder->n_inputs; i++) {
        dn_input *input = &encoder->inputs[i];
        if (input->type != DN_CATEGORICAL)
            continue;
        input->missing_as = draft->as[2 * i] == NO_LEVEL ? DN_NO_LEVEL : draft->as[2 * i];
        input->unseen_as = draft->as[2 * i + 1] == NO_LEVEL ? DN_NO_LEVEL : draft->as[2 * i + 1];
    }
    return status == DN_OK ? read_scales(reader, encoder, err) : status;
}

dn_status dni_encoder_read(dni_reader *reader, dn_encoder **out, dn_error *err) {
    unsigned version = dni_read_u8(reader), flags = dni_read_u8(reader);
    if (!reader->failed && version == 1) /* a development version's, never released */
        return dn_error_set(err, DN_ERR_VERSION, "an encoder has version 1, which this library does not read: train the model again");
    if (!reader->failed && version > ENCODER_VERSION)
        return dn_error_set(err, DN_ERR_VERSION, "an encoder has version %u, this program reads version %d", version, ENCODER_VERSION);
    size_t n = dni_read_count(reader, LEAST_INPUT_SIZE);
    if (reader->failed || version != ENCODER_VERSION || flags > (STANDARDIZE | DROP_FIRST | REFUSE_UNSEEN))
        return corrupt(err, "its header is none");
    dn_encoder *encoder = NULL;
    dn_status status = dni_encoder_new(n, &encoder, err);
    if (status != DN_OK)
        return status;
    encoder->standardize = (flags & STANDARDIZE) != 0;
    encoder->drop_first = (flags & DROP_FIRST) != 0;
    encoder->refuse_unseen = (flags & REFUSE_UNSEEN) != 0;
    struct draft draft = {.names = calloc(n + 1, sizeof *draft.names),
                          .lengths = calloc(n + 1, sizeof *draft.lengths),
                          .as = calloc(2 * n + 1, sizeof *draft.as)};
    if (draft.names == NULL || draft.lengths == NULL || draft.as == NULL)
        status = dn_error_set(err, DN_ERR_MEMORY, "the encoder needs memory which the system does not have");
    else
        status = read_body(reader, encoder, &draft, err);
    free((void *)draft.names);
    free(draft.lengths);
    free(draft.as);
    if (status == DN_OK)
        *out = encoder;
    else
        dn_encoder_unref(encoder);
    return status;
}
