/* Gaussian classes: golden numbers, the closed forms recomputed from the data, identities of the
 * textbook, invariants. */
#include "unit/core/learners/shared/densities.h"

static dn_params *gaussian(const char *covariance, const char *divisor) {
    dn_params *p = params_for("gaussian");
    OK(dn_params_set_word(p, "covariance", covariance, NULL));
    OK(dn_params_set_word(p, "divisor", divisor, NULL));
    return p;
}

/* (AᵀA)⁻¹ */
static void covariance_from(const double *whiten, size_t d, double *out) {
    double *precision = xcalloc(2 * d * d, sizeof *precision), *identity = precision + d * d;
    for (size_t i = 0; i < d; i++) {
        identity[i * d + i] = 1;
        for (size_t j = 0; j < d; j++) {
            for (size_t r = 0; r < d; r++) {
                precision[i * d + j] += whiten[r * d + i] * whiten[r * d + j];
            }
        }
    }
    eliminate(precision, identity, d, d, out);
    free(precision);
}

/* ---- golden numbers ---- */
static void golden_shared(void **state) {
    const char *set = *state;
    struct csv *t = csv_named(set);
    if (t == NULL) {
        skip();
        return;
    }
    json_t *golden = golden_load();
    const json_t *all = json_object_get(golden, set),
                 *g = json_object_get(all, "gaussian_shared_ml");
    double tolerance = json_number_value(json_object_get(g, "tol"));
    dn_params *p = gaussian("shared", "ml");
    struct fit fit;
    OK(fit_arrays(t->x, t->target, NULL, t->n, t->d, t->K, p, &fit, NULL));
    assert_non_null(fit.out.w);
    compare_golden(g, json_object_get(all, "rows"), t, &fit.out);
    double *want = xcalloc(2 * t->d * t->d + t->K * t->d, sizeof *want), *own = want + t->d * t->d;
    assert_int_equal(golden_numbers(json_object_get(g, "means"), want), t->K * t->d);
    assert_close(fit.out.gaussians->mean, want, t->K * t->d, tolerance);
    assert_int_equal(golden_numbers(json_object_get(g, "priors"), want), t->K);
    assert_close(fit.out.gaussians->prior, want, t->K, tolerance);
    assert_int_equal(golden_numbers(json_object_get(g, "covariance"), want), t->d * t->d);
    covariance_from(fit.out.gaussians->whiten, t->d, own);
    assert_close(own, want, t->d * t->d, tolerance);
    free(want);
    fit_done(&fit);
    dn_params_free(p);
    json_decref(golden);
    csv_free(t);
}

static void golden_full(void **state) {
    const char *set = *state;
    struct csv *t = csv_named(set);
    if (t == NULL) {
        skip();
        return;
    }
    json_t *golden = golden_load();
    const json_t *all = json_object_get(golden, set);
    dn_params *p = gaussian("full", "unbiased");
    struct fit fit;
    OK(fit_arrays(t->x, t->target, NULL, t->n, t->d, t->K, p, &fit, NULL));
    assert_null(fit.out.w);
    compare_golden(json_object_get(all, "gaussian_full_unbiased"), json_object_get(all, "rows"), t,
                   &fit.out);
    fit_done(&fit);
    dn_params_free(p);
    json_decref(golden);
    csv_free(t);
}

/* ---- recomputed from the data ---- */
/* out [d × d] ← the covariance of class k, or the pooled covariance, for the given parameters. With
 * covariance full, s shrinks it towards the pooled covariance; otherwise towards its diagonal. */
static void covariance_of(const struct csv *t, const double *v, const char *covariance,
                          bool unbiased, double s, size_t k, double *out) {
    size_t d = t->d;
    double *mean = xcalloc(d + d * d, sizeof *mean), *own = mean + d, weight = 0;
    bool shared = strcmp(covariance, "shared") == 0;
    memset(out, 0, d * d * sizeof *out);
    for (size_t c = 0; c < t->K; c++) {
        if (!shared && c != k) {
            continue;
        }
        weight += class_scatter(t->x, t->target, v, t->n, d, c, mean, own);
        for (size_t i = 0; i < d * d; i++) {
            out[i] += own[i];
        }
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            out[i * d + j] /= weight - (unbiased ? shared ? (double)t->K : 1 : 0);
            if (i != j) {
                out[i * d + j] *= strcmp(covariance, "diagonal") == 0 ? 0 : shared ? 1 - s : 1;
            }
        }
    }
    free(mean);
    if (strcmp(covariance, "full") == 0 && s > 0) {
        double *pooled = xcalloc(d * d, sizeof *pooled);
        covariance_of(t, v, "shared", unbiased, 0, 0, pooled);
        for (size_t i = 0; i < d * d; i++) {
            out[i] = (1 - s) * out[i] + s * pooled[i];
        }
        free(pooled);
    }
}

