/* Prepared problems: fits that share one give the same bits as fits that do not, and its kernel
 * values are computed once. */
#include "learners/shared/prepared.h"
#include "learners/shared/prepared_scores.h"
#include "linalg/tile.h"
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

/* The same up to the tolerance of the solver: an SVM starts from the last dual variables. */
static void assert_near_same(const struct fit *a, const struct fit *b) {
    const dni_kernel_machine *x = a->out.kernel, *y = b->out.kernel;
    assert_int_equal(x->n, y->n);
    assert_memory_equal(x->index, y->index, x->n * sizeof *x->index);
    assert_near(x->w0, y->w0, 1e-7);
    assert_close(x->coef, y->coef, x->n, 1e-7);
    assert_near(a->report.objective, b->report.objective, 1e-9);
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
        if (strcmp(algorithm, "svm") == 0 && prepared->definite) {
            assert_near_same(&shared, &alone);
        } else {
            assert_same(&shared, &alone);
        }
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

/* The kept scores of held-out rows are those of the machine; `computed` receives whether there are
 * any. */
static void check_scores(dn_prepared *prepared, const struct fit *fit, const dn_rows *rows,
                         const dn_run *run, bool *computed) {
    dn_machine *machine = &fit->out.kernel->base;
    double *scores, *expected = xcalloc(ROWS, sizeof *expected),
                    *work = xcalloc(dni_machines_work(&machine, 1, 1), sizeof *work);
    dn_block block;
    OK(dni_prepared_scores(prepared, rows, &machine, 1, run, &scores, NULL));
    *computed = scores != NULL;
    if (scores != NULL) {
        OK(dn_rows_block(rows, 0, 0, &block, NULL));
        for (size_t first = 0; first < ROWS; first += DNI_TILE_ROWS) {
            const size_t n = ROWS - first < DNI_TILE_ROWS ? ROWS - first : DNI_TILE_ROWS;
            OK(dni_machines_score(&machine, 1, dn_matrix_rows(block.x, first, n), NULL, 0,
                                  expected + first, work, NULL));
        }
        assert_close(scores, expected, ROWS, 1e-10);
    }
    dn_run_free(run, scores);
    free(expected);
    free(work);
}

static void held_out_rows_share_kernel_values(void **state) {
    (void)state;
    static const double widths[] = {1.5, 1.5, 0.7};
    struct problem t = clouds(ROWS, COLUMNS), other = clouds(ROWS, COLUMNS);
    dn_params *p = kernel_params("svm", "rbf");
    const dn_run run = dn_run_default();
    dn_prepared *prepared = NULL;
    const double *values = NULL;
    bool computed;
    for (size_t i = 0; i < 3; i++) {
        OK(dn_params_set_number(p, "kernel.width", widths[i], NULL));
        struct fit fit = fit_with(t.rows, p, 2 + (double)i, &run, &prepared);
        assert_true((prepared->held.values == NULL) == (i != 1)); /* of the same problem */
        check_scores(prepared, &fit, other.rows, &run, &computed);
        assert_true(computed && (i != 1 || prepared->held.values == values));
        values = prepared->held.values;
        if (i == 2) {
            prepared->key.cache_bytes = 1; /* the values of other rows do not fit */
            check_scores(prepared, &fit, t.rows, &run, &computed);
            assert_false(computed);
        }
        fit_done(&fit);
    }
    dn_prepared_free(prepared);
    dn_params_free(p);
    svm_problem_done(&t);
    svm_problem_done(&other);
}

/* Without memory for the scores, or after they were dropped, the machines score the rows. */
static void scores_may_be_refused(void **state) {
    (void)state;
    struct problem t = clouds(ROWS, COLUMNS), other = clouds(ROWS, COLUMNS);
    dn_params *p = kernel_params("svm", "rbf");
    const dn_run run = dn_run_default();
    dn_prepared *prepared = NULL;
    bool computed;
    struct fit fit = fit_with(t.rows, p, 2, &run, &prepared);
    assert_false(dni_prepared_drop_scores(NULL));
    assert_false(dni_prepared_drop_scores(prepared));
    check_scores(prepared, &fit, other.rows, &run, &computed);
    assert_true(computed);
    for (size_t k = 1; k <= 3; k++) {
        struct memory memory = {.fail_at = k, .left = SIZE_MAX};
        const dn_allocator allocator = memory_allocator(&memory, k == 2);
        dn_run little = dn_run_default();
        little.allocator = &allocator;
        check_scores(prepared, &fit, other.rows, &little, &computed);
        assert_int_equal(computed, k == 3);
        assert_int_equal(memory.live, 0);
    }
    assert_true(dni_prepared_drop_scores(prepared));
    assert_false(dni_prepared_drop_scores(prepared));
    check_scores(prepared, &fit, other.rows, &run, &computed);
    assert_false(computed);
    fit_done(&fit);
    dn_prepared_free(prepared);
    dn_params_free(p);
    svm_problem_done(&t);
    svm_problem_done(&other);
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

/* Returns the width that a fit with kernel rbf and width "auto" uses. */
static double auto_width(dn_matrix x, const double *weight, dn_rules rules) {
    dn_params *p = kernel_params("svm", "rbf");
    const dn_run run = dn_run_default();
    dni_prepared *prepared;
    dn_rows *rows;
    OK(dn_rows_from_matrix(x, NULL, weight, &rows, NULL));
    OK(dn_params_set_word(p, "kernel.width", "auto", NULL));
    p->rules = rules;
    const dn_fit_input input = {.rows = rows, .n_classes = 2, .params = p};
    OK(dni_prepared_get(&input, 1e6, &run, &prepared, NULL));
    const double width = prepared->kernel.width;
    dni_prepared_release(prepared);
    dn_rows_free(rows);
    dn_params_free(p);
    return width;
}

/* The variances have the divisor 4: 1.25, 0, 0 of the first table and 1.25, 0, 32 of the second. */
static void width_is_the_root_of_half_the_sum_of_the_variances(void **state) {
    (void)state;
    double x[] = {1, 7, -3, 2, 7, -3, 3, 7, -3, 4, 7, -3}, one[] = {1, -1}, same[] = {5, 5, 5, 5};
    assert_near(auto_width(dn_matrix_dense(x, 4, 3), NULL, DN_RULES_CURRENT), sqrt(1.25 / 2),
                1e-14);
    for (size_t i = 0; i < 4; i++) {
        x[3 * i + 2] = i % 2 == 0 ? 0 : sqrt(128.0);
    }
    assert_near(auto_width(dn_matrix_dense(x, 4, 3), NULL, DN_RULES_CURRENT), sqrt((1.25 + 32) / 2),
                1e-14);
    assert_near(auto_width(dn_matrix_dense(one, 2, 1), NULL, DN_RULES_CURRENT), sqrt(0.5), 1e-14);
    assert_near(auto_width(dn_matrix_dense(same, 4, 1), NULL, DN_RULES_CURRENT), 1, 0);
}

/* A row of weight 3 counts as three rows; the scale of the weights has no effect. */
static void width_honours_weights(void **state) {
    (void)state;
    double x[] = {0, 4, 9}, weight[] = {3, 1, 0}, scaled[] = {0.75, 0.25, 0};
    assert_near(auto_width(dn_matrix_dense(x, 3, 1), weight, DN_RULES_CURRENT), sqrt(3.0 / 2),
                1e-14); /* the variance of 0, 0, 0, 4 is 3 */
    assert_near(auto_width(dn_matrix_dense(x, 3, 1), scaled, DN_RULES_CURRENT), sqrt(3.0 / 2),
                1e-14);
}

/* The rows (0, 3), (2, 0), (0, 0), (2, 5): the variances are 1 and 4.5. */
static void width_of_sparse_rows(void **state) {
    (void)state;
    double value[] = {3, 2, 2, 5}, dense[] = {0, 3, 2, 0, 0, 0, 2, 5};
    const uint32_t column[] = {1, 0, 0, 1};
    const size_t start[] = {0, 1, 2, 2, 4};
    const dn_matrix sparse = dn_matrix_csr(start, column, value, 4, 2);
    assert_near(auto_width(sparse, NULL, DN_RULES_CURRENT), sqrt((1 + 4.5) / 2), 1e-14);
    assert_near(auto_width(dn_matrix_dense(dense, 4, 2), NULL, DN_RULES_CURRENT),
                sqrt((1 + 4.5) / 2), 1e-14);
}

/* The distances between 0, 1, 5 are 1, 4, 5. */
static void first_rules_take_the_median_distance(void **state) {
    (void)state;
    double x[] = {0, 1, 5};
    assert_near(auto_width(dn_matrix_dense(x, 3, 1), NULL, DN_RULES_FIRST), 4, 1e-14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_c_share_a_gram_matrix),
        cmocka_unit_test(held_out_rows_share_kernel_values),
        cmocka_unit_test(scores_may_be_refused),
        cmocka_unit_test(values_of_nu_share_a_gram_matrix),
        cmocka_unit_test(other_problems_are_prepared_anew),
        cmocka_unit_test(scale_of_the_rows),
        cmocka_unit_test(width_is_the_root_of_half_the_sum_of_the_variances),
        cmocka_unit_test(width_honours_weights),
        cmocka_unit_test(width_of_sparse_rows),
        cmocka_unit_test(first_rules_take_the_median_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
