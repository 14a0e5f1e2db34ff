/* Class densities N(m_k, Σ_k) as books write them. A machine holds A, lower triangular with AᵀA = Σ⁻¹; so Σ = L Lᵀ with L = A⁻¹, whose row i is
 * (e_i − Σ_{j<i} A_ij L_j)/A_ii, and g_k(x) = ln P(C_k) + ln N(x; m_k, Σ_k) = xᵀW x + wᵀx + w₀ with W = −½Σ⁻¹, w = Σ⁻¹m, and w₀ the value at 0.
 * Bishop, PRML, equations (4.64)–(4.67) without the common covariance; Duda, Hart and Stork, section 2.6.3. */
#include "linalg/vector.h"
#include "machine/machine_impl.h"

#include <string.h>

static const double *whiten_of(const dn_gaussians *g, size_t d, size_t k) {
    if (g->covariance == DN_COVARIANCE_DIAGONAL) {
        return g->whiten + k * d;
    }
    return g->covariance == DN_COVARIANCE_SHARED ? g->whiten : g->whiten + k * d * d;
}

/* What is below the diagonal, above it too. */
static void mirror(double *s, size_t d) {
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            s[j * d + i] = s[i * d + j];
        }
    }
}

/* Σ [d × d] of A; L is made in work [d × d]. */
static void covariance_of(const double *a, size_t d, double *out, double *work) {
    memset(work, 0, d * d * sizeof *work);
    for (size_t i = 0; i < d; i++) {
        double *row = work + i * d;
        if (a[i * d + i] == 0) { /* left out */
            continue;
        }
        row[i] = 1;
        for (size_t j = 0; j < i; j++) {
            dni_axpy(-a[i * d + j], work + j * d, row, j + 1);
        }
        for (size_t j = 0; j <= i; j++) {
            row[j] /= a[i * d + i];
        }
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            out[i * d + j] = dni_dot(work + i * d, work + j * d, j + 1);
        }
    }
    mirror(out, d);
}

void dn_machine_covariance(const dn_machine *machine, size_t k, double *out, double *work) {
    const size_t d = machine->n_features;
    const double *a = whiten_of(machine->gaussians, d, k);
    if (machine->gaussians->covariance != DN_COVARIANCE_DIAGONAL) {
        covariance_of(a, d, out, work);
        return;
    }
    for (size_t j = 0; j < d; j++) {
        out[j] = a[j] == 0 ? 0 : 1 / (a[j] * a[j]);
    }
}

void dn_kernel_covariance(const dn_kernel *kernel, double *out, double *work) {
    covariance_of(kernel->factor, kernel->n_features, out, work);
}

void dn_machine_quadratic(const dn_machine *machine, size_t k, double *W, double *w, double *w0,
                          double *work) {
    const size_t d = machine->n_features;
    const double *a = whiten_of(machine->gaussians, d, k), *mean = machine->gaussians->mean + k * d;
    *w0 = dni_class_intercept(machine, k, work);
    if (machine->gaussians->covariance == DN_COVARIANCE_DIAGONAL) {
        for (size_t j = 0; j < d; j++) {
            W[j] = -0.5 * a[j] * a[j];
            w[j] = a[j] * a[j] * mean[j];
        }
        return;
    }
    memset(W, 0, d * d * sizeof *W);
    memset(w, 0, d * sizeof *w);
    for (size_t i = 0; i < d; i++) { /* row i of A at a time */
        const double *row = a + i * d;
        for (size_t r = 0; r <= i; r++) {
            dni_axpy(-0.5 * row[r], row, W + r * d, r + 1);
        }
        dni_axpy(dni_dot(row, mean, i + 1), row, w, i + 1);
    }
    mirror(W, d);
}
