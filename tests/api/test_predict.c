/* Predict and evaluate: all forms of rows, all outputs, and the error of a row that does not
 * fit. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>

#define PREDICT "/v1/models/iris/predict"
#define EVALUATE "/v1/models/iris/evaluate"

static int open_daemon(void **state) {
    static const char *const flags[] = {"--max-body", "4M", NULL};
    (void)state;
    service_start(flags);
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    status_check(
        call_upload("/v1/datasets/mixed?types=ok:boolean",
                    "size,colour,ok\n1,red,1\n2,blue,0\n3,red,1\n4,,0\n,blue,0\n6,red,1\n"),
        201);
    job_train("{'model':'mixed','dataset':'mixed','target':'ok','algorithm':'logistic'}");
    status_check(call_upload("/v1/datasets/numbers", "x,y\n1,10\n2,10\n3,2.5\n4,2.5\n"), 201);
    job_train("{'model':'numbers','dataset':'numbers','target':'y','target_as':'classes',"
              "'algorithm':'logistic'}");
    return 0;
}

static const char arrays[] = "{\"instances\":[[5.1,3.5,1.4,0.2],[5.9,3.0,5.1,1.8]]}";

static void test_the_answer(void **state) {
    (void)state;
    const struct response *a =
        status_check(call_text("POST", PREDICT, "Content-Type: application/json", arrays), 200);
    assert_string_equal(header_of(a, "Cache-Control"), "no-store");
    assert_string_equal(string_at(a, "/model"), "iris");
    assert_int_equal(real_at(a, "/version"), 1);
    assert_int_equal(count_at(a, "/classes"), 3);
    assert_int_equal(count_at(a, "/predictions"), 2);
    assert_string_equal(string_at(a, "/predictions/0/label"), "setosa");
    assert_string_equal(string_at(a, "/predictions/1/label"), "virginica");
    assert_near(real_at(a, "/predictions/1/probabilities/0") +
                    real_at(a, "/predictions/1/probabilities/1") +
                    real_at(a, "/predictions/1/probabilities/2"),
                1, 1e-12);
    assert_false(has(a, "/predictions/0/scores"));
}

static void expect_same(const json_t *expected, const struct response *a) {
    status_check(a, 200);
    assert_true(json_equal(expected, a->json));
}

static void test_every_way_gives_the_same(void **state) {
    (void)state;
    const struct response *a = status_check(call_text("POST", PREDICT, NULL, arrays), 200);
    expect_same(a->json, call_text("POST", "/v1/models/iris/versions/1/predict", NULL, arrays));
    expect_same(a->json, call_text("POST", PREDICT, "Content-Type: application/json", arrays));
    expect_same(
        a->json,
        call_text(
            "POST", PREDICT, NULL,
            "{\"instances\":[{\"petal_width\":0.2,\"sepal_length\":5.1,\"petal_length\":1.4,"
            "\"sepal_width\":3.5},"
            "{\"sepal_length\":5.9,\"sepal_width\":3,\"petal_length\":5.1,\"petal_width\":1.8}]}"));
    expect_same(a->json, call_text("POST", PREDICT, "Content-Type: text/csv",
                                   "5.1,3.5,1.4,0.2\n5.9,3.0,5.1,1.8\n"));
    expect_same(a->json, call_text("POST", PREDICT, "Content-Type: text/csv",
                                   "petal_width,petal_length,sepal_width,sepal_length\n0.2,1.4,3.5,"
                                   "5.1\n1.8,5.1,3.0,5.9\n"));
    expect_same(a->json, call_text("POST", PREDICT, NULL, "5.1,3.5,1.4,0.2\r\n5.9,3.0,5.1,1.8"));
    json_t *first = json_deep_copy(a->json);
    json_array_remove(json_find(first, "/predictions"), 1);
    expect_same(first,
                call_get(PREDICT
                         "?sepal_length=5.1&sepal_width=3.5&petal_length=1.4&petal_width=0.2"));
    expect_same(first,
                call_get(
                    "/v1/models/iris/versions/1/"
                    "predict?petal_width=0.2&petal_length=1.4&sepal_width=3.5&sepal_length=5.1"));
    json_decref(first);
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
    const struct response *a =
        status_check(call_bytes("POST", PREDICT "?output=scores", NULL, body, n), 200);
    assert_int_equal(count_at(a, "/predictions"), ROWS);
    for (int i = 0; i < ROWS; i += 997) {
        const char *one =
            text("{\"instances\":[[%d.%d,3.5,%d.4,0.2]]}", 4 + i % 4, i % 10, 1 + i % 6);
        const struct response *b = call_text("POST", PREDICT "?output=scores", NULL, one);
        assert_true(json_equal(json_array_get(json_find(a->json, "/predictions"), (size_t)i),
                               json_find(b->json, "/predictions/0")));
    }
    free(body);
}

/* A short body with much work: it runs on another thread and gives the same answer. */
static void test_many_wide_rows_in_a_short_body(void **state) {
    (void)state;
    enum { ROWS = 8000, PIXELS = 64 };
    char *body = malloc(PIXELS * 32 + ROWS * 4);
    assert_non_null(body);
    upload_file("digits", "digits.csv");
    job_train("{'model':'digits','dataset':'digits','target':'class',"
              "'algorithm':'logistic','params':{'lambda':0.1}}");
    size_t n = (size_t)sprintf(body, "{\"instances\":[{");
    for (int i = 0; i < PIXELS; i++) {
        n += (size_t)sprintf(body + n, "%s\"pixel_%d_%d\":null", i ? "," : "", i / 8, i % 8);
    }
    n += (size_t)sprintf(body + n, "}");
    for (int i = 1; i < ROWS; i++) {
        n += (size_t)sprintf(body + n, ",{}");
    }
    n += (size_t)sprintf(body + n, "]}");
    const struct response *a =
        status_check(call_bytes("POST", "/v1/models/digits/predict", NULL, body, n), 200);
    assert_int_equal(count_at(a, "/predictions"), ROWS);
    assert_true(
        json_equal(json_find(a->json, "/predictions/0"), json_find(a->json, "/predictions/-1")));
    free(body);
}

