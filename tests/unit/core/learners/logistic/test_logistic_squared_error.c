/* Logistic regression with the squared error: its gradient against finite differences, starts far
 * from the boundary, and starting weights. */
#include "unit/core/learners/logistic/logistics.h"

static struct problem clouds(size_t n, size_t d, size_t K, bool weighted) {
    struct csv *csv = csv_clouds(n, d, K);
    struct problem t = {.n = n, .d = d, .K = K};
    t.x = standardised(csv->x, n, d, NULL, NULL);
    t.target = xcalloc(n, sizeof(double));
    memcpy(t.target, csv->target, n * sizeof(double));
    if (weighted) {
        t.weight = xcalloc(n, sizeof(double));
        for (size_t i = 0; i < n; i++) {
            t.weight[i] = (double)(i % 4) / 2;
        }
    }
    csv_free(csv);
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, n, d), t.target, t.weight, &t.rows, NULL));
    return t;
}

static dn_params *squared_params(const char *solver, double lambda) {
    dn_params *p = params_of(solver, lambda);
    OK(dn_params_set_word(p, "loss", "squared_error", NULL));
    return p;
}

/* ∂/∂(parameter i) by central differences. */
static double slope_at(const struct problem *t, double *table, size_t i, double lambda) {
    const double h = 1e-5, here = table[i];
    table[i] = here + h;
    double up = squared_error(t, table, lambda);
    table[i] = here - h;
    double down = squared_error(t, table, lambda);
    table[i] = here;
    return (up - down) / (2 * h);
}

/* One step of the textbook's loop from a given start moves every weight by −rate·Σv·slope. The test
 * checks each component against the finite difference at the start. */
static void gradient_is_that_of_the_value(void **state) {
    (void)state;
    const double lambda = 0.03, rate = 0.01;
    for (size_t K = 2; K <= 4; K++) {
        for (int weighted = 0; weighted < 2; weighted++) {
            struct problem t = clouds(60, 3, K, weighted);
            size_t S = scores_of(&t), n = S * (t.d + 1);
            double *start = xcalloc(n, sizeof *start), total = 0;
            uint64_t seed = 99 + K;
            for (size_t i = 0; i < n; i++) {
                start[i] = 2 * logistic_random(&seed) - 1;
            }
            for (size_t i = 0; i < t.n; i++) {
                total += weighted ? t.weight[i] : 1;
            }
            /* The weights of the classes sum to 0, as in the result. */
            for (size_t k = 0; K > 2 && k < t.d + 1; k++) {
                double mean = 0;
                for (size_t s = 0; s < S; s++) {
                    mean += start[s * (t.d + 1) + k] / (double)S;
                }
                for (size_t s = 0; s < S; s++) {
                    start[s * (t.d + 1) + k] -= mean;
                }
            }
            dn_params *p = squared_params("gradient_descent", lambda);
            OK(dn_params_set_list(p, "init", start, n, NULL));
            OK(dn_params_set_number(p, "learning_rate", rate, NULL));
            OK(dn_params_set_number(p, "max_iterations", 1, NULL));
            struct fit fit = fit_problem(&t, p);
            double norm = 0;
            for (size_t k = 0; k < S; k++) {
                for (size_t j = 0; j <= t.d; j++) {
                    size_t i = k * (t.d + 1) + j;
                    double slope = slope_at(&t, start, i, lambda),
                           after = j < t.d ? fit.out.w[k * t.d + j] : fit.out.w0[k];
                    assert_true(fabs(after - (start[i] - rate * total * slope)) <= 1e-8);
                    norm += slope * slope;
                }
            }
            assert_near(logistic_detail(&fit.report, "gradient_norm_start"), sqrt(norm), 1e-6);
            for (size_t i = 0; i < n; i++) {
                start[i] = i % (t.d + 1) < t.d ? fit.out.w[i / (t.d + 1) * t.d + i % (t.d + 1)]
                                               : fit.out.w0[i / (t.d + 1)];
            }
            assert_near(fit.report.objective, squared_error(&t, start, lambda), 1e-12);
            fit_done(&fit);
            dn_params_free(p);
            free(start);
            logistic_problem_done(&t);
        }
    }
}

/* Each gradient solver ends at a point with finite differences of 0 and an objective below that of
 * the start. The report warns that other minima may exist. */
