/* Token buckets and the count of heavy calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auth/usage.h"

#include <math.h>

static void test_requests(void **state) {
    (void)state;
    struct auth_usage *u = auth_usage_new();
    const struct auth_limits none = {0}, slow = {.requests = 0.001};
    for (int i = 0; i < 1000; i++) {
        assert_true(auth_usage_request(u, &none, true) <= 0);
    }
    /* a bucket has room for one request at least; the next is due after 1 / 0.001 s */
    assert_true(auth_usage_request(u, &slow, false) <= 0);
    const double wait = auth_usage_request(u, &slow, false);
    assert_true(wait > 990 && wait <= 1000);
    assert_true(auth_usage_request(u, &slow, false) <= wait); /* a refused request is not counted */
    auth_usage_unref(u);
}

static void test_burst(void **state) {
    (void)state;
    struct auth_usage *u = auth_usage_new();
    const struct auth_limits l = {.requests = 1000000};
    int taken = 0;
    while (taken < 2000000 && auth_usage_request(u, &l, false) <= 0) {
        taken++; /* at most those of a second and those of the time that this loop takes */
    }
    assert_true(taken >= 1000000 || taken == 2000000);
    auth_usage_unref(u);
}

static void test_rows(void **state) {
    (void)state;
    struct auth_usage *u = auth_usage_new();
    const struct auth_limits l = {.rows = 10};
    assert_true(auth_usage_request(u, &l, true) <= 0);
    auth_usage_rows(u, &l, 1010);
    /* 1010 used, 1 more, 10 at once: (1010 + 1 - 10) / 10 = 100.1 s */
    const double wait = auth_usage_request(u, &l, true);
    assert_true(wait > 90 && wait <= 100.1 + 1e-9);
    assert_true(auth_usage_request(u, &l, false) <= 0); /* it uses no rows */
    auth_usage_unref(u);
}

static void test_calls(void **state) {
    (void)state;
    struct auth_usage *u = auth_usage_new();
    const struct auth_limits two = {.calls = 2}, none = {0};
    assert_true(auth_usage_enter(u, &two));
    assert_true(auth_usage_enter(u, &two));
    assert_false(auth_usage_enter(u, &two));
    assert_int_equal(auth_usage_calls(u), 2);
    assert_true(auth_usage_enter(u, &none));
    auth_usage_leave(u);
    auth_usage_leave(u);
    assert_true(auth_usage_enter(u, &two));
    auth_usage_ref(u);
    auth_usage_unref(u);
    auth_usage_unref(u);
    auth_usage_unref(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
