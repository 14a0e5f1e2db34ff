/* Newton's method for the squared hinge loss: optimality by plain loops, large C, degenerate rows,
 * conjugate gradients, and the numbers of LIBLINEAR. */
#include "unit/core/learners/svm/svms.h"

/* Checks that ∇F = R v − Σ 2 C v s t [x, 1] is 0, relative to the sum of the absolute terms. */
static void assert_stationary(const struct problem *t, const struct fit *fit,
                              const dni_svm_options *o, double tolerance) {
    double *gradient = xcalloc(t->d + 1, sizeof(double)), *size = xcalloc(t->d + 1, sizeof(double));
    for (size_t i = 0; i < t->n; i++) {
        const double s = fmax(0, 1 - margin_of(t, fit, i)),
                     a = 2 * o->C * svm_weight(t, i) * s * (t->target[i] > 0 ? 1 : -1);
        for (size_t j = 0; j <= t->d; j++) {
            const double x = j < t->d ? t->x[i * t->d + j] : 1;
            gradient[j] -= a * x;
            size[j] += fabs(a * x);
        }
    }
    for (size_t j = 0; j <= t->d; j++) {
        const double w = j < t->d ? fit->out.w[j] : fit->out.w0[0];
        if (j < t->d || o->intercept == DNI_SVM_PENALISED) {
            gradient[j] += w;
            size[j] += fabs(w);
        }
        if ((j < t->d || o->intercept != DNI_SVM_NONE) &&
            !(fabs(gradient[j]) <= tolerance * size[j])) {
            fail_msg("component %zu of the gradient is %g, of terms of %g", j, gradient[j],
                     size[j]);
        }
    }
    free(gradient);
    free(size);
}

static void optimum(void **state) {
    static const double Cs[] = {1e-6, 0.01, 1, 100, 1e4, 1e8};
    (void)state;
    for (size_t kind = 0; kind < 4; kind++) {
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            for (size_t c = 0; c < sizeof Cs / sizeof *Cs; c++) {
                struct problem t =
                    problem_cloud(200, 6, kind % 2 ? 0.7 : 0, 2, kind >= 2, kind % 2);
                const dni_svm_options o = options_of(DNI_SVM_NEWTON, intercept, Cs[c]);
                struct fit fit = fit_svm(&t, o);
                assert_solved(&t, &fit, &o);
                assert_stationary(&t, &fit, &o, 1e-9);
                assert_true(fit.report.iterations < 40);
                assert_true(svm_detail(&fit.report, "bounded_support_vectors") == 0);
                fit_done(&fit);
                svm_problem_done(&t);
            }
        }
    }
}

/* n rows of d skewed columns with a few very large values, as the frequencies of words. The
 * columns are standardised; the last two are equal up to the sign. Classes overlap. */
static struct problem skewed(size_t n, size_t d) {
    struct problem t = {.n = n, .d = d};
    uint64_t state = 7;
    t.x = xcalloc(n * d, sizeof(double));
    t.target = xcalloc(n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double f = 3 * (svm_random(&state) + svm_random(&state) - 1);
        for (size_t j = 0; j < d; j++) {
            t.x[i * d + j] = svm_random(&state) < 0.7 ? 0 : pow(svm_random(&state), -0.7) - 1;
            f += j % 3 == 0 ? fmin(t.x[i * d + j], 2) : 0;
        }
        t.x[i * d + d - 1] = -t.x[i * d + d - 2];
        t.target[i] = f > 1;
    }
    for (size_t j = 0; j < d; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            mean += t.x[i * d + j] / (double)n;
        }
        for (size_t i = 0; i < n; i++) {
            t.x[i * d + j] -= mean;
            square += t.x[i * d + j] * t.x[i * d + j] / (double)n;
        }
        for (size_t i = 0; i < n; i++) {
            t.x[i * d + j] /= sqrt(square);
        }
    }
    problem_rows(&t, false);
    return t;
}

