/* Tests of the calibration of one score. The gradient of Platt's loss is 0 at the fitted sigmoid.
 * Isotonic regression equals an exhaustive computation. */
#include "model/calibration.h"
#include "training/calibration/calibrate_fit.h"
#include "unit/core/training/samples.h"

/* Draws n values g from −3 … 3 with P(class 1 | g) = σ(2g − 1). The scores are size · g + shift.
 * steps > 0: g is rounded down to a multiple of 1/steps. Weights: 0.5 … 2 if `weighted`, else 1. */
static struct sample sample_of(size_t n, double size, double shift, double steps, bool weighted) {
    struct sample s = {.n = n};
    uint64_t state = 99;
    for (size_t i = 0; i < n; i++) {
        double g = 6 * uniform(&state) - 3;
        g = steps > 0 ? floor(g * steps) / steps : g;
        s.classes[i] = uniform(&state) < 1 / (1 + exp(1 - 2 * g));
        s.score[i] = size * g + shift;
        s.weight[i] = weighted ? 0.5 + floor(4 * uniform(&state)) / 2 : 1;
    }
    return s;
}

/* Fits a calibrator to the sample. */
static dn_status calibrated(const struct sample *s, dn_calibration_method method,
                            const double *weight, const dn_run *run, dn_calibrator *out,
                            dn_error *err) {
    double key[ROWS];
    uint32_t row[ROWS];
    for (size_t i = 0; i < s->n; i++) {
        key[i] = s->score[i];
        row[i] = (uint32_t)i;
    }
    const dni_scored scored = {
        .rows = {key, row}, .n = s->n, .classes = s->classes, .weight = weight, .positive = 1};
    *out = (dn_calibrator){0};
    if (method == DN_CALIBRATION_PLATT) {
        return dni_calibrate_platt(&scored, run, out, err);
    }
    dni_isotonic_work work;
    void *memory = NULL;
    dn_status status =
        dni_layout_take(run, dni_isotonic_layout, &s->n, &work, "the steps", &memory, err);
    if (status == DN_OK) {
        status = dni_calibrate_isotonic(&scored, &work, run, out, err);
    }
    dn_run_free(run, memory);
    return status;
}

static void platt_is_optimal(void **state) {
    (void)state;
    static const struct {
        double size, shift;
        bool weighted;
    } of[] = {{1, 0, false}, {1, 0, true}, {1e6, 5e6, true}, {1e-9, 3, false}, {-2, 0.5, true}};
    dn_run run = dn_run_default();
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const struct sample s = sample_of(ROWS, of[k].size, of[k].shift, 0, of[k].weighted);
        const double *weight = of[k].weighted ? s.weight : NULL;
        dn_calibrator c;
        double gradient[2];
        OK(calibrated(&s, DN_CALIBRATION_PLATT, weight, &run, &c, NULL));
        platt_gradient(&s, weight, c.slope, c.intercept, gradient);
        /* tolerance: the rounding error of a g + b in this test, which grows with |a g| and |b| */
        const double tolerance =
            1e-9 + 1e-16 * fabs(c.slope) * (fabs(of[k].size) + fabs(of[k].shift));
        assert_true(fabs(gradient[1]) <= tolerance);
        if (of[k].size < 0) { /* the slope is bounded by 0, and the loss increases with the slope */
            assert_true(c.slope == 0 && gradient[0] > 0.1);
            continue;
        }
        assert_true(fabs(gradient[0]) <= tolerance * (fabs(of[k].size) + fabs(of[k].shift)));
        assert_true(c.slope * of[k].size > 1 && c.slope * of[k].size < 4); /* expected: 2 */
    }
}

/* The sigmoid is finite even if the scores separate the classes or are constant, or if all rows
 * have one class, because the targets are never 0 or 1. */
static void platt_stays_finite(void **state) {
    (void)state;
    struct sample s = {.n = 40};
    dn_run run = dn_run_default();
    dn_calibrator c;
    double gradient[2];
    for (size_t i = 0; i < s.n; i++) {
        s.score[i] = i < 20 ? -1 - (double)i : (double)i;
        s.classes[i] = i >= 20;
    }
    OK(calibrated(&s, DN_CALIBRATION_PLATT, NULL, &run, &c, NULL));
    platt_gradient(&s, NULL, c.slope, c.intercept, gradient);
    assert_true(fabs(gradient[0]) < 1e-8 && fabs(gradient[1]) < 1e-9 && c.slope > 0 &&
                c.slope < 100);
    for (size_t i = 0; i < s.n; i++) {
        s.score[i] = 7;
    }
    OK(calibrated(&s, DN_CALIBRATION_PLATT, NULL, &run, &c, NULL));
    assert_true(c.slope == 0);
    assert_near(1 / (1 + exp(-c.intercept)), 0.5, 1e-14);
    for (size_t i = 0; i < s.n; i++) {
        s.classes[i] = 0;
    }
    OK(calibrated(&s, DN_CALIBRATION_PLATT, NULL, &run, &c, NULL));
    assert_near(1 / (1 + exp(-c.intercept)), 1.0 / 42, 1e-12);
    dn_error err = {0};
    for (size_t i = 0; i < s.n; i++) {
        s.score[i] = (double)i * 5e-324;
        s.classes[i] = i > 30 || i % 3 == 0;
    }
    assert_int_equal(calibrated(&s, DN_CALIBRATION_PLATT, NULL, &run, &c, &err), DN_ERR_NUMERIC);
}

