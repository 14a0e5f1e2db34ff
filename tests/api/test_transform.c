/* POST …/transform: rows in discriminant coordinates, and who has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRANSFORM "/v1/models/fisher/transform"

static struct daemon d;
static json_t *rows; /* of iris */
static char *body;

static void train_as(const char *model, const char *algorithm, const char *params) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"model\":\"%s\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"%"
                   "s\",\"params\":{%s}}",
                   model, algorithm, params);
    json_decref(train(&d, text, "succeeded"));
}

static int open_daemon(void **state) {
    (void)state;
    daemon_open(&d, NULL);
    upload(&d, "iris");
    train_as("fisher", "fisher", "");
    train_as("one", "fisher", "\"components\":1");
    train_as("logistic", "logistic", "");
    train_as("pairs", "fisher", "\"multiclass\":\"one_vs_one\"");
    struct answer a = get(&d, "/v1/datasets/iris/rows?limit=1000");
    rows = json_incref(at(a.json, "items"));
    json_t *asked = json_pack("{sO}", "instances", rows);
    body = json_dumps(asked, JSON_COMPACT);
    json_decref(asked);
    answer_done(&a);
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    free(body);
    json_decref(rows);
    daemon_close(&d);
    return 0;
}

static double item(const json_t *matrix, size_t i, size_t j) {
    const json_t *value = json_array_get(json_array_get(matrix, i), j);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* Each coordinate is the product of the row and a direction. */
static void test_coordinates(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", TRANSFORM, body),
                  w = get(&d, "/v1/models/fisher/weights");
    assert_int_equal(a.status, 200);
    assert_string_equal(answer_header(&a, "Cache-Control"), "no-store");
    assert_string_equal(text_at(a.json, "model"), "fisher");
    assert_int_equal(number_at(a.json, "version"), 1);
    assert_int_equal(number_at(a.json, "components"), 2);
    assert_int_equal(json_array_size(at(a.json, "rows")), 150);
    for (size_t i = 0; i < 150; i++) {
        assert_int_equal(json_array_size(json_array_get(at(a.json, "rows"), i)), 2);
        for (size_t c = 0; c < 2; c++) {
            double sum = 0, size = 0;
            for (size_t j = 0; j < 4; j++) {
                const char *name = json_string_value(json_array_get(at(w.json, "features"), j));
                const double x = json_number_value(json_object_get(json_array_get(rows, i), name));
                sum += item(at(w.json, "directions"), c, j) * x;
                size += fabs(item(at(w.json, "directions"), c, j) * x);
            }
            expect_near(item(at(a.json, "rows"), i, c), sum, 1e-14 * size);
        }
    }
    answer_done(&a);
    answer_done(&w);
}

/* On the first axis the classes lie farther apart, compared with what lies within them, than on the
 * second. */
static void test_the_first_axis_is_the_best(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", TRANSFORM, body);
    double ratio[2];
    for (size_t c = 0; c < 2; c++) {
        double between = 0, within = 0, mean = 0;
        for (size_t i = 0; i < 150; i++) {
            mean += item(at(a.json, "rows"), i, c) / 150;
        }
        for (size_t k = 0; k < 3; k++) { /* fifty of each, one class after the other */
            double own = 0;
            for (size_t i = 50 * k; i < 50 * (k + 1); i++) {
                own += item(at(a.json, "rows"), i, c) / 50;
            }
            for (size_t i = 50 * k; i < 50 * (k + 1); i++) {
                within += pow(item(at(a.json, "rows"), i, c) - own, 2);
            }
            between += 50 * (own - mean) * (own - mean);
        }
        ratio[c] = between / within;
    }
    assert_true(ratio[0] > 30 && ratio[1] < 1);
    answer_done(&a);
}

static void test_every_way_gives_the_same(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", TRANSFORM, "{\"instances\":[[5.1,3.5,1.4,0.2]]}");
    assert_int_equal(a.status, 200);
    struct answer others[] = {
        send_text(&d, "POST", "/v1/models/fisher/versions/1/transform",
                  "{\"instances\":[[5.1,3.5,1.4,0.2]]}"),
        send_text(&d, "POST", TRANSFORM,
                  "{\"instances\":[{\"petal_width\":0.2,\"sepal_length\":5.1,\"petal_length\":1.4,"
                  "\"sepal_width\":3.5}]}"),
        send_typed(&d, "POST", TRANSFORM, "text/csv", "5.1,3.5,1.4,0.2\n"),
        send_text(&d, "POST", TRANSFORM,
                  "petal_width,petal_length,sepal_width,sepal_length\n0.2,1.4,3.5,5.1\n"),
    };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(others[i].status, 200);
        assert_true(json_equal(a.json, others[i].json));
        answer_done(&others[i]);
    }
    answer_done(&a);
    a = send_text(&d, "POST", "/v1/models/one/transform",
                  "{\"instances\":[[5.1,3.5,1.4,0.2],[5.9,3.0,5.1,1.8]]}");
    assert_int_equal(number_at(a.json, "components"), 1);
    assert_int_equal(json_array_size(at(a.json, "rows")), 2);
    assert_int_equal(json_array_size(at(a.json, "rows.1")), 1);
    answer_done(&a);
}

static void test_who_has_no_directions(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", "/v1/models/logistic/transform", body);
    assert_int_equal(a.status, 409);
    assert_non_null(strstr(text_at(a.json, "detail"), "\"logistic\""));
    expect_problem(a, 409, "conflict");
    expect_problem(send_text(&d, "POST", "/v1/models/pairs/transform", body), 409,
                   "conflict"); /* each pair has its own */
}

static void test_bad_calls(void **state) {
    (void)state;
    expect_problem(send_text(&d, "POST", "/v1/models/nobody/transform", body), 404,
                   "unknown-model");
    expect_problem(send_text(&d, "POST", "/v1/models/fisher/versions/9/transform", body), 404,
                   "unknown-model");
    expect_fault(send_text(&d, "POST", TRANSFORM, "{\"instances\":[[1,2,3]]}"), 422,
                 "invalid-instances", "/instances/0", "expected 4");
    expect_fault(send_text(&d, "POST", TRANSFORM, "{\"instances\":[[1,2,3,\"x\"]]}"), 422,
                 "invalid-instances", "/instances/0/3", "number");
    expect_problem(send_text(&d, "POST", TRANSFORM, "{\"instances\":[]}"), 422,
                   "invalid-instances");
    expect_problem(send_text(&d, "POST", TRANSFORM "?output=label", body), 400, "bad-request");
    expect_problem(send_typed(&d, "POST", TRANSFORM, "text/html", "1,2,3,4\n"), 415,
                   "unsupported-media-type");
    expect_problem(get(&d, TRANSFORM), 405, "method-not-allowed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_the_first_axis_is_the_best),
        cmocka_unit_test(test_every_way_gives_the_same),
        cmocka_unit_test(test_who_has_no_directions),
        cmocka_unit_test(test_bad_calls),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
