/* Browsers and framing: pages of other origins, names of hosts, requests whose length is ambiguous. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <stdlib.h>
#include <string.h>

static struct daemon d;

static int open_daemon(void **state) {
    static const char *const flags[] = {"--allow-origin", "https://app.example", "--allowed-host", "discern.example", NULL};
    (void)state;
    daemon_open(&d, flags);
    return 0;
}

static int close_daemon(void **state) {
    (void)state;
    daemon_close(&d);
    return 0;
}

static struct answer put_from(const char *origin) {
    char header[128];
    (void)snprintf(header, sizeof header, "Origin: %s", origin);
    return ask(&d, "PUT", "/v1/datasets/pages", (const char *const[]){header, NULL}, "a\n1\n2\n", 6);
}

static void test_pages_of_other_origins(void **state) {
    (void)state;
    char own[80];
    expect_problem(put_from("https://elsewhere.example"), 403, "cross-origin");
    expect_problem(put_from("null"), 403, "cross-origin");
    expect_problem(put_from("http://127.0.0.1:1"), 403, "cross-origin");
    expect_problem(get(&d, "/v1/datasets/pages"), 404, "unknown-dataset");
    expect_status(get_with(&d, "/healthz", "Origin: https://elsewhere.example"), 200);
    (void)snprintf(own, sizeof own, "%s", d.url);
    expect_status(put_from(own), 201);
    struct answer a = put_from("https://app.example");
    assert_int_equal(a.status, 200);
    assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "https://app.example");
    answer_done(&a);
    a = get_with(&d, "/healthz", "Origin: https://elsewhere.example");
    assert_null(answer_header(&a, "Access-Control-Allow-Origin"));
    answer_done(&a);
}

static void test_preflight(void **state) {
    (void)state;
    static const char *const asks[] = {"Origin: https://app.example", "Access-Control-Request-Method: PUT",
                                       "Access-Control-Request-Headers: content-type", NULL};
    struct answer a = ask(&d, "OPTIONS", "/v1/datasets/pages", asks, NULL, 0);
    assert_int_equal(a.status, 204);
    assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "https://app.example");
    assert_non_null(strstr(answer_header(&a, "Access-Control-Allow-Methods"), "PUT"));
    answer_done(&a);
}

static void test_hosts(void **state) {
    (void)state;
    expect_status(get_with(&d, "/healthz", "Host: localhost"), 200);
    expect_status(get_with(&d, "/healthz", "Host: localhost:9999"), 200);
    expect_status(get_with(&d, "/healthz", "Host: [::1]:80"), 200);
    expect_status(get_with(&d, "/healthz", "Host: discern.example"), 200);
    expect_problem(get_with(&d, "/healthz", "Host: evil.example"), 421, "misdirected");
    expect_problem(get_with(&d, "/healthz", "Host: localhost.evil.example"), 421, "misdirected");
}

/* ---- framing ---- */

/* A refusal with 400 and a closed connection. */
static void expect_refused(const char *request) {
    char *text = raw_exchange(&d, request);
    if (raw_status(text) != 400)
        fail_msg("expected 400 for %s\ngot %.300s", request, text);
    assert_null(strstr(text + 1, "HTTP/1.1 200")); /* what followed was not taken for a second request */
    free(text);
}

static void test_ambiguous_framing(void **state) {
    (void)state;
    expect_refused("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}GET /healthz "
                   "HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect_refused("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}");
    expect_refused("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    expect_refused("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\n\r\n{}");
    expect_refused("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n");
    expect_refused("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n");
    expect_refused("GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n");
    expect_refused("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}");
    expect_refused("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2x\r\n\r\n{}");
    expect_status(get(&d, "/healthz"), 200);
}

static void test_unknown_expectation(void **state) {
    (void)state;
    char *text = raw_exchange(
        &d, "PUT /v1/datasets/a HTTP/1.1\r\nHost: localhost\r\nExpect: applause\r\nConnection: close\r\nContent-Length: 4\r\n\r\na\n1\n");
    assert_int_equal(raw_status(text), 417);
    assert_non_null(strstr(text, "/problems/expectation-failed"));
    free(text);
}

static void test_continue(void **state) {
    (void)state;
    char *text = raw_exchange(
        &d,
        "PUT /v1/datasets/.. HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 4000000\r\n\r\n");
    assert_int_equal(raw_status(text), 400); /* refused before it was sent */
    assert_null(strstr(text, "100 Continue"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_of_other_origins), cmocka_unit_test(test_preflight),           cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_ambiguous_framing),      cmocka_unit_test(test_unknown_expectation), cmocka_unit_test(test_continue),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
