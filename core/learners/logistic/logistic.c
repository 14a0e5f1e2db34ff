/* Logistic regression: sigmoid for two classes, softmax for K. This file has its parameters; the
 * choice of the solver is in logistic_plan.c, the fit in logistic_fit.c.
 *
 *   minimise  Σ_t v_t ℓ_t / Σ_t v_t + λ Σ_k (ρ‖w_k‖₁ + (1 − ρ)‖w_k‖²)
 *   ℓ = −ln p(true class | x), the cross-entropy, or ½Σ_k (p_k − r_k)²
 *
 * Bishop, PRML, sections 4.3.2–4.3.4; Alpaydın, sections 10.7 and 10.8; l1: Hastie, Tibshirani and
 * Friedman, ESL, section 4.4.4. */
#include "catalogue/intercept_params.h"
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "catalogue/statistics_params.h"
#include "learners/logistic/logistic_fit.h"
#include "learners/shared/learner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const solvers[] = {"auto", "newton", "lbfgs", "gradient_descent", "sgd", NULL};
static const char *const solver_meanings[] = {
    "newton when its matrix is small: n = K(d + 1) variables (K = 1 for two classes) with n <= "
    "200, or n <= 4000 and ten Hessians costing at most four times a hundred gradients; otherwise, "
    "and for loss squared_error, lbfgs. Without a penalty and with at most as many rows as "
    "features (and at most 2049 rows) n is K times the number of rows: the solver works on "
    "coordinates of the rows",
    "Newton-Raphson (iteratively reweighted least squares) with the exact Hessian and a line "
    "search; beyond 4096 variables its systems are solved by conjugate gradients, without a "
    "matrix. With l1: quadratic models minimised by coordinate descent, or beyond 4096 variables "
    "by conjugate gradients within an orthant",
    "limited-memory BFGS on centred columns with a metric of the features; with l1 orthant-wise "
    "(OWL-QN)",
    "the textbook's loop: a fixed learning rate over all rows; with l1 each step is followed by a "
    "soft threshold",
    "stochastic gradient descent in mini-batches (see order and schedule); with l1 cumulative "
    "clipping",
    NULL};
static const char *const penalties[] = {"none", "l2", "l1", "elastic_net", NULL};
static const char none_meaning[] =
    "no penalty: as lambda = 0. Dependent columns are searched for among at most 2048 features, or "
    "with at most 2049 rows; quasi-complete separation with at most 2049 variables (see solver "
    "auto), complete separation always";
static const char *const penalty_meanings[] = {
    none_meaning, "lambda times the sum of the squared weights",
    "lambda times the sum of the weights' absolute values: makes weights exactly 0",
    "lambda (rho |w|_1 + (1 - rho) |w|^2) with rho = l1_ratio", NULL};
static const char *const losses[] = {"cross_entropy", "squared_error", NULL};
static const char *const loss_meanings[] = {
    "-ln p(true class): convex, the loss of maximum likelihood",
    "half the squared difference of p and the 1-of-K target, summed over the classes (for two "
    "classes the one output of the sigmoid): not convex, its gradient vanishes for rows far on the "
    "wrong side; for comparison. Not for solver newton",
    NULL};
static const char *const steps[] = {"line_search", "full", NULL};
static const char *const step_meanings[] = {
    "the full step, or a part of it that decreases the objective enough",
    "the full step in every iteration, as the textbooks print it, without a safeguard: from a far "
    "start the iteration may diverge. It then ends (stop_reason no_progress) where the Hessian is "
    "singular or the next step is not finite, with the last weights and a warning",
    NULL};
static const char *const inits[] = {"random", "zero", NULL};
static const char *const init_meanings[] = {"uniform in (-0.01, 0.01) from the seed",
                                            "all weights 0", NULL};

static const char *const schedules[] = {"adaptive", "constant", NULL};
static const char *const schedule_meanings[] = {
    "the rate grows by a tenth after a pass that lowers the objective; after any other pass it is "
    "halved, and the weights return to the best so far",
    "learning_rate in every pass; the model has the weights of the last pass", NULL};

