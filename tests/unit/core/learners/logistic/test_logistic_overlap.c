/* Fits without a penalty of tables that overlap although two columns are nearly equal, and of
 * separable tables of each kind: dense and sparse, two and three classes, with row weights.
 *
 * Deviances of overlapping tables: R 4.2.2, glm(y ~ ., binomial, epsilon = 1e-14) for two classes,
 * and nnet::multinom (7.3, reltol = 1e-15) with x1 and (x3 − x1)·1e4 in place of x3 for three. */
#include "unit/core/learners/logistic/logistics.h"

struct sample {
    size_t n, d, K;
    double *x, *y, *v;
};

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ldexp((double)(*state >> 11), -53);
}

static double bell(uint64_t *state) {
    const double a = uniform(state), b = uniform(state), c = uniform(state), d = uniform(state);
    return a + b + c + d - 2;
}

/* The last column is column 1 plus `noise` times a random number; row i has the weight 1 + i % 3.
 * The class depends on columns 0 and 1. */
static struct sample near_equal(size_t n, size_t d, size_t K, double noise, uint64_t seed) {
    struct sample t = {.n = n,
                       .d = d,
                       .K = K,
                       .x = xcalloc(n * d, sizeof(double)),
                       .y = xcalloc(n, sizeof(double)),
                       .v = xcalloc(n, sizeof(double))};
    for (size_t i = 0; i < n; i++) {
        double *row = t.x + i * d;
        for (size_t j = 0; j + 1 < d; j++) {
            row[j] = bell(&seed);
        }
        row[d - 1] = row[1] + noise * bell(&seed);
        const double u = uniform(&seed), g = row[0] - row[1] + 0.5;
        if (K == 2) {
            t.y[i] = u > 1 / (1 + exp(g));
        } else {
            t.y[i] = (u > 1 / (2 + exp(g))) + (u > 0.5 + 0.3 / (1 + exp(-g)));
        }
        t.v[i] = 1 + (double)(i % 3);
    }
    return t;
}

static void sample_free(struct sample *t) {
    free(t->x);
    free(t->y);
    free(t->v);
}

static dn_rows *rows_of(const struct sample *t, const double *weight, bool sparse) {
    static size_t start[1001];
    static uint32_t cols[10000];
    dn_rows *rows;
    dn_matrix x = dn_matrix_dense(t->x, t->n, t->d);
    assert_true(t->n <= 1000 && t->n * t->d <= 10000);
    if (sparse) {
        for (size_t i = 0; i < t->n * t->d; i++) {
            cols[i] = (uint32_t)(i % t->d);
            start[i / t->d + 1] = i + 1;
        }
        x = dn_matrix_csr(start, cols, t->x, t->n, t->d);
    }
    OK(dn_rows_from_matrix(x, t->y, weight, &rows, NULL));
    return rows;
}

static struct fit fit_sample(const struct sample *t, const char *solver, bool weighted,
                             bool sparse) {
    struct fit fit;
    dn_run run = dn_run_default();
    dn_params *p = params_of(solver, 0);
    dn_rows *rows = rows_of(t, weighted ? t->v : NULL, sparse);
    OK(fit_rows(rows, t->K, p, &run, &fit, NULL));
    dn_rows_free(rows);
    dn_params_free(p);
    return fit;
}

static void overlap_with_near_equal_columns(void **state) {
    (void)state;
    const struct {
        size_t n, d, K;
        double noise;
        uint64_t seed;
        double deviance, weighted;
    } tables[] = {{150, 4, 2, 3e-4, 1, 158.431897812568, 316.092488848526},
                  {400, 9, 2, 1e-4, 2, 475.104491194884, 940.545398736972},
                  {300, 5, 2, 1e-5, 3, 379.548384479186, 741.559407407833},
                  {300, 4, 3, 1e-4, 4, 619.668064942521, 1229.757141706981}};
    const char *const solvers[] = {"newton", "lbfgs"};
    for (size_t i = 0; i < 8 * sizeof tables / sizeof tables[0]; i++) {
        const size_t k = i / 8;
        struct sample t =
            near_equal(tables[k].n, tables[k].d, tables[k].K, tables[k].noise, tables[k].seed);
        const bool weighted = i & 1, sparse = i & 2;
        struct fit fit = fit_sample(&t, solvers[i >> 2 & 1], weighted, sparse);
        double total = 0;
        for (size_t r = 0; r < t.n; r++) {
            total += weighted ? t.v[r] : 1;
        }
        assert_near(2 * total * fit.report.objective,
                    weighted ? tables[k].weighted : tables[k].deviance, 1e-8);
        assert_true(fit.report.converged);
        assert_int_equal(fit.report.n_warnings, 0);
        fit_done(&fit);
        sample_free(&t);
    }
}

/* Rows of class 1 have margin at least `gap` in column 0: complete separation if gap > 0. If gap is
 * 0, two rows of each class have 0 in column 0 and equal other columns. */
static void separate(struct sample *t, double gap) {
    for (size_t i = 0; i < t->n; i++) {
        double *row = t->x + i * t->d;
        row[0] = (t->y[i] > 0 ? 1 : -1) * (gap + fabs(row[0]));
    }
    for (size_t c = 0, i = 0; gap == 0 && c < 2; c++) {
        for (size_t r = 0; r < 2 * t->d; r++, i++) {
            while (t->y[i] != (double)c) {
                i++;
            }
            double *row = t->x + i * t->d;
            for (size_t j = 1; j + 1 < t->d; j++) {
                row[j] = j == r / 2 ? 1 + (double)(r % 2) : 0;
            }
            row[t->d - 1] = row[1] + (r / 2 == t->d - 1 ? 1e-4 * (1 + (double)(r % 2)) : 0);
            row[0] = 0;
        }
    }
}

