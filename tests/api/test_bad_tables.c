/* Invalid tables, sent as `curl -T` does and chunked: each gets a problem document with the fault
 * and its place; no part of the table is stored. */
#include "lib/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AS_JSON "Content-Type: application/json"

/* The dataset does not exist. */
static void expect_nothing(const char *name) {
    problem_check(call_get("/v1/datasets/%s", name), 404, "unknown-dataset");
    problem_check(call_get("/v1/datasets/%s/rows", name), 404, "unknown-dataset");
}

/* An upload that is refused with 422 /problems/invalid-dataset. place: where one of the errors must
 * be, or NULL. size 0: strlen(body). */
static void refused(const char *body, size_t size, const char *place) {
    for (int chunked = 0; chunked < 2; chunked++) {
        const struct response *r = call(&(struct request){.method = "PUT",
                                                          .path = "/v1/datasets/refused",
                                                          .body = body,
                                                          .size = size,
                                                          .upload = true,
                                                          .chunked = chunked == 1});
        problem_check(r, 422, "invalid-dataset");
        if (place != NULL) {
            fault_check(r, place);
        }
    }
    expect_nothing("refused");
}

static void test_empty_body(void **state) {
    (void)state;
    problem_check(call_upload("/v1/datasets/empty", ""), 422, "invalid-dataset");
    problem_check(call_upload("/v1/datasets/empty", "\n\n\n"), 422, "invalid-dataset");
    problem_check(call_upload("/v1/datasets/empty", "\xEF\xBB\xBF"), 422,
                  "invalid-dataset"); /* only a byte order mark */
    problem_check(call_upload_bytes("/v1/datasets/empty", "", 0, AS_JSON), 400, "bad-json");
    expect_nothing("empty");
}

static void test_header_only(void **state) {
    (void)state;
    problem_check(call_upload("/v1/datasets/header-only", "a,b,species\n"), 422, "invalid-dataset");
    problem_check(call_upload("/v1/datasets/header-only?header=true", "a,b,species\n"), 422,
                  "invalid-dataset");
    problem_check(call_upload_bytes("/v1/datasets/header-only",
                                    "{\"columns\":[\"a\",\"b\"],\"rows\":[]}", 0, AS_JSON),
                  422, "invalid-dataset");
    expect_nothing("header-only");
}

static void test_ragged_rows(void **state) {
    (void)state;
    refused("a,b\n1,2\n3\n4,5\n", 0, "line 3");
    refused("a,b\n1,2\n3,4,5\n", 0, "line 3");
    /* all faults are listed, not only the first */
    const struct response *r =
        problem_check(call_upload("/v1/datasets/refused", "a,b\n1\n2,3\n4\n5,6,7\n"), 422,
                      "invalid-dataset");
    fault_check(r, "line 2");
    fault_check(r, "line 4");
    fault_check(r, "line 5");
    /* the number of listed faults is limited */
    const char *many = text("a,b\n%s", repeat("1\n", 100000));
    assert_true(
        problem_check(call_upload("/v1/datasets/refused", many), 422, "invalid-dataset")->size <
        65536);
    /* line ends within quoted cells count as lines */
    refused("a,b\n1,\"x\ny\nz\"\n3\n", 0, "line 5");
}

static void test_unclosed_quote(void **state) {
    (void)state;
    refused("a,b\n1,\"x\n2,y\n", 0, NULL);
    refused(text("a,b\n1,\"%s", repeat("text without an end\n", 200000)), 0,
            NULL); /* 4 MB of one cell */
}

static void test_nul_bytes(void **state) {
    (void)state;
    refused("a,b\n1,x\0y\n2,z\n", 14, "line 2");
    refused("\0\0\0\0", 4, NULL);
    static char zeros[1 << 20];
    refused(zeros, sizeof zeros, NULL);
}

static void test_invalid_utf8(void **state) {
    (void)state;
    refused("a,b\n1,caf\xE9\n2,z\n", 0, "line 2");  /* Latin-1 */
    refused("a,b\n1,x\n2,\xC0\xAF\n", 0, "line 3"); /* overlong */
    refused("a,b\n1,\xED\xA0\x80\n", 0, "line 2");  /* a surrogate */
    refused("a\xFF,b\n1,2\n", 0, "line 1");         /* in a name */
    refused("\xFF\xFE\x61\0,\0b\0\n\0", 10, NULL);  /* UTF-16 */
    problem_check(call_upload_bytes("/v1/datasets/refused", "[{\"a\":\"caf\xE9\"}]", 0, AS_JSON),
                  400, "bad-json");
}

