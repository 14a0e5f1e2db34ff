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
        cmocka_unit_test(equal_optimum),
        cmocka_unit_test(gene_expressions),
        cmocka_unit_test(far_columns),
        cmocka_unit_test(equal_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
