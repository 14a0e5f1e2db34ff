/* Points: failed allocations, cancellation, estimates of memory, overflow, the error of single
 * precision, and queries of another kind than the points. */
#include "unit/core/kernels/plain.h"

/* Calls every function of a set of points once. Returns DN_OK if all succeed. */
static dn_status use(const dn_kernel *kernel, dn_matrix x, const dn_run *run) {
    const uint32_t list[] = {5, 2, 9};
    double coef[400] = {0}, sums[400];
    dni_points *points = NULL, *some = NULL;
    float *gram = xcalloc(x.n_rows * x.n_rows, sizeof *gram);
    dn_status status =
        dni_points_new(kernel, x.n_rows, x.kind == DN_DENSE ? SIZE_MAX : x.row_start[x.n_rows], run,
                       &points, NULL);
    if (status == DN_OK) {
        dni_points_add(points, x);
        status = dni_points_end(points, NULL);
    }
    if (status == DN_OK) {
        status = dni_points_gram(points, run, gram, NULL, NULL);
    }
    if (status == DN_OK) {
        status = dni_points_sums(points, list, 3, coef, 2, run, sums, NULL);
    }
    if (status == DN_OK) {
        status = dni_points_sums(points, NULL, 0, coef, 1, run, sums, NULL);
    }
    if (status == DN_OK) {
        status = dni_points_select(points, list, 3, run, &some, NULL);
    }
    dni_points_free(some);
    dni_points_free(points);
    free(gram);
    return status;
}

/* Combinations of a kernel and rows, so that every kind of storage is used. */
static size_t n_layouts(void) {
    return 7;
}

static dn_kernel layout(size_t i, enum rows_kind *kind, bool *sparse, double *factor) {
    const dn_kernel kernels[] = {
        {.type = DN_KERNEL_RBF, .width = 3},
        {.type = DN_KERNEL_MAHALANOBIS},
        {.type = DN_KERNEL_POLYNOMIAL, .gamma = 1, .coef0 = 1, .degree = 2, .normalize = true},
        {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_EDIT, .width = 3},
        {.type = DN_KERNEL_RBF, .width = 3},
        {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_COSINE, .width = 3},
        {.type = DN_KERNEL_RBF, .width = 3},
    };
    const enum rows_kind kinds[] = {ROWS_DENSE, ROWS_SPARSE, ROWS_SPARSE, ROWS_TEXT,
                                    ROWS_BITS,  ROWS_BITS,   ROWS_SPARSE};
    dn_kernel kernel = kernels[i];
    const dn_kernel any = plain_kernel(6, 20, factor);
    kernel.n_features = 20;
    kernel.factor = kernel.type == DN_KERNEL_MAHALANOBIS ? any.factor : NULL;
    *kind = kinds[i];
    *sparse = i >= 2 && i != 4;
    return kernel;
}

static void memory_fails(void **state) {
    (void)state;
    double factor[400];
    for (size_t i = 0; i < n_layouts(); i++) {
        enum rows_kind kind;
        bool sparse;
        const dn_kernel kernel = layout(i, &kind, &sparse, factor);
        struct rows r = rows_make(kind, 150, 20, 1);
        dn_status status = DN_ERR_BUDGET;
        size_t k = 0;
        for (; status != DN_OK; k++) {
            struct memory memory = {.fail_at = k + 1, .left = SIZE_MAX};
            dn_allocator allocator = memory_allocator(&memory, true);
            dn_run run = dn_run_default();
            run.allocator = &allocator;
            status = use(&kernel, sparse ? rows_csr(&r) : rows_dense(&r), &run);
            assert_true(status == DN_OK || status == DN_ERR_BUDGET);
            assert_int_equal(memory.live, 0);
        }
        assert_true(k > 10);
        rows_free(&r);
    }
}

