/* Compares every kernel of rows of every kind with plain formulas, and checks which values must be
 * equal bit for bit. */
#include "unit/core/kernels/plain.h"

enum { N = 137 };

static double largest(const dn_kernel *kernel, const struct rows *r) {
    double most = 0;
    for (size_t i = 0; i < r->n; i++) {
        most = fmax(most, fabs(plain_value(kernel, r->x + i * r->d, r->x + i * r->d, r->d)));
    }
    return most;
}

/* Checks rows, pairs and K(x, x) of the points. */
static void check_points(const dn_kernel *kernel, const struct rows *r, const dni_points *points) {
    double *exact = xcalloc(r->n, sizeof *exact),
           *work = xcalloc(dni_points_work(points), sizeof *work), size = largest(kernel, r);
    float *row = xcalloc(r->n, sizeof *row);
    assert_int_equal(dni_points_n(points), r->n);
    for (size_t i = 0; i < r->n; i++) {
        const double *x = r->x + i * r->d;
        dni_points_row_exact(points, i, 0, r->n, exact, work);
        dni_points_row(points, i, 0, r->n, row, work);
        assert_value(dni_points_self(points, i), plain_value(kernel, x, x, r->d), size, 1e-12);
        assert_true(dni_points_self(points, i) == exact[i] &&
                    (float)dni_points_self(points, i) == row[i]);
        for (size_t j = 0; j < r->n; j++) {
            double expected = plain_value(kernel, x, r->x + j * r->d, r->d);
            assert_value(exact[j], expected, size, 1e-12);
            assert_value((double)row[j], expected, size, 1e-6);
        }
    }
    free(exact);
    free(work);
    free(row);
}

static void check_symmetry(const dni_points *points) {
    size_t n = dni_points_n(points);
    double *exact = xcalloc(n * n, sizeof *exact), *exact_gram = xcalloc(n * n, sizeof *exact),
           *work = xcalloc(dni_points_work(points), sizeof *work);
    float *rows = xcalloc(n * n, sizeof *rows), *gram = xcalloc(n * n, sizeof *gram), part[64];
    for (size_t i = 0; i < n; i++) {
        dni_points_row_exact(points, i, 0, n, exact + i * n, work);
        dni_points_row(points, i, 0, n, rows + i * n, work);
        dni_points_row(points, i, 37, 64, part, work);
        assert_memory_equal(part, rows + i * n + 37, sizeof part);
    }
    OK(dni_points_gram(points, NULL, gram, NULL, NULL));
    assert_memory_equal(gram, rows, n * n * sizeof *gram);
    OK(dni_points_gram(points, NULL, NULL, exact_gram, NULL));
    assert_memory_equal(exact_gram, exact, n * n * sizeof *exact);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_true(exact[i * n + j] == exact[j * n + i] && rows[i * n + j] == rows[j * n + i]);
        }
    }
    free(exact);
    free(exact_gram);
    free(work);
    free(rows);
    free(gram);
}

/* Checks that a selection of the points in another order has the same values. */
static void check_select(const dni_points *points) {
    uint32_t list[51];
    float row[N], some[51];
    dni_points *selected, *again;
    size_t n = sizeof list / sizeof list[0];
    double *work = xcalloc(dni_points_work(points), sizeof *work),
           *exact = xcalloc(N, sizeof *exact), *less = xcalloc(n, sizeof *less);
    for (size_t k = 0; k < n; k++) {
        list[k] = (uint32_t)((k * 47 + 3) % N);
    }
    OK(dni_points_select(points, list, n, NULL, &selected, NULL));
    assert_int_equal(dni_points_n(selected), n);
    for (size_t k = 0; k < n; k++) {
        dni_points_row(points, list[k], 0, N, row, work);
        dni_points_row(selected, k, 0, n, some, work);
        dni_points_row_exact(points, list[k], 0, N, exact, work);
        dni_points_row_exact(selected, k, 0, n, less, work);
        assert_true(dni_points_self(selected, k) == dni_points_self(points, list[k]));
        for (size_t j = 0; j < n; j++) {
            assert_true(some[j] == row[list[j]] && less[j] == exact[list[j]]);
        }
    }
    uint32_t few[3] = {5, 0, 17};
    OK(dni_points_select(selected, few, 3, NULL, &again, NULL));
    dni_points_row_exact(again, 0, 2, 1, less, work);
    dni_points_row_exact(points, list[5], list[17], 1, exact, work);
    assert_true(less[0] == exact[0]);
    dni_points_free(again);
    dni_points_free(selected);
    free(work);
    free(exact);
    free(less);
}

