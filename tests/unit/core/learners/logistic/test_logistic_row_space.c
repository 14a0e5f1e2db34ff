/* Fits without a penalty of at most as many rows as columns. The tables are products A·B of n × r
 * and r × d numbers: the scores, the minimum and the separation are those of a fit of A, and the
 * weights of least norm are combinations of the rows of B. */
#include "unit/core/learners/logistic/logistics.h"

enum { RANK = 5 };

struct pair {
    struct problem narrow, wide; /* A and A·B; the rows of `wide` are sparse or dense */
    double *b;                   /* [RANK × d] */
};

static dn_rows *dense_rows(struct problem *t) {
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, t->weight, &rows, NULL));
    return rows;
}

static dn_rows *sparse_rows(struct problem *t) {
    dn_rows *rows;
    size_t count = 0;
    t->values = xcalloc(t->n * t->d, sizeof *t->values);
    t->cols = xcalloc(t->n * t->d, sizeof *t->cols);
    t->start = xcalloc(t->n + 1, sizeof *t->start);
    for (size_t i = 0; i < t->n * t->d; i++) {
        if (t->x[i] != 0) {
            t->values[count] = t->x[i];
            t->cols[count++] = (uint32_t)(i % t->d);
        }
        t->start[i / t->d + 1] = count;
    }
    OK(dn_rows_from_matrix(dn_matrix_csr(t->start, t->cols, t->values, t->n, t->d), t->target,
                           t->weight, &rows, NULL));
    return rows;
}

/* gap: class 1 of two classes, class 0 of more, has column 0 of A above the others by this; 0:
 * classes overlap. scaled: the columns have different deviations. Column 0 of A·B is column 0 of A,
 * and column 1 is constant. */
static struct pair pair_of(size_t n, size_t d, size_t K, bool sparse, bool weighted, bool scaled,
                           double gap) {
    uint64_t seed = 3 + n + d + K;
    struct pair p = {.narrow = {.n = n, .d = RANK, .K = K}, .wide = {.n = n, .d = d, .K = K}};
    struct problem *a = &p.narrow, *x = &p.wide;
    a->x = xcalloc(n * RANK, sizeof(double));
    x->x = xcalloc(n * d, sizeof(double));
    a->target = xcalloc(n, sizeof(double));
    x->target = xcalloc(n, sizeof(double));
    p.b = xcalloc(RANK * d, sizeof(double));
    for (size_t j = 0; j < d; j++) {
        for (size_t r = 0; r < RANK && j != 1; r++) {
            p.b[r * d + j] = j == 0 ? r == 0
                                    : (logistic_random(&seed) - 0.5) *
                                          (scaled ? 1 + 50 * (double)(j % 3 == 0) : 1);
        }
    }
    for (size_t i = 0; i < n; i++) {
        double *row = a->x + i * RANK;
        for (size_t r = 0; r < RANK; r++) {
            row[r] = logistic_random(&seed) - 0.5;
        }
        const double u = logistic_random(&seed) + 0.6 * row[1];
        a->target[i] = floor(fmin(fmax(u, 0), 0.999) * (double)K);
        if (gap > 0) {
            row[0] = (a->target[i] == (K == 2) ? 1 : -1) * (fabs(row[0]) + gap);
        }
        x->target[i] = a->target[i];
        for (size_t j = 0; j < d; j++) {
            for (size_t r = 0; r < RANK; r++) {
                x->x[i * d + j] += row[r] * p.b[r * d + j];
            }
            x->x[i * d + j] += j == 1 ? 7 : 0;
        }
    }
    if (weighted) {
        a->weight = xcalloc(n, sizeof(double));
        x->weight = xcalloc(n, sizeof(double));
        for (size_t i = 0; i < n; i++) {
            a->weight[i] = x->weight[i] = (double)(i % 4);
        }
    }
    a->rows = dense_rows(a);
    x->rows = sparse ? sparse_rows(x) : dense_rows(x);
    return p;
}

