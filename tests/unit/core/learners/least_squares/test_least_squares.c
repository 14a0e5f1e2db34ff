/* Least squares in closed form: golden numbers, the normal equations recomputed from the data,
 * deficient rank, invariants. */
#include "unit/core/support.h"

static dn_params *squares_params(double lambda) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("least_squares"), &p, NULL));
    OK(dn_params_set_number(p, "lambda", lambda, NULL));
    return p;
}

static dn_status fit_matrix(dn_matrix x, const double *target, const double *weight, size_t K,
                            double lambda, const dn_run *run, struct fit *fit, dn_error *err) {
    dn_params *p = squares_params(lambda);
    dn_rows *rows;
    OK(dn_rows_from_matrix(x, target, weight, &rows, NULL));
    dn_status status = fit_rows(rows, K, p, run, fit, err);
    dn_rows_free(rows);
    dn_params_free(p);
    return status;
}

static struct fit fit_dense(const double *x, const double *target, const double *weight, size_t n,
                            size_t d, size_t K, double lambda) {
    struct fit fit = {0};
    dn_run run = dn_run_default();
    OK(fit_matrix(dn_matrix_dense(x, n, d), target, weight, K, lambda, &run, &fit, NULL));
    return fit;
}

static double detail(const struct fit *fit, const char *name) {
    for (size_t i = 0; i < fit->report.n_details; i++) {
        if (strcmp(fit->report.details[i].name, name) == 0) {
            return fit->report.details[i].number;
        }
    }
    fail_msg("no detail %s", name);
    return 0;
}

/* All K outputs for one row. */
static void outputs(const struct machine_view *m, const double *x, double *y) {
    size_t S = dn_machine_n_scores(m->machine);
    for (size_t k = 0; k < S; k++) {
        y[k] = m->w0[k];
        for (size_t j = 0; j < m->n_features; j++) {
            y[k] += m->w[k * m->n_features + j] * x[j];
        }
    }
    if (S == 1) {
        y[1] = (1 + y[0]) / 2;
        y[0] = 1 - y[1];
    }
}

/* ---- golden numbers ---- */
static void golden(void **state) {
    struct csv *t = csv_named(*state);
    if (t == NULL) {
        skip();
        return;
    }
    json_t *root = golden_load();
    const json_t *set = json_object_get(root, *state), *g = json_object_get(set, "least_squares");
    struct fit fit = fit_dense(t->x, t->target, NULL, t->n, t->d, t->K, 0);
    double expected[64], rows[4], fitted[64];
    assert_int_equal(golden_numbers(json_object_get(g, "fitted_rows"), expected), 4 * t->K);
    assert_int_equal(golden_numbers(json_object_get(set, "rows"), rows), 4);
    for (size_t i = 0; i < 4; i++) {
        outputs(&fit.out, t->x + (size_t)rows[i] * t->d, fitted + i * t->K);
    }
    assert_close(fitted, expected, 4 * t->K, 1e-9); /* the requirement is 1e-7 */
    assert_near(detail(&fit, "residual_sum_of_squares"),
                json_number_value(json_object_get(g, "residual_sum_of_squares")), 1e-9);
    assert_near(fit.report.objective, detail(&fit, "residual_sum_of_squares") / (double)t->n,
                1e-14);
    size_t right = 0;
    for (size_t i = 0; i < t->n; i++) {
        double y[16];
        size_t best = 0;
        outputs(&fit.out, t->x + i * t->d, y);
        for (size_t k = 1; k < t->K; k++) {
            if (y[k] > y[best]) {
                best = k;
            }
        }
        right += best == (size_t)t->target[i];
    }
    assert_true((double)right / (double)t->n ==
                json_number_value(json_object_get(g, "train_accuracy")));
    assert_true(fit.report.converged);
    assert_int_equal(fit.report.stop_reason, DN_STOP_CLOSED_FORM);
    assert_int_equal(fit.report.n_warnings, 0);
    fit_done(&fit);
    json_decref(root);
    csv_free(t);
}

