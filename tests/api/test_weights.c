/* GET …/weights of every kind of model, compared with predictions and with the data. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 150, COLUMNS = 4, CLASSES = 3 };
static const char *const columns[] = {"sepal_length", "sepal_width", "petal_length", "petal_width"};

static double x[ROWS][COLUMNS]; /* iris */
static size_t y[ROWS];
static char *body; /* the rows of the table, for predict */

static void train_as(const char *model, const char *dataset, const char *target,
                     const char *algorithm, const char *params) {
    job_train("{'model':'%s','dataset':'%s','target':'%s','algorithm':'%s','params':{%s}}", model,
              dataset, target, algorithm, params);
}

static void read_iris(void) {
    static const char *const classes[] = {"setosa", "versicolor", "virginica"};
    const struct response *a = call_get("/v1/datasets/iris/rows?limit=1000");
    const json_t *rows = json_find(a->json, "/items");
    json_t *asked = json_pack("{sO}", "instances", rows);
    body = json_dumps(asked, JSON_COMPACT);
    json_decref(asked);
    assert_int_equal(json_array_size(rows), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const json_t *row = json_array_get(rows, i);
        for (size_t j = 0; j < COLUMNS; j++) {
            x[i][j] = json_number_value(json_object_get(row, columns[j]));
        }
        while (strcmp(json_string_value(json_object_get(row, "class")), classes[y[i]]) != 0) {
            y[i]++;
        }
    }
}

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    read_iris();
    return 0;
}

static int close_daemon(void **state) {
    free(body);
    return group_end(state);
}

static const struct response *weights_of(const char *model) {
    const char *path = text("/v1/models/%s/weights", model);
    const struct response *a = call_get("%s", path);
    if (a->status != 200) {
        fail_msg("%s: %d %s", path, a->status, a->body);
    }
    return a;
}

static const struct response *scores_of(const char *model) {
    const struct response *a =
        status_check(call_text("POST", text("/v1/models/%s/predict?output=scores,label", model),
                               NULL, body),
                     200);
    return a;
}

/* The number at array[i], [i][j] or [i][j][k]; SIZE_MAX ends the path. */
static double item(const json_t *array, size_t i, size_t j, size_t k) {
    const json_t *value = json_array_get(array, i);
    value = j == SIZE_MAX ? value : json_array_get(value, j);
    value = k == SIZE_MAX ? value : json_array_get(value, k);
    assert_true(json_is_number(value));
    return json_number_value(value);
}
#define NO SIZE_MAX

static double score(const struct response *scores, size_t row, size_t k) {
    return item(json_object_get(json_array_get(json_find(scores->json, "/predictions"), row),
                                "scores"),
                k, NO, NO);
}

/* ---- linear ---- */

/* Scores equal w·x + w0; discriminants have ‖w‖ and −w0/‖w‖. */
static void expect_linear(const struct response *w, const char *model, size_t n) {
    const struct response *scores = scores_of(model);
    assert_string_equal(string_at(w, "/kind"), "linear");
    assert_int_equal(count_at(w, "/w"), n);
    assert_int_equal(count_at(w, "/w0"), n);
    assert_int_equal(count_at(w, "/discriminants"), n);
    for (size_t k = 0; k < n; k++) {
        const json_t *about = json_array_get(json_find(w->json, "/discriminants"), k);
        double length = 0;
        for (size_t j = 0; j < COLUMNS; j++) {
            length += pow(item(json_find(w->json, "/w"), k, j, NO), 2);
        }
        length = sqrt(length);
        assert_near(real_in(about, "/norm"), length, 1e-14 * length);
        assert_near(real_in(about, "/distance_from_origin") * length,
                    -item(json_find(w->json, "/w0"), k, NO, NO), 1e-12 * length);
        for (size_t i = 0; i < ROWS; i++) {
            double g = item(json_find(w->json, "/w0"), k, NO, NO), size = fabs(g);
            for (size_t j = 0; j < COLUMNS; j++) {
                g += item(json_find(w->json, "/w"), k, j, NO) * x[i][j];
                size += fabs(item(json_find(w->json, "/w"), k, j, NO) * x[i][j]);
            }
            assert_near(score(scores, i, k), g, 1e-13 * size);
        }
    }
}