/* A call returns at the poll of the stop flag at which the run is cancelled. */
static void stops(void **state) {
    (void)state;
    double factor[400];
    for (size_t i = 0; i < n_layouts(); i++) {
        enum rows_kind kind;
        bool sparse;
        const dn_kernel kernel = layout(i, &kind, &sparse, factor);
        struct rows r = rows_make(kind, 150, 20, 1);
        dn_status status = DN_ERR_STOPPED;
        size_t k = 0;
        for (; status != DN_OK; k++) {
            struct polls polls = {.stop_at = k + 1};
            const dn_run run = polls_run(&polls);
            status = use(&kernel, sparse ? rows_csr(&r) : rows_dense(&r), &run);
            assert_true(status == DN_OK || status == DN_ERR_STOPPED);
        }
        assert_true(k > 8);
        rows_free(&r);
    }
}

/* ---- estimates of memory ---- */
struct ledger {
    size_t now, most; /* bytes */
};

static void *ledger_allocate(void *ctx, size_t size) {
    struct ledger *ledger = ctx;
    size_t *p = malloc(size + 2 * sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    *p = size;
    ledger->now += size;
    ledger->most = ledger->now > ledger->most ? ledger->now : ledger->most;
    return p + 2;
}

static void ledger_release(void *ctx, void *memory) {
    struct ledger *ledger = ctx;
    if (memory == NULL) {
        return;
    }
    ledger->now -= *((size_t *)memory - 2);
    free((size_t *)memory - 2);
}

static void estimates_are_close(void **state) {
    (void)state;
    double factor[400];
    for (size_t i = 0; i < n_layouts(); i++) {
        enum rows_kind kind;
        bool sparse;
        struct ledger ledger = {0};
        const dn_allocator allocator = {.allocate = ledger_allocate,
                                        .release = ledger_release,
                                        .ctx = &ledger,
                                        .budgeted = false};
        const dn_kernel kernel = layout(i, &kind, &sparse, factor);
        struct rows r = rows_make(kind, 3000, 20, 1);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        dni_points *points = points_of(&kernel, sparse ? rows_csr(&r) : rows_dense(&r), &run);
        const dni_points_estimate estimate =
            dni_points_memory(&kernel, r.n, r.d, sparse ? (double)r.n_entries : (double)INFINITY);
        const double peak = (double)ledger.most, kept = (double)ledger.now;
        /* The estimate for dense rows includes a copy in single precision, which has half the size.
         * */
        if (peak > estimate.building || kept > estimate.kept ||
            (kind != ROWS_BITS &&
             estimate.building > 1.55 * peak + (kind == ROWS_TEXT ? 65536 : 0))) {
            fail_msg("layout %zu: estimates %g and %g, peak %g, kept %g", i, estimate.building,
                     estimate.kept, peak, kept);
        }
        /* An estimate is made before it is known whether rows become bits. */
        assert_true(kind == ROWS_BITS || kind == ROWS_TEXT || estimate.kept <= 1.55 * kept);
        const double row = sizeof(double) * (double)dni_points_work(points),
                     tile = sizeof(double) * (double)dni_points_query_work(points);
        assert_true(row <= estimate.work && tile <= estimate.query_work);
        dni_points_free(points);
        assert_int_equal(ledger.now, 0);
        rows_free(&r);
    }
}

/* ---- float ---- */
/* Returns the largest error of a kernel value in single precision. */
static double largest_error(const dni_points *points) {
    const size_t n = dni_points_n(points);
    double most = 0, *exact = xcalloc(n, sizeof *exact),
           *work = xcalloc(dni_points_work(points), sizeof *work);
    float *row = xcalloc(n, sizeof *row);
    for (size_t i = 0; i < n; i++) {
        dni_points_row(points, i, 0, n, row, work);
        dni_points_row_exact(points, i, 0, n, exact, work);
        for (size_t j = 0; j < n; j++) {
            most = fmax(most, fabs((double)row[j] - exact[j]));
        }
        assert_true(row[i] == 1 && exact[i] == 1);
    }
    free(exact);
    free(work);
    free(row);
    return most;
}

/* Values in single precision are used while the rounding of one product of two rows changes a value
 * by at most 1e-6. With rows of 300 columns the errors are less than 4e-6. */
static void float_rule(void **state) {
    (void)state;
    enum { N = 60, D = 300 };
    struct rows r = rows_make(ROWS_DENSE, N, D, 1);
    /* Two clusters far from the origin: norms are large, distances small. */
    double *centres = xcalloc(2 * D, sizeof *centres);
    memcpy(centres, r.x, 2 * D * sizeof *centres);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) {
            r.x[i * D + j] = 1e4 + centres[i % 2 * D + j] + 1e-3 * r.x[i * D + j];
        }
    }
    free(centres);
    for (double width = 1; width < 1000; width *= 2) {
        const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = width, .n_features = D};
        dni_points *points = points_of(&kernel, rows_dense(&r), NULL);
        assert_true(largest_error(points) < 4e-6);
        dni_points_free(points);
    }
    rows_free(&r);
}