/* A row of weight 2 equals two rows. */
static void weights_are_repetitions(void **state) {
    (void)state;
    struct sample once = sample_of(ROWS / 2, 1, 0, 5, false), twice = {.n = 0};
    dn_run run = dn_run_default();
    for (size_t i = 0; i < once.n; i++) {
        once.weight[i] = 1 + (double)(i % 2);
        for (size_t k = 0; k <= i % 2; k++, twice.n++) {
            twice.score[twice.n] = once.score[i];
            twice.classes[twice.n] = once.classes[i];
        }
    }
    dn_calibrator a, b;
    OK(calibrated(&once, DN_CALIBRATION_PLATT, once.weight, &run, &a, NULL));
    OK(calibrated(&twice, DN_CALIBRATION_PLATT, NULL, &run, &b, NULL));
    assert_near(a.slope, b.slope, 1e-9);
    assert_near(a.intercept, b.intercept, 1e-9);
    OK(calibrated(&once, DN_CALIBRATION_ISOTONIC, once.weight, &run, &a, NULL));
    OK(calibrated(&twice, DN_CALIBRATION_ISOTONIC, NULL, &run, &b, NULL));
    assert_int_equal(a.n, b.n);
    assert_close(a.score, b.score, a.n, 1e-15);
    assert_close(a.probability, b.probability, a.n, 1e-15);
    free(a.score);
    free(b.score);
}

/* Returns the weighted mean of the targets of the rows with scores from `low` to `high`. */
static double mean_between(const struct sample *s, const double *weight, double low, double high) {
    double total = 0, positive = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->score[i] < low || s->score[i] > high) {
            continue;
        }
        total += weight == NULL ? 1 : weight[i];
        positive += s->classes[i] == 1 ? weight == NULL ? 1 : weight[i] : 0;
    }
    return positive / total;
}

/* Barlow and Brunk's formula: the isotonic value at g is the maximum over low <= g of the minimum
 * over high >= g of the mean between low and high. */
static double isotonic_at(const struct sample *s, const double *weight, double g) {
    double best = 0;
    for (size_t i = 0; i < s->n; i++) {
        double least = 1;
        if (s->score[i] > g) {
            continue;
        }
        for (size_t j = 0; j < s->n; j++) {
            if (s->score[j] >= g) {
                least = fmin(least, mean_between(s, weight, s->score[i], s->score[j]));
            }
        }
        best = fmax(best, least);
    }
    return best;
}

static double log_odds(double p) {
    p = fmax(1e-15, fmin(1 - 1e-15, p));
    return log(p) - log1p(-p);
}

static void isotonic_is_optimal(void **state) {
    (void)state;
    dn_run run = dn_run_default();
    for (size_t k = 0; k < 4; k++) {
        const struct sample s = sample_of(60, 1, 0, k % 2 == 0 ? 0 : 3, k >= 2);
        const double *weight = k >= 2 ? s.weight : NULL;
        dn_calibrator c;
        OK(calibrated(&s, DN_CALIBRATION_ISOTONIC, weight, &run, &c, NULL));
        const dn_calibration calibration = {.method = DN_CALIBRATION_ISOTONIC,
                                            .n_scores = 1,
                                            .scores = &c};
        for (size_t i = 0; i < s.n; i++) {
            double got;
            dni_calibration_apply(&calibration, &s.score[i], &got);
            assert_near(got, log_odds(isotonic_at(&s, weight, s.score[i])), 1e-9);
        }
        for (size_t i = 1; i < c.n; i++) {
            assert_true(c.score[i] > c.score[i - 1] && c.probability[i] >= c.probability[i - 1]);
        }
        /* the calibrator is constant beyond the outer steps and linear between steps */
        const double at[] = {-1e300, c.score[0], 1e300, c.score[c.n - 1]};
        double logits[4];
        for (size_t i = 0; i < 4; i++) {
            dni_calibration_apply(&calibration, &at[i], &logits[i]);
        }
        assert_true(logits[0] == logits[1] && logits[2] == logits[3] && isfinite(logits[0]) &&
                    isfinite(logits[2]));
        for (size_t i = 1; i < c.n; i++) {
            const double middle = (c.score[i] + c.score[i - 1]) / 2;
            double got;
            dni_calibration_apply(&calibration, &middle, &got);
            assert_near(got, log_odds((c.probability[i] + c.probability[i - 1]) / 2), 1e-9);
        }
        free(c.score);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(platt_is_optimal),
        cmocka_unit_test(platt_stays_finite),
        cmocka_unit_test(weights_are_repetitions),
        cmocka_unit_test(isotonic_is_optimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