#define L1_RATIO 0.5
static const dn_param params[] = {
    DNI_PARAM_CHOICE("solver", "How the minimum is found.", "auto", solvers, solver_meanings),
    DNI_PARAM_CHOICE("penalty", "What is added to the mean loss. See intercept for w0.", "l2",
                     penalties, penalty_meanings),
    DNI_PARAM_INTERCEPT,
    DNI_PARAM_LAMBDA_AUTO(
        "Strength of the penalty: lambda * |w|^2, lambda * |w|_1, or their mixture (no 1/2, the "
        "loss is a mean over rows: 1/(2 C n) in terms of C for l2, 1/(C n) for l1). It acts on the "
        "standardised weights when features are standardised. auto: 1/(2 V), V the sum of the "
        "weights of the training rows, or their number without weights; so the penalty is |w|^2/2 "
        "beside the sum of the losses (C = 1), and a row of weight 2 counts as two rows."),
    {.name = "l1_ratio",
     .type = DN_PARAM_NUMBER,
     .meaning = "For penalty elastic_net: the share rho of |w|_1; 0 is l2, 1 is l1.",
     .default_number = L1_RATIO,
     .minimum = 0,
     .maximum = 1},
    DNI_PARAM_CHOICE("loss", "What is averaged over the rows.", "cross_entropy", losses,
                     loss_meanings),
    {.name = "tolerance",
     .type = DN_PARAM_NUMBER,
     .meaning = "Stops when the largest component of the gradient (with l1: of the subgradient of "
                "least norm), with respect to standardised weights and intercepts, is at most "
                "this. auto: 1e-9 for newton, 1e-6 for lbfgs, 1e-5 for gradient_descent, 5e-5 for "
                "sgd. 0: runs to max_iterations.",
     .default_choice = "auto",
     .default_number = 1e-9,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true,
     .word = "auto"},
    DNI_PARAM_MAX_ITERATIONS_FROM(
        0,
        "Maximum number of iterations (passes over the rows for gradient_descent and sgd). 0: the "
        "model has the weights of init; the result has their loss and gradient. auto: 100 for "
        "newton, 2000 for lbfgs; 20000 for gradient_descent, with many rows fewer, so that it "
        "visits 10^8 rows, but at least 500; 2000 for sgd, so that it visits 10^7 rows, but at "
        "least 50.",
        100),
    {.name = "learning_rate",
     .type = DN_PARAM_NUMBER,
     .meaning = "For gradient_descent and sgd: the factor of the gradient, which is summed over "
                "the rows (of a batch). auto: 1/(n L), with L the curvature bound found by power "
                "iteration; for sgd 1/(b L) with the bound for batches of b rows.",
     .default_choice = "auto",
     .default_number = 0.1,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_minimum = true,
     .open_maximum = true,
     .word = "auto"},
    {.name = "batch_size",
     .type = DN_PARAM_INTEGER,
     .meaning = "Rows of a batch of sgd; batches do not cross the borders of blocks of 4096 rows.",
     .default_number = 32,
     .minimum = 1,
     .maximum = DN_BLOCK_ROWS},
    DNI_PARAM_CHOICE("order",
                     "For sgd: in which order a pass visits the rows. With batch_size 1, order "
                     "given and schedule constant, sgd is the online gradient descent of the "
                     "textbooks.",
                     "shuffled", dni_row_orders, dni_row_order_meanings),
    DNI_PARAM_CHOICE("schedule", "For sgd: how the learning rate changes after a pass.", "adaptive",
                     schedules, schedule_meanings),
    DNI_PARAM_START("The words are for gradient_descent and sgd; newton and lbfgs start from 0. ",
                    "random", inits, init_meanings),
    DNI_PARAM_CHOICE("step", "For solver newton, without l1: the length of the steps.",
                     "line_search", steps, step_meanings),
    {.name = "irls",
     .type = DN_PARAM_BOOLEAN,
     .meaning =
         "For solver newton and two classes, without l1: whether the result has the weights "
         "R = p (1 - p) and the working response z = w'x + w0 - (p - t)/R of iteratively "
         "reweighted least squares: details.irls_weights and details.irls_response, for each "
         "Hessian in turn a number for each training row, at the weights before the step. "
         "Rows times max_iterations must be at most 100000."},
    DNI_PARAM_MULTICLASS(dni_multiclass_softmax, "softmax"),
    DNI_PARAM_DISCRIMINANTS,
    DNI_PARAM_DECISION,
    DNI_PARAM_STATISTICS,
};

