/* Contributions of features to a score, and the distance of a row from the boundary, recomputed
 * from weights and scores. */

#include "outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of feature j of instance i of the body. */
static double value_of(const json_t *body, size_t i, size_t j, const json_t *features) {
    const json_t *row = json_array_get(json_object_get(body, "instances"), i);
    return json_is_array(row)
               ? item(row, j)
               : json_number_value(
                     json_object_get(row, json_string_value(json_array_get(features, j))));
}

/* ---- contributions ---- */

/* Each contribution is weight times value. */
static void expect_products(const struct response *a, const struct response *weights,
                            const char *body) {
    json_t *asked = json_loads(body, 0, NULL);
    const json_t *features = json_find(a->json, "/features");
    assert_true(json_equal(features, json_find(weights->json, "/features")));
    assert_true(json_equal(json_find(a->json, "/intercept"), json_find(weights->json, "/w0")));
    for (size_t i = 0; i < count_at(a, "/predictions"); i++) {
        const json_t *parts = json_object_get(row_of(a, i), "contributions");
        for (size_t k = 0; k < json_array_size(parts); k++) {
            for (size_t j = 0; j < json_array_size(features); j++) {
                const double w = item(json_array_get(json_find(weights->json, "/w"), k), j);
                assert_near(item(json_array_get(parts, k), j), w * value_of(asked, i, j, features),
                            0);
            }
        }
    }
    json_decref(asked);
}

static void test_contributions(void **state) {
    (void)state;
    static const char *const models[] = {"softmax",     "rest",
                                         "rest_strict", "rest_strict_less",
                                         "pairs",       "pairs_strict",
                                         "iris"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const char *body = strcmp(models[i], "iris") == 0 ? flowers : grid;
        const struct response *a = predict(models[i], "contributions,scores", body),
                              *w = weights_of(models[i]);
        assert_int_equal(count_at(a, "/predictions"), body == grid ? n_grid : n_flowers);
        assert_int_equal(json_object_size(row_of(a, 0)), 2);
        expect_sums(a);
        expect_products(a, w, body);
    }
}

/* A category contributes by its level's feature; a missing value contributes by its replacement. */
static void test_contributions_of_categories(void **state) {
    (void)state;
    static const char *const models[] = {"mixed", "mixed_bayes"};
    for (size_t i = 0; i < 2; i++) {
        const struct response *a =
            predict(models[i], "contributions,scores",
                    "{\"instances\":[[1,\"red\"],[null,\"blue\"],[3,null],[3,\"violet\"]]}");
        assert_int_equal(count_at(a, "/predictions/0/contributions"), 1);
        expect_sums(a);
        assert_string_equal(string_at(a, "/features/1"), "colour=blue");
        assert_string_equal(string_at(a, "/features/2"), "colour=red");
        assert_true(real_at(a, "/predictions/0/contributions/0/1") == 0); /* it is not blue */
        assert_true(real_at(a, "/predictions/0/contributions/0/2") != 0);
        /* "violet" is not a level */
        assert_true(real_at(a, "/predictions/3/contributions/0/1") == 0);
        assert_true(real_at(a, "/predictions/3/contributions/0/2") == 0);
    }
}

/* ---- differences from the mean row, and the largest ---- */

static double number_in(const json_t *row, const char *name, size_t k) {
    return item(json_object_get(row, name), k);
}

/* The contributions of the mean row are the same for all rows; they and the intercept sum up to
 * the other intercept. Returns the part of feature j in score k. */
static double baseline_of(const struct response *plain, const struct response *mean, size_t i,
                          size_t k, size_t j) {
    const json_t *a = json_array_get(json_object_get(row_of(plain, i), "contributions"), k),
                 *b = json_array_get(json_object_get(row_of(mean, i), "contributions"), k);
    return item(a, j) - item(b, j);
}

static void test_differences_from_the_mean(void **state) {
    (void)state;
    static const char *const models[] = {"iris", "pairs", "mixed", "mixed_bayes"};
    static const char mixed_rows[] =
        "{\"instances\":[[1,\"red\"],[null,\"blue\"],[3,null],[3,\"violet\"]]}";
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        const char *body = m == 0 ? flowers : m == 1 ? grid : mixed_rows;
        const struct response *plain = predict(models[m], "contributions,scores", body),
                              *mean =
                                  predict(models[m], "contributions,scores&baseline=mean", body);
        const size_t n_features = count_at(plain, "/features"),
                     n_scores = count_at(plain, "/intercept");
        assert_string_equal(string_at(mean, "/baseline"), "mean");
        assert_false(has(plain, "/baseline"));
        expect_sums(mean);
        for (size_t k = 0; k < n_scores; k++) {
            double sum = item(value_at(plain, "/intercept"), k);
            for (size_t j = 0; j < n_features; j++) {
                const double first = baseline_of(plain, mean, 0, k, j);
                sum += first;
                for (size_t i = 1; i < count_at(plain, "/predictions"); i++) {
                    assert_near(baseline_of(plain, mean, i, k, j), first,
                                1e-12 * (1 + fabs(first)));
                }
            }
            assert_near(item(value_at(mean, "/intercept"), k), sum, 1e-11 * (1 + fabs(sum)));
        }
    }
    /* linear: w_j (x_j − mean_j) with the means of the dataset */
    const struct response *weights = weights_of("iris"),
                          *mean = predict("iris", "contributions&baseline=mean", flowers),
                          *plain = predict("iris", "contributions", flowers);
    for (size_t j = 0; j < 4; j++) {
        double sum = 0;
        json_t *body = json_loads(flowers, 0, NULL);
        for (size_t i = 0; i < n_flowers; i++) {
            sum += value_of(body, i, j, value_at(mean, "/features"));
        }
        json_decref(body);
        for (size_t k = 0; k < 3; k++) {
            const double w = item(json_array_get(value_at(weights, "/w"), k), j);
            assert_near(baseline_of(plain, mean, 7, k, j), w * sum / (double)n_flowers, 1e-12);
        }
    }
}

