/* Triangular matrices against plain loops; long operations poll the stop flag. */
#include "linalg/cholesky.h"
#include "linalg/step.h"
#include "linalg/triangle.h"
#include "unit/core/support.h"

/* A well conditioned lower triangle. The entries above the diagonal are set to a value that must
 * not be read. */
static double *triangle(size_t n) {
    double *l = xcalloc(n * n, sizeof *l);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            l[i * n + j] = j > i    ? 1e30
                           : i == j ? 2 + sin((double)i)
                                    : cos((double)(7 * i + 3 * j)) / (double)n;
        }
    }
    return l;
}

static void inverse(void **state) {
    (void)state;
    const size_t orders[] = {0, 1, 2, 33, 200};
    dn_run run = dn_run_default();
    for (size_t o = 0; o < 5; o++) {
        size_t n = orders[o];
        double *l = triangle(n), *x = triangle(n);
        OK(dni_lower_invert(&run, x, n, NULL));
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t k = 0; k <= i; k++) {
                    sum += l[i * n + k] * x[k * n + j];
                }
                assert_true(fabs(sum - (i == j)) < 1e-13);
                assert_true(j <= i || x[i * n + j] == 0);
            }
        }
        free(l);
        free(x);
    }
}

static void rows_times(void **state) {
    (void)state;
    enum { N = 37, ROWS = 19, STRIDE = 40 };
    double *a = triangle(N), rows[ROWS * STRIDE], before[ROWS * STRIDE];
    dn_run run = dn_run_default();
    for (size_t i = 0; i < (size_t)ROWS * STRIDE; i++) {
        before[i] = rows[i] = sin((double)(i * i));
    }
    OK(dni_lower_times_rows(&run, a, N, rows, ROWS, STRIDE, NULL));
    for (size_t t = 0; t < ROWS; t++) {
        for (size_t i = 0; i < STRIDE; i++) {
            double sum = i < N ? 0 : before[t * STRIDE + i];
            for (size_t j = 0; i < N && j <= i; j++) {
                sum += a[i * N + j] * before[t * STRIDE + j];
            }
            assert_true(fabs(rows[t * STRIDE + i] - sum) < 1e-13);
        }
    }
    free(a);
}

/* 2500³ operations take several steps: each one polls the flag first. Panels give the same values
 * as one call. */
static void long_operations_can_be_stopped(void **state) {
    (void)state;
    enum { N = 2500 };
    double *l = triangle(N), *x = triangle(N);
    struct polls polls = {0};
    dn_run run = polls_run(&polls);
    OK(dni_lower_invert(&run, x, N, NULL));
    double flops = (double)N * N * N;
    assert_true((double)polls.n >= floor(flops / DNI_STEP_FLOPS));
    for (size_t s = 0; s < 40; s++) { /* checks 40 entries of LX */
        size_t i = s * 997 % N, j = s % 2 == 0 ? i : s * 389 % N;
        double sum = 0;
        for (size_t k = 0; k <= i; k++) {
            sum += l[i * N + k] * x[k * N + j];
        }
        assert_true(fabs(sum - (i == j)) < 1e-12);
    }
    polls = (struct polls){.stop_at = 3};
    assert_int_equal(dni_lower_invert(&run, l, N, NULL), DN_ERR_STOPPED);
    assert_int_equal(polls.n, 3);
    polls = (struct polls){.stop_at = 1};
    assert_int_equal(dni_lower_times_rows(&run, x, N, l, 4, N, NULL), DN_ERR_STOPPED);
    free(l);
    free(x);
}

static void memory_runs_out(void **state) {
    (void)state;
    struct memory memory = {.fail_at = 1, .left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, false);
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    double *l = triangle(5);
    assert_int_equal(dni_lower_invert(&run, l, 5, NULL), DN_ERR_MEMORY);
    assert_int_equal(memory.live, 0);
    free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse),
        cmocka_unit_test(rows_times),
        cmocka_unit_test(long_operations_can_be_stopped),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
