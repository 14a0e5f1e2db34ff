/* Least squares for classification: 1-of-K targets r, or those of another coding, fitted by linear
 * outputs.
 *
 *   minimise  Σ_t v_t ‖r_t − W x_t − w_0‖² / Σ_t v_t + λ ‖W‖²
 *
 * Two classes have the outputs y_2 = (1 + g)/2 and y_1 = (1 − g)/2 of one discriminant g = y_2 −
 * y_1, which fits the targets −1 and 1. Bishop, PRML, section 4.1.3; Hastie, Tibshirani and
 * Friedman, ESL, section 4.2. */
#include "catalogue/calibration_params.h"
#include "catalogue/intercept_params.h"
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "catalogue/statistics_params.h"
#include "learners/least_squares/least_squares_fit.h"
#include "learners/shared/learner.h"
#include "learners/shared/linear/row_space.h"

#include <math.h>
#include <string.h>

static const char *const solvers[] = {"auto", "closed_form", "conjugate_gradient",
                                      "gradient_descent", NULL};
static const char *const solver_meanings[] = {
    "closed_form with at most 1024 features, or at most 8192 when rows times features squared are "
    "at most 2e11, or with lambda = 0, at most 2049 rows and at least as many features; "
    "conjugate_gradient otherwise",
    "the normal equations of centred, scaled columns by Cholesky's method with a step of "
    "refinement; pivoted QR of the rows when they are ill-conditioned or of less than full rank; "
    "at most 8192 features. With lambda = 0, at most 2049 rows and at least as many features: by "
    "the eigenvectors of the products of the rows",
    "the same equations by conjugate gradients, without a matrix: one pass over the rows "
    "in each iteration, for many features and sparse rows; with lambda = 0 it starts at 0 and "
    "converges to the weights of least norm",
    "the textbook's loop: a fixed learning rate over all rows; with lambda = 0 and dependent "
    "columns the weights are then replaced by those of least norm with the same outputs",
    NULL};
static const char *const inits[] = {"random", "zero", NULL};
static const char *const init_meanings[] = {"uniform in (-0.01, 0.01) from the seed",
                                            "all weights 0", NULL};

static const dn_param params[] = {
    DNI_PARAM_CHOICE("solver", "How the minimum is found.", "auto", solvers, solver_meanings),
    DNI_PARAM_LAMBDA_AUTO(
        "Strength of the penalty lambda * |W|^2 of ridge regression; the loss is a mean over rows, "
        "there is no factor 1/2, and see intercept for w0. The penalty depends on the "
        "units of the features, so features are standardised by default if lambda is above 0. 0: "
        "no penalty; columns that are linear combinations of others then get the weights of least "
        "norm. auto: 1/(2 V), V the sum of the weights of the training rows, or their number "
        "without weights."),
    DNI_PARAM_INTERCEPT,
    DNI_PARAM_LEARNING_RATE(
        "For gradient_descent: the factor of the sum of (target - output) x over the rows. auto: "
        "1/(n L), with L the curvature bound found by power iteration.",
        0.1),
    {.name = "tolerance",
     .type = DN_PARAM_NUMBER,
     .meaning = "For conjugate_gradient: stops when, for every output, the Euclidean norm of the "
                "residual of the normal equations is at most this times that of their right-hand "
                "side, after each equation is divided by the deviation of its column. For "
                "gradient_descent: when the largest component of the gradient, with respect to "
                "standardised weights and intercepts, is at most this. 0: runs to max_iterations. "
                "auto: 1e-10 for conjugate_gradient, 1e-5 for gradient_descent.",
     .default_choice = "auto",
     .default_number = 1e-10,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true,
     .word = "auto"},
    DNI_PARAM_MAX_ITERATIONS_FROM(
        0,
        "For conjugate_gradient and gradient_descent: the maximum number of iterations, each a "
        "pass over the rows. auto: 2000 for conjugate_gradient; 20000 for gradient_descent, with "
        "many rows fewer, so that it visits 10^8 rows, but at least 500. 0, for gradient_descent: "
        "the model has the weights of init.",
        2000),
    DNI_PARAM_START("For gradient_descent. ", "random", inits, init_meanings),
    DNI_PARAM_CHOICE("targets",
                     "The numbers that the outputs are fitted to. The minimum predicts the same "
                     "classes with each, also with lambda > 0. Weights, objective, residual sum of "
                     "squares, gradient and standard errors are those of the coding.",
                     "one_of_k", dni_target_codings, dni_target_coding_meanings),
    DNI_PARAM_MULTICLASS(dni_multiclass_native, "native"),
    DNI_PARAM_DISCRIMINANTS,
    DNI_PARAM_STATISTICS,
    DNI_PARAMS_CALIBRATE,
    DNI_PARAM_DECISION,
};

