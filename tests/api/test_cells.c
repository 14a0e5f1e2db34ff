/* CSV by Accept: lists, versions, history, weights and metrics; 406 for all other JSON. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic',"
              "'validation':{'holdout':0.2}}");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'naive_bayes'}");
    status_check(call_json("PATCH", "/v1/models/iris",
                           "{'description':'a, \\u00e4 \\\"b\\\"\\n2','tags':['x','y z']}"),
                 200);
    return 0;
}

static const struct response *get_csv(const char *path) {
    const struct response *r = status_check(call_get_with("Accept: text/csv", "%s", path), 200);
    assert_non_null(strstr(header_of(r, "Content-Type"), "text/csv"));
    return r;
}

/* null is an empty cell, an array is JSON, a text is quoted if needed. */
static void test_list_cells(void **state) {
    (void)state;
    const struct response *r =
        get_csv("/v1/models/iris/versions?fields=name,version,live,description,tags");
    assert_string_equal(r->body,
                        "name,version,live,description,tags\n"
                        "iris,1,false,\"a, \xc3\xa4 \"\"b\"\"\n2\",\"[\"\"x\"\",\"\"y z\"\"]\"\n"
                        "iris,2,true,\"a, \xc3\xa4 \"\"b\"\"\n2\",\"[\"\"x\"\",\"\"y z\"\"]\"\n");
    /* the paths of all items: version 2 has no validation */
    r = get_csv("/v1/models/iris/versions?fields=version,validation");
    assert_string_equal(r->body, "version,validation.holdout,validation\n1,0.2,\n2,,\n");
    r = get_csv("/v1/models/iris/versions?fields=gradient_norm");
    assert_int_equal(strncmp(r->body, "gradient_norm\n", 14), 0);
    assert_non_null(strstr(r->body, "\n\"\"\n")); /* a line of one empty cell */
    r = get_csv("/v1/models/iris/versions?limit=1&fields=version");
    assert_string_equal(r->body, "version\n1\n");
    assert_string_equal(header_of(r, "Link"), "<?after=1&limit=1&fields=version>; rel=\"next\"");
    r = get_csv("/v1/models/iris/versions?after=1&limit=1&fields=version");
    assert_string_equal(r->body, "version\n2\n");
    assert_null(header_of(r, "Link"));
    r = get_csv("/v1/jobs?state=succeeded&fields=id,model,state&limit=1");
    assert_string_equal(r->body, "id,model,state\n2,iris,succeeded\n");
    assert_string_equal(
        header_of(r, "Link"),
        "<?after=2&limit=1&fields=id%2Cmodel%2Cstate&state=succeeded>; rel=\"next\"");
    r = get_csv("/v1/jobs?model=nobody");
    assert_string_equal(r->body, "");
    r = status_check(call_get_with("Accept: text/tab-separated-values",
                                   "/v1/datasets?fields=name,rows,n_columns"),
                     200);
    assert_string_equal(r->body, "name\trows\tn_columns\niris\t150\t5\n");
    assert_non_null(strstr(get_csv("/problems?fields=name")->body, "\nnot-acceptable\n"));
    assert_non_null(strstr(get_csv("/v1/algorithms?fields=id,streams")->body, "\nlogistic,true\n"));
    const double accuracy =
        real_at(call_get("/v1/models/iris/versions/1"), "/metrics/validation/accuracy");
    r = get_csv("/v1/models/iris/versions");
    assert_non_null(strstr(r->body, "metrics.validation.accuracy"));
    assert_non_null(strstr(r->body, text(",%.17g,", accuracy)));
}

/* The value of a line "name,value". */
static double value_of(const struct response *r, const char *name) {
    const char *at = strstr(r->body, text("\n%s,", name));
    if (at == NULL) {
        answer_fail(r, __FILE__, __LINE__, "no line \"%s\"", name);
        return 0;
    }
    return strtod(at + strlen(name) + 2, NULL);
}

