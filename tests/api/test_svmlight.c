/* svmlight: upload, rows as features and as svmlight; other tables as svmlight; faults and their
 * places. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define A9A "../shared/data/a9a"
#define SVMLIGHT "Content-Type: text/x-svmlight"
#define AS_SVMLIGHT "Accept: text/x-svmlight"
#define AS_CSV "Accept: text/csv"

static const struct response *put(const char *path, const char *body) {
    return call_upload_bytes(path, body, 0, SVMLIGHT);
}

static void check_body(const struct response *r, const char *expected) {
    status_check(r, 200);
    assert_string_equal(r->body, expected);
}

static void check_has(const struct response *r, const char *part) {
    if (!strstr(r->body, part)) {
        fail_msg("\"%s\" is not in %s", part, r->body);
    }
}

/* Tables that differ in the value or the index of one entry are different versions. */
static void test_content(void **state) {
    (void)state;
    static const char *const bodies[] = {"1 1:0.5\n", "1 1:0.25\n",  "1 1:-0.5\n",
                                         "1 1:1.5\n", "1 1:1\n",     "1 2:1\n",
                                         "1 1:300\n", "1 1:300.5\n", "1 1:1e300\n"};
    enum { N = sizeof bodies / sizeof bodies[0] };
    for (int i = 0; i < N; i++) {
        const struct response *r = put("/v1/datasets/content", bodies[i]);
        assert_null(header_of(r, "Discern-Unchanged"));
        assert_int_equal(whole_at(r, "/version"), i + 1);
        r = status_check(put("/v1/datasets/content", bodies[i]), 200);
        assert_string_equal(header_of(r, "Discern-Unchanged"), "true");
    }
}

static void test_description(void **state) {
    (void)state;
    const struct response *r =
        put("/v1/datasets/small", "# three rows\n1 qid:1 1:2 3:0.5\n\n-1 3:1.5 # x\n1 5:0\n");
    status_check(r, 201);
    assert_int_equal(whole_at(r, "/rows"), 3);
    assert_int_equal(count_at(r, "/columns"), 6);
    assert_string_equal(string_at(r, "/columns/0/name"), "label");
    assert_json(r, "/columns/1",
                "{'name':'f1','type':'numeric','missing':0,'min':0,'max':2,'mean':0."
                "6666666666666666,'std':0.9428090415820634,'nonzero':1}");
    assert_json(
        r, "/columns/5",
        "{'name':'f5','type':'numeric','missing':0,'min':0,'max':0,'mean':0,'std':0,'nonzero':0}");
    assert_json(r, "/sparse", "{'first':'f1','columns':5,'entries':3,'density':0.2}");
    assert_string_equal(string_at(r, "/notes/format"), "svmlight");
    assert_json(r, "/notes/zero_based", "false");
    check_has(r, "queries");
    /* the description and the list agree */
    const struct response *again = call_get("/v1/datasets/small"),
                          *list = call_get("/v1/datasets?limit=1000"),
                          *versions = call_get("/v1/datasets/small/versions");
    assert_true(json_equal(value_at(again, "/columns"), value_at(r, "/columns")));
    assert_true(json_equal(value_at(again, "/sparse"), value_at(r, "/sparse")));
    assert_json(versions, "/items/0/sparse",
                "{'first':'f1','columns':5,'entries':3,'density':0.2}");
    check_has(list, "\"sparse\":{\"first\":\"f1\",\"columns\":5,");
    /* the same body makes no new version, with and without a Content-Type */
    r = call_upload("/v1/datasets/small",
                    "# three rows\n1 qid:1 1:2 3:0.5\n\n-1 3:1.5 # x\n1 5:0\n");
    status_check(r, 200);
    assert_string_equal(header_of(r, "Discern-Unchanged"), "true");
}

