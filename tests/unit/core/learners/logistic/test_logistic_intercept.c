/* Logistic regression with the three values of `intercept`: numbers worked out by hand, and the
 * optimality conditions recomputed by plain loops for each solver and penalty. */
#include "unit/core/learners/logistic/logistics.h"

#include <discern/statistics.h>

static const char *const modes[] = {"free", "penalised", "none"};
enum { FREE, PENALISED, NONE };

static dn_params *params_of_words(const char *words) {
    dn_params *p;
    dn_error err = {0};
    OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
    if (dn_params_set_words(p, words, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    return p;
}

static struct fit fit_words(const struct problem *t, const char *words) {
    dn_params *p = params_of_words(words);
    struct fit fit = fit_problem(t, p);
    dn_params_free(p);
    return fit;
}

/* Rows of `value`, `ones` of them of the second class. */
static struct problem problem_of_values(const double *value, const double *target, size_t n) {
    struct problem t = {.n = n, .d = 1, .K = 2};
    t.x = xcalloc(n, sizeof(double));
    t.target = xcalloc(n, sizeof(double));
    memcpy(t.x, value, n * sizeof(double));
    memcpy(t.target, target, n * sizeof(double));
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, n, 1), t.target, NULL, &t.rows, NULL));
    return t;
}

/* Four rows x = 2, three of the second class, without an intercept and a penalty: the score 2w has
 * σ(2w) = 3/4, so that w = ln(3)/2. Without a column that is constant in another place: x = 1 three
 * times with one of the second class and x = −1 once of the first class: the rows t x are 1, −1, −1
 * and 1, the classes balance, and w = 0. */
static void by_hand(void **state) {
    (void)state;
    const double two[] = {2, 2, 2, 2}, signs[] = {1, 1, 1, -1}, most[] = {1, 1, 0, 1},
                 few[] = {1, 0, 0, 0};
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent"};
    for (size_t i = 0; i < 3; i++) {
        char words[120];
        snprintf(words, sizeof words,
                 "solver=%s penalty=none intercept=none tolerance=1e-13 init=zero", solvers[i]);
        struct problem t = problem_of_values(two, most, 4);
        struct fit fit = fit_words(&t, words);
        assert_true(fit.report.converged);
        assert_near(fit.out.w[0], log(3) / 2, 1e-12);
        assert_true(fit.out.w0[0] == 0);
        fit_done(&fit);
        logistic_problem_done(&t);
        t = problem_of_values(signs, few, 4);
        fit = fit_words(&t, words);
        assert_near(fit.out.w[0], 0, 1e-12);
        assert_true(fit.out.w0[0] == 0);
        fit_done(&fit);
        logistic_problem_done(&t);
    }
}

/* A penalised intercept is the weight of a feature that is always 1: with x = 0 in every row the
 * only variable is w0, and 4 rows, 3 of the second class, have σ(w0) − 3/4 + 2λ w0 = 0. With λ =
 * 1/8 and l1 = 0: the root of this equation. A column of ones in place of the intercept has the
 * same weight. */
static void penalised_by_hand(void **state) {
    (void)state;
    const double zeros[4] = {0}, ones[] = {1, 1, 1, 1}, most[] = {1, 1, 0, 1};
    double root = 0;
    for (int i = 0; i < 60; i++) {
        const double p = 1 / (1 + exp(-root));
        root -= (p - 0.75 + root / 4) / (p * (1 - p) + 0.25);
    }
    struct problem t = problem_of_values(zeros, most, 4),
                   of_ones = problem_of_values(ones, most, 4);
    struct fit fit = fit_words(&t, "solver=newton lambda=0.125 intercept=penalised"),
               other = fit_words(&of_ones, "solver=newton lambda=0.125 intercept=none"),
               both = fit_words(&of_ones, "solver=newton lambda=0.125 intercept=penalised");
    assert_near(fit.out.w0[0], root, 1e-12);
    assert_near(other.out.w[0], root, 1e-12);
    assert_near(both.out.w[0], both.out.w0[0], 1e-12); /* both features are 1 */
    fit_done(&fit);
    fit_done(&other);
    fit_done(&both);
    logistic_problem_done(&t);
    logistic_problem_done(&of_ones);
}