static dn_status check(const dn_params *p, dn_error *err) {
    const char *solver = dn_params_word(p, "solver");
    if (dn_params_word(p, "learning_rate") == NULL && strcmp(solver, "gradient_descent") != 0) {
        return dni_parameter_error(err, "learning_rate",
                                   "parameter \"learning_rate\" belongs to solver "
                                   "gradient_descent (the solver is \"%s\")",
                                   solver);
    }
    size_t n;
    if (strcmp(solver, "gradient_descent") != 0 &&
        (dn_params_list(p, "init", &n) != NULL || dn_params_number(p, "max_iterations") == 0)) {
        const bool list = dn_params_list(p, "init", &n) != NULL;
        return dni_parameter_error(
            err, list ? "init" : "max_iterations",
            "parameter \"%s\" %s only for solver gradient_descent (the solver is \"%s\")",
            list ? "init" : "max_iterations", list ? "can be a list" : "can be 0", solver);
    }
    return dni_multiclass_check(p, err);
}

/* One choice of the parameter "solver". */
struct method {
    const char *name;
    double tolerance;           /* value of tolerance "auto"; 0: not an iterative solver */
    double most, visits, least; /* max_iterations "auto": visits/n_rows, from least to most */
    dn_status (*solve)(dni_least_squares *fit, dn_error *err);
    double (*bytes)(double lambda, const dn_fit_shape *shape);
};
static const struct method methods[] = {
    {.name = "closed_form",
     .solve = dni_least_squares_solve,
     .bytes = dni_least_squares_solve_bytes},
    {.name = "conjugate_gradient",
     .tolerance = 1e-10,
     .most = 2000,
     .visits = (double)INFINITY,
     .solve = dni_least_squares_conjugate,
     .bytes = dni_least_squares_conjugate_bytes},
    {.name = "gradient_descent",
     .tolerance = 1e-5,
     .most = 20000,
     .visits = 1e8,
     .least = 500,
     .solve = dni_least_squares_descend,
     .bytes = dni_least_squares_descend_bytes},
};
enum { CLOSED_FORM, CONJUGATE_GRADIENT, N_METHODS = sizeof methods / sizeof methods[0] };

/* Implements the rule of solver "auto" that solver_meanings documents. The choice depends on the
 * parameters and on the shape only, so that the same data always get the same solver. */
static const struct method *choose_method(const dn_params *p, size_t n_rows, size_t n_features) {
    const char *word = dn_params_word(p, "solver");
    const double d = (double)n_features;
    const bool wide =
        dn_params_number(p, "lambda") == 0 && dni_row_space_applies(n_rows, n_features);
    for (size_t i = 0; i < N_METHODS; i++) {
        if (strcmp(word, methods[i].name) == 0) {
            return &methods[i];
        }
    }
    const bool closed =
        wide || d <= 1024 || (d <= DNI_LEAST_SQUARES_MAX_COLS && (double)n_rows * d * d <= 2e11);
    return &methods[closed ? CLOSED_FORM : CONJUGATE_GRADIENT];
}

static double tolerance_of(const dn_params *p, const struct method *method) {
    return dn_params_word(p, "tolerance") == NULL ? dn_params_number(p, "tolerance")
                                                  : method->tolerance;
}

static size_t iterations_of(const dn_params *p, const struct method *method, size_t n_rows) {
    if (dn_params_word(p, "max_iterations") == NULL) {
        return (size_t)dn_params_number(p, "max_iterations");
    }
    return dni_default_iterations(n_rows, method->visits, method->least, method->most);
}

/* Without a penalty and with an intercept, the features of all levels of a category are linearly
 * dependent. */
static bool drops_first(const dn_params *p) {
    return dni_lambda_is_zero(p) && !dni_params_is(p, "intercept", "none");
}

/* Without a penalty, standardising changes only rounding errors and which weights have the least
 * norm. */
static bool standardizes(const dn_params *p) {
    return !dni_lambda_is_zero(p);
}