/* The optimum at large C of a table like spambase, on which dual coordinate descent fails. */
static void large_costs(void **state) {
    (void)state;
    struct problem t = skewed(1500, 30);
    for (double C = 1; C <= 1e4; C *= 10) {
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            const dni_svm_options o = options_of(DNI_SVM_NEWTON, intercept, C);
            struct fit fit = fit_svm(&t, o);
            assert_solved(&t, &fit, &o);
            assert_stationary(&t, &fit, &o, 1e-9);
            assert_true(fit.report.iterations < 30 && fit.report.n_warnings == 0);
            fit_done(&fit);
        }
    }
    dni_svm_options o = options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_FREE, 1000);
    o.squared = true;
    o.max_iterations = 500;
    struct fit fit = fit_svm(&t, o);
    assert_true(!fit.report.converged && svm_warned(&fit.report, "try solver newton"));
    fit_done(&fit);
    svm_problem_done(&t);
}

/* Columns with means of 1e6 times their deviation: the system is centred. */
static void far_columns(void **state) {
    (void)state;
    struct problem t = skewed(300, 5), far = skewed(300, 5);
    for (size_t i = 0; i < far.n * far.d; i++) {
        far.x[i] += 1e6;
    }
    const dni_svm_options o = options_of(DNI_SVM_NEWTON, DNI_SVM_FREE, 10);
    struct fit near = fit_svm(&t, o), moved = fit_svm(&far, o);
    assert_true(moved.report.converged);
    assert_near(moved.report.objective, near.report.objective, 1e-8);
    fit_done(&near);
    fit_done(&moved);
    svm_problem_done(&t);
    svm_problem_done(&far);
}

/* Rows whose margins are all 1 or more at the optimum of the others, identical rows of both
 * classes, rows without entries, constant columns. */
static void degenerate(void **state) {
    static const double x[] = {0, 0, 5, 0, 0, 5, 1, 2, 5, 2, 1, 5, 1, 2, 5, 90, 80, 5};
    static const double target[] = {0, 0, 1, 1, 0, 1}, weight[] = {1, 2, 1, 0, 3, 1e-9};
    (void)state;
    for (size_t sparse = 0; sparse < 2; sparse++) {
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            for (double C = 1e-8; C < 1e9; C *= 1e4) {
                struct problem t = problem_of(x, target, weight, 6, 3, sparse);
                const dni_svm_options o = options_of(DNI_SVM_NEWTON, intercept, C);
                struct fit fit = fit_svm(&t, o);
                assert_solved(&t, &fit, &o);
                fit_done(&fit);
                svm_problem_done(&t);
            }
        }
    }
}

/* More than 1000 rows and features: conjugate gradients. The optimum does not depend on the
 * form. */
static void many_features(void **state) {
    (void)state;
    for (size_t sparse = 0; sparse < 2; sparse++) {
        struct problem t = problem_cloud(1300, 1001, 0.97, 4, true, sparse);
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            const dni_svm_options o = options_of(DNI_SVM_NEWTON, intercept, 100);
            struct fit fit = fit_svm(&t, o);
            assert_true(fit.report.converged && svm_detail(&fit.report, "gap") <= 1e-9);
            assert_near(fit.report.objective, primal_of(&t, &fit, &o), 1e-9);
            fit_done(&fit);
        }
        svm_problem_done(&t);
    }
}

static void too_few_steps(void **state) {
    (void)state;
    struct problem t = skewed(300, 6);
    dni_svm_options o = options_of(DNI_SVM_NEWTON, DNI_SVM_FREE, 1000);
    o.max_iterations = 1;
    struct fit fit = fit_svm(&t, o);
    assert_false(fit.report.converged);
    assert_int_equal(fit.report.stop_reason, DN_STOP_MAX_ITERATIONS);
    assert_true(svm_warned(&fit.report, "max_iterations") && fit.report.iterations == 1);
    assert_near(fit.report.objective, primal_of(&t, &fit, &o), 1e-9);
    fit_done(&fit);
    svm_problem_done(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimum),       cmocka_unit_test(large_costs),
        cmocka_unit_test(far_columns),   cmocka_unit_test(degenerate),
        cmocka_unit_test(many_features), cmocka_unit_test(too_few_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