static void pair_done(struct pair *p) {
    logistic_problem_done(&p->narrow);
    logistic_problem_done(&p->wide);
    free(p->b);
}

/* The largest component of w that is orthogonal to the rows of b, relative to the largest w. */
static double outside_row_space(const double *b, const double *w, size_t d) {
    double *q = xcalloc((RANK + 1) * d, sizeof *q), *rest = q + RANK * d, most = 0, largest = 0;
    memcpy(q, b, RANK * d * sizeof *q);
    memcpy(rest, w, d * sizeof *q);
    for (size_t r = 0; r <= RANK; r++) { /* Gram-Schmidt, twice */
        for (size_t again = 0; again < 2; again++) {
            for (size_t s = 0; s < r; s++) {
                double dot = 0;
                for (size_t j = 0; j < d; j++) {
                    dot += q[r * d + j] * q[s * d + j];
                }
                for (size_t j = 0; j < d; j++) {
                    q[r * d + j] -= dot * q[s * d + j];
                }
            }
        }
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            square += q[r * d + j] * q[r * d + j];
        }
        for (size_t j = 0; r < RANK && j < d; j++) {
            q[r * d + j] /= sqrt(square);
        }
    }
    for (size_t j = 0; j < d; j++) {
        most = fmax(most, fabs(rest[j]));
        largest = fmax(largest, fabs(w[j]));
    }
    free(q);
    return most / largest;
}

/* Largest difference of the scores of two fits, for rows with a positive weight. */
static double score_difference(const struct pair *p, const struct fit *narrow,
                               const struct fit *wide) {
    double most = 0;
    const size_t d = p->wide.d;
    for (size_t k = 0; k < scores_of(&p->wide); k++) {
        for (size_t i = 0; i < p->wide.n; i++) {
            double f = narrow->out.w0[k] - wide->out.w0[k];
            for (size_t r = 0; r < RANK; r++) {
                f += narrow->out.w[k * RANK + r] * p->narrow.x[i * RANK + r];
            }
            for (size_t j = 0; j < d; j++) {
                f -= wide->out.w[k * d + j] * p->wide.x[i * d + j];
            }
            if (p->wide.weight == NULL || p->wide.weight[i] > 0) {
                most = fmax(most, fabs(f));
            }
        }
    }
    return most;
}

/* 40 × 90, 40 × 40: the same minimum as with A, and weights of least norm. */
static void overlapping_classes(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs"};
    for (size_t c = 0; c < 64; c++) {
        struct pair p = pair_of(40, c & 1 ? 90 : 40, c & 2 ? 3 : 2, c & 4, c & 8, c & 16, 0);
        dn_params *params = params_of(solvers[c / 32], 0);
        OK(dn_params_set_number(params, "tolerance", 1e-9, NULL));
        struct fit narrow = fit_problem(&p.narrow, params), wide = fit_problem(&p.wide, params);
        assert_true(narrow.report.converged && wide.report.converged);
        assert_true(logistic_detail(&wide.report, "gradient_max") <= 1e-9);
        assert_near(wide.report.objective, narrow.report.objective, 1e-12);
        assert_true(score_difference(&p, &narrow, &wide) < 1e-5);
        for (size_t k = 0; k < scores_of(&p.wide); k++) {
            assert_true(outside_row_space(p.b, wide.out.w + k * p.wide.d, p.wide.d) < 1e-9);
        }
        assert_int_equal(wide.report.n_warnings, 1);
        assert_true(logistic_warned(&wide.report, "the weights are not unique, because "));
        fit_done(&narrow);
        fit_done(&wide);
        dn_params_free(params);
        pair_done(&p);
    }
}