/* ---- the normal equations ---- */
/* Checks that the gradient vanishes, each component relative to the size of its column. Returns the
 * objective over all K outputs. */
static double check_optimum(const struct csv *t, const double *weight, const struct fit *fit,
                            double lambda, double tolerance) {
    double total = 0, value = 0, y[16], gradient[16] = {0}, *g = xcalloc(t->K * t->d, sizeof *g),
           *size = xcalloc(t->d, sizeof *size);
    for (size_t i = 0; i < t->n; i++) {
        double v = weight == NULL ? 1 : weight[i];
        total += v;
        outputs(&fit->out, t->x + i * t->d, y);
        for (size_t k = 0; k < t->K; k++) {
            double e = y[k] - ((size_t)t->target[i] == k);
            value += v * e * e;
            gradient[k] += v * e;
            for (size_t j = 0; j < t->d; j++) {
                g[k * t->d + j] += v * e * t->x[i * t->d + j];
            }
        }
        for (size_t j = 0; j < t->d; j++) {
            size[j] += v * t->x[i * t->d + j] * t->x[i * t->d + j];
        }
    }
    value /= total;
    for (size_t k = 0; k < t->K; k++) {
        assert_true(fabs(gradient[k]) < tolerance * total);
        for (size_t j = 0; j < t->d; j++) {
            double w = t->K > 2 ? fit->out.w[k * t->d + j] : (k == 1 ? 0.5 : -0.5) * fit->out.w[j];
            value += lambda * w * w;
            double own = g[k * t->d + j] / total + lambda * w;
            if (!(fabs(own) <= tolerance * sqrt(size[j] / total))) {
                fail_msg("gradient %.3g beside %.3g", own, sqrt(size[j] / total));
            }
        }
    }
    free(g);
    free(size);
    return value;
}

static void normal_equations(void **state) {
    (void)state;
    const char *const sets[] = {"iris", "wine", "breast_cancer"};
    const double lambdas[] = {0, 1e-6, 1e-3, 1, 1e6};
    for (size_t s = 0; s < 3; s++) {
        struct csv *t = csv_named(sets[s]);
        double *weight = xcalloc(t->n, sizeof *weight);
        for (size_t i = 0; i < t->n; i++) {
            weight[i] = (double)(i % 5) / 3;
        }
        for (size_t l = 0; l < 5; l++) {
            for (int weighted = 0; weighted < 2; weighted++) {
                const double *v = weighted ? weight : NULL;
                struct fit fit = fit_dense(t->x, t->target, v, t->n, t->d, t->K, lambdas[l]);
                double value = check_optimum(t, v, &fit, lambdas[l], 1e-11);
                assert_near(fit.report.objective, value, 1e-10);
                assert_int_equal(fit.report.n_warnings, 0);
                fit_done(&fit);
            }
        }
        free(weight);
        csv_free(t);
    }
}

/* ---- deficient rank ---- */
/* wine with three additional columns: 2·c0 + 3, c1 + c2, and 7. */
static struct csv *wine_with_combinations(void) {
    struct csv *t = csv_named("wine");
    size_t d = t->d + 3;
    double *x = xcalloc(t->n * d, sizeof *x);
    for (size_t i = 0; i < t->n; i++) {
        const double *row = t->x + i * t->d;
        memcpy(x + i * d, row, t->d * sizeof *x);
        x[i * d + t->d] = 2 * row[0] + 3;
        x[i * d + t->d + 1] = row[1] + row[2];
        x[i * d + t->d + 2] = 7;
    }
    free(t->x);
    t->x = x;
    return t; /* t->d does not include the three additional columns */
}

