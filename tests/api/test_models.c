/* Models: description, versions, rollback, weights, description and tags, delete. */
#include "lib/api.h"

#include <math.h>
#include <string.h>

/* Three versions of model "iris": lambda 0.001, 1, 0.1. */
static int open_daemon(void **state) {
    static const char *const lambdas[] = {"0.001", "1", "0.1"};
    (void)state;
    service_start(NULL);
    upload_file("iris", "iris.csv");
    upload_file("breast_cancer", "breast_cancer.csv");
    for (size_t i = 0; i < 3; i++) {
        job_train("{'model':'iris','dataset':'iris','target':'class',"
                  "'algorithm':'logistic','params':{'lambda':%s}"
                  ",'seed':5}",
                  lambdas[i]);
    }
    job_train("{'model':'cancer','dataset':'breast_cancer','target':'class',"
              "'algorithm':'logistic'}");
    return 0;
}

static void test_description_of_a_model(void **state) {
    (void)state;
    const struct response *dataset = call_get("/v1/datasets/iris"),
                          *a = status_check(call_get("/v1/models/iris"), 200);
    assert_string_equal(string_at(a, "/name"), "iris");
    assert_int_equal(real_at(a, "/version"), 3);
    assert_true(json_is_true(json_find(a->json, "/live")));
    assert_int_equal(real_at(a, "/newest_version"), 3);
    assert_string_equal(string_at(a, "/algorithm"), "logistic");
    assert_near(real_at(a, "/params/lambda"), 0.1, 0);
    assert_string_equal(string_at(a, "/params/solver"),
                        "newton"); /* the resolved value; the request was "auto" */
    assert_int_equal(real_at(a, "/params/max_iterations"), 100);
    assert_near(real_at(a, "/params/tolerance"), real_at(a, "/details/tolerance"), 0);
    assert_int_equal(real_at(a, "/seed"), 5);
    assert_string_equal(string_at(a, "/classes/1"), "versicolor");
    assert_string_equal(string_at(a, "/dataset/name"), "iris");
    assert_int_equal(real_at(a, "/dataset/version"), 1);
    assert_string_equal(string_at(a, "/dataset/sha256"), string_at(dataset, "/sha256"));
    assert_string_equal(string_at(a, "/dataset/content"), string_at(dataset, "/content"));
    assert_true(real_at(a, "/metrics/train/accuracy") > 0.8);
    assert_string_equal(string_at(a, "/daemon_version"), DISCERN_VERSION);
    problem_check(call_get("/v1/models/nobody"), 404, "unknown-model");
    problem_check(call_get("/v1/models/iris/versions/9"), 404, "unknown-model");
    problem_check(call_get("/v1/models/iris/versions/0"), 404, "unknown-model");
    problem_check(call_get("/v1/models/iris/versions/x"), 404, "unknown-model");
    problem_check(call_get("/v1/models/-iris"), 404, "unknown-model");
}

static void test_lists(void **state) {
    (void)state;
    const struct response *a = call_get("/v1/models");
    assert_int_equal(count_at(a, "/items"), 2);
    assert_string_equal(string_at(a, "/items/0/name"), "cancer");
    assert_string_equal(string_at(a, "/items/1/name"), "iris");
    a = call_get("/v1/models/iris/versions?limit=2");
    assert_int_equal(real_at(a, "/items/0/version"), 1);
    assert_true(json_is_false(json_find(a->json, "/items/0/live")));
    assert_int_equal(real_at(a, "/items/1/version"), 2);
    a = call_get("/v1/models/iris/versions?limit=2&after=%s", string_at(a, "/next"));
    assert_int_equal(count_at(a, "/items"), 1);
    assert_int_equal(real_at(a, "/items/0/version"), 3);
    assert_true(json_is_null(json_find(a->json, "/next")));
    problem_check(call_get("/v1/models/nobody/versions"), 404, "unknown-model");
}

static double served_version(void) {
    const struct response *a =
        call_get("/v1/models/iris/"
                 "predict?sepal_length=5.1&sepal_width=3.5&petal_length=1.4&petal_width=0.2");
    status_check(a, 200);
    double version = real_at(a, "/version");
    return version;
}

