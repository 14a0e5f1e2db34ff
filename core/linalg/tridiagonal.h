/* A symmetric matrix to tridiagonal form by reflections, in steps that can be stopped. */
#ifndef DNI_TRIDIAGONAL_H
#define DNI_TRIDIAGONAL_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Doubles of work for order n. */
size_t dni_tridiagonal_work(size_t n);

/* Of a [n × n] (row-major, lower triangle, 0 < n <= DNI_MAX_ORDER; finite): diagonal [n] and subdiagonal [n - 1] of T = QᵀAQ. Q stays in a and tau [n - 1] in the form of
 * LAPACK's dsytrd for an upper triangle, which is our lower one, so that dormtr applies it. Polls the run's stop every DNI_PACE_FLOPS within a panel and
 * every DNI_STEP_FLOPS of matrix products: its code is the only failure. */
DN_MUST_USE dn_status dni_tridiagonal(const dn_run *run, double *a, size_t n, double *diagonal,
                                      double *subdiagonal, double *tau, double *work,
                                      dn_error *err);

#endif
