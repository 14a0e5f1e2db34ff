/* How rows scatter around the means of their classes: what Fisher's discriminant and Gaussian densities are made of.
 *
 *   n_k = Σ_{t ∈ k} v_t,   m_k = Σ_{t ∈ k} v_t x_t / n_k,   S_k = Σ_{t ∈ k} v_t (x_t − m_k)(x_t − m_k)ᵀ,   S_W = Σ_k S_k
 *
 * Bishop, PRML, section 4.1.6; Duda, Hart and Stork, section 3.8.3. Nothing is divided by n: that is for the caller to choose. */
#ifndef DNI_SCATTER_H
#define DNI_SCATTER_H

#include <discern/algorithm.h>
#include <stdbool.h>

/* More columns than this have no matrix: 512 MiB for one. */
#define DNI_SCATTER_MAX_COLS 8192

typedef enum dni_scatter_kind {
    DNI_SCATTER_POOLED,  /* S_W */
    DNI_SCATTER_CLASSES, /* S_k of each class */
    DNI_SCATTER_DIAGONAL /* the diagonal of each S_k */
} dni_scatter_kind;

typedef struct dni_scatter {
    dni_scatter_kind kind;
    size_t n_classes, n_cols; /* K, d */
    double weight;            /* n = Σv */
    double *class_weight;     /* [K] n_k */
    double *class_mean;       /* [K × d] m_k */
    double *mean;             /* [d] of all rows: Σ n_k m_k / n */
    double *
        scatter; /* pooled [d × d], classes [K × d × d]: the lower triangle, zeros above; diagonal [K × d]. A column that is constant (pooled: within every
                        class) but for the rounding of its mean has exact zeros */
} dni_scatter;

/* Three sums over the blocks in two passes: class means first, then rows centred by them, so that a column of time stamps keeps its variance; what rounding left in the
 * means is found in the second pass and taken out of both. Dense or sparse rows; sparse ones are expanded tile by tile, but for the diagonal, where only their entries
 * are touched. O(n d²), diagonal O(entries). The arrays come from the run, dni_scatter_done frees them ({0} is allowed).
 * DN_ERR_BUDGET: more than DNI_SCATTER_MAX_COLS columns (not for the diagonal); DN_ERR_NUMERIC names the first column whose squares leave the finite numbers;
 * DN_ERR_DATA: the weights have no positive, finite sum. */
DN_MUST_USE dn_status dni_scatter_compute(const dn_fit_input *input, dni_scatter_kind kind,
                                          const dn_run *run, dni_scatter *out, dn_error *err);
/* constant [d] ← the columns that have one value in all rows, up to the rounding of their means; returns how many. */
size_t dni_scatter_constants(const dni_scatter *scatter, bool *constant);
void dni_scatter_done(dni_scatter *scatter, const dn_run *run);
/* Bytes that it takes at most, the sums over the blocks included. */
double dni_scatter_memory(dni_scatter_kind kind, size_t n_rows, size_t n_cols, size_t n_classes,
                          size_t n_slots);

#endif
