/* Predict and evaluate: every way to bring rows, every output, and what a row that does not fit
 * gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <stdlib.h>
#include <string.h>

#define PREDICT "/v1/models/iris/predict"
#define EVALUATE "/v1/models/iris/evaluate"

static struct daemon d;

static int open_daemon(void **state) {
    static const char *const flags[] = {"--max-body", "4M", NULL};
    (void)state;
    daemon_open(&d, flags);
    upload(&d, "iris");
    json_decref(train(
        &d,
        "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}",
        "succeeded"));
    expect_status(put_text(&d, "/v1/datasets/mixed?types=ok:boolean",
                           "size,colour,ok\n1,red,1\n2,blue,0\n3,red,1\n4,,0\n,blue,0\n6,red,1\n"),
                  201);
    json_decref(train(
        &d,
        "{\"model\":\"mixed\",\"dataset\":\"mixed\",\"target\":\"ok\",\"algorithm\":\"logistic\"}",
        "succeeded"));
    expect_status(put_text(&d, "/v1/datasets/numbers", "x,y\n1,10\n2,10\n3,2.5\n4,2.5\n"), 201);
    json_decref(train(&d,
                      "{\"model\":\"numbers\",\"dataset\":\"numbers\",\"target\":\"y\","
                      "\"algorithm\":\"logistic\"}",
                      "succeeded"));
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d);
    return 0;
}

static const char arrays[] = "{\"instances\":[[5.1,3.5,1.4,0.2],[5.9,3.0,5.1,1.8]]}";

static void test_the_answer(void **state) {
    (void)state;
    struct answer a = send_typed(&d, "POST", PREDICT, "application/json", arrays);
    assert_int_equal(a.status, 200);
    assert_string_equal(answer_header(&a, "Cache-Control"), "no-store");
    assert_string_equal(text_at(a.json, "model"), "iris");
    assert_int_equal(number_at(a.json, "version"), 1);
    assert_int_equal(json_array_size(at(a.json, "classes")), 3);
    assert_int_equal(json_array_size(at(a.json, "predictions")), 2);
    assert_string_equal(text_at(a.json, "predictions.0.label"), "setosa");
    assert_string_equal(text_at(a.json, "predictions.1.label"), "virginica");
    expect_near(number_at(a.json, "predictions.1.probabilities.0") +
                    number_at(a.json, "predictions.1.probabilities.1") +
                    number_at(a.json, "predictions.1.probabilities.2"),
                1, 1e-12);
    assert_null(at(a.json, "predictions.0.scores"));
    answer_done(&a);
}

static void expect_same(const json_t *expected, struct answer a) {
    assert_int_equal(a.status, 200);
    assert_true(json_equal(expected, a.json));
    answer_done(&a);
}

static void test_every_way_gives_the_same(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", PREDICT, arrays);
    assert_int_equal(a.status, 200);
    expect_same(a.json, send_text(&d, "POST", "/v1/models/iris/versions/1/predict", arrays));
    expect_same(a.json, send_typed(&d, "POST", PREDICT, "application/json", arrays));
    expect_same(
        a.json,
        send_text(
            &d, "POST", PREDICT,
            "{\"instances\":[{\"petal_width\":0.2,\"sepal_length\":5.1,\"petal_length\":1.4,"
            "\"sepal_width\":3.5},"
            "{\"sepal_length\":5.9,\"sepal_width\":3,\"petal_length\":5.1,\"petal_width\":1.8}]}"));
    expect_same(a.json,
                send_typed(&d, "POST", PREDICT, "text/csv", "5.1,3.5,1.4,0.2\n5.9,3.0,5.1,1.8\n"));
    expect_same(a.json, send_typed(&d, "POST", PREDICT, "text/csv",
                                   "petal_width,petal_length,sepal_width,sepal_length\n0.2,1.4,3.5,"
                                   "5.1\n1.8,5.1,3.0,5.9\n"));
    expect_same(a.json, send_text(&d, "POST", PREDICT, "5.1,3.5,1.4,0.2\r\n5.9,3.0,5.1,1.8"));
    json_t *first = json_deep_copy(a.json);
    json_array_remove(at(first, "predictions"), 1);
    expect_same(first, get(&d, PREDICT
                           "?sepal_length=5.1&sepal_width=3.5&petal_length=1.4&petal_width=0.2"));
    expect_same(first,
                get(&d,
                    "/v1/models/iris/versions/1/"
                    "predict?petal_width=0.2&petal_length=1.4&sepal_width=3.5&sepal_length=5.1"));
    json_decref(first);
    answer_done(&a);
}

static void test_a_batch_answers_as_its_rows_do(void **state) {
    (void)state;
    enum { ROWS = 20000, LINE = 48 };
    char *body = malloc((size_t)ROWS * LINE);
    assert_non_null(body);
    size_t n = (size_t)sprintf(body, "{\"instances\":[");
    for (int i = 0; i < ROWS; i++) {
        n += (size_t)sprintf(body + n, "%s[%d.%d,3.5,%d.4,0.2]", i ? "," : "", 4 + i % 4, i % 10,
                             1 + i % 6);
    }
    n += (size_t)sprintf(body + n, "]}");
    struct answer a = ask(&d, "POST", PREDICT "?output=scores", NULL, body, n);
    assert_int_equal(a.status, 200);
    assert_int_equal(json_array_size(at(a.json, "predictions")), ROWS);
    for (int i = 0; i < ROWS; i += 997) {
        char one[96];
        (void)snprintf(one, sizeof one, "{\"instances\":[[%d.%d,3.5,%d.4,0.2]]}", 4 + i % 4, i % 10,
                       1 + i % 6);
        struct answer b = send_text(&d, "POST", PREDICT "?output=scores", one);
        assert_true(json_equal(json_array_get(at(a.json, "predictions"), (size_t)i),
                               at(b.json, "predictions.0")));
        answer_done(&b);
    }
    answer_done(&a);
    free(body);
}

/* A short body that stands for much work: it is done elsewhere, with the same answer. */
static void test_many_wide_rows_in_a_short_body(void **state) {
    (void)state;
    enum { ROWS = 8000, PIXELS = 64 };
    char *body = malloc(PIXELS * 32 + ROWS * 4);
    assert_non_null(body);
    upload(&d, "digits");
    json_decref(train(&d,
                      "{\"model\":\"digits\",\"dataset\":\"digits\",\"target\":\"class\","
                      "\"algorithm\":\"logistic\",\"params\":{\"lambda\":0.1}}",
                      "succeeded"));
    size_t n = (size_t)sprintf(body, "{\"instances\":[{");
    for (int i = 0; i < PIXELS; i++) {
        n += (size_t)sprintf(body + n, "%s\"pixel_%d_%d\":null", i ? "," : "", i / 8, i % 8);
    }
    n += (size_t)sprintf(body + n, "}");
    for (int i = 1; i < ROWS; i++) {
        n += (size_t)sprintf(body + n, ",{}");
    }
    n += (size_t)sprintf(body + n, "]}");
    struct answer a = ask(&d, "POST", "/v1/models/digits/predict", NULL, body, n);
    assert_int_equal(a.status, 200);
    assert_int_equal(json_array_size(at(a.json, "predictions")), ROWS);
    assert_true(json_equal(at(a.json, "predictions.0"), at(a.json, "predictions.-1")));
    answer_done(&a);
    free(body);
}

