/* Results of the daemon, recomputed from the data and the weights in its answers: optimality of the
 * training, scores, probabilities, objectives, metrics. */
#include "lib/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A linear model as /weights describes it, in the units of the columns. */
struct model {
    size_t n_scores, n_features;
    double *w, *w0; /* [n_scores × n_features], [n_scores] */
};

static struct model weights_of(const char *name) {
    const struct response *r = status_check(call_get("/v1/models/%s/weights", name), 200);
    struct model m = {.n_scores = count_at(r, "/w"), .n_features = count_at(r, "/w/0")};
    m.w = keep(calloc(m.n_scores * m.n_features, sizeof *m.w), free);
    m.w0 = keep(calloc(m.n_scores, sizeof *m.w0), free);
    for (size_t k = 0; k < m.n_scores; k++) {
        m.w0[k] = real_at(r, text("/w0/%zu", k));
        const json_t *row = value_at(r, text("/w/%zu", k));
        for (size_t j = 0; j < m.n_features; j++) {
            m.w[k * m.n_features + j] = json_number_value(json_array_get(row, j));
        }
    }
    return m;
}

/* Computes the scores and the probabilities of all classes at x. */
static void apply(const struct model *m, const double *x, size_t n_classes, double *score,
                  double *p) {
    double most = -HUGE_VAL, sum = 0;
    for (size_t k = 0; k < m->n_scores; k++) {
        score[k] = m->w0[k];
        for (size_t j = 0; j < m->n_features; j++) {
            score[k] += m->w[k * m->n_features + j] * x[j];
        }
        most = fmax(most, score[k]);
    }
    if (n_classes == 2) {
        p[1] = 1 / (1 + exp(-score[0]));
        p[0] = 1 / (1 + exp(score[0]));
        return;
    }
    for (size_t k = 0; k < n_classes; k++) {
        sum += p[k] = exp(score[k] - most);
    }
    for (size_t k = 0; k < n_classes; k++) {
        p[k] /= sum;
    }
}

/* ---- optimality ---- */

/* The objective over all rows and the largest component of its gradient, by the standardised
 * weights or by the raw ones. */
static double objective(const struct table *t, const struct model *m, double lambda,
                        bool standardize, double *gradient) {
    const size_t d = t->n_cols, K = m->n_scores;
    double *g = keep(calloc(K * (d + 1), sizeof *g), free), score[16], p[16], loss = 0, penalty = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        const double *x = t->x + i * d;
        apply(m, x, t->n_classes, score, p);
        loss -= log(p[t->y[i]]) / (double)t->n_rows;
        for (size_t k = 0; k < K; k++) {
            size_t class = K == 1 ? 1 : k;
            double error = (p[class] - (t->y[i] == class)) / (double)t->n_rows;
            for (size_t j = 0; j < d; j++) {
                g[k * (d + 1) + j] +=
                    error *
                    (standardize ? (t->std[j] > 0 ? (x[j] - t->mean[j]) / t->std[j] : 0) : x[j]);
            }
            g[k * (d + 1) + d] += error;
        }
    }
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            double w = m->w[k * d + j] * (standardize ? (t->std[j] > 0 ? t->std[j] : 1) : 1);
            penalty += lambda * w * w;
            g[k * (d + 1) + j] += 2 * lambda * w;
        }
    }
    *gradient = 0;
    for (size_t i = 0; i < K * (d + 1); i++) {
        *gradient = fmax(*gradient, fabs(g[i]));
    }
    return loss + penalty;
}