/* Mean residual times each variable: h [S × (d + 1)]. */
static void gradient_of(const struct problem *t, const struct fit *fit, double *h) {
    const size_t S = scores_of(t), d = t->d;
    double total = 0;
    memset(h, 0, S * (d + 1) * sizeof *h);
    for (size_t i = 0; i < t->n; i++) {
        const double v = t->weight == NULL ? 1 : t->weight[i];
        double g[8], sum = 0;
        for (size_t k = 0; k < S; k++) {
            g[k] = fit->out.w0[k];
            for (size_t j = 0; j < d; j++) {
                g[k] += fit->out.w[k * d + j] * t->x[i * d + j];
            }
            sum += exp(g[k]);
        }
        total += v;
        for (size_t k = 0; k < S; k++) {
            const double p = S == 1 ? 1 / (1 + exp(-g[0])) : exp(g[k]) / sum,
                         e = v * (p - (t->target[i] == (double)(S == 1 ? 1 : k)));
            for (size_t j = 0; j < d; j++) {
                h[k * (d + 1) + j] += e * t->x[i * d + j];
            }
            h[k * (d + 1) + d] += e;
        }
    }
    for (size_t i = 0; i < S * (d + 1); i++) {
        h[i] /= total;
    }
}

/* The largest violation of the optimality conditions, in units of the root mean squares. */
static double violation(const struct problem *t, const struct fit *fit, double l1, double l2,
                        int mode) {
    const size_t S = scores_of(t), d = t->d;
    double *h = xcalloc(S * (d + 1), sizeof *h), largest = 0;
    gradient_of(t, fit, h);
    for (size_t i = 0; i < S * (d + 1); i++) {
        const size_t k = i / (d + 1), j = i % (d + 1);
        const bool bias = j == d;
        const double w = bias ? fit->out.w0[k] : fit->out.w[k * d + j];
        double size = bias ? 1 : 0, slope = h[i];
        for (size_t r = 0; !bias && r < t->n; r++) {
            size += t->x[r * d + j] * t->x[r * d + j] / (double)t->n;
        }
        if (bias && mode == NONE) {
            assert_true(w == 0);
            continue;
        }
        if (!bias || mode == PENALISED) {
            slope += 2 * l2 * w;
            slope = w > 0 ? slope + l1 : w < 0 ? slope - l1 : fmax(0, fabs(slope) - l1);
        }
        largest = fmax(largest, fabs(slope) / fmax(sqrt(size), 1e-3));
    }
    free(h);
    return largest;
}

struct way {
    const char *words; /* solver and penalty */
    double l1, l2, tolerance;
    bool sparse; /* for sparse rows too */
};

static const struct way ways[] = {
    {"solver=newton lambda=0.05", 0, 0.05, 1e-9, true},
    {"solver=lbfgs lambda=0.05 tolerance=1e-9", 0, 0.05, 1e-8, true},
    {"solver=gradient_descent lambda=0.05 tolerance=1e-9", 0, 0.05, 1e-8, true},
    {"solver=sgd lambda=0.05 tolerance=1e-5", 0, 0.05, 2e-3, true},
    {"solver=newton penalty=l1 lambda=0.02", 0.02, 0, 1e-9, true},
    {"solver=lbfgs penalty=l1 lambda=0.02 tolerance=1e-9", 0.02, 0, 1e-8, true},
    {"solver=gradient_descent penalty=l1 lambda=0.02 tolerance=1e-9", 0.02, 0, 1e-8, true},
    {"solver=sgd penalty=l1 lambda=0.02 tolerance=1e-4", 0.02, 0, 2e-3, true},
    {"solver=newton penalty=elastic_net lambda=0.04", 0.02, 0.02, 1e-9, true},
    {"solver=lbfgs penalty=elastic_net lambda=0.04 tolerance=1e-9", 0.02, 0.02, 1e-8, true},
    {"solver=newton penalty=none", 0, 0, 1e-9, false},
    {"solver=lbfgs penalty=none tolerance=1e-9", 0, 0, 1e-8, false},
    {"solver=gradient_descent penalty=none tolerance=1e-7", 0, 0, 1e-6, false},
};

