/* Tests of UTF-8 against its definition: each code point, and the number of valid strings of a
 * given length. */
#include "lib/cmocka.h"

#include "base/utf8.h"

#include <string.h>

/* Encodes a code point as the standard defines it. Returns the number of bytes. */
static size_t encode(unsigned code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

static void test_every_code_point(void **state) {
    (void)state;
    for (unsigned code = 0; code < 0x200000; code++) { /* all numbers that four bytes can encode */
        char text[4];
        const size_t n = encode(code, text);
        const int valid = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
        if (utf8_valid_prefix(text, n) != (valid ? n : 0)) {
            fail_msg("U+%06X", code);
        }
        for (size_t cut = 1; valid && cut < n; cut++) {
            assert_int_equal(utf8_valid_prefix(text, cut), 0);
        }
    }
}

/* The number of valid strings is that of all sequences of valid code points; so no other string is
 * accepted. */
static void test_number_of_valid_strings(void **state) {
    (void)state;
    size_t two = 0, three = 0;
    char text[3];
    for (unsigned i = 0; i < 0x10000; i++) {
        text[0] = (char)(i >> 8);
        text[1] = (char)i;
        two += utf8_valid_prefix(text, 2) == 2 ? 1 : 0;
    }
    for (unsigned i = 0; i < 0x1000000; i++) {
        text[0] = (char)(i >> 16);
        text[1] = (char)(i >> 8);
        text[2] = (char)i;
        three += utf8_valid_prefix(text, 3) == 3 ? 1 : 0;
    }
    assert_int_equal(two, 128 * 128 + 1920);
    assert_int_equal(three, 128 * 128 * 128 + 2 * 128 * 1920 + 61440);
}

static void test_place_of_the_fault(void **state) {
    (void)state;
    char text[64];
    for (size_t n = 1; n <= sizeof text; n++) { /* at each offset from a word of eight bytes */
        for (size_t at = 0; at < n; at++) {
            memset(text, 'a', n);
            assert_int_equal(utf8_valid_prefix(text, n), n);
            text[at] = (char)0xFF;
            assert_int_equal(utf8_valid_prefix(text, n), at);
            if (at + 2 <= n) {
                memcpy(text + at, "\xC3\xA9", 2);
                assert_int_equal(utf8_valid_prefix(text, n), n);
            }
            text[at] = 'a';
        }
    }
    assert_int_equal(utf8_valid_prefix("", 0), 0);
}

static void test_cut(void **state) {
    (void)state;
    /* characters of 1, 2, 3 and 4 bytes */
    const char *text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (size_t limit = 0; limit < 12; limit++) {
        assert_int_equal(utf8_cut(text, 10, limit), expected[limit]);
    }
    assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80", 6, 5),
                     5); /* invalid UTF-8 is cut exactly at the limit */
}

static void test_repair(void **state) {
    (void)state;
    struct buf b = {0};
    utf8_append(&b, "a\xFF\xC3\xA9\xE2\x82", 6);
    assert_string_equal(buf_cstr(&b), "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD");
    buf_done(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_point),
        cmocka_unit_test(test_number_of_valid_strings),
        cmocka_unit_test(test_place_of_the_fault),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_repair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
