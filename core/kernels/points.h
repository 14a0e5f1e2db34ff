/* Points: rows prepared for a kernel, in the kind of storage that makes K(x_i, x_j) cheap: rows of
 * 0 and 1 as bits, sparse rows with their transpose, dense rows in panels, texts.
 *
 * Distances are those of rows that are centred and scaled by the width, in double precision, at
 * least 0; K(x, x) is exact. Functions for float give values within 1e-6 of the double ones
 * (ALGORITHMS.md, Kernels). A value depends on the two rows, the kernel and the kind of the set
 * only, not on how many values are computed together. */
#ifndef DNI_POINTS_H
#define DNI_POINTS_H

#include <discern/kernel.h>
#include <discern/matrix.h>
#include <discern/run.h>
#include <discern/status.h>
#include <stdint.h>

typedef struct dni_points dni_points;

#define DNI_GREATEST_SELF 1e37 /* limit of |K|, since values are also stored in float */

/* Makes points: dni_points_new reserves memory for n rows, dni_points_add copies the rows of x,
 * dni_points_end chooses the kind and prepares it. Memory comes from the run (NULL: malloc). The
 * kernel is copied, but its factor must outlive the points.
 *
 * Errors of dni_points_end: DN_ERR_NUMERIC if K(x, x) of a row is not finite. */
DN_MUST_USE dn_status
dni_points_new(const dn_kernel *kernel, size_t n_rows,
               size_t n_entries /* number of stored entries of sparse rows; SIZE_MAX: dense rows */,
               const dn_run *run, dni_points **out, dn_error *err);
void dni_points_add(dni_points *points, dn_matrix x);
DN_MUST_USE dn_status dni_points_end(dni_points *points, dn_error *err);
void dni_points_free(dni_points *points); /* NULL is allowed */
/* Upper bounds of bytes: of the prepared points, of the peak while they are prepared, and of a
 * thread's scratch for one row of values and for a tile of rows. */
typedef struct dni_points_estimate {
    double kept, building, work, query_work;
} dni_points_estimate;
/* n_entries: stored entries of sparse rows; INFINITY: dense. */
dni_points_estimate dni_points_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                                      double n_entries);

size_t dni_points_n(const dni_points *points);
/* K(x_i, x_i) in double precision. */
double dni_points_self(const dni_points *points, size_t i);

/* out[k] ← K(x_i, x_(first + k)), k < n; in single or double precision. Thread safe with a scratch
 * of dni_points_work doubles for each caller. */
size_t dni_points_work(const dni_points *points);
void dni_points_row(const dni_points *points, size_t i, size_t first, size_t n, float *out,
                    double *work);
void dni_points_row_exact(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work);
/* Returns the number of points with which one row is compared in at most about 10 ms; 1 for long
 * texts. Callers that need longer rows poll for cancellation between such parts. */
size_t dni_points_step(const dni_points *points);
/* For kernels of distances: out[k] ← D(x_i, x_(first + k)); rbf and mahalanobis: its square. With
 * rbf the rows are scaled by the width, so that width 1 gives the squared distance of the rows. */
void dni_points_distances(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work);

/* Makes a set of some of the points, in the order of list [n]. */
DN_MUST_USE dn_status dni_points_select(const dni_points *points, const uint32_t *list, size_t n,
                                        const dn_run *run, dni_points **out, dn_error *err);

/* gram [n × n] ← K of all pairs, symmetric to the last bit. Parallel; polls for cancellation before
 * each tile. */
DN_MUST_USE dn_status dni_points_gram(const dni_points *points, const dn_run *run, float *gram,
                                      dn_error *err);
#define DNI_POINTS_SUMS (64 * 2048) /* kernel values that a thread stores before it adds them */
/* sums [n × n_sums] ← Σ_j K(x_i, x_j) coef[j × n_sums …] in double precision, over the j of list
 * [n_list] (NULL: all). Parallel. */
DN_MUST_USE dn_status dni_points_sums(const dni_points *points, const uint32_t *list, size_t n_list,
                                      const double *coef, size_t n_sums, const dn_run *run,
                                      double *sums, dn_error *err);

/* ---- predictions ---- */
/* Rows that are not points are compared with the points in tiles of at most this many. */
#define DNI_POINTS_QUERIES 64
/* Doubles of scratch of dni_points_query, for any number of queries. */
size_t dni_points_query_work(const dni_points *points);
/* Computes K of at most DNI_POINTS_QUERIES rows with all points. Does not allocate.
 *
 *   q       [n_rows × n_features] dense or CSR; the values of a row do not depend on the other rows
 *   single  values may be computed in single precision where the error is below 1e-6
 *   run     polled for cancellation between parts of at most some 0.3 s; NULL: the call cannot fail
 *   k       [q.n_rows × dni_points_n] out; infinite or NaN where a value overflows */
DN_MUST_USE dn_status dni_points_query(const dni_points *points, dn_matrix q, bool single,
                                       const dn_run *run, double *k, double *work, dn_error *err);

/* distances [q.n_rows × dni_points_n] ← D(q, x_j), in double, of a kernel of distances with
 * width 1; of rbf and mahalanobis the squares. The other parameters are those of
 * dni_points_query. */
DN_MUST_USE dn_status dni_points_query_distances(const dni_points *points, dn_matrix q,
                                                 const dn_run *run, double *distances, double *work,
                                                 dn_error *err);

#endif
