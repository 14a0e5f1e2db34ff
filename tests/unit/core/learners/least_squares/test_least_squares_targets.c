/* Least squares with each coding of the targets: descent steps and optimality by plain loops, the
 * equivalence with Fisher's discriminant, snapshots, statistics. */
#include "unit/core/support.h"

#include <discern/statistics.h>

enum { N = 12, D = 2 };
static const double x[N * D] = {1, 2, 0, 1, -1, 3, 2, 2, 4,  0, 1, -1,
                                3, 1, 0, 0, 2,  5, 4, 3, -2, 1, 1, 4};
static const double v[N] = {1, 2, 0, 1, 3, 1, 1, 0.5, 1, 2, 1, 1};
static const char *const codings[] = {"one_of_k", "plus_minus", "zero_one"};

static double detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].number;
        }
    }
    fail_msg("no detail %s", name);
    return 0;
}

static dn_params *params_with(const char *words, const char *targets) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("least_squares"), &p, NULL));
    OK(dn_params_set_words(p, words, NULL));
    OK(dn_params_set_word(p, "targets", targets, NULL));
    return p;
}

static dn_rows *rows_of(size_t K, double *target) {
    dn_rows *rows;
    for (size_t i = 0; i < N; i++) {
        target[i] = (double)((i * 5 / 3) % K);
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, D), target, v, &rows, NULL));
    return rows;
}

/* Number of outputs: one_of_k has two for two classes, of which the model shows the difference. */
static size_t outputs_of(const char *targets, size_t K) {
    return K == 2 && strcmp(targets, "one_of_k") != 0 ? 1 : K;
}

/* The number that output k of n is fitted to, for a row of class `of`. */
static double target_of(const char *targets, size_t n, size_t k, double of) {
    const bool own = n == 1 ? of == 1 : of == (double)k;
    return own ? 1 : strcmp(targets, "plus_minus") == 0 ? -1 : 0;
}

/* Compares the machine with the weights y [n × (D + 1)] of the outputs. */
static void compare(const struct fit *fit, const char *targets, size_t K, double y[][D + 1]) {
    const size_t n = outputs_of(targets, K);
    const bool difference = K == 2 && n == 2, half = K == 2 && strcmp(targets, "zero_one") == 0;
    for (size_t k = 0; k < dn_machine_n_scores(fit->out.machine); k++) {
        for (size_t j = 0; j <= D; j++) {
            const double w = difference ? y[1][j] - y[0][j] : y[k][j];
            assert_near(j < D ? fit->out.w[k * D + j] : fit->out.w0[k] + (half ? 0.5 : 0), w,
                        1e-12);
        }
    }
}

static double output(const double w[D + 1], size_t i) {
    return w[0] * x[i * D] + w[1] * x[i * D + 1] + w[D];
}

/* Four passes from 0: w_k ← w_k + η (Σ v (T_k − y_k) x − λ (Σv) w_k), the update of logistic
 * regression with p in place of y. */