/* 10,000 columns are valid: they are stored, or refused with a message that names the limit. */
static void test_ten_thousand_columns(void **state) {
    (void)state;
    enum { COLUMNS = 10000 };
    char *body = keep(malloc(COLUMNS * 24), free);
    size_t n = 0;
    for (int line = 0; line < 3; line++) {
        for (int j = 0; j < COLUMNS; j++) {
            n += (size_t)sprintf(body + n, line == 0 ? "c%d%s" : "%d%s",
                                 line == 0 ? j : line * j % 7, j == COLUMNS - 1 ? "\n" : ",");
        }
    }
    const struct response *r = call_upload_bytes("/v1/datasets/wide", body, n, NULL);
    if (r->status == 422) {
        problem_check(r, 422, "invalid-dataset");
    } else {
        assert_int_equal(count_at(status_check(r, 201), "/columns"), COLUMNS);
        r = status_check(call_get_with("Accept: text/csv", "/v1/datasets/wide/rows"), 200);
        assert_true(r->size >= n);
        r = status_check(call_get("/v1/datasets/wide/rows?columns=c9999,c0"), 200);
        assert_int_equal(whole_at(r, "/items/0/c9999"), 9999 % 7);
    }
    /* a million columns exceed every limit */
    refused(text("%sx\n1\n", repeat("x,", 1000000)), 0, NULL);
}

static void test_five_megabyte_cell(void **state) {
    (void)state;
    const char *cell = repeat("abcdefgh", 5 * 131072);
    refused(text("a,b\n1,%s\n", cell), 0, "line 2");
    refused(text("a,b\n1,\"%s\"\n", cell), 0, "line 2");
    refused(cell, 0, NULL);
    problem_check(call_upload_bytes("/v1/datasets/refused", quoted("[{'a':'%s'}]", cell), 0,
                                    AS_JSON),
                  422, NULL);
    expect_nothing("refused");
}

static void test_duplicate_columns(void **state) {
    (void)state;
    refused("a,b,a\n1,2,3\n", 0, "line 1");
    problem_check(call_upload_bytes("/v1/datasets/refused", "[{\"a\":1,\"a\":2}]", 0, AS_JSON), 422,
                  NULL);
    problem_check(call_upload_bytes("/v1/datasets/refused",
                                    "{\"columns\":[\"a\",\"a\"],\"rows\":[[1,2]]}", 0, AS_JSON),
                  422, NULL);
    expect_nothing("refused");
}

static void test_deep_json(void **state) {
    (void)state;
    const char *arrays = text("%s%s", repeat("[", 10000), repeat("]", 10000));
    const char *objects = text("%s1%s", repeat("{\"a\":", 10000), repeat("}", 10000));
    static const char *const paths[] = {"/v1/jobs", "/v1/models/iris/predict",
                                        "/v1/models/iris/evaluate"};
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    for (size_t i = 0; i < 3; i++) {
        problem_check(call_json("POST", paths[i], "%s", arrays), 400, "bad-json");
        problem_check(call_json("POST", paths[i], "%s", objects), 400, "bad-json");
        problem_check(call_json("POST", paths[i], "{'instances':%s}", arrays), 400, "bad-json");
    }
    problem_check(call_json("PATCH", "/v1/datasets/iris", "%s", arrays), 400, "bad-json");
    problem_check(call_json("PUT", "/v1/models/iris/live", "%s", objects), 400, "bad-json");
    static const char *const formats[] = {"%s", "[{\"a\":%s}]",
                                          "{\"columns\":[\"a\"],\"rows\":[[%s]]}",
                                          "{\"columns\":%s}"};
    for (size_t i = 0; i < 4; i++) {
        const char *at = strstr(formats[i], "%s");
        const struct response *r =
            call_upload_bytes("/v1/datasets/refused",
                              text("%.*s%s%s", (int)(at - formats[i]), formats[i], arrays, at + 2),
                              0, AS_JSON);
        problem_check(r, r->status == 400 ? 400 : 422, NULL);
    }
    expect_nothing("refused");
}