static void test_rows_of_features(void **state) {
    (void)state;
    status_check(put("/v1/datasets/rows", "1 1:2 3:0.5\n-1\n1 2:-0 3:7\n"), 201);
    const struct response *r = call_get("/v1/datasets/rows/rows");
    assert_json(r, "/items/0", "{'label':1,'f1':2,'f2':0,'f3':0.5}");
    assert_json(r, "/items/1", "{'label':-1,'f1':0,'f2':0,'f3':0}");
    check_has(r, "\"f2\":-0,");
    check_body(call_get_with(AS_CSV, "/v1/datasets/rows/rows"),
               "label,f1,f2,f3\n1,2,0,0.5\n-1,0,0,0\n1,0,-0,7\n");
    check_body(call_get_with(AS_CSV, "/v1/datasets/rows/rows?columns=f3,label&offset=1"),
               "f3,label\n0,-1\n7,1\n");
    check_body(call_get_with("Accept: application/x-ndjson",
                             "/v1/datasets/rows/rows?columns=f2,f1&limit=1"),
               "{\"f2\":0,\"f1\":2}\n");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/rows/rows"),
               "1 1:2 3:0.5\n-1\n1 2:-0 3:7\n");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/rows/rows?columns=f3,f1&offset=1"),
               "-1\n1 3:7\n");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/rows/rows?columns=label&limit=1"), "1\n");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/rows/rows?offset=3"), "");
    r = call_get_with(AS_SVMLIGHT, "/v1/datasets/rows/rows?limit=1&label=label");
    assert_string_equal(header_of(r, "Content-Type"), "text/x-svmlight");
    assert_string_equal(header_of(r, "Discern-Rows"), "3");
    assert_non_null(strstr(header_of(r, "Link"), "offset=1&limit=1&label=label>"));
    const char *etag = text("If-None-Match: %s", header_of(r, "ETag"));
    status_check(call_get_with(etag, "/v1/datasets/rows/rows?limit=1"),
                 200); /* another format has another ETag */
    static const char *const unknown[] = {
        "f0", "f4", "f01", "f", "f1x", "F1", "f99999999999999999999"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        check_has(problem_check(call_get("/v1/datasets/rows/rows?columns=%s", unknown[i]), 400,
                                "bad-request"),
                  text("names \\\"%s\\\", which is not a column", unknown[i]));
    }
    check_has(problem_check(call_get("/v1/datasets/rows/rows?columns=f1,f2,f1"), 400,
                            "bad-request"),
              "names \\\"f1\\\" twice");
    problem_check(call_get("/v1/datasets/rows/rows?label=label"), 400, "bad-request");
    problem_check(call_get_with(AS_SVMLIGHT, "/v1/datasets/rows/rows?label=f1"), 400,
                  "bad-request");
}

/* Rows written as CSV can be uploaded and have equal numbers; rows written as svmlight make an
 * equal dataset. */
static void test_there_and_back(void **state) {
    (void)state;
    status_check(put("/v1/datasets/there",
                     "spam 1:0.1 2:1e-300 4:1234567890123456\nham 3:-0.25\nspam 1:4.9e-324\n"),
                 201);
    const struct response *csv = call_get_with(AS_CSV, "/v1/datasets/there/rows"),
                          *lines = call_get_with(AS_SVMLIGHT, "/v1/datasets/there/rows");
    status_check(call_upload("/v1/datasets/back", csv->body), 201);
    const struct response *a = call_get("/v1/datasets/there/rows"),
                          *b = call_get("/v1/datasets/back/rows");
    assert_true(json_equal(value_at(a, "/items"), value_at(b, "/items")));
    assert_int_equal(count_at(a, "/items"), 3);
    const struct response *again = put("/v1/datasets/again", lines->body);
    assert_string_equal(string_at(again, "/content"),
                        string_at(call_get("/v1/datasets/there"), "/content"));
    for (size_t j = 1; j <= 4; j++) { /* the summaries of the sparse and the dense reader agree */
        const struct response *sparse = call_get("/v1/datasets/there"),
                              *dense = call_get("/v1/datasets/back");
        static const char *const members[] = {"min", "max", "mean", "std"};
        for (size_t m = 0; m < 4; m++) {
            const char *at = text("/columns/%zu/%s", j, members[m]);
            assert_close(real_at(sparse, at), real_at(dense, at), 1e-14);
        }
    }
}

