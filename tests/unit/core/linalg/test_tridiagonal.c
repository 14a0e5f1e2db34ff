/* The reduction to tridiagonal form: eigenvalues against LAPACK's driver, reflections by QTQᵀ = A,
 * a stop at every poll. */
#include "unit/core/support.h"

#include "linalg/eigen.h"
#include "linalg/tridiagonal.h"
#include "linalg/vector.h"
#include <float.h>
#include <lapacke.h>

enum { MOST = 300 };

enum shape { RANDOM, CLUSTERED, DEFICIENT, DIAGONAL, SHAPES };

static double random_number(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

/* full [n × n] symmetric: random; eigenvalues 1 and 2 only; rank n/2; diagonal. */
static void make(enum shape shape, size_t n, double *full) {
    uint64_t state = 77 + n;
    double u[MOST] = {0};
    memset(full, 0, n * n * sizeof *full);
    for (size_t i = 0; i < n; i++) {
        full[i * n + i] = shape == CLUSTERED ? 1 : shape == DIAGONAL ? random_number(&state) : 0;
    }
    for (size_t k = 0; shape == DEFICIENT && k < n / 2; k++) {
        for (size_t i = 0; i < n; i++) {
            u[i] = random_number(&state);
        }
        for (size_t i = 0; i < n; i++) {
            dni_axpy(u[i], u, full + i * n, n);
        }
    }
    for (size_t i = 0; shape == RANDOM && i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            full[i * n + j] = full[j * n + i] = random_number(&state);
        }
    }
    if (shape != CLUSTERED) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        u[i] = random_number(&state);
    }
    double square = dni_dot(u, u, n);
    for (size_t i = 0; i < n; i++) {
        dni_axpy(u[i] / square, u, full + i * n, n); /* 1 + u uᵀ/‖u‖² */
    }
}

/* Copies the lower triangle. Entries above the diagonal are set to values that must not be read. */
static void lower_of(const double *full, size_t n, double *a) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = j <= i ? full[i * n + j] : 1e300;
        }
    }
}

/* Z = Q of a reduced matrix: the rows of z are the columns of Q. Returns the largest |A Q − Q
 * T|. */
static double residual(const double *full, size_t n, const double *a, const double *tau,
                       const double *d, const double *e, double *z) {
    double work[64 * MOST], most = 0, product[MOST];
    memset(z, 0, n * n * sizeof *z);
    for (size_t i = 0; i < n; i++) {
        z[i * n + i] = 1;
    }
    lapack_int order = (lapack_int)n;
    assert_int_equal(LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'U', 'N', order, order, a, order,
                                         tau, z, order, work, 64 * MOST),
                     0);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++) {
            product[i] = dni_dot(full + i * n, z + k * n, n) - d[k] * z[k * n + i];
            product[i] -= (k > 0 ? e[k - 1] * z[(k - 1) * n + i] : 0) +
                          (k + 1 < n ? e[k] * z[(k + 1) * n + i] : 0);
            most = fmax(most, fabs(product[i]));
        }
    }
    return most;
}

static void like_lapack(void **unused) {
    (void)unused;
    const size_t orders[] = {1, 2, 3, 31, 64, 127, 128, 129, 160, 161, 200, 299, 300};
    double *full = xcalloc(4 * MOST * MOST, sizeof *full), *a = full + MOST * MOST,
           *want = a + MOST * MOST, *z = want + MOST * MOST;
    double d[MOST], e[MOST], tau[MOST], values[MOST];
    dn_run run = dn_run_default();
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        for (enum shape shape = 0; shape < SHAPES; shape++) {
            size_t n = orders[o];
            double *work = xcalloc(dni_tridiagonal_work(n), sizeof *work);
            make(shape, n, full);
            lower_of(full, n, a);
            OK(dni_tridiagonal(&run, a, n, d, e, tau, work, NULL));
            for (size_t i = 0; i < n; i++) {
                for (size_t j = i + 1; j < n; j++) {
                    assert_true(a[i * n + j] == 1e300);
                }
            }
            double size = fmax(dni_max_abs(full, n * n), 1e-3) * (double)n,
                   tolerance = 8 * DBL_EPSILON * size;
            assert_true(residual(full, n, a, tau, d, e, z) <= tolerance);
            assert_int_equal(LAPACKE_dsterf((lapack_int)n, d, e), 0);
            memcpy(want, full, n * n * sizeof *want);
            assert_int_equal(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'U', (lapack_int)n, want,
                                            (lapack_int)n, values),
                             0);
            for (size_t i = 0; i < n; i++) {
                if (!(fabs(d[i] - values[i]) <= tolerance)) {
                    fail_msg("shape %d, order %zu: eigenvalue %zu is %.17g, wanted %.17g",
                             (int)shape, n, i, d[i], values[i]);
                }
            }
            free(work);
        }
    }
    free(full);
}

/* A matrix of half the rank: its null space has the right dimension, and A maps it to 0. */
static void null_space(void **unused) {
    (void)unused;
    double *full = xcalloc(2 * MOST * MOST, sizeof *full), *a = full + MOST * MOST, *vectors;
    dn_run run = dn_run_default();
    size_t m;
    make(DEFICIENT, MOST, full);
    lower_of(full, MOST, a);
    OK(dni_symmetric_null(&run, a, MOST, 1e-10, &m, &vectors, NULL));
    assert_int_equal(m, MOST - MOST / 2);
    for (size_t k = 0; k < m; k++) {
        for (size_t i = 0; i < MOST; i++) {
            assert_true(fabs(dni_dot(full + i * MOST, vectors + k * MOST, MOST)) < 1e-12);
        }
        for (size_t j = 0; j <= k; j++) {
            assert_true(fabs(dni_dot(vectors + j * MOST, vectors + k * MOST, MOST) - (j == k)) <
                        1e-12);
        }
    }
    dn_run_free(&run, vectors);
    free(full);
}

/* The flag is polled at each panel and every 10^7 operations within one. After a stop it is not
 * polled again. */
static void stops(void **unused) {
    (void)unused;
    enum { N = 900 };
    double *full = xcalloc(2 * N * N, sizeof *full), *a = full + N * N,
           *d = xcalloc(3 * N, sizeof *d);
    double *work = xcalloc(dni_tridiagonal_work(N), sizeof *work);
    struct polls polls = {0};
    dn_run run = polls_run(&polls);
    make(RANDOM, MOST, full); /* the values do not matter */
    for (size_t i = MOST * MOST; i < N * N; i++) {
        full[i] = full[i - MOST * MOST];
    }
    memcpy(a, full, N * N * sizeof *a);
    OK(dni_tridiagonal(&run, a, N, d, d + N, d + 2 * N, work, NULL));
    const size_t n_polls = polls.n, panels = (N - 128) / 32;
    assert_true((double)n_polls >=
                (double)panels +
                    2.0 / 3 * N * N * N / 2e7); /* Σ 2i² operations for the products A v */
    const size_t at[] = {1, 2, 3, n_polls / 2, n_polls - 1, n_polls};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        polls = (struct polls){.stop_at = at[k]};
        memcpy(a, full, N * N * sizeof *a);
        assert_int_equal(dni_tridiagonal(&run, a, N, d, d + N, d + 2 * N, work, NULL),
                         DN_ERR_STOPPED);
        assert_int_equal(polls.n, at[k]);
    }
    free(work);
    free(d);
    free(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_lapack), cmocka_unit_test(null_space),
                                       cmocka_unit_test(stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
