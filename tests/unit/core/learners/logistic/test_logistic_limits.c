/* Limits of the data, each with its warning: separable classes, dependent columns, constants,
 * extreme numbers. */
#include "unit/core/support.h"

static dn_status try_fit(const double *x, const double *y, size_t n, size_t d, size_t K,
                         const dn_params *p, struct fit *fit, dn_error *err) {
    dn_rows *rows;
    dn_run run = dn_run_default();
    OK(dn_rows_from_matrix(dn_matrix_dense(x, n, d), y, NULL, &rows, NULL));
    dn_status status = fit_rows(rows, K, p, &run, fit, err);
    dn_rows_free(rows);
    return status;
}

static bool warned(const dn_report *report, const char *words) {
    for (size_t i = 0; i < report->n_warnings; i++) {
        if (strstr(report->warnings[i].text, words) != NULL) {
            return true;
        }
    }
    return false;
}

static void complete_separation(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    const double x[] = {-3, -2, -1, 1, 2, 4}, y[] = {0, 0, 0, 1, 1, 1},
                 three[] = {0, 0, 1, 1, 2, 2};
    for (size_t s = 0; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 0);
        struct fit fit;
        OK(try_fit(x, y, 6, 1, 2, p, &fit, NULL));
        assert_false(fit.report.converged);
        /* The gradient descents make the maximum number of passes. */
        if (s < 2) {
            assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARABLE);
        }
        assert_true(warned(&fit.report, "the classes are completely separable: without a penalty"));
        assert_true(warned(&fit.report, "\"#0\""));
        fit_done(&fit);
        /* On a line two of three scores suffice to separate three classes. */
        if (s < 2) {
            OK(try_fit(x, three, 6, 1, 3, p, &fit, NULL));
            assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARABLE);
            fit_done(&fit);
        }
        dn_params_free(p);
        /* With a penalty a minimum exists. */
        p = params_of(solvers[s], 1e-2);
        OK(try_fit(x, y, 6, 1, 2, p, &fit, NULL));
        assert_false(warned(&fit.report, "separable"));
        assert_true(fit.report.converged || s == 3);
        fit_done(&fit);
        dn_params_free(p);
    }
}

static void quasi_separation(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs"};
    /* The classes touch only in the two rows at x₁ = 0. */
    const double x[] = {-2, 5, -1, 3, 0, 1, 0, 2, 1, 7, 2, 4}, y[] = {0, 0, 0, 1, 1, 1};
    for (size_t s = 0; s < 2; s++) {
        dn_params *p = params_of(solvers[s], 0);
        struct fit fit;
        const double line[] = {-2, -1, 0, 0, 1, 2};
        OK(try_fit(line, y, 6, 1, 2, p, &fit, NULL));
        assert_false(fit.report.converged);
        assert_true(warned(&fit.report, "separable"));
        fit_done(&fit);
        /* x₂ separates the two rows with x₁ = 0: complete separation. */
        OK(try_fit(x, y, 6, 2, 2, p, &fit, NULL));
        assert_false(fit.report.converged);
        fit_done(&fit);
        dn_params_free(p);
    }
}

/* One sample (1,1) of the first class, four each of (1,0), (0,1), (0,0)
 * of the second. */
static void thirteen_samples(void **state) {
    (void)state;
    double x[26], y[13];
    for (size_t i = 0; i < 13; i++) {
        x[2 * i] = i == 0 || (i >= 1 && i < 5);
        x[2 * i + 1] = i == 0 || (i >= 5 && i < 9);
        y[i] = i != 0;
    }
    dn_params *p = params_of("auto", 1e-4);
    struct fit fit;
    OK(try_fit(x, y, 13, 2, 2, p, &fit, NULL));
    double g = fit.out.w[0] + fit.out.w[1] + fit.out.w0[0];
    assert_true(fabs(1 / (1 + exp(g)) - 0.957) < 5e-4);
    fit_done(&fit);
    OK(dn_params_set_number(p, "lambda", 0, NULL));
    OK(try_fit(x, y, 13, 2, 2, p, &fit, NULL));
    assert_true(warned(&fit.report, "separable"));
    fit_done(&fit);
    dn_params_free(p);
}

