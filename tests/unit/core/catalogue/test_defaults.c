/* The parameters of all methods: type, default and range of each. A change of a default changes the
 * models of all users who do not set it, and must be made here too. */
#include "unit/core/support.h"

static const struct row {
    const char *method, *name;
    dn_param_type type;
    const char *word; /* default word or choice */
    double number, minimum, maximum;
    bool open_minimum, open_maximum;
} rows[] = {
    {"logistic", "solver", DN_PARAM_CHOICE, "auto", 0, 0, 0, false, false},
    {"logistic", "penalty", DN_PARAM_CHOICE, "l2", 0, 0, 0, false, false},
    {"logistic", "intercept", DN_PARAM_CHOICE, "free", 0, 0, 0, false, false},
    {"logistic", "lambda", DN_PARAM_NUMBER, "auto", 0.001, 0, (double)INFINITY, false, true},
    {"logistic", "l1_ratio", DN_PARAM_NUMBER, NULL, 0.5, 0, 1, false, false},
    {"logistic", "loss", DN_PARAM_CHOICE, "cross_entropy", 0, 0, 0, false, false},
    {"logistic", "tolerance", DN_PARAM_NUMBER, "auto", 1.0000000000000001e-09, 0, (double)INFINITY,
     false, true},
    {"logistic", "max_iterations", DN_PARAM_INTEGER, "auto", 100, 0, 1000000000, false, false},
    {"logistic", "learning_rate", DN_PARAM_NUMBER, "auto", 0.10000000000000001, 0, (double)INFINITY,
     true, true},
    {"logistic", "batch_size", DN_PARAM_INTEGER, NULL, 32, 1, 4096, false, false},
    {"logistic", "order", DN_PARAM_CHOICE, "shuffled", 0, 0, 0, false, false},
    {"logistic", "schedule", DN_PARAM_CHOICE, "adaptive", 0, 0, 0, false, false},
    {"logistic", "init", DN_PARAM_LIST, "random", 0, -(double)INFINITY, (double)INFINITY, true,
     true},
    {"logistic", "step", DN_PARAM_CHOICE, "line_search", 0, 0, 0, false, false},
    {"logistic", "irls", DN_PARAM_BOOLEAN, NULL, 0, 0, 0, false, false},
    {"logistic", "multiclass", DN_PARAM_CHOICE, "softmax", 0, 0, 0, false, false},
    {"logistic", "discriminants", DN_PARAM_CHOICE, "K", 0, 0, 0, false, false},
    {"logistic", "decision", DN_PARAM_CHOICE, "probabilities", 0, 0, 0, false, false},
    {"logistic", "statistics", DN_PARAM_CHOICE, "auto", 0, 0, 0, false, false},
    {"least_squares", "solver", DN_PARAM_CHOICE, "auto", 0, 0, 0, false, false},
    {"least_squares", "lambda", DN_PARAM_NUMBER, "auto", 0.001, 0, (double)INFINITY, false, true},
    {"least_squares", "intercept", DN_PARAM_CHOICE, "free", 0, 0, 0, false, false},
    {"least_squares", "learning_rate", DN_PARAM_NUMBER, "auto", 0.10000000000000001, 0,
     (double)INFINITY, true, true},
    {"least_squares", "tolerance", DN_PARAM_NUMBER, "auto", 1e-10, 0, (double)INFINITY, false,
     true},
    {"least_squares", "max_iterations", DN_PARAM_INTEGER, "auto", 2000, 0, 1000000000, false,
     false},
    {"least_squares", "init", DN_PARAM_LIST, "random", 0, -(double)INFINITY, (double)INFINITY, true,
     true},
    {"least_squares", "targets", DN_PARAM_CHOICE, "one_of_k", 0, 0, 0, false, false},
    {"least_squares", "multiclass", DN_PARAM_CHOICE, "native", 0, 0, 0, false, false},
    {"least_squares", "discriminants", DN_PARAM_CHOICE, "K", 0, 0, 0, false, false},
    {"least_squares", "statistics", DN_PARAM_CHOICE, "auto", 0, 0, 0, false, false},
    {"least_squares", "calibrate", DN_PARAM_CHOICE, "none", 0, 0, 0, false, false},
    {"least_squares", "calibration_folds", DN_PARAM_INTEGER, NULL, 5, 2, 20, false, false},
    {"least_squares", "decision", DN_PARAM_CHOICE, "probabilities", 0, 0, 0, false, false},
    {"fisher", "threshold", DN_PARAM_CHOICE, "min_error", 0, 0, 0, false, false},
    {"fisher", "components", DN_PARAM_INTEGER, "auto", 1, 1, 1000000000, false, false},
    {"fisher", "shrinkage", DN_PARAM_NUMBER, "if_singular", 0, 0, 1, false, false},
    {"fisher", "priors", DN_PARAM_LIST, "estimated", 0, 0, 1, true, true},
    {"fisher", "multiclass", DN_PARAM_CHOICE, "native", 0, 0, 0, false, false},
    {"fisher", "discriminants", DN_PARAM_CHOICE, "K", 0, 0, 0, false, false},
    {"perceptron", "criterion", DN_PARAM_CHOICE, "perceptron", 0, 0, 0, false, false},
    {"perceptron", "mode", DN_PARAM_CHOICE, "sequential", 0, 0, 0, false, false},
    {"perceptron", "step", DN_PARAM_CHOICE, "auto", 0, 0, 0, false, false},
    {"perceptron", "normalize_step", DN_PARAM_BOOLEAN, NULL, 1, 0, 0, false, false},
    {"perceptron", "at_zero", DN_PARAM_CHOICE, "wrong", 0, 0, 0, false, false},
    {"perceptron", "order", DN_PARAM_CHOICE, "shuffled", 0, 0, 0, false, false},
    {"perceptron", "margin", DN_PARAM_NUMBER, "auto", 0, 0, (double)INFINITY, false, true},
    {"perceptron", "learning_rate", DN_PARAM_NUMBER, "auto", 1, 0, (double)INFINITY, true, true},
    {"perceptron", "schedule", DN_PARAM_CHOICE, "constant", 0, 0, 0, false, false},
    {"perceptron", "max_iterations", DN_PARAM_INTEGER, NULL, 1000, 0, 1000000000, false, false},
    {"perceptron", "tolerance", DN_PARAM_NUMBER, NULL, 9.9999999999999995e-07, 0, (double)INFINITY,
     false, true},
    {"perceptron", "init", DN_PARAM_LIST, "auto", 0, -(double)INFINITY, (double)INFINITY, true,
     true},
    {"perceptron", "multiclass", DN_PARAM_CHOICE, "one_vs_rest", 0, 0, 0, false, false},
    {"perceptron", "discriminants", DN_PARAM_CHOICE, "K", 0, 0, 0, false, false},
    {"perceptron", "calibrate", DN_PARAM_CHOICE, "none", 0, 0, 0, false, false},
    {"perceptron", "calibration_folds", DN_PARAM_INTEGER, NULL, 5, 2, 20, false, false},
    {"perceptron", "decision", DN_PARAM_CHOICE, "probabilities", 0, 0, 0, false, false},
    {"gaussian", "covariance", DN_PARAM_CHOICE, "shared", 0, 0, 0, false, false},
    {"gaussian", "divisor", DN_PARAM_CHOICE, "ml", 0, 0, 0, false, false},
    {"gaussian", "shrinkage", DN_PARAM_NUMBER, "if_singular", 0, 0, 1, false, false},
    {"gaussian", "priors", DN_PARAM_LIST, "estimated", 0, 0, 1, true, true},
    {"gaussian", "multiclass", DN_PARAM_CHOICE, "native", 0, 0, 0, false, false},
    {"gaussian", "discriminants", DN_PARAM_CHOICE, "K", 0, 0, 0, false, false},
    {"gaussian", "decision", DN_PARAM_CHOICE, "probabilities", 0, 0, 0, false, false},
    {"naive_bayes", "smoothing", DN_PARAM_NUMBER, NULL, 1, 0, (double)INFINITY, false, true},
    {"naive_bayes", "variance_floor", DN_PARAM_NUMBER, NULL, 1.0000000000000001e-09, 0,
     (double)INFINITY, false, true},
    {"naive_bayes", "numeric", DN_PARAM_CHOICE, "gaussian", 0, 0, 0, false, false},
    {"naive_bayes", "priors", DN_PARAM_LIST, "estimated", 0, 0, 1, true, true},
    {"svm", "C", DN_PARAM_NUMBER, NULL, 1, 0, (double)INFINITY, true, true},
    {"svm", "kernel", DN_PARAM_CHOICE, "linear", 0, 0, 0, false, false},
    {"svm", "kernel.gamma", DN_PARAM_NUMBER, "auto", 1, 0, (double)INFINITY, true, true},
    {"svm", "kernel.coef0", DN_PARAM_NUMBER, "auto", 1, -(double)INFINITY, (double)INFINITY, true,
     true},
    {"svm", "kernel.degree", DN_PARAM_INTEGER, NULL, 2, 1, 100, false, false},
    {"svm", "kernel.scale", DN_PARAM_NUMBER, "auto", 1, -(double)INFINITY, (double)INFINITY, true,
     true},
    {"svm", "kernel.width", DN_PARAM_NUMBER, "auto", 1, 0, (double)INFINITY, true, true},
    {"svm", "kernel.metric", DN_PARAM_CHOICE, "euclidean", 0, 0, 0, false, false},
    {"svm", "kernel.length", DN_PARAM_INTEGER, NULL, 3, 1, 8, false, false},
    {"svm", "kernel.covariance", DN_PARAM_LIST, "estimated", 0, -(double)INFINITY, (double)INFINITY,
     false, false},
    {"svm", "kernel.normalize", DN_PARAM_BOOLEAN, NULL, 0, 0, 0, false, false},
    {"svm", "solver", DN_PARAM_CHOICE, "auto", 0, 0, 0, false, false},
    {"svm", "loss", DN_PARAM_CHOICE, "hinge", 0, 0, 0, false, false},
    {"svm", "intercept", DN_PARAM_CHOICE, "free", 0, 0, 0, false, false},
    {"svm", "tolerance", DN_PARAM_NUMBER, "auto", 0.001, 0, 1, true, false},
    {"svm", "max_iterations", DN_PARAM_INTEGER, "auto", 10000, 1, 1000000000, false, false},
    {"svm", "cache_mib", DN_PARAM_NUMBER, NULL, 512, 1, 1048576, false, false},
    {"svm", "multiclass", DN_PARAM_CHOICE, "one_vs_one", 0, 0, 0, false, false},
    {"svm", "discriminants", DN_PARAM_CHOICE, "K", 0, 0, 0, false, false},
    {"svm", "calibrate", DN_PARAM_CHOICE, "none", 0, 0, 0, false, false},
    {"svm", "calibration_folds", DN_PARAM_INTEGER, NULL, 5, 2, 20, false, false},
    {"svm", "decision", DN_PARAM_CHOICE, "probabilities", 0, 0, 0, false, false},
    {"one_class_svm", "nu", DN_PARAM_NUMBER, NULL, 0.10000000000000001, 1.0000000000000001e-09, 1,
     false, false},
    {"one_class_svm", "kernel", DN_PARAM_CHOICE, "rbf", 0, 0, 0, false, false},
    {"one_class_svm", "kernel.gamma", DN_PARAM_NUMBER, "auto", 1, 0, (double)INFINITY, true, true},
    {"one_class_svm", "kernel.coef0", DN_PARAM_NUMBER, "auto", 1, -(double)INFINITY,
     (double)INFINITY, true, true},
    {"one_class_svm", "kernel.degree", DN_PARAM_INTEGER, NULL, 2, 1, 100, false, false},
    {"one_class_svm", "kernel.scale", DN_PARAM_NUMBER, "auto", 1, -(double)INFINITY,
     (double)INFINITY, true, true},
    {"one_class_svm", "kernel.width", DN_PARAM_NUMBER, "auto", 1, 0, (double)INFINITY, true, true},
    {"one_class_svm", "kernel.metric", DN_PARAM_CHOICE, "euclidean", 0, 0, 0, false, false},
    {"one_class_svm", "kernel.length", DN_PARAM_INTEGER, NULL, 3, 1, 8, false, false},
    {"one_class_svm", "kernel.covariance", DN_PARAM_LIST, "estimated", 0, -(double)INFINITY,
     (double)INFINITY, false, false},
    {"one_class_svm", "kernel.normalize", DN_PARAM_BOOLEAN, NULL, 0, 0, 0, false, false},
    {"one_class_svm", "tolerance", DN_PARAM_NUMBER, NULL, 0.0001, 0, 1, true, false},
    {"one_class_svm", "max_iterations", DN_PARAM_INTEGER, "auto", 10000, 1, 1000000000, false,
     false},
    {"one_class_svm", "cache_mib", DN_PARAM_NUMBER, NULL, 512, 1, 1048576, false, false},
    {"mlp", "layers", DN_PARAM_LIST, "auto", 0, 1, 10000, false, false},
    {"mlp", "activation", DN_PARAM_CHOICE, "auto", 0, 0, 0, false, false},
    {"mlp", "solver", DN_PARAM_CHOICE, "auto", 0, 0, 0, false, false},
    {"mlp", "lambda", DN_PARAM_NUMBER, "auto", 0.001, 0, (double)INFINITY, false, true},
    {"mlp", "learning_rate", DN_PARAM_NUMBER, "auto", 0.002, 0, 1000, true, false},
    {"mlp", "schedule", DN_PARAM_CHOICE, "linear", 0, 0, 0, false, false},
    {"mlp", "batch_size", DN_PARAM_INTEGER, "auto", 256, 1, 1000000, false, false},
    {"mlp", "max_iterations", DN_PARAM_INTEGER, "auto", 2000, 0, 1000000000, false, false},
    {"mlp", "tolerance", DN_PARAM_NUMBER, "auto", 1.0000000000000001e-05, 0, (double)INFINITY,
     false, true},
    {"mlp", "early_stopping", DN_PARAM_NUMBER, NULL, 0, 0, 0.90000000000000002, false, false},
    {"mlp", "patience", DN_PARAM_INTEGER, NULL, 10, 1, 1000000000, false, false},
    {"mlp", "restarts", DN_PARAM_INTEGER, "auto", 1, 1, 1000, false, false},
    {"mlp", "init", DN_PARAM_LIST, "glorot", 0, -(double)INFINITY, (double)INFINITY, true, true},
    {"mlp", "multiclass", DN_PARAM_CHOICE, "softmax", 0, 0, 0, false, false},
    {"mlp", "discriminants", DN_PARAM_CHOICE, "K", 0, 0, 0, false, false},
    {"mlp", "decision", DN_PARAM_CHOICE, "probabilities", 0, 0, 0, false, false},
    {"knn", "k", DN_PARAM_INTEGER, NULL, 5, 1, 1000000, false, false},
    {"knn", "metric", DN_PARAM_CHOICE, "euclidean", 0, 0, 0, false, false},
    {"knn", "votes", DN_PARAM_CHOICE, "uniform", 0, 0, 0, false, false},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static void parameters_are_those(void **state) {
    (void)state;
    size_t i = 0;
    for (size_t a = 0; a < dn_algorithm_count(); a++) {
        const dn_algorithm *method = dn_algorithm_at(a);
        dn_params *p;
        OK(dn_params_new(method, &p, NULL));
        for (size_t k = 0; k < method->n_params; k++, i++) {
            const dn_param *param = &method->params[k];
            assert_true(i < N_ROWS);
            assert_string_equal(method->id, rows[i].method);
            assert_string_equal(param->name, rows[i].name);
            assert_int_equal(param->type, rows[i].type);
            assert_true(param->minimum == rows[i].minimum && param->maximum == rows[i].maximum);
            assert_true(param->open_minimum == rows[i].open_minimum &&
                        param->open_maximum == rows[i].open_maximum);
            assert_true(dn_params_number(p, param->name) == rows[i].number);
            const char *word = dn_params_word(p, param->name);
            assert_true((word == NULL) == (rows[i].word == NULL) &&
                        (word == NULL || strcmp(word, rows[i].word) == 0));
        }
        dn_params_free(p);
    }
    assert_int_equal(i, N_ROWS);
}

/* Sets a parameter to a number; a parameter of type list, to a list of this one number. */
static dn_status set(dn_params *p, const dn_param *param, double value) {
    return param->type == DN_PARAM_LIST ? dn_params_set_list(p, param->name, &value, 1, NULL)
                                        : dn_params_set_number(p, param->name, value, NULL);
}

/* A value equal to a closed limit is allowed; a value equal to an open limit, and the next double
 * outside the range, are refused. */
static void limits_are_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct row *row = &rows[i];
        dn_params *p;
        OK(dn_params_new(dn_algorithm_find(row->method), &p, NULL));
        const dn_param *param = dn_algorithm_param(p->algorithm, row->name);
        const bool whole = param->type == DN_PARAM_INTEGER || param->integers;
        if (param->type == DN_PARAM_CHOICE || param->type == DN_PARAM_BOOLEAN) {
            dn_params_free(p);
            continue;
        }
        if (!isinf(row->minimum)) {
            const double below =
                whole ? row->minimum - 1 : nextafter(row->minimum, -(double)INFINITY);
            assert_int_equal(set(p, param, row->minimum) == DN_OK, !row->open_minimum);
            assert_int_equal(set(p, param, below), DN_ERR_ARGUMENT);
        }
        if (!isinf(row->maximum)) {
            const double above =
                whole ? row->maximum + 1 : nextafter(row->maximum, (double)INFINITY);
            assert_int_equal(set(p, param, row->maximum) == DN_OK, !row->open_maximum);
            assert_int_equal(set(p, param, above), DN_ERR_ARGUMENT);
        }
        if (whole) {
            assert_int_equal(set(p, param, row->minimum + 0.5), DN_ERR_ARGUMENT);
        }
        assert_int_equal(set(p, param, (double)INFINITY), DN_ERR_ARGUMENT);
        assert_int_equal(set(p, param, -(double)INFINITY), DN_ERR_ARGUMENT);
        assert_int_equal(set(p, param, (double)NAN), DN_ERR_ARGUMENT);
        dn_params_free(p);
    }
}

