/* The detail "tolerance_reached" is within the tolerance. Where iterations end by this measure, a
 * training with this tolerance stops at the same iteration and makes the same model; with a smaller
 * one it goes on. */
#include "unit/core/support.h"

struct method {
    const char *algorithm, *solver, *kernel;
    double tolerance;
    /* true: the iterations end when the measure is within the tolerance, so that a smaller
     * tolerance takes more of them. false: the solver ends by another measure, or keeps the best
     * iteration */
    bool continues;
};

static const struct method methods[] = {
    {"logistic", "lbfgs", NULL, 1e-4, true},
    {"logistic", "newton", NULL, 1e-4, true},
    {"logistic", "gradient_descent", NULL, 1e-3, true},
    {"least_squares", "conjugate_gradient", NULL, 1e-2, true},
    {"least_squares", "gradient_descent", NULL, 1e-3, true},
    {"svm", "interior_point", "linear", 1e-3, false},
    {"svm", "dual_coordinate_descent", "linear", 1e-2, true},
    {"svm", "smo", "rbf", 1e-2, false},
    {"mlp", "lbfgs", NULL, 1e-2, false},
};

static double number_of(const dn_report *report, const char *name) {
    for (size_t i = 0; i < report->n_details; i++) {
        if (strcmp(report->details[i].name, name) == 0) {
            return report->details[i].number;
        }
    }
    fail_msg("the report has no %s", name);
    return 0;
}

static dn_train_result train(const struct csv *t, const struct method *m, double tolerance) {
    dn_train_result result;
    dn_params *p;
    dn_error err;
    dn_error_clear(&err);
    struct table *table = table_of(t);
    OK(dn_params_new(dn_algorithm_find(m->algorithm), &p, NULL));
    OK(dn_params_set_word(p, "solver", m->solver, NULL));
    if (m->kernel != NULL) {
        OK(dn_params_set_word(p, "kernel", m->kernel, NULL));
    }
    if (strcmp(m->solver, "dual_coordinate_descent") == 0) {
        OK(dn_params_set_word(p, "intercept", "penalised", NULL));
    }
    OK(dn_params_set_number(p, "tolerance", tolerance, NULL));
    OK(dn_params_set_number(p, "max_iterations", 5000, NULL));
    const dn_train_request request = table_request(t, table, p);
    if (dn_train(&request, NULL, &result, &err) != DN_OK) {
        fail_msg("%s %s: %s", m->algorithm, m->solver, err.message);
    }
    columns_table_free(table);
    dn_params_free(p);
    return result;
}

static void same_scores(const dn_model *a, const dn_model *b, const struct csv *t) {
    double *work = xcalloc(dn_model_workspace(a) + dn_model_workspace(b), sizeof *work), x[2], y[2];
    for (size_t i = 0; i < t->n; i++) {
        const dn_raw_rows row = dn_raw_numbers(t->x + i * t->d, 1);
        assert_int_equal(dn_model_predict(a, row, work, &(dn_prediction){.scores = x}), 1);
        assert_int_equal(dn_model_predict(b, row, work, &(dn_prediction){.scores = y}), 1);
        assert_true(x[0] == y[0]);
    }
    free(work);
}

/* Trains with the tolerance that was reached, and with a smaller one. */
static void check_next(const struct csv *t, const struct method *m, const dn_train_result *first,
                       double reached) {
    dn_train_result again = train(t, m, reached * (1 + 1e-9)),
                    further = train(t, m, reached / 1.001);
    if (again.report.iterations != first->report.iterations) {
        fail_msg("%s %s: %zu iterations, with tolerance %.17g %zu", m->algorithm, m->solver,
                 first->report.iterations, reached, again.report.iterations);
    }
    same_scores(first->model, again.model, t);
    assert_true(further.report.iterations > first->report.iterations);
    dn_train_result_done(&again);
    dn_train_result_done(&further);
}

static void stops_there(void **state) {
    (void)state;
    struct csv *t = csv_clouds(120, 12, 2);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *m = &methods[i];
        dn_train_result first = train(t, m, m->tolerance);
        const double reached = number_of(&first.report, "tolerance_reached");
        /* the relative gap of a solution may be rounded to 0 */
        if (!(reached <= m->tolerance && (reached > 0 || (reached == 0 && !m->continues)))) {
            fail_msg("%s %s: reached %g", m->algorithm, m->solver, reached);
        }
        assert_true(first.report.converged);
        assert_true(number_of(&first.report, "tolerance") == m->tolerance);
        if (m->continues) {
            check_next(t, m, &first, reached);
        }
        dn_train_result_done(&first);
    }
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stops_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
