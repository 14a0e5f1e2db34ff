/* The perceptron's update rule: golden numbers, the textbook's sequence of corrections, Novikoff's
 * bound, logistic regression with a step function, the pocket. */
#include "unit/core/learners/perceptron/perceptrons.h"

/* Reference: one pass of sequential corrections by plain loops. Rows with weight 0 are ignored.
 * Returns the number of corrections. */
static size_t correct_once(const struct sample *s, double rate, double margin, double *w) {
    size_t updates = 0;
    for (size_t i = 0; i < s->n; i++) {
        double v = s->weight == NULL ? 1 : s->weight[i], t = s->target[i] > 0 ? 1 : -1;
        if (v == 0 || aligned(s, i, w, w[s->d]) > margin) {
            continue;
        }
        for (size_t j = 0; j < s->d; j++) {
            w[j] += rate * v * t * s->x[i * s->d + j];
        }
        w[s->d] += rate * v * t;
        updates++;
    }
    return updates;
}

static void golden(void **state) {
    (void)state;
    json_t *root = golden_load();
    const json_t *g = json_object_get(root, "perceptron_iris_setosa_vs_rest");
    double want[5], tolerance = json_number_value(json_object_get(g, "tol"));
    assert_int_equal(golden_numbers(json_object_get(g, "w"), want), 4);
    want[4] = json_number_value(json_object_get(g, "w0"));
    struct sample s;
    struct csv *t = iris_against_rest("setosa", &s);
    for (int sign = 1; sign >= -1;
         sign -= 2) { /* exchanging the two classes changes the sign of the weights */
        struct fit fit = fit_sample(&s, NULL, NULL);
        double got[5];
        for (size_t j = 0; j < 5; j++) {
            got[j] = -sign * (j < 4 ? fit.out.w[j] : fit.out.w0[0]);
        }
        assert_close(got, want, 4, tolerance);
        assert_near(got[4], want[4], tolerance);
        assert_int_equal((size_t)perceptron_detail(&fit.report, "updates"),
                         (size_t)json_integer_value(json_object_get(g, "updates")));
        assert_int_equal(fit.report.iterations,
                         (size_t)json_integer_value(
                             json_object_get(g, "passes_including_the_error_free_one")));
        assert_true(fit.report.converged && fit.report.n_warnings == 0 &&
                    fit.report.objective == 0);
        assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARATED);
        assert_true(isnan(fit.report.gradient_norm));
        assert_counted(&s, &fit);
        fit_done(&fit);
        for (size_t i = 0; i < t->n; i++) {
            t->target[i] = 1 - t->target[i];
        }
    }
    csv_free(t);
    json_decref(root);
}

/* The weights, the criterion and the weighted error rate after each pass, and the total number of
 * updates, equal those of the reference loop (correct_once). */
static void assert_follows(const struct sample *s, double rate, double margin) {
    char rate_text[40], margin_text[40];
    snprintf(rate_text, sizeof rate_text, "%.17g", rate);
    snprintf(margin_text, sizeof margin_text, "%.17g", margin);
    dn_run run;
    struct history *h = history_new(s->d, &run);
    struct fit fit =
        fit_sample(s,
                   WITH("learning_rate", rate_text, "margin", margin_text, "max_iterations", "200"),
                   &run);
    double *w = xcalloc(s->d + 1, sizeof *w), total = 0;
    size_t updates = 0;
    for (size_t i = 0; i < s->n; i++) {
        total += s->weight == NULL ? 1 : s->weight[i];
    }
    for (size_t k = 0; k < h->n; k++) {
        size_t own = correct_once(s, rate, margin, w), wrong;
        double loss = 0;
        assert_close(h->w + k * (s->d + 1), w, s->d + 1, 1e-12);
        for (size_t i = 0; i < s->n; i++) {
            loss += (s->weight == NULL ? 1 : s->weight[i]) *
                    fmax(0, margin - aligned(s, i, w, w[s->d]));
        }
        assert_near(1 + h->loss[k], 1 + loss, 1e-10);
        assert_near(1 + h->error[k], 1 + errors_of(s, w, w[s->d], &wrong) / total, 1e-12);
        assert_int_equal(own == 0, k + 1 == h->n && fit.report.converged);
        updates += own;
    }
    assert_int_equal(h->n, fit.report.iterations);
    assert_int_equal((size_t)perceptron_detail(&fit.report, "updates"), updates);
    assert_counted(s, &fit);
    free(w);
    history_free(h);
    fit_done(&fit);
}

