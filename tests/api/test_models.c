/* Models: describe, versions, roll back and forward, weights, description and tags, delete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <math.h>
#include <string.h>

static struct daemon d;

/* Three versions of model "iris": lambda 0.001, 1, 0.1. */
static int open_daemon(void **state) {
    static const char *const lambdas[] = {"0.001", "1", "0.1"};
    char body[256];
    (void)state;
    daemon_open(&d, NULL);
    upload(&d, "iris");
    upload(&d, "breast_cancer");
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(body, sizeof body,
                       "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\","
                       "\"algorithm\":\"logistic\",\"params\":{\"lambda\":%s}"
                       ",\"seed\":5}",
                       lambdas[i]);
        json_decref(train(&d, body, "succeeded"));
    }
    json_decref(train(&d,
                      "{\"model\":\"cancer\",\"dataset\":\"breast_cancer\",\"target\":\"class\","
                      "\"algorithm\":\"logistic\"}",
                      "succeeded"));
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d);
    return 0;
}

static void test_what_was_trained_on_what(void **state) {
    (void)state;
    struct answer dataset = get(&d, "/v1/datasets/iris"), a = get(&d, "/v1/models/iris");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "name"), "iris");
    assert_int_equal(number_at(a.json, "version"), 3);
    assert_true(json_is_true(at(a.json, "live")));
    assert_int_equal(number_at(a.json, "newest_version"), 3);
    assert_string_equal(text_at(a.json, "algorithm"), "logistic");
    expect_near(number_at(a.json, "params.lambda"), 0.1, 0);
    assert_string_equal(text_at(a.json, "params.solver"),
                        "newton"); /* as it was used: asked for was "auto" */
    assert_int_equal(number_at(a.json, "params.max_iterations"), 100);
    expect_near(number_at(a.json, "params.tolerance"), number_at(a.json, "details.tolerance"), 0);
    assert_int_equal(number_at(a.json, "seed"), 5);
    assert_string_equal(text_at(a.json, "classes.1"), "versicolor");
    assert_string_equal(text_at(a.json, "dataset.name"), "iris");
    assert_int_equal(number_at(a.json, "dataset.version"), 1);
    assert_string_equal(text_at(a.json, "dataset.sha256"), text_at(dataset.json, "sha256"));
    assert_string_equal(text_at(a.json, "dataset.content"), text_at(dataset.json, "content"));
    assert_true(number_at(a.json, "metrics.train.accuracy") > 0.8);
    assert_string_equal(text_at(a.json, "daemon_version"), DISCERN_VERSION);
    answer_done(&a);
    answer_done(&dataset);
    expect_problem(get(&d, "/v1/models/nobody"), 404, "unknown-model");
    expect_problem(get(&d, "/v1/models/iris/versions/9"), 404, "unknown-model");
    expect_problem(get(&d, "/v1/models/iris/versions/0"), 404, "unknown-model");
    expect_problem(get(&d, "/v1/models/iris/versions/x"), 404, "unknown-model");
    expect_problem(get(&d, "/v1/models/-iris"), 404, "unknown-model");
}

static void test_lists(void **state) {
    (void)state;
    struct answer a = get(&d, "/v1/models");
    assert_int_equal(json_array_size(at(a.json, "items")), 2);
    assert_string_equal(text_at(a.json, "items.0.name"), "cancer");
    assert_string_equal(text_at(a.json, "items.1.name"), "iris");
    answer_done(&a);
    a = get(&d, "/v1/models/iris/versions?limit=2");
    assert_int_equal(number_at(a.json, "items.0.version"), 1);
    assert_true(json_is_false(at(a.json, "items.0.live")));
    assert_int_equal(number_at(a.json, "items.1.version"), 2);
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/models/iris/versions?limit=2&after=%s",
                   text_at(a.json, "next"));
    answer_done(&a);
    a = get(&d, path);
    assert_int_equal(json_array_size(at(a.json, "items")), 1);
    assert_int_equal(number_at(a.json, "items.0.version"), 3);
    assert_true(is_null_at(a.json, "next"));
    answer_done(&a);
    expect_problem(get(&d, "/v1/models/nobody/versions"), 404, "unknown-model");
}

