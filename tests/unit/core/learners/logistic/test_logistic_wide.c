/* newton beyond 4,096 variables: conjugate gradients instead of a matrix. Optimality recomputed
 * from the data, agreement with L-BFGS, memory. */
#include "unit/core/learners/logistic/logistics.h"

enum { WORDS = 60 };

static void agrees(const struct problem *t, const char *penalty, double lambda, double ratio) {
    dn_params *p = params_with("newton", penalty, lambda),
              *q = params_with("lbfgs", penalty, lambda);
    struct fit fit = fit_problem(t, p), other = fit_problem(t, q);
    double value, worst = optimality(t, &fit, lambda * ratio, lambda * (1 - ratio), &value);
    assert_true(fit.report.converged && worst <= 1.1e-9);
    assert_near(fit.report.objective, value, 1e-10);
    assert_near(fit.report.objective, other.report.objective, 1e-9);
    assert_true(logistic_detail(&fit.report, "inner_iterations") >= (double)fit.report.iterations);
    if (ratio > 0) {
        assert_int_equal(count_nonzero(t, &fit), logistic_detail(&fit.report, "nonzero_weights"));
        assert_int_equal(count_nonzero(t, &fit), count_nonzero(t, &other));
        assert_true(count_nonzero(t, &fit) < scores_of(t) * t->d);
    } else {
        assert_close(fit.out.w, other.out.w, scores_of(t) * t->d, 1e-5);
    }
    fit_done(&fit);
    fit_done(&other);
    dn_params_free(p);
    dn_params_free(q);
}

static void conditions_hold(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct problem t = problem_sparse(300, K == 2 ? 4200 : 1400, K, WORDS);
        agrees(&t, "l2", 1e-2, 0);
        agrees(&t, "l2", 1e-4, 0);
        agrees(&t, "l1", 1e-2, 1);
        agrees(&t, "l1", 1e-3, 1);
        agrees(&t, "elastic_net", 1e-3, 0.5);
        logistic_problem_done(&t);
    }
}

/* Dense rows, and rows with weight 2 instead of two copies, give the same result as sparse rows. */
static void dense_rows_and_weights(void **state) {
    (void)state;
    struct problem t = problem_sparse(200, 1400, 3, WORDS), dense = {.n = t.n, .d = t.d, .K = t.K},
                   twice = {.n = 2 * t.n, .d = t.d, .K = t.K};
    double *weight = xcalloc(t.n, sizeof *weight);
    twice.x = xcalloc(twice.n * t.d, sizeof(double));
    twice.target = xcalloc(twice.n, sizeof(double));
    for (size_t i = 0; i < t.n; i++) {
        weight[i] = 2;
        for (size_t r = 0; r < 2; r++) {
            memcpy(twice.x + (2 * i + r) * t.d, t.x + i * t.d, t.d * sizeof(double));
            twice.target[2 * i + r] = t.target[i];
        }
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, t.n, t.d), t.target, weight, &dense.rows, NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(twice.x, twice.n, t.d), twice.target, NULL, &twice.rows,
                           NULL));
    const char *const penalties[] = {"l2", "elastic_net"};
    for (size_t i = 0; i < 2; i++) {
        dn_params *p = params_with("newton", penalties[i], 1e-2);
        struct fit a = fit_problem(&t, p), b = fit_problem(&dense, p), c = fit_problem(&twice, p);
        assert_close(b.out.w, a.out.w, 3 * t.d, 1e-6);
        assert_close(c.out.w, a.out.w, 3 * t.d, 1e-6);
        assert_near(b.report.objective, a.report.objective, 1e-11);
        assert_near(c.report.objective, a.report.objective, 1e-11);
        fit_done(&a);
        fit_done(&b);
        fit_done(&c);
        dn_params_free(p);
    }
    free(weight);
    logistic_problem_done(&t);
    logistic_problem_done(&dense);
    logistic_problem_done(&twice);
}

/* 4,096 variables use a matrix, 4,097 do not: the same minimum. The additional column is empty and
 * has weight 0. */