static void test_decisions(void **state) {
    (void)state;
    static const struct {
        const char *params, *decision, *about[3];
        size_t n;
    } all[] = {
        {"", "native", {"[\"setosa\"]", "[\"versicolor\"]", "[\"virginica\"]"}, 3},
        {"\"multiclass\":\"one_vs_rest\"",
         "one_vs_rest",
         {"[\"setosa\"]", "[\"versicolor\"]", "[\"virginica\"]"},
         3},
        {"\"multiclass\":\"one_vs_rest_strict\"",
         "one_vs_rest_strict",
         {"[\"setosa\"]", "[\"versicolor\"]", "[\"virginica\"]"},
         3},
        {"\"multiclass\":\"one_vs_rest_strict\",\"discriminants\":\"K-1\"",
         "one_vs_rest_strict",
         {"[\"setosa\"]", "[\"versicolor\"]"},
         2},
        {"\"multiclass\":\"one_vs_one\"",
         "one_vs_one",
         {"[\"setosa\",\"versicolor\"]", "[\"setosa\",\"virginica\"]",
          "[\"versicolor\",\"virginica\"]"},
         3},
        {"\"multiclass\":\"one_vs_one_strict\"",
         "one_vs_one_strict",
         {"[\"setosa\",\"versicolor\"]", "[\"setosa\",\"virginica\"]",
          "[\"versicolor\",\"virginica\"]"},
         3},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        train_as("decision", "iris", "class", "logistic", all[i].params);
        const struct response *w = weights_of("decision");
        assert_string_equal(string_at(w, "/decision"), all[i].decision);
        expect_linear(w, "decision", all[i].n);
        for (size_t k = 0; k < all[i].n; k++) {
            const json_t *about = json_array_get(json_find(w->json, "/discriminants"), k);
            json_t *names = json_loads(all[i].about[k], 0, NULL);
            if (json_array_size(names) == 2) {
                assert_true(json_equal(json_object_get(about, "classes"), names));
                assert_true(
                    json_equal(json_object_get(about, "positive"), json_array_get(names, 1)));
                assert_null(json_object_get(about, "class"));
            } else {
                assert_true(json_equal(json_object_get(about, "class"), json_array_get(names, 0)));
                assert_null(json_object_get(about, "classes"));
            }
            json_decref(names);
        }
        if (all[i].n == 2) {
            assert_string_equal(string_at(w, "/unclaimed"), "virginica");
        } else {
            assert_false(has(w, "/unclaimed"));
        }
        assert_false(has(w, "/machines")); /* no further members */
    }
}

/* ---- gaussian ---- */

/* Maximum likelihood moments, in two passes. */
struct moments {
    double n, mean[COLUMNS], s[COLUMNS][COLUMNS];
};

static void moments_of(size_t k, struct moments *m) {
    *m = (struct moments){0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < ROWS; i++) {
            if (y[i] != k) {
                continue;
            }
            m->n += pass == 0;
            for (size_t j = 0; j < COLUMNS; j++) {
                m->mean[j] += pass == 0 ? x[i][j] : 0;
                for (size_t l = 0; l < COLUMNS; l++) {
                    m->s[j][l] += pass == 1 ? (x[i][j] - m->mean[j]) * (x[i][l] - m->mean[l]) : 0;
                }
            }
        }
        for (size_t j = 0; pass == 0 && j < COLUMNS; j++) {
            m->mean[j] /= m->n;
        }
    }
    for (size_t j = 0; j < COLUMNS * COLUMNS; j++) {
        m->s[j / COLUMNS][j % COLUMNS] /= m->n;
    }
}

static void expect_moments(const struct response *w, struct moments m[CLASSES]) {
    assert_int_equal(count_at(w, "/priors"), CLASSES);
    for (size_t k = 0; k < CLASSES; k++) {
        moments_of(k, &m[k]);
        assert_near(item(json_find(w->json, "/priors"), k, NO, NO), m[k].n / ROWS, 1e-15);
        for (size_t j = 0; j < COLUMNS; j++) {
            assert_near(item(json_find(w->json, "/means"), k, j, NO), m[k].mean[j], 1e-12);
        }
    }
}

/* xᵀWx + w·x + w0 of each class. */
static void expect_quadratic(const struct response *w, const char *model, bool diagonal) {
    const struct response *scores = scores_of(model);
    assert_string_equal(string_at(w, "/kind"), "gaussian");
    assert_false(has(w, "/discriminants"));
    for (size_t k = 0; k < CLASSES; k++) {
        for (size_t i = 0; i < ROWS; i++) {
            double g = item(json_find(w->json, "/w0"), k, NO, NO), size = fabs(g);
            for (size_t j = 0; j < COLUMNS; j++) {
                double row = item(json_find(w->json, "/w"), k, j, NO);
                for (size_t l = 0; !diagonal && l < COLUMNS; l++) {
                    row += item(json_array_get(json_find(w->json, "/W"), k), j, l, NO) * x[i][l];
                }
                row += diagonal ? item(json_find(w->json, "/W"), k, j, NO) * x[i][j] : 0;
                g += row * x[i][j];
                size += fabs(row * x[i][j]);
            }
            assert_near(score(scores, i, k), g, 1e-11 * size);
        }
    }
}