/* Rows that are many widths away from the centre: distances are exact, although ‖x‖² + ‖z‖² − 2 x'z
 * would lose all digits. */
static void far_from_the_centre(void **state) {
    (void)state;
    enum { N = 40, D = 6 };
    struct rows r = rows_make(ROWS_DENSE, N, D, 1), sparse = rows_make(ROWS_SPARSE, N, D, 1);
    for (size_t i = 0; i < N * D; i++) {
        r.x[i] = (double)(i / D % 2) * 1e10 + 1e-2 * r.x[i];
        sparse.x[i] = sparse.x[i] == 0 ? 0 : (double)(1 + i / D % 2) * 1e8 + sparse.x[i];
    }
    free(sparse.row_start);
    free(sparse.cols);
    free(sparse.values);
    sparse.n_entries = 0;
    rows_index(&sparse);
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 0.5, .n_features = D};
    for (int as = 0; as < 2; as++) {
        const struct rows *x = as ? &sparse : &r;
        dni_points *points = points_of(&kernel, as ? rows_csr(x) : rows_dense(x), NULL);
        double exact[N], *work = xcalloc(dni_points_work(points), sizeof *work);
        for (size_t i = 0; i < N; i++) {
            dni_points_row_exact(points, i, 0, N, exact, work);
            for (size_t j = 0; j < N; j++) {
                assert_value(exact[j], plain_value(&kernel, x->x + i * D, x->x + j * D, D), 1,
                             2e-5); /* centring rounds the rows */
            }
        }
        dni_points_free(points);
        free(work);
    }
    rows_free(&r);
    rows_free(&sparse);
}

/* ---- numbers out of range ---- */
/* Kernels of distances have values between 0 and 1, except the cosine of a row whose length
 * overflows. An inner product may overflow: only that value is NaN or infinite. */
static void check_far_queries(const dn_kernel *kernel, const dni_points *points, const double *q,
                              size_t n_queries, size_t d) {
    const size_t n = dni_points_n(points);
    const bool product = kernel->type != DN_KERNEL_RBF && kernel->type != DN_KERNEL_MAHALANOBIS &&
                         kernel->type != DN_KERNEL_DISTANCE;
    const bool cosine = kernel->type == DN_KERNEL_DISTANCE &&
                        kernel->metric == DN_METRIC_COSINE; /* NaN if ‖x‖² overflows */
    size_t row_start[4] = {0, d, 2 * d, 3 * d};
    uint32_t cols[64];
    double *k = xcalloc(DNI_POINTS_QUERIES * n, sizeof *k), *one = xcalloc(n, sizeof *one);
    double *work = xcalloc(dni_points_query_work(points), sizeof *work);
    for (size_t i = 0; i < n_queries * d; i++) {
        cols[i] = (uint32_t)(i % d);
    }
    OK(dni_points_query(points, dn_matrix_dense(q + (n_queries - 1) * d, 1, d), true, NULL, one,
                        work, NULL));
    for (int sparse = 0; sparse < 2; sparse++) {
        OK(dni_points_query(points,
                            sparse ? dn_matrix_csr(row_start, cols, q, n_queries, d)
                                   : dn_matrix_dense(q, n_queries, d),
                            true, NULL, k, work, NULL));
        for (size_t i = 0; !product && i < n_queries * n; i++) {
            assert_true(cosine && i < (n_queries - 1) * n ? isnan(k[i]) : k[i] >= 0 && k[i] <= 1);
        }
        for (size_t j = 0; j < n; j++) {
            assert_true(isfinite(one[j]) && k[(n_queries - 1) * n + j] == one[j]);
        }
    }
    free(one);
    free(k);
    free(work);
}

