/* Tests that the estimated number of distinct values is near the true number for all sizes,
 * whatever the order of the values and however often each occurs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/summary/distinct_sketch.h"

#include <math.h>
#include <stdio.h>

enum kind { WHOLE, FRACTIONS, DOUBLES, TEXTS, N_KINDS };

static uint64_t hash_of(enum kind kind, int i) {
    char text[32];
    int n = 0;
    switch (kind) {
    case WHOLE:
        return distinct_hash_number(i);
    case FRACTIONS:
        return distinct_hash_number(i / 100000.0);
    case DOUBLES:
        return distinct_hash_number(ldexp(1 + i / 1048576.0, i % 600 - 300));
    case TEXTS:
    case N_KINDS:
        break;
    }
    n = snprintf(text, sizeof text, "%s%d", i % 2 == 0 ? "customer number " : "", i);
    return distinct_hash_bytes(text, (size_t)n);
}

static void test_estimates(void **state) {
    (void)state;
    for (unsigned bits = DISTINCT_MIN_BITS; bits <= DISTINCT_MAX_BITS; bits += 5) {
        for (enum kind kind = WHOLE; kind < N_KINDS; kind++) {
            struct distinct_sketch s;
            assert_true(distinct_sketch_init(&s, bits));
            assert_int_equal(distinct_sketch_memory(&s), 1 << bits);
            assert_int_equal(distinct_sketch_estimate(&s), 0);
            int n = 0;
            for (int upto = 1; upto <= 1000000; upto = upto * 3 / 2 + 1) {
                for (; n < upto; n++) {
                    distinct_sketch_add(&s, hash_of(kind, n));
                }
                const double off = fabs((double)distinct_sketch_estimate(&s) / n - 1);
                if (off > 4 * distinct_sketch_error(&s) + 0.5 / n) {
                    fail_msg("%u bits, kind %d, %d values: %lld", bits, kind, n,
                             (long long)distinct_sketch_estimate(&s));
                }
            }
            distinct_sketch_done(&s);
        }
    }
}

static void test_order_and_repeats(void **state) {
    (void)state;
    enum { N = 30000 };
    struct distinct_sketch up, down;
    assert_true(distinct_sketch_init(&up, 10) && distinct_sketch_init(&down, 10));
    for (int i = 0; i < N; i++) {
        distinct_sketch_add(&up, hash_of(TEXTS, i));
        for (int again = 0; again < 3; again++) {
            distinct_sketch_add(&down, hash_of(TEXTS, N - 1 - i));
        }
    }
    assert_memory_equal(up.rank, down.rank, 1 << 10);
    assert_true(distinct_hash_number(-0.0) == distinct_hash_number(0));
    assert_true(distinct_hash_bytes("", 0) !=
                distinct_hash_bytes("\0", 1)); /* NUL bytes at the end change the hash */
    assert_true(distinct_hash_bytes("\0\0\0\0\0\0\0", 7) !=
                distinct_hash_bytes("\0\0\0\0\0\0\0\0", 8));
    distinct_sketch_done(&up);
    distinct_sketch_done(&down);
}

/* Tests that the ranks of the smallest and the largest hashes are within the range of a
 * register. */
static void test_extreme_hashes(void **state) {
    (void)state;
    struct distinct_sketch s;
    assert_true(distinct_sketch_init(&s, DISTINCT_MAX_BITS));
    distinct_sketch_add(&s, 0);
    assert_int_equal(s.rank[0], 64 - DISTINCT_MAX_BITS + 1);
    distinct_sketch_add(&s, UINT64_MAX);
    assert_int_equal(s.rank[(1 << DISTINCT_MAX_BITS) - 1], 1);
    for (uint64_t i = 0; i < 1 << DISTINCT_MAX_BITS;
         i++) { /* all registers have their maximum; the sketch still gives an estimate */
        distinct_sketch_add(&s, i << (64 - DISTINCT_MAX_BITS));
    }
    assert_true(distinct_sketch_estimate(&s) > INT64_C(1) << 50);
    distinct_sketch_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates),
                                       cmocka_unit_test(test_order_and_repeats),
                                       cmocka_unit_test(test_extreme_hashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
