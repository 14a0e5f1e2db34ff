/* Fisher's discriminant: limits of the data, and invariants. */
#include "unit/core/learners/fisher/fishers.h"

/* ---- limits of the data ---- */
static dn_status fit_error(const struct csv *t, const dn_params *p, const dn_run *run,
                           struct fit *fit, dn_error *err) {
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, NULL, &rows, NULL));
    *err = (dn_error){0};
    dn_status status = fit_rows(rows, t->K, p, run, fit, err);
    dn_rows_free(rows);
    return status;
}

static void singular(void **state) {
    (void)state;
    struct csv *t = csv_named("wine");
    size_t d = t->d;
    dn_run run = dn_run_default();
    dn_params *p = fisher_params();
    struct fit fit = {0};
    dn_error err;
    double *kept = xcalloc(t->n * d, sizeof *kept);
    memcpy(kept, t->x, t->n * d * sizeof *kept);
    for (size_t i = 0; i < t->n; i++) {
        t->x[i * d + 2] = t->x[i * d + 4] - 3 * t->x[i * d + 5];
    }
    OK(fit_error(t, p, &run, &fit, &err)); /* if_singular */
    assert_int_equal(fit.report.n_warnings, 1);
    assert_int_equal(fit.report.warnings[0].code, DN_WARNING_SINGULAR);
    assert_non_null(strstr(fit.report.warnings[0].text, "(\"#2\", \"#4\", \"#5\")"));
    assert_true(fisher_detail(&fit, "shrinkage") > 0);
    fit_done(&fit);
    OK(dn_params_set_number(p, "shrinkage", 0, NULL));
    assert_int_equal(fit_error(t, p, &run, &fit, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "(\"#2\", \"#4\", \"#5\")"));
    assert_non_null(strstr(err.message, "set shrinkage above 0"));
    OK(dn_params_set_number(p, "shrinkage", 0.1, NULL));
    OK(fit_error(t, p, &run, &fit, &err));
    fit_done(&fit);
    OK(dn_params_set_number(p, "shrinkage", 0, NULL));
    memcpy(t->x, kept, t->n * d * sizeof *kept);
    struct fit plain = fit_dense(t, NULL, NULL);
    for (size_t i = 0; i < t->n; i++) { /* a constant column is ignored */
        t->x[i * d] = 0.1;
    }
    OK(fit_error(t, p, &run, &fit, &err));
    for (size_t k = 0; k < 3; k++) {
        assert_true(fit.out.w[k * d] == 0);
    }
    assert_true(fit.out.projection[0] == 0 && fit.out.n_components == 2 &&
                eigenvalue(&fit, 0) < eigenvalue(&plain, 0));
    fit_done(&fit);
    fit_done(&plain);
    for (size_t i = 0; i < t->n; i++) { /* constant within the classes only: an error */
        t->x[i * d] = t->target[i];
    }
    assert_int_equal(fit_error(t, p, &run, &fit, &err), DN_ERR_DATA);
    assert_non_null(
        strstr(err.message, "constant within every class but differ between them (\"#0\")"));
    for (size_t i = 0; i < t->n; i++) {
        for (size_t j = 0; j < d; j++) {
            t->x[i * d + j] = 4;
        }
    }
    assert_int_equal(fit_error(t, p, &run, &fit, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "every column is constant"));
    dn_params_free(p);
    free(kept);
    csv_free(t);
    double x[] = {-1, 0, 1, 0, 0, -1, 0, 1, -2, 0, 2, 0, 0, -2, 0, 2},
           target[] = {0, 0, 0, 0, 1, 1, 1, 1};
    struct csv same = {.n = 8, .d = 2, .K = 2, .x = x, .target = target};
    p = fisher_params();
    assert_int_equal(fit_error(&same, p, &run, &fit, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "the same means"));
    dn_params_free(p);
}