/* ln P(C_k) + ln N(x; m_k, Σ_k) by the definition. */
static double joint_of(const struct csv *t, const double *v, const double *sigma, double prior,
                       size_t k, const double *x) {
    size_t d = t->d;
    double *mean = xcalloc(3 * d + d * d, sizeof *mean), *c = mean + d, *z = c + d, *s = z + d,
           square = 0;
    class_scatter(t->x, t->target, v, t->n, d, k, mean, s);
    for (size_t j = 0; j < d; j++) {
        c[j] = x[j] - mean[j];
    }
    double log_det = eliminate(sigma, c, d, 1, z);
    for (size_t j = 0; j < d; j++) {
        square += c[j] * z[j];
    }
    free(mean);
    return log(prior) - 0.5 * (square + log_det + (double)d * log(2 * 3.14159265358979323846));
}

static void compare_definition(const struct csv *t, const double *v, const char *covariance,
                               bool unbiased, double s, const double *priors) {
    size_t K = t->K, d = t->d;
    dn_params *p = gaussian(covariance, unbiased ? "unbiased" : "ml");
    OK(dn_params_set_number(p, "shrinkage", s, NULL));
    if (priors != NULL) {
        OK(dn_params_set_list(p, "priors", priors, K, NULL));
    }
    struct fit fit;
    OK(fit_arrays(t->x, t->target, v, t->n, d, K, p, &fit, NULL));
    double *sigma = xcalloc(d * d, sizeof *sigma), weight[16] = {0}, total = 0,
           least = (double)INFINITY, mean = 0;
    double *work = xcalloc(dni_machine_work(fit.out.machine), sizeof *work), joint[16], own[16],
           scores[16];
    for (size_t t2 = 0; t2 < t->n; t2++) {
        weight[(size_t)t->target[t2]] += v == NULL ? 1 : v[t2];
        total += v == NULL ? 1 : v[t2];
    }
    for (size_t i = 0; i < t->n; i++) {
        const double *x = t->x + i * d;
        for (size_t k = 0; k < K; k++) {
            covariance_of(t, v, covariance, unbiased, s, k, sigma);
            own[k] = joint_of(t, v, sigma, priors == NULL ? weight[k] / total : priors[k], k, x);
        }
        assert_true(dni_machine_joint(fit.out.machine, x, joint, work));
        assert_close(joint, own, K, 1e-9);
        dni_machine_scores(fit.out.machine, x, scores, work);
        if (K == 2) {
            assert_true(fabs(scores[0] - (own[1] - own[0])) <
                        1e-8 * (1 + fabs(own[1]) + fabs(own[0])));
        } else {
            for (size_t k = 1; k < K; k++) {
                assert_true(fabs(scores[k] - scores[0] - (own[k] - own[0])) <
                            1e-8 * (1 + fabs(own[k]) + fabs(own[0])));
            }
        }
        least = fmin(least, v == NULL || v[i] > 0 ? dni_log_sum(own, K) : least);
        mean -= (v == NULL ? 1 : v[i]) * own[(size_t)t->target[i]] / total;
    }
    assert_near(densities_detail(&fit.report, "log_density_min"), least, 1e-9);
    assert_near(fit.report.objective, mean, 1e-9);
    free(sigma);
    free(work);
    fit_done(&fit);
    dn_params_free(p);
}

static void closed_forms(void **state) {
    (void)state;
    const char *const covariances[] = {"shared", "full", "diagonal"};
    const double two[] = {0.2, 0.8}, three[] = {0.5, 0.2, 0.3};
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(67, 4, K);
        double v[67];
        for (size_t i = 0; i < t->n; i++) {
            v[i] = (double)(i % 5) / 2;
        }
        for (size_t c = 0; c < 3; c++) {
            compare_definition(t, NULL, covariances[c], false, 0, NULL);
            compare_definition(t, v, covariances[c], true, 0, NULL);
            compare_definition(t, v, covariances[c], false, c < 2 ? 0.3 : 0, K == 2 ? two : three);
        }
        csv_free(t);
    }
}