static void check_sums(const dni_points *points, double size) {
    enum { SUMS = 3 };
    size_t n = dni_points_n(points);
    double *values = xcalloc(n, sizeof *values),
           *work = xcalloc(dni_points_work(points), sizeof *work);
    uint32_t list[40];
    double *coef = xcalloc(n * SUMS, sizeof *coef), *sums = xcalloc(n * SUMS, sizeof *sums),
           *threads = xcalloc(n * SUMS, sizeof *threads);
    dn_run run = dn_run_default();
    run.sum = sum_in_ranges;
    run.each = each_in_reverse;
    run.n_slots = 3;
    for (size_t k = 0; k < n * SUMS; k++) {
        coef[k] = sin((double)k);
    }
    for (size_t k = 0; k < 40; k++) {
        list[k] = (uint32_t)(3 * k + 1);
    }
    for (int all = 0; all < 2; all++) {
        OK(dni_points_sums(points, all ? NULL : list, 40, coef, SUMS, NULL, sums, NULL));
        OK(dni_points_sums(points, all ? NULL : list, 40, coef, SUMS, &run, threads, NULL));
        assert_memory_equal(sums, threads, n * SUMS * sizeof *sums);
        for (size_t i = 0; i < n; i++) {
            dni_points_row_exact(points, i, 0, n, values, work);
            for (size_t s = 0; s < SUMS; s++) {
                double expected = 0;
                for (size_t k = 0; k < (all ? n : 40); k++) {
                    size_t j = all ? k : list[k];
                    expected += values[j] * coef[j * SUMS + s];
                }
                assert_value(sums[i * SUMS + s], expected, size * (double)n, 1e-13);
            }
        }
    }
    free(values);
    free(work);
    free(coef);
    free(sums);
    free(threads);
}

/* Checks that queries in double and in single precision give the plain values, and that the values
 * of a query do not depend on the other queries of the call. */
static void check_queries(const dn_kernel *kernel, const struct rows *r, const dni_points *points,
                          const struct rows *q, double tolerance) {
    size_t n = r->n;
    double *k = xcalloc(DNI_POINTS_QUERIES * n, sizeof *k), *one = xcalloc(n, sizeof *one),
           size = fmax(largest(kernel, r), largest(kernel, q));
    double *work = xcalloc(dni_points_query_work(points), sizeof *work);
    for (size_t first = 0; first < q->n; first += DNI_POINTS_QUERIES) {
        size_t tile = q->n - first < DNI_POINTS_QUERIES ? q->n - first : DNI_POINTS_QUERIES;
        OK(dni_points_query(points, dn_matrix_rows(rows_dense(q), first, tile), true, NULL, k, work,
                            NULL));
        for (size_t t = 0; t < tile; t++) {
            for (size_t j = 0; j < n; j++) {
                assert_value(k[t * n + j],
                             plain_value(kernel, q->x + (first + t) * q->d, r->x + j * r->d, r->d),
                             size, tolerance);
            }
            OK(dni_points_query(points, dn_matrix_rows(rows_csr(q), first + t, 1), true, NULL, one,
                                work, NULL));
            assert_memory_equal(one, k + t * n, n * sizeof *one);
            OK(dni_points_query(points, dn_matrix_rows(rows_dense(q), first + t, 1), true, NULL,
                                one, work, NULL));
            assert_memory_equal(one, k + t * n, n * sizeof *one);
        }
    }
    free(k);
    free(one);
    free(work);
}

static void check(enum rows_kind kind, bool sparse, size_t d) {
    struct rows r = rows_make(kind, N, d, 5);
    double *factor = xcalloc(d * d, sizeof *factor);
    for (size_t k = 0; k < PLAIN_KERNELS; k++) {
        dn_kernel kernel = plain_kernel(k, d, factor);
        dni_points *points = points_of(&kernel, sparse ? rows_csr(&r) : rows_dense(&r), NULL);
        check_points(&kernel, &r, points);
        check_symmetry(points);
        check_select(points);
        check_sums(points, largest(&kernel, &r));
        for (int queries = ROWS_DENSE; queries <= ROWS_BITS; queries++) {
            struct rows q = rows_make((enum rows_kind)queries, 19, d, 7);
            check_queries(&kernel, &r, points, &q, 1e-6);
            rows_free(&q);
        }
        dni_points_free(points);
    }
    free(factor);
    rows_free(&r);
}

static void dense(void **state) {
    (void)state;
    check(ROWS_DENSE, false, PLAIN_COLS);
    check(ROWS_DENSE, false, 1);
    check(ROWS_SPARSE, false, 7);
}

/* Points that are 0 in columns in which the queries are not 0. */
static void margins(void **state) {
    (void)state;
    check(ROWS_MARGINS, false, PLAIN_COLS);
    check(ROWS_MARGINS, false, 6);
    check(ROWS_MARGINS, false, 301);
}

static void sparse(void **state) {
    (void)state;
    check(ROWS_SPARSE, true, PLAIN_COLS);
    check(ROWS_DENSE, true, 5);
}

static void bits(void **state) {
    (void)state;
    check(ROWS_BITS, true, PLAIN_COLS);
    check(ROWS_BITS, false, 64);
    check(ROWS_BITS, true, 131);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense),
        cmocka_unit_test(margins),
        cmocka_unit_test(sparse),
        cmocka_unit_test(bits),
    };
    return cmocka_run_group_tests_name("points", tests, NULL, NULL);
}
