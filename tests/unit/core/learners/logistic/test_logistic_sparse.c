/* Logistic regression on sparse rows: the same results as on dense rows, streamed and in memory,
 * and memory that depends on the number of columns. */
#include "unit/core/learners/logistic/logistics.h"
#include "unit/core/learners/shared/streams.h"

static const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
static const char *const penalties[] = {"none", "l2", "l1", "elastic_net"};

static void weigh(struct problem *t) {
    t->weight = xcalloc(t->n, sizeof *t->weight);
    for (size_t i = 0; i < t->n; i++) {
        t->weight[i] = (double)(i % 4) / 2;
    }
    dn_rows_free(t->rows);
    OK(dn_rows_from_matrix(dn_matrix_csr(t->start, t->cols, t->values, t->n, t->d), t->target,
                           t->weight, &t->rows, NULL));
}

static struct fit fit_on(const dn_rows *rows, size_t K, const dn_params *p, size_t n_slots,
                         size_t iterations) {
    dn_run run = dn_run_default();
    dn_params *own;
    struct fit fit;
    dn_error err = {0};
    OK(dn_params_copy(p, &own, NULL));
    OK(dn_params_set_number(own, "max_iterations", (double)iterations, NULL));
    run.n_slots = n_slots;
    run.sum = n_slots > 1 ? sum_in_ranges : NULL;
    run.each = n_slots > 1 ? each_in_reverse : NULL;
    if (fit_rows(rows, K, own, &run, &fit, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    dn_params_free(own);
    return fit;
}

static void same_numbers(const struct problem *t, const struct fit *a, const struct fit *b,
                         double tolerance) {
    size_t S = scores_of(t);
    assert_close(b->out.w, a->out.w, S * t->d, tolerance);
    for (size_t k = 0; k < S; k++) {
        assert_true(fabs(b->out.w0[k] - a->out.w0[k]) <= tolerance * (1 + fabs(a->out.w0[k])));
    }
    assert_near(b->report.objective, a->report.objective, tolerance);
    for (size_t i = 0; i < S * t->d && tolerance < 1e-8; i++) {
        assert_int_equal(a->out.w[i] == 0, b->out.w[i] == 0);
    }
}

/* A few passes of stochastic descent give the same weights for sparse and dense rows, with decay,
 * clipping, both or neither. */
static void sgd_as_dense(void **state) {
    (void)state;
    for (size_t K = 2; K <= 4; K += 2) {
        struct problem t = problem_sparse(500, 80, K, 20);
        weigh(&t);
        dn_rows *dense;
        OK(dn_rows_from_matrix(dn_matrix_dense(t.x, t.n, t.d), t.target, t.weight, &dense, NULL));
        const double batches[] = {1, 7, 300};
        for (size_t i = 0; i < 4; i++) {
            for (size_t b = 0; b < 3; b++) {
                dn_params *p = params_with("sgd", penalties[i], i < 2 ? 1e-2 : 3e-3);
                OK(dn_params_set_number(p, "batch_size", batches[b], NULL));
                struct fit one = fit_on(t.rows, K, p, 1, 4), two = fit_on(dense, K, p, 1, 4);
                same_numbers(&t, &two, &one, 1e-10);
                fit_done(&one);
                fit_done(&two);
                dn_params_free(p);
            }
        }
        dn_rows_free(dense);
        logistic_problem_done(&t);
    }
}

/* With this learning rate the decay factor of one batch is negative, so the weights change sign.
 * Dense and sparse rows give the same weights. */
static void sgd_overshoots_alike(void **state) {
    (void)state;
    struct problem t = problem_sparse(100, 30, 2, 10);
    dn_rows *dense;
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, t.n, t.d), t.target, NULL, &dense, NULL));
    dn_params *p = params_with("sgd", "elastic_net", 0.05);
    OK(dn_params_set_number(p, "batch_size", 50, NULL));
    OK(dn_params_set_number(p, "learning_rate", 0.5, NULL)); /* 1 − 2·0.5·0.025·50 < 0 */
    struct fit one = fit_on(t.rows, 2, p, 1, 3), two = fit_on(dense, 2, p, 1, 3);
    same_numbers(&t, &two, &one, 1e-10);
    fit_done(&one);
    fit_done(&two);
    dn_params_free(p);
    dn_rows_free(dense);
    logistic_problem_done(&t);
}

/* Stochastic descent on sparse rows reaches the unique minimum. */
static void sgd_reaches_the_minimum(void **state) {
    (void)state;
    struct problem t = problem_sparse(300, 12, 3, 8);
    for (size_t i = 1; i < 4; i++) {
        double lambda = 1e-2, ratio = i == 1 ? 0 : i == 2 ? 1 : 0.5, value;
        dn_params *p = params_with("sgd", penalties[i], lambda),
                  *q = params_with("newton", penalties[i], lambda);
        OK(dn_params_set_number(p, "tolerance", 5e-3, NULL));
        struct fit fit = fit_problem(&t, p), best = fit_problem(&t, q);
        assert_true(fit.report.converged);
        assert_true(optimality(&t, &fit, lambda * ratio, lambda * (1 - ratio), &value) <= 5.01e-3);
        assert_true(fit.report.objective >= best.report.objective - 1e-12 &&
                    fit.report.objective - best.report.objective < 2e-3);
        fit_done(&fit);
        fit_done(&best);
        dn_params_free(p);
        dn_params_free(q);
    }
    logistic_problem_done(&t);
}

