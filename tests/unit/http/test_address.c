/* Addresses: text, lists of trusted ones, counts. */
#include "http/net/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

static struct address parsed(const char *text) {
    struct address a = {0};
    if (!address_parse(text, strlen(text), &a)) {
        fail_msg("\"%s\" was not taken", text);
    }
    return a;
}

static void texts(void **state) {
    (void)state;
    static const char *const good[][2] = {{"10.0.0.1", "10.0.0.1"},
                                          {"10.0.0.1:80", "10.0.0.1"},
                                          {"::1", "::1"},
                                          {"[::1]", "::1"},
                                          {"[::1]:8080", "::1"},
                                          {"2001:DB8::0:1", "2001:db8::1"},
                                          {"::ffff:1.2.3.4", "1.2.3.4"},
                                          {"[::ffff:1.2.3.4]:9", "1.2.3.4"}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct address a = parsed(good[i][0]);
        char text[ADDRESS_TEXT_SIZE];
        address_format(&a, text);
        assert_string_equal(text, good[i][1]);
    }
    static const char *const bad[] = {"",
                                      "unknown",
                                      "1.2.3",
                                      "1.2.3.4.5",
                                      "1.2.3.4:",
                                      "1.2.3.4:x",
                                      "1.2.3.4:123456",
                                      "[::1",
                                      "[::1]x",
                                      "[1.2.3.4]x",
                                      "[]",
                                      "::1]",
                                      "[10.0.0.1]",
                                      "localhost",
                                      "1.2.3.4 ",
                                      "0000000000000000000000000000000000000000000000000000000001"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct address a;
        if (address_parse(bad[i], strlen(bad[i]), &a)) {
            fail_msg("\"%s\" was taken", bad[i]);
        }
    }
    struct address loop = parsed("127.9.9.9"), six = parsed("::1"), far = parsed("128.0.0.1");
    assert_true(address_is_loopback(&loop) && address_is_loopback(&six));
    assert_false(address_is_loopback(&far));
}

static bool trusts(const struct address_rules *rules, const char *text) {
    struct address a = parsed(text);
    return address_rules_match(rules, &a);
}

static void rules(void **state) {
    (void)state;
    const struct option_list list = {.n = 5,
                                     .items = {"127.0.0.1", "10.0.0.0/8", "192.168.4.0/22",
                                               "2001:db8::/33", "::1"}};
    struct address_rules r;
    struct problem problem = {0};
    assert_true(address_rules_init(&r, &list, &problem));
    assert_true(trusts(&r, "127.0.0.1") && trusts(&r, "10.255.0.1") &&
                trusts(&r, "192.168.7.255") && trusts(&r, "2001:db8:7fff::1") &&
                trusts(&r, "::1") && trusts(&r, "::ffff:10.1.1.1"));
    assert_false(trusts(&r, "127.0.0.2") || trusts(&r, "11.0.0.1") || trusts(&r, "192.168.8.0") ||
                 trusts(&r, "192.168.3.255") || trusts(&r, "2001:db8:8000::1") ||
                 trusts(&r, "::2"));
    const struct address local = {.family = ADDRESS_UNIX};
    assert_false(address_rules_match(&r, &local));
    const struct option_list with_unix = {.n = 2, .items = {"unix", "0.0.0.0/0"}};
    assert_true(address_rules_init(&r, &with_unix, &problem));
    assert_true(address_rules_match(&r, &local) && trusts(&r, "8.8.8.8"));
    assert_false(trusts(&r, "::2"));
    static const char *const bad[] = {"",          "x",           "10.0.0.0/33",
                                      "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x",
                                      "::/129",    "/8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct option_list one = {.n = 1, .items = {bad[i]}};
        if (address_rules_init(&r, &one, &problem)) {
            fail_msg("\"%s\" was taken", bad[i]);
        }
        assert_non_null(strstr(problem.detail, "--trusted-proxy"));
        problem_done(&problem);
    }
}

static void counts(void **state) {
    (void)state;
    struct address_counts c;
    assert_true(address_counts_init(&c, 100));
    struct address a[100];
    for (unsigned i = 0; i < 100; i++) {
        a[i] =
            (struct address){.family = ADDRESS_V4, .bytes = {10, 0, (uint8_t)(i / 7), (uint8_t)i}};
    }
    for (int round = 0; round < 50; round++) {
        for (unsigned i = 0; i < 100; i++) {
            assert_true(address_counts_enter(&c, &a[i], 2));
            assert_true(address_counts_enter(&c, &a[i], 2));
            assert_false(address_counts_enter(&c, &a[i], 2));
        }
        const struct address other = {.family = ADDRESS_V6, .bytes = {1}};
        assert_false(address_counts_enter(&c, &other, 2)); /* full */
        for (unsigned i = 0; i < 100; i++) {
            unsigned k = (i * 37) % 100;
            address_counts_leave(&c, &a[k]);
            assert_true(address_counts_enter(&c, &a[k], 2));
            address_counts_leave(&c, &a[k]);
            address_counts_leave(&c, &a[k]);
        }
        address_counts_leave(&c, &a[3]); /* one that is not there */
    }
    address_counts_done(&c);
    address_counts_done(&c);
}

/* The addresses of an IPv6 network of 64 bits are one client, mapped IPv4 addresses are not. */
static void networks(void **state) {
    (void)state;
    struct address_counts c;
    const struct address a = parsed("2001:db8:0:1::1"), b = parsed("2001:db8:0:1:ffff::2"),
                         other = parsed("2001:db8:0:2::1"), four = parsed("::ffff:1.2.3.4"),
                         five = parsed("1.2.3.5");
    assert_true(address_counts_init(&c, 4));
    assert_true(address_counts_enter(&c, &a, 2) && address_counts_enter(&c, &b, 2));
    assert_false(address_counts_enter(&c, &a, 2));
    assert_true(address_counts_enter(&c, &other, 2));
    assert_true(address_counts_enter(&c, &four, 1) && address_counts_enter(&c, &five, 1));
    address_counts_leave(&c, &b);
    address_counts_leave(&c, &b);
    assert_true(address_counts_enter(&c, &a, 1));
    address_counts_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(rules),
                                       cmocka_unit_test(counts), cmocka_unit_test(networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
