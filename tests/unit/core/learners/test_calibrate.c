/* Calibrated probabilities: Platt's sigmoid at its optimum, isotonic regression against brute force, and rows that are never scored by machines that have seen them. */
#include "evaluate/split.h"
#include "learners/calibrate.h"
#include "learners/calibrate_fit.h"
#include "predict/calibration.h"
#include "unit/core/support.h"

/* ---- scores of one machine ------------------------------------------------------------------------------------------------------------------- */
enum { ROWS = 300 };
struct sample {
    size_t n;
    double score[ROWS], weight[ROWS];
    uint32_t classes[ROWS];
};

static double uniform(uint64_t *s) {
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 11) * 0x1p-53;
}

/* Scores g of which P(1 | g) = σ(2g − 1), scaled by `size`, in steps when `steps` > 0; weights 0.5 … 2 or 1. */
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

/* A calibrator of the sample; `room` keeps its order. */
static dn_status calibrated(const struct sample *s, dn_calibration_method method, const double *weight, const dn_run *run,
                            dn_calibrator *out, dn_error *err) {
    double key[2][ROWS];
    uint32_t row[2][ROWS];
    for (size_t i = 0; i < s->n; i++) {
        key[0][i] = s->score[i];
        row[0][i] = (uint32_t)i;
    }
    const dni_scored scored = {.rows = {key[0], row[0]}, .n = s->n, .classes = s->classes, .weight = weight, .positive = 1};
    *out = (dn_calibrator){0};
    return method == DN_CALIBRATION_PLATT ? dni_calibrate_platt(&scored, run, out, err)
                                          : dni_calibrate_isotonic(&scored, (dni_pairs){key[1], row[1]}, run, out, err);
}

/* The gradient of Platt's loss, by a and b, divided by the weights' sum: of σ(a g + b). */
static void platt_gradient(const struct sample *s, const double *weight, double a, double b, double out[2]) {
    double total = 0, positive = 0;
    for (size_t i = 0; i < s->n; i++) {
        total += weight == NULL ? 1 : weight[i];
        positive += s->classes[i] == 1 ? weight == NULL ? 1 : weight[i] : 0;
    }
    out[0] = out[1] = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double v = (weight == NULL ? 1 : weight[i]) / total;
        const double t = s->classes[i] == 1 ? (positive + 1) / (positive + 2) : 1 / (total - positive + 2);
        const double r = v * (1 / (1 + exp(-(a * s->score[i] + b))) - t);
        out[0] += r * s->score[i];
        out[1] += r;
    }
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
        /* what a g + b loses where both are large is this test's own */
        const double lost = 1e-9 + 1e-16 * fabs(c.slope) * (fabs(of[k].size) + fabs(of[k].shift));
        assert_true(fabs(gradient[1]) <= lost);
        if (of[k].size < 0) { /* the slope must not be below 0, and F rises with it */
            assert_true(c.slope == 0 && gradient[0] > 0.1);
            continue;
        }
        assert_true(fabs(gradient[0]) <= lost * (fabs(of[k].size) + fabs(of[k].shift)));
        assert_true(c.slope * of[k].size > 1 && c.slope * of[k].size < 4); /* 2 it is */
    }
}

/* Separable, constant and one-sided scores: finite all the same, for the targets are never 0 and 1. */
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
    assert_true(fabs(gradient[0]) < 1e-8 && fabs(gradient[1]) < 1e-9 && c.slope > 0 && c.slope < 100);
    for (size_t i = 0; i < s.n; i++)
        s.score[i] = 7;
    OK(calibrated(&s, DN_CALIBRATION_PLATT, NULL, &run, &c, NULL));
    assert_true(c.slope == 0);
    assert_near(1 / (1 + exp(-c.intercept)), 0.5, 1e-14);
    for (size_t i = 0; i < s.n; i++)
        s.classes[i] = 0;
    OK(calibrated(&s, DN_CALIBRATION_PLATT, NULL, &run, &c, NULL));
    assert_near(1 / (1 + exp(-c.intercept)), 1.0 / 42, 1e-12);
    dn_error err = {0};
    for (size_t i = 0; i < s.n; i++) {
        s.score[i] = (double)i * 5e-324;
        s.classes[i] = i > 30 || i % 3 == 0;
    }
    assert_int_equal(calibrated(&s, DN_CALIBRATION_PLATT, NULL, &run, &c, &err), DN_ERR_NUMERIC);
}

