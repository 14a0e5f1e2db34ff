/* Bodies that are refused: larger than the limit with and without Content-Length, control documents
 * that are not valid, deeply nested JSON. After each the daemon serves and nothing of the body is
 * stored. Tables: test_bad_tables.c; jobs: test_bad_jobs.c. */
#include "lib/api.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAD "/v1/datasets/bad"

static int open_daemon(void **state) {
    static const char *const flags[] = {"--max-upload", "8M", NULL};
    (void)state;
    service_start(flags);
    upload_file("iris", "iris.csv");
    job_train("{'model':'iris','dataset':'iris','target':'class','algorithm':'logistic'}");
    return 0;
}

/* Runs after each test: the daemon serves, earlier data are stored, refused data are not. */
static int still_well(void **state) {
    status_check(call_get("/readyz"), 200);
    status_check(call_get("/v1/datasets/iris"), 200);
    problem_check(call_get(BAD), 404, "unknown-dataset");
    return test_end(state);
}

/* A condition that fails is answered before the body is sent, if the client waits for 100
 * Continue. */
static void test_conditions_before_bodies(void **state) {
    (void)state;
    static const char *const other[] = {"If-Match: \"zz\"", "Expect: 100-continue", NULL},
                             *const fresh[] = {"If-None-Match: *", "Expect: 100-continue", NULL};
    const size_t size = 7 * 1024 * 1024;
    char *body = malloc(size);
    assert_non_null(body);
    memset(body, '1', size);
    problem_check(call_bytes("PUT", "/v1/datasets/iris", other, body, size), 412,
                  "precondition-failed");
    problem_check(call_bytes("PUT", "/v1/datasets/iris", fresh, body, size), 412,
                  "precondition-failed");
    free(body);
    assert_int_equal(daemon_stop(&the_daemon), 0); /* stopped: all log lines are written */
    const char *log = daemon_log(&the_daemon);
    size_t n = 0;
    for (const char *at = log; (at = strstr(at, "status=412")) != NULL; at++) {
        const char *in = strstr(at, " in=");
        assert_true(in != NULL && strncmp(in, " in=0 ", 6) == 0);
        n++;
    }
    assert_int_equal(n, 2);
    daemon_start(&the_daemon);
}

static void test_bodies_over_the_limit(void **state) {
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
    const struct response *a = call_bytes("PUT", BAD, known, text, size);
    assert_non_null(strstr(string_at(a, "/detail"), "--max-upload"));
    problem_check(a, 413, "body-too-large");
    problem_check(call_bytes("PUT", BAD, expect, text, size), 413, "body-too-large");
    problem_check(call_bytes("PUT", BAD, chunked, text, size), 413, "body-too-large");
    free(text);
}

/* Bodies that each fit the memory but not together: the one that exceeds it is refused, small calls
 * succeed, and after the end of the bodies others are accepted. */
static void test_more_bodies_than_memory(void **state) {
    (void)state;
    enum { N = 5 };
    static const char head[] = "POST /v1/models/iris/predict HTTP/1.1\r\nHost: "
                               "localhost\r\nContent-Length: 15000000\r\n\r\n";
    int fds[N];
    char *text = malloc(15000000);
    assert_non_null(text);
    memset(text, ' ', 15000000);
    service_start(FLAGS("--body-memory", "64M", "--max-body", "16M"));
    for (size_t i = 0; i < N - 1; i++) {
        fds[i] = raw_open();
        raw_send_text(fds[i], head);
        raw_send(fds[i], text, 14999999); /* never ends */
    }
    double held = 0; /* the daemon reads what was sent with a delay */
    for (int i = 0; i < 1000 && held < 59e6; i++) {
        held = metric_at("discern_http_body_bytes");
        usleep(10000);
    }
    assert_true(held >= 59e6 && held <= 64 << 20);
    static const char *const plain[] = {"Expect:", NULL}, *const chunked[] = {
                                                              "Transfer-Encoding: chunked",
                                                              "Expect:", NULL};
    for (int i = 0; i < 2; i++) {
        const struct response *a =
            call_bytes("POST", "/v1/models/iris/predict", i == 0 ? plain : chunked, text, 15000000);
        assert_string_equal(header_of(a, "Retry-After"), "1");
        assert_non_null(strstr(string_at(a, "/detail"), "--body-memory"));
        problem_check(a, 503, "unavailable");
    }
    status_check(call_get("/readyz"), 200);
    problem_check(call_json("POST", "/v1/models/iris/predict", "{'instances':[[1,2,3,4]]}"), 404,
                  "unknown-model");
    for (size_t i = 0; i < N - 1; i++) {
        close(fds[i]);
    }
    for (int i = 0; i < 1000 && held > 0; i++) {
        held = metric_at("discern_http_body_bytes");
        usleep(10000);
    }
    assert_true(held == 0);
    status_check(call_bytes("POST", "/v1/models/iris/predict", plain, text, 15000000), 404);
    free(text);
}

