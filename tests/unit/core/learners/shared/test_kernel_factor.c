/* The factor of an inverse covariance: A S A' = I, with S computed by plain loops. */
#include "unit/core/support.h"

#include "learners/shared/kernel_factor.h"

enum { N = 300, D = 4 };

static double x[N * D], weight[N];
static const dn_run plain = {.seed = 1, .n_slots = 1};

static void make(void) {
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) {
            x[i * D + j] = 1e3 * (double)j + sin(1.7 * (double)(i * (j + 2))) * (double)(j + 1) +
                           cos((double)(i * i % 97));
        }
        weight[i] = (double)(i % 4);
    }
}

static void assert_whitens(const double *a, const double *s, double tolerance) {
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j < D; j++) {
            double sum = 0;
            for (size_t k = 0; k < D; k++) {
                for (size_t l = 0; l < D; l++) {
                    sum += a[i * D + k] * s[k * D + l] * a[j * D + l];
                }
            }
            assert_true(fabs(sum - (i == j)) < tolerance);
            assert_true(j <= i || a[i * D + j] == 0);
        }
    }
}

static void estimated(void **state) {
    (void)state;
    double mean[D] = {0}, s[D * D] = {0}, total = 0, factor[D * D];
    dn_rows *rows;
    make();
    for (size_t i = 0; i < N; i++) {
        total += weight[i];
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) {
            mean[j] += weight[i] * x[i * D + j] / total;
        }
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D * D; j++) {
            s[j] += weight[i] * (x[i * D + j / D] - mean[j / D]) *
                    (x[i * D + j % D] - mean[j % D]) / total;
        }
    }
    /* Rows without targets, as for outlier detection. */
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, D), NULL, weight, &rows, NULL));
    dn_fit_input input = {.rows = rows, .n_classes = 2};
    OK(dni_kernel_factor(&input, NULL, &plain, factor, NULL));
    assert_whitens(factor, s, 1e-9);
    dn_rows_free(rows);
}

/* The covariance is in units of the raw columns. The encoded columns are (raw − mean)/scale. */
static void given(void **state) {
    (void)state;
    const double s[D * D] = {4, 1, 0, 0, 1, 9, 2, 0, 0, 2, 5, 1, 0, 0, 1, 3},
                       scale[D] = {2, 10, 0.5, 1};
    double factor[D * D], encoded[D * D];
    dn_rows *rows;
    dn_fit_input input = {.n_classes = 2, .scale = scale};
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, D), NULL, NULL, &rows, NULL));
    input.rows = rows;
    for (size_t j = 0; j < D * D; j++) {
        encoded[j] = s[j] / scale[j / D] / scale[j % D];
    }
    OK(dni_kernel_factor(&input, s, &plain, factor, NULL));
    assert_whitens(factor, encoded, 1e-12);
    input.scale = NULL;
    OK(dni_kernel_factor(&input, s, &plain, factor, NULL));
    assert_whitens(factor, s, 1e-12);
    dn_rows_free(rows);
}

static void refuse(const double *covariance, const char *words) {
    double factor[D * D];
    dn_rows *rows;
    dn_error err = {0};
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, D), NULL, NULL, &rows, NULL));
    dn_fit_input input = {.rows = rows, .n_classes = 2};
    assert_int_equal(dni_kernel_factor(&input, covariance, &plain, factor, &err), DN_ERR_DATA);
    if (strstr(err.message, words) == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", err.message, words);
    }
    dn_rows_free(rows);
}

static void singular(void **state) {
    (void)state;
    double s[D * D] = {0};
    make();
    for (size_t i = 0; i < N; i++) {
        x[i * D + 3] = 2 * x[i * D] - x[i * D + 2];
    }
    refuse(NULL, "the covariance of the training rows is singular, of rank 3 instead of 4, "
                 "because 3 columns are linear combinations of others "
                 "(\"#0\", \"#2\", \"#3\"): exclude some, or give a covariance");
    for (size_t j = 0; j < D * D; j++) {
        s[j] = 1;
    }
    refuse(s, "the covariance that was given is singular, of rank 1 instead of 4");
    memset(x, 0, sizeof x);
    refuse(NULL, "every column is constant");
}

/* The factor is 0 in the row and the column of a constant column. */
static void constant(void **state) {
    (void)state;
    double factor[D * D];
    dn_rows *rows;
    make();
    for (size_t i = 0; i < N; i++) {
        x[i * D + 1] = 7;
    }
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, D), NULL, NULL, &rows, NULL));
    dn_fit_input input = {.rows = rows, .n_classes = 2};
    OK(dni_kernel_factor(&input, NULL, &plain, factor, NULL));
    for (size_t i = 0; i < D; i++) {
        assert_true(factor[i * D + 1] == 0 && isfinite(factor[i * D]));
    }
    assert_true(factor[0] > 0);
    dn_rows_free(rows);
}

static void fails(void **state) {
    (void)state;
    double factor[D * D];
    dn_rows *rows;
    dn_status status = DN_ERR_BUDGET;
    size_t k = 0;
    make();
    OK(dn_rows_from_matrix(dn_matrix_dense(x, N, D), NULL, NULL, &rows, NULL));
    dn_fit_input input = {.rows = rows, .n_classes = 2};
    for (; status != DN_OK; k++) {
        struct memory memory = {.fail_at = k + 1, .left = SIZE_MAX};
        dn_allocator allocator = memory_allocator(&memory, true);
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        status = dni_kernel_factor(&input, NULL, &run, factor, NULL);
        assert_true(status == DN_OK || status == DN_ERR_BUDGET);
        assert_int_equal(memory.live, 0);
    }
    assert_true(k > 3);
    struct polls polls = {.stop_at = 2};
    dn_run run = polls_run(&polls);
    assert_int_equal(dni_kernel_factor(&input, NULL, &run, factor, NULL), DN_ERR_STOPPED);
    dn_rows_free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimated), cmocka_unit_test(given), cmocka_unit_test(singular),
        cmocka_unit_test(constant),  cmocka_unit_test(fails),
    };
    return cmocka_run_group_tests_name("kernel_factor", tests, NULL, NULL);
}