static void separable_classes(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent", "sgd"};
    for (size_t c = 0; c < 32; c++) {
        const size_t K = c & 1 ? 3 : 2;
        struct pair p = pair_of(60, 80, K, c & 2, c & 4, false, 0.1);
        dn_params *params = params_of(solvers[c / 8], 0);
        struct fit wide = fit_problem(&p.wide, params);
        assert_false(wide.report.converged);
        if (c < 16) {
            assert_int_equal(wide.report.stop_reason, DN_STOP_SEPARABLE);
        }
        assert_true(logistic_warned(&wide.report, K == 2 ? "are completely separable"
                                                         : "quasi-completely separable"));
        assert_true(logistic_warned(&wide.report, "not unique, because 79 of the columns"));
        assert_int_equal(wide.report.n_warnings, 2);
        fit_done(&wide);
        dn_params_free(params);
        pair_done(&p);
    }
}

static void fit_all(const double *x, const double *y, size_t n, size_t d, size_t K,
                    const dn_params *p, struct fit *fit) {
    dn_rows *rows;
    dn_run run = dn_run_default();
    OK(dn_rows_from_matrix(dn_matrix_dense(x, n, d), y, NULL, &rows, NULL));
    OK(fit_rows(rows, K, p, &run, fit, NULL));
    dn_rows_free(rows);
}

/* Independent rows: every labelling of the rows is separable, and 20 points with rows of both
 * classes have the relative frequencies as probabilities. */
static void rows_of_full_rank(void **state) {
    (void)state;
    enum { N = 60, D = 300, POINTS = 20 };
    uint64_t seed = 5;
    double *x = xcalloc(N * D, sizeof *x), y[N], expected = 0;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) {
            x[i * D + j] = i < POINTS ? logistic_random(&seed) : x[i % POINTS * D + j];
        }
        y[i] = i < POINTS ? 0 : i < 2 * POINTS ? 1 : (double)(i % 2);
        expected += log(3) - log(y[i] == (double)(i % 2) ? 2 : 1);
    }
    dn_params *p = params_of("auto", 0);
    struct fit fit;
    fit_all(x, y, N, D, 2, p, &fit);
    assert_true(fit.report.converged);
    assert_near(fit.report.objective, expected / N, 1e-12);
    assert_int_equal(fit.report.n_warnings, 1);
    fit_done(&fit);
    fit_all(x, y, 2 * POINTS - 3, D, 2, p, &fit); /* 3 points have one row of one class */
    assert_true(logistic_warned(&fit.report, "quasi-completely separable"));
    fit_done(&fit);
    y[0] = 1;
    fit_all(x, y, POINTS, D, 2, p, &fit);
    assert_true(logistic_warned(&fit.report, "are completely separable"));
    assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARABLE);
    fit_done(&fit);
    dn_params_free(p);
    free(x);
}

/* A column that is 0 except for one row depends on no other: the warning does not name it. */
static void names_of_dependent_columns(void **state) {
    (void)state;
    enum { N = 12, D = 14 };
    uint64_t seed = 5;
    double x[N * D] = {0}, y[N];
    for (size_t i = 0; i < N; i++) {
        y[i] = (double)(i % 2);
        x[i * D + 2] = i == 3;
        for (size_t j = 0; j < D && i != 3; j++) {
            x[i * D + j] = j < 2 ? logistic_random(&seed) : j == 2 ? 0 : x[i * D + j % 2];
        }
    }
    dn_params *p = params_of("newton", 0);
    struct fit fit;
    fit_all(x, y, N, D, 2, p, &fit);
    assert_true(logistic_warned(&fit.report, "not unique, because 13 of the columns"));
    assert_true(logistic_warned(&fit.report, "(\"#0\", \"#1\", \"#3\", "));
    fit_done(&fit);
    dn_params_free(p);
}

struct seen {
    size_t n, n_scores, n_features, iteration;
    double fraction, w[200];
};

static void see(const dn_run *run, const dn_progress *p) {
    struct seen *seen = run->ctx;
    assert_true(p->fraction >= seen->fraction && p->fraction <= 1);
    seen->fraction = p->fraction;
    seen->iteration = p->iteration;
    seen->n++;
    if (p->w != NULL) {
        seen->n_features = p->n_features;
        memcpy(seen->w, p->w, p->n_scores * p->n_features * sizeof *seen->w);
    }
}