/* Columns whose means are not 0, so that an intercept matters; overlapping classes. */
static struct problem problem_shifted(size_t n, size_t d, size_t K) {
    struct problem t = {.n = n, .d = d, .K = K};
    uint64_t state = 99;
    t.x = xcalloc(n * d, sizeof(double));
    t.target = xcalloc(n, sizeof(double));
    t.weight = xcalloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        t.target[i] = (double)(i % K);
        t.weight[i] = 0.5 + logistic_random(&state);
        for (size_t j = 0; j < d; j++) {
            t.x[i * d + j] = 1 + 0.3 * (double)(i % K) * (double)(j + 1) +
                             3 * logistic_random(&state) - (double)j;
        }
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, n, d), t.target, t.weight, &t.rows, NULL));
    return t;
}

static void check_way(const struct problem *t, const struct way *way, int mode) {
    char words[160];
    snprintf(words, sizeof words, "%s max_iterations=%s intercept=%s", way->words,
             strstr(way->words, "sgd") != NULL ? "5000" : "200000", modes[mode]);
    struct fit fit = fit_words(t, words);
    const double found = violation(t, &fit, way->l1, way->l2,
                                   way->l1 + way->l2 == 0 && mode == PENALISED ? FREE : mode);
    const bool sgd = strstr(words, "sgd") != NULL; /* may end before its tolerance */
    if ((!sgd && !fit.report.converged) || !(found <= way->tolerance)) {
        fail_msg("%s, %zu classes: violation %g, converged %d", words, t->K, found,
                 fit.report.converged);
    }
    fit_done(&fit);
}

static void optimum_of_each_solver(void **state) {
    (void)state;
    for (size_t K = 2; K <= 3; K++) {
        struct problem dense = problem_shifted(200, 3, K), sparse = problem_sparse(200, 12, K, 8);
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            for (int mode = FREE; mode <= NONE; mode++) {
                check_way(&dense, &ways[i], mode);
                if (ways[i].sparse) {
                    check_way(&sparse, &ways[i], mode);
                }
            }
        }
        logistic_problem_done(&dense);
        logistic_problem_done(&sparse);
    }
}

/* More variables than a Hessian matrix may have: products with the Hessian in place of it. */
static void many_columns(void **state) {
    (void)state;
    const struct way way = {"solver=newton lambda=0.05", 0, 0.05, 1e-8, true},
                     with_l1 = {"solver=newton penalty=l1 lambda=0.01", 0.01, 0, 1e-8, true};
    struct problem t = problem_sparse(150, 4200, 2, 30);
    for (int mode = FREE; mode <= NONE; mode++) {
        check_way(&t, &way, mode);
        check_way(&t, &with_l1, mode);
    }
    logistic_problem_done(&t);
}

/* Four different rows, three times each, with one or two rows of the second class, and 14 columns:
 * each score is ±ln 2. Row i has 2 in column i, so that without an intercept the weights of least
 * norm are ±ln(2)/2 in the first four columns. */
static void fewer_rows_than_columns(void **state) {
    (void)state;
    enum { ROWS = 12, COLUMNS = 14 };
    static const double of_class[ROWS] = {1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0};
    static const double sign[4] = {1, -1, 1, -1};
    const char *const solvers[] = {"newton", "lbfgs tolerance=1e-10",
                                   "gradient_descent tolerance=1e-10"};
    double x[ROWS * COLUMNS] = {0};
    for (size_t i = 0; i < ROWS; i++) {
        x[i * COLUMNS + i / 3] = 2;
    }
    for (size_t s = 0; s < 3; s++) {
        char words[160];
        dn_rows *rows;
        OK(dn_rows_from_matrix(dn_matrix_dense(x, ROWS, COLUMNS), of_class, NULL, &rows, NULL));
        struct problem t = {.n = ROWS, .d = COLUMNS, .K = 2, .rows = rows};
        snprintf(words, sizeof words, "solver=%s penalty=none intercept=none max_iterations=100000",
                 solvers[s]);
        struct fit fit = fit_words(&t, words);
        assert_true(fit.report.converged);
        assert_true(fit.out.w0[0] == 0);
        for (size_t j = 0; j < COLUMNS; j++) {
            assert_near(fit.out.w[j], j < 4 ? sign[j] * log(2) / 2 : 0, 1e-8);
        }
        fit_done(&fit);
        dn_rows_free(rows);
    }
}

