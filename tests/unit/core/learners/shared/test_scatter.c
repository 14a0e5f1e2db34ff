/* Scatter within classes against plain loops in long double: large offsets such as time stamps,
 * weights, sparse rows, threads, exhausted memory. */
#include "unit/core/support.h"

#include "learners/shared/scatter.h"

enum { N = 9000, D = 5, K = 3 };

/* Rows in three blocks, some zeros among the values, some weights 0. */
static void make(double *x, double *target, double *weight) {
    uint64_t state = 4711;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            double u = (double)(state >> 11) * 0x1p-53;
            x[i * D + j] = u < 0.6 ? 0 : (double)(j + 1) * u + (double)(i % K);
        }
        target[i] = (double)(i % K);
        weight[i] = (double)(i % 4) / 2;
    }
}

/* Mean and scatter of class k, or pooled, by plain loops. */
static void plain(const double *x, const double *target, const double *weight, size_t k,
                  long double *mean, long double *scatter) {
    long double total = 0;
    memset(mean, 0, D * sizeof *mean);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; target[i] == (double)k && j < D; j++) {
            mean[j] += (long double)weight[i] * (long double)x[i * D + j];
            total += j == 0 ? (long double)weight[i] : 0;
        }
    }
    for (size_t j = 0; j < D; j++) {
        mean[j] /= total;
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t a = 0; target[i] == (double)k && a < D; a++) {
            for (size_t b = 0; b <= a; b++) {
                scatter[a * D + b] += (long double)weight[i] *
                                      ((long double)x[i * D + a] - mean[a]) *
                                      ((long double)x[i * D + b] - mean[b]);
            }
        }
    }
}

static dn_status compute(dn_matrix x, const double *target, const double *weight,
                         dni_scatter_kind kind, const dn_run *run, dni_scatter *out,
                         dn_error *err) {
    dn_rows *rows;
    OK(dn_rows_from_matrix(x, target, weight, &rows, NULL));
    dn_fit_input input = {.rows = rows, .n_classes = K};
    dn_status status = dni_scatter_compute(&input, kind, run, out, err);
    dn_rows_free(rows);
    return status;
}

static dn_matrix sparse_of(const double *x, size_t n, size_t d) {
    size_t *start = xcalloc(n + 1, sizeof *start), entries = 0;
    uint32_t *cols = xcalloc(n * d, sizeof *cols);
    double *values = xcalloc(n * d, sizeof *values);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < d; j++) {
            if (x[i * d + j] != 0) {
                cols[entries] = (uint32_t)j;
                values[entries++] = x[i * d + j];
            }
        }
        start[i + 1] = entries;
    }
    return dn_matrix_csr(start, cols, values, n, d);
}

static void sparse_free(dn_matrix m) {
    free((void *)(uintptr_t)m.row_start);
    free((void *)(uintptr_t)m.cols);
    free((void *)(uintptr_t)m.values);
}

static double *x, *target, *weight;

static int set_up(void **state) {
    (void)state;
    x = xcalloc((size_t)N * D, sizeof *x);
    target = xcalloc(N, sizeof *target);
    weight = xcalloc(N, sizeof *weight);
    make(x, target, weight);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(x);
    free(target);
    free(weight);
    return 0;
}

static void compare(const dni_scatter *s, double tolerance) {
    long double mean[D], pooled[D * D] = {0};
    double all[D] = {0};
    for (size_t k = 0; k < K; k++) {
        long double own[D * D] = {0};
        plain(x, target, weight, k, mean, own);
        for (size_t a = 0; a < D; a++) {
            assert_true(fabs(s->class_mean[k * D + a] - (double)mean[a]) <
                        1e-13 * (1 + fabs((double)mean[a])));
            all[a] += (double)mean[a] * s->class_weight[k];
            for (size_t b = 0; b <= a; b++) {
                pooled[a * D + b] += own[a * D + b];
                if (s->kind == DNI_SCATTER_CLASSES) {
                    assert_true(fabs(s->scatter[k * D * D + a * D + b] - (double)own[a * D + b]) <=
                                tolerance * (double)own[0]);
                }
            }
            if (s->kind == DNI_SCATTER_DIAGONAL) {
                assert_near(s->scatter[k * D + a], (double)own[a * D + a], tolerance);
            }
        }
    }
    for (size_t a = 0; a < D; a++) {
        assert_true(fabs(all[a] / s->weight - s->mean[a]) < 1e-13 * (1 + fabs(s->mean[a])));
        for (size_t b = 0; s->kind == DNI_SCATTER_POOLED && b <= a; b++) {
            assert_true(fabs(s->scatter[a * D + b] - (double)pooled[a * D + b]) <=
                        tolerance * (double)pooled[0]);
        }
    }
}

static const dni_scatter_kind kinds[] = {DNI_SCATTER_POOLED, DNI_SCATTER_CLASSES,
                                         DNI_SCATTER_DIAGONAL};

static void plain_loops(void **state) {
    (void)state;
    dn_run run = dn_run_default();
    dn_matrix dense = dn_matrix_dense(x, N, D), sparse = sparse_of(x, N, D);
    for (size_t i = 0; i < 3; i++) {
        dni_scatter s;
        OK(compute(dense, target, weight, kinds[i], &run, &s, NULL));
        compare(&s, 1e-12);
        dni_scatter_done(&s, &run);
        OK(compute(sparse, target, weight, kinds[i], &run, &s, NULL));
        compare(&s, 1e-12);
        dni_scatter_done(&s, &run);
    }
    sparse_free(sparse);
}

/* The same columns far from 0, where their sums are rounded: means and scatter keep their
 * precision. */