static void test_full_covariances(void **state) {
    (void)state;
    struct moments m[CLASSES];
    train_as("full", "iris", "class", "gaussian", "\"covariance\":\"full\"");
    const struct response *w = weights_of("full");
    assert_string_equal(string_at(w, "/covariance"), "full");
    expect_moments(w, m);
    assert_int_equal(count_at(w, "/covariances"), CLASSES);
    for (size_t k = 0; k < CLASSES; k++) {
        const json_t *s = json_array_get(json_find(w->json, "/covariances"), k),
                     *W = json_array_get(json_find(w->json, "/W"), k);
        for (size_t i = 0; i < COLUMNS; i++) {
            for (size_t j = 0; j < COLUMNS; j++) {
                double product = 0; /* W·Σ has −½ on its diagonal */
                for (size_t l = 0; l < COLUMNS; l++) {
                    product += item(W, i, l, NO) * m[k].s[l][j];
                }
                assert_near(item(s, i, j, NO), m[k].s[i][j], 1e-10);
                assert_near(product, i == j ? -0.5 : 0, 1e-8);
            }
        }
    }
    expect_quadratic(w, "full", false);
    /* without the members that grow with the square of the columns */
    w = status_check(call_get("/v1/models/full/weights?matrices=false"), 200);
    expect_moments(w, m);
    assert_false(has(w, "/covariances"));
    assert_false(has(w, "/W"));
    assert_int_equal(count_at(w, "/w"), CLASSES);
    problem_check(call_get("/v1/models/full/weights?matrices=no"), 400, "bad-request");
}

static void test_diagonal_covariances(void **state) {
    (void)state;
    struct moments m[CLASSES];
    train_as("diagonal", "iris", "class", "gaussian", "\"covariance\":\"diagonal\"");
    const struct response *w = weights_of("diagonal");
    expect_moments(w, m);
    for (size_t k = 0; k < CLASSES; k++) {
        double log_det = 0;
        for (size_t j = 0; j < COLUMNS; j++) {
            assert_near(item(json_find(w->json, "/covariances"), k, j, NO), m[k].s[j][j], 1e-12);
            assert_near(item(json_find(w->json, "/W"), k, j, NO) * m[k].s[j][j], -0.5, 1e-10);
            log_det += log(m[k].s[j][j]);
        }
        assert_near(item(json_find(w->json, "/log_determinants"), k, NO, NO), log_det, 1e-10);
    }
    expect_quadratic(w, "diagonal", true);
}

/* A shared covariance: linear discriminants and the densities. */
static void test_shared_covariance(void **state) {
    (void)state;
    struct moments m[CLASSES];
    train_as("shared", "iris", "class", "gaussian", "\"covariance\":\"shared\"");
    const struct response *w = weights_of("shared");
    expect_linear(w, "shared", CLASSES);
    expect_moments(w, m);
    assert_string_equal(string_at(w, "/covariance"), "shared");
    assert_int_equal(count_at(w, "/covariances"), 1);
    assert_int_equal(count_at(w, "/log_determinants"), 1);
    assert_false(has(w, "/W"));
    for (size_t j = 0; j < COLUMNS; j++) {
        for (size_t l = 0; l < COLUMNS; l++) {
            double pooled = 0;
            for (size_t k = 0; k < CLASSES; k++) {
                pooled += m[k].s[j][l] * m[k].n / ROWS;
            }
            assert_near(item(json_array_get(json_find(w->json, "/covariances"), 0), j, l, NO),
                        pooled, 1e-12);
        }
    }
}

