/* The textbook's gradient descent to the printed digits, its snapshots, learning rates and progress
 * reports. */
#include "unit/core/support.h"

struct heard {
    size_t n, last;
    double fraction, loss[2000];
    double w[8][2]; /* snapshots: w, w0 */
    size_t n_snapshots;
    double train_error;
};

static void listen(const dn_run *run, const dn_progress *progress) {
    struct heard *h = run->ctx;
    assert_int_equal(progress->iteration, h->last + 1);
    h->last = progress->iteration;
    assert_true(progress->fraction >= h->fraction && progress->fraction <= 1);
    h->fraction = progress->fraction;
    h->loss[h->n++] = progress->loss;
    h->train_error = progress->train_error;
    if (progress->w != NULL) {
        assert_int_equal(progress->n_scores * progress->n_features, 1);
        h->w[h->n_snapshots][0] = progress->w[0];
        h->w[h->n_snapshots++][1] = progress->w0[0];
    }
}

static const double book_x[] = {0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4},
                    book_y[] = {0, 0, 0, 1, 0, 1, 1, 1};

static void descend(const double *mean, const double *scale, const char *init, size_t passes,
                    struct heard *heard, struct fit *fit) {
    const size_t wanted[] = {10, 100, 1000};
    double z[8];
    for (size_t i = 0; i < 8; i++) {
        z[i] = mean == NULL ? book_x[i] : (book_x[i] - *mean) / *scale;
    }
    dn_rows *rows;
    dn_params *p = params_of("gradient_descent", 0);
    OK(dn_params_set_word(p, "init", init, NULL));
    OK(dn_params_set_number(p, "learning_rate", 0.1, NULL));
    OK(dn_params_set_number(p, "max_iterations", (double)passes, NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(z, 8, 1), book_y, NULL, &rows, NULL));
    dn_run run = dn_run_default();
    run.progress = listen;
    run.ctx = heard;
    run.snapshots = wanted;
    run.n_snapshots = 3;
    dn_fit_input input = {.rows = rows, .n_classes = 2, .params = p, .mean = mean, .scale = scale};
    OK(fit_input(p, &input, &run, fit, NULL));
    dn_rows_free(rows);
    dn_params_free(p);
}

static void example_of_the_book(void **state) {
    (void)state;
    const double expected[3][2] = {{0.5929, -0.8857}, {1.7955, -3.8996}, {2.5598, -5.7588}};
    struct heard heard = {0}, random = {0};
    struct fit fit;
    descend(NULL, NULL, "zero", 1000, &heard, &fit);
    assert_int_equal(heard.n_snapshots, 3);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 2; j++) {
            assert_true(fabs(heard.w[i][j] - expected[i][j]) < 5e-5);
        }
    }
    assert_true(fit.out.w[0] == heard.w[2][0] && fit.out.w0[0] == heard.w[2][1]);
    assert_false(fit.report.converged);
    assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
    assert_true(heard.n == 1000 && heard.loss[999] == fit.report.objective);
    for (size_t i = 1; i < 1000; i++) {
        assert_true(heard.loss[i] < heard.loss[i - 1]);
    }
    assert_true(heard.train_error == 2.0 / 8);
    fit_done(&fit);
    /* A start within ±0.01 changes the first snapshot by less than 0.02. */
    descend(NULL, NULL, "random", 1000, &random, &fit);
    assert_true(fabs(random.w[0][0] - expected[0][0]) < 0.02 &&
                fabs(random.w[0][1] - expected[0][1]) < 0.02);
    assert_true(random.w[0][0] != heard.w[0][0]);
    fit_done(&fit);
}

/* Snapshots have weights of the raw features. The score g of a row is the same in raw and encoded
 * space. */
static void snapshots_are_raw(void **state) {
    (void)state;
    const double mean = 2.25, scale = 1.5;
    struct heard heard = {0};
    struct fit fit;
    descend(&mean, &scale, "zero", 10, &heard, &fit);
    assert_int_equal(heard.n_snapshots, 1);
    double raw = heard.w[0][0] * 4 + heard.w[0][1],
           own = fit.out.w[0] * (4 - mean) / scale + fit.out.w0[0];
    assert_near(raw, own, 1e-12);
    fit_done(&fit);
}

