/* The members of an encoder, for the files that build, apply and store it.
 *
 * A vector input is a text or sparse input, of which a row has any number of entries; the others
 * are scalar inputs. */
#ifndef DNI_ENCODER_IMPL_H
#define DNI_ENCODER_IMPL_H

#include "base/argument.h"
#include "base/string_set.h"
#include "encoder/basis/basis.h"
#include "encoder/index_set.h"
#include "text/vocabulary.h"
#include <discern/encoder.h>
#include <discern/number.h>
#include <math.h>
#include <stdatomic.h>

struct dn_encoder {
    atomic_size_t references;
    size_t n_inputs, n_features;
    bool standardize, standardize_sparse, drop_first, refuse_unseen;
    /* missing numbers are errors; set by the model's kernel, not part of the encoder's bytes */
    bool refuse_missing;
    /* [n_inputs]; their names are in `names`, their levels in `levels` */
    dn_input *inputs;
    char *names;               /* the names of all inputs, each NUL-terminated */
    dni_string_set *levels;    /* [n_inputs] categorical inputs: the levels in byte order, hashed */
    bool *by_value;            /* [n_inputs] categorical inputs: see dni_encoder_find_level */
    double *mean, *scale;      /* [n_features]; NULL: no feature is standardised */
    dni_vocabulary *texts;     /* [n_inputs] text inputs */
    dni_index_set *index_sets; /* [n_inputs] sparse inputs: the indices that are features */
    size_t *vector_inputs;     /* [n_vector_inputs] the vector inputs, ascending */
    size_t n_vector_inputs;
    /* mean number of entries of a training row, standardised inputs excluded */
    double vector_entries;
    bool sparse; /* encoded rows are CSR */
    /* [n_inputs] sparse inputs: bit k % 8 of byte k / 8 is 1 if feature k of the input is
     * nonzero in some training row; NULL in an encoder read from bytes */
    unsigned char **active;
    dni_basis *bases; /* [n_bases] */
    size_t n_bases;
    size_t n_base; /* features of the inputs; those of the bases follow */
    /* largest number of nonzero features of a row, those of `vector_entries` excluded */
    size_t n_entries;
    size_t *basis_inputs; /* [n_basis_inputs] the inputs of bases, ascending */
    size_t n_basis_inputs;
    /* number of features of bases that are constant in the training rows, and the first of these
     * features; both 0 in an encoder read from bytes */
    size_t n_constant, first_constant;
    /* [n_parts] a joined encoder (encoder_join.h): the inputs, names, levels, texts and index sets
     * above belong to the first part. 0: not joined */
    dn_encoder **parts;
    size_t n_parts;
};

/* ---- errors ---- */
/* Sets the error "the encoder needs memory …" and returns DN_ERR_MEMORY. */
static inline dn_status dni_encoder_no_memory(dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "the encoder needs memory which the system does not have");
}
/* Sets the error "an encoder is damaged: <what>" and returns DN_ERR_CORRUPT. */
static inline dn_status dni_encoder_corrupt(dn_error *err, const char *what) {
    return dn_error_set(err, DN_ERR_CORRUPT, "an encoder is damaged: %s", what);
}
/* Sets the error "column "<name>" <why>" with the column as field and returns code. */
static inline dn_status dni_refuse_column(dn_error *err, const char *name, dn_status code,
                                          const char *why) {
    return dni_error_at(dn_error_set(err, code, "column \"%s\" %s", name, why), name, -1, err);
}

/* ---- creation ---- */
/* Creates an encoder of n inputs without features, with one reference. */
DN_MUST_USE dn_status dni_encoder_new(size_t n_inputs, dn_encoder **out, dn_error *err);
/* Allocates empty bases. */
DN_MUST_USE dn_status dni_encoder_set_bases(dn_encoder *encoder, size_t n_bases, dn_error *err);
/* Returns the length of the name of the column in the name of its part, "sold" in "sold:month";
 * SIZE_MAX: the name is not that of this part. */
size_t dni_part_column(const char *name, size_t length, dn_date_part part);
/* Copies the names of the inputs into the encoder, and sets `column` and `follows`. Before the
 * call, inputs[i].name points to memory of the caller.
 *
 *   lengths  [n_inputs] bytes of each name; NULL: each name ends with a NUL */
DN_MUST_USE dn_status dni_encoder_copy_names(dn_encoder *encoder, const size_t *lengths,
                                             dn_error *err);
/* Counts the features and sets mean to 0, scale to 1, missing_as to the missing level or none,
 * unseen_as to none.
 *
 * The caller must have set these before: types, names, levels, missing_level, indicator, fill,
 * width, index sets and texts of all inputs, vector_entries, the flags, and the bases with their
 * columns.
 *
 * Errors: DN_ERR_DATA for more than UINT32_MAX features or DN_MAX_BASIS_FEATURES features of
 * bases; DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_encoder_finish(dn_encoder *encoder, dn_error *err);

/* Returns the expected number of entries of n encoded rows. INFINITY: rows are dense. */
double dni_encoder_stored_entries(const dn_encoder *encoder, size_t n_rows);

/* Allocates mean and scale of all features. Sets all means to 0 and all scales to 1. Needed only
 * if dni_encoder_finish has not allocated them because no feature is standardised. */
DN_MUST_USE dn_status dni_encoder_set_scales(dn_encoder *encoder, dn_error *err);

