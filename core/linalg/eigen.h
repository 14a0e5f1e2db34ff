/* Null spaces of symmetric matrices: the eigenvalues, and the eigenvectors of those that are 0. */
#ifndef DNI_EIGEN_H
#define DNI_EIGEN_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Finds the null space of a matrix to working precision: the eigenvalues that are at most `share`
 * times the largest one.
 *
 *   a            [n × n] row-major, lower triangle; overwritten. n <= DNI_MAX_ORDER (cholesky.h)
 *   out_n        their number
 *   out_vectors  [*out_n × n] orthonormal eigenvectors as rows, by ascending eigenvalue; to be
 *                released with dn_run_free. NULL if *out_n is 0, or if they could not be computed
 *
 * Hundreds of equal eigenvalues can defeat the method that computes a few eigenvectors. Then all
 * eigenvectors are computed, up to order 2049: one call of O(n³) without a poll of the stop flag.
 * Beyond that order *out_vectors is NULL.
 *
 * Polls the run's stop within the reduction to tridiagonal form, before the eigenvalues and the
 * eigenvectors (O(n²) each), and every DNI_STEP_FLOPS of the back transformation.
 *
 * Errors: DN_ERR_NUMERIC if a is not finite or the iteration does not converge; those of
 * dn_run_alloc and dn_run_stop. Cost: O(4/3 n³). */
DN_MUST_USE dn_status dni_symmetric_null(const dn_run *run, double *a, size_t n, double share,
                                         size_t *out_n, double **out_vectors, dn_error *err);
/* Bytes of working memory that dni_symmetric_null needs if it finds n eigenvectors, its result
 * included; without the case in which all are computed at once. */
double dni_symmetric_null_memory(size_t n);

/* The extreme eigenvalues of a [n × n], 0 < n <= DNI_MAX_ORDER. Overwrites a; polls and fails like
 * dni_symmetric_null. */
DN_MUST_USE dn_status dni_symmetric_extremes(const dn_run *run, double *a, size_t n, double *least,
                                             double *greatest, dn_error *err);

#endif
