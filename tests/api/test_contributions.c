/* What the features contribute to a score, and how far a row is from the boundary: recomputed from
 * weights and scores. */

#include "outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of column j of instance i of a body. */
static double value_of(const json_t *body, size_t i, size_t j, const json_t *features) {
    const json_t *row = json_array_get(json_object_get(body, "instances"), i);
    return json_is_array(row)
               ? item(row, j)
               : json_number_value(
                     json_object_get(row, json_string_value(json_array_get(features, j))));
}

/* ---- contributions ---- */

/* Each is weight times value. */
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

/* A category is one part of those of its column's; what is missing brings what stands for it. */
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
        assert_true(real_at(a, "/predictions/3/contributions/0/1") == 0); /* violet is nothing */
        assert_true(real_at(a, "/predictions/3/contributions/0/2") == 0);
    }
}

/* A short row asks for a number of each feature. */
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

/* By votes, or where a rule claims one class at a time, there is no one surface. */
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
        TEST(test_too_many_contributions),
        TEST(test_distance_of_two_classes),
        TEST(test_distance_of_many_classes),
        TEST(test_no_distance),
    };
    return cmocka_run_group_tests(tests, outputs_open, outputs_close);
}
