/* Splicing of stored members into answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/support.h"

#include <string.h>

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
        w = json_writer_of(&out);
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
        cmocka_unit_test(test_members_are_spliced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