/* A row of weight 2 is two rows. */
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

/* The weighted mean of the positive among scores from `low` to `high`. */
static double mean_between(const struct sample *s, const double *weight, double low, double high) {
    double total = 0, positive = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->score[i] < low || s->score[i] > high)
            continue;
        total += weight == NULL ? 1 : weight[i];
        positive += s->classes[i] == 1 ? weight == NULL ? 1 : weight[i] : 0;
    }
    return positive / total;
}

/* Barlow and Brunk's formula: the isotonic value at g is max over low <= g of min over high >= g of the mean between. */
static double isotonic_at(const struct sample *s, const double *weight, double g) {
    double best = 0;
    for (size_t i = 0; i < s->n; i++) {
        double least = 1;
        if (s->score[i] > g)
            continue;
        for (size_t j = 0; j < s->n; j++)
            if (s->score[j] >= g)
                least = fmin(least, mean_between(s, weight, s->score[i], s->score[j]));
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
        const dn_calibration calibration = {.method = DN_CALIBRATION_ISOTONIC, .n_scores = 1, .scores = &c};
        for (size_t i = 0; i < s.n; i++) {
            double got;
            dni_calibration_apply(&calibration, &s.score[i], &got);
            assert_near(got, log_odds(isotonic_at(&s, weight, s.score[i])), 1e-9);
        }
        for (size_t i = 1; i < c.n; i++)
            assert_true(c.score[i] > c.score[i - 1] && c.probability[i] >= c.probability[i - 1]);
        /* beyond the steps constant, between them straight */
        const double at[] = {-1e300, c.score[0], 1e300, c.score[c.n - 1]};
        double logits[4];
        for (size_t i = 0; i < 4; i++)
            dni_calibration_apply(&calibration, &at[i], &logits[i]);
        assert_true(logits[0] == logits[1] && logits[2] == logits[3] && isfinite(logits[0]) && isfinite(logits[2]));
        for (size_t i = 1; i < c.n; i++) {
            const double middle = (c.score[i] + c.score[i - 1]) / 2;
            double got;
            dni_calibration_apply(&calibration, &middle, &got);
            assert_near(got, log_odds((c.probability[i] + c.probability[i - 1]) / 2), 1e-9);
        }
        free(c.score);
    }
}

/* ---- whole trainings ---------------------------------------------------------------------------------------------------------------------------- */
static dn_params *asked(const char *algorithm, const char *method, const char *multiclass) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_word(p, "calibrate", method, NULL));
    if (multiclass != NULL)
        OK(dn_params_set_word(p, "multiclass", multiclass, NULL));
    return p;
}

static dn_train_result trained(const struct csv *t, dn_params *p, dn_train_request change, const dn_run *run) {
    struct table *table = table_of(t);
    dn_train_result result;
    dn_error err = {0};
    dn_train_request request = table_request(t, table, p);
    request.folds = change.folds;
    request.holdout = change.holdout;
    request.features.standardize = false;
    if (dn_train(&request, run, &result, &err) != DN_OK)
        fail_msg("%s", err.message);
    dn_params_free(p);
    table_free(table);
    return result;
}

