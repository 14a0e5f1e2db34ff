/* The largest contributions: against sorting all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/writers/top_contributions.h"

#include <math.h>
#include <stdlib.h>

enum { N = 200 };

static const double *sorted; /* the numbers that compare_indices compares */

static int compare_indices(const void *a, const void *b) {
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const double x = fabs(sorted[i]), y = fabs(sorted[j]);
    return x > y ? -1 : x < y ? 1 : i < j ? -1 : 1;
}

static void against_sorting(void **state) {
    (void)state;
    uint64_t seed = 17;
    for (int round = 0; round < 200; round++) {
        double x[N];
        size_t all[N], out[N];
        const size_t n = 1 + (size_t)round % N, top = 1 + (size_t)(round * 7) % n;
        for (size_t j = 0; j < n; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            x[j] = (double)((int)(seed >> 60) - 8); /* few values, so that many are equal */
            all[j] = j;
        }
        sorted = x;
        qsort(all, n, sizeof *all, compare_indices);
        const double rest = top_contributions(x, n, top, out);
        double expected = 0;
        for (size_t i = 0; i < n; i++) {
            if (i < top) {
                assert_int_equal(out[i], all[i]);
            } else {
                expected += x[all[i]];
            }
        }
        assert_true(rest == expected); /* sums of small integers are exact */
    }
}

static void not_finite(void **state) {
    (void)state;
    const double x[] = {1, (double)NAN, -3, -(double)INFINITY, 2};
    size_t out[3];
    assert_true(top_contributions(x, 5, 3, out) == 3);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 3);
    assert_int_equal(out[2], 2);
    assert_true(isinf(top_contributions(x, 5, 1, out)));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_sorting),
                                       cmocka_unit_test(not_finite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
