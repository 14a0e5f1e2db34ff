/* Limits of kernel machines: the largest number of rows, the bounds and the defaults of the
 * parameters, rows of tiny numbers, and warnings that a good fit does not have. */
#include "learners/shared/smo/svm_points.h"
#include "unit/core/learners/svm/kernel/kernel_machines.h"

/* Counts the refused requests. */
static void *refuse_memory(void *ctx, size_t size) {
    (void)size;
    ++*(size_t *)ctx;
    return NULL;
}

static void release_none(void *ctx, void *memory) {
    (void)ctx;
    assert_null(memory);
}

/* At most 2^31 − 1 rows are accepted. If there are more, no memory is requested. */
static void largest_number_of_rows(void **state) {
    (void)state;
    size_t n_refused = 0;
    const dn_allocator allocator = {.allocate = refuse_memory,
                                    .release = release_none,
                                    .ctx = &n_refused,
                                    .budgeted = true};
    dn_run run = dn_run_default();
    run.allocator = &allocator;
    dn_rows rows = {.n_rows = INT32_MAX};
    const dn_fit_input input = {.rows = &rows, .n_classes = 2};
    dni_svm_points points;
    dn_error err = {0};
    assert_int_equal(dni_svm_points_gather(&input, true, &run, &points, &err), DN_ERR_BUDGET);
    assert_int_equal(n_refused, 1);
    rows.n_rows++;
    dn_error_clear(&err);
    assert_int_equal(dni_svm_points_gather(&input, true, &run, &points, &err), DN_ERR_DATA);
    assert_string_equal(err.message,
                        "a method with a kernel accepts at most 2147483647 rows (got 2147483648)");
    assert_int_equal(n_refused, 1);
}

/* The smallest and the largest number that a parameter accepts. */
struct bounds {
    const char *algorithm, *kernel, *name;
    double least, most;
    /* largest refused number below `least`, smallest refused number above `most`; NaN: none */
    double below, above;
};

static dn_status try_number(const struct bounds *b, double value) {
    dn_params *p = kernel_params(b->algorithm, b->kernel);
    dn_status status = dn_params_set_number(p, b->name, value, NULL);
    if (status == DN_OK) {
        status = dn_params_check(p, NULL);
    }
    dn_params_free(p);
    return status;
}

static void bounds_of_parameters(void **state) {
    (void)state;
    static const struct bounds all[] = {
        {"svm", "polynomial", "kernel.degree", 1, 100, 0, 101},
        {"svm", "shared_paths", "kernel.length", 1, 8, 0, 9},
        {"svm", "rbf", "cache_mib", 1, 1048576, 0.999, 1048577},
        {"svm", "rbf", "kernel.width", 1e-300, 1e300, 0, (double)INFINITY},
        {"svm", "rbf", "C", 1e-300, 1e300, 0, (double)INFINITY},
        {"svm", "rbf", "tolerance", 1e-300, 1, 0, 1.001},
        {"svm", "polynomial", "kernel.gamma", 1e-300, 1e300, 0, (double)INFINITY},
        {"svm", "sigmoid", "kernel.coef0", -1e300, 1e300, -(double)INFINITY, (double)INFINITY},
        {"one_class_svm", "rbf", "nu", 1e-9, 1, 0.999e-9, 1.001},
        {"one_class_svm", "rbf", "tolerance", 1e-300, 1, 0, 1.001},
        {"one_class_svm", "rbf", "cache_mib", 1, 1048576, 0.999, 1048577},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct bounds *b = &all[i];
        if (try_number(b, b->least) != DN_OK || try_number(b, b->most) != DN_OK ||
            try_number(b, b->below) != DN_ERR_ARGUMENT ||
            try_number(b, b->above) != DN_ERR_ARGUMENT) {
            fail_msg("%s %s: the bounds are not %g and %g", b->algorithm, b->name, b->least,
                     b->most);
        }
    }
}