/* An answer that can never fit is 413: to try again would not help. */
static void test_an_answer_that_never_fits(void **state) {
    (void)state;
    enum { N = 1000000 };
    static const char row[] = "[1,2,3,4],";
    const size_t size = N * (sizeof row - 1) + sizeof "{\"instances\":[]}";
    char *body = keep(malloc(size), free), *at = body;
    assert_non_null(body);
    at += sprintf(at, "{\"instances\":[");
    for (int i = 0; i < N; i++, at += sizeof row - 1) {
        memcpy(at, row, sizeof row - 1);
    }
    memcpy(at - 1, "]}", 3);
    service_stop();
    service_restart(FLAGS("--body-memory", "64M", "--max-body", "16M"));
    const struct response *a =
        call_bytes("POST", "/v1/models/iris/predict", NULL, body, strlen(body));
    problem_check(a, 413, "body-too-large");
    assert_non_null(strstr(string_at(a, "/detail"), "--body-memory"));
    assert_null(header_of(a, "Retry-After"));
    service_stop();
    service_restart(FLAGS("--max-upload", "8M"));
}

static void test_malformed_control_documents(void **state) {
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
        problem_check(call_text("POST", "/v1/jobs", NULL, bad[i]), 400, "bad-json");
    }
    problem_check(call_text("POST", "/v1/jobs", NULL, "[]"), 422, "invalid");
    problem_check(call_text("POST", "/v1/jobs", NULL, "null"), 422, "invalid");
    problem_check(call_text("POST", "/v1/jobs", "Content-Type: text/csv", "{}"), 415,
                  "unsupported-media-type");
    static const char *const gzip[] = {"Content-Encoding: gzip", NULL};
    problem_check(call_bytes("POST", "/v1/jobs", gzip, "{}", 0), 400, "bad-request");
    char *large = malloc(2 * 1024 * 1024);
    assert_non_null(large);
    memset(large, ' ', 2 * 1024 * 1024);
    problem_check(call_bytes("POST", "/v1/jobs", NULL, large, 2 * 1024 * 1024), 413,
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
    problem_check(call_bytes("POST", "/v1/jobs", NULL, text, 2 * DEPTH), 400, "bad-json");
    problem_check(call_bytes("PATCH", "/v1/models/iris", NULL, text, 2 * DEPTH), 400, "bad-json");
    const struct response *a = call_bytes("PUT", BAD, NULL, text, 2 * DEPTH);
    assert_true(a->status == 400 || a->status == 422);
    a = call_bytes("POST", "/v1/models/iris/predict", NULL, text, 2 * DEPTH);
    assert_true(a->status == 400 || a->status == 422);
    for (size_t i = 0; i < DEPTH; i++) {
        memcpy(text + i, "{", 1);
    }
    problem_check(call_bytes("POST", "/v1/jobs", NULL, text, DEPTH), 400, "bad-json");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_conditions_before_bodies, still_well),
        cmocka_unit_test_teardown(test_bodies_over_the_limit, still_well),
        cmocka_unit_test_teardown(test_an_answer_that_never_fits, still_well),
        cmocka_unit_test_teardown(test_malformed_control_documents, still_well),
        cmocka_unit_test_teardown(test_json_nested_deep, still_well),
    };
    const struct CMUnitTest alone[] = {TEST(test_more_bodies_than_memory)};
    return cmocka_run_group_tests(tests, open_daemon, group_end) + RUN_WITHOUT_DAEMON(alone);
}
