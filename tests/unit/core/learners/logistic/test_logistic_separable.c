/* Reports of fits without a penalty, for every solver: whether a minimum exists and whether it is
 * unique. */
#include "unit/core/learners/logistic/logistics.h"

static const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};

static void fit_all(const double *x, const double *y, size_t n, size_t d, size_t K,
                    const dn_params *p, struct fit *fit) {
    dn_rows *rows;
    dn_run run = dn_run_default();
    OK(dn_rows_from_matrix(dn_matrix_dense(x, n, d), y, NULL, &rows, NULL));
    OK(fit_rows(rows, K, p, &run, fit, NULL));
    dn_rows_free(rows);
}

/* Quasi-separable: a row of each class at x = 0. No finite minimum exists, although the gradient
 * vanishes along the sequence and no iterate separates the rows. */
static void quasi_separable(void **state) {
    (void)state;
    const double x[] = {-3, -2, -1, 0, 0, 1, 2, 3}, y[] = {0, 0, 0, 0, 1, 1, 1, 1},
                 three[] = {0, 0, 0, 0, 1, 1, 2, 2};
    for (size_t s = 0; s < 4; s++) {
        for (size_t K = 2; K <= 3; K++) {
            dn_params *p = params_of(solvers[s], 0);
            struct fit fit;
            fit_all(x, K == 2 ? y : three, 8, 1, K, p, &fit);
            assert_false(fit.report.converged);
            assert_int_not_equal(fit.report.stop_reason, DN_STOP_TOLERANCE);
            assert_true(logistic_warned(&fit.report, "quasi-completely separable"));
            assert_true(logistic_warned(&fit.report, "\"#0\""));
            fit_done(&fit);
            dn_params_free(p);
        }
    }
}

/* The rows are separable, but a few passes of gradient descent do not separate the rows. The report
 * describes the last iterate. */
static void separable_but_not_yet_separated(void **state) {
    (void)state;
    const double x[] = {-30, -0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, y[] = {0, 0, 1, 1, 1, 1, 1, 1};
    for (size_t s = 2; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 0);
        struct fit fit;
        OK(dn_params_set_number(p, "max_iterations", 5, NULL));
        OK(dn_params_set_number(p, "learning_rate", 1e-3, NULL));
        OK(dn_params_set_word(p, "init", "zero", NULL));
        fit_all(x, y, 8, 1, 2, p, &fit);
        assert_true(fit.report.iterations == 5 && !fit.report.converged);
        assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
        /* The second row is misclassified. */
        assert_true(-0.1 * fit.out.w[0] + fit.out.w0[0] > 0);
        assert_true(logistic_warned(&fit.report, "separable"));
        double gradient[2];
        assert_near(fit.report.objective,
                    reference_objective(x, y, NULL, 8, 1, 2, fit.out.w, fit.out.w0, 0, gradient),
                    1e-12);
        fit_done(&fit);
        dn_params_free(p);
    }
}

/* The rows overlap: no warning, and a descent that reaches its tolerance has converged. */
static void overlapping(void **state) {
    (void)state;
    const double x[] = {-3, -2, -1, 0.5, -0.5, 1, 2, 3}, y[] = {0, 0, 0, 0, 1, 1, 1, 1};
    for (size_t s = 0; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 0);
        struct fit fit;
        fit_all(x, y, 8, 1, 2, p, &fit);
        assert_true(fit.report.converged && fit.report.n_warnings == 0);
        assert_int_equal(fit.report.stop_reason, DN_STOP_TOLERANCE);
        fit_done(&fit);
        dn_params_free(p);
    }
}

/* A hundred rows with the class border at 0. Two rows lie 1e-9 beyond the border. The weights at
 * the minimum are large but finite. */
static void barely_overlapping(void **state) {
    (void)state;
    enum { HALF = 50, N = 2 * HALF };
    double x[N], y[N], gradient[2];
    for (size_t i = 0; i < HALF; i++) {
        x[i] = -1 + (1 - 1e-9) * (double)i / (HALF - 1);
        x[N - 1 - i] = -x[i];
        y[i] = 0;
        y[N - 1 - i] = 1;
    }
    y[HALF - 1] = 1;
    y[HALF] = 0;
    for (size_t s = 0; s < 2; s++) {
        dn_params *p = params_of(solvers[s], 0);
        struct fit fit;
        fit_all(x, y, N, 1, 2, p, &fit);
        assert_false(logistic_warned(&fit.report, "separable"));
        assert_true(fit.report.converged);
        assert_true(fabs(fit.out.w[0] - 858.7) < 0.1);
        reference_objective(x, y, NULL, N, 1, 2, fit.out.w, fit.out.w0, 0, gradient);
        assert_true(fabs(gradient[0]) < 1e-15);
        fit_done(&fit);
        dn_params_free(p);
    }
}

/* x₂ = x₀ + x₁: the result is the weight vector of least norm among those with the same scores. A
 * warning names the columns. */
