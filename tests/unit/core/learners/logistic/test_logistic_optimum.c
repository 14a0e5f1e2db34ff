/* Logistic regression: the gradient of the stated objective at the returned weights, recomputed
 * from the data, and the changes of the input that must not change the result. */
#include "unit/core/learners/logistic/logistics.h"

/* The gradient recomputed by plain loops is 0 in every variable, relative to the size of its
 * column. */
static void assert_optimal(const struct csv *t, const double *x, const double *weight,
                           double lambda, const struct fit *fit, double tolerance) {
    size_t S = t->K == 2 ? 1 : t->K;
    double *gradient = xcalloc(S * (t->d + 1), sizeof *gradient);
    double value = reference_objective(x, t->target, weight, t->n, t->d, t->K, fit->out.w,
                                       fit->out.w0, lambda, gradient);
    assert_near(fit->report.objective, value, 1e-10);
    double norm = 0;
    for (size_t k = 0; k < S; k++) {
        for (size_t j = 0; j <= t->d; j++) {
            double size = 1;
            for (size_t i = 0; j < t->d && i < t->n; i++) {
                size = fmax(size, fabs(x[i * t->d + j]));
            }
            double g = gradient[k * (t->d + 1) + j];
            norm += g * g;
            if (!(fabs(g) <= tolerance * size)) {
                fail_msg("gradient %g of score %zu, feature %zu of size %g", g, k, j, size);
            }
        }
    }
    assert_true(fabs(sqrt(norm) - fit->report.gradient_norm) <= 1e-8 * (1 + sqrt(norm)));
    free(gradient);
}

static struct fit fit_dense(const struct csv *t, const double *x, const double *weight,
                            const dn_params *p) {
    dn_rows *rows;
    dn_run run = dn_run_default();
    struct fit fit;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, t->n, t->d), t->target, weight, &rows, NULL));
    OK(fit_rows(rows, t->K, p, &run, &fit, NULL));
    dn_rows_free(rows);
    return fit;
}

static void gradient_vanishes_on_raw_columns(void **state) {
    (void)state;
    const char *const names[] = {"iris", "wine", "breast_cancer"};
    const char *const solvers[] = {"newton", "lbfgs"};
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < 3; i++) {
            struct csv *t = csv_named(names[i]);
            dn_params *p = params_of(solvers[s], 1e-3);
            struct fit fit = fit_dense(t, t->x, NULL, p);
            assert_true(fit.report.converged);
            assert_optimal(t, t->x, NULL, 1e-3, &fit, 1e-8);
            if (t->K > 2) { /* symmetric form */
                for (size_t j = 0; j < t->d; j++) {
                    assert_true(fabs(fit.out.w[j] + fit.out.w[t->d + j] +
                                     fit.out.w[2 * t->d + j]) <= 1e-12);
                }
            }
            fit_done(&fit);
            dn_params_free(p);
            csv_free(t);
        }
    }
}

static void weights_are_repeated_rows(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(300, 3, K);
        double *weight = xcalloc(t->n, sizeof *weight), *x2 = xcalloc(2 * t->n * t->d, sizeof *x2),
               *y2 = xcalloc(2 * t->n, sizeof *y2);
        size_t n2 = 0;
        for (size_t i = 0; i < t->n; i++) {
            weight[i] = (double)(i % 3); /* 0, 1 or 2 times */
            for (size_t r = 0; r < i % 3; r++, n2++) {
                memcpy(x2 + n2 * t->d, t->x + i * t->d, t->d * sizeof *x2);
                y2[n2] = t->target[i];
            }
        }
        dn_params *p = params_of("newton", 1e-2);
        struct fit weighted = fit_dense(t, t->x, weight, p);
        assert_optimal(t, t->x, weight, 1e-2, &weighted, 1e-8);
        struct csv repeated = {.n = n2, .d = t->d, .K = K, .x = x2, .target = y2};
        struct fit twice = fit_dense(&repeated, x2, NULL, p);
        assert_close(weighted.out.w, twice.out.w, dn_machine_n_scores(weighted.out.machine) * t->d,
                     1e-8);
        assert_close(weighted.out.w0, twice.out.w0, dn_machine_n_scores(weighted.out.machine),
                     1e-8);
        fit_done(&weighted);
        fit_done(&twice);
        dn_params_free(p);
        free(weight);
        free(x2);
        free(y2);
        csv_free(t);
    }
}

