/* Mean and deviation of a feature from two passes: what encoder_fit.c says of columns, for whoever has the sums. */
#ifndef DNI_ENCODER_MOMENTS_H
#define DNI_ENCODER_MOMENTS_H

#include "encoder/encoder_scan.h"
#include <stdbool.h>

/* From weight, sum and extremes: the mean of the first pass; of a constant column exactly its value, 0 without rows. false: not finite. */
bool dni_moments_mean(const dni_scan_column *column, double *out);
/* What the second pass is told: shift and factor. The factor of a constant column is 0: it needs none. */
void dni_moments_prepare(dni_scan_column *column, double mean);
/* From first and second: mean and deviation (1 for one of the last digits' noise). Rows where the column is missing stand at the mean itself, or at *fill. false: not finite. */
bool dni_moments_finish(const dni_scan_column *column, double total_weight, const double *fill,
                        double *mean, double *scale);

#endif
