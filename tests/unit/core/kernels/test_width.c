/* The width for `auto`, and whether kernels are positive semidefinite. */
#include "unit/core/kernels/plain.h"

#include "kernels/kernel_definite.h"
#include "kernels/width.h"

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median over all pairs, by the plain formula. */
static double median_of(const dn_kernel *kernel, const struct rows *r) {
    size_t pairs = 0;
    double *distance = xcalloc(r->n * r->n, sizeof *distance);
    for (size_t i = 0; i < r->n; i++) {
        for (size_t j = 0; j < i; j++) {
            const double *x = r->x + i * r->d, *z = r->x + j * r->d;
            distance[pairs++] = plain_metric(kernel, x, z, r->d);
        }
    }
    qsort(distance, pairs, sizeof *distance, ascending);
    double result = (distance[(pairs - 1) / 2] + distance[pairs / 2]) / 2;
    free(distance);
    return result;
}

/* The square of the width: the median. */
static double width_of(const dn_kernel *kernel, dn_matrix x, const double *weight,
                       const dn_run *run) {
    dn_rows *rows;
    double width;
    OK(dn_rows_from_matrix(x, NULL, weight, &rows, NULL));
    OK(dni_kernel_width(kernel, rows, run, &width, NULL));
    dn_rows_free(rows);
    return width * width;
}

static void medians(void **state) {
    (void)state;
    struct rows r = rows_make(ROWS_SPARSE, 80, 12, 3);
    dn_kernel kernel = {.type = DN_KERNEL_DISTANCE, .n_features = 12};
    for (int metric = DN_METRIC_EUCLIDEAN; metric <= DN_METRIC_COSINE; metric++) {
        kernel.metric = (dn_metric)metric;
        assert_value(width_of(&kernel, rows_dense(&r), NULL, NULL), median_of(&kernel, &r), 1,
                     1e-12);
        assert_value(width_of(&kernel, rows_csr(&r), NULL, NULL), median_of(&kernel, &r), 1, 1e-12);
    }
    rows_free(&r);
}

/* Rows with weight 0 are ignored. If all rows are equal, the width is 1. */
static void limits(void **state) {
    (void)state;
    double x[] = {0, 3, 100, 5}, weight[] = {1, 1, 0, 1}, same[] = {7, 7, 7},
           far[] = {1e300, -1e300};
    dn_kernel kernel = {.type = DN_KERNEL_DISTANCE, .n_features = 1};
    assert_value(width_of(&kernel, dn_matrix_dense(x, 4, 1), weight, NULL), 3, 1, 1e-12);
    assert_true(width_of(&kernel, dn_matrix_dense(same, 3, 1), NULL, NULL) == 1);
    assert_true(width_of(&kernel, dn_matrix_dense(same, 1, 1), NULL, NULL) == 1);
    dn_rows *rows;
    double width = -1;
    OK(dn_rows_from_matrix(dn_matrix_dense(far, 2, 1), NULL, NULL, &rows, NULL));
    assert_int_equal(dni_kernel_width(&kernel, rows, NULL, &width, NULL), DN_ERR_NUMERIC);
    assert_true(width == -1);
    dn_rows_free(rows);
}

/* Returns rows in which row i of r is repeated i % 3 + 1 times. */
static struct rows repeated(const struct rows *r) {
    struct rows out = {.n = 0, .d = r->d};
    out.x = xcalloc(3 * r->n * r->d, sizeof *out.x);
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k <= i % 3; k++) {
            memcpy(out.x + out.n++ * r->d, r->x + i * r->d, r->d * sizeof *out.x);
        }
    }
    return out;
}

/* A row of weight 2 counts as two equal rows, with a pair of distance 0. This does not depend on
 * the scale of the weights. A row with a weight below 1 has no pair with itself. */
static void weights(void **state) {
    (void)state;
    struct rows r = rows_make(ROWS_DENSE, 41, 3, 3), all = repeated(&r);
    double weight[41], tiny[41], x[] = {0, 3, 4}, heavy[] = {1e200, 1e200, 1e200},
                                 twice[] = {2, 2, 1};
    for (size_t i = 0; i < r.n; i++) {
        weight[i] = (double)(i % 3 + 1);
        tiny[i] = 0x1p-600;
    }
    dn_kernel kernel = {.type = DN_KERNEL_DISTANCE, .n_features = 3};
    assert_false(width_of(&kernel, rows_dense(&r), weight, NULL) ==
                 width_of(&kernel, rows_dense(&r), NULL, NULL));
    assert_value(width_of(&kernel, rows_dense(&r), weight, NULL),
                 width_of(&kernel, rows_dense(&all), NULL, NULL), 1, 1e-12);
    assert_true(width_of(&kernel, rows_dense(&r), tiny, NULL) ==
                width_of(&kernel, rows_dense(&r), NULL, NULL));
    kernel = (dn_kernel){.type = DN_KERNEL_DISTANCE, .n_features = 1};
    assert_value(width_of(&kernel, dn_matrix_dense(x, 3, 1), twice, NULL), 3, 1,
                 1e-12); /* 10 pairs, at distance 0 (2), 1 (2), 3 (4), 4 (2) */
    assert_value(width_of(&kernel, dn_matrix_dense(x, 3, 1), heavy, NULL), 1, 1,
                 1e-12); /* a third of all pairs are pairs of copies of one row */
    rows_free(&all);
    rows_free(&r);
}