static void test_broken_json_tables(void **state) {
    (void)state;
    static const char *const bodies[] = {"[{\"a\":1}",
                                         "[{\"a\":1},]",
                                         "[{\"a\":01}]",
                                         "[{\"a\":1}] x",
                                         "[{\"a\":nan}]",
                                         "[{'a':1}]",
                                         "[{\"a\":1e}]",
                                         "[{\"a\":\"\x01\"}]",
                                         "[{\"a\":\"\\x\"}]",
                                         "[{\"a\":+1}]",
                                         "{\"columns\":[\"a\"],\"rows\":[[1]"};
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const struct response *r =
            problem_check(call_upload_bytes("/v1/datasets/refused", bodies[i], 0, AS_JSON), 400,
                          "bad-json");
        assert_non_null(strstr(r->body, "line"));
    }
    static const char *const shapes[] = {"1",
                                         "\"text\"",
                                         "[]",
                                         "[1,2]",
                                         "[[1,2]]",
                                         "{}",
                                         "[{\"a\":[1]}]",
                                         "[{\"a\":{}}]",
                                         "{\"columns\":[\"a\"],\"rows\":[[1,2]]}",
                                         "{\"columns\":[\"a\",\"b\"],\"rows\":[[1]]}",
                                         "{\"columns\":[1],\"rows\":[[1]]}",
                                         "{\"columns\":\"a\",\"rows\":[[1]]}",
                                         "{\"columns\":[\"a\"],\"rows\":[1]}",
                                         "{\"columns\":[],\"rows\":[]}"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        problem_check(call_upload_bytes("/v1/datasets/refused", shapes[i], 0, AS_JSON), 422,
                      "invalid-dataset");
    }
    expect_nothing("refused");
}

/* A cell that does not fit its column's declared type is a fault at the cell, never a missing
 * value. */
static void test_declared_types_are_kept(void **state) {
    (void)state;
    static const struct {
        const char *types, *cell;
    } cases[] = {{"numeric", "two"},   {"numeric", "1e999"}, {"numeric", "0x10"},
                 {"numeric", "1_000"}, {"boolean", "maybe"}, {"boolean", "2"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = text("/v1/datasets/refused?types=a:%s", cases[i].types);
        const struct response *r =
            call_upload(path, text("a,b\n%s,x\n%s,y\n", i < 4 ? "1" : "true", cases[i].cell));
        fault_check(problem_check(r, 422, "invalid-dataset"), "line 3");
    }
    expect_nothing("refused");
}

/* A failed replacement leaves the dataset unchanged. */
static void test_a_refused_replacement_changes_nothing(void **state) {
    (void)state;
    const struct response *before =
        status_check(call_upload("/v1/datasets/kept", "a,b\n1,x\n2,y\n"), 201);
    problem_check(call_upload("/v1/datasets/kept", "a,b\n1\n"), 422, "invalid-dataset");
    const struct response *after = status_check(call_get("/v1/datasets/kept"), 200);
    assert_int_equal(json_object_del(before->json, "upload"),
                     0); /* the upload's figures are only in its answer */
    assert_true(json_equal(before->json, after->json));
    assert_string_equal(header_of(before, "ETag"), header_of(after, "ETag"));
    assert_int_equal(whole_at(status_check(call_upload("/v1/datasets/kept", "a,b\n1,x\n2,z\n"),
                                           200),
                              "/version"),
                     2);
}

static void test_content_types_and_encodings(void **state) {
    (void)state;
    problem_check(call_upload_bytes("/v1/datasets/refused", "a,b\n1,2\n", 0,
                                    "Content-Type: image/png"),
                  415, "unsupported-media-type");
    problem_check(call_upload_bytes("/v1/datasets/refused", "a,b\n1,2\n", 0,
                                    "Content-Encoding: br"),
                  415, "unsupported-media-type");
    const char *const codings[] = {"Content-Encoding: gzip", "Content-Encoding: br", NULL};
    const struct response *twice = call(&(struct request){.method = "PUT",
                                                          .path = "/v1/datasets/refused",
                                                          .headers = codings,
                                                          .body = "a,b\n1,2\n",
                                                          .upload = true});
    assert_non_null(
        strstr(problem_check(twice, 415, "unsupported-media-type")->body, "given 2 times"));
    problem_check(call(&(struct request){.method = "POST",
                                         .path = "/v1/jobs",
                                         .headers = HEADERS("Content-Type: text/csv"),
                                         .body = "a"}),
                  415, "unsupported-media-type");
    expect_nothing("refused");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_empty_body),
        TEST(test_header_only),
        TEST(test_ragged_rows),
        TEST(test_unclosed_quote),
        TEST(test_nul_bytes),
        TEST(test_invalid_utf8),
        TEST(test_ten_thousand_columns),
        TEST(test_five_megabyte_cell),
        TEST(test_duplicate_columns),
        TEST(test_deep_json),
        TEST(test_broken_json_tables),
        TEST(test_declared_types_are_kept),
        TEST(test_a_refused_replacement_changes_nothing),
        TEST(test_content_types_and_encodings),
    };
    return RUN(tests);
}
