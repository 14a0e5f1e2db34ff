/* Bodies that are refused: over the limit with and without their length known, control documents
 * that are none, JSON nested deep. After each the daemon is well and nothing half there. (Tables
 * that are none: test_bad_tables.c; jobs: test_bad_jobs.c.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAD "/v1/datasets/bad"

static struct daemon d;

/* The value of a sample line of /metrics; fails the test when there is none. */
static double sample(const char *text, const char *name) {
    const size_t n = strlen(name);
    for (const char *line = strstr(text, name); line; line = strstr(line + 1, name)) {
        if ((line == text || line[-1] == '\n') && line[n] == ' ') {
            return strtod(line + n, NULL);
        }
    }
    fail_msg("/metrics has no %s", name);
    return 0;
}

static int open_daemon(void **state) {
    static const char *const flags[] = {"--max-upload", "8M", NULL};
    (void)state;
    daemon_open(&d, flags);
    upload(&d, "iris");
    json_decref(train(
        &d,
        "{\"model\":\"iris\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\"}",
        "succeeded"));
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
    expect_status(get(&d, "/readyz"), 200);
    expect_status(get(&d, "/v1/datasets/iris"), 200);
    expect_problem(get(&d, BAD), 404, "unknown-dataset");
    return 0;
}

/* A condition that cannot hold is said before the body is sent, by who asks first. */
static void test_conditions_before_bodies(void **state) {
    (void)state;
    static const char *const other[] = {"If-Match: \"zz\"", "Expect: 100-continue", NULL},
                             *const fresh[] = {"If-None-Match: *", "Expect: 100-continue", NULL};
    const size_t size = 7 * 1024 * 1024;
    char *body = malloc(size);
    assert_non_null(body);
    memset(body, '1', size);
    expect_problem(ask(&d, "PUT", "/v1/datasets/iris", other, body, size), 412,
                   "precondition-failed");
    expect_problem(ask(&d, "PUT", "/v1/datasets/iris", fresh, body, size), 412,
                   "precondition-failed");
    free(body);
    assert_int_equal(daemon_stop(&d), 0); /* all lines are written */
    const char *log = daemon_log(&d);
    size_t n = 0;
    for (const char *at = log; (at = strstr(at, "status=412")) != NULL; at++) {
        const char *in = strstr(at, " in=");
        assert_true(in != NULL && strncmp(in, " in=0 ", 6) == 0);
        n++;
    }
    assert_int_equal(n, 2);
    daemon_start(&d);
}

static void test_over_the_limit(void **state) {
    (void)state;
    static const char *const chunked[] = {"Transfer-Encoding: chunked", "Expect:", NULL},
                             *const known[] = {"Expect:", NULL},
                             *const expect[] = {"Expect: 100-continue", NULL};
    const size_t size = 9 * 1024 * 1024;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i < size; i += 4) {
        memcpy(text + i, "1,2\n", 4);
    }
    struct answer a = ask(&d, "PUT", BAD, known, text, size);
    assert_non_null(strstr(text_at(a.json, "detail"), "--max-upload"));
    expect_problem(a, 413, "body-too-large");
    expect_problem(ask(&d, "PUT", BAD, expect, text, size), 413, "body-too-large");
    expect_problem(ask(&d, "PUT", BAD, chunked, text, size), 413, "body-too-large");
    free(text);
}

/* Bodies that fit singly but not together: the one too many is told so, small calls go on, and
 * there is room again when they have gone. */
