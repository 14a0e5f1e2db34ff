/* The eigenvectors of a symmetric matrix whose eigenvalues are next to nothing: its null space to working precision. */
#ifndef DNI_EIGEN_H
#define DNI_EIGEN_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Of a [n × n] (row-major, lower triangle, n <= DNI_MAX_ORDER; spoilt) the eigenvalues <= share · the greatest one: their number, and unit, mutually
 * orthogonal eigenvectors as rows of *out_vectors [*out_n × n], ascending, from the run's allocator (NULL when there are none; dn_run_free).
 * Polls the run's stop within the reduction to a tridiagonal matrix, 4/3 n³, before its eigenvalues and vectors, O(n²) each, and on the vectors' way back in
 * steps of DNI_STEP_FLOPS. Hundreds of eigenvalues that are all 0 can be too many for the method that finds few vectors; then all are found, up to order 2049
 * (3n² doubles more, one call of O(n³) at most), and beyond it *out_vectors is NULL although *out_n > 0. DN_ERR_NUMERIC when a is not finite or the iteration does not end. */
DN_MUST_USE dn_status dni_symmetric_null(const dn_run *run, double *a, size_t n, double share,
                                         size_t *out_n, double **out_vectors, dn_error *err);

/* *least and *greatest ← the extreme eigenvalues of a [n × n] (row-major, lower triangle, 0 < n <= DNI_MAX_ORDER; spoilt). Memory, polls and errors as above, without vectors. */
DN_MUST_USE dn_status dni_symmetric_extremes(const dn_run *run, double *a, size_t n, double *least,
                                             double *greatest, dn_error *err);

#endif