/* Probabilities [n × K] of a model, with scores. */
static double *probabilities(const dn_model *model, const struct csv *t, double *scores) {
    double *p = xcalloc(t->n * t->K, sizeof *p), *work = xcalloc(dn_model_workspace(model), sizeof *work);
    const dn_prediction out = {.probabilities = p, .scores = scores};
    assert_true(dn_model_has_probabilities(model));
    assert_int_equal(dn_model_predict(model, dn_raw_numbers(t->x, t->n), work, &out), t->n);
    free(work);
    return p;
}

/* The calibration recomputed: the folds dealt as documented, a model without each, its scores of the fold's rows; then the optimum's gradient. */
static void rows_are_held_out(void **state) {
    (void)state;
    enum { FOLDS = 5 };
    struct csv *t = csv_clouds(200, 3, 2);
    dn_run run = dn_run_default();
    dn_params *p = asked("least_squares", "platt", NULL);
    dn_train_result whole = trained(t, p, (dn_train_request){0}, &run);
    const dn_calibration *c = dn_model_calibration(whole.model);
    uint16_t fold[200];
    struct sample s = {.n = 0};
    assert_non_null(c);
    assert_int_equal(c->folds, FOLDS);
    OK(dni_split_folds(t->target, t->n, 2, FOLDS, &run, fold, NULL));
    for (size_t f = 0; f < FOLDS; f++) {
        struct csv part = *t;
        part.n = 0;
        part.x = xcalloc(t->n * t->d, sizeof *part.x);
        part.target = xcalloc(t->n, sizeof *part.target);
        for (size_t i = 0; i < t->n; i++)
            if (fold[i] != f) {
                memcpy(part.x + part.n * t->d, t->x + i * t->d, t->d * sizeof *part.x);
                part.target[part.n++] = t->target[i];
            }
        dn_params *plain;
        OK(dn_params_new(dn_algorithm_find("least_squares"), &plain, NULL));
        dn_train_result other = trained(&part, plain, (dn_train_request){0}, &run);
        assert_null(dn_model_calibration(other.model));
        assert_false(dn_model_has_probabilities(other.model));
        double *work = xcalloc(dn_model_workspace(other.model), sizeof *work);
        for (size_t i = 0; i < t->n; i++)
            if (fold[i] == f) {
                const dn_prediction out = {.scores = &s.score[s.n]};
                assert_int_equal(dn_model_predict(other.model, dn_raw_numbers(t->x + i * t->d, 1), work, &out), 1);
                s.classes[s.n++] = (uint32_t)t->target[i];
            }
        free(work);
        free(part.x);
        free(part.target);
        dn_train_result_done(&other);
    }
    double gradient[2];
    assert_int_equal(s.n, t->n);
    platt_gradient(&s, NULL, c->scores[0].slope, c->scores[0].intercept, gradient);
    assert_true(fabs(gradient[0]) < 1e-9 && fabs(gradient[1]) < 1e-9);
    /* and that is what prediction says */
    double *scores = xcalloc(t->n, sizeof *scores), *q = probabilities(whole.model, t, scores);
    for (size_t i = 0; i < t->n; i++)
        assert_near(q[2 * i + 1], 1 / (1 + exp(-(c->scores[0].slope * scores[i] + c->scores[0].intercept))), 1e-12);
    free(scores);
    free(q);
    dn_train_result_done(&whole);
    csv_free(t);
}

/* Labels by chance, and columns enough that a machine knows every row by heart: on rows it has seen it never errs, so calibrated on them it would be sure. Held out it knows nothing. */
static void nothing_is_learned_of_noise(void **state) {
    (void)state;
    struct csv *t = csv_clouds(120, 130, 2);
    uint64_t s = 3;
    dn_run run = dn_run_default();
    for (size_t i = 0; i < t->n; i++)
        t->target[i] = uniform(&s) < 0.5;
    for (size_t method = 0; method < 2; method++) {
        dn_params *p = asked("perceptron", method == 0 ? "platt" : "isotonic", NULL);
        dn_train_result r = trained(t, p, (dn_train_request){0}, &run);
        assert_true(r.train->accuracy == 1);
        double *q = probabilities(r.model, t, NULL), sure = 0;
        for (size_t i = 0; i < t->n; i++)
            sure += fmax(q[2 * i], q[2 * i + 1]) / (double)t->n;
        assert_true(sure < 0.8);
        free(q);
        dn_train_result_done(&r);
    }
    csv_free(t);
}