static void steps_by_hand(void **state) {
    (void)state;
    const double rate = 0.01, lambda = 0.2;
    for (size_t c = 0; c < 6; c++) {
        const char *targets = codings[c % 3];
        const size_t K = 2 + c / 3, n = outputs_of(targets, K);
        double target[N], w[3][D + 1] = {0}, total = 0, squares = 0, penalty = 0, slope = 0;
        dn_rows *rows = rows_of(K, target);
        for (size_t i = 0; i < N; i++) {
            total += v[i];
        }
        if (K == 2 && n == 2) { /* the model has y_2 − y_1, with y_1 + y_2 = 1 from the start */
            w[0][D] = w[1][D] = 0.5;
        }
        for (int pass = 0; pass <= 4; pass++) { /* the fifth pass computes the objective only */
            for (size_t k = 0; k < n; k++) {
                double step[D + 1] = {0};
                for (size_t i = 0; i < N; i++) {
                    const double e = target_of(targets, n, k, target[i]) - output(w[k], i);
                    step[0] += v[i] * e * x[i * D];
                    step[1] += v[i] * e * x[i * D + 1];
                    step[D] += v[i] * e;
                    squares += pass == 4 ? v[i] * e * e : 0;
                }
                for (size_t j = 0; j <= D; j++) {
                    step[j] -= j < D ? lambda * total * w[k][j] : 0;
                    penalty += pass == 4 && j < D ? w[k][j] * w[k][j] : 0;
                    slope += pass == 4 ? 4 * step[j] / total * (step[j] / total) : 0;
                    w[k][j] += pass < 4 ? rate * step[j] : 0;
                }
            }
        }
        dn_params *p = params_with("solver=gradient_descent init=zero lambda=0.2 "
                                   "learning_rate=0.01 max_iterations=4",
                                   targets);
        dn_run run = dn_run_default();
        struct fit fit = {0};
        OK(fit_rows(rows, K, p, &run, &fit, NULL));
        compare(&fit, targets, K, w);
        assert_near(fit.report.objective, squares / total + lambda * penalty, 1e-12);
        assert_near(detail(&fit.report, "residual_sum_of_squares"), squares, 1e-12 * squares);
        assert_near(detail(&fit.report, "squared_norm_of_weights"), penalty, 1e-12);
        if (!(K == 2 && n == 2)) { /* there the gradient is that of the difference */
            assert_near(fit.report.gradient_norm, sqrt(slope), 1e-12);
        }
        fit_done(&fit);
        dn_rows_free(rows);
        dn_params_free(p);
    }
}

/* max_iterations 0 keeps the weights of init, which are in the units of the columns, in each
 * coding. Encoded: w_j s_j and w0 + Σ w_j m_j. A list of another length, and other solvers, are
 * refused. */
static void given_weights(void **state) {
    (void)state;
    static const double list[] = {1, -2, 0.5, 3, 4, -1, 0, 0.25, 2}, mean[] = {1, -2},
                        scale[] = {2, 0.5};
    for (size_t c = 0; c < 6; c++) {
        const size_t K = 2 + c / 3, n = K == 2 ? 3 : 9;
        double target[N];
        dn_error err = {0};
        dn_rows *rows = rows_of(K, target);
        dn_params *p =
            params_with("solver=gradient_descent lambda=0 max_iterations=0", codings[c % 3]);
        dn_run run = dn_run_default();
        struct fit fit = {0};
        OK(dn_params_set_list(p, "init", list, n, NULL));
        const dn_fit_input input = {
            .rows = rows, .n_classes = K, .params = p, .mean = mean, .scale = scale};
        OK(fit_input(p, &input, &run, &fit, NULL));
        assert_true(fit.report.iterations == 0 && fit.report.n_warnings == 0);
        for (size_t k = 0; k < n / 3; k++) {
            const double *w = list + 3 * k;
            assert_near(fit.out.w[2 * k], 2 * w[0], 1e-14);
            assert_near(fit.out.w[2 * k + 1], 0.5 * w[1], 1e-14);
            assert_near(fit.out.w0[k], w[2] + w[0] - 2 * w[1], 1e-14);
        }
        fit_done(&fit);
        OK(dn_params_set_list(p, "init", list, n - 1, NULL));
        assert_int_equal(dn_params_resolve(p, N, D, K, &err), DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "init");
        assert_int_equal(fit_input(p, &input, &run, &fit, NULL), DN_ERR_ARGUMENT);
        OK(dn_params_set_list(p, "init", list, n, NULL));
        OK(dn_params_set_word(p, "solver", "closed_form", NULL));
        assert_int_equal(dn_params_check(p, NULL), DN_ERR_ARGUMENT);
        OK(dn_params_set_word(p, "init", "zero", NULL));
        dn_error_clear(&err);
        assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "max_iterations");
        dn_rows_free(rows);
        dn_params_free(p);
    }
}

