/* POST …/evaluate: every metric and curve, recomputed from the predictions of the same rows. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 600

/* A dataset with the predictions of a model. */
struct judged {
    size_t n, n_classes, n_scores;
    bool probable;
    size_t y[MAX_ROWS], label[MAX_ROWS]; /* label SIZE_MAX: no class */
    double g[MAX_ROWS][3], p[MAX_ROWS][3];
};

static void train_as(const char *model, const char *dataset, const char *algorithm,
                     const char *params) {
    job_train("{'model':'%s','dataset':'%s','target':'class','algorithm':'%s','params':{%s}}",
              model, dataset, algorithm, params);
}

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    upload_file("breast_cancer", "breast_cancer.csv");
    train_as("iris", "iris", "logistic", "\"lambda\":0.1");
    train_as("cancer", "breast_cancer", "logistic", "\"lambda\":0.1");
    train_as("strict", "iris", "logistic", "\"multiclass\":\"one_vs_rest_strict\"");
    train_as("pairs", "iris", "logistic", "\"multiclass\":\"one_vs_one\"");
    train_as("squares", "iris", "least_squares", "");
    return 0;
}

static size_t class_of(const json_t *classes, const json_t *label) {
    for (size_t k = 0; k < json_array_size(classes); k++) {
        if (json_equal(json_array_get(classes, k), label)) {
            return k;
        }
    }
    assert_true(json_is_null(label));
    return SIZE_MAX;
}

static void judge(const char *model, const char *dataset, struct judged *j) {
    const struct response *rows = call_get("/v1/datasets/%s/rows?limit=1000", dataset);
    json_t *asked = json_pack("{sO}", "instances", json_find(rows->json, "/items"));
    char *body = json_dumps(asked, JSON_COMPACT);
    const struct response *a = status_check(
        call_text("POST", text("/v1/models/%s/predict?output=label,scores,probabilities", model),
                  NULL, body),
        200);
    const json_t *classes = json_find(a->json, "/classes");
    *j = (struct judged){.n = count_at(a, "/predictions"),
                         .n_classes = json_array_size(classes),
                         .n_scores = count_at(a, "/predictions/0/scores"),
                         .probable = json_find(a->json, "/predictions/0/probabilities") != NULL};
    assert_true(j->n <= MAX_ROWS && j->n_classes <= 3);
    for (size_t i = 0; i < j->n; i++) {
        const json_t *row = json_array_get(json_find(a->json, "/predictions"), i);
        j->y[i] =
            class_of(classes,
                     json_object_get(json_array_get(json_find(rows->json, "/items"), i), "class"));
        j->label[i] = class_of(classes, json_object_get(row, "label"));
        for (size_t k = 0; k < j->n_scores; k++) {
            j->g[i][k] = json_number_value(json_array_get(json_object_get(row, "scores"), k));
        }
        for (size_t k = 0; j->probable && k < j->n_classes; k++) {
            j->p[i][k] =
                json_number_value(json_array_get(json_object_get(row, "probabilities"), k));
        }
    }
    json_decref(asked);
    free(body);
}

static const struct response *evaluate(const char *model, const char *dataset, const char *query) {
    const char *path, *body;
    path = text("/v1/models/%s/evaluate%s", model, query);
    body = text("{\"dataset\":\"%s\"}", dataset);
    const struct response *a = call_text("POST", path, NULL, body);
    if (a->status != 200) {
        fail_msg("%s: %d %s", path, a->status, a->body);
    }
    assert_true(real_at(a, "/rows") == real_at(a, "/metrics/rows"));
    return a;
}

static double metric(const struct response *a, const char *name) {
    return real_at(a, text("/metrics/%s", name));
}

/* ---- recomputing ---- */

/* The value that ranks rows for class k: g for two classes, otherwise the class's probability or
 * score. */
static double rank_of(const struct judged *j, size_t i, size_t k) {
    if (j->n_classes == 2) {
        return j->g[i][0];
    }
    return j->probable ? j->p[i][k] : j->g[i][k];
}