/* Every way to more than two classes, both methods: probabilities that add up, are better than the scores taken for log-odds, and come back from bytes. */
static void many_classes(void **state) {
    (void)state;
    static const struct {
        const char *algorithm, *method, *multiclass;
        size_t n_scores;
    } of[] = {{"least_squares", "platt", "native", 4},         {"least_squares", "isotonic", "one_vs_rest", 4},
              {"least_squares", "platt", "one_vs_one", 6},     {"perceptron", "isotonic", "one_vs_one_strict", 6},
              {"perceptron", "platt", "one_vs_rest", 4},       {"least_squares", "isotonic", "native", 4},
              {"perceptron", "platt", "one_vs_rest_strict", 4}};
    struct csv *t = csv_clouds(400, 4, 4);
    dn_run run = dn_run_default();
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        dn_train_result r = trained(t, asked(of[k].algorithm, of[k].method, of[k].multiclass), (dn_train_request){0}, &run);
        const dn_calibration *c = dn_model_calibration(r.model);
        assert_int_equal(c->n_scores, of[k].n_scores);
        double *p = probabilities(r.model, t, NULL), loss = 0;
        for (size_t i = 0; i < t->n; i++) {
            double sum = 0;
            for (size_t j = 0; j < 4; j++)
                sum += p[4 * i + j];
            assert_near(sum, 1, 1e-9);
            loss -= log(fmax(1e-15, p[4 * i + (size_t)t->target[i]])) / (double)t->n;
        }
        assert_true(loss < log(4)); /* chance */
        assert_near(r.train->log_loss, loss, 1e-9);
        void *bytes, *again;
        size_t size, size_again;
        dn_model *back;
        OK(dn_model_write(r.model, &bytes, &size, NULL));
        OK(dn_model_read(bytes, size, &back, NULL));
        double *q = probabilities(back, t, NULL);
        assert_memory_equal(p, q, 4 * t->n * sizeof *p);
        OK(dn_model_write(back, &again, &size_again, NULL));
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, again, size);
        assert_true(dn_model_memory(back) > 0);
        free(bytes);
        free(again);
        free(p);
        free(q);
        dn_model_unref(back);
        dn_train_result_done(&r);
    }
    csv_free(t);
}

static const double *detail_of(const dn_report *report, const char *name) {
    static const double none[] = {(double)NAN, (double)NAN, (double)NAN};
    for (size_t i = 0; i < report->n_details; i++)
        if (strcmp(report->details[i].name, name) == 0)
            return report->details[i].list != NULL ? report->details[i].list : &report->details[i].number;
    return none;
}

static bool warns(const dn_report *report, const char *words) {
    for (size_t i = 0; i < report->n_warnings; i++)
        if (strstr(report->warnings[i], words) != NULL)
            return true;
    return false;
}

