/* Least squares by gradient descent: the textbook's steps by plain loops, learning rates, the
 * limit, progress reports. */
#include "unit/core/support.h"

static dn_params *descent_params(double lambda, const char *solver) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("least_squares"), &p, NULL));
    OK(dn_params_set_word(p, "solver", solver, NULL));
    OK(dn_params_set_number(p, "lambda", lambda, NULL));
    return p;
}

static double detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].number;
        }
    }
    fail_msg("no detail %s", name);
    return 0;
}

/* Three passes over the outputs of 1-of-K targets: w_k ← w_k + η (Σ v (r_k − y_k) x − λ (Σv) w_k).
 * The discriminant of two classes is y_2 − y_1. */
static void steps_by_hand(void **state) {
    (void)state;
    enum { N = 9, D = 2 };
    const double x[N * D] = {1, 2, 0, 1, -1, 3, 2, 2, 4, 0, 1, -1, 3, 1, 0, 0, 2, 5};
    const double v[N] = {1, 2, 0, 1, 3, 1, 1, 0.5, 1}, rate = 0.01, lambda = 0.2;
    for (size_t K = 2; K <= 3; K++) {
        double target[N], w[3][D + 1] = {0}, total = 0;
        for (size_t i = 0; i < N; i++) {
            target[i] = (double)(i % K);
            total += v[i];
        }
        for (size_t k = 0; K == 2 && k < 2; k++) {
            w[k][D] = 0.5; /* g = 0: both outputs are 1/2 */
        }
        for (int pass = 0; pass < 3; pass++) {
            double step[3][D + 1] = {0};
            for (size_t k = 0; k < K; k++) {
                for (size_t i = 0; i < N; i++) {
                    double e = v[i] * ((target[i] == (double)k) -
                                       (w[k][0] * x[i * D] + w[k][1] * x[i * D + 1] + w[k][D]));
                    step[k][0] += e * x[i * D];
                    step[k][1] += e * x[i * D + 1];
                    step[k][D] += e;
                }
            }
            for (size_t k = 0; k < K; k++) {
                for (size_t j = 0; j <= D; j++) {
                    w[k][j] += rate * (step[k][j] - (j < D ? lambda * total * w[k][j] : 0));
                }
            }
        }
        dn_rows *rows;
        dn_params *p = descent_params(lambda, "gradient_descent");
        OK(dn_params_set_word(p, "init", "zero", NULL));
        OK(dn_params_set_number(p, "learning_rate", rate, NULL));
        OK(dn_params_set_number(p, "max_iterations", 3, NULL));
        OK(dn_rows_from_matrix(dn_matrix_dense(x, N, D), target, v, &rows, NULL));
        dn_run run = dn_run_default();
        struct fit fit = {0};
        OK(fit_rows(rows, K, p, &run, &fit, NULL));
        for (size_t k = 0; k < dn_machine_n_scores(fit.out.machine); k++) {
            for (size_t j = 0; j < D; j++) {
                assert_near(fit.out.w[k * D + j], K == 2 ? w[1][j] - w[0][j] : w[k][j], 1e-12);
            }
            assert_near(fit.out.w0[k], K == 2 ? w[1][D] - w[0][D] : w[k][D], 1e-12);
        }
        double squares = 0, penalty = 0; /* the objective after the passes */
        for (size_t k = 0; k < K; k++) {
            penalty += w[k][0] * w[k][0] + w[k][1] * w[k][1];
            for (size_t i = 0; i < N; i++) {
                double e = (target[i] == (double)k) -
                           (w[k][0] * x[i * D] + w[k][1] * x[i * D + 1] + w[k][D]);
                squares += v[i] * e * e;
            }
        }
        assert_near(fit.report.objective, squares / total + lambda * penalty, 1e-12);
        assert_false(fit.report.converged);
        assert_int_equal(fit.report.n_warnings, 1); /* warning: not converged after 3 passes */
        fit_done(&fit);
        dn_rows_free(rows);
        dn_params_free(p);
    }
}

