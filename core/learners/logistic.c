/* Logistic regression: sigmoid for two classes, softmax for K; its parameters, the choice of the solver, and a fit from start to report.
 *
 *   minimise  Σ_t v_t ℓ_t / Σ_t v_t + λ Σ_k ‖w_k‖²,   ℓ the cross-entropy −ln p(true class | x)
 *
 * Bishop, PRML, sections 4.3.2–4.3.4; Alpaydın, sections 10.7 and 10.8. */
#include "learners/logistic_fit.h"
#include "learners/multiclass.h"
#include "learners/registry.h"
#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "optimize/gradient_descent.h"
#include "optimize/lbfgs.h"
#include "optimize/newton.h"
#include "optimize/random.h"
#include "optimize/sgd.h"
#include "predict/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const solvers[] = {"auto", "newton", "lbfgs", "gradient_descent", "sgd", NULL};
static const char *const solver_meanings[] = {
    "newton when its matrix is small: n = K(d + 1) variables (K = 1 for two classes) with n <= 200, or n <= 4000 and ten Hessians costing "
    "at "
    "most four times a hundred gradients; otherwise lbfgs",
    "Newton-Raphson (iteratively reweighted least squares) with the exact Hessian and a line search",
    "limited-memory BFGS on centred columns with a metric of the features",
    "the textbook's loop: a fixed learning rate over all rows",
    "stochastic gradient descent in mini-batches; the rate grows by a tenth after a pass that lowers the objective, and is halved after "
    "one that does not",
    NULL};
static const char *const penalties[] = {"none", "l2", NULL};
static const char *const penalty_meanings[] = {"no penalty: as lambda = 0", "lambda times the sum of the squared weights", NULL};
static const char *const inits[] = {"random", "zero", NULL};
static const char *const init_meanings[] = {"uniform in (-0.01, 0.01) from the seed", "all weights 0", NULL};

