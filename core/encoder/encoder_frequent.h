/* The most frequent value of a numeric column and the most frequent level of a categorical one:
 * the value or level with the largest sum of v over the training rows. */
#ifndef DNI_ENCODER_FREQUENT_H
#define DNI_ENCODER_FREQUENT_H

#include "encoder/encoder_impl.h"
#include "encoder/encoder_scan.h"

/* Finds the most frequent value of numeric column i of the scan; the smallest one if several are
 * equally frequent, 0 if no row has a value. One pass over the column. Memory: at most 32 bytes
 * for each different value, 64 while the table grows. */
DN_MUST_USE dn_status dni_frequent_number(const dni_scan *scan, size_t i, double *out,
                                          dn_error *err);

/* Finds the most frequent level of each categorical input; the first one if several are equally
 * frequent.
 *
 *   scan     its columns are the encoder's inputs; dni_scan_sums has been called
 *   encoder  with complete levels
 *   out      [n_inputs] index of the level; DN_NO_LEVEL: a number, or no level
 *
 * One pass over the rows. */
DN_MUST_USE dn_status dni_frequent_levels(const dni_scan *scan, const dn_encoder *encoder,
                                          size_t *out, dn_error *err);

#endif
