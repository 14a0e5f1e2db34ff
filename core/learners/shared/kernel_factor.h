/* The factor of the kernel mahalanobis: A with A'A = S⁻¹, so that (x − z)'S⁻¹(x − z) = ‖Ax − Az‖². */
#ifndef DNI_KERNEL_FACTOR_H
#define DNI_KERNEL_FACTOR_H

#include <discern/algorithm.h>

/* factor [d × d] ← A, lower triangular, zeros above. covariance [d × d]: S in the units of the raw features (in those of the encoded ones it is S_jk/(s_j s_k) with the encoder's scale s); NULL: that of the
 * input's rows around their mean, by weight, divisor Σv. A column of one value has zeros in A of an estimated S: it counts nothing.
 * DN_ERR_DATA names the columns of a singular S (learners/gaussian_covariance.h says when), and says so when all columns are constant; DN_ERR_BUDGET: more than DNI_SCATTER_MAX_COLS columns. */
DN_MUST_USE dn_status dni_kernel_factor(const dn_fit_input *input, const double *covariance,
                                        const dn_run *run, double *factor, dn_error *err);
/* Bytes that it takes beside the factor. */
double dni_kernel_factor_memory(size_t n_rows, size_t n_features, size_t n_slots);

#endif
