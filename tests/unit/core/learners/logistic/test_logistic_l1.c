/* Logistic regression with l1 and the elastic net: the optimality conditions recomputed from the
 * data. */
#include "unit/core/learners/logistic/logistics.h"

static const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};

/* Checks the report against the data. Returns the largest violation of the optimality
 * conditions. */
static double check(const struct problem *t, const struct fit *fit, double lambda, double ratio) {
    double value, worst = optimality(t, fit, lambda * ratio, lambda * (1 - ratio), &value);
    assert_near(fit->report.objective, value, 1e-9);
    assert_true(fabs(worst - logistic_detail(&fit->report, "gradient_max")) <= 1e-9);
    assert_int_equal(logistic_detail(&fit->report, "nonzero_weights"), count_nonzero(t, fit));
    if (fit->report.converged) {
        assert_true(worst <= logistic_detail(&fit->report, "tolerance") + 1e-9);
    }
    /* Intercepts are centred. Here the raw features are the encoded ones. */
    double sum = 0;
    for (size_t k = 0; t->K > 2 && k < t->K; k++) {
        sum += fit->out.w0[k];
    }
    assert_true(fabs(sum) <= 1e-12 * (1 + fabs(fit->out.w0[0])));
    return worst;
}

/* Newton and L-BFGS converge to 1e-9, with the same objective and the same zero weights. The
 * gradient descents converge to a larger tolerance. */
static void compare(const struct problem *t, double lambda, const char *penalty, size_t n_solvers) {
    double ratio = strcmp(penalty, "l1") == 0 ? 1 : 0.5, objective = 0;
    size_t nonzero = 0;
    for (size_t s = 0; s < n_solvers; s++) {
        dn_params *p = params_with(solvers[s], penalty, lambda);
        struct fit fit = fit_problem(t, p);
        double worst = check(t, &fit, lambda, ratio);
        if (s == 0) {
            objective = fit.report.objective;
            nonzero = count_nonzero(t, &fit);
            assert_true(nonzero < scores_of(t) * t->d && nonzero > 0);
            assert_true(logistic_detail(&fit.report, "inner_iterations") >= 1);
        }
        if (s < 2) {
            assert_true(fit.report.converged && worst <= 1.1e-9);
            assert_near(fit.report.objective, objective, 1e-11);
            assert_int_equal(count_nonzero(t, &fit), nonzero);
        } else {
            assert_near(fit.report.objective, objective, 1e-2);
            /* No objective is below the minimum. */
            assert_true(fit.report.objective >= objective * (1 - 1e-12));
            assert_true(count_nonzero(t, &fit) < scores_of(t) * t->d);
            if (fit.report.converged) {
                assert_true(count_nonzero(t, &fit) <= nonzero + 3);
            }
        }
        fit_done(&fit);
        dn_params_free(p);
    }
}

static void conditions_hold_on_files(void **state) {
    (void)state;
    const char *const sets[] = {"iris", "wine", "breast_cancer", "digits"};
    for (size_t i = 0; i < 4; i++) {
        for (int raw = 0; raw < 2; raw++) {
            struct problem t = problem_named(sets[i], raw == 0);
            compare(&t, 1e-1, "l1", raw || i == 3 ? 2 : 4);
            compare(&t, 1e-2, "elastic_net", raw || i == 3 ? 2 : 4);
            compare(&t, 1e-3, "l1", 2);
            logistic_problem_done(&t);
        }
    }
}

static void conditions_hold_on_sparse_rows(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct problem t = problem_sparse(300, 80, K, 12);
        compare(&t, 1e-2, "l1", 4);
        compare(&t, 1e-2, "elastic_net", 4);
        /* Only the first two solvers: the gradient descents need 12,000 passes. */
        compare(&t, 1e-3, "elastic_net", 2);
        logistic_problem_done(&t);
    }
}

/* More features than rows: the curvature is singular, and a minimum has at most about as many
 * nonzero weights as there are rows. */
static void more_features_than_rows(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct problem t = problem_sparse(60, 250, K, 15);
        compare(&t, 1e-2, "l1", 2);
        compare(&t, 1e-3, "l1", 2);
        compare(&t, 1e-4, "elastic_net", 2);
        logistic_problem_done(&t);
    }
}

