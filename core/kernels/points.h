/* Points: rows that are prepared for the fast computation of kernel values K(x_i, x_j). There are
 * four kinds of storage: bits for rows of 0 and 1, sparse rows with their transpose, panels for
 * dense rows, and texts.
 *
 * Squared distances of dense rows are computed after the rows were centred and scaled by the width,
 * in double precision, and are at least 0. K(x, x) is exact. Values in float differ from values in
 * double by at most 3e-6. A value depends only on the two rows, the kernel and the kind of storage,
 * not on the other values that are computed in the same call. */
#ifndef DNI_POINTS_H
#define DNI_POINTS_H

#include <discern/kernel.h>
#include <discern/matrix.h>
#include <discern/run.h>
#include <discern/status.h>
#include <stdint.h>

typedef struct dni_points dni_points;

#define DNI_MAX_SELF 1e37 /* limit of |K|, because values are also stored in float */

/* Creates points in three steps: dni_points_new reserves memory for n_rows rows with n_entries
 * stored entries (SIZE_MAX: dense rows), dni_points_add copies the rows of x, dni_points_end
 * chooses the kind of storage and prepares the rows. Memory is charged to the run (NULL: malloc).
 * The kernel is copied, but its factor must outlive the points.
 *
 * Errors of dni_points_end: DN_ERR_NUMERIC if K(x, x) of a row is not finite. */
DN_MUST_USE dn_status dni_points_new(const dn_kernel *kernel, size_t n_rows, size_t n_entries,
                                     const dn_run *run, dni_points **out, dn_error *err);
void dni_points_add(dni_points *points, dn_matrix x);
DN_MUST_USE dn_status dni_points_end(dni_points *points, dn_error *err);
void dni_points_free(dni_points *points); /* NULL is allowed */
/* Upper bounds of bytes: of the prepared points (kept), of the peak while the points are prepared
 * (building), and of the scratch of one thread for one row of values (work) and for a tile of
 * queries (query_work). */
typedef struct dni_points_estimate {
    double kept, building, work, query_work;
} dni_points_estimate;
/* Estimates the memory of points. n_entries: number of stored entries of sparse rows; INFINITY:
 * dense rows. */
dni_points_estimate dni_points_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                                      double n_entries);

size_t dni_points_n(const dni_points *points);
/* Returns K(x_i, x_i) in double precision. */
double dni_points_self(const dni_points *points, size_t i);

/* out[k] ← K(x_i, x_(first + k)) for k < n, in single or double precision. work: scratch of
 * dni_points_work doubles. Thread safe if each thread has its own scratch. */
size_t dni_points_work(const dni_points *points);
void dni_points_row(const dni_points *points, size_t i, size_t first, size_t n, float *out,
                    double *work);
void dni_points_row_exact(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work);
/* Returns the number of points with which one row is compared in about 10 ms, at least 1. Callers
 * that need longer rows poll the stop flag between parts of this length. */
size_t dni_points_step(const dni_points *points);
/* For kernels of distances: out[k] ← D(x_i, x_(first + k)) for k < n; for rbf and mahalanobis its
 * square. For rbf the rows are divided by the width: with width 1 out[k] is the squared distance of
 * the rows. */
void dni_points_distances(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work);

/* Creates points that are copies of the points list [n], in the order of the list. */
DN_MUST_USE dn_status dni_points_select(const dni_points *points, const uint32_t *list, size_t n,
                                        const dn_run *run, dni_points **out, dn_error *err);

/* Computes the Gram matrix [n × n]: K of all pairs, symmetric bit for bit, in single or in double
 * precision. One of `single` and `exact` is NULL. Computes in parallel, and polls the stop flag
 * before each tile. */
DN_MUST_USE dn_status dni_points_gram(const dni_points *points, const dn_run *run, float *single,
                                      double *exact, dn_error *err);
#define DNI_POINTS_SUMS (64 * 2048) /* kernel values that a thread stores before it adds them */
/* sums [n × n_sums]: sums[i · n_sums + m] ← Σ_j K(x_i, x_j) coef[j · n_sums + m] over the points j
 * of list [n_list] (NULL: all points), in double precision. Computes in parallel. */
DN_MUST_USE dn_status dni_points_sums(const dni_points *points, const uint32_t *list, size_t n_list,
                                      const double *coef, size_t n_sums, const dn_run *run,
                                      double *sums, dn_error *err);

/* ---- predictions ---- */
/* Maximum number of rows that are compared with the points in one call of dni_points_query. */
#define DNI_POINTS_QUERIES 64
/* Returns the number of doubles of scratch (`work`) of dni_points_query. */
size_t dni_points_query_work(const dni_points *points);
/* Computes K of at most DNI_POINTS_QUERIES rows with all points. Does not allocate.
 *
 *   q       [n_rows × n_features] dense or CSR; the values of a row do not depend on the other rows
 *   single  values may be computed in single precision where the error is below 1e-6
 *   run     polled for cancellation at least every 0.3 s, approximately; NULL: the call cannot fail
 *   k       [q.n_rows × dni_points_n] out; infinite or NaN where a value overflows */
DN_MUST_USE dn_status dni_points_query(const dni_points *points, dn_matrix q, bool single,
                                       const dn_run *run, double *k, double *work, dn_error *err);

/* distances [q.n_rows × dni_points_n] ← D(q_i, x_j) in double precision, for a kernel of distances
 * with width 1; for rbf and mahalanobis the squares. The other parameters are those of
 * dni_points_query. */
DN_MUST_USE dn_status dni_points_query_distances(const dni_points *points, dn_matrix q,
                                                 const dn_run *run, double *distances, double *work,
                                                 dn_error *err);

#endif
