/* The bytes of an encoder.
 *
 *   u8 version
 *   u8 flags: 1 standardize, 2 drop_first, 4 refuse_unseen, 8 standardize_sparse, 16 index sets
 *   u64 n_inputs, then for each input
 *     text name, u8 type
 *     numeric, boolean: u8 indicator, f64 fill
 *     datetime: u8 indicator, f64 fill, text form (dn_datetime_form_write)
 *     part of a datetime: u8 part, text form, then as categorical
 *     categorical: u8 missing_level, u32 missing_as, u32 unseen_as (UINT32_MAX: none),
 *                  u64 n_levels, text level[n_levels] in byte order
 *     text: the vocabulary (text/vocabulary.h)
 *     sparse: u32 first_index, u64 width; with flag 16 the index set (index_set.h)
 *   with text or sparse inputs: f64 vector_entries
 *   u32 n_bases, the bases (basis_bytes.c)
 *   f64 mean, f64 scale of each numeric input with a feature of its own and of each feature of a
 *     standardised sparse input, in the order of the inputs; then of each feature of the bases
 *
 * Version 4 is the same without datetime inputs and their parts; an encoder without them is written
 * with version 4.
 * Version 3 is the same as 4 without DN_TEXT_SET and the weightings after it. Version 2 has no text
 * and sparse inputs. */
#include "encoder/encoder_bytes.h"
#include "encoder/basis/basis_bytes.h"
#include "encoder/encoder_impl.h"
#include <stdlib.h>
#include <string.h>

#define ENCODER_VERSION 5
#define PLAIN_VERSION 4
#define VECTORS_VERSION 3 /* the first version with text and sparse inputs */
/* Bytes of the shortest input, which is numeric and has an empty name: length of the name, type,
 * missing indicator, value for missing cells. */
#define MIN_INPUT_SIZE (8 + 1 + 1 + 8)
#define MIN_BASIS_SIZE (3 + 8 + 8 + 4 + 8)
#define NO_LEVEL UINT32_MAX
#define PART_TYPE (DN_DATETIME + 1) /* the type of a part of a datetime in the bytes */

enum {
    STANDARDIZE = 1,
    DROP_FIRST = 2,
    REFUSE_UNSEEN = 4,
    STANDARDIZE_SPARSE = 8,
    INDEX_SETS = 16
};

/* Iterates over the ranges of features that have a mean and a scale. */
struct scaled {
    size_t input;    /* the next input; n_inputs: the bases; larger: the end */
    size_t first, n; /* the current range */
};

static bool next_scaled(const dn_encoder *encoder, struct scaled *at) {
    while (at->input < encoder->n_inputs) {
        const dn_input *input = &encoder->inputs[at->input++];
        at->first = input->first_feature;
        at->n = dni_input_is_number(input)            ? !input->in_basis_only
                : dni_input_is_scaled(encoder, input) ? input->n_features
                                                      : 0;
        if (at->n > 0) {
            return true;
        }
    }
    at->first = encoder->n_base;
    at->n = encoder->n_features - encoder->n_base;
    return at->input++ == encoder->n_inputs;
}

static uint32_t level_number(size_t level) {
    return level == DN_NO_LEVEL ? NO_LEVEL : (uint32_t)level;
}

/* Returns whether some index of a sparse input is not a feature. */
static bool has_index_filter(const dn_encoder *encoder) {
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        if (encoder->inputs[i].type == DN_SPARSE &&
            encoder->index_sets[i].n < encoder->inputs[i].width) {
            return true;
        }
    }
    return false;
}

static void write_form(const dn_input *input, dni_writer *writer) {
    char form[DN_DATETIME_FORM_SIZE];
    dni_write_text(writer, form, dn_datetime_form_write(&input->form, form));
}

/* Writes the bytes of input i that follow its type. */
static void write_input(const dn_encoder *encoder, size_t i, dni_writer *writer) {
    const dn_input *input = &encoder->inputs[i];
    switch (input->type) {
    case DN_NUMERIC:
    case DN_BOOLEAN:
        dni_write_u8(writer, input->indicator);
        dni_write_f64(writer, input->fill);
        break;
    case DN_CATEGORICAL:
        if (input->part != DN_PART_NONE) {
            dni_write_u8(writer, (uint8_t)input->part);
            write_form(input, writer);
        }
        dni_write_u8(writer, input->missing_level);
        dni_write_u32(writer, level_number(input->missing_as));
        dni_write_u32(writer, level_number(input->unseen_as));
        dni_write_u64(writer, input->levels.n);
        for (size_t k = 0; k < input->levels.n; k++) {
            dni_write_text(writer, input->levels.bytes + input->levels.start[k],
                           input->levels.start[k + 1] - input->levels.start[k]);
        }
        break;
    case DN_DATETIME:
        dni_write_u8(writer, input->indicator);
        dni_write_f64(writer, input->fill);
        write_form(input, writer);
        break;
    case DN_TEXT:
        dni_vocabulary_write(&encoder->texts[i], writer);
        break;
    case DN_SPARSE:
        dni_write_u32(writer, input->first_index);
        dni_write_u64(writer, input->width);
        if (has_index_filter(encoder)) {
            dni_index_set_write(&encoder->index_sets[i], writer);
        }
        break;
    }
}