/* From any start the descent converges to the closed form. */
static void same_end(void **state) {
    const char *name = *state;
    struct csv *t = csv_named(name);
    double *z = standardised(t->x, t->n, t->d, NULL, NULL);
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(z, t->n, t->d), t->target, NULL, &rows, NULL));
    dn_run run = dn_run_default();
    dn_params *p = descent_params(1e-2, "gradient_descent"),
              *exact = descent_params(1e-2, "closed_form");
    OK(dn_params_set_number(p, "tolerance", 1e-10, NULL));
    struct fit fit = {0}, best = {0};
    OK(fit_rows(rows, t->K, p, &run, &fit, NULL));
    OK(fit_rows(rows, t->K, exact, &run, &best, NULL));
    assert_true(fit.report.converged && fit.report.n_warnings == 0);
    assert_int_equal(fit.report.stop_reason, DN_STOP_TOLERANCE);
    assert_true(detail(&fit.report, "gradient_max") <= 1e-10);
    assert_near(fit.report.objective, best.report.objective, 1e-12);
    size_t S = dn_machine_n_scores(fit.out.machine);
    assert_close(fit.out.w, best.out.w, S * t->d, 1e-6);
    assert_close(fit.out.w0, best.out.w0, S, 1e-6);
    assert_near(detail(&fit.report, "residual_sum_of_squares"),
                detail(&best.report, "residual_sum_of_squares"), 1e-9);
    fit_done(&fit);
    fit_done(&best);
    dn_rows_free(rows);
    dn_params_free(p);
    dn_params_free(exact);
    free(z);
    csv_free(t);
}

/* auto: 1/(nL) with L = λmax + λ for the design matrix with its column of ones. Below 2/(nL) the
 * descent converges; above, it warns and diverges. */
static void rates(void **state) {
    (void)state;
    const double x[] = {0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}, y[] = {0, 0, 0, 1, 0, 1, 1, 1};
    double a = 0, b = 0, c = 8;
    for (size_t i = 0; i < 8; i++) {
        a += x[i] * x[i];
        b += x[i];
    }
    double bound = ((a + c) / 2 + sqrt((a - c) * (a - c) / 4 + b * b)) / 8 + 0.05;
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 8, 1), y, NULL, &rows, NULL));
    dn_run run = dn_run_default();
    dn_params *p = descent_params(0.05, "gradient_descent");
    struct fit fit = {0};
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_near(detail(&fit.report, "curvature_bound"), bound, 1e-3);
    assert_near(detail(&fit.report, "learning_rate"), 1 / (8 * bound), 1e-3);
    assert_true(fit.report.converged);
    fit_done(&fit);
    OK(dn_params_set_number(p, "learning_rate", 1.9 / (8 * bound), NULL));
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_true(fit.report.converged && fit.report.n_warnings == 0);
    fit_done(&fit);
    OK(dn_params_set_number(p, "learning_rate", 2.1 / (8 * bound), NULL));
    OK(dn_params_set_number(p, "max_iterations", 200, NULL));
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_true(!fit.report.converged && fit.report.n_warnings == 2);
    assert_non_null(strstr(fit.report.warnings[0].text, "above 2/(n L)"));
    assert_true(fit.report.objective > 1);
    fit_done(&fit);
    dn_error err = {0};
    OK(dn_params_set_number(p, "max_iterations", 1e6, NULL));
    assert_int_equal(fit_rows(rows, 2, p, &run, &fit, &err), DN_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "learning_rate"));
    dn_rows_free(rows);
    dn_params_free(p);
}

struct heard {
    size_t n, snapshots;
    double loss, fraction, w[3], error;
};

static void listen(const dn_run *run, const dn_progress *progress) {
    struct heard *h = run->ctx;
    assert_int_equal(progress->iteration, ++h->n);
    assert_true(progress->fraction >= h->fraction && progress->fraction <= 1);
    assert_true(h->n == 1 || progress->loss < h->loss);
    h->loss = progress->loss;
    h->fraction = progress->fraction;
    h->error = progress->train_error;
    if (progress->w == NULL) {
        return;
    }
    h->snapshots++;
    for (size_t k = 0; k < 3; k++) { /* the score at x = 3, with weights of the raw feature */
        h->w[k] = progress->w[k] * 3 + progress->w0[k];
    }
}