static void sequence(void **state) {
    (void)state;
    static const double v[] = {2, 1, 0, 0.5};
    struct sample weighted = four, s;
    weighted.weight = v;
    assert_follows(&four, 1, 0);
    assert_follows(&four, 0.25, 0);
    assert_follows(&four, 1, 3);
    assert_follows(&weighted, 1, 0);
    assert_follows(&exclusive_or, 1, 0);
    struct csv *t = iris_against_rest("setosa", &s);
    assert_follows(&s, 1, 1);
    csv_free(t);
}

/* The four points, by hand: t·[x, 1] are (0,0,−1), (−2,−1,−1), (1,3,1), (4,4,1). */
static void by_hand(void **state) {
    (void)state;
    dn_run run;
    struct history *h = history_new(2, &run);
    struct fit fit = fit_sample(&four, NULL, &run);
    /* pass 1: (0,0,−1) → w = (0,0,−1); (−2,−1,−1)·w = 1 is right; (1,3,1)·w = −1 → (1,3,0);
     * (4,4,1)·w = 16 is right */
    static const double first[] = {1, 3, 0};
    assert_memory_equal(h->w, first, sizeof first);
    /* pass 2: 0 → (1,3,−1); −2−3+1 = −4 → (−1,2,−2); −1+6−2 = 3 and −4+8−2 = 2 are right */
    static const double second[] = {-1, 2, -2};
    assert_memory_equal(h->w + 3, second, sizeof second);
    /* pass 3: the products are 2, 2, 3 and 2: no correction */
    assert_memory_equal(h->w + 6, second, sizeof second);
    assert_int_equal(h->n, 3);
    assert_int_equal((size_t)perceptron_detail(&fit.report, "updates"), 4);
    assert_true(perceptron_detail(&fit.report, "least_margin") == 2 && fit.report.converged);
    assert_near(perceptron_detail(&fit.report, "max_norm"), sqrt(33), 1e-15);
    assert_near(perceptron_detail(&fit.report, "weight_norm"), 3, 1e-15);
    assert_int_equal((size_t)perceptron_detail(&fit.report, "kept_iteration"), 2);
    history_free(h);
    fit_done(&fit);
}

/* A correction lowers the criterion of its row by η‖y‖². The sum over all rows may grow. */
static void one_correction(void **state) {
    (void)state;
    static const double x[] = {2, 0, 2.5, 1, 1, 3, 4, 4}, target[] = {0, 0, 1, 1};
    const struct sample s = {x, target, NULL, 4, 2};
    double w[3] = {1, 0, 0}, total[2] = {0, 0}, own[2];
    bool rose = false;
    for (size_t pass = 0; pass < 20; pass++) {
        for (size_t i = 0; i < s.n; i++) {
            struct sample one = {s.x + i * 2, s.target + i, NULL, 1, 2};
            total[0] = total[1] = 0;
            own[0] = aligned(&s, i, w, w[2]);
            for (size_t j = 0; j < s.n; j++) {
                total[0] += fmax(0, -aligned(&s, j, w, w[2]));
            }
            if (correct_once(&one, 1, 0, w) == 0) {
                continue;
            }
            own[1] = aligned(&s, i, w, w[2]);
            for (size_t j = 0; j < s.n; j++) {
                total[1] += fmax(0, -aligned(&s, j, w, w[2]));
            }
            assert_near(own[1] - own[0], square_length(&s, i), 1e-12);
            rose = rose || total[1] > total[0];
        }
    }
    assert_true(rose);
}

static void permuted(const struct sample *s, const size_t *order, double *x, double *target,
                     struct sample *out) {
    for (size_t i = 0; i < s->n; i++) {
        memcpy(x + i * s->d, s->x + order[i] * s->d, s->d * sizeof *x);
        target[i] = s->target[order[i]];
    }
    *out = (struct sample){x, target, NULL, s->n, s->d};
}

/* The order of the rows, the start, and the seed of the order each change the result. Every result
 * separates the classes within Novikoff's bound. */
static void start_and_order_change_the_result(void **state) {
    (void)state;
    double x[8], target[4];
    const size_t backwards[] = {3, 2, 1, 0};
    struct sample other;
    permuted(&four, backwards, x, target, &other);
    struct fit a = fit_sample(&four, NULL, NULL), b = fit_sample(&other, NULL, NULL),
               c = fit_sample(&four, WITH("init", "random"), NULL);
    assert_true(a.report.converged && b.report.converged && c.report.converged);
    assert_memory_not_equal(a.out.w, b.out.w, 2 * sizeof(double));
    assert_memory_not_equal(a.out.w, c.out.w, 2 * sizeof(double));
    assert_false(has_detail(&c.report, "update_bound")); /* holds from 0 only */
    fit_done(&a);
    fit_done(&b);
    fit_done(&c);

    struct sample s;
    struct csv *t = iris_against_rest("setosa", &s);
    struct fit fits[4];
    for (size_t i = 0; i < 4; i++) {
        dn_run run = dn_run_default();
        run.seed = i < 3 ? i + 1 : 1;
        fits[i] = fit_sample(&s, WITH("order", "shuffled"), &run);
        assert_true(fits[i].report.converged);
        assert_counted(&s, &fits[i]);
    }
    assert_memory_equal(fits[0].out.w, fits[3].out.w, 4 * sizeof(double));
    assert_true(memcmp(fits[0].out.w, fits[1].out.w, 4 * sizeof(double)) != 0 ||
                memcmp(fits[0].out.w, fits[2].out.w, 4 * sizeof(double)) != 0);
    for (size_t i = 0; i < 4; i++) {
        fit_done(&fits[i]);
    }
    csv_free(t);
}

