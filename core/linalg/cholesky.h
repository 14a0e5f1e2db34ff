/* Symmetric positive definite systems, over BLAS and LAPACK. Matrices are row-major, the lower triangle is used; orders are at most DNI_MAX_ORDER. */
#ifndef DNI_CHOLESKY_H
#define DNI_CHOLESKY_H

#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

#define DNI_MAX_ORDER 32768

/* a ← L with LLᵀ = a, and *out ← true; false: a is not positive definite to working precision (a is then spoilt) or not finite.
 * Polls the run's stop before every step of DNI_STEP_FLOPS or less (linalg/step.h); its code is the only failure. O(n³/3). */
DN_MUST_USE dn_status dni_cholesky(const dn_run *run, double *a, size_t n, bool *out,
                                   dn_error *err);
/* x ← a⁻¹x for n_rhs right hand sides, [n_rhs × n] row-major, with L of dni_cholesky. */
void dni_cholesky_solve(const double *l, size_t n, double *x, size_t n_rhs);

#endif
