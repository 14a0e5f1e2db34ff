/* Whether a kernel is positive semidefinite: by construction, or as far as rows show. */
#ifndef DNI_KERNEL_DEFINITE_H
#define DNI_KERNEL_DEFINITE_H

#include "kernels/points.h"

#define DNI_DEFINITE_ROWS 500

/* By construction, for rows of d columns. Not: sigmoid, polynomial with coef0 < 0, distance by chebyshev of more than two columns and by edit, precomputed. */
bool dni_kernel_is_definite(const dn_kernel *kernel, size_t d);
/* *least and *greatest ← the extreme eigenvalues of the kernel's matrix of the points, exact to rounding up to DNI_DEFINITE_ROWS of them; of more points those of DNI_DEFINITE_ROWS drawn with the run's
 * seed, between the extremes of all (Cauchy's interlacing). *rows ← how many were looked at. Rounding in the matrix itself is about 1e-7 of the greatest: a least one above −1e-6 of it says nothing. */
DN_MUST_USE dn_status dni_kernel_least_eigenvalue(const dni_points *points, const dn_run *run,
                                                  double *least, double *greatest, size_t *rows,
                                                  dn_error *err);
/* The same of a matrix [n × n] that is given. */
DN_MUST_USE dn_status dni_matrix_least_eigenvalue(const double *matrix, size_t n, const dn_run *run,
                                                  double *least, double *greatest, dn_error *err);

#endif