static void least_norm(void **state) {
    (void)state;
    struct csv *t = wine_with_combinations();
    size_t d = t->d + 3, c = t->d;
    double *plain = xcalloc(t->n * t->d, sizeof *plain);
    for (size_t i = 0; i < t->n; i++) {
        memcpy(plain + i * t->d, t->x + i * d, t->d * sizeof *plain);
    }
    struct fit own = fit_dense(plain, t->target, NULL, t->n, t->d, t->K, 0);
    struct fit fit = fit_dense(t->x, t->target, NULL, t->n, d, t->K, 0);
    struct fit limit = fit_dense(t->x, t->target, NULL, t->n, d, t->K, 1e-11);
    assert_near(fit.report.objective, own.report.objective, 1e-11);
    assert_true(detail(&fit, "rank") == (double)t->d);
    for (size_t i = 0; i < t->n; i++) { /* the same fit */
        double y[3], z[3];
        outputs(&own.out, plain + i * t->d, y);
        outputs(&fit.out, t->x + i * d, z);
        assert_close(z, y, 3, 1e-9);
    }
    for (size_t k = 0; k < t->K; k++) { /* the least norm requires w orthogonal to the null space */
        const double *w = fit.out.w + k * d;
        assert_true(fabs(w[c] - 2 * w[0]) < 1e-9 * fabs(w[c]));
        assert_true(fabs(w[c + 1] - w[1] - w[2]) < 1e-9 * (fabs(w[1]) + fabs(w[2])));
        assert_true(w[c + 2] == 0);
    }
    assert_close(limit.out.w, fit.out.w, t->K * d,
                 1e-5); /* a small penalty gives nearly the weights of least norm */
    assert_int_equal(fit.report.n_warnings, 1);
    assert_non_null(
        strstr(fit.report.warnings[0].text, "(\"#0\", \"#1\", \"#2\", \"#13\", \"#14\")"));
    fit_done(&own);
    fit_done(&fit);
    fit_done(&limit);
    free(plain);
    csv_free(t);
}

/* Nearly dependent columns keep their rank: x and x + 1e-5 u give the same fit as x and u. */
static void ill_conditioned(void **state) {
    (void)state;
    struct csv *t = csv_named("iris");
    double *z = xcalloc(t->n * 2, sizeof *z), *near = xcalloc(t->n * 2, sizeof *near);
    for (size_t i = 0; i < t->n; i++) {
        z[2 * i] = near[2 * i] = t->x[i * t->d];
        z[2 * i + 1] = t->x[i * t->d + 1];
        near[2 * i + 1] = z[2 * i] + ldexp(round(z[2 * i + 1] * 10), -20);
    }
    struct fit plain = fit_dense(z, t->target, NULL, t->n, 2, t->K, 0),
               fit = fit_dense(near, t->target, NULL, t->n, 2, t->K, 0);
    assert_int_equal(fit.report.n_warnings, 0);
    assert_true(detail(&fit, "rank") == 2);
    assert_near(fit.report.objective, plain.report.objective, 1e-9);
    for (size_t k = 0; k < t->K; k++) { /* a unit of u is 10·2⁻²⁰ units of column 1 */
        assert_near(fit.out.w[2 * k + 1] * 10 * 0x1p-20, plain.out.w[2 * k + 1], 1e-6);
    }
    fit_done(&plain);
    fit_done(&fit);
    free(z);
    free(near);
    csv_free(t);
}

/* Columns that differ by 1e-8 are dependent by the rank rule: as for logistic regression, the
 * weights are not unique. */
static void dependent_by_the_rank_rule(void **state) {
    (void)state;
    struct csv *t = csv_named("iris");
    double *near = xcalloc(t->n * 2, sizeof *near);
    for (size_t i = 0; i < t->n; i++) {
        near[2 * i] = t->x[i * t->d];
        near[2 * i + 1] = near[2 * i] + 1e-8 * t->x[i * t->d + 1];
    }
    struct fit fit = fit_dense(near, t->target, NULL, t->n, 2, t->K, 0);
    assert_true(detail(&fit, "rank") == 1);
    assert_int_equal(fit.report.n_warnings, 1);
    assert_non_null(strstr(fit.report.warnings[0].text, "not unique"));
    fit_done(&fit);
    free(near);
    csv_free(t);
}

