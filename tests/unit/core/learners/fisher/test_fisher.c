/* Fisher's discriminant: golden numbers, the generalised eigenproblem and its identities recomputed
 * from the data, and the relation to least squares. */
#include "unit/core/learners/fisher/fishers.h"

/* ---- golden numbers ---- */
static void golden(void **state) {
    struct csv *t = csv_named(*state);
    if (t == NULL) {
        skip();
        return;
    }
    json_t *root = golden_load();
    const json_t *g = json_object_get(json_object_get(root, *state), "fisher");
    double values[8], vectors[128];
    size_t n = golden_numbers(json_object_get(g, "eigenvalues"), values);
    assert_int_equal(golden_numbers(json_object_get(g, "directions_unit"), vectors), n * t->d);
    struct fit fit = fit_dense(t, NULL, NULL);
    assert_int_equal(n, t->K - 1);
    assert_int_equal(fit.out.n_components, n);
    for (size_t i = 0; i < n; i++) {
        assert_near(eigenvalue(&fit, i), values[i], 1e-9); /* asked for is 1e-6 */
    }
    if (t->K == 2) { /* the sign of the direction is arbitrary */
        double side = dot(fit.out.projection, vectors, t->d);
        for (size_t j = 0; j < t->d && side < 0; j++) {
            vectors[j] = -vectors[j];
        }
    }
    assert_close(fit.out.projection, vectors, n * t->d, 1e-8);
    assert_true(fit.report.converged && fit.report.n_warnings == 0);
    fit_done(&fit);
    json_decref(root);
    csv_free(t);
}

/* ---- the eigenproblem ---- */
static void eigenproblem(void **state) {
    (void)state;
    const char *const sets[] = {"iris", "wine", "breast_cancer"};
    for (size_t s = 0; s < 3; s++) {
        struct csv *t = csv_named(sets[s]);
        double *weight = xcalloc(t->n, sizeof *weight);
        for (size_t i = 0; i < t->n; i++) {
            weight[i] = (double)(i % 4) / 2;
        }
        struct scatters m = scatters_of(t, weight);
        struct fit fit = fit_dense(t, weight, NULL);
        for (size_t i = 0; i + 1 < t->K; i++) {
            const double *w = fit.out.projection + i * t->d;
            double rho = eigenvalue(&fit, i), within = form(m.within, t->d, w, w);
            assert_near(dot(w, w, t->d), 1, 1e-13);
            assert_near(form(m.between, t->d, w, w) / within, rho, 1e-9); /* J */
            for (size_t a = 0; a < t->d; a++) {
                double left = dot(m.between + a * t->d, w, t->d),
                       right = rho * dot(m.within + a * t->d, w, t->d);
                double size = sqrt(m.within[a * t->d + a] * within) * (1 + rho);
                assert_true(fabs(left - right) <= 1e-9 * size);
            }
            for (size_t j = 0; j < i; j++) { /* orthogonal in the metric of S_W */
                const double *u = fit.out.projection + j * t->d;
                assert_true(fabs(form(m.within, t->d, w, u)) <=
                            1e-9 * sqrt(within * form(m.within, t->d, u, u)));
                assert_true(eigenvalue(&fit, j) >= rho);
            }
        }
        assert_true(fisher_detail(&fit, "J") == eigenvalue(&fit, 0) &&
                    fit.report.objective == fisher_detail(&fit, "J"));
        scatters_done(&m);
        fit_done(&fit);
        free(weight);
        csv_free(t);
    }
}

/* Two classes: w is proportional to S_W⁻¹(m₂ − m₁), which maximises
 * J(w) = (w'(m₂ − m₁))²/(w'S_W w). For these data J(m₂ − m₁) is less than half of the maximum.
 * Least squares with targets ±1 gives a proportional w. */
static void two_classes(void **state) {
    (void)state;
    struct csv *t = csv_named("breast_cancer");
    size_t d = t->d;
    struct scatters m = scatters_of(t, NULL);
    dn_params *midpoint = fisher_params();
    OK(dn_params_set_word(midpoint, "threshold", "midpoint", NULL));
    struct fit fit = fit_dense(t, NULL, midpoint);
    dn_params_free(midpoint);
    double *delta = xcalloc(d, sizeof *delta), *w = fit.out.w, middle = 0;
    for (size_t j = 0; j < d; j++) {
        delta[j] = m.mean[d + j] - m.mean[j];
        middle += w[j] * (m.mean[j] + m.mean[d + j]) / 2;
    }
    assert_memory_equal(w, fit.out.projection, d * sizeof *w);
    assert_true(dot(w, delta, d) > 0);
    double within = form(m.within, d, w, w),
           ratio = dot(w, delta, d) / within; /* S_W w = (m₂ − m₁)/ratio … */
    for (size_t a = 0; a < d; a++) {
        assert_true(fabs(ratio * dot(m.within + a * d, w, d) - delta[a]) <=
                    1e-9 * sqrt(m.within[a * d + a]));
    }
    assert_near(fit.out.w0[0], -middle, 1e-9);
    assert_near(fisher_detail(&fit, "threshold"), middle, 1e-9);
    double j = dot(w, delta, d) * dot(w, delta, d) / within;
    assert_near(fisher_detail(&fit, "J_two_class"), j, 1e-9);
    assert_near(fisher_detail(&fit, "J"), j * m.count[0] * m.count[1] / m.n, 1e-9);
    assert_true(dot(delta, delta, d) * dot(delta, delta, d) / form(m.within, d, delta, delta) <
                0.5 * j);
    dn_params *p;
    dn_rows *rows;
    dn_run run = dn_run_default();
    struct fit squares = {0};
    OK(dn_params_new(dn_algorithm_find("least_squares"), &p, NULL));
    OK(dn_params_set_number(p, "lambda", 0, NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, d), t->target, NULL, &rows, NULL));
    OK(fit_rows(rows, 2, p, &run, &squares, NULL));
    double length = sqrt(dot(squares.out.w, squares.out.w, d));
    for (size_t a = 0; a < d; a++) {
        squares.out.w[a] /= length;
    }
    assert_close(squares.out.w, w, d, 1e-8);
    fit_done(&squares);
    fit_done(&fit);
    dn_rows_free(rows);
    dn_params_free(p);
    scatters_done(&m);
    free(delta);
    csv_free(t);
}

