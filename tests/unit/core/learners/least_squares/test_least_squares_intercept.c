/* Least squares with the three values of `intercept`: numbers worked out by hand, and the normal
 * equations recomputed by plain loops for each solver and coding of the targets. */
#include "unit/core/support.h"

#include <discern/statistics.h>

enum { N = 12, D = 2 };
static const double x[N * D] = {1, 2, 0, 1, -1, 3, 2, 2, 4,  0, 1, -1,
                                3, 1, 0, 0, 2,  5, 4, 3, -2, 1, 1, 4};
static const double v[N] = {1, 2, 0, 1, 3, 1, 1, 0.5, 1, 2, 1, 1};
static const char *const codings[] = {"one_of_k", "plus_minus", "zero_one"};
static const char *const modes[] = {"free", "penalised", "none"};
enum { FREE, PENALISED, NONE };

static dn_params *params_of_words(const char *words) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("least_squares"), &p, NULL));
    OK(dn_params_set_words(p, words, NULL));
    return p;
}

static struct fit fit_words(const double *rows_x, size_t n, size_t d, const double *target,
                            const double *weight, size_t K, const char *words) {
    dn_params *p = params_of_words(words);
    dn_run run = dn_run_default();
    struct fit fit = {0};
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(rows_x, n, d), target, weight, &rows, NULL));
    OK(fit_rows(rows, K, p, &run, &fit, NULL));
    dn_rows_free(rows);
    dn_params_free(p);
    return fit;
}

/* x = 1, 2, 3 with T = −1, 1, 1: without an intercept w = Σ xT/Σ x² = 4/14. With λ on w and w0,
 * λ = 1/3: the equations (14/3 + 1/3) w + 2 w0 = 4/3 and 2w + (1 + 1/3) w0 = 1/3 have the
 * determinant 8/3, w = (4/3·4/3 − 2/3)·3/8 = 5/12 and w0 = (5/3 − 8/3)·3/8 = −3/8. With targets 0
 * and 1 and no intercept y = w x with w = Σ xT/Σ x² = 5/14; the score is y − 1/2. */
static void by_hand(void **state) {
    const char *solver = *state;
    const double column[] = {1, 2, 3}, target[] = {0, 1, 1};
    static const struct {
        const char *words;
        double w, w0;
    } cases[] = {{"lambda=0 intercept=none", 4.0 / 14, 0},
                 {"lambda=0.3333333333333333 intercept=penalised", 5.0 / 12, -3.0 / 8},
                 {"lambda=0 intercept=none targets=zero_one", 5.0 / 14, -0.5}};
    for (size_t i = 0; i < 3; i++) {
        char words[200];
        snprintf(words, sizeof words, "%s solver=%s%s", cases[i].words, solver,
                 strcmp(solver, "closed_form") == 0 ? "" : " tolerance=1e-14");
        struct fit fit = fit_words(column, 3, 1, target, NULL, 2, words);
        assert_near(fit.out.w[0], cases[i].w, 1e-12);
        assert_near(fit.out.w0[0], cases[i].w0, 1e-12);
        fit_done(&fit);
    }
}

/* At the solution Σ v (T − y) x = λ (Σv) w; Σ v (T − y) is 0 (free), λ (Σv) b (penalised), and
 * without an intercept b = 0. y and b are those of the coding: score + 1/2 for zero_one. */
