/* Tests of column summaries: they must not depend on where chunks begin; counts have limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory/buf.h"
#include "formats/summary/column_summary.h"
#include "unit/base/alloc_fail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Computes the digest (in hex) and the JSON of n values that are added in chunks of `step` rows,
 * after `missing_first` missing rows. */
static void sum_up(const double *x, const uint32_t *code, const dn_strings *strings, size_t n,
                   dn_column_type type, size_t step, size_t missing_first,
                   char digest[HASH_BLAKE2B_TEXT], struct buf *json) {
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
    w = json_writer_of(json);
    column_summary_write(&s, "x", type, NULL, &w);
    json_end_object(&w);
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
        assert_string_equal(buf_cstr(&json), buf_cstr(&again));
        /* -0 and 0 are one value; missing values are not counted */
        assert_non_null(strstr(buf_cstr(&again), "\"distinct\":19"));
        buf_done(&again);
    }
    /* the digests of these values must all be different */
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
    /* missing rows before the first chunk give the same result as missing rows in it */
    struct buf before = {0}, after = {0};
    for (size_t i = 0; i < 700; i++) {
        x[i] = (double)NAN;
    }
    sum_up(x, NULL, NULL, N, DN_NUMERIC, 100, 0, digest, &before);
    sum_up(x + 700, NULL, NULL, N - 700, DN_NUMERIC, 100, 700, other, &after);
    assert_string_equal(digest, other);
    assert_string_equal(buf_cstr(&before), buf_cstr(&after));
    buf_done(&after);
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
    const dn_strings strings = {6, start, bytes}; /* "x" occurs twice */
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
    /* the texts "x" are one value, however often a chunk lists it */
    assert_non_null(strstr(buf_cstr(&json), "\"distinct\":5"));
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
    for (int i = 0; i < 30; i++) {
        const int n = snprintf(name, sizeof name, "%c", 'a' + (i * 7) % 26);
        assert_int_equal(tally_add(&t, name, (size_t)n, i == 3 ? 9 : 1), TALLY_WELL);
    }
    assert_int_equal(tally_add(&t, "", 0, 5), TALLY_WELL);
    assert_int_equal(t.n, 27);
    assert_int_equal(tally_top(&t, top, 10), 10);
    /* 'a' + 21, added 9 times for i = 3 and once for i = 29 (7·29 = 203 = 21 modulo 26) */
    assert_memory_equal(t.bytes + top[0].start, "v", 1);
    assert_int_equal(top[0].count, 10);
    assert_int_equal(top[1].length, 0);
    assert_int_equal(top[1].count, 5);
    for (size_t i = 2; i < 10; i++) { /* the others are sorted by count, then by bytes */
        const char before = t.bytes[top[i - 1].start], at = t.bytes[top[i].start];
        assert_true(i == 2 || top[i - 1].count > top[i].count ||
                    (top[i - 1].count == top[i].count && before < at));
    }
    tally_done(&t);
}

/* Returns a summary of n numbers that are added in chunks of `step` rows. */
static struct column_summary summary_of(const double *x, size_t n, size_t step, size_t n_columns) {
    struct column_summary s = {.n_columns = n_columns};
    for (size_t at = 0; at < n; at += step) {
        const dn_column_view view = {.type = DN_NUMERIC,
                                     .n_rows = n - at < step ? n - at : step,
                                     .number = x + at};
        assert_true(column_summary_add(&s, &view));
    }
    return s;
}

static void json_of(const struct column_summary *s, dn_column_type type, struct buf *out) {
    struct json_writer w;
    buf_clear(out);
    w = json_writer_of(out);
    column_summary_write(s, "x", type, NULL, &w);
    assert_non_null(buf_cstr(out));
}

/* With more distinct numbers than are counted: the sketches must not depend on the chunks, nor on
 * what was counted before they began. */
