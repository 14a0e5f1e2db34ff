/* Encoders of the table of vector_table.h. */
#ifndef TESTS_VECTOR_ENCODERS_H
#define TESTS_VECTOR_ENCODERS_H

#include "unit/core/encoder/vector_table.h"

static const size_t all_columns[] = {L_AGE, L_SPARSE, L_KIND, L_NOTE};

dn_status vectors_try_fit(vector_table *t, size_t way, const dn_encoder_spec *spec,
                          const uint8_t *role, const double *weight, const dn_run *run,
                          dn_encoder **out, dn_error *err);

dn_encoder *vectors_fit(vector_table *t, size_t way, const dn_encoder_spec *spec,
                        const uint8_t *role, const double *weight, const dn_run *run);

dn_encoder_spec vectors_spec(dn_text_weighting weighting, size_t buckets, bool standardize,
                             bool sparse);

#endif