static void test_roll_back_and_forward(void **state) {
    (void)state;
    assert_int_equal(served_version(), 3);
    const struct response *a =
        status_check(call_json("PUT", "/v1/models/iris/live", "{'version':1}"), 200);
    assert_int_equal(real_at(a, "/version"), 1);
    assert_int_equal(real_at(a, "/live_version"), 1);
    assert_int_equal(served_version(), 1); /* the next request uses the new version */
    fault_contains(problem_check(call_json("PUT", "/v1/models/iris/live", "{'version':9}"), 422,
                                 "invalid"),
                   "/version", "9");
    fault_contains(problem_check(call_json("PUT", "/v1/models/iris/live", "{'version':'2'}"), 422,
                                 "invalid"),
                   "/version", "integer");
    fault_check(problem_check(call_json("PUT", "/v1/models/iris/live", "{}"), 422, "invalid"),
                "/version");
    fault_contains(problem_check(call_json("PUT", "/v1/models/iris/live", "{'version':1,'x':1}"),
                                 422, "invalid"),
                   "/x", "known");
    problem_check(call_json("PUT", "/v1/models/nobody/live", "{'version':1}"), 404,
                  "unknown-model");
    problem_check(call_text("PUT", "/v1/models/iris/live", NULL, "version 1"), 400, "bad-json");
    assert_int_equal(served_version(), 1);
    status_check(call_json("PUT", "/v1/models/iris/live", "{'version':3}"), 200);
    assert_int_equal(served_version(), 3);
}

static void test_conditions(void **state) {
    (void)state;
    const char *match;
    const struct response *a = call_get("/v1/models/iris");
    status_check(call_get_with(text("If-None-Match: %s", header_of(a, "ETag")), "/v1/models/iris"),
                 304);
    match = text("If-Match: %s", header_of(a, "ETag"));
    const char *const same[] = {match, NULL};
    status_check(call_bytes("PUT", "/v1/models/iris/live", same, "{\"version\":2}", 0), 200);
    problem_check(call_bytes("PUT", "/v1/models/iris/live", same, "{\"version\":1}", 0), 412,
                  "precondition-failed");
    problem_check(call_bytes("DELETE", "/v1/models/iris", same, NULL, 0), 412,
                  "precondition-failed");
    /* the two formats have different ETags, and each identifies the state */
    const char *plain;
    a = call_get("/v1/models/iris");
    plain = text("%s", header_of(a, "ETag"));
    a = call_get_with("Accept-Encoding: gzip", "/v1/models/iris");
    assert_string_equal(header_of(a, "Content-Encoding"), "gzip");
    assert_string_not_equal(header_of(a, "ETag"), plain);
    match = text("If-Match: %s", header_of(a, "ETag"));
    const char *const coded[] = {match, NULL};
    status_check(call_bytes("PUT", "/v1/models/iris/live", coded, "{\"version\":1}", 0), 200);
    status_check(call_bytes("PUT", "/v1/models/iris/live", coded, "{\"version\":2}", 0), 412);
    status_check(call_json("PUT", "/v1/models/iris/live", "{'version':3}"), 200);
}

static void test_weights_of_many_classes(void **state) {
    (void)state;
    const struct response *a = status_check(call_get("/v1/models/iris/versions/1/weights"), 200);
    assert_string_equal(string_at(a, "/kind"), "linear");
    assert_int_equal(real_at(a, "/version"), 1);
    assert_string_equal(string_at(a, "/features/2"), "petal_length");
    assert_int_equal(count_at(a, "/w"), 3);
    assert_int_equal(count_at(a, "/discriminants"), 3);
    assert_string_equal(string_at(a, "/discriminants/2/class"), "virginica");
    assert_false(has(a, "/discriminants/2/w")); /* each number is written once */
    assert_false(has(a, "/discriminants/2/w0"));
    for (int j = 0; j < 4; j++) { /* symmetric form: the sum over the classes is 0 */
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            sum += real_at(a, text("/w/%d/%d", k, j));
        }
        assert_near(sum, 0, 1e-9);
    }
    /* the scores of predictions are computed from the weights in the answer */
    const struct response *p = call_json("POST", "/v1/models/iris/versions/1/predict?output=scores",
                                         "{'instances':[[5.1,3.5,1.4,0.2]]}");
    const double x[] = {5.1, 3.5, 1.4, 0.2};
    for (int k = 0; k < 3; k++) {
        double g = real_at(a, text("/w0/%d", k));
        for (int j = 0; j < 4; j++) {
            g += real_at(a, text("/w/%d/%d", k, j)) * x[j];
        }
        assert_near(real_at(p, text("/predictions/0/scores/%d", k)), g, 1e-9 * (1 + fabs(g)));
    }
    problem_check(call_get("/v1/models/nobody/weights"), 404, "unknown-model");
}

