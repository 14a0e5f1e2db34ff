/* Whether a kernel is positive semidefinite: by construction, or on given rows. */
#ifndef DNI_KERNEL_DEFINITE_H
#define DNI_KERNEL_DEFINITE_H

#include "kernels/points.h"

#define DNI_DEFINITE_ROWS 500

/* Whether the kernel is positive semidefinite for all rows of d columns. False for sigmoid,
 * polynomial with coef0 < 0, distance with chebyshev of more than two columns or with edit, and
 * precomputed. */
bool dni_kernel_is_definite(const dn_kernel *kernel, size_t d);
/* Computes the extreme eigenvalues of the kernel matrix of the points.
 *
 *   least, greatest  out: the eigenvalues. Of more than DNI_DEFINITE_ROWS points a sample is drawn
 *                    with the run's seed; its eigenvalues lie between the extremes of all points
 *                    (Cauchy's interlacing theorem)
 *   rows             out: how many points were used
 *
 * The matrix has errors of about 1e-7 of the largest eigenvalue: a smallest eigenvalue above
 * −1e-6 times the largest does not show that the kernel is indefinite. */
DN_MUST_USE dn_status dni_kernel_least_eigenvalue(const dni_points *points, const dn_run *run,
                                                  double *least, double *greatest, size_t *rows,
                                                  dn_error *err);
/* Like dni_kernel_least_eigenvalue, for a given kernel matrix [n × n]. */
DN_MUST_USE dn_status dni_matrix_least_eigenvalue(const double *matrix, size_t n, const dn_run *run,
                                                  double *least, double *greatest, dn_error *err);
/* Bytes of working memory for the eigenvalues. work_bytes: scratch of the points for one row; 0
 * for a given matrix. */
double dni_definite_memory(size_t n_points, double work_bytes);

#endif
