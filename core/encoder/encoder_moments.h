/* Mean and deviation of a feature from the sums of two passes over the rows; see encoder_fit.c. */
#ifndef DNI_ENCODER_MOMENTS_H
#define DNI_ENCODER_MOMENTS_H

#include "encoder/encoder_scan.h"
#include <stdbool.h>

/* Computes the mean from weight, sum and extremes. The mean of a constant column is exactly its
 * value; without rows the mean is 0. Returns false if the mean is not finite. */
bool dni_moments_mean(const dni_scan_column *column, double *out);
/* Sets shift and factor for the second pass. A constant column has factor 0 and needs no second
 * pass. */
void dni_moments_prepare(dni_scan_column *column, double mean);
/* Computes mean and deviation from `first` and `second`; the deviation is 1 if it is only a
 * rounding error.
 *
 *   fill  the value of missing numbers; NULL: the mean
 *
 * Returns false if the mean or the deviation is not finite. */
bool dni_moments_finish(const dni_scan_column *column, double total_weight, const double *fill,
                        double *mean, double *scale);

#endif