static double served_version(void) {
    struct answer a =
        get(&d, "/v1/models/iris/"
                "predict?sepal_length=5.1&sepal_width=3.5&petal_length=1.4&petal_width=0.2");
    assert_int_equal(a.status, 200);
    double version = number_at(a.json, "version");
    answer_done(&a);
    return version;
}

static void test_roll_back_and_forward(void **state) {
    (void)state;
    assert_int_equal(served_version(), 3);
    struct answer a = send_text(&d, "PUT", "/v1/models/iris/live", "{\"version\":1}");
    assert_int_equal(a.status, 200);
    assert_int_equal(number_at(a.json, "version"), 1);
    assert_int_equal(number_at(a.json, "live_version"), 1);
    answer_done(&a);
    assert_int_equal(served_version(), 1); /* the very next request */
    expect_fault(send_text(&d, "PUT", "/v1/models/iris/live", "{\"version\":9}"), 422, "invalid",
                 "/version", "9");
    expect_fault(send_text(&d, "PUT", "/v1/models/iris/live", "{\"version\":\"2\"}"), 422,
                 "invalid", "/version", "integer");
    expect_fault(send_text(&d, "PUT", "/v1/models/iris/live", "{}"), 422, "invalid", "/version",
                 "");
    expect_fault(send_text(&d, "PUT", "/v1/models/iris/live", "{\"version\":1,\"x\":1}"), 422,
                 "invalid", "/x", "known");
    expect_problem(send_text(&d, "PUT", "/v1/models/nobody/live", "{\"version\":1}"), 404,
                   "unknown-model");
    expect_problem(send_text(&d, "PUT", "/v1/models/iris/live", "version 1"), 400, "bad-json");
    assert_int_equal(served_version(), 1);
    expect_status(send_text(&d, "PUT", "/v1/models/iris/live", "{\"version\":3}"), 200);
    assert_int_equal(served_version(), 3);
}

static void test_conditions(void **state) {
    (void)state;
    char match[128];
    struct answer a = get(&d, "/v1/models/iris");
    (void)snprintf(match, sizeof match, "If-None-Match: %s", answer_header(&a, "ETag"));
    expect_status(get_with(&d, "/v1/models/iris", match), 304);
    (void)snprintf(match, sizeof match, "If-Match: %s", answer_header(&a, "ETag"));
    answer_done(&a);
    const char *const same[] = {match, NULL};
    expect_status(ask(&d, "PUT", "/v1/models/iris/live", same, "{\"version\":2}", 13), 200);
    expect_problem(ask(&d, "PUT", "/v1/models/iris/live", same, "{\"version\":1}", 13), 412,
                   "precondition-failed");
    expect_problem(ask(&d, "DELETE", "/v1/models/iris", same, NULL, 0), 412, "precondition-failed");
    /* the two forms have different tags, and each stands for the state */
    char plain[128];
    a = get(&d, "/v1/models/iris");
    (void)snprintf(plain, sizeof plain, "%s", answer_header(&a, "ETag"));
    answer_done(&a);
    a = get_with(&d, "/v1/models/iris", "Accept-Encoding: gzip");
    assert_string_equal(answer_header(&a, "Content-Encoding"), "gzip");
    assert_string_not_equal(answer_header(&a, "ETag"), plain);
    (void)snprintf(match, sizeof match, "If-Match: %s", answer_header(&a, "ETag"));
    answer_done(&a);
    const char *const coded[] = {match, NULL};
    expect_status(ask(&d, "PUT", "/v1/models/iris/live", coded, "{\"version\":1}", 13), 200);
    expect_status(ask(&d, "PUT", "/v1/models/iris/live", coded, "{\"version\":2}", 13), 412);
    expect_status(send_text(&d, "PUT", "/v1/models/iris/live", "{\"version\":3}"), 200);
}