/* One pass by a plain loop: w ← w + η Σ v(r − y)x − 2ηλ(Σv)w. */
static void one_step_by_hand(void **state) {
    (void)state;
    const double v[] = {1, 2, 0, 1, 3, 1, 1, 0.5};
    const double rate = 0.01, lambda = 0.2;
    double w = 0, w0 = 0, total = 0;
    for (size_t i = 0; i < 8; i++) {
        total += v[i];
    }
    for (int pass = 0; pass < 3; pass++) {
        double dw = 0, dw0 = 0;
        for (size_t i = 0; i < 8; i++) {
            double r = v[i] * (book_y[i] - 1 / (1 + exp(-w * book_x[i] - w0)));
            dw += r * book_x[i];
            dw0 += r;
        }
        w += rate * dw - 2 * rate * lambda * total * w;
        w0 += rate * dw0;
    }
    dn_rows *rows;
    dn_params *p = params_of("gradient_descent", lambda);
    OK(dn_params_set_word(p, "init", "zero", NULL));
    OK(dn_params_set_number(p, "learning_rate", rate, NULL));
    OK(dn_params_set_number(p, "max_iterations", 3, NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(book_x, 8, 1), book_y, v, &rows, NULL));
    dn_run run = dn_run_default();
    struct fit fit;
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_near(fit.out.w[0], w, 1e-13);
    assert_near(fit.out.w0[0], w0, 1e-13);
    fit_done(&fit);
    /* Stochastic descent with all rows in one batch makes the same step. */
    OK(dn_params_set_number(p, "batch_size", 8, NULL));
    OK(dn_params_set_word(p, "solver", "sgd", NULL));
    OK(dn_params_set_number(p, "max_iterations", 1, NULL));
    struct fit batch, whole;
    OK(fit_rows(rows, 2, p, &run, &batch, NULL));
    OK(dn_params_set_word(p, "solver", "gradient_descent", NULL));
    OK(fit_rows(rows, 2, p, &run, &whole, NULL));
    assert_near(batch.out.w[0], whole.out.w[0], 1e-13);
    assert_near(batch.out.w0[0], whole.out.w0[0], 1e-13);
    fit_done(&batch);
    fit_done(&whole);
    dn_rows_free(rows);
    dn_params_free(p);
}

static double detail(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].number;
        }
    }
    fail_msg("no detail %s", name);
    return 0;
}

/* auto: 1/(nL) with L = λmax/4 + 2λ for the design matrix with its column of ones. A rate above
 * 2/(nL) gives a warning. */
static void rate_from_the_curvature(void **state) {
    (void)state;
    /* The largest eigenvalue of [Σx², Σx; Σx, n] in closed form. */
    double a = 0, b = 0, c = 8;
    for (size_t i = 0; i < 8; i++) {
        a += book_x[i] * book_x[i];
        b += book_x[i];
    }
    double largest = (a + c) / 2 + sqrt((a - c) * (a - c) / 4 + b * b);
    double bound = largest / 8 / 4 + 2 * 0.05;
    dn_rows *rows;
    dn_params *p = params_of("gradient_descent", 0.05);
    OK(dn_rows_from_matrix(dn_matrix_dense(book_x, 8, 1), book_y, NULL, &rows, NULL));
    dn_run run = dn_run_default();
    struct fit fit;
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_near(detail(&fit.report, "learning_rate"), 1 / (8 * bound), 1e-3);
    assert_true(fit.report.converged && fit.report.n_warnings == 0);
    fit_done(&fit);
    OK(dn_params_set_number(p, "max_iterations", 5, NULL));
    OK(dn_params_set_number(p, "learning_rate", 3 / (8 * bound), NULL));
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_non_null(strstr(fit.report.warnings[0].text, "learning_rate"));
    fit_done(&fit);
    /* The weights overflow and the error message names the learning rate. */
    OK(dn_params_set_number(p, "learning_rate", 1e300, NULL));
    dn_error err = {0};
    assert_int_equal(fit_rows(rows, 2, p, &run, &fit, &err), DN_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "learning_rate"));
    assert_non_null(strstr(err.message, "iteration"));
    dn_rows_free(rows);
    dn_params_free(p);
}

