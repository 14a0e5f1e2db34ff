/* Tests of counting with random hash keys: the results must not depend on the keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/summary/number_tally.h"
#include "formats/summary/tally.h"
#include "formats/text/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 3000, TABLES = 4, TOP = 10 };

static size_t text_of(int i, char out[32]) {
    return (size_t)snprintf(out, 32, "%s%d", i % 3 == 0 ? "" : "value ", i * 7919 % 10007);
}

/* Adds the same texts to several tallies. Each has its own key, but all must have the same entries
 * in the same order, and the same most frequent texts; equal counts are sorted by bytes. */
static void test_texts(void **state) {
    (void)state;
    struct tally t[TABLES] = {0};
    struct tally_entry top[TABLES][TOP];
    char text[32];
    for (size_t k = 0; k < TABLES; k++) {
        for (int i = 0; i < TEXTS; i++) {
            const size_t n = text_of(i, text);
            assert_int_equal(TALLY_WELL, tally_add(&t[k], text, n, i % 2 == 0 ? 5 : 1));
        }
        for (int i = 0; i < TEXTS; i += 500) { /* texts that were counted before do not make new
                                                * entries */
            const size_t n = text_of(i, text);
            assert_int_equal(TALLY_WELL, tally_add(&t[k], text, n, 1));
        }
        assert_int_equal(t[k].n, TEXTS);
        assert_int_equal(tally_top(&t[k], top[k], TOP), TOP);
    }
    for (size_t k = 1; k < TABLES; k++) {
        assert_memory_not_equal(&t[0].key, &t[k].key, sizeof t[0].key);
        assert_int_equal(t[0].size, t[k].size);
        assert_memory_equal(t[0].bytes, t[k].bytes, t[0].size);
        for (size_t i = 0; i < TEXTS; i++) {
            assert_int_equal(t[0].entry[i].count, t[k].entry[i].count);
            assert_int_equal(t[0].entry[i].start, t[k].entry[i].start);
        }
        for (size_t i = 0; i < TOP; i++) {
            assert_int_equal(top[0][i].start, top[k][i].start);
        }
    }
    for (size_t i = 1; i < TOP; i++) {
        assert_true(top[0][i - 1].count >= top[0][i].count);
    }
    for (size_t k = 0; k < TABLES; k++) {
        tally_done(&t[k]);
    }
}

static void test_too_many_texts(void **state) {
    (void)state;
    struct tally t = {0};
    char text[32];
    for (int i = 0; i < TALLY_MAX; i++) {
        const size_t n = (size_t)snprintf(text, sizeof text, "%d", i);
        assert_int_equal(TALLY_WELL, tally_add(&t, text, n, 1));
    }
    /* one text too many; the counts of the existing texts can still grow */
    assert_int_equal(TALLY_FULL, tally_add(&t, "", 0, 1));
    assert_int_equal(TALLY_WELL, tally_add(&t, "7", 1, 2));
    assert_int_equal(t.n, TALLY_MAX);
    assert_int_equal(t.entry[7].count, 3);
    tally_done(&t);
}

/* Returns numbers that are far apart, adjacent, or equal in their lowest or highest bits. */
static double number_of(int i) {
    return i % 4 == 0   ? 1024 + i
           : i % 4 == 1 ? ldexp(1.0, i / 4 % 900 + 20)
           : i % 4 == 2 ? 0.5 + i
                        : -ldexp(i, -40);
}

static void test_numbers(void **state) {
    (void)state;
    struct number_tally t[TABLES] = {0};
    struct number_count *list[TABLES];
    size_t n[TABLES];
    for (size_t k = 0; k < TABLES; k++) {
        for (int again = 0; again < 2; again++) {
            for (int i = 1; i <= TEXTS; i++) {
                assert_int_equal(NUMBER_TALLY_WELL, number_tally_add(&t[k], number_of(i)));
            }
        }
        const double small[] = {1023, 0, -0.0, 17, 1023};
        for (size_t i = 0; i < 5; i++) {
            assert_int_equal(NUMBER_TALLY_WELL, number_tally_add(&t[k], small[i]));
        }
        assert_true(k == 0 || t[k].factor != t[0].factor);
        assert_int_equal(number_tally_distinct(&t[k]), t[k].n + 3);
        list[k] = number_tally_list(&t[k], &n[k]);
        assert_non_null(list[k]);
        assert_int_equal(n[k], n[0]);
        /* the list does not depend on the factor */
        assert_memory_equal(list[k], list[0], n[0] * sizeof *list[0]);
    }
    int64_t total = 0;
    for (size_t i = 0; i < n[0]; i++) {
        total += list[0][i].count;
        assert_true(i == 0 || list[0][i - 1].value < list[0][i].value);
        if (list[0][i].value == 0 || list[0][i].value == 1023) {
            assert_int_equal(list[0][i].count, 2);
        }
    }
    assert_int_equal(total, 2 * TEXTS + 5);
    for (size_t k = 0; k < TABLES; k++) {
        free(list[k]);
        number_tally_done(&t[k]);
    }
}

static void test_too_many_numbers(void **state) {
    (void)state;
    struct number_tally t = {0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < TALLY_MAX; i++) {
            assert_int_equal(NUMBER_TALLY_WELL, number_tally_add(&t, i + 0.5));
        }
    }
    assert_int_equal(NUMBER_TALLY_FULL, number_tally_add(&t, -1));
    assert_int_equal(NUMBER_TALLY_WELL, number_tally_add(&t, 0.5));
    /* small integers are counted in a separate array, which has no such limit */
    assert_int_equal(NUMBER_TALLY_WELL, number_tally_add(&t, 1000));
    assert_int_equal(number_tally_distinct(&t), TALLY_MAX + 1);
    number_tally_done(&t);
}

static void test_names(void **state) {
    (void)state;
    static char text[TEXTS][32];
    struct names a = {0}, b = {0};
    for (int i = 0; i < TEXTS; i++) {
        const size_t n = text_of(i, text[i]);
        assert_int_equal(names_find(&a, text[i], n), -1);
        assert_true(names_add(&a, text[i], n) && names_add(&b, text[i], n));
    }
    assert_memory_not_equal(&a.key, &b.key, sizeof a.key);
    for (int i = 0; i < TEXTS; i++) {
        assert_int_equal(names_find(&a, text[i], strlen(text[i])), i);
        assert_int_equal(names_find(&b, text[i], strlen(text[i])), i);
    }
    names_done(&a);
    names_done(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_too_many_texts),
                                       cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_too_many_numbers),
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
