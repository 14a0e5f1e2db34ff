/* The memory of dn_encoder_fit, in addition to dn_encoder_bases_memory. */
#ifndef DNI_ENCODER_FIT_H
#define DNI_ENCODER_FIT_H

#include <discern/encoder.h>

/* Returns the bytes of working memory that fitting the inputs needs, without the words of texts
 * (dni_vocabulary_fit).
 *
 *   columns   the source's columns
 *   n_levels  number of levels of all categorical inputs; their memory is an estimate */
double dni_encoder_fit_memory(const dn_encoder_spec *spec, const dn_table_column *columns,
                              size_t n_rows, size_t n_levels, size_t n_slots);

/* Returns the part of dni_encoder_fit_memory that the levels need, in bytes. */
double dni_encoder_levels_memory(size_t n_levels, size_t n_slots);

#endif