/* Weights of least norm: orthogonal to the linear combination of columns that is 0, and the
 * gradient vanishes. */
static void dependent_columns(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs"};
    enum { N = 200, D = 4 };
    double *x = xcalloc(N * D, sizeof *x), *y = xcalloc(N, sizeof *y);
    for (size_t K = 2; K <= 3; K++) {
        for (size_t s = 0; s < 2; s++) {
            for (size_t i = 0; i < N; i++) {
                double a = sin(1.7 * (double)i), b = 3 * cos(0.9 * (double)i);
                x[i * D] = a;
                x[i * D + 1] = b;
                x[i * D + 2] = 2 * a - b + 1; /* 2x₀ − x₁ − x₂ + 1 = 0 */
                x[i * D + 3] = 0.1;           /* constant */
                double c = a + 0.3 * b + 1.5 * sin(3.3 * (double)i);
                y[i] = K == 2 ? c > 0 : c > 0.5 ? 2 : c > -0.5;
            }
            dn_params *p = params_of(solvers[s], 0);
            struct fit fit;
            OK(try_fit(x, y, N, D, K, p, &fit, NULL));
            assert_true(fit.report.converged);
            assert_true(warned(&fit.report, "not unique"));
            double gradient[15];
            double value =
                reference_objective(x, y, NULL, N, D, K, fit.out.w, fit.out.w0, 0, gradient);
            assert_near(fit.report.objective, value, 1e-10);
            for (size_t k = 0; k < dn_machine_n_scores(fit.out.machine); k++) {
                const double *w = fit.out.w + k * D;
                assert_true(fabs(2 * w[0] - w[1] - w[2]) < 1e-8);
                assert_true(w[3] == 0);
                for (size_t j = 0; j <= D; j++) {
                    assert_true(fabs(gradient[k * (D + 1) + j]) < 1e-7);
                }
            }
            fit_done(&fit);
            /* A penalty makes the weights unique. */
            OK(dn_params_set_number(p, "lambda", 1e-3, NULL));
            OK(try_fit(x, y, N, D, K, p, &fit, NULL));
            assert_true(fit.report.converged && fit.report.n_warnings == 0);
            for (size_t k = 0; k < dn_machine_n_scores(fit.out.machine); k++) {
                assert_true(fit.out.w[k * D + 3] == 0);
            }
            fit_done(&fit);
            dn_params_free(p);
        }
    }
    free(x);
    free(y);
}

/* Sparse 1-of-K columns with an intercept: the columns of a factor sum to 1 in every row. The
 * weights of least norm therefore sum to 0 over the columns of a factor. */
static void one_of_k_without_penalty(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs"};
    enum { N = 240, D = 9 }; /* levels 0 … 3 and 4 … 8 */
    double values[2 * N], y[N], x[N * D] = {0};
    uint32_t cols[2 * N];
    size_t start[N + 1] = {0};
    for (size_t i = 0; i < N; i++) {
        cols[2 * i] = (uint32_t)(i % 4);
        cols[2 * i + 1] = (uint32_t)(4 + i / 4 % 5);
        values[2 * i] = values[2 * i + 1] = 1;
        start[i + 1] = 2 * i + 2;
        y[i] = (i * i + i / 7 + i % 4 * (i % 3)) % 5 < 2;
        x[i * D + cols[2 * i]] = x[i * D + cols[2 * i + 1]] = 1;
    }
    for (size_t s = 0; s < 2; s++) {
        dn_params *p = params_of(solvers[s], 0);
        dn_rows *rows;
        dn_run run = dn_run_default();
        struct fit fit;
        OK(dn_rows_from_matrix(dn_matrix_csr(start, cols, values, N, D), y, NULL, &rows, NULL));
        OK(fit_rows(rows, 2, p, &run, &fit, NULL));
        assert_true(fit.report.converged);
        assert_true(warned(&fit.report, "not unique"));
        const double *w = fit.out.w;
        assert_true(fabs(w[0] + w[1] + w[2] + w[3]) < 1e-9 &&
                    fabs(w[4] + w[5] + w[6] + w[7] + w[8]) < 1e-9);
        double gradient[D + 1];
        reference_objective(x, y, NULL, N, D, 2, w, fit.out.w0, 0, gradient);
        for (size_t j = 0; j <= D; j++) {
            assert_true(fabs(gradient[j]) < 1e-9);
        }
        fit_done(&fit);
        dn_rows_free(rows);
        dn_params_free(p);
    }
}