/* ROC area: the share of pairs of rows in the right order. */
static double area_of(const struct judged *j, size_t k) {
    double right = 0, pairs = 0;
    for (size_t a = 0; a < j->n; a++) {
        for (size_t b = 0; b < j->n; b++) {
            if (j->y[a] == k && j->y[b] != k) {
                const double u = rank_of(j, a, k), v = rank_of(j, b, k);
                right += u > v ? 1 : u < v ? 0 : 0.5;
                pairs++;
            }
        }
    }
    return right / pairs;
}

static double precision_of(const struct judged *j, size_t k) {
    double sum = 0, of_class = 0;
    for (size_t i = 0; i < j->n; i++) {
        double above = 0, right = 0;
        if (j->y[i] != k) {
            continue;
        }
        of_class++;
        for (size_t b = 0; b < j->n; b++) {
            const bool counted = rank_of(j, b, k) >= rank_of(j, i, k);
            above += counted;
            right += counted && j->y[b] == k;
        }
        sum += right / above;
    }
    return sum / of_class;
}

/* t·g for two classes, otherwise the true class's score minus the largest other score. */
static double margin_of(const struct judged *j, size_t i) {
    if (j->n_classes == 2) {
        return j->y[i] == 1 ? j->g[i][0] : -j->g[i][0];
    }
    double other = -(double)INFINITY;
    for (size_t k = 0; k < j->n_classes; k++) {
        other = k == j->y[i] ? other : fmax(other, j->g[i][k]);
    }
    return j->g[i][j->y[i]] - other;
}

static void expect_losses(const struct response *a, const struct judged *j, bool margins) {
    const double n = (double)j->n;
    double right = 0, ambiguous = 0, log_loss = 0, brier = 0, hinge = 0, squares = 0, logistic = 0;
    for (size_t i = 0; i < j->n; i++) {
        const double m = margins ? margin_of(j, i) : 0;
        right += j->label[i] == j->y[i];
        ambiguous += j->label[i] == SIZE_MAX;
        log_loss -= log(fmin(fmax(j->p[i][j->y[i]], 1e-15), 1 - 1e-15)) / n;
        for (size_t k = 0; k < j->n_classes; k++) {
            brier += pow(j->p[i][k] - (j->y[i] == k), 2) / n / (j->n_classes == 2 ? 2 : 1);
        }
        hinge += fmax(0, 1 - m) / n;
        squares += (1 - m) * (1 - m) / n;
        logistic += (m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m) / log(2) / n;
    }
    assert_near(metric(a, "accuracy"), right / n, 1e-14);
    assert_near(metric(a, "error"), 1 - right / n, 1e-14);
    assert_near(metric(a, "ambiguous"), ambiguous, 0);
    if (j->probable) {
        assert_near(metric(a, "log_loss"), log_loss, 1e-10);
        assert_near(metric(a, "brier"), brier, 1e-10);
    } else {
        assert_true(json_is_null(json_find(a->json, "/metrics/log_loss")) &&
                    json_is_null(json_find(a->json, "/metrics/brier")) &&
                    json_is_null(json_find(a->json, "/metrics/ece")));
    }
    if (margins) {
        assert_near(metric(a, "hinge"), hinge, 1e-10 * (1 + hinge));
        assert_near(metric(a, "squared_loss"), squares, 1e-10 * (1 + squares));
        assert_near(metric(a, "logistic_loss"), logistic, 1e-10 * (1 + logistic));
    } else {
        assert_true(json_is_null(json_find(a->json, "/metrics/hinge")) &&
                    json_is_null(json_find(a->json, "/metrics/squared_loss")));
        assert_true(json_is_null(json_find(a->json, "/metrics/logistic_loss")));
    }
}

static void expect_ranks(const struct response *a, const struct judged *j) {
    const size_t first = j->n_classes == 2;
    double area = 0, precision = 0, n = (double)(j->n_classes - first);
    for (size_t k = first; k < j->n_classes; k++) {
        area += area_of(j, k) / n;
        precision += precision_of(j, k) / n;
    }
    assert_near(metric(a, "roc_auc"), area, 1e-12);
    assert_near(metric(a, "average_precision"), precision, 1e-12);
}

