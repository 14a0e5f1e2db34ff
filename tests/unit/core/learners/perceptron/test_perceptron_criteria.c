/* The squared criterion, relaxation and batch steps: each step against plain loops, the stopping
 * rules, and classes that are not separable. */
#include "unit/core/learners/perceptron/perceptrons.h"

enum criterion { ERRORS, SQUARED, RELAXATION };
enum mode { SEQUENTIAL, SUM, MEAN };
static const char *const names[] = {"perceptron", "squared", "relaxation"};

static double largest_square(const struct sample *s) {
    double square = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->weight == NULL || s->weight[i] > 0) {
            square = fmax(square, square_length(s, i));
        }
    }
    return square;
}

/* One pass by the definitions of the criteria. */
static void plain_pass(const struct sample *s, enum criterion c, enum mode mode, double rate,
                       double b, double *w) {
    const bool batch = mode != SEQUENTIAL;
    double *sum = xcalloc(s->d + 1, sizeof *sum), square = largest_square(s), total = 0;
    for (size_t i = 0; i < s->n; i++) {
        double v = s->weight == NULL ? 1 : s->weight[i], a = aligned(s, i, w, w[s->d]),
               t = s->target[i] > 0 ? 1 : -1, step = 1;
        total += v;
        if (v == 0 || a > b) {
            continue;
        }
        if (c == SQUARED) {
            step = -a / square;
        } else if (c == RELAXATION) {
            step = (b - a) / square_length(s, i);
        }
        double *to = batch ? sum : w, factor = t * v * step * (batch ? 1 : rate);
        for (size_t j = 0; j < s->d; j++) {
            to[j] += factor * s->x[i * s->d + j];
        }
        to[s->d] += factor;
    }
    for (size_t j = 0; batch && j <= s->d; j++) {
        w[j] += rate * sum[j] / (mode == SUM ? 1 : total);
    }
    free(sum);
}

static double plain_objective(const struct sample *s, enum criterion c, double b, const double *w) {
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double v = s->weight == NULL ? 1 : s->weight[i], a = aligned(s, i, w, w[s->d]);
        if (v > 0 && a <= b) {
            sum += v * (c == ERRORS    ? b - a
                        : c == SQUARED ? a * a
                                       : 0.5 * (a - b) * (a - b) / square_length(s, i));
        }
    }
    return sum;
}

/* The report has no random start weights, so the comparison starts after the first pass. */
static void follows(const struct sample *s, enum criterion c, enum mode mode, double rate,
                    double b) {
    char rate_text[40];
    snprintf(rate_text, sizeof rate_text, "%.17g", rate);
    dn_run run;
    struct history *h = history_new(s->d, &run);
    struct fit fit =
        fit_sample(s,
                   WITH("criterion", names[c], "mode", mode == SEQUENTIAL ? "sequential" : "batch",
                        "step", mode == SUM ? "sum" : "mean", "learning_rate", rate_text, "init",
                        "random", "max_iterations", "40", "tolerance", "0"),
                   &run);
    double *w = xcalloc(s->d + 1, sizeof *w);
    for (size_t k = 0; k < h->n; k++) {
        const double *told = h->w + k * (s->d + 1);
        if (k > 0) {
            plain_pass(s, c, mode, rate, b, w);
        }
        if (k > 0) {
            assert_close(told, w, s->d + 1, 1e-9);
        }
        memcpy(w, told, (s->d + 1) * sizeof *w);
        assert_near(1 + h->loss[k], 1 + plain_objective(s, c, b, w), 1e-9);
    }
    assert_int_equal(h->n, fit.report.iterations);
    assert_counted(s, &fit);
    memcpy(w, fit.out.w, s->d * sizeof *w);
    w[s->d] = fit.out.w0[0];
    assert_near(1 + fit.report.objective, 1 + plain_objective(s, c, b, w), 1e-9);
    free(w);
    history_free(h);
    fit_done(&fit);
}