static void time_stamps(void **state) {
    (void)state;
    dn_run run = dn_run_default();
    double *near = xcalloc((size_t)N * D, sizeof *near), *far = xcalloc((size_t)N * D, sizeof *far);
    for (size_t i = 0; i < (size_t)N * D; i++) {
        near[i] = round(x[i] * 64); /* integers, so that the shift by 1e14 is exact */
        far[i] = near[i] + 1e14;
    }
    for (size_t i = 0; i < 3; i++) {
        dni_scatter near_zero, shifted;
        OK(compute(dn_matrix_dense(near, N, D), target, weight, kinds[i], &run, &near_zero, NULL));
        OK(compute(dn_matrix_dense(far, N, D), target, weight, kinds[i], &run, &shifted, NULL));
        size_t n = i == 0 ? D * D : i == 1 ? K * D * D : K * D;
        assert_close(shifted.scatter, near_zero.scatter, n, 1e-12);
        for (size_t j = 0; j < (size_t)K * D; j++) {
            assert_true(fabs(shifted.class_mean[j] - 1e14 - near_zero.class_mean[j]) <=
                        0x1p-6); /* an ulp of 1e14 */
        }
        dni_scatter_done(&near_zero, &run);
        dni_scatter_done(&shifted, &run);
    }
    free(near);
    free(far);
}

/* A constant column has a scatter of exactly 0, although its mean is rounded. */
static void constants(void **state) {
    (void)state;
    dn_run run = dn_run_default();
    double *z = xcalloc((size_t)N * D, sizeof *z);
    memcpy(z, x, (size_t)N * D * sizeof *z);
    for (size_t i = 0; i < N; i++) {
        z[i * D + 2] = 0.1;
    }
    for (size_t i = 0; i < 3; i++) {
        dni_scatter s;
        OK(compute(dn_matrix_dense(z, N, D), target, weight, kinds[i], &run, &s, NULL));
        for (size_t k = 0; k < (i == 0 ? 1 : K); k++) {
            const double *m = i == 2 ? s.scatter + k * D : s.scatter + k * D * D;
            assert_true(i == 2 ? m[2] == 0 && m[1] > 0
                               : m[2 * D] == 0 && m[2 * D + 2] == 0 && m[4 * D + 2] == 0 &&
                                     m[4 * D + 1] != 0);
        }
        dni_scatter_done(&s, &run);
    }
    free(z);
}

static void any_threads(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        dni_scatter one, many;
        dn_run serial = dn_run_default(), parallel = dn_run_default();
        parallel.n_slots = 3;
        parallel.sum = sum_in_ranges;
        parallel.each = each_in_reverse;
        OK(compute(dn_matrix_dense(x, N, D), target, weight, kinds[i], &serial, &one, NULL));
        OK(compute(dn_matrix_dense(x, N, D), target, weight, kinds[i], &parallel, &many, NULL));
        size_t n = i == 0 ? D * D : i == 1 ? K * D * D : K * D;
        assert_memory_equal(one.scatter, many.scatter, n * sizeof(double));
        assert_memory_equal(one.class_mean, many.class_mean, sizeof(double) * K * D);
        dni_scatter_done(&one, &serial);
        dni_scatter_done(&many, &parallel);
    }
}

static void refusals(void **state) {
    (void)state;
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    dni_scatter s;
    dn_error err = {0};
    for (size_t i = 0; i < 3; i++) {
        memory = (struct memory){.left = SIZE_MAX};
        OK(compute(dn_matrix_dense(x, N, D), target, weight, kinds[i], &run, &s, NULL));
        dni_scatter_done(&s, &run);
        assert_int_equal(memory.live, 0);
        size_t most = memory.count;
        for (size_t k = 1; k <= most; k++) {
            memory = (struct memory){.fail_at = k, .left = SIZE_MAX};
            assert_int_equal(compute(dn_matrix_dense(x, N, D), target, weight, kinds[i], &run, &s,
                                     NULL),
                             DN_ERR_BUDGET);
            assert_int_equal(memory.live, 0);
        }
    }
    memory = (struct memory){.left = SIZE_MAX};
    double kept = x[D + 3];
    x[D + 3] = 1e300;
    for (size_t i = 0; i < 3; i++) {
        err = (dn_error){0};
        assert_int_equal(compute(dn_matrix_dense(x, N, D), target, weight, kinds[i], &run, &s,
                                 &err),
                         DN_ERR_NUMERIC);
        assert_non_null(strstr(err.message, "\"#3\""));
    }
    x[D + 3] = kept;
    dn_matrix wide = dn_matrix_csr((const size_t[]){0, 0}, NULL, NULL, 1, DNI_SCATTER_MAX_COLS + 1);
    err = (dn_error){0};
    assert_int_equal(compute(wide, (const double[]){0}, NULL, DNI_SCATTER_POOLED, &run, &s, &err),
                     DN_ERR_BUDGET);
    assert_non_null(strstr(err.message, "8193 features"));
    assert_int_equal(memory.live, 0);
}

/* Scatter by class and pooled scatter allocate at most their estimates. */
static void memory_is_within_the_estimate(void **state) {
    (void)state;
    struct memory memory = {.left = SIZE_MAX};
    dn_allocator allocator = memory_allocator(&memory, true);
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    for (size_t i = 0; i < 3; i++) {
        dni_scatter s;
        memory = (struct memory){.left = (size_t)dni_scatter_memory(kinds[i], N, D, K, 1)};
        /* No single allocation exceeds the estimate. */
        OK(compute(dn_matrix_dense(x, N, D), target, weight, kinds[i], &run, &s, NULL));
        dni_scatter_done(&s, &run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_loops),
                                       cmocka_unit_test(time_stamps),
                                       cmocka_unit_test(constants),
                                       cmocka_unit_test(any_threads),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(memory_is_within_the_estimate)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
