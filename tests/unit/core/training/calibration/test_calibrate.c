/* Tests of training with a calibration: it is fitted to held-out rows, reported, written and read
 * with the model, and keeps the memory budget. */
#include "base/random.h"
#include "model/calibration.h"
#include "task/split.h"
#include "training/calibration/calibrate.h"
#include "training/calibration/calibrate_fit.h"
#include "unit/core/training/samples.h"

static dn_params *params_with(const char *algorithm, const char *method, const char *multiclass) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    OK(dn_params_set_word(p, "calibrate", method, NULL));
    if (multiclass != NULL) {
        OK(dn_params_set_word(p, "multiclass", multiclass, NULL));
    }
    return p;
}

static dn_train_result trained(const struct csv *t, dn_params *p, dn_train_request change,
                               const dn_run *run) {
    struct table *table = table_of(t);
    dn_train_result result;
    dn_error err = {0};
    dn_train_request request = table_request(t, table, p);
    request.folds = change.folds;
    request.holdout = change.holdout;
    request.features.standardize = false;
    if (dn_train(&request, run, &result, &err) != DN_OK) {
        fail_msg("%s", err.message);
    }
    dn_params_free(p);
    columns_table_free(table);
    return result;
}

/* Returns the probabilities [n × K] of the rows of t. scores [n × n_scores] ← their scores. */
static double *probabilities(const dn_model *model, const struct csv *t, double *scores) {
    double *p = xcalloc(t->n * t->K, sizeof *p),
           *work = xcalloc(dn_model_workspace(model), sizeof *work);
    const dn_prediction out = {.probabilities = p, .scores = scores};
    assert_true(dn_model_has_probabilities(model));
    assert_int_equal(dn_model_predict(model, dn_raw_numbers(t->x, t->n), work, &out), t->n);
    free(work);
    return p;
}

/* Recomputes the calibration with the documented folds: for each fold, a model trained without the
 * fold scores the rows of the fold. Then checks that the gradient is 0. */
static void rows_are_held_out(void **state) {
    (void)state;
    enum { FOLDS = 5 };
    struct csv *t = csv_clouds(200, 3, 2);
    dn_run run = dn_run_default();
    dn_params *p = params_with("least_squares", "platt", NULL);
    dn_train_result whole = trained(t, p, (dn_train_request){0}, &run);
    const dn_calibration *c = dn_model_calibration(whole.model);
    uint16_t fold[200];
    struct sample s = {.n = 0};
    assert_non_null(c);
    assert_int_equal(c->folds, FOLDS);
    OK(dni_split_folds(t->target, t->n, 2, FOLDS, DNI_STREAM_FOLDS, &run, fold, NULL));
    for (size_t f = 0; f < FOLDS; f++) {
        struct csv part = *t;
        part.n = 0;
        part.x = xcalloc(t->n * t->d, sizeof *part.x);
        part.target = xcalloc(t->n, sizeof *part.target);
        for (size_t i = 0; i < t->n; i++) {
            if (fold[i] != f) {
                memcpy(part.x + part.n * t->d, t->x + i * t->d, t->d * sizeof *part.x);
                part.target[part.n++] = t->target[i];
            }
        }
        dn_params *plain;
        OK(dn_params_new(dn_algorithm_find("least_squares"), &plain, NULL));
        dn_train_result other = trained(&part, plain, (dn_train_request){0}, &run);
        assert_null(dn_model_calibration(other.model));
        assert_false(dn_model_has_probabilities(other.model));
        double *work = xcalloc(dn_model_workspace(other.model), sizeof *work);
        for (size_t i = 0; i < t->n; i++) {
            if (fold[i] == f) {
                const dn_prediction out = {.scores = &s.score[s.n]};
                assert_int_equal(dn_model_predict(other.model, dn_raw_numbers(t->x + i * t->d, 1),
                                                  work, &out),
                                 1);
                s.classes[s.n++] = (uint32_t)t->target[i];
            }
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
    /* the probabilities of dn_model_predict equal the recomputed ones */
    double *scores = xcalloc(t->n, sizeof *scores), *q = probabilities(whole.model, t, scores);
    for (size_t i = 0; i < t->n; i++) {
        assert_near(q[2 * i + 1],
                    1 / (1 + exp(-(c->scores[0].slope * scores[i] + c->scores[0].intercept))),
                    1e-12);
    }
    free(scores);
    free(q);
    dn_train_result_done(&whole);
    csv_free(t);
}

/* Random classes and so many columns that a machine separates its training rows. A calibration on
 * training rows would give probabilities near 0 and 1; on held-out rows they are near 1/2. */
static void noise_gives_probabilities_near_half(void **state) {
    (void)state;
    struct csv *t = csv_clouds(120, 130, 2);
    uint64_t s = 3;
    dn_run run = dn_run_default();
    for (size_t i = 0; i < t->n; i++) {
        t->target[i] = uniform(&s) < 0.5;
    }
    for (size_t method = 0; method < 2; method++) {
        dn_params *p = params_with("perceptron", method == 0 ? "platt" : "isotonic", NULL);
        OK(dn_params_set_word(p, "decision", "scores", NULL));
        dn_train_result r = trained(t, p, (dn_train_request){0}, &run);
        assert_true(r.train->accuracy == 1); /* by the scores */
        double *q = probabilities(r.model, t, NULL), sure = 0;
        for (size_t i = 0; i < t->n; i++) {
            sure += fmax(q[2 * i], q[2 * i + 1]) / (double)t->n;
        }
        assert_true(sure < 0.8);
        free(q);
        dn_train_result_done(&r);
    }
    csv_free(t);
}

/* All choices of `multiclass` and both methods: probabilities sum to 1, have a smaller log loss
 * than the scores taken as log-odds, and are the same after a round trip through bytes. */
static void many_classes(void **state) {
    (void)state;
    static const struct {
        const char *algorithm, *method, *multiclass;
        size_t n_scores;
    } of[] = {{"least_squares", "platt", "native", 4},
              {"least_squares", "isotonic", "one_vs_rest", 4},
              {"least_squares", "platt", "one_vs_one", 6},
              {"perceptron", "isotonic", "one_vs_one_strict", 6},
              {"perceptron", "platt", "one_vs_rest", 4},
              {"least_squares", "isotonic", "native", 4},
              {"perceptron", "platt", "one_vs_rest_strict", 4}};
    struct csv *t = csv_clouds(400, 4, 4);
    dn_run run = dn_run_default();
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        dn_train_result r = trained(t, params_with(of[k].algorithm, of[k].method, of[k].multiclass),
                                    (dn_train_request){0}, &run);
        const dn_calibration *c = dn_model_calibration(r.model);
        assert_int_equal(c->n_scores, of[k].n_scores);
        double *p = probabilities(r.model, t, NULL), loss = 0;
        for (size_t i = 0; i < t->n; i++) {
            double sum = 0;
            for (size_t j = 0; j < 4; j++) {
                sum += p[4 * i + j];
            }
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
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].list != NULL ? report->details[i].list
                                                   : &report->details[i].number;
        }
    }
    return none;
}