static void steps(void **state) {
    (void)state;
    double v[150];
    struct sample iris, weighted;
    struct csv *t = iris_against_rest("versicolor", &iris);
    for (size_t i = 0; i < 150; i++) {
        v[i] = (double)(i % 4) / 4;
    }
    weighted = iris;
    weighted.weight = v;
    const struct sample *const sets[] = {&four, &exclusive_or, &iris, &weighted};
    for (size_t k = 0; k < 4; k++) {
        for (int c = ERRORS; c <= RELAXATION; c++) {
            for (int mode = SEQUENTIAL; mode <= MEAN; mode++) {
                /* a small rate for sums, so that the weights stay finite */
                const double rate = c == ERRORS ? 0.125 : mode == SUM ? 1.5 / 150 : 1.5;
                follows(sets[k], (enum criterion)c, (enum mode)mode, rate, c == RELAXATION);
            }
        }
    }
    csv_free(t);
}

/* Over-relaxation (η > 1) crosses the margin: after finitely many passes w'y > b for every row. */
static void over_relaxation(void **state) {
    (void)state;
    struct sample sets[2] = {four, {0}};
    struct csv *t = iris_against_rest("setosa", &sets[1]);
    for (size_t k = 0; k < 2; k++) {
        for (size_t m = 0; m < 2; m++) {
            double b = m == 0 ? 1 : 7;
            struct fit fit = fit_sample(&sets[k],
                                        WITH("criterion", "relaxation", "learning_rate", "1.9",
                                             "margin", m == 0 ? "auto" : "7", "tolerance", "0"),
                                        NULL);
            assert_true(fit.report.converged && fit.report.n_warnings == 0);
            assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARATED);
            assert_true(least_of(&sets[k], fit.out.w, fit.out.w0[0]) > b);
            assert_true(fit.report.objective == 0 &&
                        perceptron_detail(&fit.report, "within_margin") == 0 &&
                        perceptron_detail(&fit.report, "margin") == b);
            assert_counted(&sets[k], &fit);
            fit_done(&fit);
        }
    }
    csv_free(t);
}

/* With η = 1 a step ends on the margin, and the least w'y approaches b from below. */
static void relaxation_with_rate_1(void **state) {
    (void)state;
    struct sample s;
    struct csv *t = iris_against_rest("setosa", &s);
    dn_run run;
    struct history *h = history_new(4, &run);
    struct fit fit = fit_sample(&s,
                                WITH("criterion", "relaxation", "learning_rate", "1", "tolerance",
                                     "1e-12", "max_iterations", "4000"),
                                &run);
    for (size_t k = 0; k < h->n; k++) {
        assert_true(least_of(&s, h->w + 5 * k, h->w[5 * k + 4]) <= 1 + 1e-9);
    }
    assert_true(least_of(&s, h->w, h->w[4]) < 0.9);
    /* the margin is not reached: the run is not converged */
    const double least = least_of(&s, fit.out.w, fit.out.w0[0]);
    assert_true(least > 1 - 1e-6 && least <= 1);
    assert_false(fit.report.converged);
    assert_int_equal(fit.report.warnings[0].code, DN_WARNING_NOT_CONVERGED);
    assert_non_null(strstr(fit.report.warnings[0].text, "a larger learning_rate"));
    history_free(h);
    fit_done(&fit);
    csv_free(t);
}

/* Batch steps by means decrease J_r for every η < 2: to 0 for separable classes, to its minimum
 * otherwise. */