/* The linear weights match the formulas at the head of gaussian.c. */
static void linear_weights(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(90, 3, K);
        dn_params *p = gaussian("shared", "ml");
        struct fit fit;
        double sigma[9], mean[3][3], centre[3] = {0}, scatter[9], b[3], w[3];
        OK(fit_arrays(t->x, t->target, NULL, t->n, 3, K, p, &fit, NULL));
        covariance_of(t, NULL, "shared", false, 0, 0, sigma);
        for (size_t k = 0; k < K; k++) {
            class_scatter(t->x, t->target, NULL, t->n, 3, k, mean[k], scatter);
        }
        for (size_t i = 0; i < t->n; i++) {
            for (size_t j = 0; j < 3; j++) {
                centre[j] += t->x[i * 3 + j] / (double)t->n;
            }
        }
        for (size_t k = 0; k < dn_machine_n_scores(fit.out.machine); k++) {
            double w0 = log(fit.out.gaussians->prior[k]);
            for (size_t j = 0; j < 3; j++) {
                b[j] = K == 2 ? mean[1][j] - mean[0][j] : mean[k][j] - centre[j];
            }
            eliminate(sigma, b, 3, 1, w);
            if (K == 2) {
                w0 = log(fit.out.gaussians->prior[1] / fit.out.gaussians->prior[0]);
            }
            for (size_t j = 0; j < 3; j++) {
                w0 -= 0.5 * w[j] * (K == 2 ? mean[0][j] + mean[1][j] : mean[k][j] + centre[j]);
            }
            assert_close(fit.out.w + k * 3, w, 3, 1e-10);
            assert_near(fit.out.w0[k], w0, 1e-10);
        }
        fit_done(&fit);
        dn_params_free(p);
        csv_free(t);
    }
}

/* Example 14: with a shared covariance the posterior of the densities equals the sigmoid of the
 * linear score. */
static void posterior_is_the_sigmoid(void **state) {
    (void)state;
    struct csv *t = csv_clouds(300, 3, 2);
    dn_params *p = gaussian("shared", "unbiased");
    struct fit fit;
    double work[16], joint[2], score;
    OK(fit_arrays(t->x, t->target, NULL, t->n, 3, 2, p, &fit, NULL));
    for (size_t i = 0; i < t->n; i++) {
        dni_machine_joint(fit.out.machine, t->x + i * 3, joint, work);
        dni_machine_scores(fit.out.machine, t->x + i * 3, &score, work);
        assert_near(1 / (1 + exp(-score)), exp(joint[1]) / (exp(joint[0]) + exp(joint[1])), 1e-11);
    }
    double square = 0; /* Mahalanobis distance: Δ² = (m_1 − m_0)ᵀ w, w = Σ⁻¹(m_1 − m_0) */
    for (size_t j = 0; j < 3; j++) {
        square += fit.out.w[j] * (fit.out.gaussians->mean[3 + j] - fit.out.gaussians->mean[j]);
    }
    assert_near(densities_detail(&fit.report, "mahalanobis_distance"), sqrt(square), 1e-10);
    fit_done(&fit);
    dn_params_free(p);
    csv_free(t);
}

/* Quadratic discriminants with equal covariances equal the linear ones. The second class is a
 * translation of the first. */
static void quadratic_of_equal_covariances(void **state) {
    (void)state;
    enum { N = 40, D = 3 };
    struct csv *t = csv_clouds(N, D, 2);
    double x[2 * N * D], y[2 * N], own[2], other[2];
    for (size_t i = 0; i < (size_t)2 * N; i++) {
        y[i] = i >= N;
        for (size_t j = 0; j < D; j++) {
            x[i * D + j] = t->x[i % N * D + j] + (i >= N ? 2.0 * (double)j - 1 : 0);
        }
    }
    dn_params *shared = gaussian("shared", "ml"), *full = gaussian("full", "ml");
    struct fit linear, quadratic;
    OK(fit_arrays(x, y, NULL, (size_t)2 * N, D, 2, shared, &linear, NULL));
    OK(fit_arrays(x, y, NULL, (size_t)2 * N, D, 2, full, &quadratic, NULL));
    for (size_t i = 0; i < (size_t)2 * N; i++) {
        double a = posterior(&linear.out, x + i * D, own),
               b = posterior(&quadratic.out, x + i * D, other);
        assert_near(a, b, 1e-10);
        assert_close(own, other, 2, 1e-9);
    }
    fit_done(&linear);
    fit_done(&quadratic);
    dn_params_free(shared);
    dn_params_free(full);
    csv_free(t);
}