static bool warns(const dn_report *report, const char *words) {
    for (size_t i = 0; i < report->n_warnings; i++) {
        if (strstr(report->warnings[i].text, words) != NULL) {
            return true;
        }
    }
    return false;
}

/* Checks that training fails with `code`, the field `calibrate` and a message that contains
 * `words`. */
static void assert_refused(struct csv *t, dn_params *p, dn_status code, const char *words) {
    struct table *table = table_of(t);
    dn_train_request request = table_request(t, table, p);
    dn_run run = dn_run_default();
    dn_train_result r;
    dn_error err = {0};
    assert_int_equal(dn_train(&request, &run, &r, &err), code);
    assert_string_equal(err.field, "calibrate");
    assert_non_null(strstr(err.message, words));
    dn_params_free(p);
    columns_table_free(table);
}

static void details_and_warnings(void **state) {
    (void)state;
    struct csv *t = csv_clouds(300, 3, 3);
    dn_run run = dn_run_default();
    dn_train_result r = trained(t, params_with("least_squares", "platt", NULL),
                                (dn_train_request){.holdout = 0.3}, &run);
    assert_true(*detail_of(&r.report, "calibration_folds") == 5);
    assert_true(*detail_of(&r.report, "calibration_log_loss") <
                *detail_of(&r.report, "calibration_log_loss_before"));
    assert_memory_equal(&dn_model_calibration(r.model)->scores[2].slope,
                        detail_of(&r.report, "calibration_slopes") + 2, sizeof(double));
    assert_true(r.validation->log_loss < log(3));
    dn_train_result_done(&r);
    /* cross-validation: the metrics of each fold are those of a calibrated model */
    r = trained(t, params_with("least_squares", "platt", NULL), (dn_train_request){.folds = 3},
                &run);
    for (size_t f = 0; f < 3; f++) {
        assert_true(r.folds[f]->log_loss < log(3) && r.folds[f]->log_loss > 0);
    }
    dn_train_result_done(&r);
    /* a class of 3 rows: 3 folds and a warning; a class of 1 row: an error */
    for (size_t left = 3; left != 2; left = left == 3 ? 1 : 2) {
        size_t n = 0, rare = 0;
        struct csv part = *t;
        part.x = xcalloc(t->n * t->d, sizeof *part.x);
        part.target = xcalloc(t->n, sizeof *part.target);
        for (size_t i = 0; i < t->n; i++) {
            if (t->target[i] == 2 && ++rare > left) {
                continue;
            }
            memcpy(part.x + n * t->d, t->x + i * t->d, t->d * sizeof *part.x);
            part.target[n++] = t->target[i];
        }
        part.n = n;
        if (left == 3) {
            r = trained(&part, params_with("least_squares", "platt", NULL), (dn_train_request){0},
                        &run);
            assert_int_equal(dn_model_calibration(r.model)->folds, 3);
            assert_true(warns(&r.report, "the calibration has 3 folds, not 5"));
            dn_train_result_done(&r);
        } else {
            assert_refused(&part, params_with("least_squares", "platt", NULL), DN_ERR_DATA,
                           "has 1 training row: a calibration needs at least 2");
        }
        free(part.x);
        free(part.target);
    }
    /* a calibration is refused for K − 1 discriminants */
    dn_params *p = params_with("perceptron", "platt", "one_vs_rest_strict");
    OK(dn_params_set_word(p, "discriminants", "K-1", NULL));
    assert_refused(t, p, DN_ERR_ARGUMENT, "the 3 classes have no probabilities");
    csv_free(t);
}

