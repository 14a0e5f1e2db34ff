/* Encoding of raw rows for predictions, in addition to dn_encoder_apply. */
#ifndef DNI_ENCODER_APPLY_H
#define DNI_ENCODER_APPLY_H

#include <discern/encoder.h>

/* Encodes raw rows without standardisation. The weights of a model in the raw feature space
 * refer to these features.
 *
 *   out  [rows.n × n_features]
 *
 * Does not allocate and cannot fail. */
void dni_encoder_expand(const dn_encoder *encoder, dn_raw_rows rows, double *out);

/* Returns the feature of a categorical input that is 1 for a raw value. SIZE_MAX: all are 0. */
size_t dni_encoder_level_feature(const dn_encoder *encoder, size_t input, double raw);

/* Returns the number of doubles that dni_encode_raw_entries needs in `work`. */
size_t dni_raw_entries_work(const dn_encoder *encoder);
/* Encodes row i of raw rows to its nonzero features in ascending order, standardised if the
 * encoder standardises. The values are equal to those of dn_encoder_apply, bit for bit.
 *
 *   cols, values  each [n_features + 1]
 *   work          [dni_raw_entries_work(encoder)]
 *
 * Returns the number of entries. O(inputs + entries + features of bases). Does not allocate and
 * cannot fail. */
size_t dni_encode_raw_entries(const dn_encoder *encoder, dn_raw_rows rows, size_t i, uint32_t *cols,
                              double *values, double *work);

#endif
