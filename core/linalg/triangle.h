/* Lower triangular matrices over BLAS: the inverse, and rows multiplied by one. Row-major; orders are at most DNI_MAX_ORDER (cholesky.h). */
#ifndef DNI_TRIANGLE_H
#define DNI_TRIANGLE_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* l [n × n] ← L⁻¹, lower triangular, zeros above (what is above is not read). No diagonal entry is 0. Polls the run's stop before every step of DNI_STEP_FLOPS or less;
 * its code is a failure, and memory for n² numbers at most. O(n³/3). */
DN_MUST_USE dn_status dni_lower_invert(const dn_run *run, double *l, size_t n, dn_error *err);
/* Each of n_rows rows z [n] of `rows`, `stride` numbers apart, ← A z for a lower triangular A [n × n]. Polls likewise; the run's stop is the only failure. O(n_rows · n²). */
DN_MUST_USE dn_status dni_lower_times_rows(const dn_run *run, const double *a, size_t n,
                                           double *rows, size_t n_rows, size_t stride,
                                           dn_error *err);

#endif
