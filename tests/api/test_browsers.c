/* Browsers: pages of other origins and of those that are allowed, preflights, names of hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client.h"

#include <string.h>

static struct daemon d;

static int open_daemon(void **state) {
    static const char *const flags[] = {"--allow-origin", "https://app.example", "--allowed-host",
                                        "discern.example", NULL};
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
    return ask(&d, "PUT", "/v1/datasets/pages", (const char *const[]){header, NULL}, "a\n1\n2\n",
               6);
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
    static const char *const asks[] = {"Origin: https://app.example",
                                       "Access-Control-Request-Method: PUT",
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_of_other_origins),
        cmocka_unit_test(test_preflight),
        cmocka_unit_test(test_hosts),
    };
    return cmocka_run_group_tests(tests, open_daemon, close_daemon);
}