static void extreme_penalty(void **state) {
    (void)state;
    const double x[] = {-2, -1, 1, 2, 3}, y[] = {0, 0, 1, 1, 1}, lambdas[] = {1e6, 1e20, 1e300};
    const char *const solvers[] = {"newton", "lbfgs"};
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < 3; i++) {
            dn_params *p = params_of(solvers[s], lambdas[i]);
            struct fit fit;
            OK(try_fit(x, y, 5, 1, 2, p, &fit, NULL));
            assert_true(fit.report.converged);
            assert_true(fabs(fit.out.w[0]) < 1e-5);
            /* The intercept is never penalised. */
            assert_near(fit.out.w0[0], log(3.0 / 2.0), 1e-5);
            fit_done(&fit);
            dn_params_free(p);
        }
    }
}

static void extreme_numbers(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    const double sizes[] = {1e300, 1e160, 1e100, 1e-100, 1e-300};
    for (size_t s = 0; s < 4; s++) {
        for (size_t i = 0; i < 5; i++) {
            double x[] = {-3 * sizes[i], -sizes[i], sizes[i], 2 * sizes[i], -2 * sizes[i]},
                   y[] = {0, 0, 1, 1, 1};
            dn_params *p = params_of(solvers[s], 1e-3);
            OK(dn_params_set_number(p, "max_iterations", 50, NULL));
            struct fit fit = {0};
            dn_error err = {0};
            dn_status status = try_fit(x, y, 5, 1, 2, p, &fit, &err);
            if (status == DN_OK) {
                assert_true(isfinite(fit.out.w[0]) && isfinite(fit.out.w0[0]) &&
                            isfinite(fit.report.objective));
            } else {
                assert_int_equal(status, DN_ERR_NUMERIC);
                assert_true(strlen(err.message) > 20);
            }
            fit_done(&fit);
            dn_params_free(p);
        }
    }
}

/* A column far from 0 keeps its precision: the same result as for the column shifted to 0. */
static void far_columns(void **state) {
    (void)state;
    enum { N = 400 };
    double x[N], z[N], y[N];
    for (size_t i = 0; i < N; i++) {
        z[i] = 1000 * sin(1.1 * (double)i);
        x[i] = 1.6e9 + z[i];
        y[i] = sin(1.1 * (double)i) + sin(2.7 * (double)i) > 0;
    }
    dn_params *p = params_of("newton", 0);
    struct fit far, near;
    OK(try_fit(x, y, N, 1, 2, p, &far, NULL));
    OK(try_fit(z, y, N, 1, 2, p, &near, NULL));
    assert_true(far.report.converged);
    assert_near(far.out.w[0], near.out.w[0], 1e-6);
    assert_near(far.report.objective, near.report.objective, 1e-9);
    fit_done(&far);
    fit_done(&near);
    dn_params_free(p);
}

static void tiny_tables(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    const double one[] = {1, 2}, same[] = {1, 1, 1}, two[] = {0, 1}, three[] = {0, 1, 2};
    for (size_t s = 0; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 1e-3);
        struct fit fit;
        OK(try_fit(one, two, 2, 1, 2, p, &fit, NULL));
        assert_true(fit.out.w[0] > 1);
        fit_done(&fit);
        /* Identical rows: every class has the same probability. */
        OK(try_fit(same, three, 3, 1, 3, p, &fit, NULL));
        assert_true(fabs(fit.report.objective - log(3)) < 1e-4);
        fit_done(&fit);
        dn_params_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_separation),
        cmocka_unit_test(quasi_separation),
        cmocka_unit_test(thirteen_samples),
        cmocka_unit_test(dependent_columns),
        cmocka_unit_test(one_of_k_without_penalty),
        cmocka_unit_test(extreme_penalty),
        cmocka_unit_test(extreme_numbers),
        cmocka_unit_test(far_columns),
        cmocka_unit_test(tiny_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
