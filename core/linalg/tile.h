/* The three products of linear scores on a tile of rows: scores, gradient, weighted Gram matrix;
 * for dense and for sparse rows.
 *
 * A discriminant has d weights followed by an intercept: d + 1 = `width` numbers. A table holds
 * n_scores discriminants:
 *
 *   dense rows   [n_scores × width]
 *   sparse rows  transposed, [width × n_scores]: the numbers for an entry of x are adjacent
 *
 * The result for a tile depends only on its rows and its shape. Callers begin tiles at fixed row
 * numbers (DNI_TILE_ROWS). */
#ifndef DNI_TILE_H
#define DNI_TILE_H

#include <discern/matrix.h>
#include <discern/run.h>
#include <stddef.h>

#define DNI_TILE_ROWS 256

/* scores [x.n_rows × n_scores] ← W x + w0 */
void dni_tile_scores(dn_matrix x, const double *table, size_t n_scores, double *scores);
/* table += Σ_t residual_t ⊗ [x_t, 1]; residual [x.n_rows × n_scores] */
void dni_tile_gradient(dn_matrix x, const double *residual, size_t n_scores, double *table);

/* sum [x.n_cols] += v · (row t of x) */
static inline void dni_row_add(dn_matrix x, size_t t, double v, double *sum) {
    if (x.kind == DN_DENSE) {
        const double *row = x.values + t * x.stride;
        for (size_t j = 0; j < x.n_cols; j++) {
            sum[j] += v * row[j];
        }
        return;
    }
    for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
        sum[x.cols[e]] += v * x.values[e];
    }
}

/* out [x.n_rows × width] ← the rows as dense rows, each followed by a 1. If mean and scale are not
 * NULL, the columns are standardised: (x − mean)/scale. Either both are NULL or none. */
void dni_tile_expand(dn_matrix x, const double *mean, const double *scale, double *out);
/* out [x.n_rows × x.n_cols] ← the rows minus mean [x.n_cols], as dense rows. */
void dni_tile_centre(dn_matrix x, const double *mean, double *out);
/* Adds a weighted Gram matrix: gram += sign · Σ_t c_t z_t z_tᵀ.
 *
 *   z        [n_rows × width] rows of dni_tile_expand
 *   c        [n_rows] >= 0
 *   sign     1 or −1
 *   scratch  [n_rows × width]
 *   gram     [width × width] lower triangle
 *
 * Computed in panels of rows of gram. Polls the run's stop function before each panel
 * (linalg/step.h); no other errors. */
DN_MUST_USE dn_status dni_tile_gram(const dn_run *run, const double *z, size_t n_rows, size_t width,
                                    const double *c, double sign, double *scratch, double *gram,
                                    dn_error *err);
/* Like dni_tile_gram for sparse rows with z = [x, 1], computed entry by entry. */
DN_MUST_USE dn_status dni_tile_gram_sparse(const dn_run *run, dn_matrix x, const double *c,
                                           double sign, double *gram, dn_error *err);
/* Returns nonzero if dni_tile_gram_sparse is faster than dni_tile_expand and dni_tile_gram. */
int dni_tile_gram_sparse_is_cheaper(dn_matrix x);

/* to [b × a] ← the transpose of from [a × b], both row-major. */
void dni_transpose(const double *from, size_t a, size_t b, double *to);

#endif