/* ---- thresholds ---- */
static double error_at(const struct csv *t, const double *weight, const double *w, double cut) {
    double wrong = 0, total = 0;
    for (size_t i = 0; i < t->n; i++) {
        wrong += (dot(w, t->x + i * t->d, t->d) > cut) != (t->target[i] > 0) ? weight[i] : 0;
        total += weight[i];
    }
    return wrong / total;
}

/* Compares the error of the threshold with that of every threshold between adjacent projections. */
static void least_error(void **state) {
    (void)state;
    dn_params *p = fisher_params();
    OK(dn_params_set_word(p, "threshold", "min_error", NULL));
    for (size_t skew = 0; skew < 4; skew++) {
        struct csv *t = csv_clouds(200, 2, 2);
        double weight[200];
        for (size_t i = 0; i < t->n; i++) {
            weight[i] = skew == 3 ? (double)(i % 3) : 1;
            if (t->target[i] > 0 && i % 5 == 0) {
                t->x[2 * i] +=
                    (double)(skew * 10); /* distant rows that move the midpoint of the means */
            }
            if (skew == 2) {
                t->x[2 * i] = round(t->x[2 * i]); /* many equal projections */
            }
            if (skew == 2) {
                t->x[2 * i + 1] = round(t->x[2 * i + 1] / 2);
            }
        }
        struct fit fit = fit_dense(t, weight, p);
        double cut = -fit.out.w0[0], own = error_at(t, weight, fit.out.w, cut),
               below = -(double)INFINITY, above = (double)INFINITY, middle = 0;
        struct scatters m = scatters_of(t, weight);
        for (size_t j = 0; j < 2; j++) {
            middle += fit.out.w[j] * (m.mean[j] + m.mean[2 + j]) / 2;
        }
        for (size_t i = 0; i < t->n; i++) {
            double at = dot(fit.out.w, t->x + 2 * i, 2), next = (double)INFINITY;
            if (weight[i] == 0) {
                continue;
            }
            if (at <= cut) {
                below = fmax(below, at);
            } else {
                above = fmin(above, at);
            }
            for (size_t k = 0; k < t->n; k++) {
                double other = dot(fit.out.w, t->x + 2 * k, 2);
                next = weight[k] > 0 && other > at + 1e-12 ? fmin(next, other) : next;
            }
            if (isinf(next)) {
                continue;
            }
            double error = error_at(t, weight, fit.out.w, (at + next) / 2);
            assert_true(error >= own - 1e-12);
            if (error <= own + 1e-12) {
                assert_true(fabs((at + next) / 2 - middle) >= fabs(cut - middle) - 1e-9);
            }
        }
        assert_near(cut, (below + above) / 2, 1e-9); /* the midpoint of adjacent projections */
        assert_true(fabs(fisher_detail(&fit, "threshold_error") - own) < 1e-12);
        assert_true(own <= error_at(t, weight, fit.out.w, middle));
        scatters_done(&m);
        fit_done(&fit);
        csv_free(t);
    }
    dn_params_free(p);
}

/* The threshold has no effect on more than two classes. */
static void classes_for_a_threshold(void **state) {
    (void)state;
    struct csv *t = csv_named("iris");
    dn_params *p = fisher_params();
    struct fit one = fit_dense(t, NULL, p), two;
    OK(dn_params_set_word(p, "threshold", "midpoint", NULL));
    two = fit_dense(t, NULL, p);
    assert_memory_equal(one.out.w, two.out.w, 3 * t->d * sizeof(double));
    assert_memory_equal(one.out.w0, two.out.w0, 3 * sizeof(double));
    fit_done(&one);
    fit_done(&two);
    dn_params_free(p);
    csv_free(t);
}

/* ---- K classes ---- */
/* Nearest mean in the metric (S_W/(n − K))⁻¹ with all directions: differences of scores, computed
 * by solving with S_W by elimination. */
