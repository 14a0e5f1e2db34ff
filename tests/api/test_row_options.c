/* Files that needed options at their upload (header, delimiter, skip_rows, names, duplicates) can
 * be sent to predict, evaluate and transform with the same options. */
#include "lib/api.h"

#include <string.h>

static const char *const titled = "Report, spring 2024\n;;\na;b;y\n1;5;u\n2;3;v\n2;4;u\n4;1;v\n";
static const char *const two_lines = "first,second,\nsize,size,y\n1,5,u\n2,3,v\n2,4,u\n4,1,v\n";
static const char *const nameless = "1^5^u\n2^3^v\n2^4^u\n4^1^v\n";
static const char *const repeated = "a,a,y\n1,5,u\n2,3,v\n2,4,u\n4,1,v\n";

static const struct {
    const char *name, *options;
    const char *const *body;
} files[] = {{"titled", "skip_rows=2", &titled},
             {"two-lines", "header=2", &two_lines},
             {"nameless", "names=a,b,y&delimiter=%5E", &nameless},
             {"replaced", "names=p,q,y&header=true", &repeated},
             {"no-header", "header=false&delimiter=%5E", &nameless},
             {"repeated", "duplicates=rename", &repeated}};
enum { N_FILES = sizeof files / sizeof files[0] };

static int prepare(void **state) {
    if (group_start(state) != 0) {
        return -1;
    }
    for (size_t i = 0; i < N_FILES; i++) {
        const struct response *r =
            status_check(call_upload(text("/v1/datasets/%s?%s", files[i].name, files[i].options),
                                     *files[i].body),
                         201);
        assert_json(r, "/rows", "4");
        job_train("{'model':'%s','dataset':'%s','target':'%s','algorithm':'fisher','params':"
                  "{'shrinkage':0.5}}",
                  files[i].name, files[i].name, string_at(r, "/columns/2/name"));
    }
    keep_free();
    return 0;
}

static const struct response *post(const char *path, const char *type, const char *body) {
    const char *const headers[] = {text("Content-Type: %s", type), NULL};
    return call_bytes("POST", text("/v1/models/%s", path), headers, body, strlen(body));
}

static const char *tail(const struct response *r, const char *from) {
    const char *at = strstr(status_check(r, 200)->body, from);
    return text("%.*s", (int)strcspn(at, "}"), at);
}

static void test_same_options(void **state) {
    (void)state;
    static const char *const rows = "[[1,5],[2,3],[2,4],[4,1]]";
    for (size_t i = 0; i < N_FILES; i++) {
        const char *predict = text("%s/predict?output=scores", files[i].name),
                   *given = text("%s&%s", predict, files[i].options);
        const char *expected =
            strstr(status_check(post(predict, "application/json", rows), 200)->body,
                   "\"predictions\"");
        expected = text("%.*s", (int)strcspn(expected, "]") + 1, expected);
        assert_non_null(
            strstr(status_check(post(given, "text/csv", *files[i].body), 200)->body, expected));
        const struct response *r =
            status_check(post(text("%s/transform?%s", files[i].name, files[i].options), "text/csv",
                              *files[i].body),
                         200);
        assert_int_equal(count_at(r, "/rows"), 4);
        r = status_check(post(text("%s/evaluate?%s", files[i].name, files[i].options), "text/csv",
                              *files[i].body),
                         200);
        assert_json(r, "/rows", "4");
        const struct response *stored = call_post(text("/v1/models/%s/evaluate", files[i].name),
                                                  "{'dataset':'%s'}", files[i].name);
        assert_near(real_at(r, "/metrics/accuracy"), real_at(stored, "/metrics/accuracy"), 0);
    }
    assert_string_equal(tail(post("titled/predict?skip_rows=2&output=label", "text/csv", titled),
                             "\"ignored"),
                        "\"ignored_columns\":[\"y\"]");
}

static void refused(const char *path, const char *type, const char *body, int status,
                    const char *problem, const char *words) {
    assert_non_null(strstr(problem_check(post(path, type, body), status, problem)->body, words));
}

static void test_refusals(void **state) {
    (void)state;
    refused("titled/predict?skip_rows=x", "text/csv", titled, 400, "bad-request", "skip_rows");
    refused("titled/predict?header=11", "text/csv", titled, 400, "bad-request", "header");
    refused("titled/evaluate?delimiter=ab", "text/csv", titled, 400, "bad-request", "delimiter");
    refused("titled/transform?duplicates=keep", "text/csv", titled, 400, "bad-request",
            "duplicates");
    refused("titled/predict?delimiter=%25&comment=%25", "text/csv", titled, 400, "bad-request",
            "comment");
    refused("titled/predict?skip_rows=1", "application/json", "[[1,5]]", 400, "bad-request",
            "\\\"skip_rows\\\" is for separated text, and the body is application/json");
    refused("titled/predict?names=a,b", "application/x-ndjson", "[1,5]\n", 400, "bad-request",
            "\\\"names\\\" is for separated text");
    const struct response *r =
        call_post("/v1/models/titled/predict?skip_rows=1", "{'dataset':'titled'}");
    assert_non_null(strstr(problem_check(r, 400, "bad-request")->body, "is for rows in the body"));
    refused("nameless/predict?names=a,b", "text/csv", "a,b\n1,5\n", 422, "invalid-instances",
            "looks like a header");
    refused("nameless/predict?names=a", "text/csv", "1\n", 422, "invalid-instances", "\\\"b\\\"");
    refused("nameless/predict?names=a,b", "text/csv", "1,5,u\n", 422, "invalid-instances",
            "expected 2");
    refused("nameless/predict?names=a,b,a", "text/csv", "1,5,6\n", 422, "invalid-instances",
            "comes twice");
    refused("titled/predict?header=2", "text/csv", "a,b,y\na,b\n1,2,u\n", 422, "invalid-instances",
            "last header line has 2 cells");
    refused("titled/predict?header=10", "text/csv", "a,b\n", 422, "invalid-instances",
            "no instances");
    refused("titled/predict?header=true", "text/csv", "1,5\n2,3\n", 422, "invalid-instances",
            "\\\"a\\\"");
    refused("titled/predict?skip_rows=100", "text/csv", titled, 422, "invalid-instances",
            "no instances");
    refused("titled/predict", "text/csv", "a,a,b\n1,2,3\n", 422, "invalid-instances",
            "comes twice");
    /* names and a header that is a row of data: both options name the cure */
    status_check(post("nameless/predict?names=a,b&header=true", "text/csv", "a,b\n1,5\n"), 200);
    refused("nameless/predict?names=a,b&header=false", "text/csv", "a,b\n1,5\n", 422,
            "invalid-instances", "must be a finite number");
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_same_options), TEST(test_refusals)};
    return cmocka_run_group_tests(tests, prepare, group_end);
}
