/* Tests of the JSON writer and of the text of numbers, which Jansson and strtod read. */
#include "lib/cmocka.h"
#include "unit/base/alloc_fail.h"

#include "base/json/json_write.h"

#include <discern/number.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_everything(struct buf *out) {
    struct json_writer w;
    w = json_writer_of(out);
    json_begin_object(&w);
    json_kv_string(&w, "s", "a\"b");
    json_kv_string(&w, "none", NULL);
    json_kv_double(&w, "d", 0.1);
    json_kv_int(&w, "i", INT64_MIN);
    json_kv_bool(&w, "t", true);
    json_kv_bool(&w, "f", false);
    json_kv_null(&w, "n");
    json_kv_raw(&w, "raw", "[1,2]");
    json_kv_raw(&w, "rawless", NULL);
    json_kv_time(&w, "time", 951782400000);
    json_kv_time(&w, "never", 0);
    json_put_key(&w, "a");
    json_begin_array(&w);
    json_begin_array(&w);
    json_end_array(&w);
    json_begin_object(&w);
    json_end_object(&w);
    json_put_int(&w, 1);
    json_put_null(&w);
    json_put_stringn(&w, "xyz", 2);
    json_put_double(&w, (double)NAN);
    json_end_array(&w);
    json_put_key(&w, "");
    json_put_bool(&w, true);
    json_end_object(&w);
}

static const char everything[] =
    "{\"s\":\"a\\\"b\",\"none\":null,\"d\":0.1,\"i\":-9223372036854775808,\"t\":true,\"f\":false,"
    "\"n\":null,\"raw\":[1,2],"
    "\"rawless\":null,\"time\":\"2000-02-29T00:00:00.000Z\",\"never\":null,\"a\":[[],{},1,null,"
    "\"xy\",null],\"\":true}";

static void test_commas(void **state) {
    (void)state;
    struct buf out = {0};
    write_everything(&out);
    assert_string_equal(buf_cstr(&out), everything);
    buf_done(&out);
}

