/* Least squares by conjugate gradients: the normal equations recomputed from the data, agreement
 * with the closed form, least norm, invariants. */
#include "unit/core/learners/logistic/logistics.h"
#include "unit/core/learners/shared/streams.h"

static dn_params *squares_params(const char *solver, double lambda) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("least_squares"), &p, NULL));
    OK(dn_params_set_word(p, "solver", solver, NULL));
    OK(dn_params_set_number(p, "lambda", lambda, NULL));
    return p;
}

static struct fit fit_with(const struct problem *t, const char *solver, double lambda) {
    dn_params *p = squares_params(solver, lambda);
    struct fit fit = fit_problem(t, p);
    dn_params_free(p);
    return fit;
}

static double target_of(const struct problem *t, size_t score, size_t row) {
    size_t k = (size_t)t->target[row];
    return t->K == 2 ? (k == 1 ? 1 : -1) : score == k;
}

/* The maximum over the scores of ‖X̃ᵀV(T − g)/n − λw‖ relative to ‖X̃ᵀVT̃/n‖, each equation divided
 * by √(variance + λ), and of the intercept's equation. */
static double normal_residual(const struct problem *t, const struct fit *fit, double lambda) {
    size_t d = t->d;
    double *mean = xcalloc(2 * d, sizeof *mean), *deviation = mean + d, most = 0, total = 0;
    moments(t, mean, deviation);
    for (size_t i = 0; i < t->n; i++) {
        total += t->weight == NULL ? 1 : t->weight[i];
    }
    for (size_t k = 0; k < scores_of(t); k++) {
        double *r = xcalloc(2 * d, sizeof *r), *b = r + d, of_intercept = 0, average = 0, left = 0,
               right = 0;
        for (size_t i = 0; i < t->n; i++) {
            average += (t->weight == NULL ? 1 : t->weight[i]) * target_of(t, k, i) / total;
        }
        for (size_t i = 0; i < t->n; i++) {
            double v = (t->weight == NULL ? 1 : t->weight[i]) / total, g = fit->out.w0[k];
            for (size_t j = 0; j < d; j++) {
                g += fit->out.w[k * d + j] * t->x[i * d + j];
            }
            of_intercept += v * (target_of(t, k, i) - g);
            for (size_t j = 0; j < d; j++) {
                r[j] += v * (target_of(t, k, i) - g) * (t->x[i * d + j] - mean[j]);
                b[j] += v * (target_of(t, k, i) - average) * (t->x[i * d + j] - mean[j]);
            }
        }
        assert_true(fabs(of_intercept) < 1e-12);
        for (size_t j = 0; j < d; j++) {
            double scale = deviation[j] * deviation[j] + lambda,
                   own = r[j] - lambda * fit->out.w[k * d + j];
            if (deviation[j] <= 1e-12 * (1 + fabs(mean[j]))) {
                assert_true(fit->out.w[k * d + j] == 0);
                continue;
            }
            left += own * own / scale;
            right += b[j] * b[j] / scale;
        }
        most = fmax(most, sqrt(left / right));
        free(r);
    }
    free(mean);
    return most;
}

static void weigh(struct problem *t) {
    t->weight = xcalloc(t->n, sizeof *t->weight);
    for (size_t i = 0; i < t->n; i++) {
        t->weight[i] = (double)(i % 5) / 3;
    }
    dn_rows_free(t->rows);
    dn_matrix x = t->values == NULL ? dn_matrix_dense(t->x, t->n, t->d)
                                    : dn_matrix_csr(t->start, t->cols, t->values, t->n, t->d);
    OK(dn_rows_from_matrix(x, t->target, t->weight, &t->rows, NULL));
}

