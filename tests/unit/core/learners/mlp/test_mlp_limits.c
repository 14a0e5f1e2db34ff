/* Networks: exact limits of the parameters, defaults, memory estimates, and warnings that must not
 * appear. */
#include "learners/mlp/mlp_fit.h"
#include "unit/core/learners/mlp/mlps.h"

static const double two[] = {2}, four[] = {4, 3};

/* Resolves "auto" for a network with one hidden layer of 2 units. */
static dn_params *resolved(const char *solver, size_t n_rows, size_t n_features) {
    dn_params *p = mlp_params(solver, two, 1);
    OK(dn_params_resolve(p, n_rows, n_features, 2, NULL));
    return p;
}

static void expect_number(const char *solver, size_t n_rows, const char *name, double value) {
    dn_params *p = resolved(solver, n_rows, 1);
    if (dn_params_number(p, name) != value) {
        fail_msg("%s of %s is %g for %zu rows", name, solver, dn_params_number(p, name), n_rows);
    }
    dn_params_free(p);
}

static void default_batch_is_a_hundredth_of_the_rows_from_16_to_256(void **state) {
    (void)state;
    expect_number("adam", 50, "batch_size", 16);
    expect_number("adam", 1699, "batch_size", 16);
    expect_number("adam", 1700, "batch_size", 17);
    expect_number("adam", 25599, "batch_size", 255);
    expect_number("adam", 25600, "batch_size", 256);
    expect_number("adam", 1000000, "batch_size", 256);
}

static void default_passes_visit_three_million_rows_from_50_to_500_passes(void **state) {
    (void)state;
    expect_number("adam", 6000, "max_iterations", 500);
    expect_number("adam", 6010, "max_iterations", 500);
    expect_number("adam", 6020, "max_iterations", 499);
    expect_number("adam", 60000, "max_iterations", 50);
    expect_number("adam", 70000, "max_iterations", 50);
    expect_number("lbfgs", 60000, "max_iterations", 2000);
}

