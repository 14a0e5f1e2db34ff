/* Fewer rows than features: the solution with the coordinates of the rows is that of the rows. */
#include "unit/core/learners/svm/svms.h"

/* n rows of d numbers; `copies` rows are equal to rows before them, of any class. */
static struct problem expressions(size_t n, size_t d, size_t copies, bool weighted, bool sparse) {
    struct problem t = {.n = n, .d = d};
    uint64_t state = 3;
    t.x = xcalloc(n * d, sizeof(double));
    t.target = xcalloc(n, sizeof(double));
    t.weight = weighted ? xcalloc(n, sizeof(double)) : NULL;
    for (size_t i = 0; i < n; i++) {
        double f = 4 * (svm_random(&state) - 0.5);
        for (size_t j = 0; j < d; j++) {
            const double value = svm_random(&state) + svm_random(&state) - 1;
            t.x[i * d + j] = sparse && svm_random(&state) < 0.9 ? 0 : value;
            f += j < 20 ? t.x[i * d + j] : 0;
        }
        t.target[i] = f > 0;
        if (i >= n - copies) {
            memcpy(t.x + i * d, t.x + (i - copies) * d, d * sizeof(double));
        }
        if (weighted) {
            t.weight[i] = (double)(i % 4) * 0.5;
        }
    }
    problem_rows(&t, sparse);
    return t;
}

/* The rows of a problem with `more` columns of zeros. */
static struct problem padded(const struct problem *t, size_t more, bool sparse) {
    const size_t d = t->d + more;
    double *x = xcalloc(t->n * d, sizeof *x);
    for (size_t i = 0; i < t->n; i++) {
        memcpy(x + i * d, t->x + i * t->d, t->d * sizeof *x);
    }
    struct problem out = problem_of(x, t->target, t->weight, t->n, d, sparse);
    free(x);
    return out;
}

/* The optimum does not change if columns of zeros make the problem wide. */
static void equal_optimum(void **state) {
    static const double Cs[] = {1e-3, 1, 1e4};
    (void)state;
    for (size_t kind = 0; kind < 8; kind++) {
        const bool weighted = kind & 1, sparse = kind & 2, squared = kind & 4;
        const dni_svm_solver solver = squared ? DNI_SVM_NEWTON : DNI_SVM_INTERIOR_POINT;
        struct problem t = expressions(40, 90, weighted ? 6 : 0, weighted, sparse),
                       wide = padded(&t, 1000, sparse);
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            for (size_t c = 0; c < sizeof Cs / sizeof *Cs; c++) {
                const dni_svm_options o = options_of(solver, intercept, Cs[c]);
                struct fit a = fit_svm(&t, o), b = fit_svm(&wide, o);
                assert_true(b.report.converged && svm_detail(&b.report, "gap") <= o.tolerance);
                assert_near(b.report.objective, primal_of(&wide, &b, &o), 1e-9);
                assert_near(b.report.objective, a.report.objective, 2 * o.tolerance);
                assert_int_equal(svm_detail(&b.report, "support_vectors"),
                                 svm_detail(&a.report, "support_vectors"));
                for (size_t j = t.d; j < wide.d; j++) {
                    assert_true(b.out.w[j] == 0);
                }
                fit_done(&a);
                fit_done(&b);
            }
        }
        svm_problem_done(&t);
        svm_problem_done(&wide);
    }
}

/* As many rows and columns as tables of gene expressions have, at C = 1e6. */
static void gene_expressions(void **state) {
    (void)state;
    struct problem t = expressions(83, 2308, 0, false, false);
    for (size_t squared = 0; squared < 2; squared++) {
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            const dni_svm_options o =
                options_of(squared ? DNI_SVM_NEWTON : DNI_SVM_INTERIOR_POINT, intercept, 1e6);
            struct fit fit = fit_svm(&t, o);
            assert_true(fit.report.converged && fit.report.n_warnings == 0);
            assert_near(fit.report.objective, primal_of(&t, &fit, &o), 1e-6);
            fit_done(&fit);
        }
    }
    svm_problem_done(&t);
}

/* Tables of gene expressions: 83 rows of 4 classes, 2308 columns that depend on 10 common factors.
 * k: the class against the rest. */