/* A penalty on columns that are too close to dependent for Cholesky: the minimum is still found. */
static void penalised_and_ill_conditioned(void **state) {
    (void)state;
    struct csv *t = csv_named("iris");
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * t->d + 1] = t->x[i * t->d] + 1e-4 * t->x[i * t->d + 1];
    }
    const double lambdas[] = {1e-10, 1e-9, 1e-8};
    for (size_t l = 0; l < 3; l++) {
        struct fit fit = fit_dense(t->x, t->target, NULL, t->n, t->d, t->K, lambdas[l]);
        double largest = 0;
        for (size_t j = 0; j < t->K * t->d; j++) {
            largest = fmax(largest, fabs(fit.out.w[j]));
        }
        assert_true(lambdas[l] * largest > 1e-7); /* a penalty above check_optimum's tolerance */
        assert_near(fit.report.objective, check_optimum(t, NULL, &fit, lambdas[l], 1e-10), 1e-9);
        assert_int_equal(fit.report.n_warnings, 0);
        fit_done(&fit);
    }
    csv_free(t);
}

/* Fewer rows than columns: an exact fit of least norm, in the span of the centred rows. */
static void more_columns_than_rows(void **state) {
    (void)state;
    enum { N = 12, D = 40 };
    struct csv *t = csv_clouds(N, D, 3);
    struct fit fit = fit_dense(t->x, t->target, NULL, N, D, 3, 0),
               limit = fit_dense(t->x, t->target, NULL, N, D, 3, 1e-10);
    assert_true(fit.report.objective < 1e-20);
    assert_true(detail(&fit, "rank") == N - 1);
    assert_close(limit.out.w, fit.out.w, (size_t)3 * D, 1e-6);
    fit_done(&fit);
    fit_done(&limit);
    csv_free(t);
}

/* ---- invariants ---- */
static void close_fits(const struct fit *a, const struct fit *b, double tolerance) {
    size_t S = dn_machine_n_scores(a->out.machine);
    assert_close(a->out.w, b->out.w, S * a->out.n_features, tolerance);
    assert_close(a->out.w0, b->out.w0, S, tolerance);
    assert_near(a->report.objective, b->report.objective, tolerance);
}

static void weights_and_orders(void **state) {
    (void)state;
    struct csv *t = csv_named("wine");
    size_t n = t->n, d = t->d;
    double *x = xcalloc(2 * n * d, sizeof *x), *target = xcalloc(2 * n, sizeof *target),
           *weight = xcalloc(2 * n, sizeof *weight);
    for (int deficient = 0; deficient < 2; deficient++) {
        for (size_t i = 0; deficient && i < n; i++) {
            t->x[i * d + 3] = t->x[i * d + 4] * 0.5;
        }
        double lambda = deficient ? 0 : 1e-3;
        struct fit plain = fit_dense(t->x, t->target, NULL, n, d, t->K, lambda);
        for (size_t i = 0; i < 2 * n; i++) { /* each row twice, in another order */
            size_t from = i * 61 % n;
            memcpy(x + i * d, t->x + from * d, d * sizeof *x);
            target[i] = t->target[from];
        }
        struct fit twice = fit_dense(x, target, NULL, 2 * n, d, t->K, lambda);
        close_fits(&twice, &plain, 1e-9);
        for (size_t i = 0; i < n; i++) {
            weight[i] = 2;
        }
        struct fit heavy = fit_dense(t->x, t->target, weight, n, d, t->K, lambda);
        close_fits(&heavy, &plain, 1e-10);
        for (size_t i = 0; i < 2 * n; i++) { /* rows with weight 0 are ignored */
            weight[i] = i < n;
            if (i >= n) {
                for (size_t j = 0; j < d; j++) {
                    x[i * d + j] = (double)(i * j % 17) * 1e9;
                }
            }
        }
        struct fit some = fit_dense(x, target, weight, 2 * n, d, t->K, lambda);
        close_fits(&some, &plain, 1e-9);
        fit_done(&plain);
        fit_done(&twice);
        fit_done(&heavy);
        fit_done(&some);
    }
    free(x);
    free(target);
    free(weight);
    csv_free(t);
}