static void normal_equations(void **state) {
    (void)state;
    const double lambdas[] = {0, 1e-5, 1e-2, 10};
    for (size_t K = 2; K <= 4; K += 2) {
        for (size_t wide = 0; wide < 2; wide++) {
            for (size_t l = 0; l < 4; l++) {
                struct problem t = problem_sparse(150, wide ? 400 : 40, K, 25);
                if (l % 2 == 1) {
                    weigh(&t);
                }
                struct fit fit = fit_with(&t, "conjugate_gradient", lambdas[l]),
                           exact = fit_with(&t, "closed_form", lambdas[l]);
                assert_true(fit.report.converged &&
                            logistic_detail(&fit.report, "normal_residual") <= 1e-10);
                assert_true(normal_residual(&t, &fit, lambdas[l]) <= 1.5e-10);
                assert_true(fit.report.gradient_norm < 1e-8);
                assert_close(fit.out.w, exact.out.w, scores_of(&t) * t.d,
                             1e-5); /* condition number of the matrix times 1e-10 */
                assert_close(fit.out.w0, exact.out.w0, scores_of(&t), 1e-5);
                assert_true(fabs(fit.report.objective - exact.report.objective) <
                            1e-9 * (1e-6 + exact.report.objective));
                /* every row has 25 words: the sum of the columns is constant */
                assert_int_equal(fit.report.n_warnings, lambdas[l] == 0);
                assert_int_equal(exact.report.n_warnings, lambdas[l] == 0);
                fit_done(&fit);
                fit_done(&exact);
                logistic_problem_done(&t);
            }
        }
    }
}

/* On standardised data files the result equals the closed form to 1e-9. */
static void closed_form(void **state) {
    (void)state;
    const char *const sets[] = {"iris", "wine", "breast_cancer"};
    const double lambdas[] = {1e-3, 1};
    for (size_t s = 0; s < 3; s++) {
        for (size_t l = 0; l < 2; l++) {
            struct problem t = problem_named(sets[s], true);
            dn_params *p = squares_params("conjugate_gradient", lambdas[l]);
            OK(dn_params_set_number(p, "tolerance", 1e-13, NULL));
            struct fit fit = fit_problem(&t, p), exact = fit_with(&t, "closed_form", lambdas[l]);
            assert_true(fit.report.converged);
            assert_close(fit.out.w, exact.out.w, scores_of(&t) * t.d, 1e-9);
            assert_true(fabs(fit.out.w0[0] - exact.out.w0[0]) < 1e-9);
            assert_near(fit.report.objective, exact.report.objective, 1e-9);
            assert_near(logistic_detail(&fit.report, "residual_sum_of_squares"),
                        logistic_detail(&exact.report, "residual_sum_of_squares"), 1e-9);
            fit_done(&fit);
            fit_done(&exact);
            dn_params_free(p);
            logistic_problem_done(&t);
        }
    }
}

/* λ = 0: the weights have the least norm among all with the same scores, as in the closed form. The
 * additional columns are a copy, a constant and a linear combination of two columns. */
static void least_norm(void **state) {
    (void)state;
    struct problem t = problem_named("wine", true), more = {.n = t.n, .d = t.d + 3, .K = t.K};
    more.x = xcalloc(more.n * more.d, sizeof(double));
    more.target = xcalloc(t.n, sizeof(double));
    memcpy(more.target, t.target, t.n * sizeof(double));
    for (size_t i = 0; i < t.n; i++) {
        double *x = more.x + i * more.d;
        memcpy(x, t.x + i * t.d, t.d * sizeof(double));
        x[t.d] = x[0];
        x[t.d + 1] = 7;
        x[t.d + 2] = x[1] - 3 * x[2] + 5;
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(more.x, more.n, more.d), more.target, NULL, &more.rows,
                           NULL));
    struct fit fit = fit_with(&more, "conjugate_gradient", 0),
               exact = fit_with(&more, "closed_form", 0);
    assert_true(fit.report.converged);
    assert_close(fit.out.w, exact.out.w, 3 * more.d, 1e-8);
    for (size_t k = 0; k < 3; k++) {
        const double *w = fit.out.w + k * more.d;
        assert_true(fabs(w[0] - w[t.d]) < 1e-9 && w[t.d + 1] == 0);
        assert_true(fabs(w[1] - 3 * w[2] - w[t.d + 2]) < 1e-8); /* orthogonal to (1, −3, −1) */
    }
    fit_done(&fit);
    fit_done(&exact);
    logistic_problem_done(&t);
    logistic_problem_done(&more);
}

/* Columns with mean m far from 0 lose precision by a factor of about m/σ. The units of the columns
 * have no effect. */
