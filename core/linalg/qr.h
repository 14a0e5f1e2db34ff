/* Least squares by QR factorisation of rows that arrive in tiles. The normal equations square the
 * condition number; QR is used where they are not accurate enough.
 *
 * The upper triangle R of p columns is stored column by column: R(i, j) at r[j · p + i], i <= j,
 * zeros below. Orders are at most DNI_MAX_ORDER (cholesky.h). */
#ifndef DNI_QR_H
#define DNI_QR_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Returns the number of doubles of `work` for p columns. */
size_t dni_qr_work(size_t p);
/* R ← the triangle of the QR factorisation of [R; rows], so that RᵀR grows by rowsᵀ rows. The
 * first call needs r = 0.
 *
 *   r      [p × p] column by column
 *   rows   [p × n_rows] column by column; overwritten
 *   work   [dni_qr_work(p)]
 *
 * Polls the run's stop function about every DNI_STEP_FLOPS; no other errors. Cost: O(2 n_rows
 * p²). */
DN_MUST_USE dn_status dni_qr_append(const dn_run *run, double *r, size_t p, double *rows,
                                    size_t n_rows, double *work, dn_error *err);

/* Minimises ‖T_i − Z x_i‖ for the triangle of [Z | T], by QR with column pivoting. The rank is the
 * number of pivots above `tolerance` times the norm of the largest column, at most max_rank; the
 * weights of columns that are not pivots are 0.
 *
 *   r           [(d + k) × (d + k)] overwritten
 *   x           [k × d] out: one minimiser per row
 *   out_null    [*out_n_null × d] rows that span the null space of Z, one for each column that is
 *               not a pivot, with a 1 at that column; to be released with dn_run_free. NULL at full
 *               rank
 *
 * Errors: DN_ERR_NUMERIC if r is not finite; those of dn_run_alloc and dn_run_stop. Cost: O(4/3
 * d³). */
DN_MUST_USE dn_status dni_qr_solve(const dn_run *run, double *r, size_t d, size_t k,
                                   double tolerance, size_t max_rank, double *x, size_t *out_n_null,
                                   double **out_null, dn_error *err);

/* rows [n × d] ← orthonormal rows with the same span; linearly dependent rows become 0. Polls the
 * run's stop function once per row. Cost: O(2 n² d). */
DN_MUST_USE dn_status dni_orthonormal_rows(const dn_run *run, double *rows, size_t n, size_t d,
                                           dn_error *err);

#endif
