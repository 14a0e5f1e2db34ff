/* The summary of a column does not know where its chunks began; counts have their limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "wire/column_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Digest (hex) and JSON of n values added in chunks of `step` rows. */
static void sum_up(const double *x, const uint32_t *code, const dn_strings *strings, size_t n, dn_column_type type, size_t step,
                   size_t missing_first, char digest[HASH_BLAKE2B_TEXT], struct buf *json) {
    struct column_summary s = {0};
    uint8_t bytes[HASH_BLAKE2B_SIZE];
    struct json_writer w;
    if (missing_first > 0) {
        assert_true(column_summary_add_missing(&s, type, (int64_t)missing_first));
    }
    for (size_t at = 0; at < n; at += step) {
        const size_t take = n - at < step ? n - at : step;
        const dn_column_view view = {.type = type,
                                     .n_rows = take,
                                     .number = x != NULL ? x + at : NULL,
                                     .code = code != NULL ? code + at : NULL,
                                     .strings = strings != NULL ? *strings : (dn_strings){0}};
        assert_true(column_summary_add(&s, &view));
    }
    assert_true(column_summary_digest(&s, bytes));
    hash_hex(bytes, sizeof bytes, digest);
    json_writer_init(&w, json);
    column_summary_write(&s, "x", type, &w);
    assert_int_equal(s.n_rows, n + missing_first);
    column_summary_done(&s);
}

static void test_borders_of_numbers(void **state) {
    (void)state;
    enum { N = 5000 };
    double *x = malloc(N * sizeof *x);
    assert_non_null(x);
    uint64_t seed = 12;
    for (size_t i = 0; i < N; i++) {
        const double some[] = {0,
                               -0.0,
                               1,
                               239,
                               240,
                               1023,
                               1024,
                               -1,
                               32767,
                               32768,
                               -32768,
                               -32769,
                               2147483647,
                               2147483648.0,
                               -2147483649.0,
                               0.5,
                               1e300,
                               -1e-300,
                               4503599627370496.0,
                               9007199254740993.0,
                               (double)NAN};
        x[i] = some[next(&seed) % 21];
    }
    char digest[HASH_BLAKE2B_TEXT], other[HASH_BLAKE2B_TEXT];
    struct buf json = {0};
    sum_up(x, NULL, NULL, N, DN_NUMERIC, N, 0, digest, &json);
    const size_t steps[] = {1, 7, 511, 512, 513, 4096};
    for (size_t i = 0; i < 6; i++) {
        struct buf again = {0};
        sum_up(x, NULL, NULL, N, DN_NUMERIC, steps[i], 0, other, &again);
        assert_string_equal(digest, other);
        assert_non_null(strstr(buf_cstr(&again), "\"distinct\":19")); /* -0 is 0, missing does not count */
        buf_done(&again);
    }
    /* each of the values has a form of its own */
    char seen[21][HASH_BLAKE2B_TEXT];
    for (size_t i = 0; i < 21; i++) {
        const double some[] = {0,
                               -0.0,
                               1,
                               239,
                               240,
                               1023,
                               1024,
                               -1,
                               32767,
                               32768,
                               -32768,
                               -32769,
                               2147483647,
                               2147483648.0,
                               -2147483649.0,
                               0.5,
                               1e300,
                               -1e-300,
                               4503599627370496.0,
                               9007199254740993.0,
                               (double)NAN};
        struct buf one = {0};
        sum_up(&some[i], NULL, NULL, 1, DN_NUMERIC, 1, 0, seen[i], &one);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(seen[i], seen[j]);
        }
        buf_done(&one);
    }
    /* missing rows before the first chunk are as missing rows in it */
    struct buf before = {0};
    for (size_t i = 0; i < 700; i++) {
        x[i] = (double)NAN;
    }
    sum_up(x, NULL, NULL, N, DN_NUMERIC, 100, 0, digest, &before);
    sum_up(x + 700, NULL, NULL, N - 700, DN_NUMERIC, 100, 700, other, &before);
    assert_string_equal(digest, other);
    sum_up(x, NULL, NULL, 700, DN_BOOLEAN, 100, 0, digest, &before);
    sum_up(x, NULL, NULL, 0, DN_BOOLEAN, 100, 700, other, &before);
    assert_string_equal(digest, other);
    buf_done(&before);
    buf_done(&json);
    free(x);
}