/* Reports have a growing fraction from the decomposition on; a snapshot of the last iteration has
 * the weights of the columns. */
static void progress_and_snapshots(void **state) {
    (void)state;
    struct pair p = pair_of(40, 90, 2, false, false, false, 0);
    dn_params *params = params_of("newton", 0);
    struct fit fit = fit_problem(&p.wide, params), same;
    const size_t last = fit.report.iterations;
    struct seen seen = {0};
    dn_run run = dn_run_default();
    run.progress = see;
    run.ctx = &seen;
    run.snapshots = &last;
    run.n_snapshots = 1;
    OK(fit_rows(p.wide.rows, 2, params, &run, &same, NULL));
    assert_true(seen.n >= last + 2 && seen.iteration == last);
    assert_int_equal(seen.n_features, p.wide.d);
    assert_memory_equal(same.out.w, fit.out.w, p.wide.d * sizeof(double));
    for (size_t i = 0; i < p.wide.n; i++) { /* the same scores up to the intercept */
        double f = 0, first = 0;
        for (size_t j = 0; j < p.wide.d; j++) {
            f += (seen.w[j] - fit.out.w[j]) * p.wide.x[i * p.wide.d + j];
            first += (seen.w[j] - fit.out.w[j]) * p.wide.x[j];
        }
        assert_true(fabs(f - first) < 1e-9);
    }
    fit_done(&same);
    fit_done(&fit);
    dn_params_free(params);
    pair_done(&p);
}

/* Every poll of the stop function ends the fit; every failed allocation too. Threads do not change
 * the result. The estimate of memory is an upper bound. */
static void limits(void **state) {
    (void)state;
    const char *const solvers[] = {"newton", "lbfgs", "gradient_descent"};
    for (size_t s = 0; s < 6; s++) {
        struct problem t = problem_sparse(100, 400, s & 1 ? 3 : 2, 30);
        dn_params *params = params_of(solvers[s / 2], 0);
        OK(dn_params_set_number(params, "max_iterations", 5, NULL));
        struct meter meter = {0};
        dn_allocator allocator = {.allocate = meter_allocate,
                                  .release = meter_release,
                                  .ctx = &meter};
        dn_run serial = dn_run_default(), ranges = dn_run_default();
        serial.allocator = &allocator;
        ranges.n_slots = 3;
        ranges.sum = sum_in_ranges;
        ranges.each = each_in_reverse;
        struct fit one, two;
        OK(fit_rows(t.rows, t.K, params, &serial, &one, NULL));
        const double estimated = estimated_memory(params, t.n, t.d, t.K, 1);
        assert_true((double)meter.most <= estimated && estimated <= 3 * (double)meter.most);
        OK(fit_rows(t.rows, t.K, params, &ranges, &two, NULL));
        assert_memory_equal(one.out.w, two.out.w, scores_of(&t) * t.d * sizeof(double));
        fit_done(&one);
        fit_done(&two);
        for (size_t at = 1;; at += 5) {
            struct polls polls = {.stop_at = at};
            struct memory memory = {.left = SIZE_MAX};
            dn_allocator counted = memory_allocator(&memory, false);
            dn_run run = polls_run(&polls);
            run.allocator = &counted;
            const dn_status status = fit_rows(t.rows, t.K, params, &run, &one, NULL);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                assert_true(at > 30);
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
            const dn_status status = fit_rows(t.rows, t.K, params, &run, &one, NULL);
            assert_int_equal(memory.live, 0);
            if (status == DN_OK) {
                assert_true(k > 10);
                fit_done(&one);
                break;
            }
            assert_int_equal(status, DN_ERR_MEMORY);
        }
        dn_params_free(params);
        logistic_problem_done(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(overlapping_classes),
                                       cmocka_unit_test(separable_classes),
                                       cmocka_unit_test(rows_of_full_rank),
                                       cmocka_unit_test(names_of_dependent_columns),
                                       cmocka_unit_test(progress_and_snapshots),
                                       cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
