/* The default of every parameter of the methods without a kernel. */
#include "unit/core/support.h"

/* The default is `word`, or `number` if word is NULL. */
struct preset {
    const char *method, *name, *word;
    double number;
};

static const struct preset presets[] = {
    {"fisher", "threshold", "min_error", 0},
    {"fisher", "components", "auto", 0},
    {"fisher", "shrinkage", "if_singular", 0},
    {"fisher", "priors", "estimated", 0},
    {"fisher", "multiclass", "native", 0},
    {"fisher", "discriminants", "K", 0},
    {"gaussian", "covariance", "shared", 0},
    {"gaussian", "divisor", "ml", 0},
    {"gaussian", "shrinkage", "if_singular", 0},
    {"gaussian", "priors", "estimated", 0},
    {"gaussian", "multiclass", "native", 0},
    {"gaussian", "discriminants", "K", 0},
    {"gaussian", "decision", "probabilities", 0},
    {"naive_bayes", "smoothing", NULL, 1},
    {"naive_bayes", "variance_floor", NULL, 1e-9},
    {"naive_bayes", "numeric", "gaussian", 0},
    {"naive_bayes", "priors", "estimated", 0},
    {"knn", "k", NULL, 5},
    {"knn", "metric", "euclidean", 0},
    {"knn", "votes", "uniform", 0},
    {"mlp", "layers", "auto", 0},
    {"mlp", "solver", "auto", 0},
    {"mlp", "activation", "auto", 0},
    {"mlp", "lambda", "auto", 0},
    {"mlp", "learning_rate", "auto", 0},
    {"mlp", "schedule", "linear", 0},
    {"mlp", "batch_size", "auto", 0},
    {"mlp", "max_iterations", "auto", 0},
    {"mlp", "tolerance", "auto", 0},
    {"mlp", "early_stopping", NULL, 0},
    {"mlp", "patience", NULL, 10},
    {"mlp", "restarts", "auto", 0},
    {"mlp", "init", "glorot", 0},
    {"mlp", "multiclass", "softmax", 0},
    {"mlp", "discriminants", "K", 0},
    {"mlp", "decision", "probabilities", 0},
    {"logistic", "solver", "auto", 0},
    {"logistic", "penalty", "l2", 0},
    {"logistic", "intercept", "free", 0},
    {"logistic", "lambda", "auto", 0},
    {"logistic", "l1_ratio", NULL, 0.5},
    {"logistic", "loss", "cross_entropy", 0},
    {"logistic", "tolerance", "auto", 0},
    {"logistic", "max_iterations", "auto", 0},
    {"logistic", "learning_rate", "auto", 0},
    {"logistic", "batch_size", NULL, 32},
    {"logistic", "order", "shuffled", 0},
    {"logistic", "schedule", "adaptive", 0},
    {"logistic", "init", "random", 0},
    {"logistic", "statistics", "auto", 0},
    {"logistic", "step", "line_search", 0},
    {"logistic", "irls", NULL, 0},
    {"logistic", "multiclass", "softmax", 0},
    {"logistic", "discriminants", "K", 0},
    {"logistic", "decision", "probabilities", 0},
    {"least_squares", "solver", "auto", 0},
    {"least_squares", "lambda", "auto", 0},
    {"least_squares", "intercept", "free", 0},
    {"least_squares", "learning_rate", "auto", 0},
    {"least_squares", "tolerance", "auto", 0},
    {"least_squares", "max_iterations", "auto", 0},
    {"least_squares", "init", "random", 0},
    {"least_squares", "targets", "one_of_k", 0},
    {"least_squares", "statistics", "auto", 0},
    {"least_squares", "multiclass", "native", 0},
    {"least_squares", "discriminants", "K", 0},
    {"least_squares", "calibrate", "none", 0},
    {"least_squares", "calibration_folds", NULL, 5},
    {"least_squares", "decision", "probabilities", 0},
    {"perceptron", "criterion", "perceptron", 0},
    {"perceptron", "mode", "sequential", 0},
    {"perceptron", "step", "auto", 0},
    {"perceptron", "normalize_step", NULL, 1},
    {"perceptron", "at_zero", "wrong", 0},
    {"perceptron", "margin", "auto", 0},
    {"perceptron", "learning_rate", "auto", 0},
    {"perceptron", "schedule", "constant", 0},
    {"perceptron", "order", "shuffled", 0},
    {"perceptron", "max_iterations", NULL, 1000},
    {"perceptron", "tolerance", NULL, 1e-6},
    {"perceptron", "init", "auto", 0},
    {"perceptron", "multiclass", "one_vs_rest", 0},
    {"perceptron", "discriminants", "K", 0},
    {"perceptron", "calibrate", "none", 0},
    {"perceptron", "calibration_folds", NULL, 5},
    {"perceptron", "decision", "probabilities", 0},
};
enum { N_PRESETS = sizeof presets / sizeof presets[0] };

/* The test fails if a parameter is missing from this table. */
static void test_every_parameter_has_its_default(void **state) {
    (void)state;
    for (size_t first = 0, n; first < N_PRESETS; first += n) {
        const dn_algorithm *algorithm = dn_algorithm_find(presets[first].method);
        dn_params *p;
        assert_non_null(algorithm);
        OK(dn_params_new(algorithm, &p, NULL));
        for (n = 0;
             first + n < N_PRESETS && strcmp(presets[first + n].method, presets[first].method) == 0;
             n++) {
            const struct preset *own = &presets[first + n];
            const char *word = dn_params_word(p, own->name);
            if (own->word != NULL && (word == NULL || strcmp(word, own->word) != 0)) {
                fail_msg("%s %s: %s", own->method, own->name, word == NULL ? "no word" : word);
            }
            if (own->word == NULL &&
                (word != NULL || dn_params_number(p, own->name) != own->number)) {
                fail_msg("%s %s: %g", own->method, own->name, dn_params_number(p, own->name));
            }
        }
        if (n != algorithm->n_params) {
            fail_msg("%s has %zu parameters, %zu are tested", algorithm->id, algorithm->n_params,
                     n);
        }
        dn_params_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_parameter_has_its_default)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