/* Three standardised problems with a unique minimum: the weights agree, not only the objectives. */
static void solvers_agree_on_weights(void **state) {
    (void)state;
    const char *const sets[] = {"iris", "wine", "breast_cancer"};
    for (size_t i = 0; i < 3; i++) {
        struct problem t = problem_named(sets[i], true);
        struct fit fits[4];
        for (size_t s = 0; s < 4; s++) {
            dn_params *p = params_with(solvers[s], "elastic_net", 5e-2);
            fits[s] = fit_problem(&t, p);
            assert_true(fits[s].report.converged);
            dn_params_free(p);
        }
        for (size_t s = 1; s < 4; s++) {
            assert_close(fits[s].out.w, fits[0].out.w, scores_of(&t) * t.d, s == 1 ? 1e-6 : 2e-2);
            assert_close(fits[s].out.w0, fits[0].out.w0, scores_of(&t), s == 1 ? 1e-6 : 2e-2);
        }
        for (size_t s = 0; s < 4; s++) {
            fit_done(&fits[s]);
        }
        logistic_problem_done(&t);
    }
}

/* Above λ_max = max |h| at w = 0 in standardised terms every weight is 0 and the intercepts are the
 * log-odds of the class shares. Just below it some weight is nonzero. */
static void all_weights_are_0_above_lambda_max(void **state) {
    (void)state;
    const char *const sets[] = {"wine", "breast_cancer"};
    for (size_t i = 0; i < 2; i++) {
        struct problem t = problem_named(sets[i], true);
        size_t S = scores_of(&t);
        double share[3] = {0}, *zero = xcalloc(S * t.d, sizeof *zero),
               *gradient = xcalloc(S * (t.d + 1), sizeof *gradient), w0[3], most = 0;
        for (size_t r = 0; r < t.n; r++) {
            share[(size_t)t.target[r]] += 1 / (double)t.n;
        }
        for (size_t k = 0; k < S; k++) {
            w0[k] = S == 1 ? log(share[1] / share[0])
                           : log(share[k]) - (log(share[0]) + log(share[1]) + log(share[2])) / 3;
        }
        reference_objective(t.x, t.target, NULL, t.n, t.d, t.K, zero, w0, 0, gradient);
        for (size_t k = 0; k < S; k++) {
            for (size_t j = 0; j < t.d; j++) {
                most = fmax(most, fabs(gradient[k * (t.d + 1) + j]));
            }
        }
        for (size_t s = 0; s < 4; s++) {
            dn_params *p = params_with(solvers[s], "l1", most * 1.001);
            struct fit fit = fit_problem(&t, p);
            assert_int_equal(count_nonzero(&t, &fit), 0);
            assert_close(fit.out.w0, w0, S, s < 2 ? 1e-7 : 1e-3);
            fit_done(&fit);
            OK(dn_params_set_number(p, "lambda", most * 0.98, NULL));
            fit = fit_problem(&t, p);
            assert_true(count_nonzero(&t, &fit) >= 1);
            fit_done(&fit);
            /* An extremely large lambda. */
            OK(dn_params_set_number(p, "lambda", 1e300, NULL));
            fit = fit_problem(&t, p);
            assert_int_equal(count_nonzero(&t, &fit), 0);
            assert_true(isfinite(fit.report.objective));
            fit_done(&fit);
            dn_params_free(p);
        }
        free(zero);
        free(gradient);
        logistic_problem_done(&t);
    }
}

/* One balanced feature of ±1 that agrees with the class in a share q of the rows. The derivative of
 * the mean loss is σ(w) − q, so w = ln((q − λ)/(1 − q + λ)), and w = 0 for λ >= q − ½. */
static void one_feature_in_closed_form(void **state) {
    (void)state;
    enum { N = 400 };
    const double lambdas[] = {0.05, 0.2, 0.2499, 0.2501, 0.4};
    double *x = xcalloc(N, sizeof *x), *y = xcalloc(N, sizeof *y);
    for (size_t i = 0; i < N; i++) {
        y[i] = (double)(i % 2);
        /* Three of four rows agree. */
        x[i] = (i / 2 % 4 == 3) == (i % 2 == 1) ? -1 : 1;
    }
    struct problem t = {.n = N, .d = 1, .K = 2, .x = x, .target = y};
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, 1), y, NULL, &t.rows, NULL));
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < 5; i++) {
            dn_params *p = params_with(solvers[s], "l1", lambdas[i]);
            struct fit fit = fit_problem(&t, p);
            double q = 0.75 - lambdas[i], w = q > 0.5 ? log(q / (1 - q)) : 0;
            assert_true(fabs(fit.out.w[0] - w) <= 1e-8);
            assert_true((fit.out.w[0] == 0) == (w == 0));
            fit_done(&fit);
            dn_params_free(p);
        }
    }
    logistic_problem_done(&t);
}

