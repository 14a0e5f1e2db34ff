/* Prepared problems: fits that share one give the same bits as fits that do not, and its kernel
 * values are computed once. */
#include "learners/shared/prepared.h"
#include "unit/core/learners/svm/kernel/kernel_machines.h"

enum { ROWS = 200, COLUMNS = 4 };

/* The largest block that was requested, in bytes. */
struct requests {
    size_t largest;
};

static void *allocate(void *ctx, size_t size) {
    struct requests *requests = ctx;
    requests->largest = size > requests->largest ? size : requests->largest;
    return malloc(size);
}

static void release(void *ctx, void *memory) {
    (void)ctx;
    free(memory);
}

static struct fit fit_with(const dn_rows *rows, dn_params *p, double C, const dn_run *run,
                           dn_prepared **prepared) {
    const dn_fit_input input = {.rows = rows, .n_classes = 2, .params = p, .prepared = prepared};
    struct fit fit = {0};
    if (dn_params_has(p, "C")) {
        OK(dn_params_set_number(p, "C", C, NULL));
    } else {
        OK(dn_params_set_number(p, "nu", C, NULL));
    }
    OK(dn_params_check(p, NULL));
    OK(fit_input(p, &input, run, &fit, NULL));
    return fit;
}

static void assert_same(const struct fit *a, const struct fit *b) {
    const dni_kernel_machine *x = a->out.kernel, *y = b->out.kernel;
    assert_int_equal(x->n, y->n);
    assert_memory_equal(&x->w0, &y->w0, sizeof x->w0);
    assert_memory_equal(&x->norm, &y->norm, sizeof x->norm);
    assert_memory_equal(x->index, y->index, x->n * sizeof *x->index);
    assert_memory_equal(x->coef, y->coef, x->n * sizeof *x->coef);
    assert_true(a->report.objective == b->report.objective &&
                a->report.iterations == b->report.iterations);
}

static void share(const char *algorithm, const char *kernel) {
    static const double values[] = {0.5, 0.1, 0.9};
    struct problem t = clouds(ROWS, COLUMNS);
    dn_params *p = kernel_params(algorithm, kernel);
    const double *target = strcmp(algorithm, "svm") == 0 ? t.target : NULL;
    struct requests requests = {0};
    const dn_allocator allocator = {.allocate = allocate, .release = release, .ctx = &requests};
    dn_run run = dn_run_default();
    dn_prepared *prepared = NULL, *first = NULL;
    dn_rows *rows;
    run.allocator = &allocator;
    OK(dn_rows_from_matrix(dn_matrix_dense(t.x, t.n, t.d), target, NULL, &rows, NULL));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        requests.largest = 0;
        struct fit shared = fit_with(rows, p, values[i], &run, &prepared);
        /* only the first fit computes the Gram matrix */
        assert_true((requests.largest >= sizeof(double) * ROWS * ROWS) == (i == 0));
        first = i == 0 ? prepared : first;
        assert_ptr_equal(prepared, first);
        struct fit alone = fit_with(rows, p, values[i], &run, NULL);
        assert_same(&shared, &alone);
        fit_done(&shared);
        fit_done(&alone);
    }
    dn_prepared_free(prepared);
    dn_rows_free(rows);
    dn_params_free(p);
    svm_problem_done(&t);
}

static void values_of_c_share_a_gram_matrix(void **state) {
    static const char *const kernels[] = {"rbf", "polynomial", "sigmoid", "mahalanobis"};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        share("svm", kernels[i]);
    }
}

static void values_of_nu_share_a_gram_matrix(void **state) {
    (void)state;
    share("one_class_svm", "rbf");
    share("one_class_svm", "sigmoid");
}

/* Another kernel, seed, cache or other rows need another problem; the old one is freed. */
static void other_problems_are_prepared_anew(void **state) {
    (void)state;
    struct problem t = clouds(ROWS, COLUMNS), other = clouds(ROWS, COLUMNS);
    dn_params *p = kernel_params("svm", "rbf");
    dn_run run = dn_run_default();
    dn_prepared *prepared = NULL;
    for (size_t change = 0; change < 5; change++) {
        const double width = change == 1 ? 0.7 : 1.5;
        OK(dn_params_set_number(p, "kernel.width", width, NULL));
        OK(dn_params_set_number(p, "cache_mib", change == 3 ? 1 : 200, NULL));
        run.seed = change == 2 ? 5 : 1;
        const dn_rows *rows = change == 4 ? other.rows : t.rows;
        struct fit shared = fit_with(rows, p, 2, &run, &prepared);
        assert_true(prepared->key.rows == rows && prepared->key.seed == run.seed &&
                    prepared->kernel.width == width);
        struct fit alone = fit_with(rows, p, 2, &run, NULL);
        assert_same(&shared, &alone);
        fit_done(&shared);
        fit_done(&alone);
    }
    dn_prepared_free(prepared);
    dn_params_free(p);
    svm_problem_done(&t);
    svm_problem_done(&other);
}

/* The hard margin does not depend on the scale of the rows: the hulls of short rows do not count as
 * touching. */
static void scale_of_the_rows(void **state) {
    (void)state;
    static const double scales[] = {1e-8, 1, 1e8};
    struct problem t = problem_pair("iris", true, false);
    double norm = 0;
    for (size_t i = 0; i < sizeof scales / sizeof *scales && t.n > 0; i++) {
        dn_params *p = kernel_params("svm", "polynomial");
        struct fit fit = {0};
        double *x = xcalloc(t.n * t.d, sizeof *x);
        OK(dn_params_set_word(p, "C", "hard", NULL));
        OK(dn_params_set_number(p, "kernel.degree", 1, NULL));
        OK(dn_params_set_number(p, "kernel.coef0", 0, NULL));
        for (size_t k = 0; k < t.n * t.d; k++) {
            x[k] = scales[i] * t.x[k];
        }
        fit_matrix(dn_matrix_dense(x, t.n, t.d), t.target, NULL, p, &fit);
        assert_true(fit.report.converged && fit.report.n_warnings == 0);
        norm = i == 0 ? scales[i] * svm_detail(&fit.report, "norm") : norm;
        assert_near(scales[i] * svm_detail(&fit.report, "norm"), norm, 1e-3);
        fit_done(&fit);
        free(x);
        dn_params_free(p);
    }
    svm_problem_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_c_share_a_gram_matrix),
        cmocka_unit_test(values_of_nu_share_a_gram_matrix),
        cmocka_unit_test(other_problems_are_prepared_anew),
        cmocka_unit_test(scale_of_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
