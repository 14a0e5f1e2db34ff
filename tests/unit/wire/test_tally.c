/* Counting under keys that nobody knows: the answers do not depend on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/names.h"
#include "wire/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXTS = 3000, TABLES = 4, TOP = 10 };

static size_t text_of(int i, char out[32]) {
    return (size_t)snprintf(out, 32, "%s%d", i % 3 == 0 ? "" : "value ", i * 7919 % 10007);
}

/* The same texts into several tallies: keys of their own, the same entries in the same order, the same top, ties by bytes. */
static void test_texts(void **state) {
    (void)state;
    struct tally t[TABLES] = {0};
    struct tally_entry top[TABLES][TOP];
    char text[32];
    for (size_t k = 0; k < TABLES; k++) {
        for (int i = 0; i < TEXTS; i++) {
            const size_t n = text_of(i, text);
            assert_true(tally_add(&t[k], text, n, i % 2 == 0 ? 5 : 1));
        }
        for (int i = 0; i < TEXTS; i += 500) { /* seen before: no new ones */
            const size_t n = text_of(i, text);
            assert_true(tally_add(&t[k], text, n, 1));
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
    for (int i = 0; i <= TALLY_MAX; i++) {
        assert_false(t.over);
        const size_t n = (size_t)snprintf(text, sizeof text, "%d", i);
        assert_true(tally_add(&t, text, n, 1));
    }
    assert_true(t.over && t.many && tally_memory(&t) == 0);
    tally_done(&t);
    assert_true(tally_add(&t, "", 0, 1)); /* given up for its memory is another thing than too many */
    tally_drop(&t);
    assert_true(t.over && !t.many);
    tally_done(&t);
}

/* Numbers that are far apart, next to each other, and alike in their lowest or highest bits. */
static double number_of(int i) {
    return i % 4 == 0 ? 1024 + i : i % 4 == 1 ? ldexp(1.0, i / 4 % 900 + 20) : i % 4 == 2 ? 0.5 + i : -ldexp(i, -40);
}

static void test_numbers(void **state) {
    (void)state;
    struct number_set s[TABLES] = {0};
    for (size_t k = 0; k < TABLES; k++) {
        for (int again = 0; again < 2; again++) {
            for (int i = 1; i <= TEXTS; i++) {
                assert_true(number_set_add(&s[k], number_of(i)));
            }
        }
        number_set_add_small(&s[k], 1023);
        number_set_add_small(&s[k], 1023);
        assert_true(k == 0 || s[k].factor != s[0].factor);
        assert_int_equal(s[k].n, s[0].n);
        assert_int_equal(s[k].n_small, 1);
        assert_true(s[k].n > TEXTS / 2 && s[k].n <= TEXTS);
        size_t held = 0;
        for (size_t i = 0; i < s[k].n_slots; i++) {
            held += isnan(s[k].slot[i]) ? 0 : 1;
        }
        assert_int_equal(held, s[k].n);
    }
    for (size_t k = 0; k < TABLES; k++) {
        number_set_done(&s[k]);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_too_many_texts), cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
