/* Encoders of the table of vector_table.h. */
#ifndef TESTS_VECTOR_ENCODERS_H
#define TESTS_VECTOR_ENCODERS_H

#include "unit/core/encoder/vector_table.h"

static const size_t all_columns[] = {L_AGE, L_SPARSE, L_KIND, L_NOTE};

static inline dn_status try_fit(vector_table *t, size_t way, const dn_encoder_spec *spec,
                                const uint8_t *role, const double *weight, const dn_run *run,
                                dn_encoder **out, dn_error *err) {
    chunked source;
    vector_table_source(t, t->columns, L_COLUMNS, way, &source);
    dn_status status = dn_encoder_fit(&source.source, spec, role, weight, run, out, err);
    chunked_done(&source);
    return status;
}

static inline dn_encoder *fit(vector_table *t, size_t way, const dn_encoder_spec *spec,
                              const uint8_t *role, const double *weight, const dn_run *run) {
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    if (try_fit(t, way, spec, role, weight, run, &encoder, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return encoder;
}

static inline dn_encoder_spec spec_of(dn_text_weighting weighting, size_t buckets, bool standardize,
                                      bool sparse) {
    return (dn_encoder_spec){.columns = all_columns,
                             .n_columns = 4,
                             .standardize = standardize,
                             .standardize_sparse = sparse,
                             .missing_indicator = true,
                             .text = {.weighting = weighting, .buckets = buckets}};
}

#endif