static dn_status check(const dn_params *p, dn_error *err) {
    if (dn_params_word(p, "learning_rate") == NULL &&
        !dni_params_is(p, "solver", "gradient_descent") && !dni_params_is(p, "solver", "sgd")) {
        return dni_parameter_error(err, "learning_rate",
                                   "parameter \"learning_rate\" belongs to solver gradient_descent "
                                   "or sgd (the solver is \"%s\")",
                                   dn_params_word(p, "solver"));
    }
    const char *const of_sgd[] = {"order", "schedule"}, *const words[] = {"shuffled", "adaptive"};
    for (size_t i = 0; i < 2; i++) {
        if (!dni_params_is(p, of_sgd[i], words[i]) && !dni_params_is(p, "solver", "sgd")) {
            return dni_parameter_error(err, of_sgd[i],
                                       "parameter \"%s\" belongs to solver sgd (the solver is "
                                       "\"%s\")",
                                       of_sgd[i], dn_params_word(p, "solver"));
        }
    }
    const char *of_newton = dni_params_is(p, "step", "full") ? "step"
                            : dn_params_boolean(p, "irls")   ? "irls"
                                                             : NULL;
    if (of_newton != NULL && !dni_params_is(p, "solver", "newton")) {
        return dni_parameter_error(err, of_newton,
                                   "parameter \"%s\" belongs to solver newton (the solver is "
                                   "\"%s\")",
                                   of_newton, dn_params_word(p, "solver"));
    }
    if (of_newton != NULL &&
        (dni_params_is(p, "penalty", "l1") || dni_params_is(p, "penalty", "elastic_net"))) {
        return dni_parameter_error(err, of_newton,
                                   "parameter \"%s\" belongs to penalty l2 or none (the penalty is "
                                   "\"%s\")",
                                   of_newton, dn_params_word(p, "penalty"));
    }
    if (dn_params_number(p, "l1_ratio") != L1_RATIO &&
        !dni_params_is(p, "penalty", "elastic_net")) {
        return dni_parameter_error(err, "l1_ratio",
                                   "parameter \"l1_ratio\" belongs to penalty elastic_net (the "
                                   "penalty is \"%s\")",
                                   dn_params_word(p, "penalty"));
    }
    if (dni_params_is(p, "loss", "squared_error") && dni_params_is(p, "solver", "newton")) {
        return dni_parameter_error(err, "solver",
                                   "parameter \"solver\" must be auto, lbfgs, gradient_descent or "
                                   "sgd for loss squared_error, which is not convex (the solver is "
                                   "\"newton\")");
    }
    return dni_multiclass_check(p, err);
}

/* Leaves the learning rate and lambda "auto" unresolved: they depend on the data, and the fit
 * reports their values. */
static dn_status resolve(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                         dn_error *err) {
    dni_logistic_plan plan =
        dni_logistic_make_plan(p, n_rows, (double)n_rows, n_features, n_classes);
    dn_status status = dni_start_check(p, plan.n_scores, n_features, err);
    if (status == DN_OK) {
        status = dni_logistic_check_newton(p, &plan, n_rows, err);
    }
    if (status == DN_OK) {
        status = dn_params_set_number(p, "tolerance", plan.tolerance, err);
    }
    if (status == DN_OK) {
        status = dn_params_set_number(p, "max_iterations", (double)plan.max_iterations, err);
    }
    return status == DN_OK ? dn_params_set_word(p, "solver", plan.method->name, err) : status;
}

static bool drops_first(const dn_params *p) {
    return (dni_params_is(p, "penalty", "none") || dni_lambda_is_zero(p)) &&
           !dni_params_is(p, "intercept", "none");
}

static const char *alone(const dn_params *p) {
    return dni_params_is(p, "solver", "sgd")
               ? "solver sgd changes the weights after each batch of rows"
               : NULL;
}

const dn_algorithm dni_algorithm_logistic = {
    .id = "logistic",
    .title = "Logistic regression",
    .summary = "Probabilities from linear scores: the sigmoid for two classes, softmax for more. "
               "The first method to try on a table; its weights are log-odds per unit of a "
               "feature. Minimises the mean cross-entropy plus lambda * |w|^2, or with l1 a "
               "penalty that makes some weights exactly 0.",
    .source = "Bishop, Pattern Recognition and Machine Learning, sections 4.3.2-4.3.4; Alpaydin, "
              "Introduction to Machine Learning, sections 10.7-10.8",
    .stopping_rule =
        "the largest component of the gradient (with l1: of the subgradient of least norm) with "
        "respect to standardised weights and intercepts is at most `tolerance`",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STANDARDIZE |
             DN_ALGORITHM_STREAMS,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .resolve = resolve,
    .drops_first = drops_first,
    .memory = dni_logistic_fit_bytes,
    .fit = dni_logistic_run,
    .alone = alone,
};