static void test_the_gradient_is_zero_where_it_says(void **state) {
    (void)state;
    static const struct {
        const char *data, *solver;
        double lambda;
        bool standardize;
    } cases[] = {{"iris", "newton", 1e-3, true},          {"iris", "lbfgs", 0.1, true},
                 {"iris", "newton", 0.01, false},         {"wine", "lbfgs", 1e-3, true},
                 {"breast_cancer", "newton", 1e-3, true}, {"breast_cancer", "lbfgs", 1e-2, true},
                 {"digits", "lbfgs", 0.1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct table *t = table_read(text("tests/data/%s.csv", cases[i].data));
        const struct response *r =
            job_train("{'model':'optimal','dataset':'%s','target':'class','"
                      "algorithm':'logistic','features':{'standardize':%s},"
                      "'params':{'solver':'%s','lambda':%g,'tolerance':1e-9}}",
                      cases[i].data, cases[i].standardize ? "true" : "false", cases[i].solver,
                      cases[i].lambda);
        struct model m = weights_of("optimal");
        double gradient, J = objective(t, &m, cases[i].lambda, cases[i].standardize, &gradient);
        assert_int_equal(m.n_scores, t->n_classes == 2 ? 1 : t->n_classes);
        assert_close(real_at(r, "/result/objective"), J, 1e-9);
        assert_true(json_is_true(value_at(r, "/result/converged")));
        if (cases[i].standardize) { /* the stopping rule uses standardised weights */
            assert_true(gradient < 1e-8);
        } else {
            assert_true(gradient < 1e-6);
        }
        for (size_t j = 0; j < m.n_features && m.n_scores > 1; j++) { /* symmetric form */
            double sum = 0, size = 0;
            for (size_t k = 0; k < m.n_scores; k++) {
                sum += m.w[k * m.n_features + j];
                size += fabs(m.w[k * m.n_features + j]);
            }
            assert_true(fabs(sum) <= 1e-9 * (1 + size));
        }
    }
}

/* ---- scores and probabilities ---- */

static void release_json(void *json) {
    json_decref(json);
}

static const struct response *predict_all(const char *model, const struct table *t,
                                          const char *query) {
    json_t *rows = json_array();
    keep(rows, release_json);
    for (size_t i = 0; i < t->n_rows; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < t->n_cols; j++) {
            json_array_append_new(row, json_real(t->x[i * t->n_cols + j]));
        }
        json_array_append_new(rows, row);
    }
    const char *body = keep(json_dumps(rows, JSON_COMPACT), free);
    const struct response *r =
        call_post(text("/v1/models/%s/predict%s", model, query), "{'instances':%s}", body);
    assert_int_equal(count_at(status_check(r, 200), "/predictions"), t->n_rows);
    return r;
}

static void test_predictions_are_the_weights_applied(void **state) {
    (void)state;
    static const char *const names[] = {"iris", "breast_cancer", "digits"};
    for (size_t k = 0; k < 3; k++) {
        const struct table *t = table_read(text("tests/data/%s.csv", names[k]));
        job_train("{'model':'applied','dataset':'%s','target':'class','algorithm':'logistic','"
                  "params':{'solver':'lbfgs','lambda':0.01}}",
                  names[k]);
        struct model m = weights_of("applied");
        const struct response *r = predict_all("applied", t, "?output=label,probabilities,scores");
        const json_t *predictions = value_at(r, "/predictions");
        for (size_t i = 0; i < t->n_rows; i++) {
            double score[16], p[16];
            size_t best = 0;
            const json_t *one = json_array_get(predictions, i);
            apply(&m, t->x + i * t->n_cols, t->n_classes, score, p);
            for (size_t c = 0; c < t->n_classes; c++) {
                best = p[c] > p[best] ? c : best;
                double given =
                    json_number_value(json_array_get(json_object_get(one, "probabilities"), c));
                assert_true(fabs(given - p[c]) <= 1e-9 * p[c] + 1e-12);
            }
            for (size_t c = 0; c < m.n_scores; c++) {
                double given = json_number_value(json_array_get(json_object_get(one, "scores"), c));
                assert_true(fabs(given - score[c]) <= 1e-9 * (1 + fabs(score[c])));
            }
            const json_t *label = json_object_get(one, "label");
            const char *said = json_is_string(label) ? json_string_value(label)
                                                     : text("%g", json_number_value(label));
            assert_string_equal(said, t->classes[best]);
        }
    }
}

/* ---- metrics ---- */