static void check_optimum(const double *rows_x, size_t n, size_t d, const double *target,
                          const double *weight, size_t K, const struct fit *fit, size_t coding,
                          double lambda, int mode, double tolerance) {
    const bool half = K == 2 && coding == 2;
    const double low = (K == 2 && coding == 0) || coding == 1 ? -1 : 0;
    const size_t S = dn_machine_n_scores(fit->out.machine);
    double total = 0, squares = 0, penalty = 0;
    for (size_t k = 0; k < S; k++) {
        const double *w = fit->out.w + k * d, b = fit->out.w0[k] + (half ? 0.5 : 0);
        double *sum = xcalloc(d + 1, sizeof *sum);
        total = 0;
        for (size_t i = 0; i < n; i++) {
            const double u = weight == NULL ? 1 : weight[i],
                         own = S == 1 ? target[i] == 1 : target[i] == (double)k;
            double e = (own == 1 ? 1 : low) - b;
            for (size_t j = 0; j < d; j++) {
                e -= w[j] * rows_x[i * d + j];
            }
            for (size_t j = 0; j <= d; j++) {
                sum[j] += u * e * (j < d ? rows_x[i * d + j] : 1);
            }
            squares += u * e * e;
            total += u;
        }
        for (size_t j = 0; j < d; j++) {
            assert_true(fabs(sum[j] / total - lambda * w[j]) <= tolerance);
            penalty += w[j] * w[j];
        }
        if (mode == NONE) {
            assert_true(b == 0);
        } else {
            assert_true(fabs(sum[d] / total - (mode == PENALISED ? lambda * b : 0)) <= tolerance);
        }
        penalty += mode == PENALISED ? b * b : 0;
        free(sum);
    }
    const double share = K == 2 && coding == 0 ? 0.5 : 1;
    assert_true(fabs(fit->report.objective - share * (squares / total + lambda * penalty)) <=
                fmax(1e-12, tolerance));
    assert_true(fit->report.gradient_norm <= 100 * tolerance);
}

static void optimum(void **state) {
    const char *solver = *state;
    for (size_t c = 0; c < 18; c++) {
        const size_t K = 2 + c / 9, coding = c % 3;
        const int mode = (int)(c / 3 % 3);
        char words[200];
        double target[N];
        for (size_t i = 0; i < N; i++) {
            target[i] = (double)((i * 5 / 3) % K);
        }
        snprintf(words, sizeof words, "lambda=0.1 solver=%s targets=%s intercept=%s%s", solver,
                 codings[coding], modes[mode],
                 strcmp(solver, "closed_form") == 0 ? "" : " tolerance=1e-14");
        struct fit fit = fit_words(x, N, D, target, v, K, words);
        check_optimum(x, N, D, target, v, K, &fit, coding, 0.1, mode, 1e-12);
        fit_done(&fit);
    }
}

/* Without a penalty and an intercept: dependent columns (the third is the sum of the others), and
 * fewer rows than columns. The weights are those of least norm: orthogonal to the null space. A
 * penalised intercept without a penalty is free. */
static void without_a_penalty(void **state) {
    const char *solver = *state;
    double wide[N * 3], target[N];
    for (size_t i = 0; i < N; i++) {
        wide[i * 3] = x[i * 2];
        wide[i * 3 + 1] = x[i * 2 + 1];
        wide[i * 3 + 2] = x[i * 2] + x[i * 2 + 1];
        target[i] = (double)((i * 5 / 3) % 2);
    }
    for (size_t n = 3; n <= N; n += N - 3) { /* 3 rows of 3 columns, and all rows */
        for (size_t c = 0; c < 9; c++) {
            const size_t coding = c % 3;
            const int mode = (int)(c / 3);
            char words[200];
            snprintf(words, sizeof words, "lambda=0 solver=%s targets=%s intercept=%s%s", solver,
                     codings[coding], modes[mode],
                     strcmp(solver, "closed_form") == 0 ? "" : " tolerance=1e-13");
            struct fit fit = fit_words(wide, n, 3, target, NULL, 2, words);
            check_optimum(wide, n, 3, target, NULL, 2, &fit, coding, 0,
                          mode == PENALISED ? FREE : mode, 1e-10);
            assert_true(fabs(fit.out.w[0] + fit.out.w[1] - fit.out.w[2]) <= 1e-10);
            fit_done(&fit);
        }
    }
}

