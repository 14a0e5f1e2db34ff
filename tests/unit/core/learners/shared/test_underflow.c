/* Columns whose deviations have squares below the numbers: refused by name, never taken for
 * constant columns. */
#include "unit/core/support.h"

static const char *const methods[] = {"fisher", "gaussian", "naive_bayes", "least_squares",
                                      "logistic"};

/* Iris times `factor`, column 2 times another factor, in CSR form if sparse. */
static dn_status fit_scaled(const char *method, double factor, double second, bool sparse,
                            dn_error *err) {
    struct csv *t = csv_named("iris");
    double *x = xcalloc(t->n * t->d, sizeof *x);
    uint32_t *cols = xcalloc(t->n * t->d, sizeof *cols);
    size_t *start = xcalloc(t->n + 1, sizeof *start);
    dn_params *p;
    dn_rows *rows;
    struct fit fit = {0};
    const dn_run run = dn_run_default();
    for (size_t i = 0; i < t->n * t->d; i++) {
        x[i] = t->x[i] * (i % t->d == 2 ? second : factor);
        cols[i] = (uint32_t)(i % t->d);
    }
    for (size_t i = 0; i <= t->n; i++) {
        start[i] = i * t->d;
    }
    dn_matrix matrix = dn_matrix_dense(x, t->n, t->d);
    if (sparse) {
        matrix = (dn_matrix){.kind = DN_CSR,
                             .n_rows = t->n,
                             .n_cols = t->d,
                             .values = x,
                             .cols = cols,
                             .row_start = start};
    }
    OK(dn_params_new(dn_algorithm_find(method), &p, NULL));
    OK(dn_rows_from_matrix(matrix, t->target, NULL, &rows, NULL));
    const dn_status status = fit_rows(rows, 3, p, &run, &fit, err);
    fit_done(&fit);
    dn_rows_free(rows);
    dn_params_free(p);
    free(x), free(cols), free(start);
    csv_free(t);
    return status;
}

static void squares_that_underflow(void **state) {
    (void)state;
    static const double small[] = {1e-300, 1e-200, 1e-160, 1e-145};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
            for (int sparse = 0; sparse < 2; sparse++) {
                dn_error err = {0};
                assert_int_equal(fit_scaled(methods[m], small[i], small[i], sparse, &err),
                                 DN_ERR_NUMERIC);
                assert_non_null(strstr(err.message, "squares of their differences underflow"));
                /* one such column is enough, and is named */
                err = (dn_error){0};
                assert_int_equal(fit_scaled(methods[m], 1, small[i], sparse, &err), DN_ERR_NUMERIC);
                assert_non_null(strstr(err.message, "feature \"#2\""));
            }
        }
    }
}

/* Small numbers with squares that are numbers are fitted; so are constant columns. */
static void squares_that_do_not_underflow(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        dn_error err = {0};
        if (strcmp(methods[m], "logistic") != 0) { /* a penalty depends on the units */
            assert_int_equal(fit_scaled(methods[m], 1e-100, 1e-100, false, &err), DN_OK);
        }
        if (strcmp(methods[m], "naive_bayes") != 0) { /* a constant column: variance 0 */
            assert_int_equal(fit_scaled(methods[m], 1, 0, false, &err), DN_OK);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(squares_that_underflow),
                                       cmocka_unit_test(squares_that_do_not_underflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