static void solve(double *a, double *x, size_t d) {
    for (size_t i = 0; i < d; i++) {
        for (size_t r = i + 1; r < d; r++) {
            double f = a[r * d + i] / a[i * d + i];
            for (size_t c = i; c < d; c++) {
                a[r * d + c] -= f * a[i * d + c];
            }
            x[r] -= f * x[i];
        }
    }
    for (size_t i = d; i-- > 0;) {
        for (size_t c = i + 1; c < d; c++) {
            x[i] -= a[i * d + c] * x[c];
        }
        x[i] /= a[i * d + i];
    }
}

static void nearest_mean(void **state) {
    (void)state;
    struct csv *t = csv_named("wine");
    size_t d = t->d;
    const double priors[] = {0.2, 0.5, 0.3};
    struct scatters m = scatters_of(t, NULL);
    dn_params *p = fisher_params();
    double *a = xcalloc(d * d, sizeof *a), *x = xcalloc(d, sizeof *x);
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 1) {
            OK(dn_params_set_word(p, "priors", "equal", NULL));
        }
        if (kind == 2) {
            OK(dn_params_set_list(p, "priors", priors, 3, NULL));
        }
        struct fit fit = fit_dense(t, NULL, p);
        for (size_t k = 1; k < 3; k++) { /* g_k − g_0 = wᵀx + c, w = (n − K) S_W⁻¹(m_k − m_0) */
            double c = log(kind == 0   ? m.count[k] / m.count[0]
                           : kind == 1 ? 1
                                       : priors[k] / priors[0]);
            for (size_t j = 0; j < d; j++) {
                x[j] = (m.n - 3) * (m.mean[k * d + j] - m.mean[j]);
            }
            memcpy(a, m.within, d * d * sizeof *a);
            solve(a, x, d);
            for (size_t j = 0; j < d; j++) {
                c -= x[j] * (m.mean[k * d + j] + m.mean[j]) / 2;
            }
            for (size_t j = 0; j < d; j++) {
                assert_true(fabs(fit.out.w[k * d + j] - fit.out.w[j] - x[j]) <
                            1e-9 * (1 + fabs(x[j])));
            }
            assert_near(fit.out.w0[k] - fit.out.w0[0], c, 1e-9);
        }
        fit_done(&fit);
    }
    dn_params_free(p);
    p = fisher_params(); /* one direction: the scores vary only along this direction */
    OK(dn_params_set_number(p, "components", 1, NULL));
    struct fit fit = fit_dense(t, NULL, p);
    assert_int_equal(fit.out.n_components, 1);
    const double *u = fit.out.projection;
    for (size_t k = 0; k < 3; k++) {
        double along = dot(fit.out.w + k * d, u, d);
        for (size_t j = 0; j < d; j++) {
            assert_true(fabs(fit.out.w[k * d + j] - along * u[j]) < 1e-10 * fabs(along));
        }
        assert_near(along / sqrt((m.n - 3) / form(m.within, d, u, u)),
                    sqrt((m.n - 3) / form(m.within, d, u, u)) *
                        (dot(m.mean + k * d, u, d) - dot(m.overall, u, d)),
                    1e-8);
    }
    fit_done(&fit);
    OK(dn_params_set_number(p, "components", 3, NULL)); /* there are two */
    fit = fit_dense(t, NULL, p);
    assert_true(fit.out.n_components == 2 && fit.report.n_warnings == 1);
    fit_done(&fit);
    dn_params_free(p);
    scatters_done(&m);
    free(a);
    free(x);
    csv_free(t);
}

/* Three means on a line: the second eigenvalue is 0, and there is one direction. */
static void means_on_a_line(void **state) {
    (void)state;
    double x[24], target[12];
    for (size_t i = 0; i < 12; i++) {
        x[2 * i] = (double)(i / 4) * 3 + (i % 4 < 2 ? -1 : 1);
        x[2 * i + 1] = (double)(i / 4) * 3 + (i % 2 ? -2 : 2);
        target[i] = (double)(i / 4);
    }
    struct csv t = {.n = 12, .d = 2, .K = 3, .x = x, .target = target};
    struct fit fit = fit_dense(&t, NULL, NULL);
    assert_int_equal(fit.out.n_components, 1);
    assert_int_equal(fit.report.n_warnings, 1);
    assert_near(eigenvalue(&fit, 0), 4 * 2 * 9 * (1.0 / 12 + 1.0 / 48),
                1e-12); /* S_W = diag(12, 48), S_B = 72 11ᵀ */
    assert_near(fit.out.projection[0] / fit.out.projection[1], 4, 1e-12);
    fit_done(&fit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"golden iris", golden, NULL, NULL, "iris"},
        {"golden wine", golden, NULL, NULL, "wine"},
        {"golden breast_cancer", golden, NULL, NULL, "breast_cancer"},
        {"golden pima", golden, NULL, NULL, "pima"},
        cmocka_unit_test(eigenproblem),
        cmocka_unit_test(two_classes),
        cmocka_unit_test(least_error),
        cmocka_unit_test(classes_for_a_threshold),
        cmocka_unit_test(nearest_mean),
        cmocka_unit_test(means_on_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
