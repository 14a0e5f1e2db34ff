/* The procedures of the textbooks, with numbers worked out by hand. */
#include "unit/core/learners/perceptron/perceptrons.h"

#include "base/random.h"

/* (2,1) and (1,2) are in the second class, (0,0) and (1,0) in the first. With y = t (x1, x2, 1):
 * (2,1,1), (1,2,1), (0,0,-1), (-1,0,-1), and ‖y‖² = 6, 6, 1, 2. */
static const double plane_x[] = {2, 1, 1, 2, 0, 0, 1, 0}, plane_target[] = {1, 1, 0, 0};
static const struct sample plane = {plane_x, plane_target, NULL, 4, 2};

/* Classes 1 (second) and 0, in the order of Bishop's and Duda, Hart and Stork's examples. */
static const double turns_x[] = {-3, 0, -2, -1, 3, 3, -1, -1}, turns_target[] = {1, 1, 0, 0};
static const struct sample turns = {turns_x, turns_target, NULL, 4, 2};

static void assert_weights(const double *w, double w1, double w2, double w0) {
    const double wanted[] = {w1, w2, w0};
    for (size_t j = 0; j < 3; j++) {
        assert_near(1 + w[j], 1 + wanted[j], 1e-12);
    }
}

/* Duda, Hart and Stork, algorithm 8: w ← w + η Σ (b − wᵀy)/‖y‖² y over the rows with wᵀy <= b.
 *
 * From w = 0 with b = 1 all rows are within the margin. The step with η = 1 is Σ y/‖y‖²:
 *   (2,1,1)/6 + (1,2,1)/6 + (0,0,−1) + (−1,0,−1)/2 = (0, 1/2, −7/6) */
static void batch_relaxation_is_a_sum(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dn_run run;
        struct history *h = history_new(2, &run);
        struct fit fit = fit_sample(&plane,
                                    WITH("criterion", "relaxation", "mode", "batch", "margin", "1",
                                         "learning_rate", i == 0 ? "1" : "1.5", "max_iterations",
                                         i == 0 ? "1" : "1000"),
                                    &run);
        assert_weights(h->w, 0, i == 0 ? 0.5 : 0.75, i == 0 ? -7.0 / 6 : -1.75);
        if (i == 0) { /* one pass does not reach the margin */
            assert_false(fit.report.converged);
        } else { /* four passes do: the least wᵀy is 21/16 */
            assert_int_equal(fit.report.iterations, 4);
            assert_true(fit.report.converged);
            assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARATED);
            assert_near(least_of(&plane, fit.out.w, fit.out.w0[0]), 1.3125, 1e-12);
            assert_near(perceptron_detail(&fit.report, "least_margin"), 1.3125, 1e-12);
        }
        history_free(h);
        fit_done(&fit);
    }
}

/* Any rate is allowed for sums, and only for sums. */
static void rates_of_sums(void **state) {
    (void)state;
    struct fit fit = fit_sample(&plane,
                                WITH("criterion", "relaxation", "mode", "batch", "learning_rate",
                                     "2.5", "max_iterations", "3"),
                                NULL);
    assert_counted(&plane, &fit);
    fit_done(&fit);
    static const char *const modes[] = {"batch", "sequential"};
    for (size_t i = 0; i < 2; i++) {
        dn_params *p = perceptron_params(WITH("criterion", "relaxation", "learning_rate", "2.5",
                                              "mode", modes[i], "step", "mean"));
        dn_error err = {0};
        assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
        assert_string_equal(err.field, "learning_rate");
        dn_params_free(p);
    }
}

/* The automatic rate of a sum decreases the criterion in every pass, also if the classes
 * overlap. */
static void automatic_rate_of_sums(void **state) {
    (void)state;
    struct sample sets[3] = {plane, exclusive_or, {0}};
    struct csv *t = iris_against_rest("versicolor", &sets[2]);
    for (size_t k = 0; k < 3; k++) {
        for (int normalized = 0; normalized < 3; normalized++) {
            dn_run run;
            struct history *h = history_new(sets[k].d, &run);
            struct fit fit = fit_sample(&sets[k],
                                        WITH("criterion", normalized < 2 ? "squared" : "relaxation",
                                             "mode", "batch", "step", "sum", "max_iterations", "50",
                                             "normalize_step", normalized == 1 ? "true" : "false"),
                                        &run);
            for (size_t i = 1; i < h->n; i++) {
                assert_true(h->loss[i] <= h->loss[i - 1] * (1 + 1e-12));
            }
            assert_counted(&sets[k], &fit);
            history_free(h);
            fit_done(&fit);
        }
    }
    csv_free(t);
}