static void test_the_largest(void **state) {
    (void)state;
    const struct response *all = predict("iris", "contributions,scores&baseline=mean", flowers),
                          *two =
                              predict("iris", "contributions,scores&baseline=mean&top=2", flowers);
    assert_false(has(two, "/features"));
    assert_true(json_equal(value_at(all, "/intercept"), value_at(two, "/intercept")));
    for (size_t i = 0; i < n_flowers; i++) {
        for (size_t k = 0; k < 3; k++) {
            const json_t *full =
                             json_array_get(json_object_get(row_of(all, i), "contributions"), k),
                         *top = json_array_get(json_object_get(row_of(two, i), "contributions"), k);
            double sum =
                item(value_at(two, "/intercept"), k) + number_in(row_of(two, i), "rest", k);
            assert_int_equal(json_array_size(top), 2);
            for (size_t t = 0; t < 2; t++) {
                const char *name = string_in(json_array_get(top, t), "/feature");
                const double value = real_in(json_array_get(top, t), "/value");
                size_t larger = 0, equal = 0;
                for (size_t j = 0; j < 4; j++) {
                    larger += fabs(item(full, j)) > fabs(value);
                    equal +=
                        strcmp(json_string_value(json_array_get(value_at(all, "/features"), j)),
                               name) == 0 &&
                        item(full, j) == value;
                }
                assert_int_equal(larger, t);
                assert_int_equal(equal, 1);
                sum += value;
            }
            assert_near(sum, number_in(row_of(two, i), "scores", k), 1e-12 * (1 + fabs(sum)));
        }
    }
    /* more than there are; one score */
    const struct response *one =
        predict("mixed", "contributions&top=1000", "{\"instances\":[[1,\"red\"]]}");
    assert_int_equal(count_at(one, "/predictions/0/contributions/0"),
                     count_at(predict("mixed", "contributions", "{\"instances\":[[1,\"red\"]]}"),
                              "/features"));
    assert_true(number_in(row_of(one, 0), "rest", 0) == 0);
}

static const struct response *post(const char *query, const char *type, const char *accept,
                                   const char *body) {
    return call(&(struct request){.method = "POST",
                                  .path = text("/v1/models/mixed/predict?output=%s", query),
                                  .headers = HEADERS(type, accept),
                                  .body = body});
}

static void test_the_largest_in_other_formats(void **state) {
    (void)state;
    const char *const json = "Content-Type: application/json", *const csv = "Accept: text/csv",
                      *const lines = "Content-Type: application/x-ndjson",
                      *const body = "{\"instances\":[[1,\"red\"]]}";
    const struct response *a =
        status_check(post("contributions&top=1", json, "Accept: application/json", body), 200);
    const char *feature = string_at(a, "/predictions/0/contributions/0/0/feature");
    const char *value = json_dumps(value_at(a, "/predictions/0/contributions/0/0/value"),
                                   JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    const struct response *c = status_check(post("contributions&top=1", json, csv, body), 200);
    const char *second = strchr(c->body, '\n');
    assert_true(strncmp(c->body, "feature1,contribution1,rest\n", 28) == 0);
    assert_non_null(second);
    assert_true(strncmp(second + 1, feature, strlen(feature)) == 0);
    assert_close(strtod(second + 1 + strlen(feature) + 1, NULL), strtod(value, NULL), 1e-15);
    free((char *)(uintptr_t)value);
    const struct response *l = status_check(post("contributions&top=1", lines,
                                                 "Accept: application/x-ndjson", "[1,\"red\"]\n"),
                                            200);
    json_t *line = json_loads(l->body, 0, NULL);
    assert_true(
        json_equal(json_find(line, "/contributions"), value_at(a, "/predictions/0/contributions")));
    assert_true(json_equal(json_find(line, "/rest"), value_at(a, "/predictions/0/rest")));
    json_decref(line);
}

static void test_wrong_explanations(void **state) {
    (void)state;
    static const char *const wrong[] = {"contributions&top=0",     "contributions&top=1001",
                                        "contributions&top=x",     "contributions&baseline=zero",
                                        "contributions&baseline=", "scores&top=3",
                                        "scores&baseline=mean",    "contributions&top=1&top=2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        problem_check(post(wrong[i], "Content-Type: application/json", "Accept: application/json",
                           "{\"instances\":[[1,\"red\"]]}"),
                      400, "bad-request");
        problem_check(post(wrong[i], "Content-Type: application/x-ndjson",
                           "Accept: application/x-ndjson", "[1,\"red\"]\n"),
                      400, "bad-request");
    }
}