static void huge(void **state) {
    (void)state;
    enum { D = 20 };
    double factor[D * D], q[3 * D], one[D] = {0};
    for (size_t j = 0; j < D; j++) {
        q[j] = j % 2 == 0 ? 1e300 : -1e300;
        q[D + j] = 1e300;
        q[2 * D + j] = 1;
        one[j] = 1e200;
    }
    for (int kind = ROWS_DENSE; kind <= ROWS_BITS; kind++) {
        struct rows r = rows_make((enum rows_kind)kind, 40, D, 1);
        for (size_t i = 0; i < PLAIN_KERNELS; i++) {
            for (int sparse = 0; sparse < 2; sparse++) {
                const dn_kernel kernel = plain_kernel(i, D, factor);
                dni_points *points =
                    points_of(&kernel, sparse ? rows_csr(&r) : rows_dense(&r), NULL);
                check_far_queries(&kernel, points, q, 3, D);
                dni_points_free(points);
            }
        }
        rows_free(&r);
    }
    for (size_t i = 0; i < PLAIN_KERNELS; i++) { /* a point out of range */
        const dn_kernel kernel = plain_kernel(i, D, factor);
        dni_points *points;
        dn_error err = {0};
        double x[3 * D] = {1};
        memcpy(x + D, one, sizeof one);
        OK(dni_points_new(&kernel, 3, SIZE_MAX, NULL, &points, NULL));
        dni_points_add(points, dn_matrix_dense(x, 3, D));
        const dn_status status = dni_points_end(points, &err);
        if (status == DN_OK) {
            assert_true(
                kernel.type == DN_KERNEL_DISTANCE &&
                (kernel.metric == DN_METRIC_MANHATTAN || kernel.metric == DN_METRIC_CHEBYSHEV));
            check_far_queries(&kernel, points, q, 3, D);
        } else {
            assert_int_equal(status, DN_ERR_NUMERIC);
            assert_non_null(strstr(err.message, "beyond the range of numbers"));
        }
        dni_points_free(points);
    }
}

/* Kernels whose values do not depend on the lengths of the rows, for rows whose ‖x‖² ‖z‖² overflows
 * or underflows. */
