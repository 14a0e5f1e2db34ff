/* The inside of a fitted encoder, for the files that make, apply and store one. */
#ifndef DNI_ENCODER_H
#define DNI_ENCODER_H

#include "data/string_set.h"
#include <discern/encoder.h>
#include <math.h>
#include <stdatomic.h>

struct dn_encoder {
    atomic_size_t references;
    size_t n_inputs, n_features;
    bool standardize;
    dn_input *inputs;       /* [n_inputs]; names in `names`, levels in `levels` */
    char *names;            /* every input's name, each with its NUL */
    dni_string_set *levels; /* [n_inputs] the levels of categorical inputs, ascending, hashed */
    double *mean, *scale;   /* [n_features] */
};

/* An encoder of n inputs with everything empty, one reference. */
DN_MUST_USE dn_status dni_encoder_new(size_t n_inputs, dn_encoder **out, dn_error *err);
/* Copies the names, lengths[i] bytes each without NUL. */
DN_MUST_USE dn_status dni_encoder_set_names(dn_encoder *encoder, const char *const *names, const size_t *lengths, dn_error *err);
/* When types, names, level sets, missing_level and fill of all inputs are there: counts the features and makes mean 0, scale 1. */
DN_MUST_USE dn_status dni_encoder_finish(dn_encoder *encoder, dn_error *err);

/* The one expression by which a number becomes a feature, so that every way of encoding gives the same bits. */
static inline double dni_encode_number(double value, double fill, double mean, double scale) {
    return ((isnan(value) ? fill : value) - mean) / scale;
}

/* The feature of a categorical input that is 1: `level` is its index, DN_CODE_MISSING for a missing one, anything else beyond the levels for one unseen. SIZE_MAX: none. */
static inline size_t dni_encode_level(const dn_input *input, uint32_t level) {
    if (level < input->levels.n)
        return input->first_feature + level;
    return level == DN_CODE_MISSING && input->missing_level ? input->first_feature + input->levels.n : SIZE_MAX;
}

#endif