/* At the solution of each solver Σ v (T − y) x = λ (Σv) w and Σ v (T − y) = 0. */
static void optimum(void **state) {
    const char *solver = *state;
    for (size_t c = 0; c < 6; c++) {
        const char *targets = codings[c % 3];
        const size_t K = 2 + c / 3;
        const bool half = K == 2 && c % 3 == 2;
        double target[N];
        dn_rows *rows = rows_of(K, target);
        dn_params *p = params_with("lambda=0.1", targets);
        OK(dn_params_set_word(p, "solver", solver, NULL));
        if (strcmp(solver, "closed_form") != 0) {
            OK(dn_params_set_number(p, "tolerance", 1e-13, NULL));
        }
        dn_run run = dn_run_default();
        struct fit fit = {0};
        OK(fit_rows(rows, K, p, &run, &fit, NULL));
        const size_t S = dn_machine_n_scores(fit.out.machine);
        for (size_t k = 0; k < S; k++) {
            const double *w = fit.out.w + k * D;
            double sum[D + 1] = {0}, total = 0;
            for (size_t i = 0; i < N; i++) {
                const double own = S == 1 ? target[i] == 1 : target[i] == (double)k,
                             low = (K == 2 && c % 3 == 0) || c % 3 == 1 ? -1 : 0,
                             y = output((double[]){w[0], w[1], fit.out.w0[k] + (half ? 0.5 : 0)},
                                        i),
                             e = v[i] * ((own == 1 ? 1 : low) - y);
                sum[0] += e * x[i * D];
                sum[1] += e * x[i * D + 1];
                sum[D] += e;
                total += v[i];
            }
            for (size_t j = 0; j <= D; j++) {
                assert_true(fabs(sum[j] / total - (j < D ? 0.1 * w[j] : 0)) <= 1e-12);
            }
        }
        fit_done(&fit);
        dn_rows_free(rows);
        dn_params_free(p);
    }
}

/* Bishop, PRML, section 4.1.5: with the targets N/N1 and −N/N2 the weights solve (S_W + N1 N2/N
 * S_B) w = N (m1 − m2), so that w is proportional to S_W⁻¹ (m2 − m1). These targets are N/N1 − t
 * N²/(N1 N2) with t = 0 and 1: the weights of zero_one times −N²/(N1 N2). Those of one_of_k and
 * plus_minus are twice those of zero_one. */
static void fisher(void **state) {
    (void)state;
    double target[N], n[2] = {0}, m[2][D] = {{0}}, s[3] = {0};
    dn_rows *rows = rows_of(2, target);
    for (size_t i = 0; i < N; i++) {
        const size_t k = (size_t)target[i];
        n[k] += v[i];
        m[k][0] += v[i] * x[i * D];
        m[k][1] += v[i] * x[i * D + 1];
    }
    for (size_t k = 0; k < 2; k++) {
        m[k][0] /= n[k];
        m[k][1] /= n[k];
    }
    for (size_t i = 0; i < N; i++) {
        const double *mean = m[(size_t)target[i]], a = x[i * D] - mean[0],
                     b = x[i * D + 1] - mean[1];
        s[0] += v[i] * a * a;
        s[1] += v[i] * a * b;
        s[2] += v[i] * b * b;
    }
    const double d[D] = {m[1][0] - m[0][0], m[1][1] - m[0][1]}, det = s[0] * s[2] - s[1] * s[1],
                 f[D] = {(s[2] * d[0] - s[1] * d[1]) / det, (s[0] * d[1] - s[1] * d[0]) / det},
                 total = n[0] + n[1], between = n[0] * n[1] / total;
    for (size_t c = 0; c < 3; c++) {
        dn_params *p = params_with("lambda=0", codings[c]);
        dn_run run = dn_run_default();
        struct fit fit = {0};
        OK(fit_rows(rows, 2, p, &run, &fit, NULL));
        const double *w = fit.out.w, bishop = -total / between * (c == 2 ? 1 : 0.5),
                     u[D] = {bishop * w[0], bishop * w[1]},
                     along = between * (d[0] * u[0] + d[1] * u[1]);
        assert_near(w[0] * f[1], w[1] * f[0], 1e-12);
        assert_true(w[0] * f[0] > 0);
        assert_near(s[0] * u[0] + s[1] * u[1] + along * d[0], -total * d[0], 1e-11);
        assert_near(s[1] * u[0] + s[2] * u[1] + along * d[1], -total * d[1], 1e-11);
        fit_done(&fit);
        dn_params_free(p);
    }
    dn_rows_free(rows);
}

