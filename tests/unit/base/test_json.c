/* Tests of JSON requests: what is accepted, and the place of each fault. */
#include "lib/cmocka.h"
#include "unit/base/alloc_fail.h"

#include "base/json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_accepts(void **state) {
    (void)state;
    struct problem p = {0};
    const char *text = "\xEF\xBB\xBF{\"i\": 12345678901234567890, \"z\": -0, \"d\": 1.5e3, \"s\": "
                       "\"caf\xC3\xA9 \\u20ac [{\", \"a\": [], \"n\": null}\n";
    json_t *root = json_parse(text, strlen(text), &p);
    assert_non_null(root);
    assert_int_equal(p.type, PROBLEM_NONE);
    /* integers are read as doubles, so no integer is too large */
    assert_true(json_is_real(json_object_get(root, "i")));
    assert_true(json_real_value(json_object_get(root, "i")) == 12345678901234567890.0);
    assert_true(1 / json_real_value(json_object_get(root, "z")) < 0);
    assert_string_equal(json_string_value(json_object_get(root, "s")),
                        "caf\xC3\xA9 \xE2\x82\xAC [{");
    json_decref(root);
    root = json_parse("5", 1, &p); /* valid JSON; the caller checks that it is an object */
    assert_true(json_is_real(root));
    json_decref(root);
}

