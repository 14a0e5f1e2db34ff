/* Errors about the training rows that several methods report. The functions dni_error_… set *err
 * and return its status. */
#ifndef DNI_DATA_ERRORS_H
#define DNI_DATA_ERRORS_H

#include <discern/algorithm.h>

/* DN_ERR_DATA: the weights of the rows sum to `weight`, which is 0, negative or not finite. */
dn_status dni_error_weight_sum(double weight, dn_error *err);
/* DN_ERR_SOURCE: the source delivers dense and sparse blocks. */
dn_status dni_error_mixed_blocks(dn_error *err);
/* DN_ERR_NUMERIC: the squares of feature j overflow. */
dn_status dni_error_square_overflow(const dn_fit_input *input, size_t j, dn_error *err);
/* DN_ERR_NUMERIC: feature j varies, but the squares of its deviations underflow. */
dn_status dni_error_square_underflow(const dn_fit_input *input, size_t j, dn_error *err);
/* DN_ERR_DATA: all columns are constant. */
dn_status dni_error_all_constant(dn_error *err);

/* ---- columns whose deviations have squares that are too small for a double ---- */
/* A sum of squares below this share of the weight of the rows has lost digits: its root is a
 * deviation below 1e-140, and squares are denormal below 1e-308. */
#define DNI_LEAST_SQUARE 1e-280

/* Refuses a column with a mean deviation Σ v|x − m|/Σv that is below the root of DNI_LEAST_SQUARE
 * and not a rounding error of the mean. One pass over the rows; call it if the sum of squares of
 * some column is below DNI_LEAST_SQUARE · Σv.
 *
 *   mean    [n_means × d] of all rows (n_means 1) or of each class (n_means K)
 *   weight  Σv
 *   sums    [2 × d] working memory
 *
 * DN_ERR_NUMERIC (dni_error_square_underflow). */
DN_MUST_USE dn_status dni_refuse_underflow(const dn_fit_input *input, const dn_run *run,
                                           const double *mean, size_t n_means, double weight,
                                           double *sums, dn_error *err);

#endif
