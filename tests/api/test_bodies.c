/* Bodies that are refused: over the limit with and without their length known, control documents that are none, JSON nested deep. After each the daemon is
 * well and nothing half there. (Tables that are none: test_bad_tables.c; jobs: test_bad_jobs.c.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <stdlib.h>
#include <string.h>

#define BAD "/v1/datasets/bad"

static struct daemon d;

static int open_daemon(void **state) {
    static const char *const flags[] = {"--max-upload", "8M", NULL};
    (void)state;
    daemon_open(&d, flags);
    upload(&d, "iris");
    json_decref(train(&d, "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}", "succeeded"));
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d); /* asserts exit status 0 and PRAGMA integrity_check */
    return 0;
}

/* After every test: alive, what was there is there, nothing of what was refused. */
static int still_well(void **state) {
    (void)state;
    if (!daemon_alive(&d))
        return -1;
    expect_status(get(&d, "/readyz"), 200);
    expect_status(get(&d, "/v1/datasets/iris"), 200);
    expect_problem(get(&d, BAD), 404, "unknown-dataset");
    return 0;
}

static void test_over_the_limit(void **state) {
    (void)state;
    static const char *const chunked[] = {"Transfer-Encoding: chunked", "Expect:", NULL}, *const known[] = {"Expect:", NULL},
                             *const expect[] = {"Expect: 100-continue", NULL};
    const size_t size = 9 * 1024 * 1024;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i < size; i += 4)
        memcpy(text + i, "1,2\n", 4);
    struct answer a = ask(&d, "PUT", BAD, known, text, size);
    assert_non_null(strstr(text_at(a.json, "detail"), "--max-upload"));
    expect_problem(a, 413, "body-too-large");
    expect_problem(ask(&d, "PUT", BAD, expect, text, size), 413, "body-too-large");
    expect_problem(ask(&d, "PUT", BAD, chunked, text, size), 413, "body-too-large");
    free(text);
}

static void test_control_documents_that_are_none(void **state) {
    (void)state;
    static const char *const bad[] = {
        "", "{", "nonsense", "{\"model\":\"a\",\"model\":\"b\"}", "{\"model\":\"\xff\"}", "{\"seed\":1e999}", "{} {}", "\"x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_problem(send_text(&d, "POST", "/v1/jobs", bad[i]), 400, "bad-json");
    expect_problem(send_text(&d, "POST", "/v1/jobs", "[]"), 422, "invalid");
    expect_problem(send_text(&d, "POST", "/v1/jobs", "null"), 422, "invalid");
    expect_problem(send_typed(&d, "POST", "/v1/jobs", "text/csv", "{}"), 415, "unsupported-media-type");
    static const char *const gzip[] = {"Content-Encoding: gzip", NULL};
    expect_problem(ask(&d, "POST", "/v1/jobs", gzip, "{}", 2), 415, "unsupported-media-type");
    char *large = malloc(2 * 1024 * 1024);
    assert_non_null(large);
    memset(large, ' ', 2 * 1024 * 1024);
    expect_problem(ask(&d, "POST", "/v1/jobs", NULL, large, 2 * 1024 * 1024), 413, "body-too-large");
    free(large);
}

static void test_json_nested_deep(void **state) {
    (void)state;
    enum { DEPTH = 10000 };
    char *text = malloc(2 * DEPTH + 64);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    expect_problem(ask(&d, "POST", "/v1/jobs", NULL, text, 2 * DEPTH), 400, "bad-json");
    expect_problem(ask(&d, "PATCH", "/v1/models/iris", NULL, text, 2 * DEPTH), 400, "bad-json");
    struct answer a = ask(&d, "PUT", BAD, NULL, text, 2 * DEPTH);
    assert_true(a.status == 400 || a.status == 422);
    answer_done(&a);
    a = ask(&d, "POST", "/v1/models/iris/predict", NULL, text, 2 * DEPTH);
    assert_true(a.status == 400 || a.status == 422);
    answer_done(&a);
    for (size_t i = 0; i < DEPTH; i++)
        memcpy(text + i, "{", 1);
    expect_problem(ask(&d, "POST", "/v1/jobs", NULL, text, DEPTH), 400, "bad-json");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_over_the_limit, still_well),
        cmocka_unit_test_teardown(test_control_documents_that_are_none, still_well),
        cmocka_unit_test_teardown(test_json_nested_deep, still_well),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
