/* Cholesky factorisation: residuals of solved systems, matrices that are not positive definite,
 * stops. */
#include "unit/core/support.h"

#include "linalg/cholesky.h"
#include "linalg/step.h"
#include "linalg/vector.h"

enum { N = 17 };

/* AᵀA + shift for a fixed A: its lower triangle in `lower`, the whole matrix in `full`. */
static void make(double shift, double *full, double *lower) {
    double a[N * N];
    for (size_t i = 0; i < N * N; i++) {
        a[i] = sin(1.3 * (double)i) + cos(0.7 * (double)(i * i % 101));
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            double sum = i == j ? shift : 0;
            for (size_t k = 0; k < N; k++) {
                sum += a[k * N + i] * a[k * N + j];
            }
            full[i * N + j] = sum;
            lower[i * N + j] = j <= i ? sum : 1e300; /* the upper triangle is never read */
        }
    }
}

static bool factored(double *a, size_t n) {
    bool definite;
    OK(dni_cholesky(NULL, a, n, &definite, NULL));
    return definite;
}

static void solves(void **state) {
    (void)state;
    double full[N * N], l[N * N], b[2 * N], x[2 * N];
    make(0.1, full, l);
    for (size_t i = 0; i < 2 * N; i++) {
        x[i] = b[i] = (double)(i % 5) - 2;
    }
    assert_true(factored(l, N));
    dni_cholesky_solve(l, N, x, 2);
    for (size_t r = 0; r < 2; r++) {
        for (size_t i = 0; i < N; i++) {
            assert_true(fabs(dni_dot(full + i * N, x + r * N, N) - b[r * N + i]) < 1e-10);
        }
    }
}

static void refuses(void **state) {
    (void)state;
    double indefinite[] = {1, 0, 2, 1}, nan[] = {1, 0, (double)NAN, 1},
           inf[] = {(double)INFINITY, 0, 0, 1}, zero[] = {0};
    assert_false(factored(indefinite, 2));
    assert_false(factored(nan, 2));
    assert_false(factored(inf, 2));
    assert_false(factored(zero, 1));
    assert_true(factored(NULL, 0));
}

/* Entry (i, j), j <= i, of a matrix of several panels; positive definite by its diagonal. */
static double wide(size_t i, size_t j) {
    return i == j
               ? 40
               : sin(0.37 * (double)i) * cos(0.11 * (double)j) + 0.01 * (double)((i + 3 * j) % 7);
}

static void make_wide(double *a, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = j <= i ? wide(i, j) + (i == j ? (double)n : 0) : 1e300;
        }
    }
}

/* Orders near multiples of the panel width: LLᵀ equals the matrix, entries above the diagonal are
 * unchanged, a bad pivot in a late panel is found. */
static void panels(void **state) {
    (void)state;
    const size_t orders[] = {1023, 1024, 1025, 1601};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        size_t n = orders[o];
        double *l = xcalloc(n * n, sizeof *l);
        make_wide(l, n);
        assert_true(factored(l, n));
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i % 13; j < n; j += 13) {
                if (j > i) {
                    assert_true(l[i * n + j] == 1e300);
                } else {
                    assert_true(fabs(dni_dot(l + i * n, l + j * n, j + 1) - wide(i, j) -
                                     (i == j ? (double)n : 0)) < 1e-11 * (double)n);
                }
            }
        }
        make_wide(l, n);
        l[n * n - 1] = -1;
        assert_false(factored(l, n));
        free(l);
    }
}

/* After a poll that finds the flag set there is no further poll. The number of polls is
 * proportional to the number of operations. */
static void stops(void **state) {
    (void)state;
    const size_t n = 2100; /* three panels */
    double *a = xcalloc(n * n, sizeof *a);
    struct polls polls = {0};
    dn_run run = polls_run(&polls);
    bool definite = false;
    make_wide(a, n);
    OK(dni_cholesky(&run, a, n, &definite, NULL));
    assert_true(definite);
    size_t n_polls = polls.n;
    assert_true((double)n_polls * DNI_STEP_FLOPS >= (double)n * (double)n * (double)n / 3 &&
                n_polls >= 7);
    for (size_t at = 1; at <= n_polls; at++) {
        polls = (struct polls){.stop_at = at};
        make_wide(a, n);
        assert_int_equal(dni_cholesky(&run, a, n, &definite, NULL), DN_ERR_STOPPED);
        assert_int_equal(polls.n, at);
        assert_true(at > 1 ||
                    a[0] ==
                        wide(0, 0) +
                            (double)n); /* a stop at the first poll leaves the matrix unchanged */
    }
    free(a);
}

/* The operations of a step are within the bound, unless the step has the minimum number of rows. */
static void steps(void **state) {
    (void)state;
    for (double flops = 1; flops < 1e13; flops *= 3.7) {
        for (size_t n = 1; n < 100000; n = n * 3 + 1) {
            size_t rows = dni_step_rows(n, flops, 64);
            assert_true(rows >= 1 && rows <= n);
            assert_true(rows <= 64 || (double)rows * flops <= DNI_STEP_FLOPS);
        }
    }
}

static void norms(void **state) {
    (void)state;
    const double big[] = {3e200, -4e200}, small[] = {3e-200, 4e-200}, bad[] = {1, (double)NAN},
                 infinite[] = {1, (double)INFINITY};
    assert_near(dni_norm(big, 2), 5e200, 1e-15);
    assert_near(dni_norm(small, 2), 5e-200, 1e-15);
    assert_true(isnan(dni_norm(bad, 2)) && isinf(dni_norm(infinite, 2)) && dni_norm(big, 0) == 0);
    assert_true(dni_max_abs(big, 2) == 4e200);
    assert_true(dni_all_finite(big, 2) && !dni_all_finite(bad, 2) && !dni_all_finite(infinite, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solves), cmocka_unit_test(refuses),
                                       cmocka_unit_test(panels), cmocka_unit_test(stops),
                                       cmocka_unit_test(steps),  cmocka_unit_test(norms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