/* x = 1 of the second class and x = 2 of the first class are separable with an intercept only.
 * Without it σ(w) − 1 + 2σ(2w) = 0. x = −2 and −1 of the first, 1 and 2 of the second class are
 * separable without an intercept. */
static void separable_with_or_without(void **state) {
    (void)state;
    const double near[] = {1, 1, 2, 2}, swapped[] = {1, 1, 0, 0}, apart[] = {-2, -1, 1, 2},
                 sides[] = {0, 0, 1, 1};
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent max_iterations=50000"};
    double root = 0;
    for (int i = 0; i < 60; i++) {
        const double p = 1 / (1 + exp(-root)), q = 1 / (1 + exp(-2 * root));
        root -= (p - 1 + 2 * q) / (p * (1 - p) + 4 * q * (1 - q));
    }
    struct problem t = problem_of_values(near, swapped, 4), u = problem_of_values(apart, sides, 4);
    for (size_t s = 0; s < 3; s++) {
        char words[2][120];
        for (size_t i = 0; i < 2; i++) {
            snprintf(words[i], sizeof words[i], "solver=%s penalty=none intercept=%s", solvers[s],
                     i == 0 ? "none" : "free");
        }
        struct fit none = fit_words(&t, words[0]), free = fit_words(&t, words[1]),
                   both = fit_words(&u, words[0]);
        assert_true(none.report.converged);
        assert_near(none.out.w[0], root, 1e-4);
        assert_true(logistic_warned(&free.report, "completely separable"));
        assert_true(logistic_warned(&both.report, "completely separable"));
        fit_done(&none);
        fit_done(&free);
        fit_done(&both);
    }
    logistic_problem_done(&t);
    logistic_problem_done(&u);
}

