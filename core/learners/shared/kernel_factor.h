/* The factor of the mahalanobis kernel: A with A'A = S⁻¹, so that (x − z)'S⁻¹(x − z) = ‖Ax −
 * Az‖². */
#ifndef DNI_KERNEL_FACTOR_H
#define DNI_KERNEL_FACTOR_H

#include <discern/algorithm.h>

/* Computes the factor.
 *
 *   covariance  [d × d] S in units of the raw features; for the encoded features it is
 *               S_jk/(s_j s_k) with the encoder's scale s. NULL: S is estimated from the weighted
 *               rows of the input with the divisor Σv, and A is 0 in the rows and columns of
 *               constant columns
 *   factor      [d × d] out: A, lower triangular, zeros above
 *
 * Errors: DN_ERR_DATA names the columns of a singular S (see learners/shared/covariance.h), or if
 * all columns are constant; DN_ERR_BUDGET for more than DNI_SCATTER_MAX_COLS columns. */
DN_MUST_USE dn_status dni_kernel_factor(const dn_fit_input *input, const double *covariance,
                                        const dn_run *run, double *factor, dn_error *err);
/* Bytes of working memory that dni_kernel_factor needs, without `factor`. */
double dni_kernel_factor_memory(size_t n_rows, size_t n_features, size_t n_slots);

#endif