static void what_is_told(void **state) {
    (void)state;
    struct csv *t = csv_clouds(300, 3, 3);
    dn_run run = dn_run_default();
    dn_train_result r = trained(t, asked("least_squares", "platt", NULL), (dn_train_request){.holdout = 0.3}, &run);
    assert_true(*detail_of(&r.report, "calibration_folds") == 5);
    assert_true(*detail_of(&r.report, "calibration_log_loss") < *detail_of(&r.report, "calibration_log_loss_before"));
    assert_memory_equal(&dn_model_calibration(r.model)->scores[2].slope, detail_of(&r.report, "calibration_slopes") + 2, sizeof(double));
    assert_true(r.validation->log_loss < log(3));
    dn_train_result_done(&r);
    /* folds of a validation hold out on their own */
    r = trained(t, asked("least_squares", "platt", NULL), (dn_train_request){.folds = 3}, &run);
    for (size_t f = 0; f < 3; f++)
        assert_true(r.folds[f]->log_loss < log(3) && r.folds[f]->log_loss > 0);
    dn_train_result_done(&r);
    /* three rows of a class: three folds; one: none */
    for (size_t left = 3; left != 2; left = left == 3 ? 1 : 2) {
        size_t n = 0, rare = 0;
        struct csv part = *t;
        part.x = xcalloc(t->n * t->d, sizeof *part.x);
        part.target = xcalloc(t->n, sizeof *part.target);
        for (size_t i = 0; i < t->n; i++) {
            if (t->target[i] == 2 && ++rare > left)
                continue;
            memcpy(part.x + n * t->d, t->x + i * t->d, t->d * sizeof *part.x);
            part.target[n++] = t->target[i];
        }
        part.n = n;
        if (left == 3) {
            r = trained(&part, asked("least_squares", "platt", NULL), (dn_train_request){0}, &run);
            assert_int_equal(dn_model_calibration(r.model)->folds, 3);
            assert_true(warns(&r.report, "the calibration has 3 folds, not 5"));
            dn_train_result_done(&r);
        } else {
            struct table *table = table_of(&part);
            dn_params *p = asked("least_squares", "platt", NULL);
            dn_train_request request = table_request(&part, table, p);
            dn_error err = {0};
            assert_int_equal(dn_train(&request, &run, &r, &err), DN_ERR_DATA);
            assert_string_equal(err.field, "calibrate");
            assert_non_null(strstr(err.message, "has only 1 training row"));
            dn_params_free(p);
            table_free(table);
        }
        free(part.x);
        free(part.target);
    }
    /* one discriminant fewer than classes */
    dn_params *p = asked("perceptron", "platt", "one_vs_rest_strict");
    OK(dn_params_set_word(p, "discriminants", "K-1", NULL));
    r = trained(t, p, (dn_train_request){0}, &run);
    assert_null(dn_model_calibration(r.model));
    assert_false(dn_model_has_probabilities(r.model));
    assert_true(warns(&r.report, "\"calibrate\" has no effect"));
    void *bytes;
    size_t size;
    dn_model *back;
    OK(dn_model_write(r.model, &bytes, &size, NULL));
    OK(dn_model_read(bytes, size, &back, NULL));
    dn_model_unref(back);
    free(bytes);
    dn_train_result_done(&r);
    csv_free(t);
}

static void shown_only_when_asked(void **state) {
    (void)state;
    dn_params *p = asked("least_squares", "none", NULL);
    const dn_algorithm *a = p->algorithm;
    for (size_t way = 0; way < 2; way++) {
        for (size_t i = 0; i < a->n_params; i++)
            assert_true(dn_params_applies(p, i) == (way == 1 || strcmp(a->params[i].name, "calibration_folds") != 0));
        OK(dn_params_set_word(p, "calibrate", "isotonic", NULL));
    }
    dn_params_free(p);
}