static struct problem factors(size_t k) {
    enum { N = 83, D = 2308, FACTORS = 10 };
    struct problem t = {.n = N, .d = D};
    uint64_t state = 11;
    double *loading = xcalloc((size_t)D * FACTORS, sizeof *loading), factor[FACTORS];
    t.x = xcalloc((size_t)N * D, sizeof(double));
    t.target = xcalloc(N, sizeof(double));
    for (size_t j = 0; j < (size_t)D * FACTORS; j++) {
        loading[j] = svm_random(&state) + svm_random(&state) - 1;
    }
    for (size_t i = 0; i < N; i++) {
        const size_t class = i < 29 ? 0 : i < 40 ? 1 : i < 58 ? 2 : 3;
        for (size_t q = 0; q < FACTORS; q++) {
            factor[q] = 4 * (svm_random(&state) - 0.5);
        }
        for (size_t j = 0; j < D; j++) {
            double value = 0.5 * (svm_random(&state) - 0.5) + (j % 20 == class ? 1 : 0);
            for (size_t q = 0; q < FACTORS; q++) {
                value += loading[j * FACTORS + q] * factor[q];
            }
            t.x[i * D + j] = value;
        }
        t.target[i] = class == k;
    }
    free(loading);
    problem_rows(&t, false);
    return t;
}

/* A hard margin is the limit of large C. The smallest slack that a double can represent then costs
 * more than the tolerance. */
static void large_costs(void **state) {
    static const double Cs[] = {1e6, 1e8, 1e10, 1e12};
    (void)state;
    for (size_t k = 0; k < 6; k++) {
        struct problem t = k < 4    ? factors(k)
                           : k == 4 ? expressions(83, 2308, 0, false, false)
                                    : problem_cloud(300, 12, 0.3, 0, false, false);
        /* a plane through the origin separates only the wide tables */
        const dni_svm_intercept last = k < 5 ? DNI_SVM_NONE : DNI_SVM_FREE;
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= last; intercept++) {
            struct fit hard =
                fit_svm(&t, options_of(DNI_SVM_INTERIOR_POINT, intercept, (double)INFINITY));
            for (size_t c = 0; c < sizeof Cs / sizeof *Cs; c++) {
                const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, intercept, Cs[c]);
                struct fit fit = fit_svm(&t, o);
                if (!fit.report.converged) {
                    fail_msg("table %zu, C %g: gap %.3g", k, Cs[c], svm_detail(&fit.report, "gap"));
                }
                assert_int_equal(fit.report.stop_reason, DN_STOP_TOLERANCE);
                assert_int_equal(fit.report.n_warnings, 0);
                assert_true(svm_detail(&fit.report, "gap") <= o.tolerance);
                assert_near(fit.report.objective, hard.report.objective, 2e-6);
                assert_close(fit.out.w, hard.out.w, t.d, 1e-2);
                assert_duals(&t, &fit, &o);
                fit_done(&fit);
            }
            fit_done(&hard);
        }
        svm_problem_done(&t);
    }
}

/* The classes overlap: two equal rows have different classes, or rows that differ by 1e-6. The
 * search for a hard margin ends. What is not certified is reported as such. */
static void large_costs_of_overlapping_classes(void **state) {
    (void)state;
    for (size_t near = 0; near < 2; near++) {
        struct problem t = expressions(40, 1100, 6, false, false);
        dn_rows_free(t.rows);
        for (size_t i = near ? 36 : 39; i < 40; i++) {
            t.target[i] = 1 - t.target[i - 6];
            for (size_t j = 0; near && j < t.d; j++) {
                t.x[i * t.d + j] += 1e-6 * (double)(i * j % 7);
            }
        }
        problem_rows(&t, false);
        for (double C = 1e2; C <= 1e10; C *= 1e4) {
            const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, C);
            struct fit fit = fit_svm(&t, o);
            assert_true(near || fit.report.objective > 2 * C); /* the slacks of both sum to 2 */
            assert_true(fit.report.converged || (near && C > 1e6));
            assert_true(fit.report.converged == (svm_detail(&fit.report, "gap") <= o.tolerance));
            assert_true(fit.report.converged ||
                        (fit.report.stop_reason != DN_STOP_TOLERANCE &&
                         svm_warned(&fit.report, "the relative duality gap is")));
            assert_near(fit.report.objective, primal_of(&t, &fit, &o), 1e-6);
            assert_duals(&t, &fit, &o);
            fit_done(&fit);
        }
        svm_problem_done(&t);
    }
}