/* Few bytes can ask for many numbers: a row of a model with many classes. */
static void test_too_long_an_answer(void **state) {
    (void)state;
    enum { CLASSES = 500, ROWS = 10000 };
    char *body = malloc(ROWS * 4 + CLASSES * 16);
    assert_non_null(body);
    size_t n = (size_t)sprintf(body, "x,y\n");
    for (int i = 0; i < CLASSES; i++) {
        n += (size_t)sprintf(body + n, "%d,%d\n", i % 7, i);
    }
    expect_status(put_text(&d, "/v1/datasets/classes", body), 201);
    json_decref(train(&d,
                      "{\"model\":\"classes\",\"dataset\":\"classes\",\"target\":\"y\","
                      "\"algorithm\":\"logistic\",\"params\":{\"solver\":"
                      "\"gradient_descent\",\"max_iterations\":1}}",
                      "succeeded"));
    n = (size_t)sprintf(body, "{\"instances\":[{\"x\":1}");
    for (int i = 1; i < ROWS; i++) {
        n += (size_t)sprintf(body + n, ",{}");
    }
    n += (size_t)sprintf(body + n, "]}");
    struct answer a = ask(&d, "POST", "/v1/models/classes/predict", NULL, body, n);
    assert_int_equal(a.status, 413);
    assert_string_equal(text_at(a.json, "type"), "/problems/answer-too-long");
    assert_non_null(strstr(text_at(a.json, "detail"), "4194304"));
    answer_done(&a);
    expect_status(ask(&d, "POST", "/v1/models/classes/predict?output=label", NULL, body, n), 200);
    free(body);
}