static void expect_calibration(const struct response *a, const struct judged *j) {
    double weight[10] = {0}, confidence[10] = {0}, right[10] = {0}, ece = 0;
    for (size_t i = 0; i < j->n; i++) {
        size_t top = 0;
        for (size_t k = 1; k < j->n_classes; k++) {
            top = j->p[i][k] > j->p[i][top] ? k : top;
        }
        const size_t bin = j->p[i][top] >= 1 ? 9 : (size_t)(10 * j->p[i][top]);
        weight[bin]++;
        confidence[bin] += j->p[i][top];
        right[bin] += j->y[i] == top;
    }
    for (size_t b = 0; b < 10; b++) {
        const json_t *bin = json_array_get(json_find(a->json, "/metrics/calibration"), b);
        assert_near(real_in(bin, "/weight"), weight[b], 0);
        assert_near(real_in(bin, "/low"), (double)b / 10, 1e-15);
        ece += fabs(right[b] - confidence[b]) / (double)j->n;
        if (weight[b] > 0) {
            assert_near(real_in(bin, "/confidence"), confidence[b] / weight[b], 1e-12);
            assert_near(real_in(bin, "/accuracy"), right[b] / weight[b], 1e-12);
        } else {
            assert_true(json_is_null(json_find(bin, "/confidence")) &&
                        json_is_null(json_find(bin, "/accuracy")));
        }
    }
    assert_near(metric(a, "ece"), ece, 1e-12);
}

/* ---- tests ---- */

static void test_metrics(void **state) {
    (void)state;
    static const struct {
        const char *model, *dataset;
        bool margins;
    } all[] = {{"iris", "iris", true},
               {"cancer", "breast_cancer", true},
               {"strict", "iris", true},
               {"pairs", "iris", false},
               {"squares", "iris", true}};
    static struct judged j;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        judge(all[i].model, all[i].dataset, &j);
        const struct response *a = evaluate(all[i].model, all[i].dataset, "?curves=true");
        assert_int_equal(real_at(a, "/rows"), j.n);
        expect_losses(a, &j, all[i].margins);
        if (j.probable || all[i].margins) {
            expect_ranks(a, &j);
        }
        if (j.probable) {
            expect_calibration(a, &j);
        } else {
            assert_true(json_is_null(json_find(a->json, "/metrics/calibration")));
        }
    }
}

/* The area by trapezoids under the points of the curve agrees with the area roughly. */
static void test_curves(void **state) {
    (void)state;
    static const char *const models[] = {"cancer", "iris"}, *const datasets[] = {"breast_cancer",
                                                                                 "iris"};
    for (size_t m = 0; m < 2; m++) {
        static struct judged j;
        judge(models[m], datasets[m], &j);
        const struct response *a = evaluate(models[m], datasets[m], "?curves=true");
        const json_t *roc = json_find(a->json, "/metrics/roc"),
                     *pr = json_find(a->json, "/metrics/precision_recall");
        assert_int_equal(json_array_size(roc), m == 0 ? 1 : 3);
        assert_int_equal(json_array_size(pr), m == 0 ? 1 : 3);
        assert_string_equal(string_in(roc, "/0/class"), m == 0 ? "malignant" : "setosa");
        assert_string_equal(string_in(roc, "/0/threshold_of"), m == 0 ? "score" : "probability");
        for (size_t k = 0; k < json_array_size(roc); k++) {
            const json_t *curve = json_array_get(roc, k),
                         *points = json_object_get(curve, "points");
            const size_t n = json_array_size(points);
            double area = 0;
            assert_true(n >= 2 && n <= 200);
            assert_true(real_in(points, "/0/false_positive_rate") == 0 &&
                        real_in(points, "/0/true_positive_rate") == 0);
            /* null: a threshold above every score */
            assert_true(json_is_null(json_find(points, "/0/threshold")));
            assert_true(real_in(points, "/-1/false_positive_rate") == 1 &&
                        real_in(points, "/-1/true_positive_rate") == 1);
            for (size_t i = 1; i < n; i++) {
                const json_t *p = json_array_get(points, i - 1), *q = json_array_get(points, i);
                const double width =
                    real_in(q, "/false_positive_rate") - real_in(p, "/false_positive_rate");
                assert_true(width >= 0 &&
                            real_in(q, "/true_positive_rate") >= real_in(p, "/true_positive_rate"));
                area += width *
                        (real_in(p, "/true_positive_rate") + real_in(q, "/true_positive_rate")) / 2;
            }
            assert_near(real_in(curve, "/area"), area_of(&j, m == 0 ? 1 : k), 1e-12);
            assert_near(area, real_in(curve, "/area"), 0.003);
            assert_near(real_in(json_array_get(pr, k), "/area"), precision_of(&j, m == 0 ? 1 : k),
                        1e-12);
            assert_true(real_in(json_array_get(pr, k), "/points/-1/recall") == 1);
        }
    }
}

