/* Raw rows to encoded rows without their zeros: what encoder_entries makes of the rows of a table, for predictions. */
#ifndef DNI_RAW_ENTRIES_H
#define DNI_RAW_ENTRIES_H

#include <discern/encoder.h>

/* Numbers that the bases of the encoder need for dni_encode_raw_entries. */
size_t dni_raw_entries_work(const dn_encoder *encoder);
/* Row i of raw rows, standardised where the encoder standardises, its features ascending and none 0: to cols and values, each with room for n_features + 1. Returns how many. work
 * [dni_raw_entries_work]. The same numbers as dn_encoder_apply's, bit for bit. O(inputs + entries + features of bases). No allocation, cannot fail. */
size_t dni_encode_raw_entries(const dn_encoder *encoder, dn_raw_rows rows, size_t i, uint32_t *cols,
                              double *values, double *work);

#endif
