/* Tests of estimated ranks: the error never exceeds the bound that the sketch reports, in any order
 * of the numbers; and the result does not depend on the chunks. Also tests of sorting, quantiles
 * and histograms of counted numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/summary/number_ranks.h"
#include "formats/summary/number_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- orders ---- */
enum order {
    RANDOM,
    RISING,
    FALLING,
    PIPE,
    INWARDS,
    PERIOD_2,
    PERIOD_16,
    PERIOD_48,
    LEVELS,
    FEW,
    OUTLIERS,
    N_ORDERS
};

static double value_at(enum order order, size_t i, size_t n, uint64_t *seed) {
    switch (order) {
    case RISING:
        return (double)i;
    case FALLING:
        return -(double)i;
    case PIPE: /* ascending, then descending */
        return i < n / 2 ? (double)i : (double)(n - i);
    case INWARDS: /* from both ends to the middle */
        return i % 2 == 0 ? (double)i : (double)(2 * n - i);
    case PERIOD_2:
        return i % 2 == 0 ? (double)i : 1e9 + (double)i;
    case PERIOD_16:
        return (double)(i % 16);
    case PERIOD_48:
        return (double)(i % 48 * 7 % 48) + 1e-6 * (double)i;
    case LEVELS: /* long runs; the numbers of each run are higher than all numbers before */
        return (double)(i / 4096 * 1000 + next(seed) % 1000);
    case FEW:
        return (double)(next(seed) % 3);
    case OUTLIERS:
        return i % 1000 == 999 ? 1e300 : (double)(next(seed) % 100000);
    case RANDOM:
    case N_ORDERS:
        break;
    }
    return (double)next(seed) / 1e3;
}

static double *values_of(enum order order, size_t n) {
    uint64_t seed = 7 + (uint64_t)order;
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        x[i] = value_at(order, i, n, &seed);
    }
    return x;
}

/* Returns how many of the sorted numbers are less than v; with `equal`: less than or equal to v. */
static size_t below(const double *sorted, size_t n, double v, bool equal) {
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] < v || (equal && sorted[middle] == v)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Checks that the counts add up to n, that the list is ascending, and that no estimated rank has a
 * larger error than the sample reports. Returns the largest error as a fraction of n. */
static double check_ranks(const struct number_sample *s, const double *sorted, size_t n) {
    size_t k = 0;
    struct number_count *list = number_sample_list(s, &k);
    assert_non_null(list);
    int64_t total = 0;
    double worst = 0;
    for (size_t i = 0; i < k; i++) {
        assert_true(list[i].count > 0);
        assert_true(i == 0 || list[i - 1].value <= list[i].value);
        if (i > 0 && list[i - 1].value < list[i].value) { /* total: the estimated number of values
                                                           * up to the previous number of the list,
                                                           * if the current one is different */
            const double off =
                fabs((double)below(sorted, n, list[i - 1].value, true) - (double)total);
            worst = off > worst ? off : worst;
        }
        total += list[i].count;
    }
    assert_int_equal(total, n);
    assert_int_equal(number_sample_n(s), n);
    const double error = number_sample_error(s);
    if (worst > error * (double)n) {
        fail_msg("off by %g of %zu, said to be at most %g", worst, n, error * (double)n);
    }
    for (int p = 1; p < 100; p++) {
        const double v = number_ranks_quantile(list, k, (int64_t)n, p / 100.0), share = p / 100.0;
        const double low = (double)below(sorted, n, v, false) / (double)n,
                     high = (double)below(sorted, n, v, true) / (double)n;
        assert_true(share >= low - error - 1.0 / (double)n &&
                    share <= high + error + 1.0 / (double)n);
    }
    free(list);
    return worst / (double)n;
}

static void test_orders(void **state) {
    (void)state;
    const struct {
        size_t n, k;
        double error; /* the largest error that the sample may report */
    } cases[] = {{300000, 8192, 0.047},
                 {16383, 8192, 0.034},
                 {8191, 8192, 0},
                 {200000, 1024, 0.135},
                 {50000, NUMBER_SAMPLE_MIN, 0.28}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        for (enum order order = RANDOM; order < N_ORDERS; order++) {
            const size_t n = cases[c].n;
            double *x = values_of(order, n);
            struct number_sample *s = NULL;
            s = number_sample_new(cases[c].k);
            assert_non_null(s);
            assert_int_equal(number_sample_memory(s), NUMBER_SAMPLE_MEMORY(cases[c].k));
            number_sample_add(s, x, n);
            qsort(x, n, sizeof *x, ascending);
            const double worst = check_ranks(s, x, n);
            assert_true(number_sample_error(s) <= cases[c].error);
            assert_true(worst <= cases[c].error / 2); /* usually the error is much smaller */
            number_sample_free(s);
            free(x);
        }
    }
}

static void test_cuts(void **state) {
    (void)state;
    enum { N = 100000 };
    const size_t steps[] = {1, 3, 512, 1000, 65536};
    double *x = values_of(RANDOM, N);
    struct number_sample *whole = NULL;
    size_t n = 0, k = 0;
    whole = number_sample_new(NUMBER_SAMPLE_MIN);
    assert_non_null(whole);
    number_sample_add(whole, x, N);
    struct number_count *list = number_sample_list(whole, &n);
    assert_non_null(list);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct number_sample *s = NULL;
        s = number_sample_new(NUMBER_SAMPLE_MIN);
        assert_non_null(s);
        for (size_t at = 0; at < N; at += steps[i]) {
            number_sample_add(s, x + at, N - at < steps[i] ? N - at : steps[i]);
        }
        struct number_count *again = number_sample_list(s, &k);
        assert_non_null(again);
        assert_int_equal(k, n);
        assert_memory_equal(list, again, n * sizeof *list);
        assert_true(number_sample_error(s) == number_sample_error(whole));
        free(again);
        number_sample_free(s);
    }
    free(list);
    number_sample_free(whole);
    free(x);
}

