/* The generalised eigenproblem A w = ρ B w for a positive definite B and A = MᵀM with few rows, as
 * in Fisher's discriminant: A is the scatter between the classes, B the scatter within them. */
#ifndef DNI_GENERALISED_H
#define DNI_GENERALISED_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Solves A w = ρ B w.
 *
 *   l       [d × d] B = LLᵀ, of dni_cholesky; d <= DNI_MAX_ORDER
 *   m       [k × d] in: the rows of M. Out: the eigenvectors with wᵀBw = 1, wᵀBw' = 0 and
 *           wᵀAw' = 0, by descending eigenvalue; their signs are arbitrary. The vector of an
 *           eigenvalue 0 is 0 or, after rounding, arbitrary
 *   values  [k] out: the eigenvalues
 *
 * The relative error of √ρ is about the rounding error times the condition number of L; for ρ = 0,
 * the computed √ρ is below the rounding error of the largest √ρ. Polls the run's stop at least
 * every DNI_STEP_FLOPS.
 *
 * Errors: DN_ERR_NUMERIC if m is not finite or the rotations do not converge; those of dn_run_stop.
 * Cost: O(2 k d²), and about ten sweeps of O(3 k² d). */
DN_MUST_USE dn_status dni_generalised_eigen(const dn_run *run, const double *l, size_t d, double *m,
                                            size_t k, double *values, dn_error *err);

#endif
