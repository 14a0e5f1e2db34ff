/* Tests of constant columns, and of columns without a value in the training rows. Every algorithm
 * trains, warns of these columns, and gives them weight 0. */
#include "unit/core/learners/shared/densities.h"

enum { N = 120, D = 4, UNLABELLED = 6 };

/* Columns #0 and #3 vary with the class; #1 is 0.3 in all rows with a class, #2 has values only in
 * rows without a class. */
static struct csv *data_with_constant_columns(void) {
    struct csv *t = csv_clouds(N, D, 3);
    for (size_t i = 0; i < N; i++) {
        t->x[i * D + 1] = 0.1 * 3;
        t->x[i * D + 2] = (double)NAN;
    }
    for (size_t i = 0; i < UNLABELLED; i++) {
        t->x[i * D + 1] = 5;
        t->x[i * D + 2] = (double)i;
    }
    return t;
}

static bool warned(const dn_report *report, const char *of, const char *name) {
    bool found = false;
    for (size_t i = 0; i < report->n_warnings; i++) {
        found = found || (strstr(report->warnings[i].text, of) != NULL &&
                          strstr(report->warnings[i].text, name) != NULL);
    }
    return found;
}

struct choice {
    const char *algorithm, *name, *word;
};

static void train_with(const struct csv *t, const struct choice *c, bool standardize) {
    struct table *table = table_of(t);
    for (size_t i = 0; i < UNLABELLED; i++) {
        table->codes[i] = DN_CODE_MISSING;
    }
    dn_params *p = params_for(c->algorithm);
    if (c->name != NULL) {
        OK(dn_params_set_word(p, c->name, c->word, NULL));
    }
    dn_train_request request = table_request(t, table, p);
    request.features.standardize = standardize;
    dn_run run = dn_run_default();
    dn_train_result result;
    dn_error err = {0};
    if (dn_train(&request, &run, &result, &err) != DN_OK) {
        fail_msg("%s %s: %s", c->algorithm, c->word == NULL ? "" : c->word, err.message);
    }
    assert_true(warned(&result.report, "the same value", t->names[1]));
    assert_false(warned(&result.report, "the same value", t->names[3]));
    assert_true(warned(&result.report, "no training row has a value", t->names[2]));
    dn_linear linear;
    for (size_t k = 0; standardize && dn_model_linear(result.model, &linear) && k < linear.n_scores;
         k++) {
        assert_true(linear.w[k * D + 1] == 0 && linear.w[k * D + 2] == 0);
        assert_true(linear.w[k * D] != 0 && linear.w[k * D + 3] != 0);
    }
    assert_true(result.n_train == N - UNLABELLED);
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
}

static void every_algorithm(void **state) {
    (void)state;
    static const struct choice choices[] = {{"logistic", NULL, NULL},
                                            {"logistic", "solver",
                                             "gradient_descent"}, /* starts at random weights */
                                            {"logistic", "solver", "sgd"},
                                            {"logistic", "penalty", "none"},
                                            {"least_squares", NULL, NULL},
                                            {"perceptron", "init", "random"},
                                            {"fisher", NULL, NULL},
                                            {"gaussian", "covariance", "shared"},
                                            {"gaussian", "covariance", "full"},
                                            {"gaussian", "covariance", "diagonal"},
                                            {"naive_bayes", NULL, NULL}};
    struct csv *t = data_with_constant_columns();
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        train_with(t, &choices[i], true);
        train_with(t, &choices[i], false);
    }
    csv_free(t);
}

/* A Gaussian basis function whose centre is so far from the rows that it is 0 in all of them. */
static void derived_features(void **state) {
    (void)state;
    struct csv *t = csv_clouds(N, 2, 3);
    struct table *table = table_of(t);
    dn_params *p = params_for("logistic");
    const double centres[] = {10, 20, 1e6, 1e6}; /* two centres; the second is far from all rows */
    const dn_basis_spec gaussians = {.kind = DN_BASIS_GAUSSIAN,
                                     .points = centres,
                                     .n_points = 2,
                                     .width = 3};
    dn_train_request request = table_request(t, table, p);
    request.features.bases = &gaussians;
    request.features.n_bases = 1;
    dn_run run = dn_run_default();
    dn_train_result result;
    OK(dn_train(&request, &run, &result, NULL));
    assert_int_equal(result.report.n_warnings, 1);
    assert_true(warned(&result.report, "1 of the features of the bases", "(2)"));
    dn_train_result_done(&result);
    dn_params_free(p);
    columns_table_free(table);
    csv_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_algorithm),
                                       cmocka_unit_test(derived_features)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