/* The default is order "shuffled". "cyclic" is the earlier name of "given": the same result. A
 * batch step does not depend on the order. */
static void names_of_orders(void **state) {
    (void)state;
    struct sample s;
    struct csv *t = iris_against_rest("versicolor", &s);
    static const char *const few[] = {"max_iterations", "5", "order", NULL, NULL};
    const char *settings[5];
    const char *const orders[] = {"shuffled", "given", "cyclic"};
    struct fit fits[3];
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("perceptron"), &p, NULL));
    assert_string_equal(dn_params_word(p, "order"), "shuffled");
    assert_true((p->algorithm->flags & DN_ALGORITHM_STANDARDIZE) != 0);
    dn_params_free(p);
    memcpy(settings, few, sizeof few);
    for (size_t i = 0; i < 3; i++) {
        settings[3] = orders[i];
        fits[i] = fit_sample(&s, settings, NULL);
    }
    assert_memory_not_equal(fits[0].out.w, fits[1].out.w, s.d * sizeof(double));
    assert_memory_equal(fits[1].out.w, fits[2].out.w, s.d * sizeof(double));
    for (size_t i = 0; i < 3; i++) {
        fit_done(&fits[i]);
    }
    struct fit a = fit_sample(&s, WITH("mode", "batch", "order", "shuffled"), NULL),
               b = fit_sample(&s, WITH("mode", "batch", "order", "given"), NULL);
    assert_memory_equal(a.out.w, b.out.w, s.d * sizeof(double));
    fit_done(&a);
    fit_done(&b);
    csv_free(t);
}

/* Number of updates <= (R‖w*‖/min w*ᵀy)² for every separating w*, including the result of another
 * fit. */
static void novikoff(void **state) {
    (void)state;
    struct sample sets[2] = {four, {0}};
    struct csv *t = iris_against_rest("setosa", &sets[1]);
    for (size_t k = 0; k < 2; k++) {
        const struct sample *s = &sets[k];
        struct fit fit = fit_sample(s, NULL, NULL),
                   wide = fit_sample(s, WITH("margin", "50"), NULL);
        double square = 0, updates = perceptron_detail(&fit.report, "updates");
        for (size_t i = 0; i < s->n; i++) {
            square = fmax(square, square_length(s, i));
        }
        assert_near(perceptron_detail(&fit.report, "max_norm"), sqrt(square), 1e-14);
        const struct fit *separating[2] = {&fit, &wide};
        for (size_t i = 0; i < 2; i++) {
            const double *w = separating[i]->out.w, w0 = separating[i]->out.w0[0];
            double norm = w0 * w0, least = least_of(s, w, w0);
            assert_true(separating[i]->report.converged && least > (i == 0 ? 0 : 50));
            for (size_t j = 0; j < s->d; j++) {
                norm += w[j] * w[j];
            }
            assert_true(updates <= square * norm / (least * least));
            if (i == 0) {
                assert_near(perceptron_detail(&fit.report, "update_bound"),
                            square * norm / (least * least), 1e-12);
            }
        }
        fit_done(&fit);
        fit_done(&wide);
    }
    csv_free(t);
}

/* The update w ← w − η(h(g) − r)x with a step function h that is wrong at g = 0: the update of
 * logistic regression with a step in place of the sigmoid. */
static void logistic_with_a_step(void **state) {
    (void)state;
    struct sample s;
    struct csv *t = iris_against_rest("versicolor", &s); /* not separable: 60 passes */
    dn_run run;
    struct history *h = history_new(s.d, &run);
    struct fit fit = fit_sample(&s, WITH("learning_rate", "0.5", "max_iterations", "60"), &run);
    double w[5] = {0};
    for (size_t k = 0; k < 60; k++) {
        for (size_t i = 0; i < s.n; i++) {
            double g = w[4], r = s.target[i];
            for (size_t j = 0; j < 4; j++) {
                g += w[j] * s.x[i * 4 + j];
            }
            double step = g > 0 ? 1 : g < 0 ? 0 : 1 - r;
            for (size_t j = 0; j < 4; j++) {
                w[j] -= 0.5 * (step - r) * s.x[i * 4 + j];
            }
            w[4] -= 0.5 * (step - r);
        }
        assert_close(h->w + k * 5, w, 5, 1e-12);
    }
    assert_int_equal(h->n, 60);
    history_free(h);
    fit_done(&fit);
    csv_free(t);
}

