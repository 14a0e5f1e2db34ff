/* Triangular factors R of rows: RᵀR, least squares against the normal equations, rank and null
 * space, stops, failed allocations. */
#include "unit/core/support.h"

#include "linalg/qr.h"
#include "linalg/vector.h"

enum { N = 90, D = 12, K = 2, P = D + K };

/* Rows [N × P] of which the columns `rank` … D−1 are combinations of the columns before. */
static void make(size_t rank, double *rows) {
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < P; j++) {
            rows[i * P + j] =
                sin(1.7 * (double)((i + 3) * (j + 2))) + cos(0.31 * (double)(i * (j + 1)));
        }
        for (size_t j = rank; j < D; j++) {
            rows[i * P + j] = 0;
            for (size_t q = 0; q < rank; q++) {
                rows[i * P + j] += (double)((q + j) % 3) * rows[i * P + q] - 0.5 * rows[i * P];
            }
        }
    }
}

/* The triangle R of the rows, added in tiles of `tile` rows. */
static dn_status triangle(const dn_run *run, const double *rows, size_t tile, double *r) {
    double *columns = xcalloc(tile * P, sizeof *columns),
           *work = xcalloc(dni_qr_work(P), sizeof *work);
    memset(r, 0, P * P * sizeof *r);
    dn_status status = DN_OK;
    for (size_t first = 0; status == DN_OK && first < N; first += tile) {
        size_t n = N - first < tile ? N - first : tile;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < P; j++) {
                columns[j * n + i] = rows[(first + i) * P + j];
            }
        }
        status = dni_qr_append(run, r, P, columns, n, work, NULL);
    }
    free(columns);
    free(work);
    return status;
}

static void grams(void **state) {
    (void)state;
    static double rows[N * P], r[P * P];
    const size_t tiles[] = {1, 7, 90};
    dn_run run = dn_run_default();
    make(D, rows);
    for (size_t t = 0; t < 3; t++) {
        OK(triangle(&run, rows, tiles[t], r));
        for (size_t a = 0; a < P; a++) {
            for (size_t i = a + 1; i < P; i++) {
                assert_true(r[a * P + i] == 0);
            }
            for (size_t b = 0; b <= a; b++) {
                double gram = 0;
                for (size_t i = 0; i < N; i++) {
                    gram += rows[i * P + a] * rows[i * P + b];
                }
                assert_true(fabs(dni_dot(r + a * P, r + b * P, P) - gram) < 1e-11);
            }
        }
    }
}

static void solutions(void **state) {
    (void)state;
    static double rows[N * P], r[P * P];
    const size_t ranks[] = {D, D - 1, 5, 1};
    dn_run run = dn_run_default();
    for (size_t t = 0; t < 4; t++) {
        double x[K * D], *null = x;
        size_t n_null = 77;
        make(ranks[t], rows);
        OK(triangle(&run, rows, 32, r));
        OK(dni_qr_solve(&run, r, D, K, 1e-10, D, x, &n_null, &null, NULL));
        assert_int_equal(n_null, D - ranks[t]);
        assert_true((null == NULL) == (n_null == 0));
        for (size_t k = 0; k < K; k++) { /* Zᵀ(Zx − T) = 0 */
            double gradient[D] = {0};
            for (size_t i = 0; i < N; i++) {
                double e = dni_dot(rows + i * P, x + k * D, D) - rows[i * P + D + k];
                dni_axpy(e, rows + i * P, gradient, D);
            }
            assert_true(dni_max_abs(gradient, D) < 1e-9);
        }
        for (size_t q = 0; q < n_null; q++) {
            for (size_t i = 0; i < N; i++) {
                assert_true(fabs(dni_dot(rows + i * P, null + q * D, D)) < 1e-9);
            }
        }
        OK(dni_orthonormal_rows(&run, null, n_null, D, NULL));
        for (size_t q = 0; q < n_null; q++) { /* independent vectors of length 1 */
            for (size_t p = 0; p <= q; p++) {
                assert_true(fabs(dni_dot(null + q * D, null + p * D, D) - (p == q)) < 1e-12);
            }
        }
        dn_run_free(&run, null);
    }
}

static void nothing(void **state) {
    (void)state;
    double r[P * P] = {0}, x[K * D], *null;
    size_t n_null;
    dn_run run = dn_run_default();
    OK(dni_qr_solve(&run, r, D, K, 1e-10, D, x, &n_null, &null, NULL));
    assert_true(n_null == D && dni_max_abs(x, K * D) == 0);
    dn_run_free(&run, null);
    OK(dni_qr_solve(&run, r, 0, K, 1e-10, D, x, &n_null, &null, NULL));
    assert_true(n_null == 0 && null == NULL);
    double same[] = {1, 2, 2, 4}; /* the second column equals the first, so its pivot is 0 */
    OK(dni_orthonormal_rows(&run, same, 2, 2, NULL));
    assert_true(same[2] == 0 && same[3] == 0 && fabs(same[0] - 1 / sqrt(5)) < 1e-15);
    r[0] = (double)NAN;
    assert_int_equal(dni_qr_solve(&run, r, D, K, 1e-10, D, x, &n_null, &null, NULL),
                     DN_ERR_NUMERIC);
}

static void ends(void **state) {
    (void)state;
    static double rows[N * P], r[P * P], copy[P * P];
    double x[K * D], *null;
    size_t n_null;
    struct polls polls = {0};
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    dn_run run = polls_run(&polls);
    run.allocator = &allocator;
    make(5, rows);
    OK(triangle(&run, rows, 32, r));
    assert_true(polls.n >= 3);
    polls = (struct polls){.stop_at = 2};
    assert_int_equal(triangle(&run, rows, 32, copy), DN_ERR_STOPPED);
    for (size_t at = 1;; at++) {
        polls = (struct polls){.stop_at = at};
        memcpy(copy, r, sizeof r);
        dn_status status = dni_qr_solve(&run, copy, D, K, 1e-10, D, x, &n_null, &null, NULL);
        if (status == DN_OK) {
            assert_true(at > 12);
            dn_run_free(&run, null);
            break;
        }
        assert_int_equal(status, DN_ERR_STOPPED);
        assert_int_equal(memory.live, 0);
    }
    polls = (struct polls){0};
    for (size_t k = 1; k <= 3; k++) {
        memory = (struct memory){.fail_at = k, .left = SIZE_MAX};
        memcpy(copy, r, sizeof r);
        assert_int_equal(dni_qr_solve(&run, copy, D, K, 1e-10, D, x, &n_null, &null, NULL),
                         DN_ERR_BUDGET);
        assert_int_equal(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(grams), cmocka_unit_test(solutions),
                                       cmocka_unit_test(nothing), cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
