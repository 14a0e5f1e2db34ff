/* The generalised eigenproblem A w = ρ B w for a positive definite B and an A = MᵀM of few rows: Fisher's, with A between and B within the classes. */
#ifndef DNI_GENERALISED_H
#define DNI_GENERALISED_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* l [d × d]: B = LLᵀ, of dni_cholesky. m [k × d]: the rows of M, which become the eigenvectors: wᵀBw = 1, wᵀBw' = 0, wᵀAw' = 0, by eigenvalue values[k] descending; sign as it
 * comes. An eigenvalue of 0 has a vector of 0s or, when rounding left something, any. d <= DNI_MAX_ORDER.
 * Relative errors of the roots √ρ are of the order of rounding times the condition of L, those of √ρ = 0 are rounding times the greatest.
 * Polls the run's stop in steps of DNI_STEP_FLOPS. DN_ERR_NUMERIC: m is not finite, or the rotations do not end. O(2 k d²) and some ten sweeps of O(3 k² d). */
DN_MUST_USE dn_status dni_generalised_eigen(const dn_run *run, const double *l, size_t d, double *m,
                                            size_t k, double *values, dn_error *err);

#endif