static void test_borders_of_sketches(void **state) {
    (void)state;
    enum { N = 90000 };
    double *x = malloc(N * sizeof *x);
    assert_non_null(x);
    uint64_t seed = 5;
    for (size_t i = 0; i < N; i++) {
        x[i] = i % 11 == 0  ? (double)NAN
               : i % 3 == 0 ? (double)(next(&seed) % 300)
                            : (double)next(&seed) / 64;
    }
    struct buf json = {0}, again = {0};
    struct column_summary whole = summary_of(x, N, N, 1);
    json_of(&whole, DN_NUMERIC, &json);
    assert_true(whole.estimated && whole.many);
    assert_non_null(strstr(buf_cstr(&json),
                           "\"distinct_estimated\":true,\"distinct_above\":10000,\"quantiles\":{"));
    assert_non_null(strstr(buf_cstr(&json), "\"quantiles_exact\":false,\"quantiles_error\":0.0"));
    const size_t steps[] = {1, 100, 511, 4096, 65536};
    for (size_t i = 0; i < 5; i++) {
        struct column_summary s = summary_of(x, N, steps[i], 1);
        json_of(&s, DN_NUMERIC, &again);
        assert_string_equal(buf_cstr(&json), buf_cstr(&again));
        column_summary_done(&s);
    }
    column_summary_done(&whole);
    buf_done(&json);
    buf_done(&again);
    free(x);
}

/* Small integers are counted in two ways; the distinct count must include both. */
static void test_small_integers(void **state) {
    (void)state;
    const unsigned upto[] = {1, 2, 100, 128, 240, 256, 257, 1024};
    enum { N = 5000 };
    double *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < 8; k++) {
        double sum = 0, squares = 0;
        int64_t count[1024] = {0};
        uint64_t seed = k;
        for (size_t i = 0; i < N; i++) {
            x[i] = next(&seed) % upto[k];
            count[(size_t)x[i]]++;
            sum += x[i];
        }
        for (size_t i = 0; i < N; i++) {
            squares += (x[i] - sum / N) * (x[i] - sum / N);
        }
        for (size_t step = 7; step <= N; step *= 8) {
            struct column_summary s = summary_of(x, N, step, 1);
            size_t n = 0, at = 0;
            struct number_count *list = column_summary_numbers(&s, &n);
            assert_non_null(list);
            for (size_t v = 0; v < 1024; v++) {
                if (count[v] > 0) {
                    assert_true(at < n && list[at].value == (double)v &&
                                list[at].count == count[v]);
                    at++;
                }
            }
            assert_int_equal(at, n);
            assert_int_equal(column_summary_distinct(&s, DN_NUMERIC), n);
            const struct moments m = column_summary_moments(&s);
            assert_true(m.n == N && fabs(m.mean - sum / N) < 1e-9 &&
                        fabs(m.m2 - squares) <= 1e-9 * (squares + 1));
            free(list);
            column_summary_done(&s);
        }
    }
    free(x);
}

/* When a 32-bit count of equal numbers would overflow, the summary must continue with sketches. */
static void test_more_rows_than_counts(void **state) {
    (void)state;
    const double x[] = {1, 2, 2, 3};
    struct column_summary s = summary_of(x, 4, 4, 1);
    s.n_rows += UINT32_MAX - 5;
    s.moments.n += UINT32_MAX - 5; /* as if UINT32_MAX - 5 more rows had the value 2 */
    s.numbers.small[2] += UINT32_MAX - 5;
    const dn_column_view view = {.type = DN_NUMERIC, .n_rows = 4, .number = x};
    assert_true(column_summary_add(&s, &view));
    assert_true(s.estimated && !s.many);
    size_t n = 0;
    struct number_count *list = column_summary_numbers(&s, &n);
    assert_non_null(list);
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        total += list[i].count;
    }
    assert_true(total == column_summary_moments(&s).n && total == (int64_t)UINT32_MAX + 3);
    free(list);
    column_summary_done(&s);
}

/* Words are counted for text columns, but not for columns that were declared categorical; both
 * while the distinct texts are counted and after their number is only estimated. */