/* l1_ratio 0 is l2, l1_ratio 1 is l1, lambda 0 is no penalty: the same bytes. */
static void l1_ratio_0_and_1(void **state) {
    (void)state;
    const struct {
        double ratio, lambda;
        const char *penalty;
    } ends[] = {{0, 1e-2, "l2"}, {1, 1e-2, "l1"}, {0.3, 0, "none"}};
    struct problem t = problem_named("iris", true);
    for (size_t s = 0; s < 4; s++) {
        for (size_t i = 0; i < 3; i++) {
            dn_params *p = params_with(solvers[s], "elastic_net", ends[i].lambda),
                      *q = params_with(solvers[s], ends[i].penalty, ends[i].lambda);
            OK(dn_params_set_number(p, "l1_ratio", ends[i].ratio, NULL));
            OK(dn_params_set_number(p, "max_iterations", 50, NULL));
            OK(dn_params_set_number(q, "max_iterations", 50, NULL));
            struct fit one = fit_problem(&t, p), two = fit_problem(&t, q);
            assert_memory_equal(one.out.w, two.out.w, 3 * t.d * sizeof(double));
            assert_memory_equal(one.out.w0, two.out.w0, 3 * sizeof(double));
            assert_true(one.report.objective == two.report.objective);
            fit_done(&one);
            fit_done(&two);
            dn_params_free(p);
            dn_params_free(q);
        }
    }
    logistic_problem_done(&t);
}

/* Columns multiplied by c and λ multiplied by c give the same scores, for every solver. */
static void scaling_scales_the_penalty(void **state) {
    (void)state;
    const double c = 37;
    struct problem t = problem_named("wine", true), scaled = problem_named("wine", true);
    for (size_t i = 0; i < t.n * t.d; i++) {
        scaled.x[i] = t.x[i] * c;
    }
    for (size_t s = 0; s < 2; s++) {
        dn_params *p = params_with(solvers[s], "l1", 1e-2),
                  *q = params_with(solvers[s], "l1", 1e-2 * c);
        struct fit one = fit_problem(&t, p), two = fit_problem(&scaled, q);
        for (size_t i = 0; i < 3 * t.d; i++) {
            two.out.w[i] *= c;
        }
        assert_close(two.out.w, one.out.w, 3 * t.d, 1e-6);
        assert_near(two.report.objective, one.report.objective, 1e-10);
        fit_done(&one);
        fit_done(&two);
        dn_params_free(p);
        dn_params_free(q);
    }
    logistic_problem_done(&t);
    logistic_problem_done(&scaled);
}

/* A row of weight 0, 1 or 2 equals 0, 1 or 2 copies of the row with weight 1. */
static void weights_are_repeated_rows(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct csv *csv = csv_clouds(300, 4, K);
        struct problem t = {.n = csv->n, .d = csv->d, .K = K}, twice = {.d = csv->d, .K = K};
        t.x = xcalloc(t.n * t.d, sizeof(double));
        t.target = xcalloc(t.n, sizeof(double));
        t.weight = xcalloc(t.n, sizeof(double));
        twice.x = xcalloc(2 * t.n * t.d, sizeof(double));
        twice.target = xcalloc(2 * t.n, sizeof(double));
        memcpy(t.x, csv->x, t.n * t.d * sizeof(double));
        memcpy(t.target, csv->target, t.n * sizeof(double));
        for (size_t i = 0; i < t.n; i++) {
            t.weight[i] = (double)(i % 3);
            for (size_t r = 0; r < i % 3; r++, twice.n++) {
                memcpy(twice.x + twice.n * t.d, t.x + i * t.d, t.d * sizeof(double));
                twice.target[twice.n] = t.target[i];
            }
        }
        OK(dn_rows_from_matrix(dn_matrix_dense(t.x, t.n, t.d), t.target, t.weight, &t.rows, NULL));
        OK(dn_rows_from_matrix(dn_matrix_dense(twice.x, twice.n, t.d), twice.target, NULL,
                               &twice.rows, NULL));
        for (size_t s = 0; s < 3; s++) {
            dn_params *p = params_with(solvers[s], "elastic_net", 2e-2);
            /* Σv is the same, so the learning rate is the same. */
            if (s == 2) {
                OK(dn_params_set_number(p, "max_iterations", 200, NULL));
            }
            struct fit one = fit_problem(&t, p), two = fit_problem(&twice, p);
            (void)check(&t, &one, 2e-2, 0.5);
            assert_close(one.out.w, two.out.w, scores_of(&t) * t.d, s == 2 ? 1e-5 : 1e-6);
            assert_near(one.report.objective, two.report.objective, 1e-9);
            if (s == 2) {
                assert_near(logistic_detail(&one.report, "learning_rate"),
                            logistic_detail(&two.report, "learning_rate"), 1e-4);
            }
            fit_done(&one);
            fit_done(&two);
            dn_params_free(p);
        }
        logistic_problem_done(&t);
        logistic_problem_done(&twice);
        csv_free(csv);
    }
}