static void far_columns_and_units(void **state) {
    (void)state;
    struct problem t = problem_named("wine", true), far = {.n = t.n, .d = t.d, .K = t.K};
    far.x = xcalloc(t.n * t.d, sizeof(double));
    far.target = xcalloc(t.n, sizeof(double));
    memcpy(far.target, t.target, t.n * sizeof(double));
    for (size_t i = 0; i < t.n * t.d; i++) {
        far.x[i] = 1e5 + pow(10, (double)(i % t.d % 4)) * t.x[i];
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(far.x, far.n, far.d), far.target, NULL, &far.rows,
                           NULL));
    struct fit fit = fit_with(&far, "conjugate_gradient", 1e-9),
               exact = fit_with(&far, "closed_form", 1e-9);
    assert_true(fit.report.converged && fit.report.iterations < 100);
    assert_close(fit.out.w, exact.out.w, 3 * t.d, 1e-7);
    fit_done(&fit);
    fit_done(&exact);
    logistic_problem_done(&t);
    logistic_problem_done(&far);
}

static struct fit fit_on(const dn_rows *rows, size_t K, const dn_params *p, size_t n_slots) {
    dn_run run = dn_run_default();
    struct fit fit;
    run.n_slots = n_slots;
    run.sum = n_slots > 1 ? sum_in_ranges : NULL;
    run.each = n_slots > 1 ? each_in_reverse : NULL;
    OK(fit_rows(rows, K, p, &run, &fit, NULL));
    return fit;
}

static void dense_and_sparse_rows_agree(void **state) {
    (void)state;
    struct problem t = problem_sparse(9000, 50, 3, 6); /* three blocks */
    dn_rows *stream = stream_of(t.rows), *dense;
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, t.n, t.d), t.target, NULL, &dense, NULL));
    const char *const solvers[] = {"conjugate_gradient", "gradient_descent", "closed_form"};
    for (size_t s = 0; s < 3; s++) {
        dn_params *p = squares_params(solvers[s], 1e-3);
        if (s < 2) {
            OK(dn_params_set_number(p, "max_iterations", 5, NULL));
        }
        struct fit one = fit_on(t.rows, 3, p, 1), two = fit_on(stream, 3, p, 3),
                   three = fit_on(dense, 3, p, 1);
        assert_memory_equal(one.out.w, two.out.w, 3 * t.d * sizeof(double));
        assert_memory_equal(one.out.w0, two.out.w0, 3 * sizeof(double));
        assert_true(one.report.objective == two.report.objective);
        assert_close(three.out.w, one.out.w, 3 * t.d, 1e-9);
        fit_done(&one);
        fit_done(&two);
        fit_done(&three);
        dn_params_free(p);
    }
    dn_rows_free(stream);
    dn_rows_free(dense);
    logistic_problem_done(&t);
}

/* 50,000 columns: `auto` uses no matrix, the memory is a few vectors, and the estimate is
 * sufficient. The closed form is refused before it allocates. */