static void test_outputs(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", PREDICT "?output=scores,label", arrays);
    assert_int_equal(json_array_size(at(a.json, "predictions.0.scores")), 3);
    assert_non_null(at(a.json, "predictions.0.label"));
    assert_null(at(a.json, "predictions.0.probabilities"));
    answer_done(&a);
    a = send_text(&d, "POST", PREDICT "?output=label", arrays);
    assert_int_equal(json_object_size(at(a.json, "predictions.0")), 1);
    answer_done(&a);
    expect_problem(send_text(&d, "POST", PREDICT "?output=colour", arrays), 400, "bad-request");
    expect_problem(send_text(&d, "POST", PREDICT "?output=label,", arrays), 400, "bad-request");
    expect_problem(send_text(&d, "POST", PREDICT "?outputs=label", arrays), 400, "bad-request");
}

static void test_labels_have_the_type_of_the_target(void **state) {
    (void)state;
    struct answer a = get(&d, "/v1/models/mixed/predict?size=1&colour=red");
    assert_int_equal(a.status, 200);
    assert_true(json_is_true(at(a.json, "predictions.0.label")));
    assert_true(json_is_false(at(a.json, "classes.0")));
    answer_done(&a);
    a = get(&d, "/v1/models/numbers/predict?x=1");
    expect_near(number_at(a.json, "predictions.0.label"), 10, 0);
    expect_near(number_at(a.json, "classes.0"), 2.5, 0); /* by value, not by text */
    answer_done(&a);
}

static void test_missing_and_unseen(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", "/v1/models/mixed/predict",
                                "{\"instances\":[{\"size\":null,\"colour\":\"red\"},{\"colour\":"
                                "\"red\"},{\"size\":1,\"colour\":\"violet\"},[2,null]]}");
    assert_int_equal(a.status, 200);
    assert_true(json_equal(at(a.json, "predictions.0"), at(a.json, "predictions.1")));
    assert_int_equal(json_array_size(at(a.json, "predictions")), 4);
    answer_done(&a);
}

static void test_rows_that_do_not_fit(void **state) {
    (void)state;
    static const struct {
        const char *body, *pointer;
    } bad[] = {
        {"{\"instances\":[[1,2,3,4],[1,2,3]]}", "/instances/1"},
        {"{\"instances\":[[1,2,3,4,5]]}", "/instances/0"},
        {"{\"instances\":[[1,2,\"x\",4]]}", "/instances/0/2"},
        {"{\"instances\":[[1,2,true,4]]}", "/instances/0/2"},
        {"{\"instances\":[{\"petal\":1}]}", "/instances/0/petal"},
        {"{\"instances\":[{\"sepal_length\":\"long\"}]}", "/instances/0/sepal_length"},
        {"{\"instances\":[7]}", "/instances/0"},
        {"{\"instances\":7}", "/instances"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_fault(send_text(&d, "POST", PREDICT, bad[i].body), 422, "invalid-instances",
                     bad[i].pointer, "");
    }
    /* every row that is wrong is told at once */
    struct answer a =
        send_text(&d, "POST", PREDICT, "{\"instances\":[[1],[1,2,3,4],[\"a\",2,3,4]]}");
    assert_int_equal(a.status, 422);
    assert_int_equal(json_array_size(at(a.json, "errors")), 2);
    answer_done(&a);
    expect_fault(send_typed(&d, "POST", PREDICT, "text/csv", "1,2,3,4\n1,2,3\n"), 422,
                 "invalid-instances", NULL, "");
    expect_fault(send_typed(&d, "POST", PREDICT, "text/csv", "1,2,three,4\n"), 422,
                 "invalid-instances", NULL, "");
    expect_problem(send_typed(&d, "POST", PREDICT, "text/html", "1,2,3,4\n"), 415,
                   "unsupported-media-type");
    expect_problem(get(&d, PREDICT "?sepal_length=1&sepal=2"), 422, "invalid-instances");
    expect_problem(get(&d, PREDICT "?sepal_length=abc"), 422, "invalid-instances");
    expect_problem(get(&d, PREDICT "?sepal_length=1&sepal_length=2"), 422, "invalid-instances");
}

static void test_numbers_that_are_none(void **state) {
    (void)state;
    static const char *const bad[] = {"NaN", "Infinity", "1e999", "0x10", "+1", "1_000", ".5e"};
    char body[96];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        (void)snprintf(body, sizeof body, "{\"instances\":[[1,2,%s,4]]}", bad[i]);
        struct answer a = send_text(&d, "POST", PREDICT, body);
        assert_true(a.status == 400 || a.status == 422);
        assert_memory_equal(text_at(a.json, "type"), "/problems/", 10);
        answer_done(&a);
    }
    expect_problem(get(&d, PREDICT "?sepal_length=inf"), 422, "invalid-instances");
    expect_problem(get(&d, PREDICT "?sepal_length=1e999"), 422, "invalid-instances");
}

