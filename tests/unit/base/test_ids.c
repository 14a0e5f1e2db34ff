/* Identifiers: form, difference, and the rule of names. */
#include "lib/cmocka.h"

#include "base/ids.h"

#include <string.h>

static void test_request_ids(void **state) {
    (void)state;
    char seen[200][IDS_REQUEST_SIZE];
    for (size_t i = 0; i < 200; i++) {
        ids_request(seen[i]);
        assert_int_equal(strlen(seen[i]), 24);
        assert_int_equal(strspn(seen[i], "0123456789abcdef"), 24);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(seen[i], seen[k]);
        }
    }
}

static void test_random_uses_all_bits(void **state) {
    (void)state;
    uint64_t ones = 0, zeros = 0;
    for (int i = 0; i < 200; i++) {
        const uint64_t v = ids_random();
        ones |= v;
        zeros |= ~v;
    }
    assert_true(ones == UINT64_MAX && zeros == UINT64_MAX);
}

static void test_names(void **state) {
    (void)state;
    static const char *const good[] = {"a",  "Z",   "0",    "iris", "iris-2.0_b",
                                       "9.", "a--", "x..y", NULL};
    static const char *const bad[] = {"",    ".",    "..", "-a",        "_a",  ".a", "a/b",
                                      "a b", "a%2F", "é",  "a\xC3\xA9", "a\n", "a+", "a:",
                                      "a@",  "a[",   "a`", "a{",        NULL};
    for (size_t i = 0; good[i] != NULL; i++) {
        assert_true(ids_name_valid(good[i], strlen(good[i])));
    }
    for (size_t i = 0; bad[i] != NULL; i++) {
        assert_false(ids_name_valid(bad[i], strlen(bad[i])));
    }
    assert_false(ids_name_valid("a\0b", 3));
    char longest[80];
    memset(longest, 'a', sizeof longest);
    assert_true(ids_name_valid(longest, 63));
    assert_false(ids_name_valid(longest, 64));
}

static int set_up(void **state) {
    (void)state;
    return ids_init() ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_ids),
        cmocka_unit_test(test_random_uses_all_bits),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
