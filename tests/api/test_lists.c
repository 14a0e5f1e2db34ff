/* GET / and its links; lists without long members; ?fields= of lists. */
#include "lib/api.h"

#include <string.h>

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    job_train(
        "{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic','class_weight'"
        ":{'setosa':1,'versicolor':2,'virginica':1},'validation':{'folds':3}}");
    return 0;
}

/* Every link leads somewhere. */
static void follow_links(const char *base) {
    const struct response *r = status_check(call_get("%s/", base), 200);
    const char *name;
    json_t *link;
    static const char *const names[] = {"datasets", "models", "jobs", "algorithms", "openapi",
                                        "metrics",  "health", "docs", "limits",     "audit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)string_at(r, text("/links/%s", names[i]));
    }
    json_object_foreach(json_find(r->json, "/links"), name, link) {
        const char *path = json_string_value(link);
        assert_int_equal(strncmp(path, base, strlen(base)), 0);
        status_check(call_get("%s", path), 200);
    }
}

static void test_links(void **state) {
    (void)state;
    follow_links("");
    problem_check(call_get("/?x=1"), 400, "bad-request");
    problem_check(call_empty("DELETE", "/"), 405, "method-not-allowed");
}

static void test_links_below_a_base_path(void **state) {
    (void)state;
    static const char *const flags[] = {"--base-path", "/a/b", NULL};
    service_start(flags);
    follow_links("/a/b");
    status_check(call_get("/a/b"), 200);
    status_check(call_get("/"), 200);
    status_check(call_get("/a"), 404);
    status_check(call_get("/a/b//"), 404);
}

/* A list item has the members of the description, with the same values, except long ones. */
static void compare(const char *list, const char *one, const char *const *missing) {
    const struct response *whole = call_get("%s", one), *r = call_get("%s", list);
    const json_t *item = json_find(r->json, "/items/0");
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)whole->json, key, value) {
        size_t i = 0;
        while (missing[i] != NULL && strcmp(missing[i], key) != 0) {
            i++;
        }
        const json_t *own = json_object_get(item, key);
        if ((own != NULL) != (missing[i] == NULL)) {
            answer_fail(r, __FILE__, __LINE__, "member \"%s\"", key);
        }
        if (own != NULL && strcmp(key, "metrics") != 0 && strcmp(key, "result") != 0 &&
            !json_equal(own, value)) {
            answer_fail(r, __FILE__, __LINE__, "value of \"%s\"", key);
        }
        if (strcmp(key, "request") == 0 || strcmp(key, "resolved") == 0) {
            continue;
        }
        /* ?fields= gives the whole member, and no other */
        const struct response *chosen = status_check(call_get("%s?fields=%s", list, key), 200);
        const json_t *only = json_find(chosen->json, "/items/0");
        assert_int_equal(json_object_size(only), 1);
        if (!json_equal(json_object_get(only, key), value)) {
            answer_fail(chosen, __FILE__, __LINE__, "value of \"%s\"", key);
        }
    }
}

static void test_long_members(void **state) {
    (void)state;
    static const char *const of_model[] = {"classes",  "inputs",  "features",
                                           "encoding", "details", NULL},
                             *const of_job[] = {"request", "resolved", NULL},
                             *const of_dataset[] = {"columns", NULL}, *const none[] = {NULL};
    compare("/v1/models", "/v1/models/iris", of_model);
    compare("/v1/models/iris/versions", "/v1/models/iris", of_model);
    compare("/v1/jobs", "/v1/jobs/1", of_job);
    compare("/v1/datasets", "/v1/datasets/iris", of_dataset);
    compare("/v1/datasets/iris/versions", "/v1/datasets/iris", of_dataset);
    compare("/v1/algorithms", "/v1/algorithms/logistic", none);
    const struct response *r = call_get("/v1/models");
    /* "folds" of the job is a number, "folds" of the metrics a list */
    assert_json(r, "/items/0/validation", "{'folds':3}");
    assert_null(json_find(r->json, "/items/0/metrics/validation/folds"));
    assert_null(json_find(r->json, "/items/0/metrics/train/confusion"));
    (void)real_at(r, "/items/0/metrics/validation/accuracy");
    (void)real_at(r, "/items/0/class_weight/versicolor");
    r = call_get("/v1/jobs");
    assert_null(json_find(r->json, "/items/0/result/details"));
    (void)real_at(r, "/items/0/result/metrics/train/accuracy");
}

static void test_fields(void **state) {
    (void)state;
    const struct response *r = call_get("/v1/models?fields=name,version,metrics&limit=5");
    assert_int_equal(json_object_size(json_find(r->json, "/items/0")), 3);
    assert_string_equal(string_at(r, "/items/0/name"), "iris");
    (void)value_at(r, "/items/0/metrics/train/confusion");
    r = call_get("/v1/models?fields=version,name,version");
    assert_json(r, "/items/0", "{'name':'iris','version':1}");
    r = call_get("/v1/algorithms?fields=id");
    assert_json(r, "/items/0", "{'id':'logistic'}");
    static const char *const wrong[] = {"/v1/models?fields=",         "/v1/models?fields=name,",
                                        "/v1/models?fields=name,nme", "/v1/jobs?fields=request",
                                        "/v1/datasets?fields=Name",   "/v1/algorithms?fields=x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        r = problem_check(call_get("%s", wrong[i]), 400, "bad-request");
        assert_non_null(strstr(r->body, "\\\"fields\\\" must be names of members"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_links), TEST(test_long_members), TEST(test_fields),
                                       TEST(test_links_below_a_base_path)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
