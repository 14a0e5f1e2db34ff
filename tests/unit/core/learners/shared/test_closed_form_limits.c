/* Fisher's discriminant and naive Bayes: defaults, exact limits, and warnings that must not
 * appear. */
#include "unit/core/learners/logistic/logistics.h"

static dn_params *params_named(const char *method) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(method), &p, NULL));
    return p;
}

static struct fit fit_dense(const double *x, const double *y, size_t n, size_t d, size_t K,
                            const dn_params *p) {
    const dn_run run = dn_run_default();
    struct fit fit;
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, n, d), y, NULL, &rows, NULL));
    OK(fit_rows(rows, K, p, &run, &fit, NULL));
    dn_rows_free(rows);
    return fit;
}

static void defaults_of_naive_bayes(void **state) {
    (void)state;
    dn_params *p = params_named("naive_bayes");
    assert_true(dn_params_number(p, "smoothing") == 1);
    assert_true(dn_params_number(p, "variance_floor") == 1e-9);
    assert_string_equal(dn_params_word(p, "numeric"), "gaussian");
    assert_string_equal(dn_params_word(p, "priors"), "estimated");
    dn_params_free(p);
}

static void defaults_of_gaussian_and_fisher(void **state) {
    (void)state;
    dn_params *gaussian = params_named("gaussian"), *fisher = params_named("fisher");
    assert_string_equal(dn_params_word(gaussian, "covariance"), "shared");
    assert_string_equal(dn_params_word(gaussian, "divisor"), "ml");
    assert_string_equal(dn_params_word(gaussian, "shrinkage"), "if_singular");
    assert_string_equal(dn_params_word(gaussian, "priors"), "estimated");
    assert_string_equal(dn_params_word(fisher, "threshold"), "min_error");
    assert_string_equal(dn_params_word(fisher, "components"), "auto");
    assert_string_equal(dn_params_word(fisher, "shrinkage"), "if_singular");
    dn_params_free(gaussian);
    dn_params_free(fisher);
}

/* Column 0 has variance 1 in each class and 2 over all rows; the floor is a share of 2. */
static void a_variance_equal_to_the_floor_is_not_reported_as_raised(void **state) {
    (void)state;
    const double x[] = {-2, 0, 0, 2}, y[] = {0, 0, 1, 1};
    dn_params *p = params_named("naive_bayes");
    OK(dn_params_set_number(p, "variance_floor", 0.5, NULL));
    struct fit equal = fit_dense(x, y, 4, 1, 2, p);
    assert_int_equal(equal.report.n_warnings, 0);
    fit_done(&equal);
    OK(dn_params_set_number(p, "variance_floor", 0.5000001, NULL));
    struct fit above = fit_dense(x, y, 4, 1, 2, p);
    assert_true(logistic_warned(&above.report, "below variance_floor"));
    fit_done(&above);
    dn_params_free(p);
}

static const double three_classes[] = {0, 0, 1, 1, 0, 2, 9, 1, 8, 2, 9, 3, 3, 9, 4, 8, 2, 8},
                    three_targets[] = {0, 0, 0, 1, 1, 1, 2, 2, 2};

static void as_many_components_as_directions_give_no_warning(void **state) {
    (void)state;
    dn_params *p = params_named("fisher");
    OK(dn_params_set_number(p, "components", 2, NULL));
    struct fit fit = fit_dense(three_classes, three_targets, 9, 2, 3, p);
    assert_int_equal(fit.report.n_warnings, 0);
    fit_done(&fit);
    OK(dn_params_set_number(p, "components", 3, NULL));
    fit = fit_dense(three_classes, three_targets, 9, 2, 3, p);
    assert_true(logistic_warned(&fit.report, "components is 3, but there are only 2 directions"));
    fit_done(&fit);
    dn_params_free(p);
}

/* Two columns, one of which is constant within the classes and separates them: its variance is
 * raised with a warning, or with a given shrinkage it is an error. Both name the column. */
static void a_column_that_separates_the_classes_is_named_beside_one_that_varies(void **state) {
    (void)state;
    const double x[] = {0, 1, 0, 2, 5, 4, 5, 6}, y[] = {0, 0, 1, 1};
    const dn_run run = dn_run_default();
    dn_params *p = params_named("fisher");
    dn_error err = {0};
    struct fit fit;
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 4, 2), y, NULL, &rows, NULL));
    OK(fit_rows(rows, 2, p, &run, &fit, NULL));
    assert_int_equal(fit.report.warnings[0].code, DN_WARNING_VARIANCE_FLOOR);
    assert_non_null(strstr(fit.report.warnings[0].text, "(\"#0\")"));
    for (size_t i = 0; i < 4; i++) {
        const double g = fit.out.w[0] * x[2 * i] + fit.out.w[1] * x[2 * i + 1] + fit.out.w0[0];
        assert_true((g > 0) == (y[i] > 0));
    }
    fit_done(&fit);
    OK(dn_params_set_number(p, "shrinkage", 0, NULL));
    assert_int_equal(fit_rows(rows, 2, p, &run, &fit, &err), DN_ERR_DATA);
    assert_non_null(strstr(err.message, "(\"#0\")"));
    dn_rows_free(rows);
    dn_params_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_of_naive_bayes),
        cmocka_unit_test(defaults_of_gaussian_and_fisher),
        cmocka_unit_test(a_variance_equal_to_the_floor_is_not_reported_as_raised),
        cmocka_unit_test(as_many_components_as_directions_give_no_warning),
        cmocka_unit_test(a_column_that_separates_the_classes_is_named_beside_one_that_varies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