static void order_of_rows_does_not_change_the_result(void **state) {
    (void)state;
    struct csv *t = csv_named("wine");
    double *x = xcalloc(t->n * t->d, sizeof *x), *y = xcalloc(t->n, sizeof *y);
    for (size_t i = 0; i < t->n; i++) {
        /* 55 and 178 have no common divisor: a permutation. */
        size_t from = i * 55 % t->n;
        memcpy(x + i * t->d, t->x + from * t->d, t->d * sizeof *x);
        y[i] = t->target[from];
    }
    dn_params *p = params_of("lbfgs", 1e-2);
    struct fit one = fit_dense(t, t->x, NULL, p);
    struct csv other = {.n = t->n, .d = t->d, .K = t->K, .x = x, .target = y};
    struct fit two = fit_dense(&other, x, NULL, p);
    assert_close(one.out.w, two.out.w, 3 * t->d, 1e-6);
    fit_done(&one);
    fit_done(&two);
    dn_params_free(p);
    free(x);
    free(y);
    csv_free(t);
}

/* x/c with λ equals x with λc²: the same scores. Raw pixels with lambda = 6.5 behave like
 * pixels/255 with 1e-4 and take about the same number of passes. */
static void scaling_scales_the_penalty(void **state) {
    (void)state;
    struct csv *t = csv_named("digits");
    double *x = xcalloc(t->n * t->d, sizeof *x);
    for (size_t i = 0; i < t->n * t->d; i++) {
        x[i] = t->x[i] * 16;
    }
    dn_params *p = params_of("lbfgs", 1e-4), *q = params_of("lbfgs", 1e-4 * 256);
    struct fit small = fit_dense(t, t->x, NULL, p), large = fit_dense(t, x, NULL, q);
    assert_near(small.report.objective, large.report.objective, 1e-9);
    for (size_t i = 0; i < dn_machine_n_scores(small.out.machine) * t->d; i++) {
        large.out.w[i] *= 16;
    }
    assert_close(large.out.w, small.out.w, dn_machine_n_scores(small.out.machine) * t->d, 1e-5);
    assert_true(large.report.iterations <= small.report.iterations * 5 / 4 + 2);
    fit_done(&small);
    fit_done(&large);
    dn_params_free(p);
    dn_params_free(q);
    free(x);
    csv_free(t);
}

static void sparse_rows_are_dense_rows(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    for (size_t K = 2; K <= 3; K++) {
        for (size_t s = 0; s < 4; s++) {
            enum { N = 500, D = 40 };
            struct csv t = {.n = N, .d = D, .K = K};
            double *x = xcalloc(N * D, sizeof *x), *values = xcalloc(N * D, sizeof *values);
            uint32_t *cols = xcalloc(N * D, sizeof *cols);
            size_t *start = xcalloc(N + 1, sizeof *start), entries = 0;
            double *y = xcalloc(N, sizeof *y);
            for (size_t i = 0; i < N; i++) {
                y[i] = (double)((i * i + i / 3) % K);
                for (size_t j = 0; j < D; j++) {
                    double value = (i * 31 + j * 17 + i * j) % 11 == 0
                                       ? 1 + (double)((i + j) % 3) + (j == (size_t)y[i] ? 2 : 0)
                                       : 0;
                    if (s == 3 && j == 5) {
                        /* A dense column among the sparse ones. */
                        value = 1;
                    }
                    x[i * D + j] = value;
                    if (value != 0) {
                        cols[entries] = (uint32_t)j;
                        values[entries++] = value;
                    }
                }
                start[i + 1] = entries;
            }
            t.x = x;
            t.target = y;
            dn_params *p = params_of(solvers[s], 1e-2);
            struct fit dense = fit_dense(&t, x, NULL, p), sparse;
            dn_rows *rows;
            dn_run run = dn_run_default();
            OK(dn_rows_from_matrix(dn_matrix_csr(start, cols, values, N, D), y, NULL, &rows, NULL));
            OK(fit_rows(rows, K, p, &run, &sparse, NULL));
            double tolerance = s < 2 ? 1e-7 : 1e-3;
            assert_close(sparse.out.w, dense.out.w, dn_machine_n_scores(dense.out.machine) * D,
                         tolerance);
            assert_near(sparse.report.objective, dense.report.objective, 1e-6);
            if (s < 2) {
                assert_optimal(&t, x, NULL, 1e-2, &sparse, 1e-8);
            }
            fit_done(&dense);
            fit_done(&sparse);
            dn_rows_free(rows);
            dn_params_free(p);
            free(x);
            free(values);
            free(cols);
            free(start);
            free(y);
        }
    }
}

