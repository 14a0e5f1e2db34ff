/* The most frequent value of a number column, the most frequent level of a category: those of the training rows with the greatest Σv. */
#ifndef DNI_ENCODER_FREQUENT_H
#define DNI_ENCODER_FREQUENT_H

#include "encoder/encoder_impl.h"
#include "encoder/encoder_scan.h"

/* *out ← of the scan's number column i, the least among equals; 0 when no row has a value. A pass over the column; memory for its different values, at most 32 bytes each (64 while it grows). */
DN_MUST_USE dn_status dni_frequent_number(const dni_scan *scan, size_t i, double *out,
                                          dn_error *err);

/* out [n_inputs] ← the index of each categorical input's most frequent level, the first among equals; DN_NO_LEVEL when it has none, and for numbers. One pass through the run's sum. The
 * encoder's inputs are the scan's columns; its levels are complete; the scan has made its first pass. */
DN_MUST_USE dn_status dni_frequent_levels(const dni_scan *scan, const dn_encoder *encoder,
                                          size_t *out, dn_error *err);

#endif