/* Repeating every row, or giving every row weight 2, halves the learning rate of the sum and
 * changes nothing else. Rows with weight 0 do not increase the learning rate of the batches. */
static void rates_follow_the_weights(void **state) {
    (void)state;
    struct csv *csv = csv_clouds(200, 3, 2);
    double *one = xcalloc(csv->n, sizeof *one), *half = xcalloc(csv->n, sizeof *half);
    for (size_t i = 0; i < csv->n; i++) {
        one[i] = 2;
        half[i] = (double)(i / 7 % 2);
    }
    for (size_t s = 2; s < 4; s++) {
        double rate[3];
        const double *const weights[] = {NULL, one, half};
        for (size_t i = 0; i < 3; i++) {
            struct problem t = {.n = csv->n, .d = csv->d, .K = 2};
            OK(dn_rows_from_matrix(dn_matrix_dense(csv->x, t.n, t.d), csv->target, weights[i],
                                   &t.rows, NULL));
            dn_params *p = params_with(solvers[s], "l2", 1e-2);
            OK(dn_params_set_number(p, "max_iterations", 2, NULL));
            struct fit fit = fit_problem(&t, p);
            rate[i] = logistic_detail(&fit.report, "learning_rate");
            fit_done(&fit);
            dn_params_free(p);
            logistic_problem_done(&t);
        }
        assert_near(rate[1], rate[0] / 2, 1e-6);
        if (s == 3) {
            /* Only rows with nonzero weight determine the learning rate of a batch. */
            assert_near(rate[2], rate[0], 0.2);
        }
    }
    free(one);
    free(half);
    csv_free(csv);
}

/* The intercepts reported for raw features are centred, for any offset of the encoder. A constant
 * column has weight exactly 0. */
static void intercepts_are_centred_in_the_raw_space(void **state) {
    (void)state;
    struct problem t = problem_named("wine", true);
    double *mean = xcalloc(t.d, sizeof *mean), *scale = xcalloc(t.d, sizeof *scale);
    for (size_t j = 0; j < t.d; j++) {
        mean[j] = 3 + (double)j;
        scale[j] = 1 + 0.1 * (double)j;
    }
    for (size_t i = 0; i < t.n; i++) {
        t.x[i * t.d + 2] = 0.7;
    }
    for (size_t s = 0; s < 2; s++) {
        dn_params *p = params_with(solvers[s], "l1", 1e-2);
        dn_fit_input input = {
            .rows = t.rows, .n_classes = 3, .params = p, .mean = mean, .scale = scale};
        dn_run run = dn_run_default();
        struct fit fit;
        OK(fit_input(p, &input, &run, &fit, NULL));
        double sum = 0, size = 0;
        for (size_t k = 0; k < 3; k++) {
            double raw = fit.out.w0[k];
            for (size_t j = 0; j < t.d; j++) {
                raw -= fit.out.w[k * t.d + j] * mean[j] / scale[j];
            }
            sum += raw;
            size += fabs(raw);
            assert_true(fit.out.w[k * t.d + 2] == 0);
        }
        assert_true(size > 0 && fabs(sum) <= 1e-12 * size);
        fit_done(&fit);
        dn_params_free(p);
    }
    free(mean);
    free(scale);
    logistic_problem_done(&t);
}

