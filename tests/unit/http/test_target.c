/* Decoding of the request target. */
#include "http/protocol/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static struct problem problem;

static bool parse(const char *raw, struct target *t) {
    arena_done(&arena);
    arena_init(&arena, 1 << 22);
    problem_done(&problem);
    memset(t, 0, sizeof *t);
    t->raw = arena_strdup(&arena, raw);
    t->raw_size = strlen(raw);
    return target_parse_path(t, &arena, &problem) && target_parse_query(t, &arena, &problem);
}

static void segments(void **state) {
    (void)state;
    struct target t;
    assert_true(parse("/v1/a%20b/%C3%A9/x%3Ay/.././%25", &t));
    const char *const expected[] = {"v1", "a b", "\xc3\xa9", "x:y", "..", ".", "%"};
    assert_int_equal(t.n_segments, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(t.segments[i], expected[i]);
    }
    assert_true(parse("/", &t));
    assert_int_equal(t.n_segments, 1);
    assert_string_equal(t.segments[0], "");
    assert_true(parse("//a/", &t));
    assert_int_equal(t.n_segments, 3);
    assert_string_equal(t.segments[2], "");
    assert_true(parse("/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16", &t));
    assert_int_equal(t.n_segments, 16);
    assert_true(parse("/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18", &t));
    assert_int_equal(t.n_segments, TARGET_MAX_SEGMENTS + 1);
    assert_true(parse("/caf\xc3\xa9", &t)); /* not escaped, but UTF-8 */
    assert_string_equal(t.segments[0], "caf\xc3\xa9");
}

static void absolute(void **state) {
    (void)state;
    struct target t;
    assert_true(parse("http://Example.com:80/a/b?c=d", &t));
    assert_string_equal(t.authority, "Example.com:80");
    assert_int_equal(t.n_segments, 2);
    assert_string_equal(t.segments[1], "b");
    assert_int_equal(t.n_params, 1);
    assert_true(parse("https://x?c", &t));
    assert_int_equal(t.n_segments, 1);
    assert_int_equal(t.n_params, 1);
    assert_true(parse("*", &t));
    assert_true(t.asterisk);
}

static void query(void **state) {
    (void)state;
    struct target t;
    assert_true(parse("/a?x=1&y&=z&&e=&p=a+b%2B%26%3d&x=2&q=a=b&%c3%a9=%00x", &t) == false);
    assert_true(parse("/a?x=1&y&=z&&e=&p=a+b%2B%26%3d&x=2&q=a=b&%c3%a9=?/", &t));
    static const char *const pairs[][2] = {{"x", "1"},   {"y", ""},         {"", "z"},
                                           {"e", ""},    {"p", "a b+&="},   {"x", "2"},
                                           {"q", "a=b"}, {"\xc3\xa9", "?/"}};
    assert_int_equal(t.n_params, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(t.params[i].name, pairs[i][0]);
        assert_string_equal(t.params[i].value, pairs[i][1]);
    }
    assert_true(parse("/a?", &t));
    assert_int_equal(t.n_params, 0);
    assert_true(parse("/a?&&&", &t));
    assert_int_equal(t.n_params, 0);
}

static void many_params(void **state) {
    (void)state;
    struct target t;
    for (int n = TARGET_MAX_PARAMS; n <= TARGET_MAX_PARAMS + 1; n++) {
        struct buf b = {0};
        buf_puts(&b, "/a?");
        for (int i = 0; i < n; i++) {
            buf_puts(&b, "&a&");
        }
        assert_int_equal(parse(buf_cstr(&b), &t), n == TARGET_MAX_PARAMS);
        buf_done(&b);
    }
    assert_int_equal(problem.type, PROBLEM_BAD_REQUEST);
}

static void refused(void **state) {
    (void)state;
    static const char *const bad[] = {"/%",
                                      "/%4",
                                      "/%zz",
                                      "/%4g",
                                      "/%00",
                                      "/a%2fb",
                                      "/a%2Fb",
                                      "/a b",
                                      "/a\tb",
                                      "/\x7f",
                                      "/%ff",
                                      "/%c3",
                                      "/\xc3",
                                      "/%c0%af",
                                      "/%ed%a0%80",
                                      "a",
                                      "ftp://x/",
                                      "http:///a",
                                      "http://",
                                      "",
                                      "?a",
                                      "/a?%",
                                      "/a?b=%0",
                                      "/a?%00",
                                      "/a?b=%00",
                                      "/a?b=%ff",
                                      "/a?%ff=b",
                                      "/a?b= ",
                                      "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/%00"};
    struct target t;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (parse(bad[i], &t)) {
            fail_msg("\"%s\" was taken", bad[i]);
        }
        assert_int_equal(problem.type, PROBLEM_BAD_REQUEST);
    }
}

static int done(void **state) {
    (void)state;
    arena_done(&arena);
    problem_done(&problem);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments),    cmocka_unit_test(absolute), cmocka_unit_test(query),
        cmocka_unit_test(many_params), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}