/* The step of criterion squared without the division by max‖y‖²: w ← w − η (wᵀy) y. */
static void plain_squared_step(void **state) {
    (void)state;
    static const double start[] = {-1, 0, 0}; /* wᵀy = −2, −1, 0, 1 */
    dn_params *p = perceptron_params(
        WITH("criterion", "squared", "learning_rate", "0.5", "max_iterations", "1"));
    OK(dn_params_set_list(p, "init", start, 3, NULL));
    OK(dn_params_set_boolean(p, "normalize_step", false, NULL));
    dn_rows *rows;
    struct fit fit = {0};
    dn_run run;
    struct history *h = history_new(2, &run);
    OK(dn_rows_from_matrix(dn_matrix_dense(plane_x, 4, 2), plane_target, NULL, &rows, NULL));
    history_from_start(h, &run);
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    /* row 1: w = (−1,0,0) + 0.5·2·(2,1,1) = (1,1,1); row 2: wᵀy = 4; row 3: wᵀy = −1, so
     * w = (1,1,1) + 0.5·(0,0,−1) = (1,1,0.5); row 4: wᵀy = −1.5, so
     * w = (1,1,0.5) + 0.5·1.5·(−1,0,−1) = (0.25,1,−0.25) */
    assert_int_equal(h->n, 2);
    assert_weights(h->w, -1, 0, 0);
    assert_weights(h->w + 3, 0.25, 1, -0.25);
    history_free(h);
    fit_done(&fit);
    dn_rows_free(rows);
    dn_params_free(p);
}

/* Bishop, section 4.1.7: f(0) = +1, and w changes exactly at the rows whose predicted class
 * differs.
 *
 * From w = 0 all g are 0, so f = +1: rows 1 and 2 are right. Row 3 (3,3): w = −(3,3,1). Row 4
 * (−1,−1): g = 3 + 3 − 1 = 5, wrong: w = (−3,−3,−1) − (−1,−1,1) = (−2,−2,−2). Second pass: row 1
 * (−3,0): g = 4; row 2 (−2,−1): g = 4; row 3: g = −14; row 4: g = 2, wrong: w = (−1,−1,−3). Third
 * pass: g = 0, 0, −9, −1: no change. */
static void second_class_at_zero(void **state) {
    (void)state;
    dn_run run;
    struct history *h = history_new(2, &run);
    struct fit fit = fit_sample(&turns, WITH("at_zero", "second", "learning_rate", "1"), &run);
    assert_int_equal(h->n, 3);
    assert_weights(h->w, -2, -2, -2);
    assert_weights(h->w + 3, -1, -1, -3);
    assert_weights(h->w + 6, -1, -1, -3);
    assert_true(perceptron_detail(&fit.report, "updates") == 3);
    assert_true(perceptron_detail(&fit.report, "errors") == 0 && fit.report.converged);
    assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARATED);
    history_free(h);
    fit_done(&fit);
    /* by Duda, Hart and Stork's rule row 1 is wrong at w = 0: w = (−3,0,1); row 4: g = 4, wrong:
     * w = (−2,1,0) */
    h = history_new(2, &run);
    fit = fit_sample(&turns, WITH("learning_rate", "1", "max_iterations", "1"), &run);
    assert_true(perceptron_detail(&fit.report, "updates") == 2);
    assert_weights(h->w, -2, 1, 0);
    history_free(h);
    fit_done(&fit);
}

