/* What bad input gets: always a problem document (or, where the library ends the connection, its end), the daemon alive after it, the database intact at the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct daemon d;

static int open_daemon(void **state) {
    static const char *const flags[] = {
        "--max-upload", "8M", "--header-timeout", "1", "--idle-timeout", "2", "--minimum-rate", "64", "--discard-time", "2", NULL};
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

/* After every test: alive, and what was there is there. */
static int still_well(void **state) {
    (void)state;
    if (!daemon_alive(&d))
        return -1;
    expect_status(get(&d, "/readyz"), 200);
    expect_status(get(&d, "/v1/datasets/iris"), 200);
    expect_problem(get(&d, "/v1/datasets/bad"), 404, "unknown-dataset"); /* nothing half there */
    return 0;
}

#define BAD "/v1/datasets/bad"

/* ---- tables ---- */

static void put_bytes(const void *body, size_t n, long status, const char *name) {
    expect_problem(ask(&d, "PUT", BAD, NULL, body, n), status, name);
}

static void test_no_table_at_all(void **state) {
    (void)state;
    put_bytes("", 0, 422, "invalid-dataset");
    put_bytes("\n\n\n", 3, 422, "invalid-dataset");
    put_bytes("a,b,c\n", 6, 422, "invalid-dataset"); /* a header only: said to be one by its look */
    expect_problem(put_text(&d, BAD "?header=true", "a,b,c\n"), 422, "invalid-dataset");
    put_bytes("[]", 2, 422, "invalid-dataset");
    put_bytes("{}", 2, 422, "invalid-dataset");
}

static void test_ragged_rows(void **state) {
    (void)state;
    struct answer a = put_text(&d, BAD, "a,b\n1,2\n3\n4,5\n6,7,8\n");
    assert_int_equal(a.status, 422);
    assert_int_equal(json_array_size(at(a.json, "errors")), 2); /* both, not just the first */
    assert_int_equal(number_at(a.json, "errors.0.line"), 3);
    assert_int_equal(number_at(a.json, "errors.1.line"), 5);
    expect_problem(a, 422, "invalid-dataset");
}

static void test_quotes_and_bytes(void **state) {
    (void)state;
    expect_fault(put_text(&d, BAD, "a,b\n1,\"open\n2,3\n"), 422, "invalid-dataset", NULL, "quote");
    put_bytes("a,b\n1,x\0y\n", 10, 422, "invalid-dataset");
    put_bytes("a,b\n1,\xff\xfe\n", 9, 422, "invalid-dataset");
    put_bytes("a,\xc3\n1,2\n", 8, 422, "invalid-dataset");
    put_bytes("a,a\n1,2\n", 8, 422, "invalid-dataset"); /* a name twice */
}

static void test_too_wide(void **state) {
    (void)state;
    enum { COLUMNS = 10000 };
    char *text = malloc(COLUMNS * 16);
    assert_non_null(text);
    size_t n = 0;
    for (int i = 0; i < COLUMNS; i++)
        n += (size_t)sprintf(text + n, "%sc%d", i ? "," : "", i);
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < COLUMNS; i++)
            n += (size_t)sprintf(text + n, "%c%d", i ? ',' : '\n', (i + r) % 7);
    n += (size_t)sprintf(text + n, "\n");
    /* 10,000 columns are many, not wrong */
    struct answer a = ask(&d, "PUT", "/v1/datasets/wide", NULL, text, n);
    assert_int_equal(a.status, 201);
    assert_int_equal(json_array_size(at(a.json, "columns")), COLUMNS);
    answer_done(&a);
    expect_status(get(&d, "/v1/datasets/wide/rows"), 200);
    expect_status(ask(&d, "DELETE", "/v1/datasets/wide", NULL, NULL, 0), 204);
    free(text);
}

static void test_a_cell_of_5_mb(void **state) {
    (void)state;
    const size_t size = 5 * 1000 * 1000;
    char *text = malloc(size + 16);
    assert_non_null(text);
    memcpy(text, "a,b\n1,", 6);
    memset(text + 6, 'x', size);
    memcpy(text + 6 + size, "\n", 1);
    put_bytes(text, size + 7, 422, "invalid-dataset");
    free(text);
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

static void test_the_client_leaves(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        int fd = raw_open(&d);
        raw_text(fd, "PUT " BAD " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\na,b\n1,2\n3,4\n");
        close(fd);
        fd = raw_open(&d);
        raw_text(fd, "PUT " BAD " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n8\r\na,b\n1,2\n\r\n");
        close(fd);
    }
}