/* A short body with a long answer: rows of a model with many classes. */
static void test_answer_over_the_limit(void **state) {
    (void)state;
    enum { CLASSES = 500, ROWS = 10000 };
    char *body = malloc(ROWS * 4 + CLASSES * 16);
    assert_non_null(body);
    size_t n = (size_t)sprintf(body, "x,y\n");
    for (int i = 0; i < CLASSES; i++) {
        n += (size_t)sprintf(body + n, "%d,%d\n", i % 7, i);
    }
    status_check(call_upload("/v1/datasets/classes", body), 201);
    job_train("{'model':'classes','dataset':'classes','target':'y','target_as':'classes',"
              "'algorithm':'logistic','params':{'solver':"
              "'gradient_descent','max_iterations':1}}");
    n = (size_t)sprintf(body, "{\"instances\":[{\"x\":1}");
    for (int i = 1; i < ROWS; i++) {
        n += (size_t)sprintf(body + n, ",{}");
    }
    n += (size_t)sprintf(body + n, "]}");
    const struct response *a =
        status_check(call_bytes("POST", "/v1/models/classes/predict", NULL, body, n), 413);
    assert_string_equal(string_at(a, "/type"), "/problems/answer-too-long");
    assert_non_null(strstr(string_at(a, "/detail"), "4194304"));
    status_check(call_bytes("POST", "/v1/models/classes/predict?output=label", NULL, body, n), 200);
    free(body);
}

static void test_outputs(void **state) {
    (void)state;
    const struct response *a = call_text("POST", PREDICT "?output=scores,label", NULL, arrays);
    assert_int_equal(count_at(a, "/predictions/0/scores"), 3);
    assert_non_null(json_find(a->json, "/predictions/0/label"));
    assert_false(has(a, "/predictions/0/probabilities"));
    a = call_text("POST", PREDICT "?output=label", NULL, arrays);
    assert_int_equal(json_object_size(json_find(a->json, "/predictions/0")), 1);
    problem_check(call_text("POST", PREDICT "?output=colour", NULL, arrays), 400, "bad-request");
    problem_check(call_text("POST", PREDICT "?output=label,", NULL, arrays), 400, "bad-request");
    problem_check(call_text("POST", PREDICT "?outputs=label", NULL, arrays), 400, "bad-request");
}