static dn_status resolve(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                         dn_error *err) {
    const struct method *method = choose_method(p, n_rows, n_features);
    dn_status status = dni_start_check(p, n_classes == 2 ? 1 : n_classes, n_features, err);
    if (status == DN_OK) {
        status = dn_params_set_word(p, "solver", method->name, err);
    }
    if (status != DN_OK || method->tolerance == 0) {
        return status;
    }
    status = dn_params_set_number(p, "tolerance", tolerance_of(p, method), err);
    if (status != DN_OK) {
        return status;
    }
    return dn_params_set_number(p, "max_iterations", (double)iterations_of(p, method, n_rows), err);
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const size_t n_scores = shape->n_classes == 2 ? 1 : shape->n_classes;
    const double weights = 8 * ((double)shape->n_features + 1) * (double)n_scores;
    return weights + choose_method(p, shape->n_rows, shape->n_features)
                         ->bytes(dn_params_number(p, "lambda"), shape);
}

static dn_status fit_least_squares(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                                   dn_report *report, dn_error *err) {
    const dn_rows *rows = input->rows;
    const struct method *method = choose_method(input->params, rows->n_rows, rows->n_cols);
    const size_t n_scores = input->n_classes == 2 ? 1 : input->n_classes, width = rows->n_cols + 1;
    dni_least_squares fit = {.input = input,
                             .run = run,
                             .report = report,
                             .lambda = dni_lambda_of(input->params, fmax((double)rows->n_rows, 1)),
                             .coding = dni_target_coding_of(input->params, input->n_classes),
                             .intercept = dni_intercept_of(input->params,
                                                           !dni_lambda_is_zero(input->params)),
                             .tolerance = tolerance_of(input->params, method),
                             .max_iterations = iterations_of(input->params, method, rows->n_rows)};
    void *original = NULL;
    if (method == &methods[CLOSED_FORM] && rows->n_cols > DNI_LEAST_SQUARES_MAX_COLS &&
        !(fit.lambda == 0 && dni_row_space_applies(rows->n_rows, rows->n_cols))) {
        return dn_error_set(err, DN_ERR_BUDGET,
                            "%zu features are too many for the matrix of solver closed_form (at "
                            "most %d): use solver conjugate_gradient, which needs no matrix",
                            rows->n_cols, DNI_LEAST_SQUARES_MAX_COLS);
    }
    if (width > SIZE_MAX / sizeof(double) / n_scores) {
        return dn_error_set(
            err, DN_ERR_BUDGET,
            "the weights of %zu features for %zu classes are more than can be indexed",
            rows->n_cols, input->n_classes);
    }
    dn_status status =
        dn_run_alloc(run, n_scores * width, sizeof(double), "the weights", &original, err);
    if (status != DN_OK) {
        return status;
    }
    fit.original = original;
    status = method->solve(&fit, err);
    if (status == DN_OK) {
        for (size_t i = 0; i < n_scores * width; i++) {
            fit.original[i] =
                fit.coding.scale * fit.original[i] + ((i + 1) % width == 0 ? fit.coding.shift : 0);
        }
        status = dni_linear_machine_of_table(original, input->n_classes, rows->n_cols, out, err);
    }
    dn_run_free(run, original);
    dni_linear_done(&fit.problem);
    return status;
}

/* All passes over the rows are sums. */
static const char *alone(const dn_params *p) {
    (void)p;
    return NULL;
}

const dn_algorithm dni_algorithm_least_squares = {
    .id = "least_squares",
    .title = "Least squares",
    .summary = "Linear outputs fitted to 1-of-K targets; the class with the greatest output is "
               "predicted. Quick and exact, but rows far on the right side pull the boundary, and "
               "a class between others may never be predicted. Scores, no probabilities.",
    .source = "Bishop, Pattern Recognition and Machine Learning, section 4.1.3; Hastie, Tibshirani "
              "and Friedman, The Elements of Statistical Learning, section 4.2",
    .stopping_rule =
        "closed_form: always; conjugate_gradient: the residual of the normal equations, computed "
        "from the rows, is at most `tolerance` times their right-hand side for every output; "
        "gradient_descent: the largest component of the gradient with respect to standardised "
        "weights and intercepts is at most `tolerance`",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_STANDARDIZE | DN_ALGORITHM_STREAMS,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .applies = dni_calibrate_applies,
    .resolve = resolve,
    .drops_first = drops_first,
    .standardizes = standardizes,
    .memory = memory,
    .fit = fit_least_squares,
    .alone = alone,
};