static void metrics_check(const struct response *r, const char *at, const struct table *t,
                          const struct response *predictions) {
    const size_t K = t->n_classes;
    const double n = (double)t->n_rows;
    double matrix[16][16] = {{0}}, log_loss = 0, balanced = 0, right = 0, macro_f1 = 0,
           weighted_f1 = 0;
    for (size_t i = 0; i < t->n_rows; i++) {
        const json_t *p = json_object_get(json_array_get(value_at(predictions, "/predictions"), i),
                                          "probabilities");
        size_t best = 0;
        for (size_t k = 0; k < K; k++) {
            best =
                json_number_value(json_array_get(p, k)) > json_number_value(json_array_get(p, best))
                    ? k
                    : best;
        }
        matrix[t->y[i]][best]++;
        right += best == t->y[i];
        log_loss -=
            log(fmin(fmax(json_number_value(json_array_get(p, t->y[i])), 1e-15), 1 - 1e-15)) / n;
    }
    for (size_t k = 0; k < K; k++) {
        double support = 0, predicted = 0;
        for (size_t c = 0; c < K; c++) {
            assert_int_equal(whole_at(r, text("%s/confusion/matrix/%zu/%zu", at, k, c)),
                             (int64_t)matrix[k][c]); /* rows of the matrix are the true classes */
            support += matrix[k][c];
            predicted += matrix[c][k];
        }
        double precision = matrix[k][k] / predicted, recall = matrix[k][k] / support,
               f1 = 2 * precision * recall / (precision + recall);
        balanced += recall / (double)K;
        macro_f1 += f1 / (double)K;
        weighted_f1 += f1 * support / n;
        assert_close(real_at(r, text("%s/per_class/%zu/precision", at, k)), precision, 1e-12);
        assert_close(real_at(r, text("%s/per_class/%zu/recall", at, k)), recall, 1e-12);
        assert_close(real_at(r, text("%s/per_class/%zu/f1", at, k)), f1, 1e-12);
        assert_int_equal(whole_at(r, text("%s/per_class/%zu/support", at, k)), (int64_t)support);
    }
    assert_true(real_at(r, text("%s/accuracy", at)) == right / n);
    assert_true(fabs(real_at(r, text("%s/error", at)) - (1 - right / n)) < 1e-15);
    assert_close(real_at(r, text("%s/log_loss", at)), log_loss, 1e-9);
    assert_close(real_at(r, text("%s/balanced_accuracy", at)), balanced, 1e-12);
    assert_close(real_at(r, text("%s/macro/f1", at)), macro_f1, 1e-12);
    assert_close(real_at(r, text("%s/weighted/f1", at)), weighted_f1, 1e-12);
}

static void test_metrics_are_those_of_the_predictions(void **state) {
    (void)state;
    static const char *const names[] = {"iris", "wine", "breast_cancer", "digits"};
    for (size_t k = 0; k < 4; k++) {
        const struct table *t = table_read(text("tests/data/%s.csv", names[k]));
        const struct response *job =
            job_train("{'model':'measured','dataset':'%s','target':'class','algorithm':'logistic',"
                      "'params':{'solver':'lbfgs','lambda':0.1}}",
                      names[k]);
        const struct response *predictions = predict_all("measured", t, "");
        metrics_check(job, "/result/metrics/train", t, predictions);
        metrics_check(status_check(call_get("/v1/models/measured"), 200), "/metrics/train", t,
                      predictions);
        const struct response *r =
            status_check(call_post("/v1/models/measured/evaluate", "{'dataset':'%s'}", names[k]),
                         200);
        assert_int_equal(whole_at(r, "/rows"), t->n_rows);
        metrics_check(r, "/metrics", t, predictions);
        r = call(&(struct request){.method = "POST",
                                   .path = "/v1/models/measured/evaluate",
                                   .headers = HEADERS("Content-Type: text/csv"),
                                   .body = read_whole(text("tests/data/%s.csv", names[k]), NULL)});
        metrics_check(status_check(r, 200), "/metrics", t, predictions);
    }
}

#define HELD(seed)                                                                                 \
    "{'model':'held','dataset':'wine','target':'class','algorithm':'logistic','seed':" seed        \
    ",'validation':{'holdout':0.3}}"

/* The holdout contains its share of each class; an equal seed selects equal rows, another seed
 * others. */