/* Batches of one row, rows in order, a constant rate: w ← w − α(y − t)φ, row by row (Bishop, PRML,
 * eq. 3.22 with 4.91). */
static void online_descent_as_printed(void **state) {
    (void)state;
    enum { PASSES = 5 };
    const double rate = 0.3, start[] = {0.5, -1};
    double w = start[0], w0 = start[1];
    for (int i = 0; i < PASSES * 8; i++) {
        const double y = 1 / (1 + exp(-(w * book_x[i % 8] + w0)));
        w -= rate * (y - book_y[i % 8]) * book_x[i % 8];
        w0 -= rate * (y - book_y[i % 8]);
    }
    dn_rows *rows;
    dn_params *p = params_of("sgd", 0);
    OK(dn_params_set_list(p, "init", start, 2, NULL));
    OK(dn_params_set_number(p, "batch_size", 1, NULL));
    OK(dn_params_set_number(p, "learning_rate", rate, NULL));
    OK(dn_params_set_number(p, "max_iterations", PASSES, NULL));
    OK(dn_params_set_word(p, "schedule", "constant", NULL));
    OK(dn_rows_from_matrix(dn_matrix_dense(book_x, 8, 1), book_y, NULL, &rows, NULL));
    static const char *const orders[] = {"given", "cyclic", "shuffled"};
    for (size_t i = 0; i < 3; i++) {
        dn_run run = dn_run_default();
        struct fit fit;
        OK(dn_params_set_word(p, "order", orders[i], NULL));
        OK(fit_rows(rows, 2, p, &run, &fit, NULL));
        assert_int_equal(fit.report.iterations, PASSES);
        assert_true((fabs(fit.out.w[0] - w) < 1e-14 && fabs(fit.out.w0[0] - w0) < 1e-14) ==
                    (i < 2));
        fit_done(&fit);
    }
    /* the constant rate is not halved: a rate that is too large fails as in gradient_descent */
    dn_run run = dn_run_default();
    struct fit fit;
    dn_error err = {0};
    OK(dn_params_set_number(p, "learning_rate", 1e308, NULL));
    assert_int_equal(fit_rows(rows, 2, p, &run, &fit, &err), DN_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "learning_rate"));
    dn_rows_free(rows);
    dn_params_free(p);
}

struct start_heard {
    size_t n;
    double w[6], w0[3], loss;
};

static void listen_to_start(const dn_run *run, const dn_progress *progress) {
    struct start_heard *h = run->ctx;
    assert_int_equal(progress->iteration, h->n++);
    if (h->n == 1) {
        assert_non_null(progress->w);
        h->loss = progress->loss;
        memcpy(h->w, progress->w, progress->n_scores * progress->n_features * sizeof *progress->w);
        memcpy(h->w0, progress->w0, progress->n_scores * sizeof *progress->w0);
    }
}

/* max_iterations 0: the model has the weights of init, which are in the units of the columns, with
 * every solver and penalty. The result has their loss, likelihood and gradient. */
