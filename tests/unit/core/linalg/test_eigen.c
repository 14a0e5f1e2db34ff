/* The null space of a symmetric matrix, checked by residuals: of full rank, of lower rank, and of
 * rank 0. */
#include "unit/core/support.h"

#include "linalg/eigen.h"
#include "linalg/vector.h"

enum { N = 60 };

/* Σ b bᵀ over `rank` fixed vectors: its lower triangle in `a`, the whole matrix in `full`. */
static void make(size_t rank, double *full, double *a) {
    memset(full, 0, N * N * sizeof *full);
    for (size_t k = 0; k < rank; k++) {
        double b[N];
        for (size_t i = 0; i < N; i++) {
            b[i] = sin(1.3 * (double)(i + 1) * (double)(k + 1)) + cos(0.7 * (double)(i * k % 101));
        }
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < N; j++) {
                full[i * N + j] += b[i] * b[j];
            }
        }
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            a[i * N + j] = j <= i ? full[i * N + j] : 1e300; /* the upper triangle is never read */
        }
    }
}

static void null_spaces(void **state) {
    (void)state;
    static double full[N * N], a[N * N];
    const size_t ranks[] = {0, 1, 2, 30, N - 2, N - 1};
    dn_run run = dn_run_default();
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++) {
        size_t m = 77;
        double *v = NULL;
        make(ranks[k], full, a);
        OK(dni_symmetric_null(&run, a, N, 1e-10, &m, &v, NULL));
        assert_int_equal(m, N - ranks[k]);
        for (size_t r = 0; r < m; r++) {
            for (size_t i = 0; i < N; i++) {
                assert_true(fabs(dni_dot(full + i * N, v + r * N, N)) < 1e-9);
            }
            for (size_t q = 0; q <= r; q++) {
                assert_true(fabs(dni_dot(v + r * N, v + q * N, N) - (q == r)) < 1e-12);
            }
        }
        dn_run_free(&run, v);
    }
    size_t m = 77;
    double *v = a, one[] = {3};
    make(5 * N, full, a);
    OK(dni_symmetric_null(&run, a, N, 1e-10, &m, &v, NULL));
    assert_true(m == 0 && v == NULL);
    OK(dni_symmetric_null(&run, NULL, 0, 1e-10, &m, &v, NULL));
    assert_true(m == 0 && v == NULL);
    OK(dni_symmetric_null(&run, one, 1, 1e-10, &m, &v, NULL));
    assert_true(m == 0 && v == NULL);
    *one = 0;
    OK(dni_symmetric_null(&run, one, 1, 1e-10, &m, &v, NULL));
    assert_true(m == 1 && fabs(v[0]) == 1);
    dn_run_free(&run, v);
}

static void ends(void **state) {
    (void)state;
    static double full[N * N], a[N * N];
    double nan[] = {1, 0, (double)NAN, 1};
    size_t m;
    double *v;
    struct polls polls = {0};
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    dn_run run = polls_run(&polls);
    run.allocator = &allocator;
    assert_int_equal(dni_symmetric_null(&run, nan, 2, 1e-10, &m, &v, NULL), DN_ERR_NUMERIC);
    make(N / 2, full, a);
    OK(dni_symmetric_null(&run, a, N, 1e-10, &m, &v, NULL));
    dn_run_free(&run, v);
    size_t n_polls = polls.n;
    assert_true(n_polls >= 4); /* polls of all four phases */
    for (size_t at = 1; at <= n_polls; at++) {
        polls = (struct polls){.stop_at = at};
        make(N / 2, full, a);
        assert_int_equal(dni_symmetric_null(&run, a, N, 1e-10, &m, &v, NULL), DN_ERR_STOPPED);
        assert_int_equal(polls.n, at);
        assert_int_equal(memory.live, 0);
    }
    polls.stop_at = 0;
    for (size_t k = 1; k <= 2; k++) { /* allocation 1: working memory, 2: eigenvectors */
        memory = (struct memory){.fail_at = k, .left = SIZE_MAX};
        make(N / 2, full, a);
        assert_int_equal(dni_symmetric_null(&run, a, N, 1e-10, &m, &v, NULL), DN_ERR_BUDGET);
        assert_int_equal(memory.live, 0);
    }
}

/* a [n × n] ← a matrix with the eigenvalues 1 … n, or with equal eigenvalues: H diag H with a
 * reflection H. */
static void reflected(size_t n, bool equal, double *a) {
    double *h = xcalloc(n, sizeof *h), square = 0;
    for (size_t i = 0; i < n; i++) {
        h[i] = sin(0.7 * (double)(i + 1));
        square += h[i] * h[i];
    }
    double inner = 0; /* hᵀ diag h */
    for (size_t i = 0; i < n; i++) {
        inner += h[i] * h[i] * (equal ? 3 : (double)(i + 1));
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double p = equal ? 3 : (double)(i + 1), q = equal ? 3 : (double)(j + 1);
            a[i * n + j] = (i == j ? p : 0) - 2 / square * h[i] * h[j] * (p + q) +
                           4 * inner / square / square * h[i] * h[j];
        }
    }
    free(h);
}

/* 1,100 eigenvectors are computed in parts; equal eigenvalues by another method. */
static void all_eigenvectors(void **state) {
    (void)state;
    const size_t sizes[] = {1, 2, 40, 1100};
    dn_run run = dn_run_default();
    for (size_t s = 0; s < 8; s++) {
        const size_t n = sizes[s / 2];
        const bool equal = s % 2;
        double *a = xcalloc(n * n, sizeof *a), *v = xcalloc(n * n, sizeof *v),
               *values = xcalloc(n, sizeof *values), *full = xcalloc(n * n, sizeof *full);
        reflected(n, equal, a);
        for (size_t i = 0; i < n * n; i++) {
            full[i] = a[i / n >= i % n ? i : i % n * n + i / n];
        }
        OK(dni_symmetric_eigen(&run, a, n, values, v, NULL));
        for (size_t r = 0; r < n; r++) {
            assert_true(fabs(values[r] - (equal ? 3 : (double)(r + 1))) < 1e-12 * (double)(n + 3));
            for (size_t q = r < 20 ? 0 : r - 20; q <= r; q++) {
                assert_true(fabs(dni_dot(v + r * n, v + q * n, n) - (q == r)) < 1e-11);
            }
            assert_true(fabs(dni_dot(v + r * n, v, n) - (r == 0)) < 1e-11);
        }
        for (size_t r = 0; r < n; r += 1 + n / 20) {
            for (size_t i = 0; i < n; i++) {
                assert_true(fabs(dni_dot(full + i * n, v + r * n, n) - values[r] * v[r * n + i]) <
                            1e-12 * (double)(n + 3));
            }
        }
        free(a);
        free(v);
        free(values);
        free(full);
    }
    double nan[] = {1, 0, (double)NAN, 1}, values[2], vectors[4];
    assert_int_equal(dni_symmetric_eigen(&run, nan, 2, values, vectors, NULL), DN_ERR_NUMERIC);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(null_spaces), cmocka_unit_test(ends),
                                       cmocka_unit_test(all_eigenvectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