static void mean_batch_relaxation(void **state) {
    (void)state;
    struct sample sets[3] = {four, exclusive_or, {0}};
    struct csv *t = iris_against_rest("setosa", &sets[2]);
    const char *const rates[] = {"0.5", "1", "1.9"};
    for (size_t k = 0; k < 3; k++) {
        for (size_t r = 0; r < 3; r++) {
            const struct sample *s = &sets[k];
            dn_run run;
            struct history *h = history_new(s->d, &run);
            struct fit fit = fit_sample(s,
                                        WITH("criterion", "relaxation", "mode", "batch", "step",
                                             "mean", "learning_rate", rates[r], "tolerance", "1e-9",
                                             "max_iterations", "4096"),
                                        &run);
            for (size_t i = 1; i < h->n; i++) {
                assert_true(h->loss[i] <= h->loss[i - 1] * (1 + 1e-12));
            }
            if (k == 1) { /* the minimum for exclusive or: w = 0 */
                double g[3] = {0}, *w = h->w + (h->n - 1) * 3;
                assert_int_equal(fit.report.stop_reason, DN_STOP_TOLERANCE);
                for (size_t i = 0; i < 4; i++) {
                    double pull = fmax(0, 1 - aligned(s, i, w, w[2])) / square_length(s, i) *
                                  (s->target[i] > 0 ? 1 : -1);
                    g[0] += pull * s->x[2 * i];
                    g[1] += pull * s->x[2 * i + 1];
                    g[2] += pull;
                }
                assert_true(fabs(g[0]) + fabs(g[1]) + fabs(g[2]) < 1e-7);
                assert_false(fit.report.converged);
                assert_non_null(strstr(fit.report.warnings[0].text, "may not be separable"));
            } else {
                assert_true(perceptron_detail(&fit.report, "errors") == 0);
                assert_true(h->loss[h->n - 1] < (k == 0 ? 1e-6 : 0.05) * h->loss[0]);
            }
            assert_counted(s, &fit);
            history_free(h);
            fit_done(&fit);
        }
    }
    csv_free(t);
}

/* The batch perceptron separates separable classes. Its first pass from w = 0 adds all rows. */
static void batch(void **state) {
    (void)state;
    struct sample s;
    struct csv *t = iris_against_rest("setosa", &s);
    dn_run run;
    struct history *h = history_new(4, &run);
    struct fit fit = fit_sample(&s, WITH("mode", "batch"), &run);
    double sum[5] = {0};
    for (size_t i = 0; i < s.n; i++) {
        for (size_t j = 0; j < 5; j++) {
            sum[j] += (s.target[i] > 0 ? 1 : -1) * (j < 4 ? s.x[i * 4 + j] : 1);
        }
    }
    assert_close(h->w, sum, 5, 1e-12);
    assert_true(fit.report.converged &&
                perceptron_detail(&fit.report, "updates") == (double)fit.report.iterations - 1);
    assert_int_equal(fit.report.stop_reason, DN_STOP_SEPARATED);
    assert_counted(&s, &fit);
    history_free(h);
    fit_done(&fit);
    csv_free(t);
}

/* Steps of the squared criterion shrink the weights only. For overlapping classes they tend to 0,
 * which is not reported as converged. */
static void squared(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        dn_run run;
        struct history *h = history_new(2, &run);
        struct fit fit =
            fit_sample(&exclusive_or,
                       WITH("criterion", "squared", "mode", mode ? "batch" : "sequential"), &run);
        double last = (double)INFINITY;
        for (size_t k = 0; k < h->n; k++) {
            double norm = sqrt(h->w[3 * k] * h->w[3 * k] + h->w[3 * k + 1] * h->w[3 * k + 1] +
                               h->w[3 * k + 2] * h->w[3 * k + 2]);
            assert_true(norm <= last * (1 + 1e-12));
            last = norm;
        }
        assert_false(fit.report.converged);
        assert_non_null(strstr(fit.report.warnings[0].text, "try criterion relaxation"));
        assert_counted(&exclusive_or, &fit);
        history_free(h);
        fit_done(&fit);
    }
    struct fit fit = fit_sample(&four, WITH("criterion", "squared", "learning_rate", "1.9"), NULL);
    assert_counted(&four, &fit);
    fit_done(&fit);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),
        cmocka_unit_test(over_relaxation),
        cmocka_unit_test(relaxation_with_rate_1),
        cmocka_unit_test(mean_batch_relaxation),
        cmocka_unit_test(batch),
        cmocka_unit_test(squared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