static void solvers_end_at_stationary_points(void **state) {
    (void)state;
    const char *const solvers[] = {"auto", "lbfgs", "gradient_descent", "sgd"};
    for (size_t K = 2; K <= 3; K++) {
        struct problem t = clouds(200, 3, K, false);
        size_t S = scores_of(&t), n = S * (t.d + 1);
        double *table = xcalloc(n, sizeof *table), first = 0;
        for (size_t s = 0; s < 4; s++) {
            dn_params *p = squared_params(solvers[s], 1e-3);
            struct fit fit = fit_problem(&t, p);
            assert_true(fit.report.converged && logistic_warned(&fit.report, "not convex"));
            for (size_t i = 0; i < n; i++) {
                table[i] = i % (t.d + 1) < t.d ? fit.out.w[i / (t.d + 1) * t.d + i % (t.d + 1)]
                                               : fit.out.w0[i / (t.d + 1)];
            }
            for (size_t i = 0; i < n; i++) {
                assert_true(fabs(slope_at(&t, table, i, 1e-3)) <=
                            logistic_detail(&fit.report, "tolerance") + 1e-8);
            }
            assert_near(fit.report.objective, squared_error(&t, table, 1e-3), 1e-12);
            /* The right-hand side is the objective of equal probabilities. */
            assert_true(fit.report.objective < (K == 2 ? 0.125 : 1.0 / 3));
            if (s == 0) {
                first = fit.report.objective;
            }
            /* These clouds have one minimum. */
            assert_near(fit.report.objective, first, 1e-3);
            fit_done(&fit);
            dn_params_free(p);
        }
        free(table);
        logistic_problem_done(&t);
    }
}

/* With l1: exact zeros, where the slope is at most lambda. */
static void squared_with_l1(void **state) {
    (void)state;
    const char *const solvers[] = {"lbfgs", "gradient_descent", "sgd"};
    struct problem t = clouds(300, 5, 2, true);
    for (size_t s = 0; s < 3; s++) {
        dn_params *p = squared_params(solvers[s], 0.02);
        OK(dn_params_set_word(p, "penalty", "l1", NULL));
        struct fit fit = fit_problem(&t, p);
        double table[6];
        memcpy(table, fit.out.w, 5 * sizeof *table);
        table[5] = fit.out.w0[0];
        size_t zeros = 0;
        for (size_t j = 0; j < 5; j++) {
            double slope = slope_at(&t, table, j, 0);
            zeros += table[j] == 0;
            assert_true(table[j] == 0 ? fabs(slope) <= 0.02 + 1e-4
                                      : fabs(slope + (table[j] > 0 ? 0.02 : -0.02)) <= 1e-4);
        }
        assert_true(zeros >= 1 && zeros < 5);
        fit_done(&fit);
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

/* A start that puts every row far on the wrong side. The gradient of the
 * squared error vanishes, so that fit does not move. The gradient of the cross-entropy is at its
 * largest, so that fit converges. */
static void far_start_of_the_textbook(void **state) {
    (void)state;
    double x[] = {-2, -1.5, -1, 1, 1.5, 2}, y[] = {0, 0, 0, 1, 1, 1};
    const double start[] = {-20, 0};
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 6, 1), y, NULL, &rows, NULL));
    dn_run run = dn_run_default();
    double norm[2];
    for (int squared = 0; squared < 2; squared++) {
        dn_params *p = params_of("gradient_descent", 0);
        OK(dn_params_set_word(p, "loss", squared ? "squared_error" : "cross_entropy", NULL));
        OK(dn_params_set_list(p, "init", start, 2, NULL));
        OK(dn_params_set_number(p, "learning_rate", 0.5, NULL));
        OK(dn_params_set_number(p, "max_iterations", 100, NULL));
        struct fit fit;
        OK(fit_rows(rows, 2, p, &run, &fit, NULL));
        norm[squared] = logistic_detail(&fit.report, "gradient_norm_start");
        assert_true(squared ? fit.out.w[0] < -19 : fit.out.w[0] > 0);
        /* Within the tolerance at the start: the report has a warning. */
        if (squared) {
            assert_true(
                fit.report.iterations == 0 &&
                logistic_warned(&fit.report, "at the start is within the tolerance already"));
            assert_near(fit.report.objective, 0.5, 1e-6);
        }
        fit_done(&fit);
        dn_params_free(p);
    }
    /* the norm is the mean of |x|, because every residual is 1 */
    assert_near(norm[0], 1.5, 1e-6);
    assert_true(norm[1] < 1e-8);
    dn_rows_free(rows);
}

/* A list sets the start of every solver, in units of the reported weights. Its length is checked
 * once the number of features is known. */
