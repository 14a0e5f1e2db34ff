/* Tests of the entity tags of If-Match (strong comparison) and If-None-Match (weak comparison). */
#include "lib/cmocka.h"

#include "base/etag.h"

#include <stdbool.h>

static void test_lists(void **state) {
    (void)state;
    static const struct {
        const char *list;  /* value of the header */
        const char *etag;  /* entity tag of the resource; NULL: it does not exist */
        bool weak, strong; /* expected results */
    } rows[] = {
        {"*", "\"a\"", true, true},
        {" * ", "\"a\"", true, true},
        {"*", NULL, false, false},
        {"\"a\"", NULL, false, false},
        {"\"a\"", "\"a\"", true, true},
        {"\"b\", \"a\"", "\"a\"", true, true},
        {"\"b\",\"a\"", "\"a\"", true, true},
        {",, \"b\" ,\t\"a\" ,", "\"a\"", true, true},
        {"W/\"a\"", "\"a\"", true, false},
        {"\"a\"", "W/\"a\"", true, false},
        {"W/\"a\"", "W/\"a\"", true, false},
        {"\"b\"", "\"a\"", false, false},
        {"\"ab\"", "\"a\"", false, false},
        {"\"a\"", "\"ab\"", false, false},
        {"a", "\"a\"", false, false},
        {"\"a", "\"a\"", false, false},
        {"\"a\"x", "\"a\"", false, false},
        {"\"a\"x, \"a\"", "\"a\"", true, true},
        {"junk, \"a\"", "\"a\"", true, true},
        {"\"x,y\"", "\"x,y\"", true, true},
        {"\"x,\"a\",y\"", "\"a\"", false, false},
        {"w/\"a\"", "\"a\"", false, false},
        {"\"\"", "\"\"", true, true},
        {"", "\"a\"", false, false},
        {"*, \"b\"", "\"a\"", false, false},
        {"\"A\"", "\"a\"", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (etag_list_matches(rows[i].list, rows[i].etag, true) != rows[i].weak ||
            etag_list_matches(rows[i].list, rows[i].etag, false) != rows[i].strong) {
            fail_msg("list %s, etag %s", rows[i].list,
                     rows[i].etag != NULL ? rows[i].etag : "(none)");
        }
    }
}

static void test_valid_lists(void **state) {
    (void)state;
    static const char *const
        good[] = {"*", " * ", "\"a\"", "W/\"a\"", "\"\"", "\"a\",\"b\"", ", \"a\" ,, W/\"b,c\" ,"},
        *const bad[] = {"",       "a",           "\"a", "*, \"a\"", "\"a\", *", "w/\"a\"",
                        "\"a\"b", "\"a\" \"b\"", ",",   "**",       "\"a\", b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (!etag_list_valid(good[i])) {
            fail_msg("%s is valid", good[i]);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (etag_list_valid(bad[i])) {
            fail_msg("%s is not valid", bad[i]);
        }
    }
}

/* A condition on the state of a resource is true for the entity tags of all its representations. */
static void test_forms(void **state) {
    (void)state;
    static const char *const codings[] = {NULL, "gzip", "deflate"};
    struct buf forms[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        etag_form(&forms[i], "\"1-2\"", codings[i]);
        const char *form = buf_cstr(&forms[i]);
        assert_true(etag_list_names(form, "\"1-2\"", false));
        assert_false(etag_list_names(form, "\"1-23\"", true));
        assert_false(etag_list_names(form, "\"11-2\"", true));
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(etag_list_matches(form, k <= i ? buf_cstr(&forms[k]) : "\"1-2\"",
                                               true),
                             k == i);
        }
    }
    /* the entity tag of another release */
    assert_true(etag_list_names("\"x\", \"1-2-0.0.1-gzip\"", "\"1-2\"", false));
    assert_false(etag_list_names("W/\"1-2-gzip\"", "\"1-2\"", false));
    assert_true(etag_list_names("W/\"1-2-gzip\"", "\"1-2\"", true));
    assert_false(etag_list_names("\"1-20\"", "\"1-2\"", true));
    assert_false(etag_list_names("\"1-2", "\"1-2\"", true));
    for (size_t i = 0; i < 3; i++) {
        buf_done(&forms[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_valid_lists),
                                       cmocka_unit_test(test_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
