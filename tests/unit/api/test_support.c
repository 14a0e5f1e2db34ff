/* What handlers share and needs no call: numbers, references, splicing stored members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/support.h"

#include <string.h>

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
        assert_false(api_number_parse(bad[i], &v));
    }
    assert_int_equal(v, -7);
    assert_true(api_number_parse("1", &v) && v == 1);
    assert_true(api_number_parse("1234567890", &v) && v == 1234567890);
    assert_true(api_number_parse("9007199254740991", &v) && v == INT64_C(9007199254740991));
}

static void test_references(void **state) {
    (void)state;
    static const char *const bad[] = {"",    "@1", "iris@", "iris@0", "iris@x", "iris@1@2",
                                      "a/b", "..", ".iris", "i ris",  "iris@-1"};
    char name[IDS_NAME_SIZE], longest[80];
    int64_t version = -1;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(api_reference_parse(bad[i], name, &version));
    }
    assert_true(api_reference_parse("iris", name, &version));
    assert_string_equal(name, "iris");
    assert_int_equal(version, 0);
    assert_true(api_reference_parse("iris-2.b_c@12", name, &version));
    assert_string_equal(name, "iris-2.b_c");
    assert_int_equal(version, 12);
    memset(longest, 'a', 63);
    memcpy(longest + 63, "@2", 3);
    assert_true(api_reference_parse(longest, name, &version));
    assert_int_equal(strlen(name), 63);
    memset(longest, 'a', 64);
    longest[64] = '\0';
    assert_false(api_reference_parse(longest, name, &version));
}

static void test_members_are_spliced(void **state) {
    (void)state;
    static const char *const stored[] = {NULL,  "",          "{}",
                                         "{ }", "{\"a\":1}", " {\"a\":{\"b\":[1,2]},\"c\":\"}\"} ",
                                         "null"};
    static const char *const expected[] = {"{\"x\":1,\"y\":2}",
                                           "{\"x\":1,\"y\":2}",
                                           "{\"x\":1,\"y\":2}",
                                           "{\"x\":1,\"y\":2}",
                                           "{\"x\":1,\"a\":1,\"y\":2}",
                                           "{\"x\":1,\"a\":{\"b\":[1,2]},\"c\":\"}\",\"y\":2}",
                                           "{\"x\":1,\"y\":2}"};
    for (size_t i = 0; i < sizeof stored / sizeof stored[0]; i++) {
        struct buf out = {0};
        struct json_writer w;
        json_writer_init(&w, &out);
        json_begin_object(&w);
        json_kv_int(&w, "x", 1);
        api_put_members(&w, stored[i]);
        json_kv_int(&w, "y", 2);
        json_end_object(&w);
        assert_string_equal(buf_cstr(&out), expected[i]);
        buf_done(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_members_are_spliced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