/* Shrinkage 1: the columns are treated as uncorrelated, w_j = δ_j/S_jj up to length. */
static void shrinkage(void **state) {
    (void)state;
    struct csv *t = csv_named("breast_cancer");
    size_t d = t->d;
    struct scatters m = scatters_of(t, NULL);
    dn_params *p = fisher_params();
    OK(dn_params_set_number(p, "shrinkage", 1, NULL));
    struct fit fit = fit_dense(t, NULL, p);
    double *w = xcalloc(d, sizeof *w), j = 0;
    for (size_t a = 0; a < d; a++) {
        w[a] = (m.mean[d + a] - m.mean[a]) / m.within[a * d + a];
        j += w[a] * (m.mean[d + a] - m.mean[a]);
    }
    double length = sqrt(dot(w, w, d));
    for (size_t a = 0; a < d; a++) {
        w[a] /= length;
    }
    assert_close(fit.out.w, w, d, 1e-11);
    assert_near(fisher_detail(&fit, "J_two_class"), j, 1e-11);
    fit_done(&fit);
    OK(dn_params_set_word(p, "shrinkage", "auto", NULL));
    fit = fit_dense(t, NULL, p);
    assert_true(fisher_detail(&fit, "shrinkage") > 0 && fisher_detail(&fit, "shrinkage") < 0.2);
    fit_done(&fit);
    dn_params_free(p);
    scatters_done(&m);
    free(w);
    csv_free(t);
}

/* ---- invariants ---- */
/* The fit standardises internally: the same directions, of unit length in the raw features, and the
 * same scores. */
static void raw_directions(void **state) {
    const char *name = *state;
    struct csv *t = csv_named(name);
    size_t d = t->d;
    double *mean = xcalloc(d, sizeof *mean), *scale = xcalloc(d, sizeof *scale),
           *z = standardised(t->x, t->n, d, mean, scale);
    struct fit plain = fit_dense(t, NULL, NULL), fit = {0};
    dn_rows *rows;
    dn_params *p = fisher_params();
    dn_run run = dn_run_default();
    OK(dn_rows_from_matrix(dn_matrix_dense(z, t->n, d), t->target, NULL, &rows, NULL));
    dn_fit_input input = {
        .rows = rows, .n_classes = t->K, .params = p, .mean = mean, .scale = scale};
    OK(fit_input(p, &input, &run, &fit, NULL));
    for (size_t i = 0; i < fit.out.n_components * d; i++) {
        fit.out.projection[i] /= scale[i % d];
    }
    assert_close(fit.out.projection, plain.out.projection, fit.out.n_components * d, 1e-9);
    for (size_t i = 0; i < t->n; i++) {
        double g[3], h[3];
        size_t S = dn_machine_n_scores(fit.out.machine);
        for (size_t k = 0; k < S; k++) {
            g[k] = dot(plain.out.w + k * d, t->x + i * d, d) + plain.out.w0[k];
            h[k] = dot(fit.out.w + k * d, z + i * d, d) + fit.out.w0[k];
        }
        for (size_t k = 0; k < S; k++) {
            assert_true(fabs(g[k] - h[k]) < 1e-8 * (1 + fabs(g[k])));
        }
    }
    if (t->K == 2) {
        assert_near(fisher_detail(&fit, "threshold"), fisher_detail(&plain, "threshold"), 1e-8);
    }
    fit_done(&fit);
    fit_done(&plain);
    dn_rows_free(rows);
    dn_params_free(p);
    free(mean);
    free(scale);
    free(z);
    csv_free(t);
}

/* Repeated rows in another order, sparse rows and any number of threads give the same
 * directions. */