/* 10,000 rows are three blocks. Partial sums in another order and more slots give the same
 * bytes. */
static void threads_do_not_change_the_result(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    for (size_t K = 2; K <= 3; K++) {
        struct csv *t = csv_clouds(20000, 3, K);
        for (size_t s = 0; s < 4; s++) {
            dn_params *p = params_of(solvers[s], 1e-2);
            OK(dn_params_set_number(p, "max_iterations", 8, NULL));
            dn_rows *rows;
            OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows,
                                   NULL));
            dn_run serial = dn_run_default(), ranges = dn_run_default();
            ranges.n_slots = 3;
            ranges.sum = sum_in_ranges;
            ranges.each = each_in_reverse;
            struct fit one, two;
            OK(fit_rows(rows, K, p, &serial, &one, NULL));
            OK(fit_rows(rows, K, p, &ranges, &two, NULL));
            assert_memory_equal(one.out.w, two.out.w,
                                dn_machine_n_scores(one.out.machine) * t->d * sizeof(double));
            assert_memory_equal(one.out.w0, two.out.w0,
                                dn_machine_n_scores(one.out.machine) * sizeof(double));
            assert_true(one.report.objective == two.report.objective);
            fit_done(&one);
            fit_done(&two);
            dn_rows_free(rows);
            dn_params_free(p);
        }
        csv_free(t);
    }
}

static void seed_decides(void **state) {
    (void)state;
    struct csv *t = csv_clouds(400, 3, 3);
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows, NULL));
    dn_params *p = params_of("sgd", 1e-2);
    OK(dn_params_set_number(p, "max_iterations", 3, NULL));
    dn_run run = dn_run_default(), other = dn_run_default();
    other.seed = 2;
    struct fit a, b, c;
    OK(fit_rows(rows, 3, p, &run, &a, NULL));
    OK(fit_rows(rows, 3, p, &run, &b, NULL));
    OK(fit_rows(rows, 3, p, &other, &c, NULL));
    assert_memory_equal(a.out.w, b.out.w, 9 * sizeof(double));
    assert_memory_not_equal(a.out.w, c.out.w, 9 * sizeof(double));
    fit_done(&a);
    fit_done(&b);
    fit_done(&c);
    dn_params_free(p);
    dn_rows_free(rows);
    csv_free(t);
}

static void memory_runs_out(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    struct csv *t = csv_clouds(100, 3, 3);
    for (size_t s = 0; s < 4; s++) {
        for (int penalised = 0; penalised < 2; penalised++) {
            dn_params *p = params_of(solvers[s], penalised ? 1e-2 : 0);
            OK(dn_params_set_number(p, "max_iterations", 3, NULL));
            dn_rows *rows;
            OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows,
                                   NULL));
            size_t k = 1;
            for (;; k++) {
                struct memory memory = {.fail_at = k, .left = SIZE_MAX};
                dn_allocator allocator = memory_allocator(&memory, k % 2 == 0);
                dn_run run = dn_run_default();
                run.allocator = &allocator;
                struct fit fit;
                dn_error err = {0};
                dn_status status = fit_rows(rows, 3, p, &run, &fit, &err);
                assert_int_equal(memory.live, 0);
                if (status == DN_OK) {
                    fit_done(&fit);
                    break;
                }
                assert_int_equal(status, k % 2 == 0 ? DN_ERR_BUDGET : DN_ERR_MEMORY);
                assert_non_null(strstr(err.message, "bytes"));
            }
            assert_true(k > 5);
            dn_rows_free(rows);
            dn_params_free(p);
        }
    }
    csv_free(t);
}