/* Columns in other units and far from 0 give the same fit. */
static void shifted_and_scaled(void **state) {
    (void)state;
    struct csv *t = csv_named("iris");
    double *x = xcalloc(t->n * t->d, sizeof *x);
    const double scale[] = {1e6, 1e-6, 1, 256}, shift[] = {0, 0, 1.7e9, -4096};
    for (size_t i = 0; i < t->n; i++) {
        for (size_t j = 0; j < t->d; j++) {
            x[i * t->d + j] = t->x[i * t->d + j] * scale[j] + shift[j];
        }
    }
    struct fit plain = fit_dense(t->x, t->target, NULL, t->n, t->d, t->K, 0),
               other = fit_dense(x, t->target, NULL, t->n, t->d, t->K, 0);
    assert_near(other.report.objective, plain.report.objective, 1e-7);
    for (size_t k = 0; k < t->K; k++) {
        for (size_t j = 0; j < t->d; j++) {
            assert_true(fabs(other.out.w[k * t->d + j] * scale[j] - plain.out.w[k * t->d + j]) <
                        1e-6);
        }
    }
    fit_done(&plain);
    fit_done(&other);
    free(x);
    csv_free(t);
}

static void sparse_is_dense(void **state) {
    (void)state;
    struct csv *t = csv_named("digits");
    size_t *start = xcalloc(t->n + 1, sizeof *start), entries = 0;
    uint32_t *cols = xcalloc(t->n * t->d, sizeof *cols);
    double *values = xcalloc(t->n * t->d, sizeof *values);
    for (size_t i = 0; i < t->n; i++) {
        for (size_t j = 0; j < t->d; j++) {
            if (t->x[i * t->d + j] != 0) {
                cols[entries] = (uint32_t)j;
                values[entries++] = t->x[i * t->d + j];
            }
        }
        start[i + 1] = entries;
    }
    dn_run run = dn_run_default();
    struct fit dense = fit_dense(t->x, t->target, NULL, t->n, t->d, t->K, 1e-3), sparse = {0};
    OK(fit_matrix(dn_matrix_csr(start, cols, values, t->n, t->d), t->target, NULL, t->K, 1e-3, &run,
                  &sparse, NULL));
    close_fits(&sparse, &dense, 1e-12);
    fit_done(&dense);
    fit_done(&sparse);
    free(start);
    free(cols);
    free(values);
    csv_free(t);
}

static void any_threads(void **state) {
    (void)state;
    struct csv *t = csv_clouds(4096 * 2 + 900, 6, 3);
    dn_run serial = dn_run_default(), parallel = dn_run_default();
    parallel.n_slots = 3;
    parallel.sum = sum_in_ranges;
    parallel.each = each_in_reverse;
    for (int deficient = 0; deficient < 2; deficient++) {
        for (size_t i = 0; deficient && i < t->n; i++) {
            t->x[i * 6 + 5] = t->x[i * 6] - 3;
        }
        struct fit one = {0}, many = {0};
        OK(fit_matrix(dn_matrix_dense(t->x, t->n, 6), t->target, NULL, 3, 0, &serial, &one, NULL));
        OK(fit_matrix(dn_matrix_dense(t->x, t->n, 6), t->target, NULL, 3, 0, &parallel, &many,
                      NULL));
        assert_memory_equal(one.out.w, many.out.w, 18 * sizeof(double));
        assert_memory_equal(one.out.w0, many.out.w0, 3 * sizeof(double));
        assert_true(one.report.objective == many.report.objective);
        fit_done(&one);
        fit_done(&many);
    }
    csv_free(t);
}

