/* Requests of browsers: pages of other and of allowed origins, preflights, host names. */
#include "lib/api.h"

#include <string.h>

static int open_daemon(void **state) {
    static const char *const flags[] = {"--allow-origin", "https://app.example", "--allowed-host",
                                        "discern.example", NULL};
    (void)state;
    service_start(flags);
    return 0;
}

static const struct response *put_from(const char *origin) {
    const char *header = text("Origin: %s", origin);
    return call_bytes("PUT", "/v1/datasets/pages", (const char *const[]){header, NULL}, "a\n1\n2\n",
                      0);
}

static void test_pages_of_other_origins(void **state) {
    (void)state;
    problem_check(put_from("https://elsewhere.example"), 403, "cross-origin");
    problem_check(put_from("null"), 403, "cross-origin");
    problem_check(put_from("http://127.0.0.1:1"), 403, "cross-origin");
    problem_check(call_get("/v1/datasets/pages"), 404, "unknown-dataset");
    status_check(call_get_with("Origin: https://elsewhere.example", "/healthz"), 200);
    status_check(put_from(text("%s", the_daemon.url)), 201);
    const struct response *a = put_from("https://app.example");
    status_check(a, 200);
    assert_string_equal(header_of(a, "Access-Control-Allow-Origin"), "https://app.example");
    a = call_get_with("Origin: https://elsewhere.example", "/healthz");
    assert_null(header_of(a, "Access-Control-Allow-Origin"));
    /* the audit has the first refusal at once, the count of the others at the end of the window */
    const double end = now() + 30;
    while (count_at(a = call_get("/v1/audit?action=access.refused"), "/items") == 0) {
        assert_true(now() < end);
        pause_ms(50);
    }
    assert_json(a, "/items/0/result", "'forbidden'");
    assert_json(a, "/items/0/detail", "'PUT by a page of another origin'");
}

static void test_preflight(void **state) {
    (void)state;
    static const char *const asks[] = {"Origin: https://app.example",
                                       "Access-Control-Request-Method: PUT",
                                       "Access-Control-Request-Headers: content-type", NULL};
    const struct response *a =
        status_check(call_bytes("OPTIONS", "/v1/datasets/pages", asks, NULL, 0), 204);
    assert_string_equal(header_of(a, "Access-Control-Allow-Origin"), "https://app.example");
    assert_non_null(strstr(header_of(a, "Access-Control-Allow-Methods"), "PUT"));
}

static void test_hosts(void **state) {
    (void)state;
    status_check(call_get_with("Host: localhost", "/healthz"), 200);
    status_check(call_get_with("Host: localhost:9999", "/healthz"), 200);
    status_check(call_get_with("Host: [::1]:80", "/healthz"), 200);
    status_check(call_get_with("Host: discern.example", "/healthz"), 200);
    problem_check(call_get_with("Host: localhost:abc", "/healthz"), 400, "bad-request");
    problem_check(call_get_with("Host: localhost:65536", "/healthz"), 400, "bad-request");
    static const char *const twice[] = {"Origin: http://localhost", "Origin: http://evil.example",
                                        NULL};
    problem_check(call_bytes("DELETE", "/v1/datasets/x", twice, NULL, 0), 400, "bad-framing");
    problem_check(raw_text("GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400, NULL);
    problem_check(raw_text("POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                           "chunked\r\n\r\n2\n{}\r\n0\r\n\r\n"),
                  400, "bad-framing");
    problem_check(call_get_with("Host: evil.example", "/healthz"), 421, "misdirected");
    problem_check(call_get_with("Host: localhost.evil.example", "/healthz"), 421, "misdirected");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_pages_of_other_origins),
        TEST(test_preflight),
        TEST(test_hosts),
    };
    return cmocka_run_group_tests(tests, open_daemon, group_end);
}