static void separable_tables(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent"};
    for (size_t i = 0; i < 48; i++) {
        const size_t K = i & 8 ? 3 : 2;
        const bool complete = (i & 1) && K == 2;
        struct sample t = near_equal(300, 5, K, 1e-4, 7);
        separate(&t, complete ? 1e-3 : 0);
        struct fit fit = fit_sample(&t, solvers[i / 16], i & 2, i & 4);
        assert_false(fit.report.converged);
        assert_true(logistic_warned(&fit.report, complete ? "are completely separable"
                                                          : "quasi-completely separable"));
        assert_true(complete || logistic_warned(&fit.report, "\"#0\""));
        assert_false(logistic_warned(&fit.report, "not unique"));
        if (i < 32) {
            assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARABLE);
        }
        fit_done(&fit);
        sample_free(&t);
    }
}

/* A column that is 1 for some rows of one class and 0 for all other rows. */
static void quasi_separation_by_a_rare_level(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs"};
    for (size_t s = 0; s < 4; s++) {
        struct sample t = near_equal(400, 6, s & 1 ? 3 : 2, 1e-4, 11);
        for (size_t i = 0, n = 0; i < t.n; i++) {
            t.x[i * t.d + 3] = t.y[i] == 1 && n < 5;
            n += t.y[i] == 1;
        }
        struct fit fit = fit_sample(&t, solvers[s / 2], false, false);
        assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARABLE);
        assert_true(logistic_warned(&fit.report, "quasi-completely separable"));
        assert_true(logistic_warned(&fit.report, "fastest for \"#3\";"));
        fit_done(&fit);
        sample_free(&t);
    }
}

/* Rows with weight 0 are ignored: without the only rows on the wrong side the classes are
 * separable; a row of weight 0 on the wrong side does not make them overlap. */
static void zero_weights(void **state) {
    (void)state;
    struct sample t = near_equal(300, 5, 2, 1e-4, 7);
    for (size_t i = 0; i < t.n; i++) {
        t.v[i] = i % 3 == 0 ? 0 : 1;
        if (t.v[i] > 0) {
            t.x[i * t.d] = (t.y[i] > 0 ? 1 : -1) * (0.01 + fabs(t.x[i * t.d]));
        }
    }
    struct fit fit = fit_sample(&t, "newton", true, false);
    assert_true(logistic_warned(&fit.report, "are completely separable"));
    fit_done(&fit);
    fit = fit_sample(&t, "newton", false, false);
    assert_true(fit.report.converged && fit.report.n_warnings == 0);
    fit_done(&fit);
    sample_free(&t);
}

/* Columns that differ by 1e-8 deviations are dependent by the rank rule: as for least squares, the
 * weights are not unique. */
static void columns_equal_by_the_rank_rule(void **state) {
    (void)state;
    struct sample t = near_equal(300, 5, 2, 1e-8, 3);
    struct fit fit = fit_sample(&t, "newton", false, false);
    assert_true(fit.report.converged && fit.report.n_warnings == 1);
    assert_true(logistic_warned(&fit.report, "not unique"));
    assert_true(logistic_warned(&fit.report, "(\"#1\", \"#4\")"));
    fit_done(&fit);
    sample_free(&t);
}

struct seen {
    size_t n, again, iteration;
    double fraction;
};

static void see(const dn_run *run, const dn_progress *p) {
    struct seen *seen = run->ctx;
    assert_true(p->fraction >= seen->fraction && p->fraction <= 1);
    assert_true(p->iteration >= seen->iteration &&
                (p->w == NULL || p->iteration > seen->iteration));
    seen->again += p->iteration == seen->iteration;
    seen->n++;
    seen->fraction = p->fraction;
    seen->iteration = p->iteration;
}

/* A check of separation reports the iteration again, with a larger fraction and without weights. */
static void progress_of_a_check(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs"};
    for (size_t s = 0; s < 4; s++) {
        struct sample t = near_equal(300, 5, 2, 1e-4, 7);
        if (s & 1) {
            separate(&t, 0);
        }
        const size_t snapshots[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
        struct seen seen = {0};
        dn_run run = dn_run_default();
        run.progress = see;
        run.ctx = &seen;
        run.snapshots = snapshots;
        run.n_snapshots = sizeof snapshots / sizeof snapshots[0];
        dn_params *p = params_of(solvers[s / 2], 0);
        dn_rows *rows = rows_of(&t, NULL, false);
        struct fit fit;
        OK(fit_rows(rows, 2, p, &run, &fit, NULL));
        assert_true(seen.again >= 3 && seen.again <= 12 * 12);
        assert_int_equal(seen.n - seen.again, fit.report.iterations);
        fit_done(&fit);
        dn_rows_free(rows);
        dn_params_free(p);
        sample_free(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(overlap_with_near_equal_columns),
                                       cmocka_unit_test(separable_tables),
                                       cmocka_unit_test(quasi_separation_by_a_rare_level),
                                       cmocka_unit_test(zero_weights),
                                       cmocka_unit_test(columns_equal_by_the_rank_rule),
                                       cmocka_unit_test(progress_of_a_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