static void progress(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 1, 3);
    const double mean = 9, scale = 2;
    const size_t wanted[] = {4, 10, 1000};
    for (size_t i = 0; i < 60; i++) {
        t->x[i] = (t->x[i] - mean) / scale;
    }
    struct heard heard = {0};
    dn_run run = dn_run_default();
    run.progress = listen;
    run.ctx = &heard;
    run.snapshots = wanted;
    run.n_snapshots = 3;
    dn_params *p = descent_params(1e-3, "gradient_descent");
    OK(dn_params_set_number(p, "max_iterations", 10, NULL));
    OK(dn_params_set_number(p, "tolerance", 0, NULL));
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, 60, 1), t->target, NULL, &rows, NULL));
    dn_fit_input input = {
        .rows = rows, .n_classes = 3, .params = p, .mean = &mean, .scale = &scale};
    struct fit fit = {0};
    OK(fit_input(p, &input, &run, &fit, NULL));
    assert_true(heard.n == 10 && heard.snapshots == 2 && heard.loss == fit.report.objective);
    double wrong = 0;
    for (size_t i = 0; i < 60; i++) {
        size_t best = 0;
        for (size_t k = 1; k < 3; k++) {
            if (fit.out.w[k] * t->x[i] + fit.out.w0[k] >
                fit.out.w[best] * t->x[i] + fit.out.w0[best]) {
                best = k;
            }
        }
        wrong += best != (size_t)t->target[i];
    }
    assert_true(heard.error == wrong / 60);
    for (size_t k = 0; k < 3; k++) {
        assert_near(heard.w[k], fit.out.w[k] * (3 - mean) / scale + fit.out.w0[k], 1e-12);
    }
    fit_done(&fit);
    dn_rows_free(rows);
    dn_params_free(p);
    csv_free(t);
}

/* Sparse rows with any number of threads give the same result. Failed fits release all memory. */
static void sparse_rows(void **state) {
    (void)state;
    enum { N = 5000, D = 4 };
    static size_t start[N + 1];
    static uint32_t cols[N];
    static double values[N], dense[N * D], target[N];
    for (size_t i = 0; i < N; i++) {
        start[i + 1] = i + 1;
        cols[i] = (uint32_t)(i * 7 % D);
        values[i] = (double)(i % 11) / 5 + 0.1;
        dense[i * D + cols[i]] = values[i];
        target[i] = (double)((i + i / 3) % 3);
    }
    dn_matrix sparse = dn_matrix_csr(start, cols, values, N, D);
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    dn_run run = dn_run_default(), parallel = dn_run_default();
    parallel.n_slots = 2;
    parallel.sum = sum_in_ranges;
    parallel.each = each_in_reverse;
    run.allocator = &allocator;
    dn_params *p = descent_params(1e-3, "gradient_descent");
    OK(dn_params_set_number(p, "max_iterations", 30, NULL));
    dn_rows *rows, *other;
    OK(dn_rows_from_matrix(sparse, target, NULL, &rows, NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(dense, N, D), target, NULL, &other, NULL));
    struct fit a = {0}, b = {0}, c = {0};
    OK(fit_rows(rows, 3, p, &run, &a, NULL));
    size_t most = memory.count;
    OK(fit_rows(rows, 3, p, &parallel, &b, NULL));
    OK(fit_rows(other, 3, p, &run, &c, NULL));
    assert_memory_equal(a.out.w, b.out.w, 3 * D * sizeof(double));
    assert_close(a.out.w, c.out.w, 3 * D, 1e-10);
    fit_done(&a);
    fit_done(&b);
    fit_done(&c);
    for (size_t k = 1; k <= most; k++) {
        memory = (struct memory){.fail_at = k, .left = SIZE_MAX};
        assert_int_equal(fit_rows(rows, 3, p, &run, &a, NULL), DN_ERR_BUDGET);
        assert_true(memory.live == 0 && a.out.w == NULL);
    }
    dn_rows_free(rows);
    dn_rows_free(other);
    dn_params_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_by_hand),
                                       {"same end iris", same_end, NULL, NULL, "iris"},
                                       {"same end breast_cancer", same_end, NULL, NULL,
                                        "breast_cancer"},
                                       cmocka_unit_test(rates),
                                       cmocka_unit_test(progress),
                                       cmocka_unit_test(sparse_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
