/* Tests of the parameters of class densities that are computed from the factor A of a machine: the
 * covariance matrix S with S AᵀA = I, and W, w and w0 with the score xᵀWx + wᵀx + w0. */
#include "machine/machine_dispatch.h"
#include "unit/core/support.h"

enum { K = 3, D = 7 };

/* Creates a machine of three classes with deterministic, irregular parameters. */
static struct machine_view machine_of(dni_covariance covariance, bool linear) {
    dn_machine *made;
    size_t draw = 0;
    OK(linear ? dni_linear_machine_new(K, D, true, &made, NULL)
              : dni_gaussian_machine_new(K, D, covariance, &made, NULL));
    const struct machine_view m = machine_view(made);
    const size_t n = covariance == DNI_COVARIANCE_SHARED ? 1 : K,
                 rows = covariance == DNI_COVARIANCE_DIAGONAL ? 1 : D;
    for (size_t k = 0; k < K; k++) {
        m.gaussians->prior[k] = (double)(k + 1) / 6;
    }
    for (size_t i = 0; i < (size_t)K * D; i++) {
        m.gaussians->mean[i] = 2 * sin(1.7 * (double)++draw);
    }
    for (size_t k = 0; k < n; k++) {
        m.gaussians->log_det[k] = (double)k - 0.5;
        for (size_t i = 0; i < rows; i++) {
            for (size_t j = 0; j < D; j++) {
                double *a = &m.gaussians->whiten[(k * rows + i) * D + j];
                const double x = 0.5 * sin(2.3 * (double)++draw);
                *a = rows == 1 || i == j ? 1.5 + x : j < i ? x : 0;
            }
        }
    }
    return m;
}

static const double *factor_of(const struct machine_view *m, size_t k) {
    const dni_gaussians *g = m->gaussians;
    if (g->covariance == DNI_COVARIANCE_SHARED) {
        return g->whiten;
    }
    return g->whiten + k * (g->covariance == DNI_COVARIANCE_FULL ? D * D : D);
}

static void covariance_times_its_inverse(void **state) {
    (void)state;
    static const dni_covariance full[] = {DNI_COVARIANCE_SHARED, DNI_COVARIANCE_FULL};
    double s[D * D], work[D * D];
    for (size_t c = 0; c < 2; c++) {
        const struct machine_view m = machine_of(full[c], false);
        for (size_t k = 0; k < K; k++) {
            const double *a = factor_of(&m, k);
            dni_gaussians_covariance(m.gaussians, D, k, s, work);
            for (size_t i = 0; i < D; i++) {
                for (size_t j = 0; j < D; j++) {
                    double sum = 0; /* (Σ AᵀA)_ij */
                    for (size_t r = 0; r < D; r++) {
                        for (size_t l = 0; l < D; l++) {
                            sum += s[i * D + l] * a[r * D + l] * a[r * D + j];
                        }
                    }
                    assert_true(fabs(sum - (i == j)) < 1e-11);
                    assert_true(s[i * D + j] == s[j * D + i]);
                }
            }
        }
        dn_machine_free(m.machine);
    }
    const struct machine_view m = machine_of(DNI_COVARIANCE_DIAGONAL, false);
    for (size_t k = 0; k < K; k++) {
        dni_gaussians_covariance(m.gaussians, D, k, s, NULL);
        for (size_t j = 0; j < D; j++) {
            assert_true(fabs(s[j] * factor_of(&m, k)[j] * factor_of(&m, k)[j] - 1) < 1e-14);
        }
    }
    dn_machine_free(m.machine);
}

static void quadratic_is_the_score(void **state) {
    (void)state;
    static const dni_covariance all[] = {DNI_COVARIANCE_SHARED, DNI_COVARIANCE_FULL,
                                         DNI_COVARIANCE_DIAGONAL};
    double W[D * D], w[D], w0, work[2 * D + K], scores[K], intercept[K], x[D];
    for (size_t c = 0; c < 3; c++) {
        const struct machine_view m = machine_of(all[c], false);
        for (size_t j = 0; j < D; j++) {
            x[j] = sin((double)j) * 3;
        }
        assert_true(dni_machine_scores(m.machine, x, scores, work));
        dni_machine_intercept(m.machine, intercept, work);
        for (size_t k = 0; k < K; k++) {
            dni_gaussians_quadratic(m.gaussians, D, k, W, w, &w0, work);
            assert_true(w0 == intercept[k]);
            double g = w0, size = fabs(w0);
            for (size_t i = 0; i < D; i++) {
                double row = w[i];
                for (size_t j = 0; j < D; j++) {
                    row += all[c] == DNI_COVARIANCE_DIAGONAL ? (i == j ? W[i] * x[i] : 0)
                                                             : W[i * D + j] * x[j];
                }
                g += row * x[i];
                size += fabs(row * x[i]);
            }
            assert_true(fabs(g - scores[k]) < 1e-13 * size);
        }
        dn_machine_free(m.machine);
    }
    const struct machine_view m =
        machine_of(DNI_COVARIANCE_SHARED, true); /* a linear machine with densities */
    dni_gaussians_quadratic(m.gaussians, D, 0, W, w, &w0, work);
    dni_machine_joint(m.machine, (double[D]){0}, scores, work);
    assert_true(fabs(w0 - scores[0]) < 1e-13 * fabs(w0));
    dn_machine_free(m.machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(covariance_times_its_inverse),
                                       cmocka_unit_test(quadratic_is_the_score)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