/* Every refusal of memory and every stop ends the training without a trace; threads do not show. */
static void memory_and_stops(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 2, 3);
    struct table *table = table_of(t);
    for (size_t method = 0; method < 2; method++) {
        dn_params *p = asked("least_squares", method == 0 ? "platt" : "isotonic", NULL);
        const dn_train_request request = table_request(t, table, p);
        dn_train_result r;
        dn_status status = DN_ERR_MEMORY;
        for (size_t k = 1; status != DN_OK; k += 1 + k / 16) {
            struct memory m = {.fail_at = k, .left = SIZE_MAX};
            const dn_allocator allocator = memory_allocator(&m, false);
            dn_run run = dn_run_default();
            dn_error err = {0};
            run.allocator = &allocator;
            status = dn_train(&request, &run, &r, &err);
            assert_true(status == DN_OK || status == DN_ERR_MEMORY);
            if (status == DN_OK)
                dn_train_result_done(&r);
            assert_int_equal(m.live, 0);
        }
        status = DN_ERR_STOPPED;
        for (size_t k = 1; status != DN_OK; k += 1 + k / 8) {
            struct polls polls = {.stop_at = k};
            dn_run run = polls_run(&polls);
            status = dn_train(&request, &run, &r, NULL);
            assert_true(status == DN_OK || status == DN_ERR_STOPPED);
            if (status == DN_OK)
                dn_train_result_done(&r);
        }
        dn_run one = dn_run_default(), many = dn_run_default();
        many.n_slots = 3;
        many.sum = sum_in_ranges;
        dn_train_result other;
        void *bytes[2];
        size_t size[2];
        OK(dn_train(&request, &one, &r, NULL));
        OK(dn_model_write(r.model, &bytes[0], &size[0], NULL));
        dn_train_result_done(&r);
        struct table *sharable = table_of(t);
        sharable->source->n_slots = 3;
        dn_train_request shared = request;
        shared.source = sharable->source;
        OK(dn_train(&shared, &many, &other, NULL));
        table_free(sharable);
        OK(dn_model_write(other.model, &bytes[1], &size[1], NULL));
        dn_train_result_done(&other);
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        free(bytes[0]);
        free(bytes[1]);
        dn_params_free(p);
    }
    table_free(table);
    csv_free(t);
}

/* Damaged bytes of a calibration are told. */
static void damaged_bytes(void **state) {
    (void)state;
    dn_calibration *c = NULL, *back = NULL;
    OK(dni_calibration_new(DN_CALIBRATION_ISOTONIC, 4, 2, &c, NULL));
    for (size_t s = 0; s < 2; s++) {
        OK(dni_calibrator_room(&c->scores[s], 3, NULL));
        for (size_t i = 0; i < 3; i++) {
            c->scores[s].score[i] = (double)i - (double)s;
            c->scores[s].probability[i] = 0.25 * (double)(i + 1);
        }
    }
    dni_writer writer;
    dni_writer_init(&writer);
    dni_calibration_write(c, &writer);
    for (size_t cut = 0; cut <= writer.size; cut++) {
        dni_reader reader = dni_reader_of(writer.bytes, cut);
        const dn_status status = dni_calibration_read(&reader, 2, &back, NULL);
        assert_int_equal(status, cut == writer.size ? DN_OK : DN_ERR_CORRUPT);
        if (status == DN_OK)
            dni_calibration_free(back);
    }
    size_t refused = 0;
    for (size_t at = 0; at < writer.size; at++)
        for (unsigned flip = 1; flip < 256; flip <<= 1) {
            writer.bytes[at] ^= (unsigned char)flip;
            dni_reader reader = dni_reader_of(writer.bytes, writer.size);
            if (dni_calibration_read(&reader, 2, &back, NULL) != DN_OK) {
                refused++;
            } else if (back != NULL) {
                double logits[2];
                dni_calibration_apply(back, (const double[]){0.5, 1e300}, logits);
                assert_true(isfinite(logits[0]) && isfinite(logits[1]));
                dni_calibration_free(back);
            }
            writer.bytes[at] ^= (unsigned char)flip;
        }
    assert_true(refused > 50);
    dni_writer_done(&writer);
    dni_calibration_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(platt_is_optimal),    cmocka_unit_test(platt_stays_finite), cmocka_unit_test(weights_are_repetitions),
        cmocka_unit_test(isotonic_is_optimal), cmocka_unit_test(rows_are_held_out),  cmocka_unit_test(nothing_is_learned_of_noise),
        cmocka_unit_test(many_classes),        cmocka_unit_test(what_is_told),       cmocka_unit_test(shown_only_when_asked),
        cmocka_unit_test(memory_and_stops),    cmocka_unit_test(damaged_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