/* Texts with few words: 700 rows of 3000 columns with about 10 entries, at positions that are more
 * frequent towards 0. */
static struct problem texts(void) {
    struct problem t = {.n = 700, .d = 3000};
    uint64_t state = 9;
    t.x = xcalloc(t.n * t.d, sizeof(double));
    t.target = xcalloc(t.n, sizeof(double));
    for (size_t i = 0; i < t.n; i++) {
        t.target[i] = svm_random(&state) < 0.3;
        for (size_t k = 0; k < 10; k++) {
            const size_t j = (size_t)(pow(2990, svm_random(&state)));
            t.x[i * t.d + j + (t.target[i] > 0 && j % 7 < 3 ? 9 : 0)]++;
        }
    }
    problem_rows(&t, true);
    return t;
}

/* Products with sparse rows replace the Gram matrix if C is not large. The budget of memory has no
 * room for three matrices of 700 x 700. */
static void few_entries(void **state) {
    (void)state;
    struct problem t = texts();
    struct memory memory = {.left = (size_t)3 * 700 * 700 * 8};
    const dn_allocator allocator = memory_allocator(&memory, true);
    dn_run run = dn_run_default(), free_run = dn_run_default();
    run.allocator = &allocator;
    for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
        dni_svm_options o = options_of(DNI_SVM_NEWTON, intercept, 1);
        struct fit fit = {0};
        OK(try_svm(&t, &o, &run, &fit, NULL));
        assert_true(fit.report.converged && svm_detail(&fit.report, "gap") <= o.tolerance);
        assert_near(fit.report.objective, primal_of(&t, &fit, &o), 1e-9);
        assert_duals(&t, &fit, &o);
        fit_done(&fit);
        o.C = 1e4;
        struct fit large = {0};
        dn_error err = {0};
        assert_int_equal(try_svm(&t, &o, &run, &large, &err), DN_ERR_BUDGET);
        OK(try_svm(&t, &o, &free_run, &large, NULL));
        assert_true(large.report.converged);
        fit_done(&large);
    }
    svm_problem_done(&t);
}

/* Columns with large means: the Gram matrix is that of centred rows. */
static void far_columns(void **state) {
    (void)state;
    struct problem t = expressions(60, 1100, 0, false, false),
                   far = expressions(60, 1100, 0, false, false);
    for (size_t i = 0; i < far.n * far.d; i++) {
        far.x[i] += 1e5;
    }
    const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1);
    struct fit a = fit_svm(&t, o), b = fit_svm(&far, o);
    assert_true(b.report.converged);
    assert_near(b.report.objective, a.report.objective, 1e-6);
    fit_done(&a);
    fit_done(&b);
    svm_problem_done(&t);
    svm_problem_done(&far);
}

/* All rows are equal: no coordinate. w = 0, and the larger class determines the intercept. */
static void equal_rows(void **state) {
    static const double target[] = {0, 1, 1};
    (void)state;
    double *x = xcalloc((size_t)3 * 1100, sizeof *x);
    for (size_t j = 0; j < (size_t)3 * 1100; j++) {
        x[j] = 2;
    }
    for (size_t squared = 0; squared < 2; squared++) {
        struct problem t = problem_of(x, target, NULL, 3, 1100, false);
        const dni_svm_options o =
            options_of(squared ? DNI_SVM_NEWTON : DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1);
        struct fit fit = fit_svm(&t, o);
        assert_true(fit.report.converged && svm_detail(&fit.report, "norm") < 1e-6);
        assert_near(fit.out.w0[0], squared ? 1.0 / 3 : 1, 1e-6);
        fit_done(&fit);
        svm_problem_done(&t);
    }
    free(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_optimum), cmocka_unit_test(gene_expressions),
        cmocka_unit_test(large_costs),   cmocka_unit_test(large_costs_of_overlapping_classes),
        cmocka_unit_test(few_entries),   cmocka_unit_test(far_columns),
        cmocka_unit_test(equal_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
