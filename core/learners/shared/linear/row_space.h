/* Fits without a penalty of at most as many rows as columns: the row space of the table.
 *
 * With r_t = √(v_t/Σv) and a factor f_j for each column, Z has the elements
 *
 *   Z_tj = r_t f_j (x_tj − m_j),   G = Z Zᵀ = Q Λ Qᵀ   [n × n]
 *
 * If f_j = 1/s_j, the nonzero eigenvalues of G are those of the correlation matrix ZᵀZ of the
 * columns (of the matrix of cosines, if m = 0), and the rank rule (linear_rank.h) decides the rank
 * from them. The coordinates of a row are its inner products with `rank` orthonormal vectors, the
 * rows of Λ^−½ Qᵀ Z. Scores that are linear in the columns are linear in the coordinates. G costs
 * n²d operations, the correlation matrix would cost nd².
 *
 * Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 18.3.5. */
#ifndef DNI_ROW_SPACE_H
#define DNI_ROW_SPACE_H

#include "learners/shared/moments.h"
#include "linalg/eigen.h"
#include <discern/rows.h>
#include <discern/run.h>

typedef struct dni_row_space {
    const dn_run *run;
    const dn_rows *rows;
    const dni_moments *moments; /* of `rows` */
    size_t n, d, rank;
    size_t n_scores;
    dn_progress shown; /* progress reports, without `fraction` */
    bool centred;      /* m are the means of the columns, and scores are centred; false: m = 0 */
    double *part;      /* [d] squared distance of the unit vector e_j from the row space */
    double *factor;    /* [d] f; 0 for a constant column */
    double *root;      /* [n] r */
    double *target;    /* [n] targets of the rows; 0 without targets */
    double *weight;    /* [n] v */
    double *gram;      /* [n × n] working memory */
    double *values;    /* [n] diagonal of Λ, ascending; the last `rank` count as positive */
    double *vectors;   /* [n × n] the rows of Qᵀ */
    double *panel;     /* [n × number of columns] some columns of Z */
    double *product;   /* [n × 64] working memory of dni_row_space_dependent */
    double *coef;      /* [n_scores × n] coefficients of the rows of Z */
    double *missing;   /* [n_scores × n] r (scores − scores of w) */
    void *memory;      /* owns the arrays */
} dni_row_space;

/* True if tables of this shape are decomposed by dni_row_space. */
static inline bool dni_row_space_applies(size_t n_rows, size_t n_cols) {
    return n_rows <= n_cols && n_rows <= DNI_MAX_EIGEN;
}

/* Sets up the space and computes the rank and the coordinates for f = 1/s.
 *
 *   moments   of the columns; if `centred` is false, moments about 0 (dni_moments_about_zero)
 *   n_scores  the largest number of scores in a call of dni_row_space_weights
 *   centred   false: for fits without an intercept; scores are not centred
 *   space     the caller releases it with dni_row_space_done, also after a failure
 *
 * This function, dni_row_space_dependent and dni_row_space_least_norm report progress from 0 to 1
 * each, with the members of `shown`: iteration 0, unless the caller changes it. They poll the run's
 * stop function at least every DNI_STEP_FLOPS operations. Errors: those of dni_symmetric_eigen, of
 * the rows and of dn_run_alloc. */
DN_MUST_USE dn_status dni_row_space_init(dni_row_space *space, const dn_rows *rows,
                                         const dni_moments *moments, size_t n_scores, bool centred,
                                         const dn_run *run, dn_error *err);
void dni_row_space_done(dni_row_space *space);
/* Maximum bytes of working memory, including that of dni_row_space_init. */
double dni_row_space_bytes(size_t n_rows, size_t n_cols, size_t n_scores);

/* out [n × rank] ← the coordinates of the rows; 0 for rows with weight 0. */
void dni_row_space_coordinates(const dni_row_space *space, double *out);
/* out [n_scores × n] ← the scores Σ_j (x_j − m_j) w_j of the rows, for w [n_scores × d]; 0 for rows
 * with weight 0. */
DN_MUST_USE dn_status dni_row_space_scores(dni_row_space *space, const double *w, size_t n_scores,
                                           double *out, dn_error *err);
/* out [n_scores × rank] ← the weights of the coordinates for scores [n_scores × n], which are
 * centred first if `centred`. Scores of rows with weight 0 are ignored. */
void dni_row_space_project(dni_row_space *space, const double *scores, size_t n_scores,
                           double *out);
/* w [n_scores × d] ← the weights with the least Σ (w_j/f_j)² that give the scores `scores`
 * [n_scores × n]; if `centred`, the scores minus their weighted mean. Scores of rows with weight 0
 * are ignored. */
DN_MUST_USE dn_status dni_row_space_weights(dni_row_space *space, const double *scores,
                                            size_t n_scores, double *w, dn_error *err);
/* If the deviations of the columns are not all equal: w ← the weights with minimum Σ w_j² that give
 * the scores. Computes G for equal f_j, and the space keeps this G. Leaves w unchanged if rounding
 * errors would change the scores. scores, n_scores, w: as in the call of dni_row_space_weights that
 * computed w. */
DN_MUST_USE dn_status dni_row_space_least_norm(dni_row_space *space, const double *scores,
                                               size_t n_scores, double *w, dn_error *err);
/* marked [d] ← the columns that depend on others, for f = 1/s. */
DN_MUST_USE dn_status dni_row_space_dependent(dni_row_space *space, bool *marked, dn_error *err);

#endif