static void test_zero_based_and_wide(void **state) {
    (void)state;
    const struct response *r =
        put("/v1/datasets/zero?zero_based=true&label=class&types=class:categorical",
            "1 0:3\n0 2:1\n");
    status_check(r, 201);
    assert_string_equal(string_at(r, "/columns/0/name"), "class");
    assert_string_equal(string_at(r, "/columns/0/type"), "categorical");
    assert_string_equal(string_at(r, "/columns/1/name"), "f0");
    assert_string_equal(string_at(r, "/sparse/first"), "f0");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/zero/rows"), "1 0:3\n0 2:1\n");
    check_body(call_get_with(AS_CSV, "/v1/datasets/zero/rows"),
               "class,f0,f1,f2\n1,3,0,0\n0,0,0,1\n");
    fault_check(problem_check(put("/v1/datasets/zero", "1 1:1\n1 0:3\n"), 422, "invalid-dataset"),
                "line 2");
    problem_check(put("/v1/datasets/zero?zero_based=yes", "1 1:1\n"), 400, "bad-request");
    /* too wide for columns: only named features are shown */
    r = put("/v1/datasets/wide", "1 3:1 2147483646:2\n-1 16385:1\n");
    status_check(r, 201);
    assert_int_equal(count_at(r, "/columns"), 2);
    assert_json(
        r, "/columns/1",
        "{'name':'f','type':'sparse','missing':0,'first':1,'width':2147483646,'entries':3}");
    assert_int_equal(whole_at(r, "/sparse/columns"), 2147483646);
    assert_int_equal(whole_at(r, "/n_columns"), 2147483647);
    check_has(problem_check(call_get("/v1/datasets/wide/rows"), 406, "not-acceptable"),
              "2147483646 features");
    problem_check(call_get_with(AS_CSV, "/v1/datasets/wide/rows"), 406, "not-acceptable");
    check_body(call_get_with(AS_CSV, "/v1/datasets/wide/rows?columns=f2147483646,f4,f3"),
               "f2147483646,f4,f3\n2,0,1\n0,0,0\n");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/wide/rows"),
               "1 3:1 2147483646:2\n-1 16385:1\n");
    /* the widest dataset that is shown column by column */
    r = put("/v1/datasets/widest", "1 3:1 16384:2\n");
    assert_int_equal(count_at(r, "/columns"), 16385);
    assert_string_equal(string_at(r, "/columns/16384/name"), "f16384");
    assert_int_equal(whole_at(call_get("/v1/datasets/widest/rows"), "/items/0/f16384"), 2);
}

static void test_faults(void **state) {
    (void)state;
    const struct response *r = put("/v1/datasets/bad", "1 1:1\n1 2:1 2:1\n1 3:nan\n3:1\n");
    problem_check(r, 422, "invalid-dataset");
    assert_json(r, "/errors/0", "{'line':2,'column':7,'detail':'index 2 comes twice'}");
    assert_int_equal(whole_at(r, "/errors/1/line"), 3);
    assert_int_equal(whole_at(r, "/errors/1/column"), 5);
    assert_int_equal(whole_at(r, "/errors/2/line"), 4);
    assert_int_equal(count_at(r, "/errors"), 3);
    problem_check(call_get("/v1/datasets/bad"), 404, "unknown-dataset");
    r = put("/v1/datasets/bad", repeat("1 x\n", 30));
    assert_int_equal(whole_at(problem_check(r, 422, "invalid-dataset"), "/errors/19/line"), 20);
    check_has(r, "and 10 more");
    r = put("/v1/datasets/bad?on_error=skip", "1 1:1\n1 2:1 2:1\n1 3:nan\n3:1\n2 2:2\n");
    status_check(r, 201);
    assert_int_equal(whole_at(r, "/rows"), 2);
    assert_int_equal(whole_at(r, "/notes/skipped/rows"), 3);
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/bad/rows"), "1 1:1\n2 2:2\n");
    problem_check(put("/v1/datasets/bad?label=f7", "1 1:1\n"), 422, "invalid-dataset");
    problem_check(put("/v1/datasets/bad?types=label:sparse", "1 1:1\n"), 400, "bad-request");
    problem_check(put("/v1/datasets/bad?types=f1:text", "1 1:1\n"), 422, "invalid-dataset");
}

