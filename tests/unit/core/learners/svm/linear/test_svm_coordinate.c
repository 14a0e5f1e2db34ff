/* Dual coordinate descent: optimality by plain loops, agreement with the interior point, weights,
 * limits of C, and an intercept at which Σ α t is discontinuous. */
#include "unit/core/learners/svm/svms.h"

static void optimum(void **state) {
    static const double Cs[] = {1e-6, 0.01, 1, 10};
    (void)state;
    for (size_t kind = 0; kind < 4; kind++) {
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            for (size_t c = 0; c < sizeof Cs / sizeof *Cs; c++) {
                for (size_t squared = 0; squared < 2; squared++) {
                    struct problem t =
                        problem_cloud(200, 6, kind % 2 ? 0.7 : 0, 2, kind >= 2, kind % 2);
                    dni_svm_options o =
                        options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, intercept, Cs[c]);
                    o.squared = squared;
                    struct fit fit = fit_svm(&t, o);
                    assert_solved(&t, &fit, &o);
                    if (squared) {
                        assert_true(svm_detail(&fit.report, "bounded_support_vectors") == 0);
                    } else {
                        const dni_svm_options exact =
                            options_of(DNI_SVM_INTERIOR_POINT, intercept, Cs[c]);
                        struct fit best = fit_svm(&t, exact);
                        assert_true(best.report.objective <= fit.report.objective * (1 + 1e-12));
                        assert_true(best.report.objective >=
                                    svm_detail(&fit.report, "dual_objective") * (1 - 1e-12));
                        fit_done(&best);
                    }
                    fit_done(&fit);
                    svm_problem_done(&t);
                }
            }
        }
    }
}

/* A tolerance below the default is reached. Squared hinge loss with a free intercept: the gradient
 * is 0. */
static void tight(void **state) {
    (void)state;
    struct problem t = problem_cloud(150, 4, 0.2, 1.5, true, true);
    for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
        dni_svm_options o = options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, intercept, 1);
        o.squared = true;
        o.tolerance = 1e-9;
        struct fit fit = fit_svm(&t, o);
        assert_solved(&t, &fit, &o);
        double gradient[5] = {0}, size = 0;
        for (size_t i = 0; i < t.n; i++) {
            const double s = fmax(0, 1 - margin_of(&t, &fit, i)),
                         a = 2 * t.weight[i] * s * (t.target[i] > 0 ? 1 : -1);
            for (size_t j = 0; j < 4; j++) {
                gradient[j] += a * t.x[i * 4 + j];
            }
            gradient[4] += a;
            size += fabs(a);
        }
        for (size_t j = 0; j < 4; j++) {
            assert_true(fabs(gradient[j] - fit.out.w[j]) < 1e-4 * size);
        }
        if (intercept != DNI_SVM_NONE) {
            assert_true(fabs(gradient[4] - (intercept == DNI_SVM_PENALISED ? fit.out.w0[0] : 0)) <
                        1e-4 * size);
        }
        fit_done(&fit);
    }
    dni_svm_options o = options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_FREE, 1);
    o.tolerance = 1e-8;
    struct fit fit = fit_svm(&t, o);
    assert_solved(&t, &fit, &o);
    fit_done(&fit);
    svm_problem_done(&t);
}

/* Σ α t as a function of the intercept jumps from a positive to a negative value. The minimiser for
 * a given intercept is therefore never feasible, but convex combinations of two minimisers are. Two
 * rows of each class at ±1, with weights 3 : 1. */
static void jump(void **state) {
    static const double x[] = {-1, -1, 1, 1}, target[] = {0, 1, 0, 1}, weight[] = {3, 1, 1, 3};
    (void)state;
    for (size_t squared = 0; squared < 2; squared++) {
        struct problem t = problem_of(x, target, weight, 4, 1, false);
        dni_svm_options o = options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_FREE, 1);
        o.squared = squared;
        struct fit fit = fit_svm(&t, o);
        assert_solved(&t, &fit, &o);
        assert_true(fabs(fit.out.w0[0]) < 0.02);
        fit_done(&fit);
        svm_problem_done(&t);
    }
}

/* Rows without entries. One class consists of such rows only. */
static void empty_rows(void **state) {
    static const double x[] = {0, 0, 0, 0, 0, 0, 1, 2, 2, 1}, target[] = {0, 0, 0, 1, 1};
    (void)state;
    for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
        for (size_t squared = 0; squared < 2; squared++) {
            struct problem t = problem_of(x, target, NULL, 5, 2, true);
            dni_svm_options o = options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, intercept, 2);
            o.squared = squared;
            struct fit fit = fit_svm(&t, o);
            assert_solved(&t, &fit, &o);
            fit_done(&fit);
            svm_problem_done(&t);
        }
    }
}

static void too_few_passes(void **state) {
    (void)state;
    struct problem t = problem_cloud(300, 6, 0, 2, false, false);
    for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
        dni_svm_options o = options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, intercept, 1000);
        o.max_iterations = 4;
        struct fit fit = fit_svm(&t, o);
        assert_false(fit.report.converged);
        assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
        assert_true(svm_warned(&fit.report, "max_iterations") && fit.report.iterations == 4);
        assert_near(fit.report.objective, primal_of(&t, &fit, &o), 1e-9);
        const dni_svm_options exact = options_of(DNI_SVM_INTERIOR_POINT, intercept, 1000);
        struct fit best = fit_svm(&t, exact);
        assert_true(svm_detail(&fit.report, "dual_objective") <= best.report.objective &&
                    best.report.objective <= fit.report.objective);
        fit_done(&best);
        fit_done(&fit);
    }
    svm_problem_done(&t);
}

/* With C = 1e300 rounding prevents progress. The solver stops long before max_iterations. */
static void no_progress(void **state) {
    static const double x[] = {-2, 1, -1, 0.5, 1, 0.7, 2, 1.1, 3, 1.3, -3, 0.3},
                        target[] = {0, 0, 1, 1, 1, 0};
    (void)state;
    struct problem t = problem_of(x, target, NULL, 6, 2, false);
    dni_svm_options o = options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_FREE, 1e300);
    struct fit fit = fit_svm(&t, o);
    assert_false(fit.report.converged);
    assert_true(fit.report.iterations < o.max_iterations);
    assert_int_equal(fit.report.stop_reason, DN_STOP_NO_PROGRESS);
    assert_true(svm_warned(&fit.report, "a smaller C or a larger tolerance") &&
                !svm_warned(&fit.report, "max_iterations"));
    fit_done(&fit);
    svm_problem_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimum),        cmocka_unit_test(tight),
        cmocka_unit_test(jump),           cmocka_unit_test(empty_rows),
        cmocka_unit_test(too_few_passes), cmocka_unit_test(no_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