static void rows_and_threads(void **state) {
    (void)state;
    enum { D = 5 };
    struct csv *t = csv_clouds(4096 * 2 + 700, D, 3);
    for (size_t i = 0; i < t->n * D; i++) {
        t->x[i] = fmod(t->x[i], 1) < 0.5 ? 0 : t->x[i];
    }
    size_t *start = xcalloc(t->n + 1, sizeof *start), entries = 0;
    uint32_t *cols = xcalloc(t->n * D, sizeof *cols);
    double *values = xcalloc(t->n * D, sizeof *values);
    for (size_t i = 0; i < t->n; i++) {
        for (size_t j = 0; j < D; j++) {
            if (t->x[i * D + j] != 0) {
                cols[entries] = (uint32_t)j;
                values[entries++] = t->x[i * D + j];
            }
        }
        start[i + 1] = entries;
    }
    struct csv twice = {.n = 2 * t->n, .d = D, .K = 3};
    twice.x = xcalloc(twice.n * D, sizeof(double));
    twice.target = xcalloc(twice.n, sizeof(double));
    double *weight = xcalloc(t->n, sizeof *weight);
    for (size_t i = 0; i < twice.n; i++) {
        size_t from = i * 7919 % t->n;
        memcpy(twice.x + i * D, t->x + from * D, D * sizeof(double));
        twice.target[i] = t->target[from];
        weight[from] = 2;
    }
    struct fit plain = fit_dense(t, NULL, NULL), heavy = fit_dense(t, weight, NULL),
               both = fit_dense(&twice, NULL, NULL), many = {0}, sparse = {0};
    assert_close(both.out.w, heavy.out.w, (size_t)3 * D, 1e-10);
    assert_close(both.out.w0, heavy.out.w0, 3, 1e-10);
    assert_close(heavy.out.projection, plain.out.projection, (size_t)2 * D, 1e-10);
    dn_rows *rows;
    dn_params *p = fisher_params();
    dn_run run = dn_run_default();
    run.n_slots = 3;
    run.sum = sum_in_ranges;
    run.each = each_in_reverse;
    OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, D), t->target, NULL, &rows, NULL));
    OK(fit_rows(rows, 3, p, &run, &many, NULL));
    assert_memory_equal(many.out.w, plain.out.w, sizeof(double) * 3 * D);
    assert_memory_equal(many.out.projection, plain.out.projection, sizeof(double) * 2 * D);
    dn_rows_free(rows);
    OK(dn_rows_from_matrix(dn_matrix_csr(start, cols, values, t->n, D), t->target, NULL, &rows,
                           NULL));
    OK(fit_rows(rows, 3, p, &run, &sparse, NULL));
    assert_close(sparse.out.w, plain.out.w, (size_t)3 * D, 1e-10);
    dn_rows_free(rows);
    dn_params_free(p);
    fit_done(&plain);
    fit_done(&heavy);
    fit_done(&both);
    fit_done(&many);
    fit_done(&sparse);
    free(start);
    free(cols);
    free(values);
    free(twice.x);
    free(twice.target);
    free(weight);
    csv_free(t);
}

static void full_memory_and_stops(void **state) {
    (void)state;
    struct csv *t = csv_named("breast_cancer");
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    struct polls polls = {0};
    dn_run run = polls_run(&polls);
    run.allocator = &allocator;
    dn_params *p = fisher_params();
    OK(dn_params_set_word(p, "threshold", "min_error", NULL));
    OK(dn_params_set_word(p, "shrinkage", "auto", NULL));
    struct fit fit = {0};
    dn_error err;
    OK(fit_error(t, p, &run, &fit, &err));
    fit_done(&fit);
    assert_int_equal(memory.live, 0);
    size_t most = memory.count, n_polls = polls.n;
    assert_true(most > 8 && n_polls > 8);
    for (size_t k = 1; k <= most; k++) {
        memory = (struct memory){.fail_at = k, .left = SIZE_MAX};
        assert_int_equal(fit_error(t, p, &run, &fit, &err), DN_ERR_BUDGET);
        assert_true(memory.live == 0 && fit.out.w == NULL);
    }
    memory = (struct memory){.left = SIZE_MAX};
    for (size_t k = 1; k <= n_polls; k++) {
        polls = (struct polls){.stop_at = k};
        assert_int_equal(fit_error(t, p, &run, &fit, &err), DN_ERR_STOPPED);
        assert_true(memory.live == 0 && fit.out.w == NULL);
    }
    dn_params_free(p);
    csv_free(t);
}

/* A row of weight v counts as v rows. If the sum of the weights is too small, the error message
 * names a remedy. The test applies this remedy. */
static void weights_of_too_few_rows(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 3, 3);
    double v[60];
    dn_params *p = fisher_params();
    dn_rows *rows;
    dn_run run = dn_run_default();
    for (size_t way = 0; way < 2; way++) {
        for (size_t i = 0; i < 60; i++) {
            v[i] = way == 0 ? 1.0 / 64 : 1;
        }
        struct fit fit;
        dn_error err = {0};
        OK(dn_rows_from_matrix(dn_matrix_dense(t->x, t->n, t->d), t->target, v, &rows, NULL));
        assert_int_equal(fit_rows(rows, 3, p, &run, &fit, &err), way == 0 ? DN_ERR_DATA : DN_OK);
        if (way == 0) {
            assert_non_null(strstr(err.message, "(got 0.9375): multiply them all by a number, so "
                                                "that they sum to about the number of rows"));
        } else {
            fit_done(&fit);
        }
        dn_rows_free(rows);
    }
    dn_params_free(p);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        {"raw directions wine", raw_directions, NULL, NULL, "wine"},
        {"raw directions breast_cancer", raw_directions, NULL, NULL, "breast_cancer"},
        cmocka_unit_test(singular),
        cmocka_unit_test(weights_of_too_few_rows),
        cmocka_unit_test(shrinkage),
        cmocka_unit_test(rows_and_threads),
        cmocka_unit_test(full_memory_and_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