/* For many rows a sample drawn with the seed has a width near the median of all pairs. */
static void sampled(void **state) {
    (void)state;
    struct rows r = rows_make(ROWS_DENSE, 5000, 2, 3);
    dn_kernel kernel = {.type = DN_KERNEL_DISTANCE, .n_features = 2};
    dn_run run = dn_run_default(), other = dn_run_default();
    other.seed = 2;
    struct rows part = r;
    part.n = 1200;
    double width = width_of(&kernel, rows_dense(&r), NULL, &run),
           again = width_of(&kernel, rows_dense(&r), NULL, &other);
    assert_value(width_of(&kernel, rows_csr(&r), NULL, &run), width, 1, 1e-12);
    assert_true(fabs(width - again) > 1e-6);
    assert_true(fabs(width / median_of(&kernel, &part) - 1) < 0.1 && fabs(again / width - 1) < 0.1);
    rows_free(&r);
}

/* In a sample of many rows, a row of weight v counts as v equal rows. A row whose weight is the sum
 * of all other weights is in the sample for every seed. */
static void sampled_by_weight(void **state) {
    (void)state;
    enum { N = 1500 };
    struct rows r = rows_make(ROWS_SPARSE, N, 3, 3), all = repeated(&r);
    dn_kernel kernel = {.type = DN_KERNEL_DISTANCE, .n_features = 3};
    double weight[N], *x = xcalloc(2 * N - 1, sizeof *x);
    dni_random random;
    for (size_t i = 0; i < N; i++) {
        weight[i] = (double)(i % 3 + 1);
    }
    const double exact = median_of(&kernel, &all);
    dni_random_init(&random, 5, 0);
    for (size_t i = 0; i < 2 * N - 1; i++) {
        x[i] = i < N ? dni_random_uniform(&random, 0, 1000) : x[N - 1];
    }
    const struct rows line = {.n = 2 * N - 1, .d = 1, .x = x};
    const dn_kernel flat = {.type = DN_KERNEL_DISTANCE, .n_features = 1};
    const double heavy = median_of(&flat, &line);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        dn_run run = dn_run_default();
        run.seed = seed;
        double width = width_of(&kernel, rows_dense(&r), weight, &run), same[N];
        assert_true(fabs(width / exact - 1) < 0.05);
        assert_value(width_of(&kernel, rows_csr(&r), weight, &run), width, 1, 1e-12);
        for (size_t i = 0; i < N; i++) {
            same[i] = i == N - 1 ? N : 1;
        }
        assert_true(fabs(width_of(&flat, dn_matrix_dense(x, N, 1), same, &run) / heavy - 1) < 0.1);
        for (size_t i = 0; i < N; i++) {
            same[i] = i == N - 1 ? 1e308 : 1e308 / N; /* in any scale */
        }
        assert_true(fabs(width_of(&flat, dn_matrix_dense(x, N, 1), same, &run) / heavy - 1) < 0.1);
    }
    free(x);
    rows_free(&all);
    rows_free(&r);
}

