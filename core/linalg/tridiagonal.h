/* Reduction of a symmetric matrix to tridiagonal form, in steps that can be stopped. */
#ifndef DNI_TRIDIAGONAL_H
#define DNI_TRIDIAGONAL_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Returns the number of doubles of `work` for order n. */
size_t dni_tridiagonal_work(size_t n);

/* Reduces the symmetric matrix a to tridiagonal form T = QᵀAQ.
 *
 *   a            [n × n] row-major, lower triangle, finite; 0 < n <= DNI_MAX_ORDER. Out: with tau,
 *                Q in the form of LAPACK's dsytrd for an upper triangle, for dormtr
 *   diagonal     [n] of T
 *   subdiagonal  [n - 1] of T
 *   tau          [n - 1] scalars of the reflections
 *   work         [dni_tridiagonal_work(n)]
 *
 * Polls the run's stop function every DNI_PACE_FLOPS within a panel and every DNI_STEP_FLOPS of
 * matrix products; no other errors. Cost: O(4/3 n³). */
DN_MUST_USE dn_status dni_tridiagonal(const dn_run *run, double *a, size_t n, double *diagonal,
                                      double *subdiagonal, double *tau, double *work,
                                      dn_error *err);

#endif