static void test_weights_of_many_classes(void **state) {
    (void)state;
    struct answer a = get(&d, "/v1/models/iris/versions/1/weights");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "kind"), "linear");
    assert_int_equal(number_at(a.json, "version"), 1);
    assert_string_equal(text_at(a.json, "features.2"), "petal_length");
    assert_int_equal(json_array_size(at(a.json, "w")), 3);
    assert_int_equal(json_array_size(at(a.json, "discriminants")), 3);
    assert_string_equal(text_at(a.json, "discriminants.2.class"), "virginica");
    assert_null(at(a.json, "discriminants.2.w")); /* each number is written once */
    assert_null(at(a.json, "discriminants.2.w0"));
    for (int j = 0; j < 4; j++) { /* symmetric form: the sum over classes is 0 */
        char path[32];
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            (void)snprintf(path, sizeof path, "w.%d.%d", k, j);
            sum += number_at(a.json, path);
        }
        expect_near(sum, 0, 1e-9);
    }
    /* what the weights say is what the model answers */
    struct answer p = send_text(&d, "POST", "/v1/models/iris/versions/1/predict?output=scores",
                                "{\"instances\":[[5.1,3.5,1.4,0.2]]}");
    const double x[] = {5.1, 3.5, 1.4, 0.2};
    for (int k = 0; k < 3; k++) {
        char path[48];
        (void)snprintf(path, sizeof path, "w0.%d", k);
        double g = number_at(a.json, path);
        for (int j = 0; j < 4; j++) {
            (void)snprintf(path, sizeof path, "w.%d.%d", k, j);
            g += number_at(a.json, path) * x[j];
        }
        (void)snprintf(path, sizeof path, "predictions.0.scores.%d", k);
        expect_near(number_at(p.json, path), g, 1e-9 * (1 + fabs(g)));
    }
    answer_done(&p);
    answer_done(&a);
    expect_problem(get(&d, "/v1/models/nobody/weights"), 404, "unknown-model");
}

/* A name says which feature it is, whatever stands in columns' names and levels. */
static void test_names_of_features_are_unambiguous(void **state) {
    (void)state;
    static const char *const names[] = {"\"a=b\"", "a=\"(missing)\"", "a=b",
                                        "a=c",     "a=(missing)",     "\"\"\"q\""};
    expect_status(
        put_text(
            &d, "/v1/datasets/ambiguous?header=true",
            "a=b,a,\"\"\"q\",y\n1,b,1,u\n2,c,0,v\n3,(missing),1,u\n4,b,0,v\n5,,1,u\n6,c,1,v\n"),
        201);
    json_decref(train(&d,
                      "{\"model\":\"ambiguous\",\"dataset\":\"ambiguous\",\"target\":\"y\","
                      "\"algorithm\":\"logistic\"}",
                      "succeeded"));
    struct answer a = get(&d, "/v1/models/ambiguous/weights");
    assert_int_equal(json_array_size(at(a.json, "features")), 6);
    for (size_t i = 0; i < 6; i++) {
        size_t n = 0;
        for (size_t j = 0; j < 6; j++) {
            n +=
                strcmp(json_string_value(json_array_get(at(a.json, "features"), j)), names[i]) == 0;
        }
        if (n != 1) {
            fail_msg("%zu features are called %s", n, names[i]);
        }
    }
    answer_done(&a);
}

/* Confusion matrices are in the single resource alone. */
static void test_lists_are_brief(void **state) {
    (void)state;
    static const char *const lists[] = {"/v1/models", "/v1/models/iris/versions", "/v1/jobs"};
    for (size_t i = 0; i < 3; i++) {
        struct answer a = get(&d, lists[i]);
        assert_int_equal(a.status, 200);
        assert_null(strstr(a.body, "\"confusion\""));
        assert_null(strstr(a.body, "\"per_class\""));
        const json_t *items = at(a.json, "items");
        assert_true(json_array_size(items) > 0);
        for (size_t k = 0; k < json_array_size(items); k++) {
            const json_t *item = json_array_get(items, k),
                         *result = i == 2 ? at(item, "result") : item;
            assert_true(number_at(result, "metrics.train.accuracy") > 0);
            assert_true(number_at(result, "metrics.train.log_loss") > 0);
        }
        answer_done(&a);
    }
    struct answer a = get(&d, "/v1/models/iris");
    assert_int_equal(json_array_size(at(a.json, "metrics.train.confusion.matrix")), 3);
    assert_non_null(at(a.json, "metrics.train.per_class"));
    answer_done(&a);
}