static void test_metrics(void **state) {
    (void)state;
    static const char *const headers[] = {"Accept: text/csv", "Content-Type: application/json",
                                          NULL};
    static const char body[] = "{\"dataset\":\"iris\"}";
    const struct response *json =
        status_check(call_json("POST", "/v1/models/iris/evaluate", "{'dataset':'iris'}"), 200);
    const struct response *r =
        status_check(call_bytes("POST", "/v1/models/iris/evaluate", headers, body, 0), 200);
    assert_int_equal(strncmp(r->body, "name,value\nrows,150\naccuracy,", 29), 0);
    static const char *const names[] = {"accuracy",           "log_loss",
                                        "macro.f1",           "confusion.matrix.1.2",
                                        "per_class.2.recall", "accuracy_interval.0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char pointer[64];
        (void)snprintf(pointer, sizeof pointer, "/metrics/%s", names[i]);
        for (char *at = pointer; *at; at++) {
            *at = *at == '.' ? '/' : *at;
        }
        assert_true(value_of(r, names[i]) == real_at(json, pointer));
    }
    assert_non_null(strstr(r->body, "\nconfusion.classes.0,setosa\n"));
    assert_non_null(strstr(r->body, "\nweight,\n")); /* the model has no weight column */
    /* undefined for three classes: an empty value */
    assert_non_null(strstr(r->body, "\nroc_auc_interval,\n"));
}

static void test_history(void **state) {
    (void)state;
    const struct response *json = call_get("/v1/jobs/1/history"),
                          *r = get_csv("/v1/jobs/1/history");
    size_t lines = 0;
    for (const char *at = strchr(r->body, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
        lines++;
    }
    assert_int_equal(lines, count_at(json, "/items") + 1);
    assert_int_equal(strncmp(r->body, "iteration,", 10), 0);
    assert_non_null(strstr(r->body, "\n1,"));
    assert_null(header_of(r, "Discern-Truncated"));
    problem_check(call_get_with("Accept: text/csv", "/v1/jobs/99/history"), 404, "unknown-job");
}

/* Everything else that replies JSON refuses CSV, and every route refuses what it does not send. */
static void test_not_acceptable(void **state) {
    (void)state;
    static const char *const only_json[] = {"/",
                                            "/v1/models/iris",
                                            "/v1/models/iris/versions/1",
                                            "/v1/datasets/iris",
                                            "/v1/jobs/1",
                                            "/version",
                                            "/v1/algorithms/logistic",
                                            "/openapi.json",
                                            "/metrics",
                                            "/docs",
                                            "/problems/not-acceptable",
                                            "/v1/jobs/1/events",
                                            "/v1/models/iris/weights" /* not linear */};
    for (size_t i = 0; i < sizeof only_json / sizeof *only_json; i++) {
        const struct response *r = call_get_with("Accept: text/csv", "%s", only_json[i]);
        problem_check(r, 406, "not-acceptable");
        status_check(call_get_with("Accept: text/csv, */*;q=0.1", "%s", only_json[i]), 200);
    }
    static const char *const lists[] = {"/v1/models",     "/v1/models/iris/versions",
                                        "/v1/datasets",   "/v1/datasets/iris/versions",
                                        "/v1/jobs",       "/v1/jobs/1/history",
                                        "/v1/algorithms", "/problems"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        get_csv(lists[i]);
        problem_check(call_get_with("Accept: text/html", "%s", lists[i]), 406, "not-acceptable");
    }
    static const char *const headers[] = {"Accept: text/csv", "Content-Type: application/json",
                                          NULL};
    problem_check(call_bytes("POST", "/v1/jobs", headers, "{}", 0), 406, "not-acceptable");
    problem_check(call_bytes("POST", "/v1/models/iris/importance", headers, "{}", 0), 406,
                  "not-acceptable");
    /* a probe needs an answer; a deletion has no body */
    status_check(call_get_with("Accept: text/csv", "/healthz"), 200);
    status_check(call_get_with("Accept: text/csv", "/readyz"), 200);
    problem_check(call_bytes("DELETE", "/v1/models/nobody", headers, NULL, 0), 404,
                  "unknown-model");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_list_cells), TEST(test_metrics),
                                       TEST(test_history), TEST(test_not_acceptable)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
