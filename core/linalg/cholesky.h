/* Symmetric positive definite systems over BLAS and LAPACK. Matrices are row-major and only their
 * lower triangle is used; orders are at most DNI_MAX_ORDER. */
#ifndef DNI_CHOLESKY_H
#define DNI_CHOLESKY_H

#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

#define DNI_MAX_ORDER 32768

/* Cholesky factorisation of a [n × n]: a ← L with L Lᵀ = a, *out ← true. If a is not finite or not
 * positive definite to working precision, *out ← false and the contents of a are undefined.
 *
 * Polls the run's stop function at least every DNI_STEP_FLOPS (linalg/step.h); no other errors.
 * Cost: O(n³/3). */
DN_MUST_USE dn_status dni_cholesky(const dn_run *run, double *a, size_t n, bool *out,
                                   dn_error *err);
/* Solves L Lᵀ x = b for n_rhs right-hand sides; l [n × n] is the factor that dni_cholesky computes.
 * x [n_rhs × n] row-major: b on entry, the solutions on return. */
void dni_cholesky_solve(const double *l, size_t n, double *x, size_t n_rhs);

#endif