static void test_words(void **state) {
    (void)state;
    enum { N = 12000, SIZE = 32 };
    char *bytes = malloc((size_t)N * SIZE);
    uint32_t *start = malloc((N + 1) * sizeof *start), *code = malloc(N * sizeof *code);
    assert_true(bytes != NULL && start != NULL && code != NULL);
    size_t size = 0;
    for (uint32_t i = 0; i < N; i++) {
        start[i] = (uint32_t)size;
        size += (size_t)snprintf(bytes + size, SIZE, "The word %u, THE end", i);
        code[i] = i;
    }
    start[N] = (uint32_t)size;
    struct buf json = {0};
    for (int n = 5000; n <= N; n += 7000) {
        for (int wordless = 0; wordless < 2; wordless++) {
            struct column_summary s = {.n_columns = 3, .wordless = wordless};
            const dn_column_view view = {.type = DN_CATEGORICAL,
                                         .n_rows = (size_t)n,
                                         .code = code,
                                         .strings = {(size_t)n, start, bytes}};
            assert_true(column_summary_add(&s, &view));
            assert_int_equal(s.estimated, n > TALLY_MAX);
            if (wordless) {
                json_of(&s, DN_CATEGORICAL, &json);
                assert_non_null(
                    strstr(buf_cstr(&json), n > TALLY_MAX ? "\"top\":null" : "\"others\":4990"));
                assert_null(strstr(buf_cstr(&json), "words"));
            } else {
                char words[64];
                json_of(&s, DN_TEXT, &json);
                snprintf(words, sizeof words, "\"words\":%d,\"distinct_words\":", 5 * n);
                const char *found = strstr(buf_cstr(&json), words);
                assert_non_null(found);
                const double distinct = atof(found + strlen(words));
                assert_true(fabs(distinct / (n + 3) - 1) <
                            0.08); /* distinct words: "the", "word", "end" and n numbers */
                char all[48];
                (void)snprintf(all, sizeof all, "\"text_bytes\":%u", start[n]);
                assert_non_null(strstr(found, all));
                assert_non_null(strstr(found, n > 10000 ? "\"longest\":23" : "\"longest\":22"));
            }
            column_summary_done(&s);
        }
    }
    buf_done(&json);
    free(bytes);
    free(start);
    free(code);
}

/* The memory of the sketches of all columns together has a limit that does not depend on the number
 * of columns. */
static void test_memory_of_wide_tables(void **state) {
    (void)state;
    enum { N = 11000 };
    double *x = malloc(N * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i + 0.5;
    }
    for (size_t n_columns = 1; n_columns <= 16384; n_columns *= 4) {
        struct column_summary s = summary_of(x, N, 4096, n_columns);
        assert_true(s.estimated);
        assert_int_equal(column_summary_counts_memory(&s), 0);
        assert_true(column_summary_sketch_memory(&s) * n_columns <= 10 << 20);
        const bool ranked = n_columns <= COLUMN_SUMMARY_MAX_RANKED;
        assert_true(ranked ? number_sample_error(s.sample) < 0.5 : s.sample == NULL);
        struct buf json = {0};
        struct json_writer w;
        w = json_writer_of(&json);
        column_summary_write(&s, "x", DN_NUMERIC, NULL, &w);
        json_end_object(&w);
        assert_non_null(buf_cstr(&json));
        assert_int_equal(strstr(buf_cstr(&json), "quantiles") != NULL, ranked);
        assert_int_equal(strstr(buf_cstr(&json), "histogram") != NULL, ranked);
        assert_non_null(strstr(buf_cstr(&json), "\"distinct\":"));
        buf_done(&json);
        column_summary_done(&s);
    }
    free(x);
}

static struct buf failing;
static const double *failing_x;

/* Returns false if an allocation failed and the failure was reported. */
static bool sum_up_failing(size_t n) {
    struct column_summary s = {0};
    const dn_column_view view = {.type = DN_NUMERIC, .n_rows = n, .number = failing_x};
    struct json_writer w;
    buf_clear(&failing);
    w = json_writer_of(&failing);
    const bool well = column_summary_add(&s, &view) && column_summary_drop_counts(&s);
    if (well) {
        column_summary_write(&s, "x", DN_NUMERIC, NULL, &w);
    }
    column_summary_done(&s);
    return well && !failing.failed;
}

static void test_no_memory(void **state) {
    (void)state;
    enum { N = 300 };
    double x[N];
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i / 3;
    }
    failing_x = x;
    bool well = false;
    ALLOC_FAIL_EACH(well = sum_up_failing(N));
    assert_true(well);
    buf_done(&failing);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_borders_of_numbers),
                                       cmocka_unit_test(test_borders_of_strings),
                                       cmocka_unit_test(test_tally),
                                       cmocka_unit_test(test_borders_of_sketches),
                                       cmocka_unit_test(test_small_integers),
                                       cmocka_unit_test(test_more_rows_than_counts),
                                       cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_memory_of_wide_tables),
                                       cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