/* ---- errors ---- */
static void full_memory_and_stops(void **state) {
    (void)state;
    struct csv *t = wine_with_combinations();
    size_t d = t->d + 3;
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    struct polls polls = {0};
    dn_run run = polls_run(&polls);
    run.allocator = &allocator;
    dn_matrix x = dn_matrix_dense(t->x, t->n, d);
    struct fit fit = {0};
    OK(fit_matrix(x, t->target, NULL, t->K, 0, &run, &fit, NULL));
    fit_done(&fit);
    assert_int_equal(memory.live, 0);
    size_t most = memory.count, n_polls = polls.n;
    assert_true(most > 10 && n_polls > 20);
    for (size_t k = 1; k <= most; k++) {
        memory = (struct memory){.fail_at = k, .left = SIZE_MAX};
        assert_int_equal(fit_matrix(x, t->target, NULL, t->K, 0, &run, &fit, NULL), DN_ERR_BUDGET);
        assert_true(memory.live == 0 && fit.out.w == NULL);
    }
    memory = (struct memory){.left = SIZE_MAX};
    for (size_t k = 1; k <= n_polls; k++) {
        polls = (struct polls){.stop_at = k};
        assert_int_equal(fit_matrix(x, t->target, NULL, t->K, 0, &run, &fit, NULL), DN_ERR_STOPPED);
        assert_true(memory.live == 0 && fit.out.w == NULL);
    }
    csv_free(t);
}

static void refusals(void **state) {
    (void)state;
    dn_run run = dn_run_default();
    struct fit fit = {0};
    dn_error err = {0};
    const double target[] = {0, 1, 0, 1}, huge[] = {1, 2, 3, 1e300, 5, 6, 7, 8};
    assert_int_equal(fit_matrix(dn_matrix_dense(huge, 4, 2), target, NULL, 2, 0, &run, &fit, &err),
                     DN_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "\"#1\""));
    const size_t start[] = {0, 1, 2, 3, 4};
    const uint32_t cols[] = {0, 5, 8192, 7};
    const double values[] = {1, 2, 3, 4};
    dn_matrix wide = dn_matrix_csr(start, cols, values, 4, 8193);
    dn_rows *rows;
    dn_params *p = squares_params(1e-3);
    OK(dn_rows_from_matrix(wide, target, NULL, &rows, NULL));
    OK(dn_params_set_word(p, "solver", "closed_form", NULL));
    err = (dn_error){0};
    assert_int_equal(fit_rows(rows, 2, p, &run, &fit, &err), DN_ERR_BUDGET);
    assert_non_null(strstr(err.message, "8193 features"));
    OK(dn_params_set_word(p, "solver", "auto", NULL)); /* has a way for them */
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_true(fit.report.iterations > 0);
    fit_done(&fit);
    OK(dn_params_resolve(p, 4, 8193, 2, NULL));
    assert_string_equal(dn_params_word(p, "solver"), "conjugate_gradient");
    OK(dn_params_set_word(p, "solver", "auto", NULL));
    OK(dn_params_resolve(p, 4, 8192, 2, NULL));
    assert_string_equal(dn_params_word(p, "solver"), "closed_form");
    OK(dn_params_set_number(p, "learning_rate", 0.1, NULL));
    assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
    dn_rows_free(rows);
    dn_params_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {{"golden iris", golden, NULL, NULL, "iris"},
                                       {"golden wine", golden, NULL, NULL, "wine"},
                                       {"golden breast_cancer", golden, NULL, NULL,
                                        "breast_cancer"},
                                       {"golden digits", golden, NULL, NULL, "digits"},
                                       {"golden pima", golden, NULL, NULL, "pima"},
                                       cmocka_unit_test(normal_equations),
                                       cmocka_unit_test(least_norm),
                                       cmocka_unit_test(ill_conditioned),
                                       cmocka_unit_test(dependent_by_the_rank_rule),
                                       cmocka_unit_test(penalised_and_ill_conditioned),
                                       cmocka_unit_test(more_columns_than_rows),
                                       cmocka_unit_test(weights_and_orders),
                                       cmocka_unit_test(shifted_and_scaled),
                                       cmocka_unit_test(sparse_is_dense),
                                       cmocka_unit_test(any_threads),
                                       cmocka_unit_test(full_memory_and_stops),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
