/* Gaussian class densities, and the Gaussian kind of machine, whose scores they are:
 * g_k = ln P(C_k) + ln N(x; m_k, Σ_k), quadratic in x; of two classes g = g_2 − g_1.
 *
 * Source: Bishop, PRML, section 4.2; Duda, Hart and Stork, section 2.6. */
#ifndef DNI_GAUSSIANS_H
#define DNI_GAUSSIANS_H

#include "base/bytes.h"
#include "machine/machine_impl.h"

typedef enum dn_covariance {
    DN_COVARIANCE_SHARED,  /* one Σ for all classes */
    DN_COVARIANCE_FULL,    /* one for each class */
    DN_COVARIANCE_DIAGONAL /* one for each class, without covariances */
} dn_covariance;

/* Class densities N(m_k, Σ_k) with priors. Columns that were constant in training are left out: the
 * densities are those of the other columns, A has zeros in the column's row and column, and log_det
 * is that of the rest. */
typedef struct dn_gaussians {
    dn_covariance covariance;
    double *prior;   /* [K] > 0, sum 1 */
    double *mean;    /* [K × d] */
    double *whiten;  /* A with AᵀA = Σ⁻¹, lower triangular, zeros above: shared [d × d], full
                      * [K × d × d]; diagonal: the diagonals [K × d] */
    double *log_det; /* ln|Σ|: shared [1], else [K] */
} dn_gaussians;

/* All numbers 0, for the learner to fill in through dni_gaussians_of. DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_gaussian_machine_new(size_t n_classes, size_t n_features,
                                               dn_covariance covariance, dn_machine **out,
                                               dn_error *err);
/* The densities of a machine that dni_gaussian_machine_new made. */
dn_gaussians *dni_gaussians_of(const dn_machine *machine);

/* Whether the densities are of column j too. */
static inline bool dni_gaussians_use(const dn_gaussians *g, size_t d, size_t j) {
    return g->whiten[g->covariance == DN_COVARIANCE_DIAGONAL ? j : j * (d + 1)] != 0;
}
/* Columns that the densities are of. */
size_t dni_gaussians_n_used(const dn_gaussians *g, size_t d);

/* Densities of K classes and d features, all numbers 0. NULL: no memory. */
dn_gaussians *dni_gaussians_new(dn_covariance covariance, size_t K, size_t d);
void dni_gaussians_free(dn_gaussians *g); /* NULL and half-made ones are allowed */
double dni_gaussians_memory(const dn_gaussians *g, size_t K, size_t d); /* bytes */
/* u8 dn_covariance; f64 prior [K], mean [K × d], whiten, log_det. */
void dni_gaussians_write(const dn_gaussians *g, size_t K, size_t d, dni_writer *writer);
/* What follows the u8, into densities of that covariance. DN_ERR_CORRUPT. */
DN_MUST_USE dn_status dni_gaussians_read(dni_reader *r, size_t K, size_t d, const dn_gaussians *g,
                                         dn_error *err);
/* Those of raw features into `to`, of the same shape. False: a number is not finite. */
bool dni_gaussians_to_raw(const dn_gaussians *from, size_t K, size_t d, const double *mean,
                          const double *scale, const dn_gaussians *to);
/* joint [K] ← ln P(C_k) + ln p(x | C_k); work [2d]. False: every class says −∞; joint is then the
 * log priors. */
bool dni_gaussians_joint(const dn_gaussians *g, size_t K, size_t d, const double *x, double *joint,
                         double *work);
/* Numbers of the covariances and of the W of quadratic discriminants that `describe` passes only
 * with visitor->matrices. */
double dni_gaussians_matrix_numbers(const dn_gaussians *g, size_t K, size_t d);
DN_MUST_USE dn_status dni_gaussians_describe(const dn_gaussians *g, size_t K, size_t d,
                                             const dn_visitor *visitor, dn_error *err);

/* Σ_k (shared: of any k). out [d × d], diagonal: [d], the variances; work [d × d], diagonal: not
 * used. Columns left out have zeros. O(d³). */
void dni_gaussians_covariance(const dn_gaussians *g, size_t d, size_t k, double *out, double *work);
/* g_k(x) = xᵀW x + wᵀx + w0 = ln P(C_k) + ln N(x; m_k, Σ_k).
 *
 *   W     [d × d] = −½Σ_k⁻¹; diagonal: [d], its diagonal
 *   w     [d] = Σ_k⁻¹m_k
 *   w0    one number
 *   work  [2d]
 *
 * O(d³). */
void dni_gaussians_quadratic(const dn_gaussians *g, size_t d, size_t k, double *W, double *w,
                             double *w0, double *work);

#endif