static void threads_do_not_change_the_result(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct csv *csv = csv_clouds(20000, 3, K);
        for (size_t s = 0; s < 4; s++) {
            dn_params *p = params_with(solvers[s], "l1", 1e-2);
            OK(dn_params_set_number(p, "max_iterations", 8, NULL));
            dn_rows *rows;
            OK(dn_rows_from_matrix(dn_matrix_dense(csv->x, csv->n, csv->d), csv->target, NULL,
                                   &rows, NULL));
            dn_run serial = dn_run_default(), ranges = dn_run_default();
            ranges.n_slots = 3;
            ranges.sum = sum_in_ranges;
            ranges.each = each_in_reverse;
            struct fit one, two;
            OK(fit_rows(rows, K, p, &serial, &one, NULL));
            OK(fit_rows(rows, K, p, &ranges, &two, NULL));
            assert_memory_equal(one.out.w, two.out.w,
                                dn_machine_n_scores(one.out.machine) * csv->d * sizeof(double));
            assert_memory_equal(one.out.w0, two.out.w0,
                                dn_machine_n_scores(one.out.machine) * sizeof(double));
            assert_true(one.report.objective == two.report.objective);
            fit_done(&one);
            fit_done(&two);
            dn_rows_free(rows);
            dn_params_free(p);
        }
        csv_free(csv);
    }
}

/* A fit leaks nothing if any poll cancels the fit or any allocation fails. */
static void stop_and_memory(void **state) {
    (void)state;
    struct csv *csv = csv_clouds(100, 3, 3);
    for (size_t s = 0; s < 4; s++) {
        dn_params *p = params_with(solvers[s], "l1", 1e-2);
        OK(dn_params_set_number(p, "max_iterations", 3, NULL));
        dn_rows *rows;
        OK(dn_rows_from_matrix(dn_matrix_dense(csv->x, csv->n, csv->d), csv->target, NULL, &rows,
                               NULL));
        struct fit fit;
        size_t n_polls = 0;
        for (size_t at = 1;; at++) {
            struct polls polls = {.stop_at = at};
            struct memory memory = {.left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, false);
            dn_run run = polls_run(&polls);
            run.allocator = &allocator;
            dn_status status = fit_rows(rows, 3, p, &run, &fit, NULL);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                fit_done(&fit);
                break;
            }
            assert_int_equal(status, DN_ERR_STOPPED);
            assert_int_equal(polls.n, at);
            n_polls++;
        }
        assert_true(n_polls > 8);
        for (size_t k = 1;; k++) {
            struct memory memory = {.fail_at = k, .left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, k % 2 == 0);
            dn_run run = dn_run_default();
            run.allocator = &allocator;
            dn_error err = {0};
            dn_status status = fit_rows(rows, 3, p, &run, &fit, &err);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                assert_true(k > 5);
                fit_done(&fit);
                break;
            }
            assert_int_equal(status, k % 2 == 0 ? DN_ERR_BUDGET : DN_ERR_MEMORY);
            assert_non_null(strstr(err.message, "bytes"));
        }
        dn_rows_free(rows);
        dn_params_free(p);
    }
    csv_free(csv);
}

static void rules_between_parameters(void **state) {
    (void)state;
    dn_params *p = params_with("auto", "l1", 1e-2);
    dn_error err = {0};
    OK(dn_params_set_number(p, "l1_ratio", 0.2, NULL));
    assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "l1_ratio");
    assert_non_null(strstr(err.message, "elastic_net"));
    OK(dn_params_set_word(p, "penalty", "elastic_net", NULL));
    OK(dn_params_check(p, NULL));
    assert_int_equal(dn_params_set_number(p, "l1_ratio", 1.1, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_params_set_number(p, "l1_ratio", -0.1, NULL), DN_ERR_ARGUMENT);
    dn_params_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_hold_on_files),
        cmocka_unit_test(conditions_hold_on_sparse_rows),
        cmocka_unit_test(more_features_than_rows),
        cmocka_unit_test(solvers_agree_on_weights),
        cmocka_unit_test(all_weights_are_0_above_lambda_max),
        cmocka_unit_test(one_feature_in_closed_form),
        cmocka_unit_test(l1_ratio_0_and_1),
        cmocka_unit_test(scaling_scales_the_penalty),
        cmocka_unit_test(weights_are_repeated_rows),
        cmocka_unit_test(rates_follow_the_weights),
        cmocka_unit_test(intercepts_are_centred_in_the_raw_space),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(stop_and_memory),
        cmocka_unit_test(rules_between_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
