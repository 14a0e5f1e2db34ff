/* The scatter of the rows around the means of their classes. Fisher's discriminant and Gaussian
 * densities use it.
 *
 *   n_k = Σ_{t ∈ k} v_t
 *   m_k = Σ_{t ∈ k} v_t x_t / n_k
 *   S_k = Σ_{t ∈ k} v_t (x_t − m_k)(x_t − m_k)ᵀ,   S_W = Σ_k S_k
 *
 * Bishop, PRML, section 4.1.6; Duda, Hart and Stork, section 3.8.3. The sums are not divided by n;
 * the caller chooses the divisor. */
#ifndef DNI_SCATTER_H
#define DNI_SCATTER_H

#include <discern/algorithm.h>
#include <stdbool.h>

/* Largest number of columns for a scatter matrix, which then takes 512 MiB. */
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
    double *mean;             /* [d] mean of all rows: Σ n_k m_k / n */
    /* Pooled [d × d], classes [K × d × d]: lower triangles, zeros above. Diagonal [K × d]. The
     * entries of a column that is constant (pooled: within every class), up to the rounding error
     * of its mean, are exactly 0. */
    double *scatter;
    void *memory;
} dni_scatter;

/* Computes the scatter in two passes over the rows. The first pass computes the class means, the
 * second the scatter of the centred rows, so that the variance is accurate for columns whose mean
 * is large, such as time stamps. The second pass also measures the rounding error of the means;
 * means and scatter are corrected for it. Sparse rows are expanded tile by tile; for the diagonal
 * only their entries are visited.
 *
 *   input  rows, dense or sparse, with targets
 *   kind   pooled, classes or diagonal
 *   out    the caller releases it with dni_scatter_done; untouched on failure
 *
 * Errors
 *   DN_ERR_BUDGET   more than DNI_SCATTER_MAX_COLS columns (not for the diagonal)
 *   DN_ERR_NUMERIC  the squares of a column overflow or underflow; the message names the first one
 *   DN_ERR_DATA     the weights do not have a positive, finite sum
 *   DN_ERR_SOURCE   the source delivers dense and sparse blocks
 *   and those of dn_run_alloc and dn_run_sum
 *
 * Cost: O(n d²), diagonal O(entries). */
DN_MUST_USE dn_status dni_scatter_compute(const dn_fit_input *input, dni_scatter_kind kind,
                                          const dn_run *run, dni_scatter *out, dn_error *err);
/* Releases the arrays; {0} is allowed. */
void dni_scatter_done(dni_scatter *scatter, const dn_run *run);

/* constant [d] ← true for each column that is constant in all rows, up to the rounding error of its
 * mean. Returns the number of these columns. */
size_t dni_scatter_constants(const dni_scatter *scatter, bool *constant);

/* Returns the variance of column j over all rows (divisor Σv), from the scatter within the classes
 * and the class means. */
double dni_scatter_variance(const dni_scatter *scatter, size_t j);

/* Maximum bytes of working memory of dni_scatter_compute, including its result. */
double dni_scatter_memory(dni_scatter_kind kind, size_t n_rows, size_t n_cols, size_t n_classes,
                          size_t n_slots);
/* Bytes of the result of dni_scatter_compute. */
double dni_scatter_result_memory(dni_scatter_kind kind, size_t n_cols, size_t n_classes);

#endif
