/* Tests that json_brief copies a document without some of its members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json/json_brief.h"

static void test_members(void **state) {
    (void)state;
    static const char *const names[] = {"x", "long one", "f[", "o{", NULL};
    static const struct {
        const char *document, *brief;
    } cases[] = {
        {"", ""},
        {"null", "null"},
        {"{}", "{}"},
        {"{\"f\":[1],\"o\":{\"f\":5}}", "{}"},
        {"{\"f\":5,\"o\":[{\"f\":[]}],\"f[\":[]}", "{\"f\":5,\"o\":[{}],\"f[\":[]}"},
        {"{\"x\":1}", "{}"},
        {"{\"x\":1,\"a\":2}", "{\"a\":2}"},
        {"{\"a\":2,\"x\":1}", "{\"a\":2}"},
        {"{\"a\":2,\"x\":[1,{\"b\":\"]\"}],\"b\":3}", "{\"a\":2,\"b\":3}"},
        {"{\"x\":1,\"x\":2,\"long one\":3}", "{}"},
        {"{\"x\":1,\"a\":0,\"x\":2,\"long one\":3}", "{\"a\":0}"},
        {"[{\"x\":{}},{\"a\":{\"x\":1}},{\"x\":null}]", "[{},{\"a\":{}},{}]"},
        {"{\"a\":\"x\",\"b\":[\"x\",\"long one\"],\"xx\":1}",
         "{\"a\":\"x\",\"b\":[\"x\",\"long one\"],\"xx\":1}"},
        {"{\"a\":\"\\\"x\\\":1,\",\"x\":\"\\\\\",\"b\":\"\\\\\"}",
         "{\"a\":\"\\\"x\\\":1,\",\"b\":\"\\\\\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out = {0};
        buf_puts(&out, "1,"); /* the text before it must be kept */
        json_brief(&out, cases[i].document, names);
        const char *text = buf_cstr(&out);
        assert_non_null(text);
        assert_string_equal(text + 2, cases[i].brief);
        buf_done(&out);
    }
}

/* Selected members, in the order of the names. */
static void test_pick(void **state) {
    (void)state;
    static const char *const names[] = {"b", "a", "c d", NULL};
    static const struct {
        const char *document, *picked;
    } cases[] = {
        {"{}", "{}"},
        {"{\"x\":1}", "{}"},
        {"{\"a\":1}", "{\"a\":1}"},
        {"{\"a\":{\"b\":[2,\"}\"]},\"x\":{\"c d\":0},\"b\":\"a\"}",
         "{\"b\":\"a\",\"a\":{\"b\":[2,\"}\"]}}"},
        {"{\"c d\":null,\"y\":\"\\\"b\\\":\",\"b\":-1e5}", "{\"b\":-1e5,\"c d\":null}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out = {0};
        json_pick(&out, cases[i].document, names);
        assert_string_equal(buf_cstr(&out), cases[i].picked);
        buf_done(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_members), cmocka_unit_test(test_pick)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
