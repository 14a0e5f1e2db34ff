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

/* ---- ?sort= ---- */

/* Reads the sorted list in pages of `limit` items. Checks the order, and returns the number of
 * models; *n_without: of those without the metric, which must be last. */
static size_t sorted_check(const char *path, bool descending, int limit, size_t *n_without) {
    const char *query =
        text("sort=%s%s&fields=name,metrics&limit=%d", descending ? "-" : "", path, limit);
    const char *after = "", *name = "";
    double last = 0;
    size_t n = 0;
    *n_without = 0;
    do {
        const struct response *r = status_check(call_get("/v1/models?%s%s", query, after), 200);
        for (size_t i = 0; i < count_at(r, "/items"); i++, n++) {
            const json_t *value =
                json_object_get(json_find(r->json, text("/items/%zu", i)), "metrics");
            for (const char *at = path + sizeof "metrics" - 1; value != NULL && *at == '.';) {
                const size_t length = strcspn(at + 1, ".");
                value = json_object_get(value, text("%.*s", (int)length, at + 1));
                at += 1 + length;
            }
            const bool has = json_is_number(value);
            const double number = has ? json_number_value(value) : 0;
            const char *own = string_at(r, text("/items/%zu/name", i));
            const bool same =
                *n_without > 0 || (n > 0 && has && !(number < last) && !(number > last));
            if ((has && *n_without > 0) || (same && n > 0 && strcmp(own, name) <= 0) ||
                (has && n > 0 && (descending ? number > last : number < last))) {
                answer_fail(r, __FILE__, __LINE__, "order of %s", own);
            }
            *n_without += !has;
            last = number;
            name = text("%s", own);
        }
        const json_t *next = json_find(r->json, "/next");
        after = json_is_string(next) ? text("&after=%s", json_string_value(next)) : NULL;
    } while (after != NULL);
    return n;
}

