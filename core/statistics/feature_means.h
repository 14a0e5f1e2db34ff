/* The mean training row, which contributions are compared with. */
#ifndef DNI_FEATURE_MEANS_H
#define DNI_FEATURE_MEANS_H

#include <discern/encoder.h>
#include <discern/rows.h>
#include <stdbool.h>

/* out [n_features] ← the weighted mean of each raw feature over the rows. A feature whose mean the
 * encoder has is not read.
 *
 *   encoder     has encoded the rows
 *   mean_fills  true: a missing number was replaced by the mean of its input
 *
 * Errors: those of dn_run_alloc and dn_run_sum. Cost: no pass if every feature is a number and
 * mean_fills is set; otherwise one pass over the rows. */
DN_MUST_USE dn_status dni_feature_means_compute(const dn_rows *rows, const dn_encoder *encoder,
                                                bool mean_fills, const dn_run *run, double *out,
                                                dn_error *err);
/* Returns an upper bound of the bytes that dni_feature_means_compute allocates from the run. */
double dni_feature_means_memory(size_t n_rows, size_t n_features, size_t n_slots);

#endif
