/* Raw rows to features, for predictions: what the model needs beside dn_encoder_apply. */
#ifndef DNI_ENCODER_APPLY_H
#define DNI_ENCODER_APPLY_H

#include <discern/encoder.h>

/* The features of raw rows in the raw space: encoded (fill for missing, 1-of-K, bases) but never standardised.
 * out [rows.n × n_features]. What weights of the raw feature space are multiplied with. No allocation, cannot fail. */
void dni_encoder_expand(const dn_encoder *encoder, dn_raw_rows rows, double *out);

/* The feature of a categorical input that is 1 for a raw value; SIZE_MAX: none. */
size_t dni_encoder_level_feature(const dn_encoder *encoder, size_t input, double raw);

/* Numbers that the bases of the encoder need for dni_encode_raw_entries. */
size_t dni_raw_entries_work(const dn_encoder *encoder);
/* Row i of raw rows, standardised where the encoder standardises, its features ascending and none 0: to cols and values, each with room for n_features + 1. Returns how many. work
 * [dni_raw_entries_work]. The same numbers as dn_encoder_apply's, bit for bit. O(inputs + entries + features of bases). No allocation, cannot fail. */
size_t dni_encode_raw_entries(const dn_encoder *encoder, dn_raw_rows rows, size_t i, uint32_t *cols,
                              double *values, double *work);

#endif