static void newton_with_and_without_a_matrix(void **state) {
    (void)state;
    enum { D = 4095 };
    struct problem t = problem_sparse(40, D, 2, WORDS), wide = t;
    OK(dn_rows_from_matrix(dn_matrix_csr(t.start, t.cols, t.values, t.n, D + 1), t.target, NULL,
                           &wide.rows, NULL));
    dn_params *p =
        /* Few nonzero weights: small systems within the large matrix. */
        params_with("newton", "l1", 0.05);
    struct fit with = fit_problem(&t, p), without = fit_problem(&wide, p);
    assert_near(without.report.objective, with.report.objective, 1e-11);
    assert_close(without.out.w, with.out.w, D, 1e-6);
    assert_true(without.out.w[D] == 0);
    assert_true(logistic_detail(&with.report, "hessian_evaluations") > 0);
    for (size_t i = 0; i < without.report.n_details; i++) {
        assert_true(strcmp(without.report.details[i].name, "hessian_evaluations") != 0);
    }
    fit_done(&with);
    fit_done(&without);
    dn_params_free(p);
    dn_rows_free(wide.rows);
    logistic_problem_done(&t);
}

/* The fit allocates no matrix of size d²: its memory is at most the estimate, and the estimate is
 * less than 100 vectors of length d. */
static void wide_fit_allocates_no_matrix(void **state) {
    (void)state;
    const char *const penalties[] = {"l2", "l1", "none"};
    struct problem t = problem_sparse(60, 20000, 2, WORDS);
    for (size_t i = 0; i < 3; i++) {
        dn_params *p = params_with("newton", penalties[i], 1e-2);
        double estimated = estimated_memory(p, t.n, t.d, 2, 1);
        struct meter meter = {0};
        dn_allocator allocator = {.allocate = meter_allocate,
                                  .release = meter_release,
                                  .ctx = &meter,
                                  .budgeted = false};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        struct fit fit;
        OK(fit_rows(t.rows, 2, p, &run, &fit, NULL));
        assert_true((double)meter.most <= estimated && estimated <= 5 * (double)meter.most);
        assert_true(estimated < 100 * 8.0 * 20000);
        assert_int_equal(meter.now, 0);
        /* 60 rows are always separable by 20,000 features. */
        assert_true(i == 2 ? logistic_warned(&fit.report, "separable") : fit.report.converged);
        fit_done(&fit);
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

static void threads_stop_and_memory(void **state) {
    (void)state;
    const char *const penalties[] = {"l2", "l1"};
    struct problem t = problem_sparse(5000, 4200, 2, 5); /* two blocks */
    for (size_t i = 0; i < 2; i++) {
        dn_params *p = params_with("newton", penalties[i], 1e-2);
        OK(dn_params_set_number(p, "max_iterations", 2, NULL));
        dn_run serial = dn_run_default(), ranges = dn_run_default();
        ranges.n_slots = 3;
        ranges.sum = sum_in_ranges;
        ranges.each = each_in_reverse;
        struct fit one, two;
        OK(fit_rows(t.rows, 2, p, &serial, &one, NULL));
        OK(fit_rows(t.rows, 2, p, &ranges, &two, NULL));
        assert_memory_equal(one.out.w, two.out.w, t.d * sizeof(double));
        assert_true(one.report.objective == two.report.objective && one.out.w0[0] == two.out.w0[0]);
        fit_done(&one);
        fit_done(&two);
        for (size_t at = 1;; at += 7) {
            struct polls polls = {.stop_at = at};
            struct memory memory = {.left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, false);
            dn_run run = polls_run(&polls);
            run.allocator = &allocator;
            dn_status status = fit_rows(t.rows, 2, p, &run, &one, NULL);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                assert_true(at > 50);
                fit_done(&one);
                break;
            }
            assert_int_equal(status, DN_ERR_STOPPED);
            assert_int_equal(polls.n, at);
        }
        for (size_t k = 1;; k++) {
            struct memory memory = {.fail_at = k, .left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, false);
            dn_run run = dn_run_default();
            run.allocator = &allocator;
            dn_status status = fit_rows(t.rows, 2, p, &run, &one, NULL);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                assert_true(k > 6);
                fit_done(&one);
                break;
            }
            assert_int_equal(status, DN_ERR_MEMORY);
        }
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conditions_hold),
                                       cmocka_unit_test(dense_rows_and_weights),
                                       cmocka_unit_test(newton_with_and_without_a_matrix),
                                       cmocka_unit_test(wide_fit_allocates_no_matrix),
                                       cmocka_unit_test(threads_stop_and_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