/* Several machines: each has its own densities. */
static void test_densities_of_pairs(void **state) {
    (void)state;
    struct moments m[CLASSES];
    train_as("pairs", "iris", "class", "gaussian",
             "\"covariance\":\"full\",\"multiclass\":\"one_vs_one\"");
    const struct response *w = weights_of("pairs");
    assert_string_equal(string_at(w, "/kind"), "gaussian");
    assert_string_equal(string_at(w, "/decision"), "one_vs_one");
    assert_false(has(w, "/means"));
    assert_int_equal(count_at(w, "/machines"), 3);
    assert_string_equal(string_at(w, "/machines/1/classes/0"), "setosa");
    assert_string_equal(string_at(w, "/machines/1/classes/1"), "virginica");
    for (size_t k = 0; k < CLASSES; k++) {
        moments_of(k, &m[k]);
    }
    for (size_t j = 0; j < COLUMNS; j++) {
        assert_near(item(json_find(w->json, "/machines/1/means"), 0, j, NO), m[0].mean[j], 1e-12);
        assert_near(item(json_find(w->json, "/machines/1/means"), 1, j, NO), m[2].mean[j], 1e-12);
        assert_near(item(json_array_get(json_find(w->json, "/machines/2/covariances"), 0), j, j,
                         NO),
                    m[1].s[j][j], 1e-10);
    }
}

/* Twice as many numbers as an answer may hold. */
static void test_too_many_numbers(void **state) {
    (void)state;
    enum { WIDE = 1100, LINES = 40 };
    char *text = malloc((size_t)WIDE * (LINES + 1) * 8), *at_end = text;
    assert_non_null(text);
    for (int j = 0; j < WIDE; j++) {
        at_end += sprintf(at_end, "c%d,", j);
    }
    at_end += sprintf(at_end, "y\n");
    for (int i = 0; i < LINES; i++) {
        for (int j = 0; j < WIDE; j++) {
            at_end += sprintf(at_end, "%d,", (i * i * (j + 3) + 7 * j * i + j) % 101);
        }
        at_end += sprintf(at_end, "%c\n", 'a' + i % 2);
    }
    status_check(call_upload("/v1/datasets/wide", text), 201);
    train_as("wide", "wide", "y", "gaussian", "\"covariance\":\"full\",\"shrinkage\":0.5");
    const struct response *a = status_check(call_get("/v1/models/wide/weights"), 413);
    assert_string_equal(string_at(a, "/type"), "/problems/answer-too-long");
    assert_non_null(strstr(string_at(a, "/detail"), "matrices=false"));
    a = status_check(call_get("/v1/models/wide/weights?matrices=false"), 200);
    assert_int_equal(count_at(a, "/w/1"), WIDE);
    free(text);
}

/* ---- naive Bayes ---- */

static void test_factors(void **state) {
    (void)state;
    struct moments m[CLASSES];
    train_as("bayes", "iris", "class", "naive_bayes", "");
    const struct response *w = weights_of("bayes");
    assert_string_equal(string_at(w, "/kind"), "naive_bayes");
    assert_int_equal(count_at(w, "/factors"), COLUMNS);
    for (size_t k = 0; k < CLASSES; k++) {
        moments_of(k, &m[k]);
        for (size_t j = 0; j < COLUMNS; j++) {
            const json_t *factor = json_array_get(json_find(w->json, "/factors"), j);
            assert_string_equal(string_in(factor, "/feature"), columns[j]);
            assert_string_equal(string_in(factor, "/distribution"), "gaussian");
            assert_near(item(json_object_get(factor, "mean"), k, NO, NO), m[k].mean[j], 1e-12);
            assert_near(item(json_object_get(factor, "variance"), k, NO, NO), m[k].s[j][j], 1e-12);
        }
    }
}

/* Levels, one of them the missing level, and booleans: shares with one added to each count. */
static void test_factors_of_categories(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/fruit?types=ripe:boolean",
                             "colour,ripe,kind\nred,true,a\nred,false,a\ngreen,true,a\n,true,"
                             "b\ngreen,false,b\ngreen,false,b\ngreen,true,b\n"),
                 201);
    train_as("fruit", "fruit", "kind", "naive_bayes", "\"smoothing\":1");
    const struct response *w = weights_of("fruit");
    const json_t *colour = json_find(w->json, "/factors/0"),
                 *ripe = json_find(w->json, "/factors/1");
    assert_int_equal(count_at(w, "/features"), 4);
    assert_int_equal(count_at(w, "/factors"), 2);
    assert_string_equal(string_in(colour, "/column"), "colour");
    assert_string_equal(string_in(colour, "/distribution"), "categorical");
    assert_string_equal(string_in(colour, "/levels/0/level"), "green");
    assert_string_equal(string_in(colour, "/levels/1/level"), "red");
    assert_true(json_is_null(json_find(colour, "/levels/2/level")));
    assert_near(real_in(colour, "/levels/0/probability/0"), 2.0 / 6, 1e-12);
    assert_near(real_in(colour, "/levels/0/probability/1"), 4.0 / 7, 1e-12);
    assert_near(real_in(colour, "/levels/1/probability/0"), 3.0 / 6, 1e-12);
    assert_near(real_in(colour, "/levels/1/probability/1"), 1.0 / 7, 1e-12);
    assert_near(real_in(colour, "/levels/2/probability/1"), 2.0 / 7, 1e-12);
    assert_string_equal(string_in(ripe, "/feature"), "ripe");
    assert_string_equal(string_in(ripe, "/distribution"), "bernoulli");
    assert_near(real_in(ripe, "/probability/0"), 3.0 / 5, 1e-12);
    assert_near(real_in(ripe, "/probability/1"), 3.0 / 6, 1e-12);
    assert_near(real_at(w, "/priors/0"), 3.0 / 7, 1e-15);
}