/* Feature names are unique for any names of columns and levels. */
static void test_names_of_features_are_unambiguous(void **state) {
    (void)state;
    static const char *const names[] = {"\"a=b\"", "a=\"(missing)\"", "a=b",
                                        "a=c",     "a=(missing)",     "\"\"\"q\""};
    status_check(
        call_upload(
            "/v1/datasets/ambiguous?header=true",
            "a=b,a,\"\"\"q\",y\n1,b,1,u\n2,c,0,v\n3,(missing),1,u\n4,b,0,v\n5,,1,u\n7,c,1,v\n"),
        201);
    job_train("{'model':'ambiguous','dataset':'ambiguous','target':'y',"
              "'algorithm':'logistic'}");
    const struct response *a = call_get("/v1/models/ambiguous/weights");
    assert_int_equal(count_at(a, "/features"), 6);
    for (size_t i = 0; i < 6; i++) {
        size_t n = 0;
        for (size_t j = 0; j < 6; j++) {
            n += strcmp(json_string_value(json_array_get(json_find(a->json, "/features"), j)),
                        names[i]) == 0;
        }
        if (n != 1) {
            fail_msg("%zu features are called %s", n, names[i]);
        }
    }
}

/* Confusion matrices are not in lists. */
static void test_lists_are_brief(void **state) {
    (void)state;
    static const char *const lists[] = {"/v1/models", "/v1/models/iris/versions", "/v1/jobs"};
    for (size_t i = 0; i < 3; i++) {
        const struct response *a = status_check(call_get("%s", lists[i]), 200);
        assert_null(strstr(a->body, "\"confusion\""));
        assert_null(strstr(a->body, "\"per_class\""));
        const json_t *items = json_find(a->json, "/items");
        assert_true(json_array_size(items) > 0);
        for (size_t k = 0; k < json_array_size(items); k++) {
            const json_t *item = json_array_get(items, k),
                         *result = i == 2 ? json_find(item, "/result") : item;
            assert_true(real_in(result, "/metrics/train/accuracy") > 0);
            assert_true(real_in(result, "/metrics/train/log_loss") > 0);
            if (i == 1) {
                assert_int_equal(real_in(item, "/n_classes"), 3);
            }
        }
    }
    const struct response *a = call_get("/v1/models/iris");
    assert_int_equal(count_at(a, "/metrics/train/confusion/matrix"), 3);
    assert_non_null(json_find(a->json, "/metrics/train/per_class"));
}

static void test_weights_of_two_classes(void **state) {
    (void)state;
    const struct response *a = call_get("/v1/models/cancer/weights");
    assert_int_equal(count_at(a, "/discriminants"), 1);
    assert_string_equal(string_at(a, "/discriminants/0/positive"), "malignant");
    double norm = 0;
    for (size_t j = 0; j < count_at(a, "/w/0"); j++) {
        double w = json_number_value(json_array_get(json_find(a->json, "/w/0"), j));
        norm += w * w;
    }
    assert_near(real_at(a, "/discriminants/0/norm"), sqrt(norm), 1e-12 * sqrt(norm));
    assert_near(real_at(a, "/discriminants/0/distance_from_origin"),
                -real_at(a, "/w0/0") / sqrt(norm), 1e-6);
}

/* Weights of a version do not change: a request with their ETag gets 304. */
static void test_weights_have_a_tag(void **state) {
    (void)state;
    static const char *const paths[] = {"/v1/models/iris/versions/1/weights",
                                        "/v1/models/iris/versions/2/weights",
                                        "/v1/models/cancer/weights"};
    char tag[3][80];
    for (size_t i = 0; i < 3; i++) {
        const struct response *a = status_check(call_get("%s", paths[i]), 200);
        snprintf(tag[i], sizeof tag[i], "%s", header_of(a, "ETag"));
        assert_true(tag[i][0] == '"' && (i == 0 || strcmp(tag[i], tag[i - 1]) != 0));
        a = status_check(call_get_with(text("If-None-Match: \"other\", %s", tag[i]), "%s",
                                       paths[i]),
                         304);
        assert_int_equal(a->size, 0);
        assert_string_equal(header_of(a, "ETag"), tag[i]);
        status_check(call_get_with("If-None-Match: \"other\"", "%s", paths[i]), 200);
    }
}

static void test_description_and_tags(void **state) {
    (void)state;
    const struct response *a =
        call_json("PATCH", "/v1/models/iris", "{'description':'the classic','tags':['demo']}");
    status_check(a, 200);
    assert_string_equal(string_at(a, "/description"), "the classic");
    a = call_get("/v1/models/iris");
    assert_string_equal(string_at(a, "/tags/0"), "demo");
    fault_contains(problem_check(call_json("PATCH", "/v1/models/iris", "{'tags':'demo'}"), 422,
                                 "invalid"),
                   "/tags", "array");
    problem_check(call_json("PATCH", "/v1/models/nobody", "{'tags':[]}"), 404, "unknown-model");
}

/* A PATCH with a description of n bytes. */
static const struct response *describe(size_t n) {
    const char *body = text("{\"description\":\"%0*d\"}", (int)n, 7);
    return call_text("PATCH", "/v1/models/iris", NULL, body);
}