static void dependent_columns(void **state) {
    (void)state;
    enum { N = 120, D = 3 };
    double x[N * D], y[N];
    for (size_t K = 2; K <= 3; K++) {
        for (size_t i = 0; i < N; i++) {
            double a = sin(1.7 * (double)i), b = cos(0.9 * (double)i),
                   c = a + 0.5 * b + 1.5 * sin(3.3 * (double)i);
            x[i * D] = a;
            x[i * D + 1] = b;
            x[i * D + 2] = a + b;
            y[i] = K == 2 ? c > 0 : c > 0.5 ? 2 : c > -0.5;
        }
        struct fit exact = {0};
        for (size_t s = 0; s < 4; s++) {
            dn_params *p = params_of(solvers[s], 0);
            struct fit fit;
            fit_all(x, y, N, D, K, p, &fit);
            assert_true(logistic_warned(&fit.report, "not unique") &&
                        logistic_warned(&fit.report, "\"#0\"") &&
                        logistic_warned(&fit.report, "\"#2\""));
            assert_true(fit.report.converged && fit.report.n_warnings == 1);
            double gradient[3 * (D + 1)];
            assert_near(fit.report.objective,
                        reference_objective(x, y, NULL, N, D, K, fit.out.w, fit.out.w0, 0,
                                            gradient),
                        1e-12);
            size_t S = dn_machine_n_scores(fit.out.machine);
            for (size_t k = 0; k < S; k++) {
                assert_true(fabs(fit.out.w[k * D] + fit.out.w[k * D + 1] - fit.out.w[k * D + 2]) <
                            1e-12);
            }
            for (size_t i = 0; s > 0 && i < S * D; i++) {
                assert_true(fabs(fit.out.w[i] - exact.out.w[i]) < 5e-3);
            }
            if (s == 0) {
                exact = fit;
            } else {
                fit_done(&fit);
            }
            dn_params_free(p);
        }
        fit_done(&exact);
    }
}

/* More features and rows than the limit of the check for linearly dependent columns. */
static void more_features_than_the_check_allows(void **state) {
    (void)state;
    struct problem t = problem_sparse(2100, 2100, 2, 5);
    for (size_t s = 0; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 0);
        OK(dn_params_set_number(p, "max_iterations", 3, NULL));
        struct fit fit = fit_problem(&t, p);
        assert_true(logistic_warned(&fit.report, "may not be unique"));
        fit_done(&fit);
        OK(dn_params_set_number(p, "lambda", 1e-3, NULL));
        fit = fit_problem(&t, p);
        assert_false(logistic_warned(&fit.report, "unique"));
        fit_done(&fit);
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

/* A start at which every probability is 0 or 1 and no row has curvature. */
static void start_far_from_the_boundary(void **state) {
    (void)state;
    const double x[] = {-3, -2, -1, 0.5, -0.5, 1, 2, 3}, y[] = {0, 0, 0, 0, 1, 1, 1, 1},
                 starts[][2] = {{-1e5, 0}, {1e5, 3e4}, {0, 1e5}};
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < 3; i++) {
            dn_params *p = params_of("newton", l == 0 ? 0 : 1e-3);
            struct fit near, far;
            fit_all(x, y, 8, 1, 2, p, &near);
            OK(dn_params_set_list(p, "init", starts[i], 2, NULL));
            fit_all(x, y, 8, 1, 2, p, &far);
            assert_true(far.report.converged && far.report.n_warnings == 0);
            assert_true(fabs(far.out.w[0] - near.out.w[0]) < 1e-6 &&
                        fabs(far.out.w0[0] - near.out.w0[0]) < 1e-6);
            fit_done(&near);
            fit_done(&far);
            dn_params_free(p);
        }
    }
}

/* For separable rows a gradient of 0 at such a start is not convergence. */
static void far_start_of_separable_rows(void **state) {
    (void)state;
    const double x[] = {-3, -2, -1, 1, 2, 3}, y[] = {0, 0, 0, 1, 1, 1}, start[] = {1e5, 0};
    for (size_t s = 0; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 0);
        struct fit fit;
        OK(dn_params_set_list(p, "init", start, 2, NULL));
        fit_all(x, y, 6, 1, 2, p, &fit);
        assert_false(fit.report.converged);
        assert_true(logistic_warned(&fit.report, "separable"));
        fit_done(&fit);
        dn_params_free(p);
    }
}

/* The check after gradient descent allocates at most the estimated memory, releases all memory and
 * can be cancelled. */
static void check_stops_and_frees_memory(void **state) {
    (void)state;
    struct problem t = problem_sparse(300, 40, 3, 4);
    for (size_t s = 2; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 0);
        OK(dn_params_set_number(p, "max_iterations", 3, NULL));
        struct meter meter = {0};
        dn_allocator allocator = {.allocate = meter_allocate,
                                  .release = meter_release,
                                  .ctx = &meter,
                                  .budgeted = false};
        struct polls polls = {0};
        dn_run run = polls_run(&polls);
        run.allocator = &allocator;
        struct fit fit;
        OK(fit_rows(t.rows, 3, p, &run, &fit, NULL));
        assert_true((double)meter.most <= estimated_memory(p, t.n, t.d, 3, 1));
        fit_done(&fit);
        assert_int_equal(meter.now, 0);
        size_t all = polls.n;
        for (size_t i = 1; i <= all; i++) {
            polls = (struct polls){.stop_at = i};
            assert_int_equal(fit_rows(t.rows, 3, p, &run, &fit, NULL), DN_ERR_STOPPED);
            assert_true(meter.now == 0 && polls.n == i);
        }
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quasi_separable),
        cmocka_unit_test(separable_but_not_yet_separated),
        cmocka_unit_test(overlapping),
        cmocka_unit_test(barely_overlapping),
        cmocka_unit_test(dependent_columns),
        cmocka_unit_test(more_features_than_the_check_allows),
        cmocka_unit_test(start_far_from_the_boundary),
        cmocka_unit_test(check_stops_and_frees_memory),
        cmocka_unit_test(far_start_of_separable_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