/* Columns far from 0, where the closed form needs the triangular factor of the rows. */
static void far_columns(void **state) {
    (void)state;
    double far[N * D], target[N];
    for (size_t i = 0; i < N; i++) {
        far[i * D] = 1e4 + x[i * D];
        far[i * D + 1] = 2e4 + x[i * D + 1];
        target[i] = (double)((i * 5 / 3) % 2);
    }
    for (int mode = FREE; mode <= NONE; mode++) {
        char words[100];
        snprintf(words, sizeof words, "lambda=0.1 solver=closed_form intercept=%s", modes[mode]);
        struct fit fit = fit_words(far, N, D, target, v, 2, words);
        check_optimum(far, N, D, target, v, 2, &fit, 0, 0.1, mode, 1e-6); /* x is 2e4 */
        fit_done(&fit);
    }
}

/* x = 1, 2, 3 with T = −1, 1, 1 and no intercept: w = 2/7, RSS = 3 − 16/14 = 13/7, s² = 13/14, and
 * the standard error is √(13/14/14). Σ T² = 3 is the null deviance with 3 degrees of freedom, R² =
 * 1 − 13/21, and F = t² = (8/7)/(13/14) = 16/13. */
static void statistics(void **state) {
    (void)state;
    const double column[] = {1, 2, 3}, of_class[] = {0, 1, 1};
    char *names[] = {(char *)(uintptr_t) "a", (char *)(uintptr_t) "class"},
         *labels[] = {(char *)(uintptr_t) "n", (char *)(uintptr_t) "p", (char *)(uintptr_t) "p"},
         *classes[] = {labels[0], labels[1]};
    struct csv t = {.n = 3,
                    .d = 1,
                    .K = 2,
                    .names = names,
                    .x = (double *)(uintptr_t)column,
                    .labels = labels,
                    .classes = classes,
                    .target = (double *)(uintptr_t)of_class};
    struct table *table = table_of(&t);
    dn_params *p = params_of_words("lambda=0 intercept=none");
    dn_train_request request = table_request(&t, table, p);
    dn_train_result result;
    request.features.standardize = false;
    OK(dn_train(&request, NULL, &result, NULL));
    const dn_statistics *s = dn_model_statistics(result.model);
    dn_goodness g;
    assert_int_equal(s->reason, DN_STATISTICS_AVAILABLE);
    dn_statistics_goodness(s, 0, &g);
    assert_near(s->error[0], sqrt(13.0 / 14 / 14), 1e-12);
    assert_true(s->error[1] == 0);
    assert_near(s->parameters, 1, 1e-12);
    assert_near(g.null_deviance, 3, 1e-12);
    assert_near(g.deviance, 13.0 / 7, 1e-12);
    assert_near(g.df_null, 3, 1e-12);
    assert_near(g.df_residual, 2, 1e-12);
    assert_near(g.r_squared, 1 - 13.0 / 21, 1e-12);
    assert_near(g.adjusted_r_squared, 1 - 13.0 / 14, 1e-12);
    assert_near(g.statistic, 16.0 / 13, 1e-12);
    assert_near(g.df, 1, 1e-12);
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"by hand, closed_form", by_hand, NULL, NULL, "closed_form"},
        {"by hand, conjugate_gradient", by_hand, NULL, NULL, "conjugate_gradient"},
        {"by hand, gradient_descent", by_hand, NULL, NULL, "gradient_descent"},
        {"optimum, closed_form", optimum, NULL, NULL, "closed_form"},
        {"optimum, conjugate_gradient", optimum, NULL, NULL, "conjugate_gradient"},
        {"optimum, gradient_descent", optimum, NULL, NULL, "gradient_descent"},
        {"no penalty, closed_form", without_a_penalty, NULL, NULL, "closed_form"},
        {"no penalty, conjugate_gradient", without_a_penalty, NULL, NULL, "conjugate_gradient"},
        {"no penalty, gradient_descent", without_a_penalty, NULL, NULL, "gradient_descent"},
        cmocka_unit_test(far_columns),
        cmocka_unit_test(statistics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
