/* Least squares by orthogonal triangles of rows that come tile by tile: what is left to do where the normal equations are too coarse, for they square the condition.
 *
 * A triangle R of p columns is held column by column: R(i, j) at r[j · p + i], i <= j, zeros below. Orders are at most DNI_MAX_ORDER (cholesky.h). */
#ifndef DNI_QR_H
#define DNI_QR_H

#include <discern/run.h>
#include <discern/status.h>
#include <stddef.h>

/* Doubles of `work` that dni_qr_append needs. */
size_t dni_qr_work(size_t p);
/* R ← the triangle of [R; rows]: RᵀR grows by rowsᵀrows. rows [p × n_rows], column by column too, is spoilt. r begins as zeros. Polls the run's stop before every step of
 * DNI_STEP_FLOPS or so; its code is the only failure. O(2 n_rows p²). */
DN_MUST_USE dn_status dni_qr_append(const dn_run *run, double *r, size_t p, double *rows,
                                    size_t n_rows, double *work, dn_error *err);

/* Of the triangle of [Z | T], p = d + k columns: minimisers x of ‖T_i − Z x_i‖, rows of x [k × d], by QR with column pivoting. The rank is the number of pivots above
 * `tolerance` times the largest column; the weights of the other columns are 0. *out_null [*out_n_null × d], from the run's allocator (NULL when of full rank; dn_run_free):
 * rows that span the null space of Z, one for each such column, with a 1 there. r is spoilt. O(4/3 d³). */
DN_MUST_USE dn_status dni_qr_solve(const dn_run *run, double *r, size_t d, size_t k,
                                   double tolerance, double *x, size_t *out_n_null,
                                   double **out_null, dn_error *err);

/* rows [n × d] ← orthonormal rows of the same span; what vanishes becomes 0. Polls once a row. O(2 n² d). */
DN_MUST_USE dn_status dni_orthonormal_rows(const dn_run *run, double *rows, size_t n, size_t d,
                                           dn_error *err);

#endif