static void assert_refused(const char *const *settings, const char *field, const char *words) {
    dn_params *p = perceptron_params(settings);
    dn_error err = {0};
    assert_int_equal(dn_params_check(p, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, field);
    assert_non_null(strstr(err.message, words));
    dn_params_free(p);
}

static void rules_of_at_zero(void **state) {
    (void)state;
    assert_refused(WITH("at_zero", "second", "margin", "0.5"), "at_zero", "needs margin 0");
    assert_refused(WITH("at_zero", "second", "multiclass", "one_vs_one"), "at_zero",
                   "needs \"multiclass\" = \"one_vs_rest\"");
    /* without an effect: the service refuses these */
    static const struct {
        const char *name, *criterion, *mode;
        bool applies;
    } cases[] = {{"at_zero", "perceptron", "batch", true},
                 {"at_zero", "relaxation", "batch", false},
                 {"normalize_step", "squared", "sequential", true},
                 {"normalize_step", "perceptron", "sequential", false},
                 {"step", "perceptron", "batch", true},
                 {"step", "perceptron", "sequential", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dn_params *p =
            perceptron_params(WITH("criterion", cases[i].criterion, "mode", cases[i].mode));
        size_t k = 0;
        while (strcmp(p->algorithm->params[k].name, cases[i].name) != 0) {
            k++;
        }
        assert_int_equal(dn_params_applies(p, k), cases[i].applies);
        dn_params_free(p);
    }
}

/* A list in "init" holds weights for raw features. max_iterations 0 keeps them. */
static void given_weights(void **state) {
    (void)state;
    static const double list[] = {-1, 2, 0.5}, mean[] = {1, -2}, scale[] = {2, 0.5};
    double x[8];
    dn_rows *rows;
    struct fit fit = {0};
    dn_run run;
    dn_error err = {0};
    dn_params *p = perceptron_params(WITH("max_iterations", "0"));
    struct history *h = history_new(2, &run);
    for (size_t i = 0; i < 8; i++) {
        x[i] = (turns_x[i] - mean[i % 2]) / scale[i % 2];
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 4, 2), turns_target, NULL, &rows, NULL));
    OK(dn_params_set_list(p, "init", list, 3, NULL));
    const dn_fit_input input = {
        .rows = rows, .n_classes = 2, .params = p, .mean = mean, .scale = scale};
    history_from_start(h, &run);
    OK(fit_input(p, &input, &run, &fit, &err));
    assert_int_equal(fit.report.iterations, 0);
    assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
    assert_int_equal(fit.report.n_warnings, 0);
    assert_int_equal(h->n, 1);
    assert_weights(h->w, -1, 2, 0.5);
    /* g = 3.5, 0.5, 3.5, −0.5: one row is wrong */
    assert_true(perceptron_detail(&fit.report, "errors") == 1);
    assert_near(fit.report.objective, 3.5, 1e-12);
    /* encoded: w_j s_j and w0 + Σ w_j m_j */
    assert_near(fit.out.w[0], -2, 1e-12);
    assert_near(fit.out.w[1], 1, 1e-12);
    assert_near(fit.out.w0[0], 0.5 - 1 - 4, 1e-12);
    history_free(h);
    fit_done(&fit);
    /* a list of another length is refused */
    OK(dn_params_set_list(p, "init", list, 2, NULL));
    run = dn_run_default();
    assert_int_equal(fit_input(p, &input, &run, &fit, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "init");
    assert_non_null(strstr(err.message, "must have 3 numbers: the weights of 2 features and the "
                                        "intercept (got 2)"));
    assert_int_equal(dn_params_resolve(p, 4, 2, 2, &err), DN_ERR_ARGUMENT);
    dn_rows_free(rows);
    dn_params_free(p);
}

/* ---- reports of updates ---- */
struct updates {
    size_t n;
    double w[64][3];
    size_t pass[64], row[64];
    double loss[64], error[64];
};

static void add_update(const dn_run *run, const dn_progress *progress) {
    struct updates *u = run->ctx;
    assert_true(u->n < 64 && progress->w != NULL);
    assert_int_equal(progress->iteration, u->n + 1);
    assert_int_equal(progress->max_iterations, 0);
    u->w[u->n][0] = progress->w[0];
    u->w[u->n][1] = progress->w[1];
    u->w[u->n][2] = progress->w0[0];
    u->pass[u->n] = progress->pass;
    u->row[u->n] = progress->row;
    u->loss[u->n] = progress->loss;
    u->error[u->n++] = progress->train_error;
}

static dn_run run_of_updates(struct updates *u, size_t numbers[64]) {
    dn_run run = dn_run_default();
    for (size_t i = 0; i < 64; i++) {
        numbers[i] = i + 1;
    }
    run.ctx = u;
    run.progress = add_update;
    run.updates = true;
    run.snapshots = numbers;
    run.n_snapshots = 64;
    return run;
}

/* The updates of second_class_at_zero one by one: rows 2, 3 and 3, counted from 0. */
static void each_update_is_reported(void **state) {
    (void)state;
    struct updates u = {0};
    size_t numbers[64];
    dn_run run = run_of_updates(&u, numbers);
    struct fit fit = fit_sample(&turns, WITH("at_zero", "second", "learning_rate", "1"), &run);
    assert_int_equal(u.n, 3);
    assert_weights(u.w[0], -3, -3, -1);
    assert_weights(u.w[1], -2, -2, -2);
    assert_weights(u.w[2], -1, -1, -3);
    assert_true(u.row[0] == 2 && u.row[1] == 3 && u.row[2] == 3);
    assert_true(u.pass[0] == 1 && u.pass[1] == 1 && u.pass[2] == 2);
    /* after the first: g = 8, 8, −19, 5: row 3 is wrong with −wᵀy = 5 */
    assert_near(u.loss[0], 5, 1e-12);
    assert_near(u.error[0], 0.25, 1e-12);
    assert_near(u.loss[1], 2, 1e-12); /* g = 4, 4, −14, 2 */
    assert_near(u.error[2], 0, 1e-12);
    fit_done(&fit);
    /* in batch mode a pass is an update of several rows */
    u.n = 0;
    fit = fit_sample(&turns, WITH("mode", "batch"), &run);
    assert_true(u.n > 0 && (double)u.n == perceptron_detail(&fit.report, "updates"));
    assert_true(u.row[0] == SIZE_MAX && u.pass[u.n - 1] == u.n);
    fit_done(&fit);
}

/* Rows that are in memory only until the next call, as rows that are streamed from a table. */
struct lent_rows {
    dn_rows rows;
    const dn_rows *base;
    double x[DN_BLOCK_ROWS * 2], target[DN_BLOCK_ROWS];
};

static dn_status lend_block(const dn_rows *rows, size_t i, size_t slot, dn_block *out,
                            dn_error *err) {
    struct lent_rows *lent = (struct lent_rows *)(uintptr_t)rows;
    dn_block block;
    const dn_status status = dn_rows_block(lent->base, i, slot, &block, err);
    memset(lent->x, 0xff, sizeof lent->x);
    memcpy(lent->x, block.x.values, block.x.n_rows * 2 * sizeof *lent->x);
    memcpy(lent->target, block.target, block.x.n_rows * sizeof *lent->target);
    *out = block;
    out->x.values = lent->x;
    out->target = lent->target;
    return status;
}

/* Reports of updates change neither the rows that are visited nor the weights. */
static void reports_of_updates_change_nothing(void **state) {
    (void)state;
    enum { N = DN_BLOCK_ROWS + 900 };
    static struct lent_rows lent;
    double *x = xcalloc(N * 2, sizeof *x), *target = xcalloc(N, sizeof *target);
    dni_random random;
    dni_random_init(&random, 11, 0);
    for (size_t i = 0; i < N; i++) { /* two points of each 1,000 are on the wrong side */
        x[2 * i] = dni_random_uniform(&random, 0, 1);
        x[2 * i + 1] = dni_random_uniform(&random, 0, 1);
        target[i] = x[2 * i] > 0.5;
        x[2 * i] += (target[i] > 0 ? 1 : -1) * (i % 500 == 499 ? -2 : 2);
    }
    for (int order = 0; order < 2; order++) {
        double w[2][3];
        for (int reports = 0; reports < 2; reports++) {
            struct updates u = {0};
            size_t numbers[64];
            dn_run run = dn_run_default();
            struct fit fit = {0};
            dn_rows *rows;
            dn_params *p = perceptron_params(
                WITH("max_iterations", "1", "order", order ? "shuffled" : "given"));
            OK(dn_rows_from_matrix(dn_matrix_dense(x, N, 2), target, NULL, &rows, NULL));
            lent.rows = *rows;
            lent.rows.block = lend_block;
            lent.rows.piece = NULL;
            lent.base = rows;
            if (reports) {
                run = run_of_updates(&u, numbers);
            }
            OK(fit_rows(&lent.rows, 2, p, &run, &fit, NULL));
            memcpy(w[reports], fit.out.w, 2 * sizeof(double));
            w[reports][2] = fit.out.w0[0];
            for (size_t i = 0; i < u.n; i++) { /* reported in the order of the visits */
                assert_true(u.row[i] < N && (order || i == 0 || u.row[i] > u.row[i - 1]));
            }
            assert_true(!reports || u.n > 10);
            fit_done(&fit);
            dn_rows_free(rows);
            dn_params_free(p);
        }
        assert_memory_equal(w[0], w[1], sizeof w[0]);
    }
    free(x);
    free(target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_relaxation_is_a_sum),
        cmocka_unit_test(rates_of_sums),
        cmocka_unit_test(automatic_rate_of_sums),
        cmocka_unit_test(plain_squared_step),
        cmocka_unit_test(second_class_at_zero),
        cmocka_unit_test(rules_of_at_zero),
        cmocka_unit_test(given_weights),
        cmocka_unit_test(each_update_is_reported),
        cmocka_unit_test(reports_of_updates_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
