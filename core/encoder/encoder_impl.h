/* The inside of a fitted encoder, for the files that make, apply and store one. */
#ifndef DNI_ENCODER_IMPL_H
#define DNI_ENCODER_IMPL_H

#include "base/string_set.h"
#include "encoder/basis/basis.h"
#include "encoder/index_set.h"
#include "text/vocabulary.h"
#include <discern/encoder.h>
#include <math.h>
#include <stdatomic.h>

struct dn_encoder {
    atomic_size_t references;
    size_t n_inputs, n_features;
    bool standardize, standardize_sparse, drop_first, refuse_unseen;
    bool refuse_missing;       /* numbers; not among an encoder's bytes: a model's kernel tells */
    dn_input *inputs;          /* [n_inputs]; names in `names`, levels in `levels` */
    char *names;               /* every input's name, each with its NUL */
    dni_string_set *levels;    /* [n_inputs] the levels of categorical inputs, ascending, hashed */
    double *mean, *scale;      /* [n_features]; NULL: empty is standardised */
    dni_vocabulary *texts;     /* [n_inputs] of the text inputs */
    dni_index_set *index_sets; /* [n_inputs] of the sparse inputs: their features */
    size_t *
        vector_inputs; /* [n_vector_inputs] inputs of text or sparse type, ascending: what a raw row has entries of */
    size_t n_vector_inputs;
    double
        vector_entries; /* the training rows' mean number of entries of these, but for standardised ones */
    bool sparse;        /* encoded rows are CSR */
    unsigned char **
        active; /* [n_inputs] of sparse inputs: bit k % 8 of byte k / 8: feature k of the input is not 0 in some training row; of the fit, NULL in an encoder read from bytes */
    dni_basis *bases; /* [n_bases] */
    size_t n_bases;
    size_t n_base; /* features of the inputs; those of the bases follow */
    size_t
        n_entries; /* most features of a row that can be other than 0, those of `vector_entries` apart */
    size_t *basis_inputs; /* [n_basis_inputs] inputs that some basis has, ascending */
    size_t n_basis_inputs;
    size_t n_constant,
        first_constant; /* features of bases that standardising found to be of one value; of the fit */
};

/* An encoder of n inputs with everything empty, one reference. */
DN_MUST_USE dn_status dni_encoder_new(size_t n_inputs, dn_encoder **out, dn_error *err);
/* Room for bases, empty. */
DN_MUST_USE dn_status dni_encoder_set_bases(dn_encoder *encoder, size_t n_bases, dn_error *err);
/* Copies the names, lengths[i] bytes each without NUL. */
DN_MUST_USE dn_status dni_encoder_set_names(dn_encoder *encoder, const char *const *names,
                                            const size_t *lengths, dn_error *err);
/* When types, names, level sets, missing_level, indicator, fill, width, places and texts of all inputs are there, vector_entries, what is standardised, drop_first, and the bases with their columns: counts
 * the features and makes mean 0, scale 1. missing_as is set to the missing level or to none, unseen_as to none. DN_ERR_DATA: more than UINT32_MAX features, or of bases more than DN_MAX_BASIS_FEATURES. */
DN_MUST_USE dn_status dni_encoder_finish(dn_encoder *encoder, dn_error *err);

/* Entries of n rows as they are stored, going by the training rows; INFINITY: rows are dense. */
double dni_encoder_stored_entries(const dn_encoder *encoder, size_t n_rows);

/* Room for mean and scale of all features: 0 and 1. For an encoder that dni_encoder_finish found empty to standardise in. */
DN_MUST_USE dn_status dni_encoder_set_scales(dn_encoder *encoder, dn_error *err);

/* The one expression by which a number becomes a feature, so that every way of encoding gives the same bits. */
static inline double dni_encode_number(double value, double fill, double mean, double scale) {
    return ((isnan(value) ? fill : value) - mean) / scale;
}

/* An entry's x. */
static inline double dni_encode_entry(const dn_encoder *encoder, size_t j, double entry) {
    return encoder->mean == NULL ? entry : (entry - encoder->mean[j]) / encoder->scale[j];
}
/* The features of a text or sparse input of which a row has no entry: out [input->n_features]. */
void dni_encode_empty(const dn_encoder *encoder, const dn_input *input, bool standardize,
                      double *out);

/* Levels of a categorical input, the missing one included. */
static inline size_t dni_input_n_levels(const dn_input *input) {
    return input->levels.n + input->missing_level;
}

/* The feature of a categorical input that is 1: `level` is its index, DN_CODE_MISSING for a missing one, anything else beyond the levels for one unseen. SIZE_MAX: none. */
static inline size_t dni_encode_level(const dn_input *input, uint32_t level) {
    size_t as = level < input->levels.n    ? level
                : level == DN_CODE_MISSING ? input->missing_as
                                           : input->unseen_as;
    size_t dropped = dni_input_n_levels(input) - input->n_features; /* 1 or 0 */
    return as == DN_NO_LEVEL || as < dropped ? SIZE_MAX : input->first_feature + as - dropped;
}

static inline bool dni_input_is_number(const dn_input *input) {
    return input->type == DN_NUMERIC || input->type == DN_BOOLEAN;
}

/* Text or sparse: a row has any number of entries of it. */
static inline bool dni_input_is_vector(const dn_input *input) {
    return input->type == DN_TEXT || input->type == DN_SPARSE;
}

/* A number that is one feature and empty else: what is encoded in groups. */
static inline bool dni_input_is_plain(const dn_input *input) {
    return dni_input_is_number(input) && !input->in_basis_only && !input->indicator;
}

/* Whether a sparse input's features are standardised: none of them is expected to be 0. */
static inline bool dni_input_is_scaled(const dn_encoder *encoder, const dn_input *input) {
    return input->type == DN_SPARSE && encoder->standardize && encoder->standardize_sparse;
}

/* Mean and scale of feature j. */
static inline double dni_encoder_mean_of(const dn_encoder *encoder, size_t j) {
    return encoder->mean == NULL ? 0 : encoder->mean[j];
}
static inline double dni_encoder_scale_of(const dn_encoder *encoder, size_t j) {
    return encoder->scale == NULL ? 1 : encoder->scale[j];
}

/* The bases' features of a raw row [n_inputs] to out [n_features − n_base], standardised if `standardize`. */
void dni_encode_bases(const dn_encoder *encoder, const double *raw, bool standardize, double *out);
/* Feature j (>= n_base) is not finite for a raw row: DN_ERR_NUMERIC that names it and the column to blame. */
dn_status dni_encoder_feature_error(const dn_encoder *encoder, size_t j, const double *raw,
                                    dn_error *err);

#endif
