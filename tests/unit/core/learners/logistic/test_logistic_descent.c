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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_of_the_book),
        cmocka_unit_test(snapshots_are_raw),
        cmocka_unit_test(one_step_by_hand),
        cmocka_unit_test(rate_from_the_curvature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