/* a [n × n] ← its inverse, by Gauss and Jordan. */
static void invert(double a[3][3], size_t n) {
    for (size_t k = 0; k < n; k++) {
        const double pivot = a[k][k];
        a[k][k] = 1;
        for (size_t j = 0; j < n; j++) {
            a[k][j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            const double factor = a[i][k];
            if (i != k) {
                a[i][k] = 0;
                for (size_t j = 0; j < n; j++) {
                    a[i][j] -= factor * a[k][j];
                }
            }
        }
    }
}

/* Standard errors, degrees of freedom and deviances against the inverse of Σ p(1 − p) [x, 1][x, 1]ᵀ
 * + 2λn, where a model without an intercept has no 1. */
static void statistics(void **state) {
    (void)state;
    struct csv *t = csv_clouds(90, 2, 2);
    struct table *table = table_of(t);
    for (int mode = FREE; mode <= NONE; mode++) {
        for (int standardise = 0; standardise < 2; standardise++) {
            char words[120];
            snprintf(words, sizeof words, "solver=newton lambda=%s intercept=%s",
                     mode == NONE ? "0" : "0.02", modes[mode]);
            const double lambda = mode == NONE ? 0 : 0.02, n = (double)t->n;
            dn_params *p = params_of_words(words);
            dn_train_request request = table_request(t, table, p);
            dn_train_result result;
            request.features.standardize = standardise == 1;
            OK(dn_train(&request, NULL, &result, NULL));
            const dn_statistics *s = dn_model_statistics(result.model);
            double mean[2], scale[2], a[3][3] = {{0}}, deviance = 0, ones = 0;
            double *z = standardised(t->x, t->n, 2, mean, scale);
            dn_linear linear;
            assert_int_equal(s->reason, DN_STATISTICS_AVAILABLE);
            assert_true(dn_model_linear(result.model, &linear));
            const size_t m = mode == NONE ? 2 : 3;
            for (size_t i = 0; i < t->n; i++) {
                const double *row = (standardise ? z : t->x) + 2 * i, y[3] = {row[0], row[1], 1},
                             g = linear.w0[0] + linear.w[0] * t->x[2 * i] +
                                 linear.w[1] * t->x[2 * i + 1],
                             q = 1 / (1 + exp(-g));
                for (size_t j = 0; j < 9; j++) {
                    a[j / 3][j % 3] += q * (1 - q) * y[j / 3] * y[j % 3];
                }
                deviance -= 2 * log(t->target[i] > 0 ? q : 1 - q);
                ones += t->target[i];
            }
            for (size_t j = 0; j < 3; j++) {
                a[j][j] += j < 2 || mode == PENALISED ? 2 * lambda * n : 0;
            }
            invert(a, m);
            double trace = 0, of_intercept = m == 3 ? a[2][2] : 0;
            for (size_t j = 0; j < 3; j++) {
                trace += j < 2 || mode == PENALISED ? a[j][j] : 0;
            }
            for (size_t j = 0; j < 2 && standardise; j++) { /* w0 = b − Σ w m/s */
                const double r = mean[j] / scale[j];
                of_intercept -= m == 3 ? 2 * r * a[j][2] : 0;
                for (size_t k = 0; k < 2; k++) {
                    of_intercept += r * mean[k] / scale[k] * a[j][k];
                }
            }
            for (size_t j = 0; j < 2; j++) {
                assert_near(s->error[j], sqrt(a[j][j]) / (standardise ? scale[j] : 1), 1e-8);
            }
            assert_near(s->error[2], sqrt(of_intercept), 1e-8);
            assert_near(s->parameters, (double)m - 2 * lambda * n * trace, 1e-8);
            dn_goodness goodness;
            dn_statistics_goodness(s, 0, &goodness);
            assert_near(goodness.deviance, deviance, 1e-9);
            assert_near(goodness.df_null, mode == NONE ? n : n - 1, 1e-12);
            assert_near(goodness.null_deviance,
                        mode == NONE
                            ? 2 * n * log(2)
                            : -2 * ones * log(ones / n) - 2 * (n - ones) * log((n - ones) / n),
                        1e-9);
            assert_true(mode != NONE || goodness.df == 2);
            free(z);
            dn_train_result_done(&result);
            dn_params_free(p);
        }
    }
    columns_table_free(table);
    csv_free(t);
}

/* Eight rows x = 1 with a penalised intercept: both variables have the
 * column 1. With a = Σ p(1 − p) and c = 2λn the Hessian is [a + c, a; a, a + c], the variance of
 * each (a + c)/((a + c)² − a²), and the number of parameters 2a/(2a + c). */
static void statistics_of_a_constant(void **state) {
    (void)state;
    enum { ROWS = 8 };
    struct csv *t = csv_clouds(ROWS, 1, 2);
    for (size_t i = 0; i < ROWS; i++) {
        t->x[i] = 1;
    }
    struct table *table = table_of(t);
    dn_params *p = params_of_words("solver=newton lambda=0.05 intercept=penalised");
    dn_train_request request = table_request(t, table, p);
    dn_train_result result;
    dn_linear linear;
    request.features.standardize = false;
    OK(dn_train(&request, NULL, &result, NULL));
    const dn_statistics *s = dn_model_statistics(result.model);
    assert_int_equal(s->reason, DN_STATISTICS_AVAILABLE);
    assert_true(dn_model_linear(result.model, &linear));
    const double g = linear.w[0] + linear.w0[0], a = ROWS / ((1 + exp(g)) * (1 + exp(-g))),
                 c = 2 * 0.05 * ROWS, variance = (a + c) / ((a + c) * (a + c) - a * a);
    assert_near(linear.w[0], linear.w0[0], 1e-12);
    assert_near(s->error[0], sqrt(variance), 1e-9);
    assert_near(s->error[1], sqrt(variance), 1e-9);
    assert_near(s->parameters, 2 * a / (2 * a + c), 1e-9);
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand),
                                       cmocka_unit_test(penalised_by_hand),
                                       cmocka_unit_test(optimum_of_each_solver),
                                       cmocka_unit_test(many_columns),
                                       cmocka_unit_test(fewer_rows_than_columns),
                                       cmocka_unit_test(separable_with_or_without),
                                       cmocka_unit_test(statistics),
                                       cmocka_unit_test(statistics_of_a_constant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