/* Encodes a number. All paths of encoding use this expression, so that they give the same bits. */
static inline double dni_encode_number(double value, double fill, double mean, double scale) {
    return ((isnan(value) ? fill : value) - mean) / scale;
}

/* Encodes the value of an entry of feature j. */
static inline double dni_encode_entry(const dn_encoder *encoder, size_t j, double entry) {
    return encoder->mean == NULL ? entry : (entry - encoder->mean[j]) / encoder->scale[j];
}
/* Writes the features of a vector input without entries to out [input->n_features]. */
void dni_encode_empty(const dn_encoder *encoder, const dn_input *input, bool standardize,
                      double *out);

/* Returns the level of input i to which a category with this text belongs; DNI_NO_STRING: it is
 * unseen. If all levels are numbers as dn_number_format writes them, of less than 2^53 in
 * magnitude, a text that is such a number, with or without blanks around it, is compared by its
 * value ("3.0" is the level "3"); in all other cases the texts must be equal. */
uint32_t dni_encoder_find_level(const dn_encoder *encoder, size_t i, const char *text,
                                size_t length);

/* Returns the number of levels, including "(missing)". */
static inline size_t dni_input_n_levels(const dn_input *input) {
    return input->levels.n + input->missing_level;
}

/* Returns the feature of a categorical input that is 1, or SIZE_MAX if all are 0.
 *
 *   level  index of the level; DN_CODE_MISSING: missing; any other number: unseen */
static inline size_t dni_encode_level(const dn_input *input, uint32_t level) {
    size_t as = level < input->levels.n    ? level
                : level == DN_CODE_MISSING ? input->missing_as
                                           : input->unseen_as;
    /* 1 if the first level is dropped, otherwise 0 */
    size_t dropped = dni_input_n_levels(input) - input->n_features;
    return as == DN_NO_LEVEL || as < dropped ? SIZE_MAX : input->first_feature + as - dropped;
}

static inline bool dni_input_is_number(const dn_input *input) {
    return dn_column_type_is_real(input->type) || input->type == DN_BOOLEAN;
}

/* Returns whether the input is a vector input. */
static inline bool dni_input_is_vector(const dn_input *input) {
    return input->type == DN_TEXT || input->type == DN_SPARSE;
}

/* Returns whether the input is a number with exactly one feature. Such inputs are encoded in
 * groups. */
static inline bool dni_input_is_plain(const dn_input *input) {
    return dni_input_is_number(input) && !input->in_basis_only && !input->indicator;
}

/* Returns whether a sparse input is standardised. The features of such an input are nonzero even
 * where a row has no entry. */
static inline bool dni_input_is_scaled(const dn_encoder *encoder, const dn_input *input) {
    return input->type == DN_SPARSE && encoder->standardize && encoder->standardize_sparse;
}

/* Return the mean and the scale of feature j; 0 and 1 without standardisation. */
static inline double dni_encoder_mean_of(const dn_encoder *encoder, size_t j) {
    return encoder->mean == NULL ? 0 : encoder->mean[j];
}
static inline double dni_encoder_scale_of(const dn_encoder *encoder, size_t j) {
    return encoder->scale == NULL ? 1 : encoder->scale[j];
}

/* Writes the features of a categorical input to a dense row.
 *
 *   feature  the feature that is 1; SIZE_MAX: none */
static inline void dni_put_category(const dn_input *input, size_t feature, double *row) {
    for (size_t k = 0; k < input->n_features; k++) {
        row[input->first_feature + k] = 0;
    }
    if (feature != SIZE_MAX) {
        row[feature] = 1;
    }
}

/* Writes entry n of a sparse row. Returns n + 1, or n if the value is 0: the next entry then
 * overwrites it. */
static inline size_t dni_put_entry(double *values, uint32_t *cols, size_t n, size_t feature,
                                   double value) {
    values[n] = value;
    cols[n] = (uint32_t)feature;
    return n + (value != 0);
}

/* Writes the entries of a number and of its missing indicator to a sparse row, from entry n on.
 * Returns the number of entries of the row. */
static inline size_t dni_put_number(const dn_encoder *encoder, const dn_input *input, double raw,
                                    double *values, uint32_t *cols, size_t n) {
    const size_t j = input->first_feature;
    const double filled = isnan(raw) ? input->fill : raw;
    if (!input->in_basis_only) { /* without mean: the result of dni_encode_number for 0 and 1 */
        n = dni_put_entry(values, cols, n, j,
                          encoder->mean == NULL
                              ? filled
                              : dni_encode_number(raw, input->fill, encoder->mean[j],
                                                  encoder->scale[j]));
    }
    return input->indicator ? dni_put_entry(values, cols, n, j + input->n_features - 1, isnan(raw))
                            : n;
}

/* Computes the features of the bases of a raw row.
 *
 *   raw          [n_inputs]
 *   standardize  whether to standardise the features
 *   out          [n_features - n_base] */
void dni_encode_bases(const dn_encoder *encoder, const double *raw, bool standardize, double *out);
/* Reports that feature j of a basis is not finite for a raw row: DN_ERR_NUMERIC with the name of
 * the feature and of its column with the largest magnitude. */
dn_status dni_encoder_feature_error(const dn_encoder *encoder, size_t j, const double *raw,
                                    dn_error *err);

#endif
