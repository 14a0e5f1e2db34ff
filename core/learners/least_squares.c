/* Least squares for classification: 1-of-K targets r fitted by linear outputs.
 *
 *   minimise  Σ_t v_t ‖r_t − W x_t − w_0‖² / Σ_t v_t + λ ‖W‖²
 *
 * Two classes have the outputs y_2 = (1 + g)/2 and y_1 = (1 − g)/2 of one discriminant g = y_2 − y_1, which fits the targets −1 and 1.
 * Bishop, PRML, section 4.1.3; Hastie, Tibshirani and Friedman, ESL, section 4.2. */
#include "learners/least_squares_fit.h"
#include "learners/multiclass.h"
#include "learners/registry.h"
#include "linalg/vector.h"
#include "predict/machine.h"

#include <math.h>
#include <string.h>

static const char *const solvers[] = {"auto", "closed_form", "gradient_descent", NULL};
static const char *const solver_meanings[] = {
    "closed_form with at most 8192 features, gradient_descent otherwise",
    "the normal equations of centred, scaled columns by Cholesky's method with a step of refinement; pivoted QR of the rows when they are "
    "ill-conditioned or of less than full rank",
    "the textbook's loop: a fixed learning rate over all rows", NULL};
static const char *const inits[] = {"random", "zero", NULL};
static const char *const init_meanings[] = {"uniform in (-0.01, 0.01) from the seed", "all weights 0", NULL};