/* The estimated memory of a fit is sufficient, and at most a few times too large. */
static void memory_is_estimated(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    for (size_t d = 3; d <= 60; d += 57) {
        for (size_t K = 2; K <= 3; K++) {
            struct csv *t = csv_clouds(9000, d, K);
            for (size_t s = 0; s < 12; s++) {
                dn_params *p =
                    params_with(solvers[s % 4], s < 8 ? "l2" : "l1", s / 4 == 1 ? 0 : 1e-2);
                OK(dn_params_set_number(p, "max_iterations", 2, NULL));
                dn_rows *rows;
                OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, d), t->target, NULL, &rows,
                                       NULL));
                struct meter meter = {0};
                dn_allocator allocator = {.allocate = meter_allocate,
                                          .release = meter_release,
                                          .ctx = &meter,
                                          .budgeted = false};
                dn_run run = dn_run_default();
                run.allocator = &allocator;
                struct fit fit;
                OK(fit_rows(rows, K, p, &run, &fit, NULL));
                double estimated = estimated_memory(p, t->n, d, K, 1);
                if ((double)meter.most > estimated || estimated > 5 * (double)meter.most) {
                    fail_msg("%s with %zu features: estimated %g, used %zu", solvers[s % 4], d,
                             estimated, meter.most);
                }
                assert_int_equal(meter.now, 0);
                fit_done(&fit);
                dn_rows_free(rows);
                dn_params_free(p);
            }
            csv_free(t);
        }
    }
}

static void newton_beyond_the_budget(void **state) {
    (void)state;
    struct csv *t = csv_clouds(50, 200, 3);
    dn_params *p = params_of("newton", 1e-2);
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows, NULL));
    struct memory memory = {.left = 4 << 20};
    dn_allocator allocator = memory_allocator(&memory, true);
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    struct fit fit;
    dn_error err = {0};
    assert_int_equal(fit_rows(rows, 3, p, &run, &fit, &err), DN_ERR_BUDGET);
    assert_non_null(strstr(err.message, "newton"));
    /* Two matrices [603 × 603] and five vectors, aligned. */
    assert_non_null(strstr(err.message, "5842"));
    assert_int_equal(memory.live, 0);
    dn_rows_free(rows);
    dn_params_free(p);
    csv_free(t);
}

static void stops_at_a_poll(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    struct csv *t = csv_clouds(100, 3, 2);
    for (size_t s = 0; s < 4; s++) {
        dn_params *p = params_of(solvers[s], 1e-2);
        dn_rows *rows;
        struct polls polls = {.stop_at = 5};
        struct memory memory = {.left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, false);
        dn_run run = polls_run(&polls);
        run.allocator = &allocator;
        struct fit fit;
        OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows, NULL));
        assert_int_equal(fit_rows(rows, 2, p, &run, &fit, NULL), DN_ERR_STOPPED);
        assert_int_equal(polls.n, 5);
        assert_int_equal(memory.live, 0);
        dn_rows_free(rows);
        dn_params_free(p);
    }
    csv_free(t);
}

/* With many classes one block of rows takes many matrix products. The cancel flag is polled between
 * them, and the fit ends at the poll that finds it set. */
