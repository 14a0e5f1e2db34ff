/* The hard margin: constraints and certificate by plain loops, known margins, inseparable data, and
 * the working set (corral). */
#include "learners/svm/linear/svm_corral.h"
#include "unit/core/learners/svm/svms.h"

static double least_margin(const struct problem *t, const struct fit *fit) {
    double least = (double)INFINITY;
    for (size_t i = 0; i < t->n; i++) {
        if (svm_weight(t, i) > 0) {
            least = fmin(least, margin_of(t, fit, i));
        }
    }
    return least;
}

/* Every row has a functional margin of at least 1, and a soft margin with a large C finds no
 * shorter w. */
static void assert_hard(const struct problem *t, const struct fit *fit,
                        dni_svm_intercept intercept) {
    const dni_svm_options hard = options_of(DNI_SVM_INTERIOR_POINT, intercept, (double)INFINITY);
    const double primal = primal_of(t, fit, &hard), least = least_margin(t, fit);
    if (!(least > 1 - 1e-9 && least < 1 + 1e-9)) {
        fail_msg("the least margin is %.12g", least);
    }
    assert_true(fit->report.converged);
    assert_near(fit->report.objective, primal, 1e-12);
    assert_near(svm_detail(&fit->report, "dual_objective"), primal, 1e-6);
    assert_true(svm_detail(&fit->report, "gap") < 1e-6 &&
                svm_detail(&fit->report, "slack_sum") == 0);
    assert_duals(t, fit, &hard);
    dni_svm_options soft = options_of(DNI_SVM_INTERIOR_POINT, intercept, 1e4 * (1 + primal));
    struct fit other = fit_svm(t, soft);
    assert_near(other.report.objective, primal, 1e-5);
    assert_close(other.out.w, fit->out.w, t->d, 1e-4);
    fit_done(&other);
}

static void separable(void **state) {
    static const char *const names[] = {"iris", "wine", "digits", "breast_cancer"};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++) {
            for (size_t sparse = 0; sparse < 2; sparse++) {
                if (k == 3 && intercept == DNI_SVM_NONE) {
                    continue;
                }
                struct problem t = problem_pair(names[k], true, sparse);
                struct fit fit =
                    fit_svm(&t, options_of(DNI_SVM_INTERIOR_POINT, intercept, (double)INFINITY));
                assert_hard(&t, &fit, intercept);
                fit_done(&fit);
                svm_problem_done(&t);
            }
        }
    }
}

/* Textbook example 7: one point of each class determines the plane, and the other four change
 * nothing. The margin 2/‖w‖ is the distance between (1, 1) and (3, 3). */
static void plane(void **state) {
    static const double x[] = {1, 1, 3, 3, 0, 0, 0, 1, 4, 4, 5, 3}, target[] = {0, 1, 0, 0, 1, 1};
    (void)state;
    for (size_t n = 2; n <= 6; n += 4) {
        struct problem t = problem_of(x, target, NULL, n, 2, false);
        struct fit fit = fit_svm(&t, options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_FREE,
                                                (double)INFINITY));
        assert_near(fit.out.w[0], 0.5, 1e-12);
        assert_near(fit.out.w[1], 0.5, 1e-12);
        assert_near(fit.out.w0[0], -2, 1e-12);
        assert_near(2 * svm_detail(&fit.report, "margin"), sqrt(8), 1e-12);
        assert_true(svm_detail(&fit.report, "support_vectors") == 2);
        assert_string_equal(find_detail(&fit.report, "solver")->text, "nearest_points");
        fit_done(&fit);
        svm_problem_done(&t);
    }
}

static void refuses(const double *x, const double *target, const double *weight, size_t n, size_t d,
                    dni_svm_intercept intercept) {
    for (size_t sparse = 0; sparse < 2; sparse++) {
        struct problem t = problem_of(x, target, weight, n, d, sparse);
        const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, intercept, (double)INFINITY);
        dn_run run = dn_run_default();
        struct fit fit = {0};
        dn_error err = {0};
        assert_int_equal(try_svm(&t, &o, &run, &fit, &err), DN_ERR_DATA);
        assert_non_null(strstr(err.message, "separated"));
        assert_non_null(strstr(err.message, "set C to"));
        assert_true(fit.out.w == NULL && fit.report.n_details == 0);
        svm_problem_done(&t);
    }
}

static void inseparable(void **state) {
    static const double xor_x[] = {0, 0, 0, 1, 1, 0, 1, 1}, xor_target[] = {0, 1, 1, 0};
    static const double touch_x[] = {-1, 0, 0, 1}, touch_target[] = {0, 0, 1, 1};
    static const double close_x[] = {-1, -1e-10, 1e-10, 1}, near_x[] = {-1, -1e-7, 1e-7, 1};
    static const double same_x[] = {1, 2, 1, 2}, same_target[] = {0, 1};
    static const double weight[] = {1, 0, 1, 1};
    (void)state;
    refuses(xor_x, xor_target, NULL, 4, 2, DNI_SVM_FREE);
    refuses(xor_x, xor_target, NULL, 4, 2, DNI_SVM_PENALISED);
    refuses(xor_x, xor_target, NULL, 4, 2, DNI_SVM_NONE);
    refuses(touch_x, touch_target, NULL, 4, 1, DNI_SVM_FREE);
    /* The gap between the classes is less than 1e-9 of the longest row. */
    refuses(close_x, touch_target, NULL, 4, 1, DNI_SVM_FREE);
    refuses(same_x, same_target, NULL, 2, 2, DNI_SVM_FREE);
    struct problem cloud = problem_cloud(500, 5, 0, 3, false, false);
    refuses(cloud.x, cloud.target, NULL, cloud.n, cloud.d, DNI_SVM_FREE);
    svm_problem_done(&cloud);
    /* The gap is larger than 1e-9 of the longest row. */
    struct problem t = problem_of(near_x, touch_target, NULL, 4, 1, false);
    struct fit fit =
        fit_svm(&t, options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, (double)INFINITY));
    assert_near(fit.out.w[0], 1e7, 1e-9);
    fit_done(&fit);
    svm_problem_done(&t);
    /* A row with weight 0 is ignored. */
    t = problem_of(touch_x, touch_target, weight, 4, 1, false);
    fit = fit_svm(&t, options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, (double)INFINITY));
    assert_near(fit.out.w[0], 2, 1e-12);
    fit_done(&fit);
    svm_problem_done(&t);
}