static void defaults(void **state) {
    (void)state;
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("svm"), &p, NULL));
    assert_true(dn_params_number(p, "C") == 1 && dn_params_number(p, "cache_mib") == 512);
    assert_true(dn_params_number(p, "kernel.degree") == 2 &&
                dn_params_number(p, "kernel.length") == 3);
    assert_string_equal(dn_params_word(p, "kernel"), "linear");
    assert_string_equal(dn_params_word(p, "kernel.width"), "auto");
    assert_string_equal(dn_params_word(p, "kernel.metric"), "euclidean");
    assert_string_equal(dn_params_word(p, "kernel.covariance"), "estimated");
    assert_false(dn_params_boolean(p, "kernel.normalize"));
    assert_string_equal(dn_params_word(p, "intercept"), "free");
    assert_string_equal(dn_params_word(p, "loss"), "hinge");
    dn_params_free(p);
    OK(dn_params_new(dn_algorithm_find("one_class_svm"), &p, NULL));
    assert_true(dn_params_number(p, "nu") == 0.1 && dn_params_number(p, "tolerance") == 1e-4);
    assert_string_equal(dn_params_word(p, "kernel"), "rbf");
    OK(dn_params_resolve(p, 1000, 3, 2, NULL));
    assert_true(dn_params_number(p, "max_iterations") == 10000);
    dn_params_free(p);
    /* 100 steps for each row are more than 10 million from 100,001 rows on */
    OK(dn_params_new(dn_algorithm_find("one_class_svm"), &p, NULL));
    OK(dn_params_resolve(p, 100001, 3, 2, NULL));
    assert_true(dn_params_number(p, "max_iterations") == 10001);
    dn_params_free(p);
}

/* Rows multiplied by 1e-8: K(x, x) is about 1e-16. The convex hulls of the classes are separate at
 * this scale. The machine has the same w0 and 1e8 times the norm, within the tolerance. */
static void hard_margin_of_tiny_rows(void **state) {
    (void)state;
    struct problem p = problem_pair("iris", true, false);
    dn_params *params = kernel_params("svm", "polynomial");
    OK(dn_params_set_number(params, "kernel.degree", 1, NULL));
    OK(dn_params_set_number(params, "kernel.coef0", 0, NULL));
    OK(dn_params_set_word(params, "C", "hard", NULL));
    struct fit plain = {0}, tiny = {0};
    fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, params, &plain);
    for (size_t k = 0; k < p.n * p.d; k++) {
        p.x[k] *= 0x1p-27;
    }
    fit_matrix(dn_matrix_dense(p.x, p.n, p.d), p.target, NULL, params, &tiny);
    assert_true(plain.report.converged && tiny.report.converged);
    assert_int_equal(tiny.report.n_warnings, 0);
    assert_near(tiny.out.kernel->norm * 0x1p-27 / plain.out.kernel->norm, 1, 1e-3);
    assert_near(tiny.out.kernel->w0, plain.out.kernel->w0, 1e-3);
    fit_done(&plain);
    fit_done(&tiny);
    dn_params_free(params);
    svm_problem_done(&p);
}

/* Kernels that fit the rows: no warning. */
static void good_fits_have_no_warnings(void **state) {
    (void)state;
    static const char *const kernels[] = {"rbf", "polynomial", "mahalanobis", "distance"};
    struct problem p = clouds(150, 3);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        for (size_t one_class = 0; one_class < 2; one_class++) {
            dn_params *params = kernel_params(one_class ? "one_class_svm" : "svm", kernels[k]);
            struct fit fit = {0};
            fit_matrix(dn_matrix_dense(p.x, p.n, p.d), one_class ? NULL : p.target, NULL, params,
                       &fit);
            if (fit.report.n_warnings > 0 || !fit.report.converged) {
                fail_msg("%s, kernel %s: %s", params->algorithm->id, kernels[k],
                         fit.report.n_warnings > 0 ? fit.report.warnings[0].text : "not converged");
            }
            fit_done(&fit);
            dn_params_free(params);
        }
    }
    svm_problem_done(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_number_of_rows),
        cmocka_unit_test(bounds_of_parameters),
        cmocka_unit_test(defaults),
        cmocka_unit_test(hard_margin_of_tiny_rows),
        cmocka_unit_test(good_fits_have_no_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