static const dn_param params[] = {
    {.name = "solver",
     .type = DN_PARAM_CHOICE,
     .meaning = "How the minimum is found.",
     .default_choice = "auto",
     .choices = solvers,
     .choice_meanings = solver_meanings},
    {.name = "lambda",
     .type = DN_PARAM_NUMBER,
     .meaning =
         "Strength of the penalty lambda * |W|^2 (no 1/2, the loss is a mean over rows), ridge regression's. The intercept is never "
         "penalised. It acts on the standardised weights when features are standardised. 0: none; columns that depend on others then "
         "get the weights of least norm.",
     .default_number = 1e-3,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    {.name = "learning_rate",
     .type = DN_PARAM_NUMBER,
     .meaning = "For gradient_descent: what the sum of (target - output) x over the rows is multiplied with. auto: 1/(n L), with L the "
                "curvature bound found by power iteration.",
     .default_choice = "auto",
     .default_number = 0.1,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_minimum = true,
     .open_maximum = true,
     .word = "auto"},
    {.name = "tolerance",
     .type = DN_PARAM_NUMBER,
     .meaning = "For gradient_descent: stops when the largest component of the gradient, with respect to standardised weights and "
                "intercepts, is at most this. 0: runs to max_iterations.",
     .default_number = 1e-5,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    {.name = "max_iterations",
     .type = DN_PARAM_INTEGER,
     .meaning = "For gradient_descent: most passes over the rows.",
     .default_number = 20000,
     .minimum = 1,
     .maximum = 1e9},
    {.name = "init",
     .type = DN_PARAM_CHOICE,
     .meaning = "Where gradient_descent starts.",
     .default_choice = "random",
     .choices = inits,
     .choice_meanings = init_meanings},
    DNI_PARAM_MULTICLASS(dni_multiclass_native, "native"),
    DNI_PARAM_DISCRIMINANTS,
};

static dn_status check(const dn_params *p, dn_error *err) {
    const char *solver = dn_params_word(p, "solver");
    if (dn_params_word(p, "learning_rate") == NULL && strcmp(solver, "gradient_descent") != 0) {
        dn_status status = dn_error_set(err, DN_ERR_ARGUMENT,
                                        "parameter \"learning_rate\" belongs to solver gradient_descent (the solver is \"%s\")", solver);
        dn_error_set_field(err, "learning_rate");
        return status;
    }
    return dni_multiclass_check(p, err);
}

static bool descends(const dn_params *p, size_t n_features) {
    const char *solver = dn_params_word(p, "solver");
    return strcmp(solver, "gradient_descent") == 0 || (strcmp(solver, "auto") == 0 && n_features > DNI_LEAST_SQUARES_MAX_COLS);
}

static dn_status settle(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err) {
    (void)n_rows;
    (void)n_classes;
    return dn_params_set_word(p, "solver", descends(p, n_features) ? "gradient_descent" : "closed_form", err);
}

static double memory(const dn_params *p, size_t n_rows, size_t n_features, size_t n_classes, size_t n_slots) {
    double weights = 8 * ((double)n_features + 1) * (n_classes == 2 ? 1 : (double)n_classes);
    return weights + (descends(p, n_features) ? dni_least_squares_descend_memory(n_rows, n_features, n_classes, n_slots)
                                              : dni_least_squares_solve_memory(n_rows, n_features, n_classes, n_slots));
}

void dni_least_squares_describe(dni_least_squares *fit, double penalty, const char *solver) {
    dn_report *report = fit->report;
    double squares = fit->share * fit->squares.squares;
    report->objective = squares / fit->squares.weight + fit->lambda * fit->share * penalty;
    dn_report_text(report, "solver", "%s", solver);
    dn_report_number(report, "residual_sum_of_squares", squares);
    dn_report_number(report, "squared_norm_of_weights", fit->share * penalty);
}

static dn_status hand_over(const dni_least_squares *fit, dn_machine *out, dn_error *err) {
    const dni_squares *q = &fit->squares;
    size_t d = q->width - 1;
    dn_machine machine;
    if (!dni_all_finite(fit->stated, q->n))
        return dn_error_set(err, DN_ERR_NUMERIC, "the weights in the scale of the features are not finite; standardise the columns");
    dn_status status = dni_machine_new(DN_MACHINE_LINEAR, fit->input->n_classes, d, DN_COVARIANCE_SHARED, false, &machine, err);
    if (status != DN_OK)
        return status;
    for (size_t k = 0; k < q->n_scores; k++) {
        memcpy(machine.w + k * d, fit->stated + k * q->width, d * sizeof *machine.w);
        machine.w0[k] = fit->stated[k * q->width + d];
    }
    *out = machine;
    return DN_OK;
}

static dn_status fit_least_squares(const dn_fit_input *input, const dn_run *run, dn_machine *out, dn_report *report, dn_error *err) {
    bool descent = descends(input->params, input->rows->n_cols);
    dn_report fresh = {0};
    dni_least_squares fit = {.input = input,
                             .run = run,
                             .report = &fresh,
                             .lambda = dn_params_number(input->params, "lambda"),
                             .share = input->n_classes == 2 ? 0.5 : 1};
    void *stated = NULL;
    dn_status status = dni_squares_init(&fit.squares, input->rows, input->n_classes, !descent, run, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, fit.squares.n, sizeof(double), "the weights", &stated, err);
    fit.stated = stated;
    if (status == DN_OK)
        status = descent ? dni_least_squares_descend(&fit, err) : dni_least_squares_solve(&fit, err);
    if (status == DN_OK)
        status = hand_over(&fit, out, err);
    if (status == DN_OK)
        *report = fresh;
    dn_run_free(run, stated);
    dni_squares_done(&fit.squares);
    return status;
}

static bool drops_first(const dn_params *p) {
    return dn_params_number(p, "lambda") == 0;
}

const dn_algorithm dni_algorithm_least_squares = {
    .id = "least_squares",
    .title = "Least squares",
    .summary = "Linear outputs fitted to 1-of-K targets; the greatest wins. Quick and exact, but rows far on the right side pull the "
               "boundary, and a class between others may never win. Scores, no probabilities.",
    .source = "Bishop, Pattern Recognition and Machine Learning, section 4.1.3; Hastie, Tibshirani and Friedman, The Elements of "
              "Statistical Learning, section 4.2",
    .stopping_rule =
        "closed_form: always; gradient_descent: the largest component of the gradient with respect to standardised weights and "
        "intercepts is at most `tolerance`",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_STREAMS,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .settle = settle,
    .drops_first = drops_first,
    .memory = memory,
    .fit = fit_least_squares,
};