static bool has_dates(const dn_encoder *encoder) {
    bool any = false;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        any = any || encoder->inputs[i].type == DN_DATETIME ||
              encoder->inputs[i].part != DN_PART_NONE;
    }
    return any;
}

void dni_encoder_write(const dn_encoder *encoder, dni_writer *writer) {
    dni_write_u8(writer, has_dates(encoder) ? ENCODER_VERSION : PLAIN_VERSION);
    dni_write_u8(writer, (uint8_t)((encoder->standardize ? STANDARDIZE : 0) |
                                   (encoder->drop_first ? DROP_FIRST : 0) |
                                   (encoder->refuse_unseen ? REFUSE_UNSEEN : 0) |
                                   (encoder->standardize_sparse ? STANDARDIZE_SPARSE : 0) |
                                   (has_index_filter(encoder) ? INDEX_SETS : 0)));
    dni_write_u64(writer, encoder->n_inputs);
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        const dn_input *input = &encoder->inputs[i];
        dni_write_text(writer, input->name, strlen(input->name));
        dni_write_u8(writer, (uint8_t)(input->part != DN_PART_NONE ? PART_TYPE : input->type));
        write_input(encoder, i, writer);
    }
    if (encoder->n_vector_inputs > 0) {
        dni_write_f64(writer, encoder->vector_entries);
    }
    dni_write_u32(writer, (uint32_t)encoder->n_bases);
    for (size_t b = 0; b < encoder->n_bases; b++) {
        dni_basis_write(&encoder->bases[b], writer);
    }
    for (struct scaled at = {0}; next_scaled(encoder, &at);) {
        for (size_t j = at.first; j < at.first + at.n; j++) {
            dni_write_f64(writer, dni_encoder_mean_of(encoder, j));
            dni_write_f64(writer, dni_encoder_scale_of(encoder, j));
        }
    }
}

/* ---- inputs ---- */
/* Values read from the bytes that are needed until dni_encoder_finish has been called. */
struct draft {
    size_t *lengths; /* [n_inputs] bytes of each name; the names are in the reader's memory */
    uint32_t *as;    /* [n_inputs × 2] missing_as, unseen_as */
    unsigned version;
    bool has_index_sets; /* sparse inputs have index sets */
    double n_indices;    /* features of the index sets read so far */
};

/* Reads the levels, which must be in strict byte order. */
static dn_status read_levels(dni_reader *reader, dn_encoder *encoder, size_t i, uint32_t as[2],
                             dn_error *err) {
    unsigned missing = dni_read_u8(reader);
    as[0] = dni_read_u32(reader);
    as[1] = dni_read_u32(reader);
    size_t n = dni_read_count(reader, 8);
    if (reader->failed || missing > 1) {
        return dni_encoder_corrupt(err, "the levels of an input are cut short");
    }
    if ((missing == 1 ? as[0] != n : as[0] != NO_LEVEL && as[0] >= n) ||
        (as[1] != NO_LEVEL && as[1] >= n)) {
        return dni_encoder_corrupt(err, "the level of a missing or unseen category does not exist");
    }
    encoder->inputs[i].missing_level = missing == 1;
    const char *before = NULL;
    size_t before_length = 0;
    for (size_t k = 0; k < n; k++) {
        size_t length;
        const char *text = dni_read_text(reader, &length);
        if (text == NULL) {
            return dni_encoder_corrupt(err, "a level is cut short");
        }
        if (before != NULL) {
            size_t shorter = length < before_length ? length : before_length;
            int order = shorter > 0 ? memcmp(before, text, shorter) : 0;
            if (order > 0 || (order == 0 && before_length >= length)) {
                return dni_encoder_corrupt(err, "the levels of an input do not ascend");
            }
        }
        uint32_t index;
        dn_status status = dni_string_set_add(&encoder->levels[i], text, length, &index, err);
        if (status != DN_OK) {
            return status;
        }
        before = text;
        before_length = length;
    }
    return DN_OK;
}

static dn_status read_sparse(dni_reader *reader, dn_input *input, struct draft *draft,
                             dni_index_set *set, dn_error *err) {
    const dn_index_filter all = {.kind = DN_INDICES_ALL};
    input->first_index = dni_read_u32(reader);
    const uint64_t width = dni_read_u64(reader);
    if (reader->failed || width > UINT32_MAX) {
        return dni_encoder_corrupt(err, "a sparse input is too wide");
    }
    input->width = (size_t)width;
    return draft->has_index_sets
               ? dni_index_set_read(reader, input->width, &draft->n_indices, set, err)
               : dni_index_set_init(set, &all, input->width, err);
}

