/* The linear support vector machine by the interior point: golden numbers, optimality by plain loops, weights, order, limits of C, threads, memory, stops. */
#include "unit/core/learners/svms.h"

static double number(const json_t *entry, const char *name) {
    const json_t *value = json_object_get(entry, name);
    assert_non_null(value);
    return json_number_value(value);
}

static void golden(void **state) {
    static const char *const names[] = {"iris", "wine", "breast_cancer", "digits", "pima"};
    (void)state;
    json_t *root = golden_load();
    for (size_t k = 0; k < 5; k++)
        for (size_t sparse = 0; sparse < 2; sparse++) {
            struct problem t = problem_pair(names[k], true, sparse);
            const json_t *entry = json_object_get(json_object_get(root, names[k]), "svm_linear_C1_standardized_first_pair");
            if (t.n == 0)
                continue;
            const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, DNI_SVM_FREE, 1);
            struct fit fit = fit_svm(&t, o);
            double *w = xcalloc(t.d, sizeof *w);
            assert_int_equal(golden_numbers(json_object_get(entry, "w"), w), t.d);
            assert_solved(&t, &fit, &o);
            assert_close(fit.out.w, w, t.d, 1e-6);
            assert_near(fit.out.w0[0], number(entry, "w0"), 1e-6);
            assert_near(detail(&fit.report, "primal_objective"), number(entry, "primal"), 1e-6);
            assert_near(detail(&fit.report, "dual_objective"), number(entry, "dual"), 1e-6);
            assert_near(detail(&fit.report, "norm"), number(entry, "norm_w"), 1e-6);
            assert_near(detail(&fit.report, "slack_sum") + 1, number(entry, "sum_slack") + 1, 1e-6);
            assert_true(detail(&fit.report, "support_vectors") == number(entry, "n_support"));
            assert_true(detail(&fit.report, "slack_positive") == number(entry, "n_slack_positive"));
            assert_true(detail(&fit.report, "slack_over_one") == number(entry, "n_slack_over_one"));
            free(w);
            fit_done(&fit);
            problem_done(&t);
        }
    json_decref(root);
}

static void optimum(void **state) {
    static const double Cs[] = {1e-8, 1e-3, 1, 30, 1e5};
    (void)state;
    for (size_t kind = 0; kind < 4; kind++)
        for (dni_svm_intercept intercept = DNI_SVM_FREE; intercept <= DNI_SVM_NONE; intercept++)
            for (size_t c = 0; c < sizeof Cs / sizeof *Cs; c++) {
                struct problem t = problem_cloud(300, 6, kind % 2 ? 0.7 : 0, 2, kind >= 2, kind % 2);
                const dni_svm_options o = options_of(DNI_SVM_INTERIOR_POINT, intercept, Cs[c]);
                struct fit fit = fit_svm(&t, o);
                assert_solved(&t, &fit, &o);
                assert_true(detail(&fit.report, "gap") < 1e-9); /* polished */
                fit_done(&fit);
                problem_done(&t);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