static void *upload_one(void *arg) {
    const struct daemon *daemon = &d;
    char text[64], request[256];
    bool closed;
    (void)snprintf(text, sizeof text, "a,b\n%d,2\n3,4\n", *(const int *)arg);
    (void)snprintf(request, sizeof request,
                   "PUT /v1/datasets/twice HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s", strlen(text),
                   text);
    int fd = raw_open(daemon);
    raw_text(fd, request);
    char *answer = raw_read(fd, 60000, &closed);
    close(fd);
    int status = raw_status(answer);
    free(answer);
    return (void *)(intptr_t)status;
}

static void test_two_uploads_of_one_name(void **state) {
    (void)state;
    enum { N = 8 };
    pthread_t threads[N];
    int numbers[N], created = 0;
    for (int i = 0; i < N; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, upload_one, &numbers[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        void *status;
        pthread_join(threads[i], &status);
        assert_true((intptr_t)status == 200 || (intptr_t)status == 201);
        created += (intptr_t)status == 201;
    }
    assert_int_equal(created, 1);
    struct answer a = get(&d, "/v1/datasets/twice/versions");
    assert_int_equal(json_array_size(at(a.json, "items")), N); /* eight different tables: eight versions */
    answer_done(&a);
}

/* ---- names ---- */

static void test_names(void **state) {
    (void)state;
    static const char *const bad[] = {
        "/v1/datasets/..",     "/v1/datasets/.hidden", "/v1/datasets/a%20b",
        "/v1/datasets/%C3%A4", "/v1/datasets/-x",      "/v1/datasets/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        expect_problem(put_text(&d, bad[i], "a,b\n1,2\n"), 400, "bad-request");
        expect_problem(get(&d, bad[i]), 404, "unknown-dataset");
        expect_problem(ask(&d, "DELETE", bad[i], NULL, NULL, 0), 404, "unknown-dataset");
    }
    static const char *const malformed[] = {"/v1/datasets/a%2Fb", "/v1/datasets/a%00",      "/v1/datasets/a%",
                                            "/v1/datasets/a%zz",  "/v1/models/%00/predict", "/v1/models/..%2f..%2fetc/weights"};
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        expect_problem(get(&d, malformed[i]), 400, "bad-request");
    expect_problem(put_text(&d, "/v1/datasets/a%2Fb", "a,b\n1,2\n"), 400, "bad-request");
    expect_problem(put_text(&d, "/v1/datasets/a/b", "a,b\n1,2\n"), 404, "not-found");
    expect_problem(put_text(&d, "/v1/datasets/", "a,b\n1,2\n"), 404, "not-found");
}

/* ---- control documents ---- */

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

/* ---- many of something ---- */

/* An answer or a closed connection, never a hang. */
static int status_of(const char *request) {
    char *text = raw_exchange(&d, request);
    int status = raw_status(text);
    if (text[0] && status == 0)
        fail_msg("what came is no response: %.100s", text);
    if (status >= 400 && !strstr(text, "/problems/"))
        fail_msg("%d without a problem document: %.300s", status, text);
    free(text);
    return status;
}

static void test_many_query_parameters(void **state) {
    (void)state;
    static const int counts[] = {10, 500, 1000, 5000};
    char *request = malloc(128 * 1024);
    assert_non_null(request);
    for (size_t c = 0; c < 4; c++) {
        size_t n = (size_t)sprintf(request, "GET /v1/models/iris/predict?");
        for (int i = 0; i < counts[c]; i++)
            n += (size_t)sprintf(request + n, "&p%d=1", i);
        sprintf(request + n, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        int status = status_of(request);
        if (counts[c] <= 1000)
            assert_int_equal(status, 422); /* they name no column */
        else
            assert_int_equal(status, 414);
    }
    free(request);
}

static void test_many_headers_and_cookies(void **state) {
    (void)state;
    static const int counts[] = {10, 500, 1000, 5000};
    char *request = malloc(256 * 1024);
    assert_non_null(request);
    for (size_t c = 0; c < 4; c++) {
        size_t n = (size_t)sprintf(request, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        for (int i = 0; i < counts[c]; i++)
            n += (size_t)sprintf(request + n, "X-H%d: 1\r\n", i);
        sprintf(request + n, "\r\n");
        int status = status_of(request);
        assert_true(counts[c] == 10 ? status == 200 : status == 431 || status == 0);
        n = (size_t)sprintf(request, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: ");
        for (int i = 0; i < counts[c]; i++)
            n += (size_t)sprintf(request + n, "%sc%d=1", i ? "; " : "", i);
        sprintf(request + n, "\r\n\r\n");
        status = status_of(request);
        assert_true(counts[c] == 10 ? status == 200 : status == 200 || status == 431 || status == 0);
    }
    free(request);
}

static void test_long_lines(void **state) {
    (void)state;
    char *request = malloc(64 * 1024);
    assert_non_null(request);
    size_t n = (size_t)sprintf(request, "GET /v1/datasets/");
    memset(request + n, 'a', 20000);
    sprintf(request + n + 20000, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_int_equal(status_of(request), 414);
    n = (size_t)sprintf(request, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: ");
    memset(request + n, 'a', 14000);
    sprintf(request + n + 14000, "\r\n\r\n");
    assert_int_equal(status_of(request), 431);
    free(request);
}

/* ---- slowness: the daemon of this file is impatient ---- */

/* Sends one byte of the text every quarter second until the server closes; what it said. */
static char *trickle(const char *head, const char *text) {
    bool closed = false;
    int fd = raw_open(&d);
    raw_text(fd, head);
    for (size_t i = 0; text[i] && !closed; i++) {
        raw_send(fd, text + i, 1);
        char *said = raw_read(fd, 250, &closed);
        if (said[0] || closed) {
            char *rest = raw_read(fd, 5000, &closed);
            char *all = malloc(strlen(said) + strlen(rest) + 1);
            assert_non_null(all);
            strcpy(all, said);
            strcat(all, rest);
            free(said);
            free(rest);
            close(fd);
            return all;
        }
        free(said);
    }
    close(fd);
    fail_msg("the whole text was taken, slow as it came");
    return NULL;
}

static void test_a_header_that_drips(void **state) {
    (void)state;
    char *said = trickle("", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
                             "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n");
    int status = raw_status(said);
    assert_true(status == 0 || status == 408);
    free(said);
}

static void test_a_body_that_stops(void **state) {
    (void)state;
    bool closed;
    int fd = raw_open(&d);
    raw_text(fd, "PUT " BAD " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\na,b\n1,2\n");
    char *said = raw_read(fd, 60000, &closed);
    assert_true(closed);
    int status = raw_status(said);
    assert_true(status == 0 || status == 408);
    free(said);
    close(fd);
}

/* ---- in use ---- */

static void test_delete_of_a_dataset_in_use(void **state) {
    (void)state;
    struct answer a =
        send_text(&d, "POST", "/v1/jobs",
                  "{\"model\":\"endless\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\",\"params\":{\"solver\":"
                  "\"gradient_descent\",\"learning_rate\":1e-9,\"tolerance\":1e-300,\"max_iterations\":1000000000}}");
    char path[64];
    (void)snprintf(path, sizeof path, "/v1/jobs/%.0f/cancel", number_at(a.json, "id"));
    answer_done(&a);
    expect_problem(ask(&d, "DELETE", "/v1/datasets/iris", NULL, NULL, 0), 409, "in-use");
    expect_problem(ask(&d, "DELETE", "/v1/datasets/iris?version=1", NULL, NULL, 0), 409, "in-use");
    expect_status(ask(&d, "POST", path, NULL, NULL, 0), 202);
}

#define WELL(test) cmocka_unit_test_teardown(test, still_well)

int main(void) {
    const struct CMUnitTest tests[] = {
        WELL(test_no_table_at_all),
        WELL(test_ragged_rows),
        WELL(test_quotes_and_bytes),
        WELL(test_too_wide),
        WELL(test_a_cell_of_5_mb),
        WELL(test_over_the_limit),
        WELL(test_the_client_leaves),
        WELL(test_two_uploads_of_one_name),
        WELL(test_names),
        WELL(test_json_nested_deep),
        WELL(test_control_documents_that_are_none),
        WELL(test_many_query_parameters),
        WELL(test_many_headers_and_cookies),
        WELL(test_long_lines),
        WELL(test_a_header_that_drips),
        WELL(test_a_body_that_stops),
        WELL(test_delete_of_a_dataset_in_use),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
