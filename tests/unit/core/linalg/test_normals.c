/* Quadratic terms of normal densities, beside a plain loop with the documented order of
 * additions. */
#include "unit/core/support.h"

#include "linalg/normals.h"

enum { MAX = 70, K = 3, STRIDE = 80, LANES = 8 };

static double plain(const double *x, const double *mean, const double *inverse, size_t n) {
    double sum[LANES] = {0};
    for (size_t j = 0; j < n; j++) {
        const double z = (x[j] - mean[j]) * inverse[j], square = z * z;
        sum[j % LANES] += square;
    }
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

static void equals_plain_loop(void **state) {
    (void)state;
    double x[MAX + 1], mean[K * STRIDE], inverse[K * STRIDE];
    for (size_t j = 0; j <= MAX; j++) {
        x[j] = sin(3.0 * (double)j) * pow(10, (double)(j % 5));
    }
    for (size_t j = 0; j < (size_t)K * STRIDE; j++) {
        mean[j] = cos(5.0 * (double)j);
        inverse[j] = 1 / (0.1 + fabs(sin((double)j)));
    }
    for (size_t n = 0; n <= MAX; n++) {
        for (size_t shift = 0; shift < 2; shift++) { /* also vectors that are not aligned */
            double out[K] = {1, -2, 3};
            dni_subtract_half_squares(x + shift, mean, inverse, n, STRIDE, K, out);
            for (size_t k = 0; k < K; k++) {
                const double start = k == 0 ? 1 : k == 1 ? -2 : 3;
                const double want =
                    start - 0.5 * plain(x + shift, mean + k * STRIDE, inverse + k * STRIDE, n);
                assert_true(out[k] == want);
            }
        }
    }
}

/* A square that overflows gives −∞, never NaN. */
static void overflow_is_impossible(void **state) {
    (void)state;
    const double x[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1e300}, mean[9] = {0},
                 inverse[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1e100};
    double out = 5;
    dni_subtract_half_squares(x, mean, inverse, 9, 9, 1, &out);
    assert_true(out == -(double)INFINITY);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_plain_loop),
                                       cmocka_unit_test(overflow_is_impossible)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