/* Integers beyond 64 bits are written as real numbers, because Jansson refuses them otherwise. */
static void test_large_integers(void **state) {
    (void)state;
    const struct {
        double value;
        const char *text;
    } cases[] = {{0x1p63, "[9223372036854776000.0]"},
                 {-0x1p63, "[-9223372036854776000.0]"},
                 {0x1p63 - 1024, "[9223372036854775000]"},
                 {1e20, "[100000000000000000000.0]"},
                 {-999999999999999868928.0, "[-999999999999999900000.0]"},
                 {1e21, "[1e21]"},
                 {1e300, "[1e300]"},
                 {5, "[5]"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out = {0};
        struct json_writer w = json_writer_of(&out);
        json_begin_array(&w);
        json_put_double(&w, cases[i].value);
        json_end_array(&w);
        json_t *back = json_loads(buf_cstr(&out), 0, NULL);
        assert_non_null(back);
        assert_true(json_number_value(json_array_get(back, 0)) == cases[i].value);
        assert_string_equal(buf_cstr(&out), cases[i].text);
        json_decref(back);
        buf_done(&out);
    }
}

static void test_depth(void **state) {
    (void)state;
    struct buf out = {0};
    struct json_writer w;
    w = json_writer_of(&out);
    for (int i = 0; i < 60; i++) {
        json_begin_array(&w);
        if (i < 59) {
            json_put_int(&w, i);
        }
    }
    for (int i = 0; i < 60; i++) {
        json_end_array(&w);
        if (i < 59) {
            json_put_int(&w, i);
        }
    }
    json_t *root = json_loadb(out.data, out.size, 0, NULL);
    assert_non_null(root);
    const json_t *at = root;
    for (int i = 0; i < 59; i++) { /* each level is [i, inner, 58 - i] */
        assert_int_equal(json_array_size(at), 3);
        assert_int_equal(json_integer_value(json_array_get(at, 0)), i);
        assert_int_equal(json_integer_value(json_array_get(at, 2)), 58 - i);
        at = json_array_get(at, 1);
    }
    assert_int_equal(json_array_size(at), 0);
    json_decref(root);
    buf_done(&out);
}

static void test_escapes_read_back(void **state) {
    (void)state;
    char text[3] = {0};
    for (int c = 1; c < 0x80; c++) {
        text[0] = (char)c;
        text[1] = 'z';
        struct buf out = {0};
        json_escape(&out, text, 2);
        json_t *root = json_loadb(out.data, out.size, JSON_DECODE_ANY, NULL);
        assert_non_null(root);
        assert_string_equal(json_string_value(root), text);
        json_decref(root);
        buf_done(&out);
    }
    struct buf out = {0};
    static const char mixed[] = "\b\f\n\r\t\v\0\x1f\"\\/\x7f caf\xC3\xA9 \xFF\xC3";
    json_escape(&out, mixed, sizeof mixed - 1);
    assert_string_equal(buf_cstr(&out), "\"\\b\\f\\n\\r\\t\\u000b\\u0000\\u001f\\\"\\\\/\x7f "
                                        "caf\xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD\"");
    buf_clear(&out);
    json_escape(&out, "\xC3\"\xA9", 3); /* the quote interrupts a UTF-8 sequence */
    assert_string_equal(buf_cstr(&out), "\"\xEF\xBF\xBD\\\"\xEF\xBF\xBD\"");
    buf_done(&out);
}

static void test_known_numbers(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *text; /* its expected text */
    } rows[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-1, "-1"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {100000, "100000"},
        {1e14, "100000000000000"},
        {999999999999999, "999999999999999"},
        {1e15, "1000000000000000"},
        {1e20, "100000000000000000000"},
        {1e21, "1e21"},
        {1e-5, "0.00001"},
        {1e-6, "0.000001"},
        {1e-7, "1e-7"},
        {0.0001, "0.0001"},
        {1.5e-7, "1.5e-7"},
        {1e100, "1e100"},
        {1e-100, "1e-100"},
        {5e-324, "5e-324"},
        {2.5e-310, "2.5e-310"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {1.0 / 3, "0.3333333333333333"},
        {9007199254740993.0, "9007199254740992"},
        {(double)INFINITY, "null"},
        {(double)NAN, "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[32];
        assert_int_equal(dn_number_format(rows[i].v, text), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

/* Returns the number of significant digits of a number's text. */
static int digits_of(const char *text) {
    int digits = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '1' && *text <= '9') {
            digits += zeros + 1;
            zeros = 0;
        } else if (*text == '0' && digits > 0) {
            zeros++;
        }
    }
    return digits;
}

/* Each text must give the same double when it is read, be valid JSON and fit into its buffer; with
 * one digit less it must give another double. */
static void test_numbers_round_trip(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double v;
        const uint64_t bits = i % 3 == 0 ? seed & UINT64_C(0x7FFFFFFF00000000) : seed;
        memcpy(&v, &bits, sizeof v);
        v = i % 7 == 0 ? v * 1e-320 * 1e-300 : v; /* many of these are subnormal */
        v = i % 5 == 0 ? (double)(int64_t)(seed % 2000001) / 1000 - 1000 : v;
        if (!isfinite(v)) {
            continue;
        }
        char text[32], other[64];
        const size_t n = dn_number_format(v, text);
        assert_true(n < 32 && n == strlen(text));
        assert_int_equal(strspn(text, "-0123456789.e"), n);
        const double back = strtod(text, NULL);
        assert_memory_equal(&back, &v, sizeof v);
        const int digits = digits_of(text);
        if (digits > 1) {
            (void)snprintf(other, sizeof other, "%.*e", digits - 2, v);
            assert_true(strtod(other, NULL) != v);
        }
    }
}

static void write_once(void) {
    struct buf out = {0};
    write_everything(&out);
    if (out.failed) {
        assert_null(buf_cstr(&out));
    } else {
        assert_int_equal(out.size, sizeof everything - 1);
    }
    buf_done(&out);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    ALLOC_FAIL_EACH(write_once());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas),
        cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_escapes_read_back),
        cmocka_unit_test(test_known_numbers),
        cmocka_unit_test(test_numbers_round_trip),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
