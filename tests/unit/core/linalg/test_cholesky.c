/* Symmetric systems and eigenvalues by their residuals; matrices that have no factor are refused. */
#include "unit/core/support.h"

#include "linalg/cholesky.h"
#include "linalg/vector.h"

enum { N = 17 };

/* AᵀA + shift of a fixed A: lower triangle in lower, all of it in full. */
static void make(double shift, double *full, double *lower) {
    double a[N * N];
    for (size_t i = 0; i < N * N; i++)
        a[i] = sin(1.3 * (double)i) + cos(0.7 * (double)(i * i % 101));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = i == j ? shift : 0;
            for (size_t k = 0; k < N; k++)
                sum += a[k * N + i] * a[k * N + j];
            full[i * N + j] = sum;
            lower[i * N + j] = j <= i ? sum : 1e300; /* the upper triangle is never read */
        }
}

static void solves(void **state) {
    (void)state;
    double full[N * N], l[N * N], b[2 * N], x[2 * N];
    make(0.1, full, l);
    for (size_t i = 0; i < 2 * N; i++)
        x[i] = b[i] = (double)(i % 5) - 2;
    assert_true(dni_cholesky(l, N));
    dni_cholesky_solve(l, N, x, 2);
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; i < N; i++)
            assert_true(fabs(dni_dot(full + i * N, x + r * N, N) - b[r * N + i]) < 1e-10);
}

static void refuses(void **state) {
    (void)state;
    double indefinite[] = {1, 0, 2, 1}, nan[] = {1, 0, (double)NAN, 1}, inf[] = {(double)INFINITY, 0, 0, 1}, zero[] = {0};
    assert_false(dni_cholesky(indefinite, 2));
    assert_false(dni_cholesky(nan, 2));
    assert_false(dni_cholesky(inf, 2));
    assert_false(dni_cholesky(zero, 1));
    assert_true(dni_cholesky(NULL, 0));
    double values[2];
    dn_run run = dn_run_default();
    assert_int_equal(dni_symmetric_eigen(&run, nan, 2, values, NULL), DN_ERR_NUMERIC);
}

static void eigenvalues(void **state) {
    (void)state;
    double full[N * N], v[N * N], values[N];
    make(0, full, v);
    dn_run run = dn_run_default();
    OK(dni_symmetric_eigen(&run, v, N, values, NULL));
    for (size_t r = 0; r < N; r++) {
        assert_true(r == 0 || values[r] >= values[r - 1]);
        for (size_t i = 0; i < N; i++)
            assert_true(fabs(dni_dot(full + i * N, v + r * N, N) - values[r] * v[r * N + i]) < 1e-11 * values[N - 1]);
        for (size_t q = 0; q <= r; q++)
            assert_true(fabs(dni_dot(v + r * N, v + q * N, N) - (q == r)) < 1e-12);
    }
    struct memory memory = {.fail_at = 1, .left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    run.allocator = &allocator;
    assert_int_equal(dni_symmetric_eigen(&run, full, N, values, NULL), DN_ERR_BUDGET);
}

static void norms(void **state) {
    (void)state;
    const double big[] = {3e200, -4e200}, small[] = {3e-200, 4e-200}, bad[] = {1, (double)NAN}, infinite[] = {1, (double)INFINITY};
    assert_near(dni_norm(big, 2), 5e200, 1e-15);
    assert_near(dni_norm(small, 2), 5e-200, 1e-15);
    assert_true(isnan(dni_norm(bad, 2)) && isinf(dni_norm(infinite, 2)) && dni_norm(big, 0) == 0);
    assert_true(dni_max_abs(big, 2) == 4e200);
    assert_true(dni_all_finite(big, 2) && !dni_all_finite(bad, 2) && !dni_all_finite(infinite, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solves), cmocka_unit_test(refuses), cmocka_unit_test(eigenvalues),
                                       cmocka_unit_test(norms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
