/* Symmetric systems and eigenvalues, over LAPACK. Matrices are row-major, the lower triangle is used; sizes are at most DNI_MAX_ORDER. */
#ifndef DNI_LINALG_CHOLESKY_H
#define DNI_LINALG_CHOLESKY_H

#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

#define DNI_MAX_ORDER 32768

/* a ← L with LLᵀ = a. False: a is not positive definite to working precision (a is then spoilt) or not finite. */
bool dni_cholesky(double *a, size_t n);
/* x ← a⁻¹x for n_rhs right hand sides, [n_rhs × n] row-major, with L of dni_cholesky. */
void dni_cholesky_solve(const double *l, size_t n, double *x, size_t n_rhs);

/* Eigenvalues (ascending, values[n]) and eigenvectors of a: afterwards row i of a is the unit eigenvector of values[i].
 * Working memory comes from the run. DN_ERR_NUMERIC when a is not finite or the iteration does not end. */
DN_MUST_USE dn_status dni_symmetric_eigen(const dn_run *run, double *a, size_t n, double *values, dn_error *err);

#endif