/* For classes that no line separates the report says so. The best weights found are kept, and their
 * reported errors are exact. */
static void pocket(void **state) {
    (void)state;
    struct sample sets[3] = {exclusive_or, {0}, {0}};
    struct csv *versicolor = iris_against_rest("versicolor", &sets[1]),
               *virginica = iris_against_rest("virginica", &sets[2]);
    for (size_t k = 0; k < 3; k++) {
        for (int way = 0; way < 3; way++) {
            const struct sample *s = &sets[k];
            dn_run run;
            struct history *h = history_new(s->d, &run);
            const char *const *settings =
                way == 0 ? WITH("max_iterations", "300")
                : way == 1
                    ? WITH("max_iterations", "300", "order", "shuffled")
                    : WITH("max_iterations", "300", "mode", "batch", "learning_rate", "0.01");
            struct fit fit = fit_sample(s, settings, &run);
            double best = 1;
            size_t rows;
            assert_false(fit.report.converged);
            assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
            assert_int_equal(fit.report.n_warnings, 1);
            assert_non_null(strstr(fit.report.warnings[0].text, "may not be separable"));
            assert_non_null(strstr(fit.report.warnings[0].text, "try "));
            assert_counted(s, &fit);
            for (size_t i = 0; i < h->n; i++) {
                double share =
                    errors_of(s, h->w + i * (s->d + 1), h->w[i * (s->d + 1) + s->d], &rows) /
                    (double)s->n;
                assert_near(1 + share, 1 + h->error[i], 1e-12);
                best = fmin(best, share);
            }
            assert_true(perceptron_detail(&fit.report, "error_share") <= best + 1e-12);
            if (k > 0) { /* fewer errors than always choosing the larger class */
                assert_true(perceptron_detail(&fit.report, "errors") < (way == 0 ? 51 : 50));
            }
            assert_int_equal(strstr(fit.report.warnings[0].text, "try order shuffled") != NULL,
                             way == 0);
            history_free(h);
            fit_done(&fit);
        }
    }
    csv_free(versicolor);
    csv_free(virginica);
}

/* The pocket compares weights within a pass too. In this sample they are better than those at the
 * end of any pass. */
static void best_weights_within_a_pass(void **state) {
    (void)state;
    enum { N = 41 };
    double x[N], target[N];
    for (size_t i = 0; i < N; i++) { /* the last row is misclassified in every pass */
        x[i] = (i % 2 == 0 ? 1 : -1) * (3 + (double)(i % 7));
        target[i] = x[i] > 0;
    }
    x[N - 1] = 1000;
    target[N - 1] = 0;
    const struct sample s = {x, target, NULL, N, 1};
    dn_run run;
    struct history *h = history_new(1, &run);
    struct fit fit = fit_sample(&s, WITH("max_iterations", "200"), &run);
    double at_ends = 1;
    for (size_t k = 0; k < h->n; k++) {
        at_ends = fmin(at_ends, h->error[k]);
    }
    assert_counted(&s, &fit);
    assert_int_equal((size_t)perceptron_detail(&fit.report, "errors"), 1);
    assert_true(at_ends > 1.5 / N);
    history_free(h);
    fit_done(&fit);
}

static void schedules(void **state) {
    (void)state;
    const char *const names[] = {"constant", "inverse", "inverse_sqrt"};
    struct sample s;
    struct csv *t = iris_against_rest("versicolor", &s);
    for (size_t k = 0; k < 3; k++) {
        dn_run run;
        struct history *h = history_new(4, &run);
        struct fit fit =
            fit_sample(&s, WITH("schedule", names[k], "learning_rate", "2", "max_iterations", "25"),
                       &run);
        double w[5] = {0};
        assert_int_equal(h->n, 25);
        for (size_t i = 0; i < 25; i++) {
            double pass = (double)i + 1;
            correct_once(&s, k == 0 ? 2 : k == 1 ? 2 / pass : 2 / sqrt(pass), 0, w);
            assert_close(h->w + 5 * i, w, 5, 1e-9);
        }
        history_free(h);
        fit_done(&fit);
    }
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(sequence),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(one_correction),
        cmocka_unit_test(start_and_order_change_the_result),
        cmocka_unit_test(names_of_orders),
        cmocka_unit_test(novikoff),
        cmocka_unit_test(logistic_with_a_step),
        cmocka_unit_test(pocket),
        cmocka_unit_test(best_weights_within_a_pass),
        cmocka_unit_test(schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
