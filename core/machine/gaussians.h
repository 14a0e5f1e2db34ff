/* Gaussian class densities, and Gaussian machines: g_k = ln P(C_k) + ln N(x; m_k, Σ_k), quadratic
 * in x. For two classes g = g_2 − g_1.
 *
 * Source: Bishop, PRML, section 4.2; Duda, Hart and Stork, section 2.6. */
#ifndef DNI_GAUSSIANS_H
#define DNI_GAUSSIANS_H

#include "base/bytes.h"
#include "machine/machine_dispatch.h"

typedef enum dni_covariance {
    DNI_COVARIANCE_SHARED,  /* one Σ for all classes */
    DNI_COVARIANCE_FULL,    /* one Σ_k for each class */
    DNI_COVARIANCE_DIAGONAL /* one diagonal Σ_k for each class */
} dni_covariance;

/* Class densities N(m_k, Σ_k) with priors. The densities ignore columns that were constant in
 * training: A has zeros in the row and in the column of an ignored column, and log_det is computed
 * from the other columns. */
typedef struct dni_gaussians {
    dni_covariance covariance;
    double *prior; /* [K] > 0, sum 1 */
    double *mean;  /* [K × d] */
    /* A with AᵀA = Σ⁻¹, lower triangular, with zeros above the diagonal. Shared: [d × d]; full:
     * [K × d × d]; diagonal: the diagonals [K × d]. */
    double *whiten;
    double *log_det; /* ln|Σ|; shared: [1], otherwise [K] */
} dni_gaussians;

/* Creates a machine with all numbers 0. The learner sets the members of dni_gaussians_of(machine).
 * Fails with DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_gaussian_machine_new(size_t n_classes, size_t n_features,
                                               dni_covariance covariance, dn_machine **out,
                                               dn_error *err);
/* Returns the densities of a Gaussian machine. The machine must be of this kind. */
dni_gaussians *dni_gaussians_of(const dn_machine *machine);

/* Returns whether the densities include column j. */
static inline bool dni_gaussians_use(const dni_gaussians *g, size_t d, size_t j) {
    return g->whiten[g->covariance == DNI_COVARIANCE_DIAGONAL ? j : j * (d + 1)] != 0;
}
/* Returns the number of columns that the densities include. */
static inline size_t dni_gaussians_n_used(const dni_gaussians *g, size_t d) {
    size_t n = 0;
    for (size_t j = 0; j < d; j++) {
        n += dni_gaussians_use(g, d, j);
    }
    return n;
}

/* Allocates densities with all numbers 0, which the machine owns. If memory is exhausted,
 * dni_machine_created fails. */
dni_gaussians *dni_gaussians_new(dn_machine *machine, dni_covariance covariance);
/* Writes u8 dni_covariance; f64 prior [K], mean [K × d], whiten, log_det. */
void dni_gaussians_write(dni_gaussians *g, size_t K, size_t d, dni_writer *writer);
/* Reads the numbers that dni_gaussians_write writes after the u8. The caller has read the u8 and
 * created g with this covariance. Fails with DN_ERR_CORRUPT. */
DN_MUST_USE dn_status dni_gaussians_read(dni_reader *r, size_t K, size_t d, dni_gaussians *g,
                                         dn_error *err);
/* Converts densities of standardised features to densities of raw features. `to` has the shape of
 * `from`. Returns false if a number is not finite. */
bool dni_gaussians_to_raw(const dni_gaussians *from, size_t K, size_t d, const double *mean,
                          const double *scale, const dni_gaussians *to);
/* joint [K] ← ln P(C_k) + ln p(x | C_k); work [2d]. If this is −∞ for every class, sets joint to
 * the log priors and returns false. */
bool dni_gaussians_joint(const dni_gaussians *g, size_t K, size_t d, const double *x, double *joint,
                         double *work);
/* Returns the number of elements of the covariance matrices, which dni_gaussians_describe passes
 * only if visitor->matrices is set. Diagonal covariances: 0, because they are always passed. */
double dni_gaussians_matrix_numbers(const dni_gaussians *g, size_t K, size_t d);
DN_MUST_USE dn_status dni_gaussians_describe(const dni_gaussians *g, size_t K, size_t d,
                                             const dn_visitor *visitor, dn_error *err);

/* out ← Σ_k. Shared: the same for every k. Rows and columns of ignored columns are 0.
 *
 *   out   [d × d]; diagonal: [d], the variances
 *   work  [d × d]; diagonal: not used
 *
 * O(d³). */
void dni_gaussians_covariance(const dni_gaussians *g, size_t d, size_t k, double *out,
                              double *work);
/* Computes the coefficients of g_k(x) = xᵀW x + wᵀx + w0 = ln P(C_k) + ln N(x; m_k, Σ_k).
 *
 *   W     [d × d] = −½Σ_k⁻¹; diagonal: [d], its diagonal
 *   w     [d] = Σ_k⁻¹m_k
 *   w0    one number
 *   work  [2d]
 *
 * O(d³). */
void dni_gaussians_quadratic(const dni_gaussians *g, size_t d, size_t k, double *W, double *w,
                             double *w0, double *work);

#endif