static void test_a_body_over_the_limit(void **state) {
    (void)state;
    const size_t size = 5 * 1024 * 1024;
    char *body = malloc(size);
    assert_non_null(body);
    memset(body, ' ', size);
    expect_problem(ask(&d, "POST", PREDICT, NULL, body, size), 413, "body-too-large");
    free(body);
}

/* ---- evaluate ---- */

static void test_evaluate_a_dataset(void **state) {
    (void)state;
    struct answer model = get(&d, "/v1/models/iris"),
                  a = send_text(&d, "POST", EVALUATE, "{\"dataset\":\"iris\"}");
    assert_int_equal(a.status, 200);
    assert_int_equal(number_at(a.json, "rows"), 150);
    assert_true(json_equal(at(a.json, "metrics"), at(model.json, "metrics.train")));
    struct answer b =
        send_text(&d, "POST", "/v1/models/iris/versions/1/evaluate", "{\"dataset\":\"iris@1\"}");
    assert_true(json_equal(a.json, b.json));
    answer_done(&b);
    answer_done(&a);
    answer_done(&model);
    expect_fault(send_text(&d, "POST", EVALUATE, "{\"dataset\":\"nobody\"}"), 422, "invalid",
                 "/dataset", "nobody");
    expect_fault(send_text(&d, "POST", EVALUATE, "{\"dataset\":\"mixed\"}"), 422, "invalid",
                 "/dataset", "class");
    expect_fault(send_text(&d, "POST", EVALUATE, "{\"dataset\":7}"), 422, "invalid", "/dataset",
                 "string");
    expect_fault(send_text(&d, "POST", EVALUATE, "{\"dataset\":\"iris\",\"curves\":true}"), 422,
                 "invalid", "/curves", "known");
    expect_problem(send_text(&d, "POST", "/v1/models/nobody/evaluate", "{\"dataset\":\"iris\"}"),
                   404, "unknown-model");
}

static void test_evaluate_rows(void **state) {
    (void)state;
    struct answer a = send_text(&d, "POST", EVALUATE,
                                "{\"instances\":[{\"sepal_length\":5.1,\"sepal_width\":3.5,\"petal_"
                                "length\":1.4,\"petal_width\":0.2,\"class\":\"setosa\"},"
                                "{\"sepal_length\":5.1,\"sepal_width\":3.5,\"petal_length\":1.4,"
                                "\"petal_width\":0.2,\"class\":\"virginica\"}]}");
    assert_int_equal(a.status, 200);
    assert_int_equal(number_at(a.json, "rows"), 2);
    expect_near(number_at(a.json, "metrics.accuracy"), 0.5, 0);
    expect_near(number_at(a.json, "metrics.confusion.matrix.2.0"), 1, 0);
    answer_done(&a);
    a = send_typed(
        &d, "POST", EVALUATE, "text/csv",
        "sepal_length,sepal_width,petal_length,petal_width,class\n5.1,3.5,1.4,0.2,setosa\n");
    assert_int_equal(a.status, 200);
    expect_near(number_at(a.json, "metrics.accuracy"), 1, 0);
    answer_done(&a);
    expect_problem(
        send_typed(
            &d, "POST", EVALUATE, "text/csv",
            "sepal_length,sepal_width,petal_length,petal_width,class\n5.1,3.5,1.4,0.2,rose\n"),
        422, "invalid-instances");
    expect_problem(send_text(&d, "POST", EVALUATE, "{\"instances\":[]}"), 422, "invalid-instances");
    expect_fault(
        send_typed(&d, "POST", EVALUATE, "text/csv",
                   "sepal_length,sepal_width,petal_length,petal_width,class\n5.1,3.5,1.4,0.2,\n"),
        422, "invalid-instances", "", "no row has a value of the target");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_answer),
        cmocka_unit_test(test_every_way_gives_the_same),
        cmocka_unit_test(test_a_batch_answers_as_its_rows_do),
        cmocka_unit_test(test_many_wide_rows_in_a_short_body),
        cmocka_unit_test(test_too_long_an_answer),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_labels_have_the_type_of_the_target),
        cmocka_unit_test(test_missing_and_unseen),
        cmocka_unit_test(test_rows_that_do_not_fit),
        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_a_body_over_the_limit),
        cmocka_unit_test(test_evaluate_a_dataset),
        cmocka_unit_test(test_evaluate_rows),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