struct last {
    double w[3 * (D + 1)], loss;
};

static void keep_last(const dn_run *run, const dn_progress *progress) {
    struct last *last = run->ctx;
    const size_t S = progress->n_scores;
    if (progress->w != NULL) {
        memcpy(last->w, progress->w, S * D * sizeof(double));
        memcpy(last->w + S * D, progress->w0, S * sizeof(double));
        last->loss = progress->loss;
    }
}

/* The snapshot of the last iteration has the weights of the model. */
static void snapshot(void **state) {
    (void)state;
    const size_t wanted[] = {5};
    for (size_t c = 0; c < 6; c++) {
        const size_t K = 2 + c / 3, S = K == 2 ? 1 : K;
        double target[N];
        struct last last = {{0}, 0};
        dn_rows *rows = rows_of(K, target);
        dn_params *p =
            params_with("solver=gradient_descent lambda=0.2 max_iterations=5", codings[c % 3]);
        dn_run run = dn_run_default();
        run.snapshots = wanted;
        run.n_snapshots = 1;
        run.progress = keep_last;
        run.ctx = &last;
        struct fit fit = {0};
        OK(fit_rows(rows, K, p, &run, &fit, NULL));
        assert_close(last.w, fit.out.w, S * D, 1e-13);
        assert_close(last.w + S * D, fit.out.w0, S, 1e-13);
        assert_near(last.loss, fit.report.objective, 1e-13);
        fit_done(&fit);
        dn_rows_free(rows);
        dn_params_free(p);
    }
}

/* Returns the model of a table with the targets of a coding. */
static dn_model *train(const struct csv *t, const char *targets) {
    struct table *table = table_of(t);
    dn_params *p = params_with("lambda=0", targets);
    dn_train_request request = table_request(t, table, p);
    dn_train_result result;
    OK(dn_train(&request, NULL, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
    return model;
}

/* Targets c times as far apart have standard errors c times and deviances c² times as large, and
 * the same R² and F. */
static void statistics(void **state) {
    (void)state;
    static const char *const tables[] = {"breast_cancer", "iris"};
    static const double scale[2][3] = {{1, 1, 0.5}, {1, 2, 1}};
    for (size_t i = 0; i < 2; i++) {
        struct csv *t = csv_named(tables[i]);
        dn_model *base = train(t, "one_of_k");
        const dn_statistics *a = dn_model_statistics(base);
        assert_int_equal(a->reason, DN_STATISTICS_AVAILABLE);
        for (size_t c = 1; c < 3; c++) {
            dn_model *model = train(t, codings[c]);
            const dn_statistics *b = dn_model_statistics(model);
            const double s = scale[i][c];
            assert_int_equal(b->reason, DN_STATISTICS_AVAILABLE);
            for (size_t j = 0; j < a->n_scores * (a->n_features + 1); j++) {
                assert_near(b->error[j], s * a->error[j], 1e-9 * a->error[j]);
            }
            for (size_t k = 0; k < a->n_responses; k++) {
                dn_goodness of_a, of_b;
                dn_statistics_goodness(a, k, &of_a);
                dn_statistics_goodness(b, k, &of_b);
                assert_near(of_b.deviance, s * s * of_a.deviance, 1e-9 * of_a.deviance);
                assert_near(of_b.null_deviance, s * s * of_a.null_deviance,
                            1e-12 * of_a.null_deviance);
                assert_near(of_b.r_squared, of_a.r_squared, 1e-9);
                assert_near(of_b.statistic, of_a.statistic, 1e-8 * of_a.statistic);
            }
            dn_model_unref(model);
        }
        dn_model_unref(base);
        csv_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_by_hand),
                                       cmocka_unit_test(given_weights),
                                       {"optimum closed_form", optimum, NULL, NULL, "closed_form"},
                                       {"optimum conjugate_gradient", optimum, NULL, NULL,
                                        "conjugate_gradient"},
                                       {"optimum gradient_descent", optimum, NULL, NULL,
                                        "gradient_descent"},
                                       cmocka_unit_test(fisher),
                                       cmocka_unit_test(snapshot),
                                       cmocka_unit_test(statistics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