/* ---- directions ---- */

static void test_directions(void **state) {
    (void)state;
    train_as("fisher", "iris", "class", "fisher", "");
    const struct response *w = weights_of("fisher");
    expect_linear(w, "fisher", CLASSES);
    assert_int_equal(count_at(w, "/directions"), 2);
    for (size_t c = 0; c < 2; c++) { /* unit vectors, the largest component positive */
        double length = 0, largest = 0;
        for (size_t j = 0; j < COLUMNS; j++) {
            const double v = item(json_find(w->json, "/directions"), c, j, NO);
            length += v * v;
            largest = fabs(v) > fabs(largest) ? v : largest;
        }
        assert_near(length, 1, 1e-12);
        assert_true(largest > 0);
    }
}

/* ---- names and tags ---- */

/* The weights of derived features have the features' names. */
static void test_names_of_derived_features(void **state) {
    (void)state;
    job_train("{'model':'squares','dataset':'iris','target':'class',"
              "'algorithm':'logistic','features':"
              "{'include':['petal_length','petal_width'],'basis':[{'type':"
              "'polynomial','degree':2}]}}");
    static const char *const names[] = {"petal_length", "petal_width", "petal_length^2",
                                        "petal_length*petal_width", "petal_width^2"};
    const struct response *w = weights_of("squares");
    const json_t *features = json_find(w->json, "/features");
    assert_int_equal(json_array_size(features), 5);
    assert_int_equal(count_at(w, "/w/0"), 5);
    for (size_t i = 0; i < 5; i++) {
        size_t n = 0;
        for (size_t j = 0; j < 5; j++) {
            n += strcmp(json_string_value(json_array_get(features, j)), names[i]) == 0;
        }
        if (n != 1) {
            fail_msg("%zu features are called %s", n, names[i]);
        }
    }
    /* the contributions are those of the same features, and sum up to the score */
    const struct response *a = status_check(
        call_get(
            "/v1/models/squares/predict?petal_length=3&petal_width=2&output=contributions,scores"),
        200);
    assert_true(json_equal(json_find(a->json, "/features"), features));
    for (size_t k = 0; k < CLASSES; k++) {
        double sum = item(json_find(a->json, "/intercept"), k, NO, NO), size = fabs(sum);
        for (size_t j = 0; j < 5; j++) {
            sum += item(json_find(a->json, "/predictions/0/contributions"), k, j, NO);
            size += fabs(item(json_find(a->json, "/predictions/0/contributions"), k, j, NO));
        }
        assert_near(score(a, 0, k), sum, 1e-12 * size);
    }
}

static void test_tags(void **state) {
    (void)state;
    static const char *const paths[] = {"/v1/models/full/weights",
                                        "/v1/models/full/weights?matrices=false",
                                        "/v1/models/bayes/weights", "/v1/models/fisher/weights"};
    char tag[4][80];
    for (size_t i = 0; i < 4; i++) {
        const struct response *a = call_get("%s", paths[i]);
        snprintf(tag[i], sizeof tag[i], "%s", header_of(a, "ETag"));
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(tag[i], tag[j]);
        }
        status_check(call_get_with(text("If-None-Match: %s", tag[i]), "%s", paths[i]), 304);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_decisions),
        TEST(test_full_covariances),
        TEST(test_diagonal_covariances),
        TEST(test_shared_covariance),
        TEST(test_densities_of_pairs),
        TEST(test_too_many_numbers),
        TEST(test_factors),
        TEST(test_factors_of_categories),
        TEST(test_directions),
        TEST(test_names_of_derived_features),
        TEST(test_tags),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