/* Tables with columns: the label is named, the other columns are numbers. */
static void test_dense_as_svmlight(void **state) {
    (void)state;
    status_check(call_upload("/v1/datasets/dense",
                             "kind,a,b,c,old\nx,1,,0.5,true\ny,0,2,-0,false\nz z,3,4,5,true\n"),
                 201);
    check_has(problem_check(call_get_with(AS_SVMLIGHT, "/v1/datasets/dense/rows"), 400,
                            "bad-request"),
              "\\\"label\\\" must name the column");
    problem_check(call_get_with(AS_SVMLIGHT, "/v1/datasets/dense/rows?label=none"), 400,
                  "bad-request");
    check_has(problem_check(call_get_with(AS_SVMLIGHT, "/v1/datasets/dense/rows?label=a"), 406,
                            "not-acceptable"),
              "column \\\"kind\\\" is categorical");
    check_has(problem_check(call_get_with(AS_SVMLIGHT,
                                          "/v1/datasets/dense/rows?label=kind&limit=2"),
                            406, "not-acceptable"),
              "column \\\"b\\\" is missing in row 1 ");
    check_has(problem_check(call_get_with(AS_SVMLIGHT,
                                          "/v1/datasets/dense/rows?label=kind&columns=a"),
                            406, "not-acceptable"),
              "in row 3 ");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/dense/rows?label=kind&offset=1&limit=1"),
               "y 2:2 3:-0\n");
    check_body(call_get_with(AS_SVMLIGHT,
                             "/v1/datasets/dense/rows?label=kind&columns=c,a,old&limit=2"),
               "x 1:0.5 2:1 3:1\ny 1:-0\n");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/dense/rows?label=b&columns=a,old"),
               "? 1:1 2:1\n2\n4 1:3 2:1\n");
    /* the numbers of iris are unchanged after a conversion to svmlight and back */
    upload_file("iris", "iris.csv");
    const struct response *lines =
        call_get_with(AS_SVMLIGHT, "/v1/datasets/iris/rows?label=class&limit=1000");
    status_check(lines, 200);
    const struct response *r = put("/v1/datasets/iris-sparse", lines->body);
    assert_int_equal(whole_at(r, "/rows"), 150);
    assert_int_equal(whole_at(r, "/sparse/columns"), 4);
    assert_int_equal(whole_at(r, "/n_columns"), 5);
    const struct response *dense = call_get("/v1/datasets/iris");
    for (size_t j = 0; j < 4; j++) {
        assert_true(real_at(r, text("/columns/%zu/min", j + 1)) ==
                    real_at(dense, text("/columns/%zu/min", j)));
        assert_close(real_at(r, text("/columns/%zu/std", j + 1)),
                     real_at(dense, text("/columns/%zu/std", j)), 1e-12);
    }
}

static const struct response *append(const char *path, const char *type, const char *body) {
    return call(
        &(struct request){.method = "POST", .path = path, .headers = HEADERS(type), .body = body});
}

/* An append makes the dataset that an upload of all lines makes. Rows of a table with columns
 * cannot be appended to svmlight, nor svmlight lines to a table. */