/* A fit to streamed blocks with three threads gives the same bytes as a fit in memory with one. */
static void streamed_as_in_memory(void **state) {
    (void)state;
    struct problem t = problem_sparse(9000, 60, 3, 6); /* three blocks */
    dn_rows *stream = stream_of(t.rows);
    for (size_t s = 0; s < 4; s++) {
        for (size_t i = 1; i < 4; i++) {
            dn_params *p = params_with(solvers[s], penalties[i], 1e-3);
            struct fit one = fit_on(t.rows, 3, p, 1, 3), two = fit_on(stream, 3, p, 3, 3);
            assert_memory_equal(one.out.w, two.out.w, 3 * t.d * sizeof(double));
            assert_memory_equal(one.out.w0, two.out.w0, 3 * sizeof(double));
            assert_true(one.report.objective == two.report.objective);
            fit_done(&one);
            fit_done(&two);
            dn_params_free(p);
        }
    }
    dn_rows_free(stream);
    logistic_problem_done(&t);
}

/* 100,000 columns and few rows: the memory is proportional to the number of variables, and at most
 * the estimate. */
static void memory_is_proportional_to_the_columns(void **state) {
    (void)state;
    enum { D = 100000, N = 300, ENTRIES = 8 };
    uint64_t seed = 7;
    struct problem t = {.n = N, .d = D, .K = 3};
    t.values = xcalloc(N * ENTRIES, sizeof(double));
    t.cols = xcalloc(N * ENTRIES, sizeof(uint32_t));
    t.start = xcalloc(N + 1, sizeof(size_t));
    t.target = xcalloc(N, sizeof(double));
    for (size_t i = 0; i < N; i++) {
        for (size_t e = 0; e < ENTRIES; e++) {
            t.cols[i * ENTRIES + e] =
                (uint32_t)(e * (D / ENTRIES) + (size_t)(logistic_random(&seed) * 2000));
            t.values[i * ENTRIES + e] = 1;
        }
        t.start[i + 1] = (i + 1) * ENTRIES;
        t.target[i] = (double)(i % 3);
    }
    OK(dn_rows_from_matrix(dn_matrix_csr(t.start, t.cols, t.values, N, D), t.target, NULL, &t.rows,
                           NULL));
    for (size_t s = 0; s < 4; s++) {
        for (size_t i = 1; i < 3; i++) {
            dn_params *p = params_with(solvers[s], penalties[i], 1e-2);
            OK(dn_params_set_number(p, "max_iterations", 2, NULL));
            double estimated = estimated_memory(p, N, D, 3, 1);
            struct meter meter = {0};
            dn_allocator allocator = {.allocate = meter_allocate,
                                      .release = meter_release,
                                      .ctx = &meter,
                                      .budgeted = false};
            dn_run run = dn_run_default();
            run.allocator = &allocator;
            struct fit fit;
            OK(fit_rows(t.rows, 3, p, &run, &fit, NULL));
            assert_true((double)meter.most <= estimated && meter.now == 0);
            assert_true(estimated < 70 * 8.0 * 3 * D);
            fit_done(&fit);
            dn_params_free(p);
        }
    }
    logistic_problem_done(&t);
}

/* The memory of the L-BFGS correction pairs is bounded for any number of variables. Here: 20
 * classes and 100,000 columns. */
static void pairs_have_a_limit(void **state) {
    (void)state;
    const char *const own[] = {"lbfgs", "newton", "sgd", "gradient_descent"};
    for (size_t s = 0; s < 4; s++) {
        for (size_t i = 1; i < 3; i++) {
            dn_params *p = params_with(own[s], penalties[i], 1e-3);
            double estimated = estimated_memory(p, 50000, 100000, 20, 2);
            assert_true(estimated < 800.0 * (1 << 20) && estimated > 100.0 * (1 << 20));
            dn_params_free(p);
        }
    }
}

/* The default max_iterations decreases with the number of rows: one pass of stochastic descent
 * makes one step per row. */
static void passes_over_many_rows(void **state) {
    (void)state;
    const size_t rows[] = {100, 5000, 50000, 10000000}, of_sgd[] = {2000, 2000, 200, 50},
                 of_descent[] = {20000, 20000, 2000, 500};
    for (size_t i = 0; i < 8; i++) {
        dn_params *p = params_of(i < 4 ? "sgd" : "gradient_descent", 1e-3);
        OK(dn_params_resolve(p, rows[i % 4], 10, 2, NULL));
        assert_true(dn_params_number(p, "max_iterations") ==
                    (double)(i < 4 ? of_sgd : of_descent)[i % 4]);
        dn_params_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sgd_as_dense),
                                       cmocka_unit_test(sgd_overshoots_alike),
                                       cmocka_unit_test(sgd_reaches_the_minimum),
                                       cmocka_unit_test(streamed_as_in_memory),
                                       cmocka_unit_test(memory_is_proportional_to_the_columns),
                                       cmocka_unit_test(pairs_have_a_limit),
                                       cmocka_unit_test(passes_over_many_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