/* Lists have 1 to DN_MAX_LIST numbers. */
static void lengths_are_exact(void **state) {
    (void)state;
    dn_params *p;
    double *ones = xcalloc(DN_MAX_LIST + 1, sizeof *ones);
    size_t n;
    OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
    OK(dn_params_set_list(p, "init", ones, DN_MAX_LIST, NULL));
    assert_non_null(dn_params_list(p, "init", &n));
    assert_int_equal(n, DN_MAX_LIST);
    assert_int_equal(dn_params_set_list(p, "init", ones, DN_MAX_LIST + 1, NULL), DN_ERR_ARGUMENT);
    assert_int_equal(dn_params_set_list(p, "init", ones, 0, NULL), DN_ERR_ARGUMENT);
    OK(dn_params_set_list(p, "init", ones, 1, NULL));
    free(ones);
    dn_params_free(p);
}

/* dn_params_boolean returns the value that was set. An unknown name gives false, NaN and NULL. */
static void booleans(void **state) {
    (void)state;
    dn_params *p;
    size_t n = 1;
    OK(dn_params_new(dn_algorithm_find("svm"), &p, NULL));
    assert_false(dn_params_boolean(p, "kernel.normalize"));
    OK(dn_params_set_boolean(p, "kernel.normalize", true, NULL));
    assert_true(dn_params_boolean(p, "kernel.normalize"));
    OK(dn_params_set_boolean(p, "kernel.normalize", false, NULL));
    assert_false(dn_params_boolean(p, "kernel.normalize"));
    assert_false(dn_params_boolean(p, "none"));
    assert_true(isnan(dn_params_number(p, "none")) && dn_params_word(p, "none") == NULL);
    assert_true(dn_params_list(p, "none", &n) == NULL && n == 0);
    assert_false(dn_params_has(p, "none"));
    assert_null(dn_algorithm_param(p->algorithm, "none"));
    dn_params_free(p);
}

/* Ranges are printed as plain numbers. */
static void ranges_are_plain(void **state) {
    (void)state;
    dn_params *p;
    dn_error err;
    OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
    dn_error_clear(&err);
    assert_int_equal(dn_params_set_number(p, "max_iterations", 2e9, &err), DN_ERR_ARGUMENT);
    assert_string_equal(err.message, "parameter \"max_iterations\" must be an integer >= 0 and <= "
                                     "1000000000 or \"auto\" (got 2000000000)");
    dn_params_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those), cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(lengths_are_exact),    cmocka_unit_test(booleans),
        cmocka_unit_test(ranges_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