/* With shrinkage 1 each class has the covariance within all classes. */
static void shrunk_to_the_pooled_covariance(void **state) {
    (void)state;
    struct csv *t = csv_clouds(80, 4, 3);
    dn_params *full = gaussian("full", "unbiased"), *shared = gaussian("shared", "unbiased");
    struct fit one, two;
    double p[3], q[3];
    OK(dn_params_set_number(full, "shrinkage", 1, NULL));
    OK(fit_arrays(t->x, t->target, NULL, t->n, 4, 3, full, &one, NULL));
    OK(fit_arrays(t->x, t->target, NULL, t->n, 4, 3, shared, &two, NULL));
    for (size_t i = 0; i < t->n; i++) {
        assert_near(posterior(&one.out, t->x + i * 4, p), posterior(&two.out, t->x + i * 4, q),
                    1e-10);
        assert_close(p, q, 3, 1e-10);
    }
    fit_done(&one);
    fit_done(&two);
    dn_params_free(full);
    dn_params_free(shared);
    csv_free(t);
}

/* Posteriors are independent of the units of the columns. Densities change by the Jacobian. */
static void units(void **state) {
    (void)state;
    const char *const covariances[] = {"shared", "full", "diagonal"};
    struct csv *t = csv_clouds(120, 3, 3);
    const double scale[] = {1e-3, 50, 7}, shift[] = {10, -3, 0.5};
    double *x = xcalloc(t->n * 3, sizeof *x), p[3], q[3];
    for (size_t i = 0; i < t->n * 3; i++) {
        x[i] = shift[i % 3] + scale[i % 3] * t->x[i];
    }
    for (size_t c = 0; c < 3; c++) {
        dn_params *params = gaussian(covariances[c], "ml");
        struct fit one, two;
        OK(fit_arrays(t->x, t->target, NULL, t->n, 3, 3, params, &one, NULL));
        OK(fit_arrays(x, t->target, NULL, t->n, 3, 3, params, &two, NULL));
        for (size_t i = 0; i < t->n; i++) {
            double a = posterior(&one.out, t->x + i * 3, p), b = posterior(&two.out, x + i * 3, q);
            assert_true(fabs(b + log(1e-3 * 50 * 7) - a) < 1e-6);
            for (size_t k = 0; k < 3; k++) {
                assert_true(fabs(p[k] - q[k]) < 1e-6);
            }
        }
        fit_done(&one);
        fit_done(&two);
        dn_params_free(params);
    }
    free(x);
    csv_free(t);
}

static void invariants(void **state) {
    (void)state;
    const char *const covariances[] = {"shared", "full", "diagonal"};
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(500, 4, K), *large = csv_clouds(5 * DN_BLOCK_ROWS - 100, 3, K);
        for (size_t i = 0; i < t->n; i += 3) {
            t->x[i * 4 + i % 4] = 0; /* entries that sparse rows omit */
        }
        for (size_t c = 0; c < 3; c++) {
            dn_params *p = gaussian(covariances[c], "ml");
            if (c < 2) {
                OK(dn_params_set_word(p, "shrinkage", "auto", NULL));
            }
            check_invariants(t, p);
            check_threads(large, p);
            check_failures(t, p);
            check_memory(large, p);
            check_memory(t, p);
            dn_params_free(p);
        }
        csv_free(t);
        csv_free(large);
    }
}

int main(void) {
    static char *const sets[] = {"iris", "wine", "breast_cancer", "pima"};
    struct CMUnitTest tests[32] = {
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(linear_weights),
        cmocka_unit_test(posterior_is_the_sigmoid),
        cmocka_unit_test(quadratic_of_equal_covariances),
        cmocka_unit_test(shrunk_to_the_pooled_covariance),
        cmocka_unit_test(units),
        cmocka_unit_test(invariants),
    };
    size_t n = 7;
    for (size_t i = 0; i < 4; i++) {
        tests[n++] = (struct CMUnitTest){"golden_shared", golden_shared, NULL, NULL, sets[i]};
        tests[n++] = (struct CMUnitTest){"golden_full", golden_full, NULL, NULL, sets[i]};
    }
    return _cmocka_run_group_tests("gaussian", tests, n, NULL, NULL);
}
