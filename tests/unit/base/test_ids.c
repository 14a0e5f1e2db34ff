/* Tests of identifiers: their form, that they are different, the rule for names, numbers and
 * references. */
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

static void test_numbers(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "0",
                                      "01",
                                      "-1",
                                      "+1",
                                      "1.0",
                                      "1e3",
                                      " 1",
                                      "1 ",
                                      "x",
                                      "0x1",
                                      "9007199254740993",
                                      "99999999999999999999999"};
    int64_t v = -7;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(ids_number_parse(bad[i], &v));
    }
    assert_int_equal(v, -7);
    assert_true(ids_number_parse("1", &v) && v == 1);
    assert_true(ids_number_parse("1234567890", &v) && v == 1234567890);
    assert_true(ids_number_parse("9007199254740991", &v) && v == INT64_C(9007199254740991));
}

static void test_references(void **state) {
    (void)state;
    static const char *const bad[] = {"",    "@1", "iris@", "iris@0", "iris@x", "iris@1@2",
                                      "a/b", "..", ".iris", "i ris",  "iris@-1"};
    char name[IDS_NAME_SIZE], longest[80];
    int64_t version = -1;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(ids_reference_parse(bad[i], name, &version));
    }
    assert_true(ids_reference_parse("iris", name, &version));
    assert_string_equal(name, "iris");
    assert_int_equal(version, 0);
    assert_true(ids_reference_parse("iris-2.b_c@12", name, &version));
    assert_string_equal(name, "iris-2.b_c");
    assert_int_equal(version, 12);
    memset(longest, 'a', 63);
    memcpy(longest + 63, "@2", 3);
    assert_true(ids_reference_parse(longest, name, &version));
    assert_int_equal(strlen(name), 63);
    memset(longest, 'a', 64);
    longest[64] = '\0';
    assert_false(ids_reference_parse(longest, name, &version));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_references),
        cmocka_unit_test(test_request_ids), cmocka_unit_test(test_random_uses_all_bits),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