static void long_and_short(void **state) {
    (void)state;
    enum { D = 3, N = 3 };
    static const double x[N * D] = {1, 2, 3, -1, 0.5, 2, 0.25, 4, -1};
    const dn_kernel kernels[] = {
        {.type = DN_KERNEL_DISTANCE, .metric = DN_METRIC_COSINE, .width = 1, .n_features = D},
        {.type = DN_KERNEL_LINEAR, .normalize = true, .n_features = D},
    };
    for (size_t i = 0; i < 2; i++) {
        double got[N * N];
        for (int power = -300; power <= 300; power += 300) {
            if (i == 1 && power > 0) { /* K(x, x) overflows for a point */
                continue;
            }
            double far[N * D], work[4096];
            for (size_t j = 0; j < N * D; j++) {
                far[j] = ldexp(x[j], power);
            }
            dni_points *points = points_of(&kernels[i], dn_matrix_dense(far, N, D), NULL);
            assert_true(dni_points_query_work(points) <= sizeof work / sizeof *work);
            for (size_t k = 0; k < N; k++) {
                OK(dni_points_query(points, dn_matrix_dense(far + k * D, 1, D), true, NULL,
                                    got + k * N, work, NULL));
            }
            dni_points_free(points);
            for (size_t k = 0; k < N * N; k++) {
                double xz = 0, xx = 0, zz = 0;
                for (size_t j = 0; j < D; j++) {
                    xz += x[k / N * D + j] * x[k % N * D + j];
                    xx += x[k / N * D + j] * x[k / N * D + j];
                    zz += x[k % N * D + j] * x[k % N * D + j];
                }
                const double cosine = xz / sqrt(xx * zz);
                assert_true(fabs(got[k] - (i == 0 ? exp(-(1 - cosine) / 2) : cosine)) <= 4e-15);
            }
        }
    }
}

/* Rows whose squared length underflows have no direction and are treated as rows of zeros. */
static void no_direction(void **state) {
    (void)state;
    static const double x[] = {1, 2, 0, 0, 1e-163, 1e-163, 1e-160, 2e-160, 2e-154, 4e-154},
                        far[] = {0, 0, 1e155, 1e155};
    static const double distance[5][5] = {
        {0, 1, 1, 1, 0}, {1, 0, 0, 0, 1}, {1, 0, 0, 0, 1}, {1, 0, 0, 0, 1}, {0, 1, 1, 1, 0}};
    const dn_kernel kernel = {.type = DN_KERNEL_DISTANCE,
                              .metric = DN_METRIC_COSINE,
                              .width = 1,
                              .n_features = 2};
    const size_t row_start[] = {0, 2, 4, 6, 8, 10};
    const uint32_t cols[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    for (int sparse = 0; sparse < 2; sparse++) {
        double k[5 * 5], work[4096];
        dni_points *points =
            points_of(&kernel,
                      sparse ? dn_matrix_csr(row_start, cols, x, 5, 2) : dn_matrix_dense(x, 5, 2),
                      NULL);
        assert_true(dni_points_query_work(points) <= sizeof work / sizeof *work);
        OK(dni_points_query(points, dn_matrix_dense(x, 5, 2), true, NULL, k, work, NULL));
        for (size_t i = 0; i < 25; i++) {
            assert_near(k[i], exp(-distance[i / 5][i % 5] / 2), 1e-15);
        }
        OK(dni_points_query(points, dn_matrix_dense(far, 2, 2), true, NULL, k, work, NULL));
        for (size_t i = 0; i < 5; i++) {
            assert_true(isfinite(k[i]) && isnan(k[5 + i]));
        }
        dni_points_free(points);
    }
}

/* ---- no rows, no columns ---- */
static void empty_points(void **state) {
    (void)state;
    const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 1, .n_features = 3},
                    flat = {.type = DN_KERNEL_RBF, .width = 1};
    const size_t start[] = {0, 0, 0};
    double x[3] = {1, 2, 3}, k[2] = {7, 7}, work[4096 + 64];
    float gram[4];
    for (int sparse = 0; sparse < 2; sparse++) {
        dni_points *points =
            points_of(&kernel,
                      sparse ? dn_matrix_csr(start, NULL, NULL, 0, 3) : dn_matrix_dense(NULL, 0, 3),
                      NULL);
        assert_true(dni_points_n(points) == 0 &&
                    dni_points_query_work(points) <= sizeof work / sizeof *work);
        OK(dni_points_query(points, dn_matrix_dense(x, 1, 3), true, NULL, k, work, NULL));
        OK(dni_points_gram(points, NULL, gram, NULL, NULL));
        OK(dni_points_sums(points, NULL, 0, NULL, 1, NULL, NULL, NULL));
        dni_points_free(points);
        points =
            points_of(&flat,
                      sparse ? dn_matrix_csr(start, NULL, NULL, 2, 0) : dn_matrix_dense(x, 2, 0),
                      NULL);
        OK(dni_points_gram(points, NULL, gram, NULL, NULL));
        assert_true(gram[0] == 1 && gram[1] == 1 && gram[2] == 1 && gram[3] == 1);
        dni_points_free(points);
    }
    assert_true(k[0] == 7);
}