static dn_status read_form(dni_reader *reader, dn_input *input, dn_error *err) {
    size_t length;
    const char *text = dni_read_text(reader, &length);
    return text != NULL && dn_datetime_form_parse(text, length, &input->form)
               ? DN_OK
               : dni_encoder_corrupt(err, "the form of a date is invalid");
}

static dn_status read_part(dni_reader *reader, dn_input *input, size_t length, dn_error *err) {
    const unsigned part = dni_read_u8(reader);
    input->part = part < DN_DATE_PARTS ? (dn_date_part)part : DN_PART_NONE;
    return dni_part_column(input->name, length, input->part) != SIZE_MAX
               ? read_form(reader, input, err)
               : dni_encoder_corrupt(err, "the part of a date is invalid");
}

static dn_status read_input(dni_reader *reader, dn_encoder *encoder, size_t i, struct draft *draft,
                            dn_error *err) {
    dn_input *input = &encoder->inputs[i];
    input->name = dni_read_text(reader, &draft->lengths[i]);
    unsigned type = dni_read_u8(reader);
    if (input->name == NULL || reader->failed ||
        memchr(input->name, '\0', draft->lengths[i]) != NULL) {
        return dni_encoder_corrupt(err, "the name of an input is invalid");
    }
    if (type > (draft->version < VECTORS_VERSION  ? DN_CATEGORICAL
                : draft->version <= PLAIN_VERSION ? DN_SPARSE
                                                  : PART_TYPE)) {
        return dni_encoder_corrupt(err, "an input has an unknown type");
    }
    input->type = type == PART_TYPE ? DN_CATEGORICAL : (dn_column_type)type;
    if (type == PART_TYPE) {
        const dn_status status = read_part(reader, input, draft->lengths[i], err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (input->type == DN_CATEGORICAL) {
        return read_levels(reader, encoder, i, draft->as + 2 * i, err);
    }
    if (type == DN_TEXT) {
        dn_status status = dni_vocabulary_read(reader, &encoder->texts[i], err);
        const bool known =
            draft->version >= PLAIN_VERSION || encoder->texts[i].weighting <= DN_TEXT_TFIDF;
        return status == DN_OK && !known
                   ? dni_encoder_corrupt(err, "the weighting of a text is unknown in this version")
                   : status;
    }
    if (type == DN_SPARSE) {
        return read_sparse(reader, input, draft, &encoder->index_sets[i], err);
    }
    unsigned indicator = dni_read_u8(reader);
    input->fill = dni_read_f64(reader);
    if (reader->failed || indicator > 1 || !isfinite(input->fill)) {
        return dni_encoder_corrupt(err, "the value of a missing number is invalid");
    }
    input->indicator = indicator == 1;
    return type == DN_DATETIME ? read_form(reader, input, err) : DN_OK;
}

static dn_status read_inputs(dni_reader *reader, dn_encoder *encoder, struct draft *draft,
                             dn_error *err) {
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        dn_status status = read_input(reader, encoder, i, draft, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return dni_encoder_copy_names(encoder, draft->lengths, err);
}

/* ---- the encoder ---- */
static dn_status read_bases(dni_reader *reader, dn_encoder *encoder, dn_error *err) {
    size_t n = dni_read_u32(reader);
    if (reader->failed || n > reader->left / MIN_BASIS_SIZE) {
        return dni_encoder_corrupt(err, "its bases are cut short");
    }
    dn_status status = n > 0 ? dni_encoder_set_bases(encoder, n, err) : DN_OK;
    for (size_t b = 0, sum = 0; status == DN_OK && b < n; b++) {
        status =
            dni_basis_read(reader, encoder->inputs, encoder->n_inputs, &encoder->bases[b], err);
        sum += encoder->bases[b].n_features;
        if (status == DN_OK &&
            (sum > DN_MAX_BASIS_FEATURES || sum > reader->left / (2 * sizeof(double)))) {
            status = dni_encoder_corrupt(err, "its bases have too many features");
        }
    }
    return status;
}

static dn_status read_scales(dni_reader *reader, dn_encoder *encoder, dn_error *err) {
    for (struct scaled at = {0}; next_scaled(encoder, &at);) {
        for (size_t j = at.first; j < at.first + at.n; j++) {
            double mean = dni_read_f64(reader), scale = dni_read_f64(reader);
            if (reader->failed || !isfinite(mean) || !isfinite(scale) || !(scale > 0)) {
                return dni_encoder_corrupt(err, "the mean or deviation of a feature is not finite");
            }
            if (encoder->mean == NULL && (mean != 0 || scale != 1)) {
                return dni_encoder_corrupt(err,
                                           "a feature is standardised although the encoder is not");
            }
            if (encoder->mean == NULL) {
                continue;
            }
            encoder->mean[j] = mean;
            encoder->scale[j] = scale;
        }
    }
    return DN_OK;
}

/* Reads the mean number of entries of a row (vector_entries), if there are text or sparse inputs.
 * Sparse indices and hash buckets take no bytes in an encoder, so a small file could claim many and
 * request much memory. If they are more than DN_MAX_DENSE_FEATURES, at least one byte for each must
 * follow: in a valid model, the machines have these bytes. */
static dn_status read_vector_inputs(dni_reader *reader, dn_encoder *encoder, dn_error *err) {
    double features = 0;
    bool any = false;
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        const dn_input *input = &encoder->inputs[i];
        any = any || dni_input_is_vector(input);
        features += input->type == DN_SPARSE ? (double)encoder->index_sets[i].n
                    : input->type == DN_TEXT
                        ? (double)(encoder->texts[i].n_features - encoder->texts[i].words.n)
                        : 0;
    }
    if (!any) {
        return DN_OK;
    }
    encoder->vector_entries = dni_read_f64(reader);
    if (reader->failed || !(encoder->vector_entries >= 0) || !isfinite(encoder->vector_entries)) {
        return dni_encoder_corrupt(err, "the mean number of entries is invalid");
    }
    return features <= DN_MAX_DENSE_FEATURES || features <= (double)reader->left
               ? DN_OK
               : dni_encoder_corrupt(err, "its features are cut short");
}

static dn_status read_body(dni_reader *reader, dn_encoder *encoder, struct draft *draft,
                           dn_error *err) {
    dn_status status = read_inputs(reader, encoder, draft, err);
    if (status != DN_OK) {
        return status;
    }
    status = read_vector_inputs(reader, encoder, err);
    if (status != DN_OK) {
        return status;
    }
    status = read_bases(reader, encoder, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_encoder_finish(encoder, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < encoder->n_inputs; i++) {
        dn_input *input = &encoder->inputs[i];
        if (input->type != DN_CATEGORICAL) {
            continue;
        }
        input->missing_as = draft->as[2 * i] == NO_LEVEL ? DN_NO_LEVEL : draft->as[2 * i];
        input->unseen_as = draft->as[2 * i + 1] == NO_LEVEL ? DN_NO_LEVEL : draft->as[2 * i + 1];
    }
    return read_scales(reader, encoder, err);
}

dn_status dni_encoder_read(dni_reader *reader, dn_encoder **out, dn_error *err) {
    unsigned version = dni_read_u8(reader), flags = dni_read_u8(reader);
    if (!reader->failed && version == 1) { /* Version 1 was never released. */
        return dn_error_set(
            err, DN_ERR_VERSION,
            "an encoder has version 1, which this library does not read: train the model again");
    }
    if (!reader->failed && version > ENCODER_VERSION) {
        return dn_error_set(
            err, DN_ERR_VERSION,
            "an encoder has version %u, but this library reads only versions up to %d", version,
            ENCODER_VERSION);
    }
    size_t n = dni_read_count(reader, MIN_INPUT_SIZE);
    const unsigned known = STANDARDIZE | DROP_FIRST | REFUSE_UNSEEN |
                           (version < VECTORS_VERSION ? 0 : STANDARDIZE_SPARSE | INDEX_SETS);
    if (reader->failed || version == 0 || flags > known ||
        ((flags & STANDARDIZE_SPARSE) != 0 && (flags & STANDARDIZE) == 0)) {
        return dni_encoder_corrupt(err, "its header is invalid");
    }
    dn_encoder *encoder = NULL;
    dn_status status = dni_encoder_new(n, &encoder, err);
    if (status != DN_OK) {
        return status;
    }
    encoder->standardize = (flags & STANDARDIZE) != 0;
    encoder->standardize_sparse = (flags & STANDARDIZE_SPARSE) != 0;
    encoder->drop_first = (flags & DROP_FIRST) != 0;
    encoder->refuse_unseen = (flags & REFUSE_UNSEEN) != 0;
    struct draft draft = {.lengths = calloc(n + 1, sizeof *draft.lengths),
                          .as = calloc(2 * n + 1, sizeof *draft.as),
                          .version = version,
                          .has_index_sets = (flags & INDEX_SETS) != 0};
    if (draft.lengths == NULL || draft.as == NULL) {
        status = dni_encoder_no_memory(err);
    } else {
        status = read_body(reader, encoder, &draft, err);
    }
    free(draft.lengths);
    free(draft.as);
    if (status == DN_OK) {
        *out = encoder;
    } else {
        dn_encoder_unref(encoder);
    }
    return status;
}