static void test_labels_have_the_type_of_the_target(void **state) {
    (void)state;
    const struct response *a =
        status_check(call_get("/v1/models/mixed/predict?size=1&colour=red"), 200);
    assert_true(json_is_true(json_find(a->json, "/predictions/0/label")));
    assert_true(json_is_false(json_find(a->json, "/classes/0")));
    a = call_get("/v1/models/numbers/predict?x=1");
    assert_near(real_at(a, "/predictions/0/label"), 10, 0);
    assert_near(real_at(a, "/classes/0"), 2.5, 0); /* in the order of values, not of texts */
}

static void test_missing_and_unseen(void **state) {
    (void)state;
    const struct response *a =
        status_check(call_json("POST", "/v1/models/mixed/predict",
                               "{'instances':[{'size':null,'colour':'red'},{'colour':"
                               "'red'},{'size':1,'colour':'violet'},[2,null]]}"),
                     200);
    assert_true(
        json_equal(json_find(a->json, "/predictions/0"), json_find(a->json, "/predictions/1")));
    assert_int_equal(count_at(a, "/predictions"), 4);
}

static void test_rows_that_do_not_fit(void **state) {
    (void)state;
    static const struct {
        const char *body, *pointer;
    } bad[] = {
        {"{\"instances\":[[1,2,3,4],[1,2,3]]}", "/instances/1"},
        {"{\"instances\":[[1,2,3,4,5,6]]}", "/instances/0"},
        {"{\"instances\":[[1,2,\"x\",4]]}", "/instances/0/2"},
        {"{\"instances\":[[1,2,true,4]]}", "/instances/0/2"},
        {"{\"instances\":[{\"petal\":1}]}", "/instances/0"},
        {"{\"instances\":[{\"sepal_length\":\"long\"}]}", "/instances/0/sepal_length"},
        {"{\"instances\":[7]}", "/instances/0"},
        {"{\"instances\":7}", "/instances"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fault_check(problem_check(call_text("POST", PREDICT, NULL, bad[i].body), 422,
                                  "invalid-instances"),
                    bad[i].pointer);
    }
    /* all faulty rows are listed */
    const struct response *a =
        call_text("POST", PREDICT, NULL, "{\"instances\":[[1],[1,2,3,4],[\"a\",2,3,4]]}");
    status_check(a, 422);
    assert_int_equal(count_at(a, "/errors"), 2);
    fault_check(problem_check(call_text("POST", PREDICT, "Content-Type: text/csv",
                                        "1,2,3,4\n1,2,3\n"),
                              422, "invalid-instances"),
                "line 2");
    fault_check(problem_check(call_text("POST", PREDICT, "Content-Type: text/csv", "1,2,three,4\n"),
                              422, "invalid-instances"),
                "line 1");
    problem_check(call_text("POST", PREDICT, "Content-Type: text/html", "1,2,3,4\n"), 415,
                  "unsupported-media-type");
    problem_check(call_get(PREDICT "?sepal_length=1&sepal=2"), 422, "invalid-instances");
    problem_check(call_get(PREDICT "?sepal_length=abc"), 422, "invalid-instances");
    problem_check(call_get(PREDICT "?sepal_length=1&sepal_length=2"), 422, "invalid-instances");
}

static void test_invalid_numbers(void **state) {
    (void)state;
    static const char *const bad[] = {"NaN", "Infinity", "1e999", "0x10", "+1", "1_000", ".5e"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct response *a =
            call_text("POST", PREDICT, NULL, text("{\"instances\":[[1,2,%s,4]]}", bad[i]));
        assert_true(a->status == 400 || a->status == 422);
        assert_memory_equal(string_at(a, "/type"), "/problems/", 10);
    }
    problem_check(call_get(PREDICT "?sepal_length=inf"), 422, "invalid-instances");
    problem_check(call_get(PREDICT "?sepal_length=1e999"), 422, "invalid-instances");
}

static void test_a_body_over_the_limit(void **state) {
    (void)state;
    const size_t size = 5 * 1024 * 1024;
    char *body = malloc(size);
    assert_non_null(body);
    memset(body, ' ', size);
    problem_check(call_bytes("POST", PREDICT, NULL, body, size), 413, "body-too-large");
    free(body);
}

/* ---- evaluate ---- */

static void test_evaluate_a_dataset(void **state) {
    (void)state;
    const struct response *model = call_get("/v1/models/iris"),
                          *a = status_check(call_text("POST", EVALUATE, NULL,
                                                      "{\"dataset\":\"iris\"}"),
                                            200);
    assert_int_equal(real_at(a, "/rows"), 150);
    assert_true(
        json_equal(json_find(a->json, "/metrics"), json_find(model->json, "/metrics/train")));
    const struct response *b =
        call_json("POST", "/v1/models/iris/versions/1/evaluate", "{'dataset':'iris@1'}");
    assert_true(json_equal(a->json, b->json));
    fault_contains(problem_check(call_text("POST", EVALUATE, NULL, "{\"dataset\":\"nobody\"}"), 422,
                                 "invalid"),
                   "/dataset", "nobody");
    fault_contains(problem_check(call_text("POST", EVALUATE, NULL, "{\"dataset\":\"mixed\"}"), 422,
                                 "invalid"),
                   "/dataset", "class");
    fault_contains(problem_check(call_text("POST", EVALUATE, NULL, "{\"dataset\":7}"), 422,
                                 "invalid"),
                   "/dataset", "string");
    fault_contains(problem_check(call_text("POST", EVALUATE, NULL,
                                           "{\"dataset\":\"iris\",\"curves\":true}"),
                                 422, "invalid"),
                   "/curves", "known");
    problem_check(call_json("POST", "/v1/models/nobody/evaluate", "{'dataset':'iris'}"), 404,
                  "unknown-model");
}

static void test_evaluate_rows(void **state) {
    (void)state;
    const struct response *a =
        call_text("POST", EVALUATE, NULL,
                  "{\"instances\":[{\"sepal_length\":5.1,\"sepal_width\":3.5,\"petal_"
                  "length\":1.4,\"petal_width\":0.2,\"class\":\"setosa\"},"
                  "{\"sepal_length\":5.1,\"sepal_width\":3.5,\"petal_length\":1.4,"
                  "\"petal_width\":0.2,\"class\":\"virginica\"}]}");
    status_check(a, 200);
    assert_int_equal(real_at(a, "/rows"), 2);
    assert_near(real_at(a, "/metrics/accuracy"), 0.5, 0);
    assert_near(real_at(a, "/metrics/confusion/matrix/2/0"), 1, 0);
    a = status_check(
        call_text(
            "POST", EVALUATE, "Content-Type: text/csv",
            "sepal_length,sepal_width,petal_length,petal_width,class\n5.1,3.5,1.4,0.2,setosa\n"),
        200);
    assert_near(real_at(a, "/metrics/accuracy"), 1, 0);
    problem_check(
        call_text(
            "POST", EVALUATE, "Content-Type: text/csv",
            "sepal_length,sepal_width,petal_length,petal_width,class\n5.1,3.5,1.4,0.2,rose\n"),
        422, "invalid-instances");
    problem_check(call_text("POST", EVALUATE, NULL, "{\"instances\":[]}"), 422,
                  "invalid-instances");
    fault_contains(
        problem_check(
            call_text(
                "POST", EVALUATE, "Content-Type: text/csv",
                "sepal_length,sepal_width,petal_length,petal_width,class\n5.1,3.5,1.4,0.2,\n"),
            422, "invalid-instances"),
        "", "no row has a value of the target");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_the_answer),
        TEST(test_every_way_gives_the_same),
        TEST(test_a_batch_answers_as_its_rows_do),
        TEST(test_many_wide_rows_in_a_short_body),
        TEST(test_answer_over_the_limit),
        TEST(test_outputs),
        TEST(test_labels_have_the_type_of_the_target),
        TEST(test_missing_and_unseen),
        TEST(test_rows_that_do_not_fit),
        TEST(test_invalid_numbers),
        TEST(test_a_body_over_the_limit),
        TEST(test_evaluate_a_dataset),
        TEST(test_evaluate_rows),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