static void starts_from_a_list(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    struct problem t = problem_named("iris", false);
    double start[15];
    for (size_t i = 0; i < 15; i++) {
        start[i] = sin((double)i) / 4;
    }
    for (size_t s = 0; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 1e-3);
        OK(dn_params_set_list(p, "init", start, 15, NULL));
        OK(dn_params_set_number(p, "max_iterations", 1, NULL));
        struct fit fit = fit_problem(&t, p);
        double w[12], w0[3], gradient[15], norm = 0;
        for (size_t i = 0; i < 15; i++) {
            *(i % 5 < 4 ? &w[i / 5 * 4 + i % 5] : &w0[i / 5]) = start[i];
        }
        reference_objective(t.x, t.target, NULL, t.n, 4, 3, w, w0, 1e-3, gradient);
        for (size_t i = 0; i < 15; i++) {
            norm += gradient[i] * gradient[i];
        }
        assert_near(logistic_detail(&fit.report, "gradient_norm_start"), sqrt(norm), 1e-9);
        fit_done(&fit);
        dn_error err = {0};
        dn_run run = dn_run_default();
        OK(dn_params_set_list(p, "init", start, 5, NULL));
        assert_int_equal(fit_rows(t.rows, 3, p, &run, &fit, &err), DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "init");
        assert_non_null(strstr(err.message, "15 numbers"));
        assert_non_null(strstr(err.message, "(got 5)"));
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

static void newton_is_refused(void **state) {
    (void)state;
    dn_params *p = squared_params("newton", 1e-3);
    dn_error err = {0};
    assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "solver");
    assert_non_null(strstr(err.message, "not convex"));
    OK(dn_params_set_word(p, "solver", "auto", NULL));
    OK(dn_params_check(p, NULL));
    OK(dn_params_resolve(p, 100, 3, 2, NULL));
    assert_string_equal(dn_params_word(p, "solver"), "lbfgs");
    dn_params_free(p);
}

/* No curvature at any scores exceeds the bound, and the maximum is close to the bound. For one row
 * and one feature of value 1 the sum Σ equals the loss ℓ. */
static void curvature_is_bounded(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        double x[1] = {0}, y[3] = {0, 1, 2}, bound;
        struct problem t = {.n = 1, .d = 1, .K = K, .x = x, .target = y};
        double column[3] = {1, -1, 0}, most = 0;
        dn_rows *rows;
        OK(dn_rows_from_matrix(dn_matrix_dense(column, K, 1), y, NULL, &rows, NULL));
        dn_params *p = squared_params("gradient_descent", 0);
        OK(dn_params_set_number(p, "max_iterations", 1, NULL));
        dn_run run = dn_run_default();
        struct fit fit;
        OK(fit_rows(rows, K, p, &run, &fit, NULL));
        /* The largest eigenvalue of the mean of [x, 1][x, 1]'. Both columns have mean square 1 (K =
         * 2); x has 2/3 (K = 3). */
        double largest = 1;
        bound = logistic_detail(&fit.report, "curvature_bound") / largest;
        uint64_t seed = 5;
        for (int trial = 0; trial < 20000; trial++) {
            double table[6] = {0}, direction[3], length = 0;
            size_t S = scores_of(&t);
            for (size_t k = 0; k < S; k++) {
                table[2 * k + 1] = 6 * logistic_random(&seed) - 3;
                direction[k] = logistic_random(&seed) - 0.5;
                length += direction[k] * direction[k];
            }
            double here = squared_error(&t, table, 0), sum = -2 * here;
            const double h = 1e-3;
            for (int side = -1; side <= 1; side += 2) {
                double moved[6] = {0};
                for (size_t k = 0; k < S; k++) {
                    moved[2 * k + 1] = table[2 * k + 1] + side * h * direction[k] / sqrt(length);
                }
                sum += squared_error(&t, moved, 0);
            }
            most = fmax(most, fabs(sum) / (h * h));
        }
        assert_true(most <= bound && most >= 0.9 * bound);
        fit_done(&fit);
        dn_rows_free(rows);
        dn_params_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_that_of_the_value),
        cmocka_unit_test(solvers_end_at_stationary_points),
        cmocka_unit_test(squared_with_l1),
        cmocka_unit_test(far_start_of_the_textbook),
        cmocka_unit_test(starts_from_a_list),
        cmocka_unit_test(newton_is_refused),
        cmocka_unit_test(curvature_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
