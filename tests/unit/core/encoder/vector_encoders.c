#include "unit/core/encoder/vector_encoders.h"

dn_status vectors_try_fit(vector_table *t, size_t way, const dn_encoder_spec *spec,
                          const uint8_t *role, const double *weight, const dn_run *run,
                          dn_encoder **out, dn_error *err) {
    chunked source;
    vector_table_source(t, t->columns, L_COLUMNS, way, &source);
    dn_status status = dn_encoder_fit(&source.source, spec, role, weight, run, out, err);
    chunked_done(&source);
    return status;
}

dn_encoder *vectors_fit(vector_table *t, size_t way, const dn_encoder_spec *spec,
                        const uint8_t *role, const double *weight, const dn_run *run) {
    dn_encoder *encoder = NULL;
    dn_error err = {0};
    if (vectors_try_fit(t, way, spec, role, weight, run, &encoder, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return encoder;
}

dn_encoder_spec vectors_spec(dn_text_weighting weighting, size_t buckets, bool standardize,
                             bool sparse) {
    return (dn_encoder_spec){.columns = all_columns,
                             .n_columns = 4,
                             .standardize = standardize,
                             .standardize_sparse = sparse,
                             .missing_indicator = true,
                             .text = {.weighting = weighting, .buckets = buckets}};
}
