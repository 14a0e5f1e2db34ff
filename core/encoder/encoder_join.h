/* Joined encoders: the features of several encoders that were fitted to the same rows, side by
 * side.
 *
 * A joined encoder has the inputs of its first part, and all parts read the same raw rows. Feature
 * j of part p is feature start_p + j, where start_p is the number of features of the parts before
 * it. Standardisation and bases belong to the parts: the joined encoder itself has none. */
#ifndef DNI_ENCODER_JOIN_H
#define DNI_ENCODER_JOIN_H

#include <discern/encoder.h>

/* Makes a joined encoder of n > 1 parts, which it references.
 *
 * DN_ERR_ARGUMENT: two parts do not read the same raw rows: their inputs, levels, words or sparse
 * indices differ, or the features of a vector input begin at another place. DN_ERR_DATA: more than
 * UINT32_MAX features. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_encoder_join(dn_encoder *const *parts, size_t n, dn_encoder **out,
                                       dn_error *err);
/* Returns true if the words of texts become the same features. */
bool dni_text_specs_equal(const dn_text_spec *a, const dn_text_spec *b);
/* Returns true if encoders with these specs, fitted to the same rows, read the same raw rows. May
 * return false for some that do.
 *
 *   columns  of the table */
bool dni_specs_join(const dn_encoder_spec *a, const dn_encoder_spec *b,
                    const dn_table_column *columns);

#endif