static void folds_apply_only_to_calibrations(void **state) {
    (void)state;
    dn_params *p = params_with("least_squares", "none", NULL);
    const dn_algorithm *a = p->algorithm;
    for (size_t way = 0; way < 2; way++) {
        for (size_t i = 0; i < a->n_params; i++) {
            assert_true(dn_params_applies(p, i) ==
                        (way == 1 || (strcmp(a->params[i].name, "calibration_folds") != 0 &&
                                      strcmp(a->params[i].name, "decision") != 0)));
        }
        OK(dn_params_set_word(p, "calibrate", "isotonic", NULL));
    }
    dn_params_free(p);
}

/* A training that fails at an allocation or is cancelled leaks no memory. The number of threads
 * does not change the result. */
static void memory_and_stops(void **state) {
    (void)state;
    struct csv *t = csv_clouds(60, 2, 3);
    struct table *table = table_of(t);
    for (size_t method = 0; method < 2; method++) {
        dn_params *p = params_with("least_squares", method == 0 ? "platt" : "isotonic", NULL);
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
            if (status == DN_OK) {
                dn_train_result_done(&r);
            }
            assert_int_equal(m.live, 0);
        }
        status = DN_ERR_STOPPED;
        for (size_t k = 1; status != DN_OK; k += 1 + k / 8) {
            struct polls polls = {.stop_at = k};
            dn_run run = polls_run(&polls);
            status = dn_train(&request, &run, &r, NULL);
            assert_true(status == DN_OK || status == DN_ERR_STOPPED);
            if (status == DN_OK) {
                dn_train_result_done(&r);
            }
        }
        dn_run one = dn_run_default(), many = dn_run_default();
        many.n_slots = 3;
        many.sum = sum_in_ranges;
        many.each = each_in_reverse;
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
        columns_table_free(sharable);
        OK(dn_model_write(other.model, &bytes[1], &size[1], NULL));
        dn_train_result_done(&other);
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        free(bytes[0]);
        free(bytes[1]);
        dn_params_free(p);
    }
    columns_table_free(table);
    csv_free(t);
}

/* Damaged bytes of a calibration are refused. */
static void damaged_bytes(void **state) {
    (void)state;
    dn_calibration *c = NULL, *back = NULL;
    OK(dni_calibration_new(DN_CALIBRATION_ISOTONIC, 4, 2, &c, NULL));
    for (size_t s = 0; s < 2; s++) {
        OK(dni_calibrator_resize(&c->scores[s], 3, NULL));
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
        if (status == DN_OK) {
            dni_calibration_free(back);
        }
    }
    size_t refused = 0;
    for (size_t at = 0; at < writer.size; at++) {
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
    }
    assert_true(refused > 50);
    dni_writer_done(&writer);
    dni_calibration_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_held_out),
        cmocka_unit_test(noise_gives_probabilities_near_half),
        cmocka_unit_test(many_classes),
        cmocka_unit_test(details_and_warnings),
        cmocka_unit_test(folds_apply_only_to_calibrations),
        cmocka_unit_test(memory_and_stops),
        cmocka_unit_test(damaged_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
