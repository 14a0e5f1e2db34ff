/* Points: rows prepared for a kernel, in whatever layout makes K(x_i, x_j) cheap: 0/1 rows as bits, sparse rows with their transpose, dense rows in tiles.
 *
 * Distances are taken between rows centred and scaled by the width, in double, clamped at 0, and K(x, x) is exact. In float where `float` says so: the kernel's values are then within
 * 1e-6 of the double ones (ALGORITHMS.md, Kernels). What a value is depends on the two rows, the kernel and the set's layout only, never on how many are asked for at once. */
#ifndef DNI_POINTS_H
#define DNI_POINTS_H

#include <discern/kernel.h>
#include <discern/matrix.h>
#include <discern/run.h>
#include <discern/status.h>
#include <stdint.h>

typedef struct dni_points dni_points;

#define DNI_GREATEST_SELF 1e37 /* of |K|: values are stored in float, too */

/* Copies the rows of x (by chunks: dni_points_new makes room for n rows and entries, dni_points_add appends x's rows, dni_points_end chooses the layout and prepares it). Memory is the run's
 * (NULL: malloc). The kernel is copied but for its factor, which must outlive the points.
 * dni_points_end: DN_ERR_NUMERIC when a row has no finite K(x, x). */
DN_MUST_USE dn_status dni_points_new(const dn_kernel *kernel, size_t n_rows,
                                     size_t n_entries /* of sparse rows; SIZE_MAX: dense */,
                                     const dn_run *run, dni_points **out, dn_error *err);
void dni_points_add(dni_points *points, dn_matrix x);
DN_MUST_USE dn_status dni_points_end(dni_points *points, dn_error *err);
void dni_points_free(dni_points *points); /* NULL is allowed */
/* Bytes that so many rows take at most. n_entries: of sparse rows; INFINITY: dense. */
double dni_points_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                         double n_entries);
/* Bytes of work for a thread that computes values of such rows, whatever for. */
double dni_points_work_memory(const dn_kernel *kernel, size_t n_rows, size_t n_features,
                              double n_entries);

size_t dni_points_n(const dni_points *points);
/* K(x_i, x_i) in double. */
double dni_points_self(const dni_points *points, size_t i);

/* out[k] ← K(x_i, x_(first + k)), k < n; in float, and in double. Thread safe: each caller has a work of dni_points_work doubles. */
size_t dni_points_work(const dni_points *points);
void dni_points_row(const dni_points *points, size_t i, size_t first, size_t n, float *out,
                    double *work);
void dni_points_row_exact(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work);
/* Of so many points a row takes some 10 ms at most, of long texts a single one perhaps: whoever asks for longer rows looks at the run's stop between such parts. */
size_t dni_points_step(const dni_points *points);
/* What the kernel is a function of (kernels/kernel.h), of kernels of distances: out[k] ← D(x_i, x_(first + k)), of rbf and mahalanobis its square. With rbf the rows are scaled by the width, so that of width 1 it is the
 * square distance of the rows. */
void dni_points_distances(const dni_points *points, size_t i, size_t first, size_t n, double *out,
                          double *work);

/* A set of some of the points, in the order of the list [n], as points of their own. */
DN_MUST_USE dn_status dni_points_select(const dni_points *points, const uint32_t *list, size_t n,
                                        const dn_run *run, dni_points **out, dn_error *err);

/* gram [n × n] ← K of all pairs, symmetric to the last bit; in tiles shared by the run's threads, its stop polled before each. */
DN_MUST_USE dn_status dni_points_gram(const dni_points *points, const dn_run *run, float *gram,
                                      dn_error *err);
#define DNI_POINTS_SUMS (64 * 2048) /* values that a thread has at hand while they are added up */
/* sums [n × n_sums] ← Σ_j K(x_i, x_j) coef[j × n_sums …] in double over the j of the list [n_list] (NULL: all); shared by the run's threads. */
DN_MUST_USE dn_status dni_points_sums(const dni_points *points, const uint32_t *list, size_t n_list,
                                      const double *coef, size_t n_sums, const dn_run *run,
                                      double *sums, dn_error *err);

/* ---- other rows against the points: predictions ---- */
/* K of rows that are no points: queries are dealt with in tiles of at most DNI_POINTS_QUERIES. */
#define DNI_POINTS_QUERIES 64
/* Doubles of work that dni_points_query needs, whatever the number of queries. */
size_t dni_points_query_work(const dni_points *points);
/* k [q.n_rows × dni_points_n] ← K(q, x_j), infinite or NaN where it leaves the finite numbers, for at most DNI_POINTS_QUERIES queries, dense or CSR [n_rows × n_features]; a row's values do not depend on the others in the tile. `single`: they may be
 * computed in float where that is off by less than 1e-6. No allocation. With a run its stop is polled between parts of at most some 0.3 s; NULL: it cannot fail. */
DN_MUST_USE dn_status dni_points_query(const dni_points *points, dn_matrix q, bool single,
                                       const dn_run *run, double *k, double *work, dn_error *err);

#endif
