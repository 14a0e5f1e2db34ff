/* Lower triangular matrices over BLAS: the inverse, and products with rows. Row-major; orders are
 * at most DNI_MAX_ORDER (cholesky.h). */
#ifndef DNI_TRIANGLE_H
#define DNI_TRIANGLE_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* l [n × n] ← L⁻¹, lower triangular; the entries above the diagonal become 0. The entries above the
 * diagonal are not read; no diagonal entry may be 0. Polls the run's stop function at least every
 * DNI_STEP_FLOPS.
 *
 * Errors: those of dn_run_alloc and dn_run_stop. Cost: O(n³/3). */
DN_MUST_USE dn_status dni_lower_invert(const dn_run *run, double *l, size_t n, dn_error *err);
/* Returns the bytes of working memory that dni_lower_invert needs. */
double dni_lower_invert_memory(size_t n);

/* Replaces each row z by A z, where A is the matrix `a`.
 *
 *   a       [n × n] lower triangular
 *   rows    [n_rows × n]; consecutive rows are `stride` numbers apart
 *
 * Polls the run's stop function at least every DNI_STEP_FLOPS; no other errors. Cost: O(n_rows
 * n²). */
DN_MUST_USE dn_status dni_lower_times_rows(const dn_run *run, const double *a, size_t n,
                                           double *rows, size_t n_rows, size_t stride,
                                           dn_error *err);

#endif