static void width_stops(void **state) {
    (void)state;
    struct rows r = rows_make(ROWS_SPARSE, 60, 5, 3);
    dn_kernel kernel = {.type = DN_KERNEL_DISTANCE, .n_features = 5};
    dn_rows *rows;
    double width = -1;
    size_t k = 0;
    dn_status status = DN_ERR_STOPPED;
    OK(dn_rows_from_matrix(rows_csr(&r), NULL, NULL, &rows, NULL));
    for (; status != DN_OK; k++) {
        struct polls polls = {.stop_at = k + 1};
        struct memory memory = {.fail_at = k / 2 + 1, .left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = polls_run(&polls);
        run.allocator = &allocator;
        if (k % 2 == 0) {
            memory.fail_at = 0;
        } else {
            polls.stop_at = 0;
        }
        status = dni_kernel_width(&kernel, rows, &run, &width, NULL);
        assert_true(status == DN_OK
                        ? width > 0
                        : width == -1 && status == (k % 2 == 0 ? DN_ERR_STOPPED : DN_ERR_BUDGET));
        assert_int_equal(memory.live, 0);
    }
    assert_true(k > 5);
    dn_rows_free(rows);
    rows_free(&r);
}

/* ---- eigenvalues ---- */
static void by_construction(void **state) {
    (void)state;
    dn_kernel kernel = {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_CHEBYSHEV};
    assert_true(dni_kernel_is_definite(&kernel, 2) && !dni_kernel_is_definite(&kernel, 3));
    kernel.metric = DN_METRIC_EDIT;
    assert_false(dni_kernel_is_definite(&kernel, 1));
    kernel.metric = DN_METRIC_MANHATTAN;
    assert_true(dni_kernel_is_definite(&kernel, 9));
    kernel = (dn_kernel){.type = DN_KERNEL_POLYNOMIAL, .coef0 = -1};
    assert_false(dni_kernel_is_definite(&kernel, 1));
    kernel.coef0 = 0;
    assert_true(dni_kernel_is_definite(&kernel, 1));
    kernel.type = DN_KERNEL_SIGMOID;
    assert_false(dni_kernel_is_definite(&kernel, 1));
    kernel.type = DN_KERNEL_RBF;
    assert_true(dni_kernel_is_definite(&kernel, 1));
}

/* Linear kernel, two orthogonal columns: the eigenvalues are the squared lengths of the columns
 * and 0. */
static void known(void **state) {
    (void)state;
    double x[] = {3, 0, 0, 2, 0, 0}, least, greatest;
    size_t rows;
    dn_kernel kernel = {.type = DN_KERNEL_LINEAR, .n_features = 2};
    dni_points *points = points_of(&kernel, dn_matrix_dense(x, 3, 2), NULL);
    OK(dni_kernel_extreme_eigenvalues(points, NULL, &least, &greatest, &rows, NULL));
    assert_value(least, 0, 1, 1e-14);
    assert_value(greatest, 9, 9, 1e-14);
    assert_int_equal(rows, 3);
    dni_points_free(points);
    kernel = (dn_kernel){.type = DN_KERNEL_SIGMOID, .scale = 1, .coef0 = -3, .n_features = 2};
    points = points_of(&kernel, dn_matrix_dense(x + 4, 1, 2), NULL);
    OK(dni_kernel_extreme_eigenvalues(points, NULL, &least, &greatest, &rows, NULL));
    assert_true(least == greatest && fabs(least - tanh(-3)) < 1e-15);
    dni_points_free(points);
}

/* Kernels that are semidefinite by construction have no eigenvalue below rounding, also in a sample
 * of many rows; sigmoid and chebyshev have. */
static void signs(void **state) {
    (void)state;
    struct rows r = rows_make(ROWS_DENSE, 520, 6, 3);
    double factor[36], least, greatest;
    for (size_t k = 0; k < PLAIN_KERNELS; k++) {
        dn_kernel kernel = plain_kernel(k, 6, factor);
        size_t rows;
        kernel.scale = 2;
        dni_points *points = points_of(&kernel, dn_matrix_dense(r.x, k == 4 ? 520 : 60, 6), NULL);
        OK(dni_kernel_extreme_eigenvalues(points, NULL, &least, &greatest, &rows, NULL));
        assert_int_equal(rows, k == 4 ? DNI_DEFINITE_ROWS : 60);
        if (dni_kernel_is_definite(&kernel, 6)) {
            assert_true(least > -1e-12 * greatest);
        } else {
            assert_true(least < -1e-6 * greatest);
        }
        dni_points_free(points);
    }
    rows_free(&r);
}

static void eigenvalues_fail(void **state) {
    (void)state;
    struct rows r = rows_make(ROWS_DENSE, 510, 3, 3);
    dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 1, .n_features = 3};
    dni_points *points = points_of(&kernel, rows_dense(&r), NULL);
    double least = 5, greatest = 5;
    size_t rows = 5, k = 0;
    dn_status status = DN_ERR_BUDGET;
    for (; status != DN_OK; k++) {
        struct memory memory = {.fail_at = k + 1, .left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        status = dni_kernel_extreme_eigenvalues(points, &run, &least, &greatest, &rows, NULL);
        assert_true(status == DN_OK ||
                    (status == DN_ERR_BUDGET && least == 5 && greatest == 5 && rows == 5));
        assert_int_equal(memory.live, 0);
    }
    assert_true(k > 4);
    struct polls polls = {.stop_at = 40};
    dn_run run = polls_run(&polls);
    assert_int_equal(dni_kernel_extreme_eigenvalues(points, &run, &least, &greatest, &rows, NULL),
                     DN_ERR_STOPPED);
    dni_points_free(points);
    rows_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians),
        cmocka_unit_test(limits),
        cmocka_unit_test(weights),
        cmocka_unit_test(sampled),
        cmocka_unit_test(sampled_by_weight),
        cmocka_unit_test(width_stops),
        cmocka_unit_test(by_construction),
        cmocka_unit_test(known),
        cmocka_unit_test(signs),
        cmocka_unit_test(eigenvalues_fail),
    };
    return cmocka_run_group_tests_name("width", tests, NULL, NULL);
}