/* A sparse instance is short, but the answer has one number for each feature. */
static void test_too_many_contributions(void **state) {
    (void)state;
    const struct response *w = weights_of("cancer");
    const size_t n_features = count_at(w, "/features"), rows = 4 * 1024 * 1024 / n_features + 1;
    char *body = malloc(n_features * 2 + rows * 4 + 64);
    assert_non_null(body);
    size_t n = (size_t)sprintf(body, "{\"instances\":[[0");
    for (size_t j = 1; j < n_features; j++) {
        n += (size_t)sprintf(body + n, ",0");
    }
    n += (size_t)sprintf(body + n, "]");
    for (size_t i = 1; i < rows; i++) {
        n += (size_t)sprintf(body + n, ",{}");
    }
    n += (size_t)sprintf(body + n, "]}");
    const struct response *a =
        call_bytes("POST", "/v1/models/cancer/predict?output=contributions", NULL, body, n);
    status_check(a, 413);
    assert_string_equal(string_at(a, "/type"), "/problems/answer-too-long");
    assert_non_null(strstr(string_at(a, "/detail"), "contributions"));
    status_check(call_bytes("POST", "/v1/models/cancer/predict?output=distance", NULL, body, n),
                 200);
    free(body);
}

/* ---- distance ---- */

static double length_of(const json_t *v, const json_t *minus) {
    double sum = 0;
    for (size_t j = 0; j < json_array_size(v); j++) {
        sum += pow(item(v, j) - (minus ? item(minus, j) : 0), 2);
    }
    return sqrt(sum);
}

static void test_distance_of_two_classes(void **state) {
    (void)state;
    const struct response *rows = call_get("/v1/datasets/breast_cancer/rows?limit=1000"),
                          *w = weights_of("cancer");
    json_t *body = json_pack("{sO}", "instances", json_find(rows->json, "/items"));
    char *text = json_dumps(body, JSON_COMPACT);
    const struct response *a = predict("cancer", "distance,scores,label", text);
    const double length = length_of(json_find(w->json, "/w/0"), NULL);
    size_t positive = 0;
    for (size_t i = 0; i < count_at(a, "/predictions"); i++) {
        const double distance = json_number_value(json_object_get(row_of(a, i), "distance"));
        assert_near(distance, item(json_object_get(row_of(a, i), "scores"), 0) / length,
                    1e-13 * fabs(distance));
        assert_int_equal(class_of(a, json_object_get(row_of(a, i), "label")), distance > 0);
        positive += distance > 0;
    }
    assert_true(positive > 100 && positive < 300);
    json_decref(body);
    free(text);
}

static void test_distance_of_many_classes(void **state) {
    (void)state;
    static const char *const models[] = {"softmax", "rest"};
    for (size_t m = 0; m < 2; m++) {
        const struct response *a = predict(models[m], "distance,scores,label", grid),
                              *w = weights_of(models[m]);
        for (size_t i = 0; i < n_grid; i++) {
            const json_t *scores = json_object_get(row_of(a, i), "scores");
            const size_t best = class_of(a, json_object_get(row_of(a, i), "label"));
            double least = (double)INFINITY;
            for (size_t k = 0; k < 3; k++) {
                assert_true(item(scores, k) <= item(scores, best));
                if (k != best) {
                    least =
                        fmin(least, (item(scores, best) - item(scores, k)) /
                                        length_of(json_array_get(json_find(w->json, "/w"), best),
                                                  json_array_get(json_find(w->json, "/w"), k)));
                }
            }
            assert_near(json_number_value(json_object_get(row_of(a, i), "distance")), least,
                        1e-12 * least);
        }
    }
}

/* With votes, or rules by which machines claim classes, there is no single decision surface. */
static void test_no_distance(void **state) {
    (void)state;
    static const char *const models[] = {"pairs", "pairs_strict", "rest_strict",
                                         "rest_strict_less"};
    for (size_t m = 0; m < 4; m++) {
        const struct response *a = predict(models[m], "distance", grid);
        for (size_t i = 0; i < n_grid; i++) {
            assert_true(json_is_null(json_object_get(row_of(a, i), "distance")));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_contributions),
        TEST(test_contributions_of_categories),
        TEST(test_differences_from_the_mean),
        TEST(test_the_largest),
        TEST(test_the_largest_in_other_formats),
        TEST(test_wrong_explanations),
        TEST(test_too_many_contributions),
        TEST(test_distance_of_two_classes),
        TEST(test_distance_of_many_classes),
        TEST(test_no_distance),
    };
    return cmocka_run_group_tests(tests, outputs_open, outputs_close);
}