static void test_weights_of_two_classes(void **state) {
    (void)state;
    struct answer a = get(&d, "/v1/models/cancer/weights");
    assert_int_equal(json_array_size(at(a.json, "discriminants")), 1);
    assert_string_equal(text_at(a.json, "discriminants.0.positive"), "malignant");
    double norm = 0;
    for (size_t j = 0; j < json_array_size(at(a.json, "w.0")); j++) {
        double w = json_number_value(json_array_get(at(a.json, "w.0"), j));
        norm += w * w;
    }
    expect_near(number_at(a.json, "discriminants.0.norm"), sqrt(norm), 1e-12 * sqrt(norm));
    expect_near(number_at(a.json, "discriminants.0.distance_from_origin"),
                -number_at(a.json, "w0.0") / sqrt(norm), 1e-6);
    answer_done(&a);
}

/* Weights of a version never change: who has them is told so. */
static void test_weights_have_a_tag(void **state) {
    (void)state;
    static const char *const paths[] = {"/v1/models/iris/versions/1/weights",
                                        "/v1/models/iris/versions/2/weights",
                                        "/v1/models/cancer/weights"};
    char tag[3][80], match[1024];
    for (size_t i = 0; i < 3; i++) {
        struct answer a = get(&d, paths[i]);
        assert_int_equal(a.status, 200);
        (void)snprintf(tag[i], sizeof tag[i], "%s", answer_header(&a, "ETag"));
        assert_true(tag[i][0] == '"' && (i == 0 || strcmp(tag[i], tag[i - 1]) != 0));
        answer_done(&a);
        (void)snprintf(match, sizeof match, "If-None-Match: \"other\", %s", tag[i]);
        a = get_with(&d, paths[i], match);
        assert_int_equal(a.status, 304);
        assert_int_equal(a.size, 0);
        assert_string_equal(answer_header(&a, "ETag"), tag[i]);
        answer_done(&a);
        expect_status(get_with(&d, paths[i], "If-None-Match: \"other\""), 200);
    }
}

static void test_description_and_tags(void **state) {
    (void)state;
    struct answer a = send_text(&d, "PATCH", "/v1/models/iris",
                                "{\"description\":\"the classic\",\"tags\":[\"demo\"]}");
    assert_int_equal(a.status, 200);
    assert_string_equal(text_at(a.json, "description"), "the classic");
    answer_done(&a);
    a = get(&d, "/v1/models/iris");
    assert_string_equal(text_at(a.json, "tags.0"), "demo");
    answer_done(&a);
    expect_fault(send_text(&d, "PATCH", "/v1/models/iris", "{\"tags\":\"demo\"}"), 422, "invalid",
                 "/tags", "array");
    expect_problem(send_text(&d, "PATCH", "/v1/models/nobody", "{\"tags\":[]}"), 404,
                   "unknown-model");
}

/* A PATCH with a description of n bytes. */
static struct answer describe(size_t n) {
    static char body[8192];
    (void)snprintf(body, sizeof body, "{\"description\":\"%0*d\"}", (int)n, 7);
    return send_text(&d, "PATCH", "/v1/models/iris", body);
}

/* … with n tags of `size` bytes each. */
static struct answer tag(size_t n, size_t size) {
    static char body[16384];
    size_t at = (size_t)snprintf(body, sizeof body, "{\"tags\":[");
    for (size_t i = 0; i < n; i++) {
        at += (size_t)
            snprintf(body + at, sizeof body - at, "%s\"%.*s\"", i > 0 ? "," : "", (int)size,
                     "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"
                     "tttttttttttttttttttttttttttttttttttttttttt");
    }
    (void)snprintf(body + at, sizeof body - at, "]}");
    return send_text(&d, "PATCH", "/v1/models/iris", body);
}