static void test_more_bodies_than_memory(void **state) {
    (void)state;
    enum { N = 5 };
    static const char *const flags[] = {"--body-memory", "64M", "--max-body", "16M", NULL};
    static const char head[] = "POST /v1/models/iris/predict HTTP/1.1\r\nHost: "
                               "localhost\r\nContent-Length: 15000000\r\n\r\n";
    struct daemon other;
    int fds[N];
    char *text = malloc(15000000);
    assert_non_null(text);
    memset(text, ' ', 15000000);
    daemon_open(&other, flags);
    for (size_t i = 0; i < N - 1; i++) {
        fds[i] = bare_open(&other);
        bare_text(fds[i], head);
        bare_send(fds[i], text, 14999999); /* never ends */
    }
    double held = 0; /* what is sent is not yet taken */
    for (int i = 0; i < 1000 && held < 59e6; i++) {
        struct answer a = get(&other, "/metrics");
        held = sample(a.body, "discern_http_body_bytes");
        answer_done(&a);
        usleep(10000);
    }
    assert_true(held >= 59e6 && held <= 64 << 20);
    static const char *const plain[] = {"Expect:", NULL}, *const chunked[] = {
                                                              "Transfer-Encoding: chunked",
                                                              "Expect:", NULL};
    for (int i = 0; i < 2; i++) {
        struct answer a = ask(&other, "POST", "/v1/models/iris/predict", i == 0 ? plain : chunked,
                              text, 15000000);
        assert_string_equal(answer_header(&a, "Retry-After"), "1");
        assert_non_null(strstr(text_at(a.json, "detail"), "--body-memory"));
        expect_problem(a, 503, "unavailable");
    }
    expect_status(get(&other, "/readyz"), 200);
    expect_problem(send_text(&other, "POST", "/v1/models/iris/predict",
                             "{\"instances\":[[1,2,3,4]]}"),
                   404, "unknown-model");
    for (size_t i = 0; i < N - 1; i++) {
        close(fds[i]);
    }
    for (int i = 0; i < 1000 && held > 0; i++) {
        struct answer a = get(&other, "/metrics");
        held = sample(a.body, "discern_http_body_bytes");
        answer_done(&a);
        usleep(10000);
    }
    assert_true(held == 0);
    struct answer a = ask(&other, "POST", "/v1/models/iris/predict", plain, text, 15000000);
    assert_int_equal(a.status, 404);
    answer_done(&a);
    free(text);
    daemon_close(&other);
}

static void test_control_documents_that_are_none(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "{",
                                      "nonsense",
                                      "{\"model\":\"a\",\"model\":\"b\"}",
                                      "{\"model\":\"\xff\"}",
                                      "{\"seed\":1e999}",
                                      "{} {}",
                                      "\"x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_problem(send_text(&d, "POST", "/v1/jobs", bad[i]), 400, "bad-json");
    }
    expect_problem(send_text(&d, "POST", "/v1/jobs", "[]"), 422, "invalid");
    expect_problem(send_text(&d, "POST", "/v1/jobs", "null"), 422, "invalid");
    expect_problem(send_typed(&d, "POST", "/v1/jobs", "text/csv", "{}"), 415,
                   "unsupported-media-type");
    static const char *const gzip[] = {"Content-Encoding: gzip", NULL};
    expect_problem(ask(&d, "POST", "/v1/jobs", gzip, "{}", 2), 400, "bad-request");
    char *large = malloc(2 * 1024 * 1024);
    assert_non_null(large);
    memset(large, ' ', 2 * 1024 * 1024);
    expect_problem(ask(&d, "POST", "/v1/jobs", NULL, large, 2 * 1024 * 1024), 413,
                   "body-too-large");
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
    for (size_t i = 0; i < DEPTH; i++) {
        memcpy(text + i, "{", 1);
    }
    expect_problem(ask(&d, "POST", "/v1/jobs", NULL, text, DEPTH), 400, "bad-json");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_conditions_before_bodies, still_well),
        cmocka_unit_test_teardown(test_over_the_limit, still_well),
        cmocka_unit_test_teardown(test_more_bodies_than_memory, still_well),
        cmocka_unit_test_teardown(test_control_documents_that_are_none, still_well),
        cmocka_unit_test_teardown(test_json_nested_deep, still_well),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