static void test_borders_of_strings(void **state) {
    (void)state;
    static char bytes[60000];
    static const uint32_t start[] = {0, 0, 1, 3, 40000, 40001, 60000};
    enum { N = 900 };
    static uint32_t code[N];
    memset(bytes, 'x', sizeof bytes);
    const dn_strings strings = {6, start, bytes}; /* "x" twice */
    uint64_t seed = 13;
    for (size_t i = 0; i < N; i++) {
        code[i] = i % 5 == 0 ? DN_CODE_MISSING : next(&seed) % 6;
    }
    char digest[HASH_BLAKE2B_TEXT], other[HASH_BLAKE2B_TEXT];
    struct buf json = {0}, again = {0};
    sum_up(NULL, code, &strings, N, DN_CATEGORICAL, N, 0, digest, &json);
    sum_up(NULL, code, &strings, N, DN_CATEGORICAL, 13, 0, other, &again);
    assert_string_equal(digest, other);
    assert_string_equal(buf_cstr(&json), buf_cstr(&again));
    assert_non_null(strstr(buf_cstr(&json), "\"distinct\":5")); /* "x" is one, however often a chunk lists it */
    buf_clear(&json);
    for (size_t i = 0; i < N; i++) {
        code[i] = DN_CODE_MISSING;
    }
    sum_up(NULL, code, &strings, N, DN_TEXT, 13, 0, digest, &json);
    sum_up(NULL, code, &strings, 0, DN_TEXT, 13, N, other, &json);
    assert_string_equal(digest, other);
    buf_done(&json);
    buf_done(&again);
}

static void test_tally(void **state) {
    (void)state;
    struct tally t = {0};
    struct tally_entry top[10];
    char name[32];
    for (int i = 0; i < TALLY_MAX; i++) {
        const int n = snprintf(name, sizeof name, "name %d", i);
        assert_true(tally_add(&t, name, (size_t)n, i < 20 ? 1 + i % 4 : 1));
    }
    assert_true(tally_add(&t, "name 7", 6, 100));
    assert_true(tally_add(&t, "", 0, 2)); /* one too many */
    assert_true(t.over);
    assert_int_equal(tally_memory(&t), 0);
    assert_true(tally_add(&t, "a", 1, 1));
    tally_done(&t);
    for (int i = 0; i < 30; i++) {
        const int n = snprintf(name, sizeof name, "%c", 'a' + (i * 7) % 26);
        assert_true(tally_add(&t, name, (size_t)n, i == 3 ? 9 : 1));
    }
    assert_true(tally_add(&t, "", 0, 5));
    assert_int_equal(t.n, 27);
    assert_int_equal(tally_top(&t, top, 10), 10);
    assert_memory_equal(t.bytes + top[0].start, "v", 1); /* 3·7 = 21: 9 times; and 29·7 = 203 is 21 too */
    assert_int_equal(top[0].count, 10);
    assert_int_equal(top[1].length, 0);
    assert_int_equal(top[1].count, 5);
    for (size_t i = 2; i < 10; i++) { /* then by count, and by bytes */
        const char a = t.bytes[top[i - 1].start], b = t.bytes[top[i].start];
        assert_true(i == 2 || top[i - 1].count > top[i].count || (top[i - 1].count == top[i].count && a < b));
    }
    tally_done(&t);
}

static void test_number_set(void **state) {
    (void)state;
    struct number_set s = {0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < TALLY_MAX; i++) {
            assert_true(number_set_add(&s, i + 0.5));
        }
    }
    assert_int_equal(s.n, TALLY_MAX);
    assert_false(s.over);
    assert_true(number_set_add(&s, -1));
    assert_true(s.over);
    assert_int_equal(number_set_memory(&s), 0);
    number_set_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_borders_of_numbers), cmocka_unit_test(test_borders_of_strings),
                                       cmocka_unit_test(test_tally), cmocka_unit_test(test_number_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
