/* Null spaces and eigenvectors of symmetric matrices. */
#ifndef DNI_EIGEN_H
#define DNI_EIGEN_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Computes the null space of a matrix to working precision: the eigenvectors whose eigenvalues are
 * at most `share` times the largest eigenvalue.
 *
 *   a            [n × n] row-major, lower triangle; overwritten. n <= DNI_MAX_ORDER (cholesky.h)
 *   out_n        number of these eigenvalues
 *   out_vectors  [*out_n × n] orthonormal eigenvectors as rows, by ascending eigenvalue; to be
 *                released with dn_run_free. NULL if *out_n is 0, or if they could not be computed
 *
 * The method that computes a few eigenvectors can fail if hundreds of eigenvalues are equal. Then
 * all eigenvectors are computed, up to order 2049: one call of O(n³) without a poll of the stop
 * function. Above that order *out_vectors is NULL.
 *
 * Polls the run's stop function within the reduction to tridiagonal form, before the eigenvalues
 * and the eigenvectors (O(n²) each), and every DNI_STEP_FLOPS of the back transformation.
 *
 * Errors: DN_ERR_NUMERIC if a is not finite or the iteration does not converge; those of
 * dn_run_alloc and dn_run_stop. Cost: O(4/3 n³). */
DN_MUST_USE dn_status dni_symmetric_null(const dn_run *run, double *a, size_t n, double share,
                                         size_t *out_n, double **out_vectors, dn_error *err);
/* Returns the bytes of working memory that dni_symmetric_null needs if it finds n eigenvectors,
 * including its result. The case in which all eigenvectors are computed at once is not included. */
double dni_symmetric_null_memory(size_t n);

/* Computes all eigenvalues, and orthonormal eigenvectors.
 *
 *   a        [n × n] row-major, lower triangle; overwritten. 0 < n <= DNI_MAX_EIGEN
 *   values   [n] out: ascending
 *   vectors  [n × n] out: row i is the eigenvector of values[i]
 *
 * Polls and errors: as in dni_symmetric_null; DN_ERR_NUMERIC also if the eigenvectors could not be
 * computed. Cost: O(10/3 n³). */
#define DNI_MAX_EIGEN 2049
DN_MUST_USE dn_status dni_symmetric_eigen(const dn_run *run, double *a, size_t n, double *values,
                                          double *vectors, dn_error *err);
/* Returns the maximum bytes of working memory of dni_symmetric_eigen. */
double dni_symmetric_eigen_memory(size_t n);

/* Computes the smallest and the largest eigenvalue of a [n × n], 0 < n <= DNI_MAX_ORDER.
 * Overwrites a. Polls and errors: as in dni_symmetric_null. */
DN_MUST_USE dn_status dni_symmetric_extremes(const dn_run *run, double *a, size_t n, double *least,
                                             double *greatest, dn_error *err);

#endif
