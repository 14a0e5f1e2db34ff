/* POST …/transform: rows in discriminant coordinates, and the methods without them. */
#include "lib/api.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRANSFORM "/v1/models/fisher/transform"

static json_t *rows; /* of iris */
static char *body;

static void train_as(const char *model, const char *algorithm, const char *params) {
    job_train("{'model':'%s','dataset':'iris','target':'class','algorithm':'%s','params':{%s}}",
              model, algorithm, params);
}

static int open_daemon(void **state) {
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    train_as("fisher", "fisher", "");
    train_as("one", "fisher", "\"components\":1");
    train_as("logistic", "logistic", "");
    train_as("pairs", "fisher", "\"multiclass\":\"one_vs_one\"");
    const struct response *a = call_get("/v1/datasets/iris/rows?limit=1000");
    rows = json_incref(json_find(a->json, "/items"));
    json_t *asked = json_pack("{sO}", "instances", rows);
    body = json_dumps(asked, JSON_COMPACT);
    json_decref(asked);
    return 0;
}

static int close_daemon(void **state) {
    free(body);
    json_decref(rows);
    return group_end(state);
}

static double item(const json_t *matrix, size_t i, size_t j) {
    const json_t *value = json_array_get(json_array_get(matrix, i), j);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* Each coordinate is the product of the row and a direction. */
static void test_coordinates(void **state) {
    (void)state;
    const struct response *a = call_text("POST", TRANSFORM, NULL, body),
                          *w = call_get("/v1/models/fisher/weights");
    status_check(a, 200);
    assert_string_equal(header_of(a, "Cache-Control"), "no-store");
    assert_string_equal(string_at(a, "/model"), "fisher");
    assert_int_equal(real_at(a, "/version"), 1);
    assert_int_equal(real_at(a, "/components"), 2);
    assert_int_equal(count_at(a, "/rows"), 150);
    for (size_t i = 0; i < 150; i++) {
        assert_int_equal(json_array_size(json_array_get(json_find(a->json, "/rows"), i)), 2);
        for (size_t c = 0; c < 2; c++) {
            double sum = 0, size = 0;
            for (size_t j = 0; j < 4; j++) {
                const char *name =
                    json_string_value(json_array_get(json_find(w->json, "/features"), j));
                const double x = json_number_value(json_object_get(json_array_get(rows, i), name));
                sum += item(json_find(w->json, "/directions"), c, j) * x;
                size += fabs(item(json_find(w->json, "/directions"), c, j) * x);
            }
            assert_near(item(json_find(a->json, "/rows"), i, c), sum, 1e-14 * size);
        }
    }
}

/* The ratio of the variance between classes to that within classes is larger on the first axis than
 * on the second. */
static void test_the_first_axis_is_the_best(void **state) {
    (void)state;
    const struct response *a = call_text("POST", TRANSFORM, NULL, body);
    double ratio[2];
    for (size_t c = 0; c < 2; c++) {
        double between = 0, within = 0, mean = 0;
        for (size_t i = 0; i < 150; i++) {
            mean += item(json_find(a->json, "/rows"), i, c) / 150;
        }
        /* the rows are fifty of each class, in order of the classes */
        for (size_t k = 0; k < 3; k++) {
            double own = 0;
            for (size_t i = 50 * k; i < 50 * (k + 1); i++) {
                own += item(json_find(a->json, "/rows"), i, c) / 50;
            }
            for (size_t i = 50 * k; i < 50 * (k + 1); i++) {
                within += pow(item(json_find(a->json, "/rows"), i, c) - own, 2);
            }
            between += 50 * (own - mean) * (own - mean);
        }
        ratio[c] = between / within;
    }
    assert_true(ratio[0] > 30 && ratio[1] < 1);
}

static void test_every_way_gives_the_same(void **state) {
    (void)state;
    const struct response *a =
        call_text("POST", TRANSFORM, NULL, "{\"instances\":[[5.1,3.5,1.4,0.2]]}");
    status_check(a, 200);
    const struct response *others[] = {
        call_json("POST", "/v1/models/fisher/versions/1/transform",
                  "{'instances':[[5.1,3.5,1.4,0.2]]}"),
        call_text("POST", TRANSFORM, NULL,
                  "{\"instances\":[{\"petal_width\":0.2,\"sepal_length\":5.1,\"petal_length\":1.4,"
                  "\"sepal_width\":3.5}]}"),
        call_text("POST", TRANSFORM, "Content-Type: text/csv", "5.1,3.5,1.4,0.2\n"),
        call_text("POST", TRANSFORM, NULL,
                  "petal_width,petal_length,sepal_width,sepal_length\n0.2,1.4,3.5,5.1\n"),
    };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(others[i]->status, 200);
        assert_true(json_equal(a->json, others[i]->json));
    }
    a = call_json("POST", "/v1/models/one/transform",
                  "{'instances':[[5.1,3.5,1.4,0.2],[5.9,3.0,5.1,1.8]]}");
    assert_int_equal(real_at(a, "/components"), 1);
    assert_int_equal(count_at(a, "/rows"), 2);
    assert_int_equal(count_at(a, "/rows/1"), 1);
}

static void test_models_without_directions(void **state) {
    (void)state;
    const struct response *a =
        status_check(call_text("POST", "/v1/models/logistic/transform", NULL, body), 409);
    assert_non_null(strstr(string_at(a, "/detail"), "\"logistic\""));
    problem_check(a, 409, "conflict");
    problem_check(call_text("POST", "/v1/models/pairs/transform", NULL, body), 409,
                  "conflict"); /* each pair has its own coordinates */
}

static void test_bad_calls(void **state) {
    (void)state;
    problem_check(call_text("POST", "/v1/models/nobody/transform", NULL, body), 404,
                  "unknown-model");
    problem_check(call_text("POST", "/v1/models/fisher/versions/9/transform", NULL, body), 404,
                  "unknown-model");
    fault_contains(problem_check(call_text("POST", TRANSFORM, NULL, "{\"instances\":[[1,2,3]]}"),
                                 422, "invalid-instances"),
                   "/instances/0", "expected 4");
    fault_contains(problem_check(call_text("POST", TRANSFORM, NULL,
                                           "{\"instances\":[[1,2,3,\"x\"]]}"),
                                 422, "invalid-instances"),
                   "/instances/0/3", "number");
    problem_check(call_text("POST", TRANSFORM, NULL, "{\"instances\":[]}"), 422,
                  "invalid-instances");
    problem_check(call_text("POST", TRANSFORM "?output=label", NULL, body), 400, "bad-request");
    problem_check(call_text("POST", TRANSFORM, "Content-Type: text/html", "1,2,3,4\n"), 415,
                  "unsupported-media-type");
    problem_check(call_get(TRANSFORM), 405, "method-not-allowed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_coordinates),
        TEST(test_the_first_axis_is_the_best),
        TEST(test_every_way_gives_the_same),
        TEST(test_models_without_directions),
        TEST(test_bad_calls),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