static void test_appending(void **state) {
    (void)state;
    status_check(put("/v1/datasets/grows?zero_based=true", "1 0:1 2:2\n"), 201);
    problem_check(append("/v1/datasets/grows/rows", SVMLIGHT, "x 1:5 # later\n2\n"), 422,
                  "invalid-dataset");
    status_check(append("/v1/datasets/grows/rows?allow_type_change=true", SVMLIGHT,
                        "x 1:5 # later\n2\n"),
                 201);
    const struct response *r =
        append("/v1/datasets/grows/rows", "Content-Type:", "1 0:3 9:0.5\n"); /* found out */
    status_check(r, 201);
    const struct response *whole =
        put("/v1/datasets/whole?zero_based=true", "1 0:1 2:2\nx 1:5\n2\n1 0:3 9:0.5\n");
    assert_string_equal(string_at(r, "/content"), string_at(whole, "/content"));
    assert_true(json_equal(value_at(r, "/sparse"), value_at(whole, "/sparse")));
    assert_int_equal(count_at(r, "/columns"), 11);
    assert_true(json_equal(value_at(r, "/columns/1"), value_at(whole, "/columns/1")));
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/grows/rows"),
               "1 0:1 2:2\nx 1:5\n2\n1 0:3 9:0.5\n");
    fault_check(problem_check(append("/v1/datasets/grows/rows", SVMLIGHT, "1 1:1\n1 1:x\n"), 422,
                              "invalid-dataset"),
                "line 2");
    check_has(problem_check(append("/v1/datasets/grows/rows", "Content-Type: text/csv",
                                   "label,f0\n1,2\n"),
                            422, "invalid-dataset"),
              "text/x-svmlight");
    status_check(put("/v1/datasets/ones", "1 1:1\n"), 201);
    check_has(problem_check(append("/v1/datasets/ones/rows?zero_based=true", SVMLIGHT, "1 0:1\n"),
                            422, "invalid-dataset"),
              "counts its features from 1");
    status_check(call_upload("/v1/datasets/table", "a,b\n1,2\n"), 201);
    check_has(problem_check(append("/v1/datasets/table/rows", SVMLIGHT, "1 1:1\n"), 422,
                            "invalid-dataset"),
              "not sparse");
    check_body(call_get_with(AS_SVMLIGHT, "/v1/datasets/ones/rows"), "1 1:1\n");
}

/* All of a9a: its shape, and every line unchanged. */
static void test_a9a(void **state) {
    (void)state;
    size_t size = 0;
    if (access(A9A, R_OK) != 0) {
        skip();
    }
    const struct response *r = upload_file("a9a", A9A);
    assert_int_equal(whole_at(r, "/rows"), 32561);
    assert_json(r, "/sparse",
                "{'first':'f1','columns':123,'entries':451592,'density':0.11275696922074716}");
    assert_int_equal(whole_at(r, "/columns/123/nonzero"), 1);
    const char *file = read_whole(A9A, &size),
               *at = call_get_with(AS_SVMLIGHT, "/v1/datasets/a9a/rows?limit=100000")->body;
    /* the file has "+1 3:1 11:1 ", the answer "1 3:1 11:1" */
    for (size_t line = 1; *file; line++) {
        size_t n = strcspn(file, "\n"), m = strcspn(at, "\n"), skip_sign = *file == '+';
        size_t end = n;
        while (end > 0 && file[end - 1] == ' ') {
            end--;
        }
        if (m != end - skip_sign || memcmp(file + skip_sign, at, m) != 0) {
            fail_msg("line %zu is \"%.*s\", was \"%.*s\"", line, (int)m, at, (int)n, file);
        }
        file += n + (file[n] == '\n');
        at += m + 1;
    }
    assert_string_equal(at, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_content),           TEST(test_description),         TEST(test_rows_of_features),
        TEST(test_there_and_back),    TEST(test_zero_based_and_wide), TEST(test_faults),
        TEST(test_dense_as_svmlight), TEST(test_appending),           TEST(test_a9a)};
    return RUN(tests);
}
