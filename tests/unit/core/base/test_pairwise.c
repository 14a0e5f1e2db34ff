/* Pairwise sums: the order of additions is that of a binary tree, and the result has the same bits
 * for every distribution of the blocks to threads. */
#include <discern/run.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double leaf(size_t i, size_t k) {
    return sin((double)(i * 7 + k * 13 + 1)) * pow(10, (double)(i % 9));
}

static double *serial(size_t n_leaves, size_t n) {
    size_t capacity = dn_pairwise_capacity(n_leaves, n);
    double *partials = malloc((capacity + 1) * sizeof *partials),
           *out = malloc((n + 1) * sizeof *out);
    assert_non_null(partials);
    assert_non_null(out);
    dn_pairwise sum;
    dn_pairwise_init(&sum, n, partials);
    for (size_t i = 0; i < n_leaves; i++) {
        double *next = dn_pairwise_next(&sum);
        for (size_t k = 0; k < n; k++) {
            assert_true(next[k] == 0);
            next[k] += leaf(i, k);
        }
        dn_pairwise_push(&sum, 0);
    }
    dn_pairwise_total(&sum, out);
    free(partials);
    return out;
}

/* The recursive definition: the left part has the largest power of two below n blocks. */
static double by_definition(size_t first, size_t n, size_t k) {
    if (n == 1) {
        return leaf(first, k);
    }
    size_t left = 1;
    while (2 * left < n) {
        left *= 2;
    }
    return by_definition(first, left, k) + by_definition(first + left, n - left, k);
}

static void follows_the_tree(void **unused) {
    (void)unused;
    for (size_t n = 1; n <= 130; n++) {
        double *total = serial(n, 3);
        for (size_t k = 0; k < 3; k++) {
            double want = by_definition(0, n, k);
            assert_memory_equal(&total[k], &want, sizeof want);
        }
        free(total);
    }
}

/* Ranges of 2^level blocks are summed separately and pushed at their level. */
static void ranges_give_the_same_bytes(void **unused) {
    (void)unused;
    double partials[64 * 2], range_partials[64 * 2], out[2];
    for (size_t n = 1; n <= 200; n++) {
        double *want = serial(n, 2);
        for (unsigned level = 0; level < 9; level++) {
            dn_pairwise sum;
            dn_pairwise_init(&sum, 2, partials);
            for (size_t first = 0; first < n; first += (size_t)1 << level) {
                size_t end = first + ((size_t)1 << level) < n ? first + ((size_t)1 << level) : n;
                dn_pairwise range;
                dn_pairwise_init(&range, 2, range_partials);
                for (size_t i = first; i < end; i++) {
                    double *next = dn_pairwise_next(&range);
                    next[0] = leaf(i, 0);
                    next[1] = leaf(i, 1);
                    dn_pairwise_push(&range, 0);
                }
                dn_pairwise_total(&range, dn_pairwise_next(&sum));
                dn_pairwise_push(&sum, level);
            }
            dn_pairwise_total(&sum, out);
            assert_memory_equal(out, want, sizeof out);
        }
        free(want);
    }
}

static void room_suffices(void **unused) {
    (void)unused;
    for (size_t n = 0; n < 70; n++) {
        size_t deepest = 1;
        dn_pairwise sum;
        double partials[64];
        dn_pairwise_init(&sum, 1, partials);
        for (size_t i = 0; i < n; i++) {
            deepest = sum.depth + 1 > deepest
                          ? sum.depth + 1
                          : deepest; /* includes the partial sum of the next block */
            *dn_pairwise_next(&sum) = 1;
            dn_pairwise_push(&sum, 0);
        }
        assert_true(dn_pairwise_capacity(n, 1) >= deepest);
        assert_true(dn_pairwise_capacity(n, 5) == 5 * dn_pairwise_capacity(n, 1));
    }
    assert_true(dn_pairwise_capacity(1000, SIZE_MAX / 8) == SIZE_MAX);
    assert_true(dn_pairwise_capacity(SIZE_MAX, 1) < 100);
}

static void nothing_pushed_is_zero(void **unused) {
    (void)unused;
    dn_pairwise sum;
    double partials[4], out[2] = {7, 7};
    dn_pairwise_init(&sum, 2, partials);
    dn_pairwise_total(&sum, out);
    assert_true(out[0] == 0 && out[1] == 0);
    dn_pairwise_init(&sum, 0, NULL);
    (void)dn_pairwise_next(&sum);
    dn_pairwise_push(&sum, 0);
    dn_pairwise_total(&sum, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_tree),
        cmocka_unit_test(ranges_give_the_same_bytes),
        cmocka_unit_test(room_suffices),
        cmocka_unit_test(nothing_pushed_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