/* Precomputed kernel: each point is a row with a single 1, in the column of the point. A query is a
 * row of kernel values. */
static void precomputed(void **state) {
    (void)state;
    const dn_kernel kernel = {.type = DN_KERNEL_PRECOMPUTED, .n_features = 5};
    const size_t start[] = {0, 1, 2};
    const uint32_t cols[] = {3, 1};
    const double ones[] = {1, 1}, q[] = {0.1, 0.2, 0.3, 0.4, 0.5};
    dni_points *points = points_of(&kernel, dn_matrix_csr(start, cols, ones, 2, 5), NULL);
    double k[2], *work = xcalloc(dni_points_query_work(points), sizeof *work);
    OK(dni_points_query(points, dn_matrix_dense(q, 1, 5), true, NULL, k, work, NULL));
    assert_true(k[0] == 0.4 && k[1] == 0.2);
    dni_points_free(points);
    free(work);
}

/* Kernel values of a range of points. Each range starts or ends within a block of sparse rows, a
 * panel of dense rows, or a 64-bit word of bits. */
static void ranges(void **state) {
    (void)state;
    enum { N = 9000 };
    for (int kind = ROWS_DENSE; kind <= ROWS_TEXT; kind++) { /* the last kind: 300 bits per row */
        const size_t d = kind == ROWS_TEXT ? 300 : 12;
        struct rows r = rows_make(kind == ROWS_TEXT ? ROWS_BITS : (enum rows_kind)kind, N, d, 1);
        const dn_kernel kernel = {.type = DN_KERNEL_RBF, .width = 3, .n_features = d};
        dni_points *points =
            points_of(&kernel, kind == ROWS_DENSE ? rows_dense(&r) : rows_csr(&r), NULL);
        float *row = xcalloc(N, sizeof *row), *part = xcalloc(N, sizeof *part);
        double *exact = xcalloc(N, sizeof *exact), *some = xcalloc(N, sizeof *some),
               *work = xcalloc(dni_points_work(points), sizeof *work);
        dni_points_row(points, 4500, 0, N, row, work);
        dni_points_row_exact(points, 4500, 0, N, exact, work);
        for (size_t j = 0; j < N; j++) {
            assert_value(exact[j], plain_value(&kernel, r.x + 4500 * d, r.x + j * d, d), 1, 1e-12);
        }
        for (size_t first = 0; first < N; first += 1111) {
            for (size_t n = 0; n <= N - first; n += 997) {
                dni_points_row(points, 4500, first, n, part, work);
                dni_points_row_exact(points, 4500, first, n, some, work);
                assert_memory_equal(part, row + first, n * sizeof *part);
                assert_memory_equal(some, exact + first, n * sizeof *some);
            }
        }
        dni_points_free(points);
        free(row);
        free(part);
        free(exact);
        free(some);
        free(work);
        rows_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_fails),
        cmocka_unit_test(stops),
        cmocka_unit_test(estimates_are_close),
        cmocka_unit_test(float_rule),
        cmocka_unit_test(far_from_the_centre),
        cmocka_unit_test(huge),
        cmocka_unit_test(long_and_short),
        cmocka_unit_test(no_direction),
        cmocka_unit_test(empty_points),
        cmocka_unit_test(precomputed),
        cmocka_unit_test(ranges),
    };
    return cmocka_run_group_tests_name("points_limits", tests, NULL, NULL);
}