/* Descriptions and tags of exactly the limits are taken, and nothing beyond. */
static void test_limits_of_description_and_tags(void **state) {
    (void)state;
    struct answer a = describe(4000);
    assert_int_equal(a.status, 200);
    assert_int_equal(strlen(text_at(a.json, "description")), 4000);
    answer_done(&a);
    expect_fault(describe(4001), 422, "invalid", "/description", "at most 4000 bytes");
    a = tag(100, 1);
    assert_int_equal(a.status, 200);
    assert_int_equal(json_array_size(at(a.json, "tags")), 100);
    answer_done(&a);
    expect_fault(tag(101, 1), 422, "invalid", "/tags", "100");
    a = tag(2, 100);
    assert_int_equal(a.status, 200);
    assert_int_equal(strlen(text_at(a.json, "tags.1")), 100);
    answer_done(&a);
    expect_fault(tag(2, 101), 422, "invalid", "/tags/1", "1 to 100 bytes");
    expect_fault(tag(1, 0), 422, "invalid", "/tags/0", "1 to 100 bytes");
    a = get(&d, "/v1/models/iris"); /* what was refused changed nothing */
    assert_int_equal(strlen(text_at(a.json, "description")), 4000);
    assert_int_equal(json_array_size(at(a.json, "tags")), 2);
    answer_done(&a);
    expect_status(send_text(&d, "PATCH", "/v1/models/iris", "{\"description\":null,\"tags\":null}"),
                  200);
}

static void test_delete(void **state) {
    (void)state;
    /* the live version goes only if another is named */
    expect_problem(ask(&d, "DELETE", "/v1/models/iris/versions/3", NULL, NULL, 0), 409, "conflict");
    expect_problem(ask(&d, "DELETE", "/v1/models/iris/versions/3?promote=3", NULL, NULL, 0), 400,
                   "bad-request");
    expect_problem(ask(&d, "DELETE", "/v1/models/iris/versions/3?promote=9", NULL, NULL, 0), 404,
                   "unknown-model");
    expect_problem(ask(&d, "DELETE", "/v1/models/iris/versions/3?promote=0", NULL, NULL, 0), 400,
                   "bad-request");
    expect_problem(ask(&d, "DELETE", "/v1/models/iris?promote=2", NULL, NULL, 0), 400,
                   "bad-request");
    assert_int_equal(served_version(), 3);
    expect_status(ask(&d, "DELETE", "/v1/models/iris/versions/3?promote=2", NULL, NULL, 0), 204);
    struct answer a = get(&d, "/v1/models/iris");
    assert_int_equal(number_at(a.json, "version"), 2);
    answer_done(&a);
    assert_int_equal(served_version(), 2);
    expect_problem(get(&d, "/v1/models/iris/versions/3/weights"), 404, "unknown-model");
    expect_problem(ask(&d, "DELETE", "/v1/models/iris/versions/3", NULL, NULL, 0), 404,
                   "unknown-model");
    expect_status(ask(&d, "DELETE", "/v1/models/iris", NULL, NULL, 0), 204);
    expect_problem(get(&d, "/v1/models/iris"), 404, "unknown-model");
    expect_problem(send_text(&d, "POST", "/v1/models/iris/predict", "{\"instances\":[[1,2,3,4]]}"),
                   404, "unknown-model");
    /* the counter goes on */
    json_t *job = train(
        &d,
        "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}",
        "succeeded");
    assert_int_equal(number_at(job, "result.version"), 4);
    json_decref(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_trained_on_what),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_roll_back_and_forward),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_weights_of_many_classes),
        cmocka_unit_test(test_names_of_features_are_unambiguous),
        cmocka_unit_test(test_lists_are_brief),
        cmocka_unit_test(test_weights_of_two_classes),
        cmocka_unit_test(test_weights_have_a_tag),
        cmocka_unit_test(test_description_and_tags),
        cmocka_unit_test(test_limits_of_description_and_tags),
        cmocka_unit_test(test_delete),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