static void test_refuses_with_place(void **state) {
    (void)state;
#define T(text) text, sizeof text - 1
    static const struct {
        const char *text;
        size_t size;
        int64_t line, column;
        const char *says; /* a part of the detail */
    } rows[] = {
        {T("{\"a\": 1,\n \"b\": x}"), 2, 7, "is not JSON"},
        {T("{\"a\": 1\n"), 1, 8, "ends before"},
        {T("{\"a\":\n\n1, \"a\": 2}"), 3, 6, "duplicate"},
        {T("[1] 2"), 1, 5, "follows the end"},
        {T("[1]]"), 1, 4, "follows the end"},
        /* columns count characters, not bytes */
        {T("{\"caf\xC3\xA9\": \x01}"), 1, 10, "is not JSON"},
        {T("[1,\n2,\xFF]"), 2, 3, "0xFF is not valid UTF-8"},
        {T("[\"a\xED\xA0\x80\"]"), 1, 4, "0xED"},
        {T("[\"a\0b\"]"), 1, 4, "NUL"},
        {T("[1]\0"), 1, 4, "NUL"},
        {T("[\"\\u0000\"]"), 1, 0, "u0000"},
        {T("[\"a\nb\"]"), 0, 0, "line break"},
        {T("[1e999]"), 1, 2, "beyond the range"},
        {T("[-1e999]"), 1, 2, "beyond the range"},
        {T("[01]"), 1, 0, ""},
        {T("[NaN]"), 1, 2, "JSON has no NaN"},
        {T("[-Infinity]"), 1, 2, "JSON has no NaN"},
        {T("{\"a\x80\":1}"), 1, 4, "0x80 is not valid UTF-8"},
        {T("[\"caf\xC3\xA9"), 1, 6, "ends before"},
        {T("[1,]"), 1, 4, "a value is expected"},
        {T("{'a':1}"), 1, 2, ""},
        {T("// x\n{}"), 1, 1, "is not JSON"},
        {T("\xEF\xBB\xBF[\xFF]"), 1, 2, "0xFF"},
        {T("[\"\\x\"]"), 1, 0, "escape in the string"},
        {T("[\"\\ud800\"]"), 1, 0, "surrogate"},
        {T("[\"\t\"]"), 1, 0, "control character"},
        {T("{\"a\" 1}"), 1, 6, "a colon is expected"},
        {T("[1 2]"), 1, 4, "a comma or ]"},
        {T("{\"a\": 1 2}"), 1, 9, "a comma or }"},
        {T("{\"\\u0000\": 1}"), 1, 0, "u0000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct problem p = {0};
        /* a block of exactly this size, so that the sanitizer reports a read beyond its end */
        char *exact = malloc(rows[i].size);
        assert_non_null(exact);
        memcpy(exact, rows[i].text, rows[i].size);
        assert_null(json_parse(exact, rows[i].size, &p));
        free(exact);
        assert_int_equal(p.type, PROBLEM_BAD_JSON);
        assert_int_equal(p.n_errors, 1);
        const struct problem_error *e = &p.errors[0];
        if ((rows[i].line > 0 && e->line != rows[i].line) ||
            (rows[i].column > 0 && e->column != rows[i].column) || e->line < 1 || e->column < 1 ||
            strstr(e->detail, rows[i].says) == NULL || strstr(e->detail, "near '") != NULL ||
            strstr(e->detail, "JSON_") != NULL) {
            fail_msg("row %zu: line %" PRId64 ", column %" PRId64 ": %s", i, e->line, e->column,
                     e->detail);
        }
        problem_done(&p);
    }
}

static void test_rules(void **state) {
    (void)state;
    static const struct {
        const char *text, *rule;
    } rows[] = {
        {"[1,]", "a value is expected here"},
        {"[,1]", "a value is expected here"},
        {"{\"a\":}", "a value is expected here"},
        {"]", "a value is expected here"},
        {"[}", "a value is expected here"},
        {"{\"a\":1,}", "a name in double quotes is expected"},
        {"{]", "a name in double quotes or }"},
        {"{1:2}", "a name in double quotes or }"},
        {"{\"a\"}", "a colon is expected"},
        {"{\"a\":[1 2]}", "a comma or ]"},
        {"[{\"a\":[]]", "a comma or }"},
        {"[[{}}]", "a comma or ]"},
        {"[1x]", "a comma or ]"},
        {"[truefalse]", "is not JSON"},
        {"[01]", "is not JSON"},
        {"[-]", "is not JSON"},
        {"[1.]", "is not JSON"},
        {"[.5]", "is not JSON"},
        {"[1e]", "is not JSON"},
        {"[1e+]", "is not JSON"},
        {"[nul]", "is not JSON"},
        {"['a']", "is not JSON"},
        {"[-0.5e-3,0,1E5 tru]", "a comma or ]"},
        {"[\"\\u00g0\"]", "escape in the string"},
        {"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\a\"]", "escape in the string"},
        {"[\"\\udc00\"]", "surrogate"},
        {"[\"\\ud800\\u0041\"]", "surrogate"},
        {"[\"\\ud83d\\ude00\", x]", "is not JSON"},
        {"[\"a\nb\"]", "line break"},
        {"[\"a\x1f\"]", "control character"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct problem p = {0};
        assert_null(json_parse(rows[i].text, strlen(rows[i].text), &p));
        if (p.n_errors != 1 || strstr(p.errors[0].detail, rows[i].rule) == NULL) {
            fail_msg("%s: %s", rows[i].text, p.n_errors > 0 ? p.errors[0].detail : p.detail);
        }
        problem_done(&p);
    }
}

static void test_empty(void **state) {
    (void)state;
    static const char *const texts[] = {"", " ", "\n\t\r ", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n", NULL};
    for (size_t i = 0; texts[i] != NULL; i++) {
        struct problem p = {0};
        const size_t n = strlen(texts[i]);
        char *exact = malloc(n + 1);
        assert_non_null(exact);
        memcpy(exact, texts[i], n);
        exact[n] = ' '; /* a byte behind the text; it must not be read */
        assert_null(json_parse(exact, n, &p));
        assert_int_equal(p.type, PROBLEM_BAD_JSON);
        assert_non_null(strstr(p.detail, "empty"));
        problem_done(&p);
        free(exact);
    }
}

static void nest(char *text, size_t depth, char open, char close) {
    memset(text, open, depth);
    memset(text + depth, close, depth);
}

static void test_depth(void **state) {
    (void)state;
    enum { DEEPEST = 1000000 };
    char *text = malloc(2 * (size_t)DEEPEST);
    assert_non_null(text);
    struct problem p = {0};
    nest(text, 64, '[', ']');
    json_t *root = json_parse(text, 128, &p);
    assert_non_null(root);
    json_decref(root);
    static const size_t depths[] = {65, 10000, DEEPEST};
    for (size_t i = 0; i < 3; i++) {
        nest(text, depths[i], '[', ']');
        assert_null(json_parse(text, 2 * depths[i], &p));
        assert_int_equal(p.type, PROBLEM_BAD_JSON);
        assert_int_equal(p.errors[0].line, 1);
        assert_int_equal(p.errors[0].column, 65);
        assert_non_null(strstr(p.detail, "deeper than 64"));
        problem_done(&p);
    }
    nest(text, 100, '[', '['); /* 100 arrays that are not closed */
    assert_null(json_parse(text, 200, &p));
    assert_non_null(strstr(p.detail, "deeper than 64"));
    problem_done(&p);
    free(text);
    char wide[3000] = "["; /* brackets in strings and many siblings do not increase the depth */
    for (int i = 0; i < 200; i++) {
        strcat(wide, "[\"[[\\\"{\"],");
    }
    strcat(wide, "0]");
    root = json_parse(wide, strlen(wide), &p);
    assert_non_null(root);
    assert_int_equal(json_array_size(root), 201);
    json_decref(root);
}

static void test_pointers(void **state) {
    (void)state;
    struct buf out = {0};
    json_pointer(&out, "", "params");
    assert_string_equal(buf_cstr(&out), "/params");
    buf_clear(&out);
    json_pointer(&out, "/a", "x/y~z");
    assert_string_equal(buf_cstr(&out), "/a/x~1y~0z");
    buf_clear(&out);
    json_pointer(&out, "/a", "");
    assert_string_equal(buf_cstr(&out), "/a/");
    buf_done(&out);
}

/* With one failed allocation the text either is parsed rightly or is refused as out of memory:
 * Jansson's parser loses characters of a long string then. */
static void parse_once(void) {
    static const char text[] =
        "{\"a\": [1, 2, {\"b\": \"text\"}], \"c\": null, \"d\": 0.5, \"e\": \""
        "0123456789012345678901234567890123456789\\u00e9\", "
        "\"a name of more than 32 bytes, the size of a first buffer\": 1}";
    struct problem p = {0};
    json_t *root = json_parse(text, sizeof text - 1, &p);
    assert_int_equal(p.type, root == NULL ? PROBLEM_UNAVAILABLE : PROBLEM_NONE);
    if (root != NULL) {
        assert_string_equal(json_string_value(json_object_get(root, "e")),
                            "0123456789012345678901234567890123456789\xC3\xA9");
        assert_int_equal(json_object_size(root), 5);
    }
    json_decref(root);
    problem_done(&p);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    json_object_seed(1); /* otherwise Jansson opens /dev/urandom for its first object */
    ALLOC_FAIL_EACH(parse_once());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),
        cmocka_unit_test(test_refuses_with_place),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