/* 3/n, from 0.001 to 0.005. mlp_params sets lambda to 0.001: the parameters are new. */
static void default_penalty_is_stronger_for_few_rows(void **state) {
    (void)state;
    const struct {
        size_t n_rows;
        double lambda;
    } cases[] = {{4, 5e-3},          {600, 5e-3},  {601, 3.0 / 601},
                 {2999, 3.0 / 2999}, {3000, 1e-3}, {1000000, 1e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dn_params *p;
        OK(dn_params_new(dn_algorithm_find("mlp"), &p, NULL));
        OK(dn_params_resolve(p, cases[i].n_rows, 5, 2, NULL));
        assert_true(dn_params_word(p, "lambda") == NULL &&
                    dn_params_number(p, "lambda") == cases[i].lambda);
        dn_params_free(p);
    }
}

/* The rules of jobs that an earlier release stored. */
static void first_rules_visit_a_million_rows(void **state) {
    (void)state;
    const struct {
        const char *solver;
        size_t n_rows;
        double iterations, tolerance;
    } cases[] = {{"adam", 2000, 500, 1e-4},
                 {"adam", 2010, 498, 1e-4},
                 {"adam", 50000, 20, 1e-4},
                 {"adam", 60000, 20, 1e-4},
                 {"lbfgs", 60000, 1000, 1e-5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dn_params *p = mlp_params(cases[i].solver, two, 1), *copy;
        p->rules = DN_RULES_FIRST;
        OK(dn_params_copy(p, &copy, NULL));
        OK(dn_params_resolve(copy, cases[i].n_rows, 1, 2, NULL));
        assert_true(dn_params_number(copy, "max_iterations") == cases[i].iterations &&
                    dn_params_number(copy, "tolerance") == cases[i].tolerance);
        dn_params_free(copy);
        dn_params_free(p);
    }
}

static void default_tolerance_and_rate(void **state) {
    (void)state;
    expect_number("adam", 100, "tolerance", 1e-3);
    expect_number("lbfgs", 100, "tolerance", 1e-5);
    expect_number("adam", 100, "learning_rate", 2e-3);
}

/* One feature, 2 units, one score: 7 weights and biases. */
static void restarts_are_ten_up_to_ten_thousand_rows_times_weights(void **state) {
    (void)state;
    expect_number("lbfgs", 1428, "restarts", 10); /* 9996 */
    expect_number("lbfgs", 1429, "restarts", 1);  /* 10003 */
}

static void solver_is_lbfgs_up_to_ten_million_rows_times_weights(void **state) {
    (void)state;
    dn_params *few = resolved("auto", 1428571, 1), *many = resolved("auto", 1428572, 1);
    assert_string_equal(dn_params_word(few, "solver"), "lbfgs");
    assert_string_equal(dn_params_word(many, "solver"), "adam");
    dn_params_free(few);
    dn_params_free(many);
}

static void an_adam_parameter_chooses_adam(void **state) {
    (void)state;
    dn_params *p = mlp_params("auto", two, 1);
    OK(dn_params_set_number(p, "batch_size", 7, NULL));
    OK(dn_params_resolve(p, 100, 1, 2, NULL));
    assert_string_equal(dn_params_word(p, "solver"), "adam");
    assert_string_equal(dn_params_word(p, "activation"), "relu");
    assert_true(dn_params_number(p, "batch_size") == 7);
    dn_params_free(p);
}

static void sixteen_hidden_layers_are_fitted(void **state) {
    (void)state;
    double units[16];
    for (int i = 0; i < 16; i++) {
        units[i] = 2;
    }
    struct problem t = problem_curved(40, 3, 3, false, false);
    dn_params *p = mlp_params("lbfgs", units, 16);
    OK(dn_params_set_number(p, "max_iterations", 2, NULL));
    struct fit fit = fit_problem(&t, p);
    assert_int_equal(fit.out.network->n_layers, 17);
    assert_int_equal(fit.out.network->units[15], 2);
    assert_int_equal(fit.out.network->units[16], 3);
    fit_done(&fit);
    dn_params_free(p);
    logistic_problem_done(&t);
}

static void no_hidden_layer_is_refused(void **state) {
    (void)state;
    dn_params *p = mlp_params("lbfgs", NULL, 0);
    dn_error err = {0};
    dn_status status = dn_params_set_list(p, "layers", two, 0, &err);
    if (status == DN_OK) {
        status = dn_params_check(p, &err);
    }
    assert_int_equal(status, DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "layers");
    dn_params_free(p);
}

static void a_converged_fit_has_no_warning(void **state) {
    (void)state;
    struct problem t = problem_curved(150, 4, 3, false, false);
    for (int early = 0; early < 2; early++) {
        dn_params *p = mlp_params("lbfgs", four, 2);
        OK(dn_params_set_number(p, "lambda", 1e-2, NULL));
        OK(dn_params_set_number(p, "early_stopping", early ? 0.2 : 0, NULL));
        OK(dn_params_set_number(p, "restarts", 2, NULL));
        struct fit fit = fit_problem(&t, p);
        assert_true(fit.report.converged);
        assert_int_equal(fit.report.n_warnings, 0);
        fit_done(&fit);
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

/* A warning recommends early_stopping or a smaller lambda only if the parameters do not have this
 * setting yet. */
static void warnings_give_advice_that_applies(void **state) {
    (void)state;
    struct problem t = problem_curved(200, 3, 2, false, false);
    for (int early = 0; early < 2; early++) {
        dn_params *p = mlp_params("adam", two, 1);
        OK(dn_params_set_number(p, "max_iterations", 1, NULL));
        OK(dn_params_set_number(p, "early_stopping", early ? 0.2 : 0, NULL));
        struct fit fit = fit_problem(&t, p);
        assert_true(logistic_warned(&fit.report, "more max_iterations"));
        assert_true(logistic_warned(&fit.report, "or early_stopping") == (early == 0));
        fit_done(&fit);
        OK(dn_params_set_number(p, "learning_rate", 1e-300, NULL));
        OK(dn_params_set_number(p, "max_iterations", 30, NULL));
        fit = fit_problem(&t, p);
        assert_true(logistic_warned(&fit.report, "no step was better than the random start"));
        assert_false(logistic_warned(&fit.report, "smaller lambda"));
        fit_done(&fit);
        dn_params_free(p);
    }
    logistic_problem_done(&t);
}

/* With validation share 0.5 two of three rows are held out (rounded). Every class keeps one
 * training row. */
static void validation_leaves_a_training_row_in_each_class(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, 5}, y[] = {0, 0, 0, 1, 1};
    const dn_run run = dn_run_default();
    dn_rows *rows;
    OK(dn_rows_from_matrix(dn_matrix_dense(x, 5, 1), y, NULL, &rows, NULL));
    const struct {
        double share;
        size_t first, second;
    } cases[] = {{0.1, 0, 0}, {0.5, 2, 1}, {0.9, 2, 1}};
    for (size_t c = 0; c < 3; c++) {
        bool validation[5] = {false};
        size_t n = 0;
        OK(dni_mlp_choose_validation(rows, 2, cases[c].share, &run, validation, &n, NULL));
        assert_int_equal(validation[0] + validation[1] + validation[2], cases[c].first);
        assert_int_equal(validation[3] + validation[4], cases[c].second);
        assert_int_equal(n, cases[c].first + cases[c].second);
    }
    dn_rows_free(rows);
}

static void estimate_is_within_one_and_a_half_of_the_peak(void **state) {
    (void)state;
    const char *const names[] = {"lbfgs", "adam"};
    for (int c = 0; c < 8; c++) {
        const bool sparse = c & 1, early = c & 4;
        const size_t n = 3000, d = 40;
        struct problem t = problem_curved(n, d, 3, false, sparse);
        dn_params *p = mlp_params(names[(c & 2) / 2], four, 2);
        OK(dn_params_set_number(p, "max_iterations", 2, NULL));
        OK(dn_params_set_number(p, "early_stopping", early ? 0.2 : 0, NULL));
        struct meter meter = {0};
        const dn_allocator allocator = {.allocate = meter_allocate,
                                        .release = meter_release,
                                        .ctx = &meter};
        dn_run run = dn_run_default();
        run.allocator = &allocator;
        struct fit fit;
        OK(fit_rows(t.rows, 3, p, &run, &fit, NULL));
        const dn_fit_shape shape = {.n_rows = n,
                                    .n_features = d,
                                    .n_classes = 3,
                                    .n_slots = 1,
                                    .n_entries = sparse ? (double)t.start[n] : (double)INFINITY};
        const double estimate = p->algorithm->memory(p, &shape), peak = (double)meter.most;
        if (!(peak <= estimate && estimate <= 1.5 * peak)) {
            fail_msg("case %d: %g bytes used, %g estimated", c, peak, estimate);
        }
        fit_done(&fit);
        dn_params_free(p);
        logistic_problem_done(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_batch_is_a_hundredth_of_the_rows_from_16_to_256),
        cmocka_unit_test(default_passes_visit_three_million_rows_from_50_to_500_passes),
        cmocka_unit_test(default_penalty_is_stronger_for_few_rows),
        cmocka_unit_test(first_rules_visit_a_million_rows),
        cmocka_unit_test(default_tolerance_and_rate),
        cmocka_unit_test(restarts_are_ten_up_to_ten_thousand_rows_times_weights),
        cmocka_unit_test(solver_is_lbfgs_up_to_ten_million_rows_times_weights),
        cmocka_unit_test(an_adam_parameter_chooses_adam),
        cmocka_unit_test(sixteen_hidden_layers_are_fitted),
        cmocka_unit_test(no_hidden_layer_is_refused),
        cmocka_unit_test(a_converged_fit_has_no_warning),
        cmocka_unit_test(warnings_give_advice_that_applies),
        cmocka_unit_test(validation_leaves_a_training_row_in_each_class),
        cmocka_unit_test(estimate_is_within_one_and_a_half_of_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