static void add_counted(struct number_sample *s, const struct number_count *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        number_sample_add_times(s, list[i].value, list[i].count);
    }
}

/* Adds numbers that were counted first, then more numbers one by one. */
static void test_counted_before(void **state) {
    (void)state;
    enum { COUNTED = 5000, MORE = 70000 };
    const size_t ks[] = {NUMBER_SAMPLE_MIN, 1024, 8192};
    struct number_count *list = malloc(COUNTED * sizeof *list);
    double *x = values_of(RANDOM, MORE), *all = malloc((MORE + 15 * COUNTED) * sizeof *all);
    assert_non_null(list);
    assert_non_null(all);
    for (size_t j = 0; j < sizeof ks / sizeof ks[0]; j++) {
        size_t n = 0;
        for (size_t i = 0; i < COUNTED; i++) {
            list[i] = (struct number_count){(double)i * 300, (int64_t)(1 + i * 7 % 15)};
            for (int64_t c = 0; c < list[i].count; c++) {
                all[n++] = list[i].value;
            }
        }
        struct number_sample *s = NULL;
        s = number_sample_new(ks[j]);
        assert_non_null(s);
        add_counted(s, list, COUNTED);
        check_ranks(s, all, n);
        number_sample_add(s, x, MORE);
        memcpy(all + n, x, MORE * sizeof *x);
        qsort(all, n + MORE, sizeof *all, ascending);
        check_ranks(s, all, n + MORE);
        number_sample_free(s);
    }
    /* more numbers than any table has: the sums must not overflow */
    struct number_sample *s = NULL;
    size_t n = 0;
    int64_t total = 0;
    s = number_sample_new(NUMBER_SAMPLE_MIN);
    assert_non_null(s);
    for (size_t i = 0; i < COUNTED; i++) {
        list[i] = (struct number_count){(double)i, INT64_C(123456789012) + (int64_t)i};
    }
    add_counted(s, list, COUNTED);
    number_sample_add(s, x, MORE);
    struct number_count *held = number_sample_list(s, &n);
    assert_non_null(held);
    for (size_t i = 0; i < n; i++) {
        total += held[i].count;
    }
    assert_true(total == number_sample_n(s) && number_sample_error(s) < 0.28);
    assert_true(fabs(number_ranks_quantile(held, n, total, 0.5) - COUNTED / 2.0) < 0.1 * COUNTED);
    free(held);
    number_sample_free(s);
    s = number_sample_new(NUMBER_SAMPLE_MIN);
    assert_non_null(s); /* an empty sample */
    assert_true(number_sample_error(s) == 0);
    number_sample_free(s);
    free(all);
    free(x);
    free(list);
}

/* ---- sorting, quantiles, histograms ---- */
static void test_sort(void **state) {
    (void)state;
    double x[] = {3, -1, 0, 2.5, -0.0, 1e308, 0, (double)-INFINITY, -0.0};
    const double expected[] = {(double)-INFINITY, -1, -0.0, -0.0, 0, 0, 2.5, 3, 1e308};
    number_ranks_sort(x, sizeof x / sizeof x[0]);
    assert_memory_equal(x, expected, sizeof x);
}

/* The quantiles that numpy.quantile and R's quantile compute of 1, 2, 2, 2, 5, 10. */
static void test_quantiles(void **state) {
    (void)state;
    const struct number_count list[] = {{1, 1}, {2, 3}, {5, 1}, {10, 1}};
    const struct {
        double p, value;
    } known[] = {{0, 1},     {0.1, 1.5}, {0.2, 2},   {0.5, 2}, {0.6, 2},
                 {0.7, 3.5}, {0.8, 5},   {0.9, 7.5}, {1, 10}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_true(fabs(number_ranks_quantile(list, 4, 6, known[i].p) - known[i].value) < 1e-12);
    }
    const struct number_count one[] = {{7, 1}}, far[] = {{-1.7e308, 1}, {1.7e308, 1}};
    assert_true(number_ranks_quantile(one, 1, 1, 0.99) == 7);
    assert_true(number_ranks_quantile(far, 2, 2, 0.5) == 0);
}

static void test_histograms(void **state) {
    (void)state;
    int64_t bin[20];
    const struct number_count list[] = {{0, 2}, {0.999, 1}, {1, 3}, {10, 4}, {19, 5}, {20, 6}};
    number_ranks_histogram(list, 6, 0, 20, bin, 20);
    const int64_t expected[20] = {[0] = 3, [1] = 3, [10] = 4, [19] = 11};
    assert_memory_equal(bin, expected, sizeof bin);
    const struct number_count far[] = {{-1.7e308, 1}, {0, 2}, {1.7e308, 3}},
                              near[] = {{0, 1}, {5e-324, 2}};
    number_ranks_histogram(far, 3, -1.7e308, 1.7e308, bin, 20);
    assert_true(bin[0] == 1 && bin[10] == 2 && bin[19] == 3);
    /* the range is too small for distinct bins: every number is still counted */
    number_ranks_histogram(near, 2, 0, 5e-324, bin, 20);
    int64_t total = 0;
    for (size_t i = 0; i < 20; i++) {
        total += bin[i];
    }
    assert_int_equal(total, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_cuts),
                                       cmocka_unit_test(test_counted_before),
                                       cmocka_unit_test(test_sort),
                                       cmocka_unit_test(test_quantiles),
                                       cmocka_unit_test(test_histograms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