/* A PATCH with n tags of `size` bytes each. */
static const struct response *tag(size_t n, size_t size) {
    static char body[32 * 1024];
    size_t at = (size_t)snprintf(body, sizeof body, "{\"tags\":[");
    for (size_t i = 0; i < n; i++) {
        at += (size_t)
            snprintf(body + at, sizeof body - at, "%s\"%.*s\"", i > 0 ? "," : "", (int)size,
                     "tttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt"
                     "tttttttttttttttttttttttttttttttttttttttttt");
    }
    snprintf(body + at, sizeof body - at, "]}");
    return call_text("PATCH", "/v1/models/iris", NULL, body);
}

/* Descriptions and tags at the limits are accepted, larger ones are refused. */
static void test_limits_of_description_and_tags(void **state) {
    (void)state;
    const struct response *a = describe(4000);
    status_check(a, 200);
    assert_int_equal(strlen(string_at(a, "/description")), 4000);
    fault_contains(problem_check(describe(4001), 422, "invalid"), "/description",
                   "at most 4000 bytes");
    a = tag(100, 1);
    status_check(a, 200);
    assert_int_equal(count_at(a, "/tags"), 100);
    fault_contains(problem_check(tag(101, 1), 422, "invalid"), "/tags", "100");
    a = tag(2, 100);
    status_check(a, 200);
    assert_int_equal(strlen(string_at(a, "/tags/1")), 100);
    fault_contains(problem_check(tag(2, 101), 422, "invalid"), "/tags/1", "1 to 100 bytes");
    fault_contains(problem_check(tag(1, 0), 422, "invalid"), "/tags/0", "1 to 100 bytes");
    a = call_get("/v1/models/iris"); /* the refused change had no effect */
    assert_int_equal(strlen(string_at(a, "/description")), 4000);
    assert_int_equal(count_at(a, "/tags"), 2);
    status_check(call_json("PATCH", "/v1/models/iris", "{'description':null,'tags':null}"), 200);
}

static void test_delete(void **state) {
    (void)state;
    /* the live version is deleted only if another version is named */
    problem_check(call_delete("/v1/models/iris/versions/3"), 409, "conflict");
    problem_check(call_delete("/v1/models/iris/versions/3?promote=3"), 400, "bad-request");
    problem_check(call_delete("/v1/models/iris/versions/3?promote=9"), 404, "unknown-model");
    problem_check(call_delete("/v1/models/iris/versions/3?promote=0"), 400, "bad-request");
    problem_check(call_delete("/v1/models/iris?promote=2"), 400, "bad-request");
    assert_int_equal(served_version(), 3);
    status_check(call_delete("/v1/models/iris/versions/3?promote=2"), 204);
    const struct response *a = call_get("/v1/models/iris");
    assert_int_equal(real_at(a, "/version"), 2);
    assert_int_equal(served_version(), 2);
    problem_check(call_get("/v1/models/iris/versions/3/weights"), 404, "unknown-model");
    problem_check(call_delete("/v1/models/iris/versions/3"), 404, "unknown-model");
    status_check(call_delete("/v1/models/iris"), 204);
    problem_check(call_get("/v1/models/iris"), 404, "unknown-model");
    problem_check(call_json("POST", "/v1/models/iris/predict", "{'instances':[[1,2,3,4]]}"), 404,
                  "unknown-model");
    /* version numbers are not reused */
    const struct response *job =
        job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    assert_int_equal(real_at(job, "/result/version"), 4);
}

/* One model with chosen members: each is that of the whole description. */
static void test_members_of_a_description(void **state) {
    (void)state;
    static const char *const places[] = {"/v1/models/iris", "/v1/models/iris/versions/3"};
    for (size_t i = 0; i < 2; i++) {
        const struct response *whole = status_check(call_get("%s", places[i]), 200),
                              *part =
                                  status_check(call_get("%s?fields=classes,name,inputs", places[i]),
                                               200);
        assert_int_equal(json_object_size(part->json), 3);
        assert_true(json_equal(value_at(whole, "/classes"), value_at(part, "/classes")));
        assert_true(json_equal(value_at(whole, "/name"), value_at(part, "/name")));
        assert_true(json_equal(value_at(whole, "/inputs"), value_at(part, "/inputs")));
        problem_check(call_get("%s?fields=color", places[i]), 400, "bad-request");
        assert_non_null(value_at(whole, "/metrics/train"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_description_of_a_model),
        TEST(test_lists),
        TEST(test_roll_back_and_forward),
        TEST(test_conditions),
        TEST(test_weights_of_many_classes),
        TEST(test_names_of_features_are_unambiguous),
        TEST(test_lists_are_brief),
        TEST(test_members_of_a_description),
        TEST(test_weights_of_two_classes),
        TEST(test_weights_have_a_tag),
        TEST(test_description_and_tags),
        TEST(test_limits_of_description_and_tags),
        TEST(test_delete),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