static void test_sort(void **state) {
    (void)state;
    static const char *const jobs[] = {
        "'validation':{'holdout':0.3},'params':{'lambda':100}",
        "'validation':{'holdout':0.3},'params':{'lambda':1000}",
        "'validation':{'folds':3,'curves':true},'params':{'lambda':10}",
        "'validation':{'holdout':0.3},'params':{'lambda':100}", "'params':{'lambda':1}"};
    enum { JOBS = sizeof jobs / sizeof *jobs, MODELS = JOBS + 1 }; /* and that of prepare */
    size_t without;
    for (size_t i = 0; i < JOBS; i++) {
        job_train("{'model':'s%zu','dataset':'iris','target':'class','algorithm':'logistic',%s}",
                  JOBS - i, jobs[i]);
    }
    static const char *const paths[] = {"metrics.validation.roc_auc",
                                        "metrics.validation.log_loss",
                                        "metrics.train.accuracy",
                                        "metrics.validation.macro.f1",
                                        "metrics.train.weighted.precision",
                                        "metrics.validation.pooled.brier"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        for (int limit = 1; limit <= 4; limit += 3) {
            for (int descending = 0; descending < 2; descending++) {
                assert_int_equal(sorted_check(paths[i], descending, limit, &without), MODELS);
                assert_int_equal(without, strstr(paths[i], "pooled") != NULL       ? MODELS - 1
                                          : strstr(paths[i], "validation") != NULL ? 1
                                                                                   : 0);
            }
        }
    }
    const struct response *r =
        problem_check(call_get("/v1/models?sort=-metrics.validation.roc_aux"), 400, "bad-request");
    assert_non_null(strstr(string_at(r, "/detail"), "did you mean \"metrics.validation.roc_auc\""));
    problem_check(call_get("/v1/models?sort=name"), 400, "bad-request");
    problem_check(call_get("/v1/models?sort="), 400, "bad-request");
    problem_check(call_get("/v1/datasets?sort=metrics.train.accuracy"), 400, "bad-request");
    /* a cursor is for the same order only */
    static const char *const cursors[] = {"iris", "metrics.train.brier:0000000000000000:iris",
                                          "metrics.train.accuracy:1:iris",
                                          "metrics.train.accuracy::", "metrics.train.accuracy"};
    for (size_t i = 0; i < sizeof cursors / sizeof *cursors; i++) {
        problem_check(call_get("/v1/models?sort=metrics.train.accuracy&after=%s", cursors[i]), 400,
                      "bad-request");
    }
    r = status_check(call_get("/v1/models?sort=metrics.train.accuracy&limit=1"), 200);
    problem_check(call_get("/v1/models?after=%s", string_at(r, "/next")), 400, "bad-request");
    r = call_text("GET", "/v1/models?sort=metrics.train.accuracy&limit=1", "Accept: text/csv",
                  NULL);
    assert_non_null(strstr(header_of(r, "Link"), "&sort=metrics.train.accuracy"));
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

/* ---- ?expires= ---- */

/* Checks the names, separated by blanks, of a list in pages of one item. */
static void names_check(const char *path, const char *member, const char *expected) {
    const char *names = "", *after = "";
    while (after != NULL) {
        const struct response *r =
            status_check(call_get("%s&limit=1&fields=%s%s", path, member, after), 200);
        for (size_t i = 0; i < count_at(r, "/items"); i++) {
            names = text("%s%s%s", names, *names != '\0' ? " " : "",
                         string_at(r, text("/items/%zu/%s", i, member)));
        }
        const json_t *next = json_find(r->json, "/next");
        after = json_is_string(next) ? text("&after=%s", json_string_value(next)) : NULL;
    }
    assert_string_equal(names, expected);
}

static void test_names_that_expire(void **state) {
    (void)state;
    static const char *const job = "{'model':'%s','dataset':'%s','target':'class','algorithm':"
                                   "'logistic'%s}";
    static const char *const kinds[] = {"datasets", "models"};
    status_check(call_upload("/v1/datasets/e-scratch?expires_in=3600", "a,class\n1,x\n2,y\n"), 201);
    status_check(call_upload("/v1/datasets/e-stays", "a,class\n1,x\n2,y\n"), 201);
    job_train(job, "e-scratch", "e-scratch", ",'expires_in':3600");
    job_train(job, "e-stays", "e-scratch", "");
    for (size_t i = 0; i < 2; i++) {
        const char *list = text("/v1/%s?expires=", kinds[i]);
        names_check(text("%strue", list), "name", "e-scratch");
        names_check(text("%sfalse", list), "name", "e-stays iris");
    }
    names_check("/v1/models?sort=-metrics.train.accuracy&expires=true", "name", "e-scratch");
    names_check("/v1/jobs?expires=true", "model", "e-scratch");
    names_check("/v1/jobs?expires=false", "model", "e-stays iris");
    /* a job expires with its model */
    status_check(call_patch("/v1/models/e-stays", "{'expires_in':3600}"), 200);
    names_check("/v1/jobs?expires=false", "model", "iris");
    names_check("/v1/models?expires=false", "name", "iris");
    const struct response *r = call_get_with("Accept: text/csv", "/v1/models?expires=true&limit=1");
    assert_non_null(strstr(header_of(r, "Link"), "expires=true"));
    for (size_t i = 0; i < 2; i++) {
        problem_check(call_get("/v1/%s?expires=1", kinds[i]), 400, "bad-request");
        status_check(call_delete("/v1/models/e-%s", i > 0 ? "stays" : "scratch"), 204);
        status_check(call_delete("/v1/datasets/e-%s", i > 0 ? "stays" : "scratch"), 204);
    }
    problem_check(call_get("/v1/datasets/iris/versions?expires=true"), 400, "bad-request");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_links),  TEST(test_long_members),
                                       TEST(test_fields), TEST(test_names_that_expire),
                                       TEST(test_sort),   TEST(test_links_below_a_base_path)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