/* More features than rows: nearly every row is a support vector. Rows far from the origin: only the
 * intercept changes. */
static void wide_and_far(void **state) {
    (void)state;
    struct problem t = problem_cloud(60, 150, 0.5, 0, false, true),
                   far = problem_cloud(80, 3, 0, 0, false, false);
    struct fit fit =
        fit_svm(&t, options_of(DNI_SVM_DUAL_COORDINATE_DESCENT, DNI_SVM_FREE, (double)INFINITY));
    assert_true(least_margin(&t, &fit) > 1 - 1e-9 && fit.report.converged &&
                svm_detail(&fit.report, "support_vectors") > 20);
    fit_done(&fit);
    struct fit near =
        fit_svm(&far, options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, (double)INFINITY));
    assert_hard(&far, &near, DNI_SVM_FREE);
    for (size_t i = 0; i < 80 * 3; i++) {
        far.x[i] += 65536;
    }
    fit = fit_svm(&far, options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, (double)INFINITY));
    assert_close(fit.out.w, near.out.w, 3, 1e-6);
    fit_done(&fit);
    fit_done(&near);
    svm_problem_done(&t);
    svm_problem_done(&far);
}

/* After points were added and removed, the minimiser over the working set satisfies the optimality
 * conditions: equal gradients within each group, and the given sums of coefficients. */
static void corral(void **state) {
    enum { D = 9, M = 8 };
    (void)state;
    for (size_t n_groups = 1; n_groups <= 2; n_groups++) {
        dn_run run = dn_run_default();
        dni_corral c;
        double points[40][D], products[M], out[M], slope[M];
        const double sums[] = {1, 0.25};
        uint64_t seed = 3;
        const dni_corral_shape shape = {M};
        void *memory;
        OK(dni_layout_take(&run, dni_corral_layout, &shape, &c, "the working set", &memory, NULL));
        dni_corral_init(&c, M, n_groups, 0.5);
        for (size_t i = 0; i < 40; i++) {
            for (size_t j = 0; j < D; j++) {
                points[i][j] = svm_random(&seed) - 0.3;
            }
            if (c.n == M) {
                dni_corral_remove(&c, i % M);
            }
            for (size_t k = 0; k < c.n; k++) {
                products[k] = 0;
                for (size_t j = 0; j < D; j++) {
                    products[k] += points[i][j] * points[c.index[k]][j];
                }
            }
            double square = 0;
            for (size_t j = 0; j < D; j++) {
                square += points[i][j] * points[i][j];
            }
            assert_true(dni_corral_add(&c, i, (unsigned)(i % n_groups), products, square, 0));
            size_t in_first = 0;
            for (size_t k = 0; k < c.n; k++) {
                in_first += c.group[k] == 0;
            }
            /* The minimiser is defined only if every group has a point. */
            if (in_first == 0 || (n_groups == 2 && in_first == c.n)) {
                continue;
            }
            for (size_t k = 0; k < c.n; k++) {
                slope[k] = i % 3 == 0 ? 0.1 * (double)k : 0;
            }
            assert_true(dni_corral_minimise(&c, i % 3 == 0 ? slope : NULL, sums, out));
            double p[D] = {0}, total[2] = {0}, first[2] = {(double)NAN, (double)NAN};
            for (size_t k = 0; k < c.n; k++) {
                total[c.group[k]] += out[k];
                for (size_t j = 0; j < D; j++) {
                    p[j] += out[k] * points[c.index[k]][j];
                }
            }
            for (size_t k = 0; k < c.n; k++) {
                double along = slope[k];
                for (size_t j = 0; j < D; j++) {
                    along += p[j] * points[c.index[k]][j];
                }
                if (isnan(first[c.group[k]])) {
                    first[c.group[k]] = along;
                }
                assert_true(fabs(along - first[c.group[k]]) < 1e-9);
            }
            for (size_t g = 0; g < n_groups; g++) {
                assert_near(total[g], sums[g], 1e-9);
            }
        }
        /* A point that is already in the set is linearly dependent on itself. */
        double again[M];
        for (size_t k = 0; k < c.n; k++) {
            again[k] = 0;
            for (size_t j = 0; j < D; j++) {
                again[k] += points[c.index[0]][j] * points[c.index[k]][j];
            }
        }
        dni_corral_remove(&c, c.n - 1);
        assert_false(dni_corral_add(&c, 99, c.group[0], again, again[0], 0));
        dn_run_free(&run, memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separable),    cmocka_unit_test(plane),  cmocka_unit_test(inseparable),
        cmocka_unit_test(wide_and_far), cmocka_unit_test(corral),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