static void test_the_holdout_is_stratified_and_seeded(void **state) {
    (void)state;
    const struct table *t = table_read("tests/data/wine.csv");
    const struct response *first = job_train(HELD("1")), *again = job_train(HELD("1")),
                          *other = job_train(HELD("2"));
    for (size_t k = 0; k < t->n_classes; k++) {
        double all = 0;
        for (size_t i = 0; i < t->n_rows; i++) {
            all += t->y[i] == k;
        }
        double held = real_at(first, text("/result/metrics/validation/per_class/%zu/support", k));
        assert_true(fabs(held - 0.3 * all) <= 1);
        assert_true(held + real_at(first, text("/result/metrics/train/per_class/%zu/support", k)) ==
                    all);
    }
    assert_true(json_equal(value_at(first, "/result/metrics"), value_at(again, "/result/metrics")));
    assert_true(real_at(first, "/result/objective") != real_at(other, "/result/objective"));
}

/* ---- the encoder ---- */

static double score_of(const char *instance) {
    const struct response *r =
        call_post("/v1/models/mixed/predict?output=scores", "{'instances':[%s]}", instance);
    return real_at(status_check(r, 200), "/predictions/0/scores/0");
}

/* A missing number is replaced by the training mean. A missing category has a level of its own if
 * training had missing cells. An unknown category has no level. */
static void test_missing_and_unseen_values(void **state) {
    (void)state;
    const char *rows = repeat(
        "1,Oslo,true,yes\n2,Oslo,false,no\n,Bergen,true,yes\n6,,false,no\n3,Bergen,true,no\n", 10);
    status_check(call_upload("/v1/datasets/mixed", text("x,city,member,y\n%s", rows)), 201);
    job_train("{'model':'mixed','dataset':'mixed','target':'y','algorithm':'logistic','params':{'"
              "lambda':0.01}}");
    const struct response *w = status_check(call_get("/v1/models/mixed/weights"), 200);
    assert_int_equal(count_at(w, "/features"), 1 + 3 + 1); /* x; Bergen, Oslo, missing; member */
    struct model m = weights_of("mixed");
    double x = m.w[0], member = m.w[4], mean = (1 + 2 + 6 + 3) / 4.0;
    double oslo = score_of("{'x':1,'city':'Oslo','member':true}");
    assert_true(fabs(score_of("{'x':2,'city':'Oslo','member':true}") - (oslo + x)) < 1e-12);
    assert_true(fabs(score_of("{'x':null,'city':'Oslo','member':true}") - (oslo + x * (mean - 1))) <
                1e-12);
    assert_true(fabs(score_of("{'x':1,'city':'Oslo','member':false}") - (oslo - member)) < 1e-12);
    double unseen = score_of("{'x':1,'city':'Troms\xC3\xB8','member':true}");
    assert_true(fabs(unseen - (m.w0[0] + x + member)) < 1e-12);
    double levels = 0;
    for (size_t j = 1; j < 4; j++) {
        levels += m.w[j];
        bool is_oslo = strstr(string_at(w, text("/features/%zu", j)), "Oslo") != NULL;
        if (is_oslo) {
            assert_true(fabs(oslo - (unseen + m.w[j])) < 1e-12);
        }
        bool is_missing = strstr(string_at(w, text("/features/%zu", j)), "Oslo") == NULL &&
                          strstr(string_at(w, text("/features/%zu", j)), "Bergen") == NULL;
        if (is_missing) {
            assert_true(fabs(score_of("{'x':1,'city':null,'member':true}") - (unseen + m.w[j])) <
                        1e-12);
        }
    }
    assert_true(fabs(score_of("{'x':1,'city':'Bergen','member':true}") + oslo +
                     score_of("{'x':1,'city':null,'member':true}") - (3 * unseen + levels)) <
                1e-12);
}

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv"), upload_file("wine", "wine.csv"),
        upload_file("breast_cancer", "breast_cancer.csv");
    upload_file("digits", "digits.csv");
    keep_free();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_gradient_is_zero_where_it_says),
        TEST(test_predictions_are_the_weights_applied),
        TEST(test_metrics_are_those_of_the_predictions),
        TEST(test_the_holdout_is_stratified_and_seeded),
        TEST(test_missing_and_unseen_values),
    };
    return cmocka_run_group_tests(tests, prepare, group_end);
}
