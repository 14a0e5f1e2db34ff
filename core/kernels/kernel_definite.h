/* Tests whether a kernel is positive semidefinite: for all rows, or for given points. */
#ifndef DNI_KERNEL_DEFINITE_H
#define DNI_KERNEL_DEFINITE_H

#include "kernels/points.h"

#define DNI_DEFINITE_ROWS 500

/* Returns true if the kernel is positive semidefinite for any rows of d columns; false for sigmoid,
 * polynomial with coef0 < 0, distance with metric edit, distance with metric chebyshev if d > 2,
 * and precomputed. */
bool dni_kernel_is_definite(const dn_kernel *kernel, size_t d);
/* Computes the smallest and the largest eigenvalue of the kernel matrix of the points.
 *
 *   least, greatest  out: the eigenvalues. If there are more than DNI_DEFINITE_ROWS points, those
 *                    of a sample, which is drawn with the run's seed. They lie between the extreme
 *                    eigenvalues of all points (Cauchy's interlacing theorem)
 *   rows             out: number of points in the matrix
 *
 * The eigenvalues have errors of about 1e-7 of the largest eigenvalue. A smallest eigenvalue above
 * −1e-6 times the largest does not prove that the kernel is indefinite. */
DN_MUST_USE dn_status dni_kernel_extreme_eigenvalues(const dni_points *points, const dn_run *run,
                                                     double *least, double *greatest, size_t *rows,
                                                     dn_error *err);
/* Computes the same eigenvalues for a given kernel matrix [n × n]. */
DN_MUST_USE dn_status dni_matrix_extreme_eigenvalues(const double *matrix, size_t n,
                                                     const dn_run *run, double *least,
                                                     double *greatest, dn_error *err);
/* Returns the bytes of working memory of the functions above. work_bytes: scratch of
 * dni_points_gram; 0 for a given matrix. */
double dni_definite_memory(size_t n_points, double work_bytes);

#endif