static const dn_param params[] = {
    {.name = "solver",
     .type = DN_PARAM_CHOICE,
     .meaning = "How the minimum is found. newton and lbfgs start from weights 0.",
     .default_choice = "auto",
     .choices = solvers,
     .choice_meanings = solver_meanings},
    {.name = "penalty",
     .type = DN_PARAM_CHOICE,
     .meaning = "What is added to the mean cross-entropy. The intercept is never penalised.",
     .default_choice = "l2",
     .choices = penalties,
     .choice_meanings = penalty_meanings},
    {.name = "lambda",
     .type = DN_PARAM_NUMBER,
     .meaning = "Strength of the penalty lambda * |w|^2 (no 1/2, the loss is a mean over rows: 1/(2 C n) in terms of C). It acts on the "
                "standardised "
                "weights when features are standardised.",
     .default_number = 1e-3,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    {.name = "tolerance",
     .type = DN_PARAM_NUMBER,
     .meaning = "Stops when the largest component of the gradient, with respect to standardised weights and intercepts, is at most this. "
                "auto: 1e-9 for newton and lbfgs, 1e-5 for gradient_descent, 5e-5 for sgd. 0: runs to max_iterations.",
     .default_choice = "auto",
     .default_number = 1e-9,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true,
     .word = "auto"},
    {.name = "max_iterations",
     .type = DN_PARAM_INTEGER,
     .meaning = "Most iterations (passes over the rows for gradient_descent and sgd). auto: 100 for newton, 2000 for lbfgs, 20000 for "
                "gradient_descent, 2000 for sgd.",
     .default_choice = "auto",
     .default_number = 100,
     .minimum = 1,
     .maximum = 1e9,
     .word = "auto"},
    {.name = "learning_rate",
     .type = DN_PARAM_NUMBER,
     .meaning = "For gradient_descent and sgd: what the gradient, summed over the rows (of a batch), is multiplied with. auto: 1/(n L), "
                "with L the "
                "curvature bound found by power iteration; for sgd 1/(b L) with the bound for batches of b rows.",
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
    {.name = "init",
     .type = DN_PARAM_CHOICE,
     .meaning = "Where gradient_descent and sgd start.",
     .default_choice = "random",
     .choices = inits,
     .choice_meanings = init_meanings},
    DNI_PARAM_MULTICLASS(dni_multiclass_softmax, "softmax"),
    DNI_PARAM_DISCRIMINANTS,
};

static dn_status check(const dn_params *p, dn_error *err) {
    const char *solver = dn_params_word(p, "solver");
    bool descends = strcmp(solver, "gradient_descent") == 0 || strcmp(solver, "sgd") == 0;
    if (dn_params_word(p, "learning_rate") == NULL && !descends) {
        dn_status status =
            dn_error_set(err, DN_ERR_ARGUMENT,
                         "parameter \"learning_rate\" belongs to solver gradient_descent or sgd (the solver is \"%s\")", solver);
        dn_error_set_field(err, "learning_rate");
        return status;
    }
    return dni_multiclass_check(p, err);
}

/* The rule of solver_meanings: a function of the shape only, so that the same data always take the same road. */
static bool newton_pays(double n_rows, double n_features, double n_classes) {
    double k = n_classes == 2 ? 1 : n_classes, width = n_features + 1, n = k * width;
    if (n <= 200)
        return true;
    double hessian = n_rows * k * (k + 1) / 2 * width * width + n * n * n / 3;
    double gradient = 4 * n_rows * n;
    return n <= 4000 && 10 * hessian <= 4 * 100 * gradient;
}

static dni_logistic_solver choose_solver(const dn_params *p, size_t n_rows, size_t n_features, size_t n_classes) {
    const char *word = dn_params_word(p, "solver");
    if (strcmp(word, "newton") == 0)
        return DNI_LOGISTIC_NEWTON;
    if (strcmp(word, "lbfgs") == 0)
        return DNI_LOGISTIC_LBFGS;
    if (strcmp(word, "gradient_descent") == 0)
        return DNI_LOGISTIC_DESCENT;
    if (strcmp(word, "sgd") == 0)
        return DNI_LOGISTIC_SGD;
    return newton_pays((double)n_rows, (double)n_features, (double)n_classes) ? DNI_LOGISTIC_NEWTON : DNI_LOGISTIC_LBFGS;
}

static const char *solver_name(dni_logistic_solver solver) {
    switch (solver) {
    case DNI_LOGISTIC_NEWTON:
        return "newton";
    case DNI_LOGISTIC_LBFGS:
        return "lbfgs";
    case DNI_LOGISTIC_DESCENT:
        return "gradient_descent";
    case DNI_LOGISTIC_SGD:
        break;
    }
    return "sgd";
}

static double tolerance_of(const dn_params *p, dni_logistic_solver solver) {
    static const double tolerances[] = {1e-9, 1e-9, 1e-5, 5e-5};
    return dn_params_word(p, "tolerance") == NULL ? dn_params_number(p, "tolerance") : tolerances[solver];
}

static size_t iterations_of(const dn_params *p, dni_logistic_solver solver) {
    static const size_t iterations[] = {100, 2000, 20000, 2000};
    return dn_params_word(p, "max_iterations") == NULL ? (size_t)dn_params_number(p, "max_iterations") : iterations[solver];
}

/* A learning rate that is "auto" depends on the data: the fit reports it. */
static dn_status settle(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes, dn_error *err) {
    dni_logistic_solver solver = choose_solver(p, n_rows, n_features, n_classes);
    dn_status status = dn_params_set_number(p, "tolerance", tolerance_of(p, solver), err);
    if (status == DN_OK)
        status = dn_params_set_number(p, "max_iterations", (double)iterations_of(p, solver), err);
    return status == DN_OK ? dn_params_set_word(p, "solver", solver_name(solver), err) : status;
}

static double lambda_of(const dn_params *p) {
    return strcmp(dn_params_word(p, "penalty"), "none") == 0 ? 0 : dn_params_number(p, "lambda");
}

/* Whether L-BFGS at lambda = 0 ends with Newton steps, which show if the weights still grow. */
static bool polishes(dni_logistic_solver solver, double lambda, size_t n) {
    return solver == DNI_LOGISTIC_LBFGS && lambda == 0 && n <= 2000;
}

static unsigned uses_of(dni_logistic_solver solver, double lambda, size_t n_features, size_t n_classes) {
    size_t width = n_features + 1, n = n_classes == 2 ? width : n_classes * width;
    unsigned uses = 0;
    if (solver == DNI_LOGISTIC_NEWTON)
        uses = DNI_LOGISTIC_CHANGE | DNI_LOGISTIC_HESSIAN;
    else if (solver == DNI_LOGISTIC_LBFGS)
        uses = DNI_LOGISTIC_CHANGE | (width <= DNI_LOGISTIC_MAX_METRIC ? DNI_LOGISTIC_GRAM : 0u) |
               (polishes(solver, lambda, n) ? DNI_LOGISTIC_HESSIAN : 0u);
    else if (solver == DNI_LOGISTIC_SGD)
        uses = DNI_LOGISTIC_BATCH;
    if ((uses & DNI_LOGISTIC_CHANGE) && lambda == 0 && width <= DNI_LOGISTIC_MAX_RANK)
        uses |= DNI_LOGISTIC_GRAM;
    return uses;
}

static double memory(const dn_params *p, size_t n_rows, size_t n_features, size_t n_classes, size_t n_slots) {
    dni_logistic_solver solver = choose_solver(p, n_rows, n_features, n_classes);
    double lambda = lambda_of(p);
    size_t width = n_features + 1, n = n_classes == 2 ? width : n_classes * width;
    unsigned uses = uses_of(solver, lambda, n_features, n_classes);
    double bytes = dni_logistic_memory(n_rows, n_features, n_classes, n_slots, uses) + 8.0 * 6 * (double)n;
    if (solver == DNI_LOGISTIC_NEWTON || (uses & DNI_LOGISTIC_HESSIAN))
        bytes += 8 * dni_newton_memory(n);
    if (solver == DNI_LOGISTIC_LBFGS)
        bytes += 8 * dni_lbfgs_memory(n);
    if (solver == DNI_LOGISTIC_SGD)
        bytes += 8 * (DN_BLOCK_ROWS + (double)n_rows / DN_BLOCK_ROWS + 1 + 3 * (double)n);
    bytes += 8 * 4 * ((double)width + (double)n_classes); /* moments, marks, the metric's diagonal */
    if (uses & DNI_LOGISTIC_GRAM)                         /* two matrices, and the work of the eigenvalue solver */
        bytes += 8 * (2 * (double)width + 80) * (double)width;
    return bytes;
}

/* Where the descents start: uniform in (−0.01, 0.01), common part of the classes taken out; or 0. */
static void start_at(dni_logistic_fit *fit, double *x) {
    const dni_logistic *loss = &fit->loss;
    if (fit->solver == DNI_LOGISTIC_NEWTON || fit->solver == DNI_LOGISTIC_LBFGS ||
        strcmp(dn_params_word(fit->input->params, "init"), "zero") == 0)
        return;
    dni_random random;
    dni_random_init(&random, fit->run->seed, 1);
    for (size_t i = 0; i < loss->n; i++)
        x[i] = dni_random_uniform(&random, -0.01, 0.01);
}

/* Weights that are the same for all classes change no probability: the symmetric form has none. */
static void symmetrise(const dni_logistic *loss, double *table) {
    size_t K = loss->n_scores;
    for (size_t j = 0; K > 1 && j < loss->width; j++) {
        double mean = 0;
        for (size_t k = 0; k < K; k++)
            mean += table[k * loss->width + j];
        mean /= (double)K;
        for (size_t k = 0; k < K; k++)
            table[k * loss->width + j] -= mean;
    }
}

static dn_status step_batch(void *ctx, const dn_block *block, const size_t *order, size_t n_rows, double rate, double *x, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_logistic_batch(&fit->loss, block, order, n_rows, rate, x, err);
}

static dn_status run_descent(dni_logistic_fit *fit, const dni_objective *objective, double *x, dni_outcome *outcome, dn_error *err) {
    const dn_params *p = fit->input->params;
    dni_logistic *loss = &fit->loss;
    double weight = fit->moments.weight, largest;
    double bound = loss->n_scores == 1 ? 0.25 : 0.5; /* of the curvature of the cross-entropy in the scores */
    bool chosen = dn_params_word(p, "learning_rate") != NULL;
    double rate = dn_params_number(p, "learning_rate");
    bool batches = fit->solver == DNI_LOGISTIC_SGD;
    size_t batch = (size_t)dn_params_number(p, "batch_size");
    if (chosen || !batches) { /* the bound costs passes: with batches only when it is needed */
        dn_status status = dni_logistic_largest_eigenvalue(loss, fit->run, &largest, err);
        if (status != DN_OK)
            return status;
        double curvature = bound * largest + 2 * loss->lambda;
        double rows = weight;
        if (batches) { /* a batch is not the mean of all: its own largest eigenvalue is at most its mean square length */
            double square = 1;
            for (size_t j = 0; j + 1 < loss->width; j++)
                square += fit->moments.deviation[j] * fit->moments.deviation[j] + fit->moments.mean[j] * fit->moments.mean[j];
            curvature += bound * square / (double)batch;
            rows = (double)batch * weight / (double)loss->rows->n_rows;
        }
        if (chosen)
            rate = 1 / (rows * curvature);
        else if (rate > 2 / (rows * curvature))
            dn_report_warn(fit->report, "learning_rate %g is above 2/(n L) = %g: the descent may oscillate or diverge", rate,
                           2 / (rows * curvature));
        dn_report_number(fit->report, "curvature_bound", curvature);
    }
    dn_report_number(fit->report, "learning_rate", rate);
    if (!batches)
        return dni_gradient_descent(objective, fit->run, fit->max_iterations, rate * weight, x, outcome, err);
    dni_sgd_settings settings = {
        .max_passes = fit->max_iterations, .batch_rows = batch, .rate = rate, .seed = fit->run->seed, .step = step_batch};
    return dni_sgd(objective, loss->rows, fit->run, &settings, x, outcome, err);
}

static dn_status run_solver(dni_logistic_fit *fit, double *x, dni_outcome *outcome, dn_error *err) {
    dn_status status = DN_OK;
    bool exact = fit->solver == DNI_LOGISTIC_NEWTON || fit->solver == DNI_LOGISTIC_LBFGS;
    if (exact && fit->loss.lambda == 0 && fit->loss.width <= DNI_LOGISTIC_MAX_RANK)
        status = dni_logistic_find_rank(fit, err);
    if (status == DN_OK && fit->solver == DNI_LOGISTIC_LBFGS)
        status = dni_logistic_make_metric(fit, err);
    if (status != DN_OK)
        return status;
    dni_objective objective = dni_logistic_objective(fit);
    if (!exact)
        return run_descent(fit, &objective, x, outcome, err);
    if (fit->solver == DNI_LOGISTIC_NEWTON)
        return dni_newton(&objective, fit->run, fit->max_iterations, x, outcome, err);
    status = dni_lbfgs(&objective, fit->run, fit->max_iterations, x, outcome, err);
    if (status != DN_OK || !polishes(fit->solver, fit->loss.lambda, fit->loss.n) || strcmp(outcome->reason, "tolerance") != 0)
        return status;
    dni_outcome polish;
    fit->polishing = true;
    fit->base_iteration = outcome->iterations;
    status = dni_newton(&objective, fit->run, 10, x, &polish, err);
    if (status != DN_OK)
        return status;
    outcome->iterations += polish.iterations;
    outcome->evaluations += polish.evaluations;
    outcome->hessians += polish.hessians;
    outcome->value = polish.value;
    if (strcmp(polish.reason, "no_progress") != 0) /* arithmetic at its end is no news */
        outcome->reason = polish.reason;
    return DN_OK;
}

static dn_status hand_over(dni_logistic_fit *fit, const double *x, dn_machine *out, dn_error *err) {
    dni_logistic *loss = &fit->loss;
    size_t d = loss->width - 1;
    dni_logistic_state(loss, x, loss->stated);
    symmetrise(loss, loss->stated);
    if (!dni_all_finite(loss->stated, loss->n))
        return dn_error_set(err, DN_ERR_NUMERIC, "the weights in the scale of the features are not finite; standardise the columns");
    dn_machine machine;
    dn_status status = dni_machine_new(DN_MACHINE_LINEAR, loss->n_classes, d, DN_COVARIANCE_SHARED, false, &machine, err);
    if (status != DN_OK)
        return status;
    for (size_t k = 0; k < loss->n_scores; k++) {
        memcpy(machine.w + k * d, loss->stated + k * loss->width, d * sizeof *machine.w);
        machine.w0[k] = loss->stated[k * loss->width + d];
    }
    *out = machine;
    return DN_OK;
}

static void describe(const dni_logistic_fit *fit, const dni_outcome *outcome, dn_report *report) {
    bool chosen = strcmp(dn_params_word(fit->input->params, "solver"), "auto") == 0;
    report->iterations = outcome->iterations;
    report->objective = outcome->value;
    report->gradient_norm = fit->gradient_norm;
    dn_report_text(report, "solver", "%s", solver_name(fit->solver));
    dn_report_text(report, "solver_reason", chosen ? "auto: %zu variables, %zu rows" : "asked for", fit->loss.n, fit->loss.rows->n_rows);
    dn_report_number(report, "variables", (double)fit->loss.n);
    dn_report_number(report, "tolerance", fit->tolerance);
    dn_report_number(report, "gradient_max", fit->measure);
    dn_report_number(report, "gradient_evaluations", (double)outcome->evaluations);
    if (outcome->hessians > 0)
        dn_report_number(report, "hessian_evaluations", (double)outcome->hessians);
}

/* A constant column tells nothing: what rounding has left of its weight is taken out. The descents show their own arithmetic instead. */
static void clear_constants(const dni_logistic_fit *fit, double *x) {
    const dni_logistic *loss = &fit->loss;
    if (fit->solver == DNI_LOGISTIC_DESCENT || fit->solver == DNI_LOGISTIC_SGD)
        return;
    for (size_t j = 0; j + 1 < loss->width; j++)
        for (size_t k = 0; fit->moments.deviation[j] == 0 && k < loss->n_scores; k++)
            x[k * loss->width + j] = 0;
}

static dn_status solve(dni_logistic_fit *fit, double *x, double *gradient, dn_machine *out, dn_error *err) {
    dni_outcome outcome;
    start_at(fit, x);
    symmetrise(&fit->loss, x);
    dn_status status = run_solver(fit, x, &outcome, err);
    if (status != DN_OK)
        return status;
    if (fit->solver == DNI_LOGISTIC_SGD || fit->n_null > 0) { /* the answer is not the point evaluated last */
        status = dni_logistic_least_norm(fit, x, err);
        if (status == DN_OK)
            status = dni_logistic_evaluate(&fit->loss, fit->run, x, &outcome.value, gradient, err);
        if (status != DN_OK)
            return status;
        fit->measure = dni_logistic_measure(fit);
        fit->gradient_norm = dni_norm(fit->loss.gradient, fit->loss.n);
    }
    clear_constants(fit, x);
    describe(fit, &outcome, fit->report);
    dni_logistic_judge(fit, &outcome);
    return hand_over(fit, x, out, err);
}

static dn_status fit_logistic(const dn_fit_input *input, const dn_run *run, dn_machine *out, dn_report *report, dn_error *err) {
    const dn_rows *rows = input->rows;
    dn_report fresh = {0};
    dni_logistic_fit fit = {.input = input, .run = run, .report = &fresh};
    double lambda = lambda_of(input->params);
    void *vectors = NULL;
    fit.solver = choose_solver(input->params, rows->n_rows, rows->n_cols, input->n_classes);
    fit.tolerance = tolerance_of(input->params, fit.solver);
    fit.max_iterations = iterations_of(input->params, fit.solver);
    dn_status status = dni_moments_compute(input, run, &fit.moments, err);
    if (status != DN_OK)
        return status;
    status = dni_logistic_init(&fit.loss, rows, input->n_classes, lambda, &fit.moments,
                               uses_of(fit.solver, lambda, rows->n_cols, input->n_classes), run, err);
    if (status == DN_OK)
        status = dni_logistic_watch_init(&fit, err);
    if (status == DN_OK)
        status = dn_run_alloc(run, 2 * fit.loss.n, sizeof(double), "the weights", &vectors, err);
    if (status == DN_OK)
        status = solve(&fit, vectors, (double *)vectors + fit.loss.n, out, err);
    if (status == DN_OK)
        *report = fresh;
    dn_run_free(run, vectors);
    dn_run_free(run, fit.null_basis);
    dn_run_free(run, fit.metric);
    dn_run_free(run, fit.diagonal);
    dn_run_free(run, fit.raw);
    dn_run_free(run, fit.growing);
    dni_logistic_done(&fit.loss, run);
    dni_moments_done(&fit.moments, run);
    return status;
}

static bool drops_first(const dn_params *p) {
    return lambda_of(p) == 0;
}

const dn_algorithm dni_algorithm_logistic = {
    .id = "logistic",
    .title = "Logistic regression",
    .summary = "Probabilities from linear scores: the sigmoid for two classes, softmax for more. The first method to try on a table; its "
               "weights are "
               "log-odds per unit of a feature. Minimises the mean cross-entropy plus lambda * |w|^2.",
    .source = "Bishop, Pattern Recognition and Machine Learning, sections 4.3.2-4.3.4; Alpaydin, Introduction to Machine Learning, "
              "sections 10.7-10.8",
    .stopping_rule = "the largest component of the gradient with respect to standardised weights and intercepts is at most `tolerance`",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_PROBABILITIES | DN_ALGORITHM_STANDARDIZE | DN_ALGORITHM_STREAMS,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .settle = settle,
    .drops_first = drops_first,
    .memory = memory,
    .fit = fit_logistic,
};