/* Rows in the body, a stored dataset and a named version give equal metrics. Curves are only in
 * answers to `curves`. */
static void test_every_way_gives_the_same(void **state) {
    (void)state;
    const struct response *rows = call_get("/v1/datasets/breast_cancer/rows?limit=1000");
    json_t *asked = json_pack("{sO}", "instances", json_find(rows->json, "/items"));
    char *body = json_dumps(asked, JSON_COMPACT);
    const struct response *stored = evaluate("cancer", "breast_cancer", "?curves=true"),
                          *sent =
                              call_text("POST", "/v1/models/cancer/versions/1/evaluate?curves=true",
                                        NULL, body);
    status_check(sent, 200);
    const char *name;
    json_t *value;
    json_object_foreach(json_find(stored->json, "/metrics"), name, value) {
        if (json_is_number(value)) {
            assert_near(metric(sent, name), json_number_value(value),
                        1e-12 * fabs(json_number_value(value)));
        } else if (strcmp(name, "confusion") == 0 || strcmp(name, "per_class") == 0) {
            assert_true(
                json_equal(value, json_object_get(json_find(sent->json, "/metrics"), name)));
        } else {
            assert_non_null(json_object_get(json_find(sent->json, "/metrics"), name));
        }
    }
    static const char *const plain[] = {"", "?curves=false"};
    for (size_t i = 0; i < 2; i++) {
        stored = evaluate("cancer", "breast_cancer", plain[i]);
        assert_false(has(stored, "/metrics/roc"));
        assert_false(has(stored, "/metrics/precision_recall"));
        assert_false(has(stored, "/metrics/calibration"));
        assert_non_null(json_find(stored->json, "/metrics/ece"));
    }
    json_decref(asked);
    free(body);
}

/* A metric that needs two classes is null if the rows have one. */
static void test_one_class_only(void **state) {
    (void)state;
    const struct response *a =
        call_text("POST", "/v1/models/iris/evaluate?curves=true", "Content-Type: text/csv",
                  "sepal_length,sepal_width,petal_length,petal_width,class\n5.1,3.5,"
                  "1.4,0.2,setosa\n5,3.4,1.5,0.2,setosa\n");
    status_check(a, 200);
    assert_near(metric(a, "accuracy"), 1, 0);
    assert_true(json_is_null(json_find(a->json, "/metrics/roc_auc")));
    assert_true(json_is_null(json_find(a->json, "/metrics/average_precision")));
    assert_true(json_is_null(json_find(a->json, "/metrics/mcc")));
    assert_true(json_is_null(json_find(a->json, "/metrics/per_class/1/recall")));
    assert_int_equal(count_at(a, "/metrics/roc/1/points"), 0);
}

static void test_wrong_queries(void **state) {
    (void)state;
    static const char *const wrong[] = {"?curves=1", "?curves=yes", "?curves=", "?curve=true",
                                        "?curves=true&curves=true"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        problem_check(call_text("POST", text("/v1/models/iris/evaluate%s", wrong[i]), NULL,
                                "{\"dataset\":\"iris\"}"),
                      400, "bad-request");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_metrics),        TEST(test_curves),        TEST(test_every_way_gives_the_same),
        TEST(test_one_class_only), TEST(test_wrong_queries),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