static void stops_within_a_block(void **state) {
    (void)state;
    enum { K = 12, ROWS = 600 };
    struct csv *t = csv_clouds(ROWS, 5, K);
    /* One column is twice another, so that the null space is computed too. */
    dn_params *p = params_of("newton", 0);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * t->d + 4] = 2 * t->x[i * t->d + 3];
    }
    size_t tiles = (t->n + 255) / 256, pairs = K * (K + 1) / 2, last = 8 + tiles * pairs;
    for (size_t at = 1; at <= last; at += at < 16 ? 1 : 37) {
        dn_rows *rows;
        struct polls polls = {.stop_at = at};
        struct memory memory = {.left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, false);
        dn_run run = polls_run(&polls);
        run.allocator = &allocator;
        struct fit fit;
        OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows, NULL));
        assert_int_equal(fit_rows(rows, K, p, &run, &fit, NULL), DN_ERR_STOPPED);
        assert_int_equal(polls.n, at);
        assert_int_equal(memory.live, 0);
        dn_rows_free(rows);
    }
    dn_params_free(p);
    csv_free(t);
}

/* lambda "auto" is 1/(2 Σv): the fit is the fit with this number, for every penalty
 * and scale of the weights. The report has the number. */
static void lambda_auto(void **state) {
    (void)state;
    const char *const penalties[] = {"l2", "l1", "elastic_net"}, *const own[] = {"newton", "lbfgs"};
    struct csv *csv = csv_named("iris");
    double *weight = xcalloc(csv->n, sizeof *weight);
    for (size_t i = 0; i < 18; i++) {
        const double scale = i % 3 == 0 ? 1 : i % 3 == 1 ? 0.0025 : 7;
        double total = 0;
        for (size_t t = 0; t < csv->n; t++) {
            weight[t] = i % 3 == 0 ? 1 : scale * (double)(t % 4);
            total += weight[t];
        }
        dn_rows *rows;
        OK(dn_rows_from_matrix(dn_matrix_dense(csv->x, csv->n, csv->d), csv->target,
                               i % 3 == 0 ? NULL : weight, &rows, NULL));
        dn_params *p = params_with(own[i / 9], penalties[i / 3 % 3], 1 / (2 * total));
        dn_run run = dn_run_default();
        struct fit given, found;
        OK(fit_rows(rows, csv->K, p, &run, &given, NULL));
        OK(dn_params_set_word(p, "lambda", "auto", NULL));
        OK(fit_rows(rows, csv->K, p, &run, &found, NULL));
        assert_near(logistic_detail(&found.report, "lambda"), 1 / (2 * total), 1e-12);
        assert_close(found.out.w, given.out.w, csv->K * csv->d, 1e-7);
        assert_close(found.out.w0, given.out.w0, csv->K, 1e-7);
        assert_near(found.report.objective, given.report.objective, 1e-12);
        fit_done(&given);
        fit_done(&found);
        dn_params_free(p);
        dn_rows_free(rows);
    }
    free(weight);
    csv_free(csv);
}

/* The defaults of the tolerance. */
static void tolerance_auto(void **state) {
    (void)state;
    const struct {
        const char *solver;
        double tolerance;
    } defaults[] = {{"newton", 1e-9}, {"lbfgs", 1e-6}, {"gradient_descent", 1e-5}, {"sgd", 5e-5}};
    for (size_t i = 0; i < 4; i++) {
        dn_params *p;
        OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
        OK(dn_params_set_word(p, "solver", defaults[i].solver, NULL));
        OK(p->algorithm->resolve(p, 100, 3, 2, NULL));
        assert_true(dn_params_number(p, "tolerance") == defaults[i].tolerance);
        assert_string_equal(dn_params_word(p, "lambda"), "auto");
        dn_params_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lambda_auto),
        cmocka_unit_test(tolerance_auto),
        cmocka_unit_test(gradient_vanishes_on_raw_columns),
        cmocka_unit_test(weights_are_repeated_rows),
        cmocka_unit_test(order_of_rows_does_not_change_the_result),
        cmocka_unit_test(scaling_scales_the_penalty),
        cmocka_unit_test(sparse_rows_are_dense_rows),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(seed_decides),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(newton_beyond_the_budget),
        cmocka_unit_test(memory_is_estimated),
        cmocka_unit_test(stops_at_a_poll),
        cmocka_unit_test(stops_within_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