static void given_weights(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto", "newton", "lbfgs", "gradient_descent", "sgd"},
                             *const penalties[] = {"none", "l2", "l1"};
    const double list[] = {1.5, -4}, mean = 2.25, scale = 1.5, lambda = 0.1;
    const size_t first = 0;
    double z[8], loss = 0, slope = 0, slope0 = 0;
    for (size_t i = 0; i < 8; i++) {
        const double g = list[0] * book_x[i] + list[1];
        z[i] = (book_x[i] - mean) / scale;
        loss += log1p(exp(book_y[i] > 0 ? -g : g));
        slope += (1 / (1 + exp(-g)) - book_y[i]) * z[i];
        slope0 += 1 / (1 + exp(-g)) - book_y[i];
    }
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(z, 8, 1), book_y, NULL, &rows, NULL));
    for (size_t i = 0; i < 15; i++) {
        const double w = list[0] * scale,
                     penalty = i % 3 == 0   ? 0
                               : i % 3 == 1 ? lambda * w * w
                                            : lambda * w,
                     along = i % 3 == 0   ? 0
                             : i % 3 == 1 ? 2 * lambda * w
                                          : lambda;
        dn_params *p = params_of(solvers[i / 3], lambda);
        OK(dn_params_set_word(p, "penalty", penalties[i % 3], NULL));
        OK(dn_params_set_list(p, "init", list, 2, NULL));
        OK(dn_params_set_number(p, "max_iterations", 0, NULL));
        struct start_heard heard = {0};
        struct fit fit;
        dn_run run = dn_run_default();
        run.progress = listen_to_start;
        run.ctx = &heard;
        run.snapshots = &first;
        run.n_snapshots = 1;
        dn_fit_input input = {
            .rows = rows, .n_classes = 2, .params = p, .mean = &mean, .scale = &scale};
        OK(fit_input(p, &input, &run, &fit, NULL));
        assert_int_equal(heard.n, 1);
        assert_near(heard.w[0], list[0], 1e-13);
        assert_near(heard.w0[0], list[1], 1e-13);
        assert_near(heard.loss, loss / 8 + penalty, 1e-13);
        assert_near(fit.out.w[0], w, 1e-13);
        assert_near(fit.out.w0[0], list[1] + list[0] * mean, 1e-13);
        assert_near(fit.report.objective, loss / 8 + penalty, 1e-13);
        assert_near(detail(&fit.report, "log_likelihood"), -loss, 1e-12);
        assert_near(fit.report.gradient_norm, hypot(slope / 8 + along, slope0 / 8), 1e-13);
        assert_true(fit.report.iterations == 0 && !fit.report.converged);
        assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
        assert_int_equal(fit.report.n_warnings, 0);
        fit_done(&fit);
        /* queued by the first release: weights for encoded features */
        p->rules = DN_RULES_FIRST;
        run = dn_run_default();
        OK(fit_input(p, &input, &run, &fit, NULL));
        assert_near(fit.out.w[0], list[0], 1e-13);
        assert_near(fit.out.w0[0], list[1], 1e-13);
        fit_done(&fit);
        dn_params_free(p);
    }
    dn_rows_free(rows);
}

/* The weights of three classes are kept, although a constant that is added to all of them changes
 * no probability; so is the weight of a constant column. */
static void given_softmax_weights(void **state) {
    (void)state;
    const double x[] = {1, 7, 2, 7, 3, 7}, y[] = {0, 1, 2}, list[] = {1, 10, 2, 3, 20, 4, 5, 30, 6};
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 3, 2), y, NULL, &rows, NULL));
    for (int i = 0; i < 2; i++) {
        dn_params *p = params_of(i == 0 ? "newton" : "gradient_descent", 0);
        OK(dn_params_set_list(p, "init", list, 9, NULL));
        OK(dn_params_set_number(p, "max_iterations", 0, NULL));
        dn_run run = dn_run_default();
        struct fit fit;
        OK(fit_rows(rows, 3, p, &run, &fit, NULL));
        for (size_t k = 0; k < 3; k++) {
            assert_true(fit.out.w[2 * k] == list[3 * k] &&
                        fit.out.w[2 * k + 1] == list[3 * k + 1] &&
                        fit.out.w0[k] == list[3 * k + 2]);
        }
        fit_done(&fit);
        dn_params_free(p);
    }
    dn_rows_free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_of_the_book),       cmocka_unit_test(snapshots_are_raw),
        cmocka_unit_test(one_step_by_hand),          cmocka_unit_test(rate_from_the_curvature),
        cmocka_unit_test(online_descent_as_printed), cmocka_unit_test(given_weights),
        cmocka_unit_test(given_softmax_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