static void many_columns(void **state) {
    (void)state;
    enum { D = 50000, N = 200, ENTRIES = 10 };
    uint64_t seed = 3;
    struct problem t = {.n = N, .d = D, .K = 3};
    t.values = xcalloc(N * ENTRIES, sizeof(double));
    t.cols = xcalloc(N * ENTRIES, sizeof(uint32_t));
    t.start = xcalloc(N + 1, sizeof(size_t));
    t.target = xcalloc(N, sizeof(double));
    for (size_t i = 0; i < N; i++) {
        for (size_t e = 0; e < ENTRIES; e++) {
            t.cols[i * ENTRIES + e] =
                (uint32_t)(e * (D / ENTRIES) +
                           (size_t)(pow(logistic_random(&seed), 3) * (D / ENTRIES)));
            t.values[i * ENTRIES + e] = 1 + logistic_random(&seed);
        }
        t.start[i + 1] = (i + 1) * ENTRIES;
        t.target[i] = (double)(i % 3);
    }
    OK(dn_rows_from_matrix(dn_matrix_csr(t.start, t.cols, t.values, N, D), t.target, NULL, &t.rows,
                           NULL));
    const char *const solvers[] = {"auto", "gradient_descent", "closed_form"};
    for (size_t s = 0; s < 3; s++) {
        dn_params *p = squares_params(solvers[s], 1e-2);
        double estimated = estimated_memory(p, N, D, 3, 1);
        struct meter meter = {0};
        dn_allocator allocator = {.allocate = meter_allocate,
                                  .release = meter_release,
                                  .ctx = &meter,
                                  .budgeted = false};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        struct fit fit;
        dn_error err = {0};
        if (s == 1) {
            OK(dn_params_set_number(p, "max_iterations", 2, NULL));
        }
        dn_status status = fit_rows(t.rows, 3, p, &run, &fit, &err);
        assert_int_equal(status, s == 2 ? DN_ERR_BUDGET : DN_OK);
        if (s == 2) {
            assert_true(meter.most == 0 && estimated > 8.0 * D * D);
            assert_non_null(strstr(err.message, "conjugate_gradient"));
        } else {
            assert_true((double)meter.most <= estimated && estimated < 40 * 8.0 * 3 * D &&
                        meter.now == 0);
            assert_true(s == 1 || fit.report.converged);
            fit_done(&fit);
        }
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

static void chosen_by_shape(void **state) {
    (void)state;
    static const struct {
        size_t n, d;
        const char *solver;
    } shapes[] = {{1000000, 1024, "closed_form"},
                  {5000, 4000, "closed_form"},
                  {100, 8193, "conjugate_gradient"},
                  {100000, 4000, "conjugate_gradient"}};
    for (size_t i = 0; i < 4; i++) {
        dn_params *p = squares_params("auto", 1e-3);
        OK(dn_params_resolve(p, shapes[i].n, shapes[i].d, 2, NULL));
        assert_string_equal(dn_params_word(p, "solver"), shapes[i].solver);
        if (i >= 2) {
            assert_true(dn_params_number(p, "tolerance") == 1e-10 &&
                        dn_params_number(p, "max_iterations") == 2000);
        }
        dn_params_free(p);
    }
    /* An estimate that overflows must not be below the true value. */
    dn_params *p = squares_params("closed_form", 1e-3);
    assert_true(estimated_memory(p, SIZE_MAX, UINT32_MAX, 1000, 64) > 1e20);
    dn_params_free(p);
}

/* ---- progress reports ---- */
struct course {
    size_t told;
    double fraction;
    double w[64];
};

static void listen(const dn_run *run, const dn_progress *progress) {
    struct course *c = run->ctx;
    assert_true(progress->iteration == ++c->told && progress->fraction >= c->fraction &&
                progress->fraction <= 1);
    c->fraction = progress->fraction;
    assert_int_equal(progress->w != NULL, progress->iteration == 3);
    if (progress->w != NULL) {
        memcpy(c->w, progress->w, progress->n_scores * progress->n_features * sizeof(double));
    }
}

static void report_of_a_fit_that_does_not_converge(void **state) {
    (void)state;
    struct problem t = problem_named("wine", true);
    dn_params *p = squares_params("conjugate_gradient", 1e-3);
    struct course course = {0};
    const size_t snapshots[] = {3};
    dn_run run = dn_run_default();
    run.ctx = &course;
    run.progress = listen;
    run.snapshots = snapshots;
    run.n_snapshots = 1;
    OK(dn_params_set_number(p, "max_iterations", 3, NULL));
    struct fit fit;
    OK(fit_rows(t.rows, 3, p, &run, &fit, NULL));
    assert_true(!fit.report.converged && course.told == 3 && fit.report.iterations == 3);
    assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
    assert_true(logistic_warned(&fit.report, "not converged after 3 iterations"));
    assert_near(logistic_detail(&fit.report, "normal_residual"), normal_residual(&t, &fit, 1e-3),
                1e-6);
    assert_memory_equal(course.w, fit.out.w, 3 * t.d * sizeof(double));
    fit_done(&fit);
    dn_params_free(p);
    logistic_problem_done(&t);
}

static void stop_and_memory(void **state) {
    (void)state;
    struct problem t = problem_sparse(5000, 40, 2, 5); /* two blocks */
    dn_params *p = squares_params("conjugate_gradient", 1e-2);
    OK(dn_params_set_number(p, "max_iterations", 2, NULL));
    struct fit fit;
    for (size_t at = 1;; at += 7) {
        struct polls polls = {.stop_at = at};
        struct memory memory = {.left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, false);
        dn_run run = polls_run(&polls);
        run.allocator = &allocator;
        dn_status status = fit_rows(t.rows, 2, p, &run, &fit, NULL);
        assert_int_equal(memory.live, 0);
        if (status == DN_OK) {
            assert_true(at > 50);
            fit_done(&fit);
            break;
        }
        assert_true(status == DN_ERR_STOPPED && polls.n == at);
    }
    for (size_t k = 1;; k++) {
        struct memory memory = {.fail_at = k, .left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, false);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        dn_status status = fit_rows(t.rows, 2, p, &run, &fit, NULL);
        assert_int_equal(memory.live, 0);
        if (status == DN_OK) {
            assert_true(k > 6);
            fit_done(&fit);
            break;
        }
        assert_int_equal(status, DN_ERR_MEMORY);
    }
    dn_params_free(p);
    logistic_problem_done(&t);
}

/* At most as many rows as columns, without a penalty: every poll of the stop function ends the fit,
 * every failed allocation too; the estimate of memory is an upper bound; threads do not change the
 * result; all solvers agree. */
static void row_space(void **state) {
    (void)state;
    const char *const solvers[] = {"closed_form", "gradient_descent", "conjugate_gradient"};
    for (size_t s = 0; s < 6; s++) {
        struct problem t = problem_sparse(100, s & 1 ? 100 : 300, s & 1 ? 3 : 2, 30);
        dn_params *p = squares_params(solvers[s / 2], 0);
        const bool descends = s / 2 == 1;
        if (descends) {
            OK(dn_params_set_number(p, "max_iterations", 20, NULL));
        }
        struct meter meter = {0};
        dn_allocator allocator = {.allocate = meter_allocate,
                                  .release = meter_release,
                                  .ctx = &meter};
        dn_run serial = dn_run_default(), ranges = dn_run_default();
        serial.allocator = &allocator;
        ranges.n_slots = 3;
        ranges.sum = sum_in_ranges;
        ranges.each = each_in_reverse;
        struct fit one, two, exact = fit_with(&t, "closed_form", 0);
        OK(fit_rows(t.rows, t.K, p, &serial, &one, NULL));
        const double estimated = estimated_memory(p, t.n, t.d, t.K, 1);
        assert_true((double)meter.most <= estimated && estimated <= 3 * (double)meter.most);
        assert_int_equal(meter.now, 0);
        assert_true(one.report.converged || descends);
        assert_true(normal_residual(&t, &exact, 0) < 1e-9);
        if (!descends) {
            assert_close(one.out.w, exact.out.w, scores_of(&t) * t.d, 1e-6);
        }
        assert_true(logistic_warned(&one.report, "of the columns are linear combinations"));
        OK(fit_rows(t.rows, t.K, p, &ranges, &two, NULL));
        assert_memory_equal(one.out.w, two.out.w, scores_of(&t) * t.d * sizeof(double));
        fit_done(&one);
        fit_done(&two);
        fit_done(&exact);
        for (size_t at = 1;; at += 3) {
            struct polls polls = {.stop_at = at};
            struct memory memory = {.left = SIZE_MAX};
            dn_allocator counted = memory_allocator(&memory, false);
            dn_run run = polls_run(&polls);
            run.allocator = &counted;
            const dn_status status = fit_rows(t.rows, t.K, p, &run, &one, NULL);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                assert_true(at > 10);
                fit_done(&one);
                break;
            }
            assert_int_equal(status, DN_ERR_STOPPED);
            assert_int_equal(polls.n, at);
        }
        for (size_t k = 1;; k++) {
            struct memory memory = {.fail_at = k, .left = SIZE_MAX};
            dn_allocator counted = memory_allocator(&memory, false);
            dn_run run = dn_run_default();
            run.allocator = &counted;
            const dn_status status = fit_rows(t.rows, t.K, p, &run, &one, NULL);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                assert_true(k > 5);
                fit_done(&one);
                break;
            }
            assert_int_equal(status, DN_ERR_MEMORY);
        }
        dn_params_free(p);
        logistic_problem_done(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(row_space),
                                       cmocka_unit_test(normal_equations),
                                       cmocka_unit_test(closed_form),
                                       cmocka_unit_test(least_norm),
                                       cmocka_unit_test(far_columns_and_units),
                                       cmocka_unit_test(dense_and_sparse_rows_agree),
                                       cmocka_unit_test(many_columns),
                                       cmocka_unit_test(chosen_by_shape),
                                       cmocka_unit_test(report_of_a_fit_that_does_not_converge),
                                       cmocka_unit_test(stop_and_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
