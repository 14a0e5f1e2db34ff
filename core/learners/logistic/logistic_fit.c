/* A fit of logistic regression from start to report. */
#include "learners/logistic/logistic_fit.h"
#include "base/random.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "machine/machine_impl.h"
#include "optimize/gradient_descent.h"
#include "optimize/l1/l1.h"
#include "optimize/l1/owlqn.h"
#include "optimize/l1/proximal_newton.h"
#include "optimize/lbfgs.h"
#include "optimize/newton.h"
#include "optimize/newton_cg.h"
#include "optimize/sgd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- memory ---- */
static double solver_doubles(const dni_logistic_plan *plan, size_t n_rows) {
    double doubles = 0;
    switch (plan->solver) {
    case DNI_LOGISTIC_NEWTON:
        if (plan->products) {
            return dni_newton_cg_memory(plan->n);
        }
        return plan->l1 > 0 ? dni_proximal_newton_memory(plan->n) : dni_newton_memory(plan->n);
    case DNI_LOGISTIC_LBFGS:
        doubles = plan->l1 > 0 ? dni_owlqn_memory(plan->n) : dni_lbfgs_memory(plan->n);
        return doubles + (plan->polishes ? dni_newton_memory(plan->n) : 0);
    case DNI_LOGISTIC_DESCENT:
        break;
    case DNI_LOGISTIC_SGD:
        doubles = dni_sgd_memory(plan->n, n_rows / DN_BLOCK_ROWS + 1);
    }
    return doubles;
}

double dni_logistic_fit_memory(const dni_logistic_plan *plan, size_t n_rows, size_t n_features,
                               size_t n_classes, size_t n_slots) {
    double width = (double)plan->width;
    double doubles = 6 * (double)plan->n + solver_doubles(plan, n_rows) +
                     4 * (width + (double)n_classes); /* moments, marks, the metric's diagonal */
    if (plan->uses & DNI_LOGISTIC_GRAM) { /* two matrices, and the work of the eigenvalue solver */
        doubles += (2 * width + 80) * width;
    }
    double fit = dni_logistic_memory(n_rows, n_features, n_classes, n_slots, plan->uses) +
                 8 * doubles +
                 dni_logistic_second_memory(plan, n_rows, n_features, n_classes, n_slots);
    return fmax(fit, dni_moments_memory(n_rows, n_features, n_classes, n_slots));
}

/* ---- where it starts ---- */
/* Weights that are the same for all classes change no probability: the symmetric form has none. A penalty with l1 sees them: there only intercepts are free. */
static void symmetrise(const dni_logistic *loss, double *table) {
    size_t K = loss->n_scores;
    for (size_t j = loss->l1 > 0 ? loss->width - 1 : 0; K > 1 && j < loss->width; j++) {
        double mean = 0;
        for (size_t k = 0; k < K; k++) {
            mean += table[k * loss->width + j];
        }
        mean /= (double)K;
        for (size_t k = 0; k < K; k++) {
            table[k * loss->width + j] -= mean;
        }
    }
}

/* x, which is 0, becomes the start. */
static dn_status start_at(const dni_logistic_fit *fit, double *x, dn_error *err) {
    const dni_logistic *loss = &fit->loss;
    const char *word = dn_params_word(fit->input->params, "init");
    size_t n;
    const double *list = dn_params_list(fit->input->params, "init", &n);
    bool descends =
        fit->plan.solver == DNI_LOGISTIC_DESCENT || fit->plan.solver == DNI_LOGISTIC_SGD;
    if (list != NULL) {
        dn_status status = dni_logistic_check_start(fit->input->params, &fit->plan, err);
        if (status == DN_OK) {
            dni_logistic_unstate(loss, list, x);
        }
        return status;
    }
    dni_random random;
    dni_random_init(&random, fit->run->seed, 1);
    for (size_t i = 0; descends && strcmp(word, "random") == 0 && i < loss->n; i++) {
        x[i] = dni_random_uniform(&random, -0.01, 0.01);
    }
    symmetrise(loss, x);
    return DN_OK;
}

/* ---- the solvers ---- */
static dn_status step_batch(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                            double rate, double *x, double *weight, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_logistic_batch(&fit->loss, block, order, n_rows, rate, x, weight, err);
}

static dn_status step_batch_lazily(void *ctx, const dn_block *block, const size_t *order,
                                   size_t n_rows, double rate, dni_lazy *point, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_logistic_batch_lazily(&fit->loss, block, order, n_rows, rate, point, err);
}

/* Sparse rows want the variables transposed, so that an entry meets consecutive numbers. */
static void lay_out(void *ctx, const double *x, double *table) {
    const dni_logistic_fit *fit = ctx;
    dni_transpose(x, fit->loss.n_scores, fit->loss.width, table);
}

static void read_back(void *ctx, const double *table, double *x) {
    const dni_logistic_fit *fit = ctx;
    dni_transpose(table, fit->loss.width, fit->loss.n_scores, x);
}

/* The learning rate that was asked for, or 1/(v L) with v the weight of the rows of a step and L the curvature bound; a rate above 2/(v L) is warned of. */
static dn_status choose_rate(dni_logistic_fit *fit, bool batches, size_t batch, double *out,
                             dn_error *err) {
    const dn_params *p = fit->input->params;
    dni_logistic *loss = &fit->loss;
    bool chosen = dn_params_word(p, "learning_rate") != NULL;
    double largest, rows = fit->moments.weight, typical = 0;
    *out = dn_params_number(p, "learning_rate");
    if (!chosen && batches) { /* the bound costs passes: with batches only when it is needed */
        return DN_OK;
    }
    dn_status status = dni_logistic_largest_eigenvalue(loss, fit->run, &largest, err);
    if (status == DN_OK && batches) {
        status = dni_logistic_typical_weight(loss, fit->run, &typical, err);
    }
    if (status != DN_OK) {
        return status;
    }
    double bound = dni_logistic_curvature(loss), curvature = bound * largest + 2 * loss->lambda;
    if (batches) { /* a batch is not the mean of all: its own largest eigenvalue is at most its mean square length */
        double square = 1;
        for (size_t j = 0; j + 1 < loss->width; j++) {
            square += fit->moments.deviation[j] * fit->moments.deviation[j] +
                      fit->moments.mean[j] * fit->moments.mean[j];
        }
        curvature += bound * square / (double)batch;
        rows = (double)batch * typical;
    }
    if (chosen) {
        *out = 1 / (rows * curvature);
    } else if (*out > 2 / (rows * curvature)) {
        dn_report_warn(
            fit->report,
            "learning_rate %g is above 2/(n L) = %g: the descent may oscillate or diverge", *out,
            2 / (rows * curvature));
    }
    dn_report_number(fit->report, "curvature_bound", curvature);
    return DN_OK;
}

static dn_status run_descent(dni_logistic_fit *fit, const dni_objective *objective, double *x,
                             dni_outcome *outcome, dn_error *err) {
    bool batches = fit->plan.solver == DNI_LOGISTIC_SGD;
    size_t batch = (size_t)dn_params_number(fit->input->params, "batch_size"),
           most = fit->plan.max_iterations;
    double rate;
    dn_status status = choose_rate(fit, batches, batch, &rate, err);
    if (status != DN_OK) {
        return status;
    }
    dn_report_number(fit->report, "learning_rate", rate);
    if (!batches) {
        return dni_gradient_descent(objective, fit->run, most, rate * fit->moments.weight, x,
                                    outcome, err);
    }
    dni_sgd_settings settings = {.max_passes = most,
                                 .batch_rows = batch,
                                 .rate = rate,
                                 .decay = 2 * fit->loss.lambda,
                                 .seed = fit->run->seed,
                                 .step = fit->loss.sparse ? NULL : step_batch,
                                 .step_lazily = step_batch_lazily,
                                 .n_held = fit->loss.n - fit->loss.n_scores,
                                 .lay_out = lay_out,
                                 .read_back = read_back};
    return dni_sgd(objective, fit->loss.rows, fit->run, &settings, x, outcome, err);
}

/* Newton steps from where L-BFGS ended. */
static dn_status polish(dni_logistic_fit *fit, const dni_objective *objective, double *x,
                        dni_outcome *outcome, dn_error *err) {
    dni_outcome last;
    fit->polishing = true;
    fit->base_iteration = outcome->iterations;
    dn_status status = dni_newton(objective, fit->run, 40, x, &last, err);
    if (status != DN_OK) {
        return status;
    }
    outcome->iterations += last.iterations;
    outcome->evaluations += last.evaluations;
    outcome->hessians += last.hessians;
    outcome->value = last.value;
    if (last.reason != DN_STOP_NO_PROGRESS ||
        dni_logistic_found_separable(fit, &last)) { /* arithmetic at its end is no news */
        outcome->reason = last.reason;
    }
    return DN_OK;
}

static dn_status run_solver(dni_logistic_fit *fit, double *x, dni_outcome *outcome, dn_error *err) {
    const dni_logistic_plan *plan = &fit->plan;
    size_t most = plan->max_iterations;
    bool l1 = plan->l1 > 0, newton = plan->solver == DNI_LOGISTIC_NEWTON,
         lbfgs = plan->solver == DNI_LOGISTIC_LBFGS;
    dn_status status = DN_OK;
    if ((newton || lbfgs) && dni_logistic_unpenalised(&fit->loss) &&
        plan->width <= DNI_LOGISTIC_MAX_RANK) {
        status = dni_logistic_find_rank(fit, err);
    }
    if (status == DN_OK && lbfgs) {
        status = dni_logistic_make_metric(fit, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (dni_logistic_unpenalised(&fit->loss) && plan->width > DNI_LOGISTIC_MAX_RANK) {
        dn_report_warn(fit->report,
                       "with lambda = 0 the weights may not be unique, nor those of least norm: "
                       "beyond %d features nobody looks for columns "
                       "that depend on each other; give lambda > 0",
                       DNI_LOGISTIC_MAX_RANK - 1);
    }
    dni_objective objective = dni_logistic_objective(fit);
    if (newton) {
        return (plan->products ? dni_newton_cg
                : l1           ? dni_proximal_newton
                               : dni_newton)(&objective, fit->run, most, x, outcome, err);
    }
    if (!lbfgs) {
        return run_descent(fit, &objective, x, outcome, err);
    }
    status = (l1 ? dni_owlqn : dni_lbfgs)(&objective, fit->run, most, x, outcome, err);
    bool polishes = status == DN_OK && plan->polishes && outcome->reason == DN_STOP_TOLERANCE;
    return polishes ? polish(fit, &objective, x, outcome, err) : status;
}

/* ---- the end ---- */
/* Intercepts under l1 are centred where they are reported, for the raw features: raw weight w/scale, raw intercept w0 − Σ w mean/scale. */
static void centre_intercepts(const dn_fit_input *input, dni_linear_machine *machine) {
    size_t K = input->n_classes == 2 ? 1 : input->n_classes, d = input->rows->n_cols;
    double mean = 0;
    for (size_t k = 0; k < K; k++) {
        mean += machine->w0[k];
        for (size_t j = 0; input->mean != NULL && j < d; j++) {
            mean -= machine->w[k * d + j] * input->mean[j] /
                    (input->scale == NULL ? 1 : input->scale[j]);
        }
    }
    for (size_t k = 0; K > 1 && k < K; k++) {
        machine->w0[k] -= mean / (double)K;
    }
}

static dn_status hand_over(dni_logistic_fit *fit, const double *x, dn_machine **out,
                           dn_error *err) {
    dni_logistic *loss = &fit->loss;
    size_t d = loss->width - 1;
    dni_logistic_state(loss, x, loss->stated);
    symmetrise(loss, loss->stated);
    if (!dni_all_finite(loss->stated, loss->n)) {
        return dn_error_set(
            err, DN_ERR_NUMERIC,
            "the weights in the scale of the features are not finite; standardise the columns");
    }
    dn_status status = dni_linear_machine_new(loss->n_classes, d, false, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_linear_machine *machine = dni_linear_machine_of(*out);
    for (size_t k = 0; k < loss->n_scores; k++) {
        for (size_t j = 0; j < d; j++) {
            machine->w[k * d + j] = loss->stated[k * loss->width + j] + 0.0; /* no -0 */
        }
        machine->w0[k] = loss->stated[k * loss->width + d];
    }
    if (loss->l1 > 0) {
        centre_intercepts(fit->input, machine);
    }
    return DN_OK;
}

static void describe(const dni_logistic_fit *fit, const double *x, const dni_outcome *outcome,
                     dn_report *report) {
    const dni_logistic_plan *plan = &fit->plan;
    bool chosen = strcmp(dn_params_word(fit->input->params, "solver"), "auto") == 0;
    report->iterations = outcome->iterations;
    report->objective = outcome->value;
    report->gradient_norm = fit->gradient_norm;
    dn_report_text(report, "solver", "%s", dni_logistic_solver_name(plan->solver));
    dn_report_text(report, "solver_reason", chosen ? "auto: %zu variables, %zu rows" : "asked for",
                   fit->loss.n, fit->loss.rows->n_rows);
    dn_report_number(report, "variables", (double)fit->loss.n);
    dn_report_number(report, "tolerance", plan->tolerance);
    dn_report_number(report, "gradient_max", fit->measure);
    dn_report_number(report, "gradient_norm_start", fit->first_norm);
    dn_report_number(report, "gradient_evaluations", (double)outcome->evaluations);
    if (outcome->hessians > 0) {
        dn_report_number(report, "hessian_evaluations", (double)outcome->hessians);
    }
    if (plan->solver == DNI_LOGISTIC_NEWTON && (plan->products || plan->l1 > 0)) {
        dn_report_text(report, "inner_solver", "%s",
                       plan->products ? "conjugate_gradients" : "coordinate_descent");
        dn_report_number(report, "inner_iterations", (double)outcome->inner);
    }
    if (fit->loss.l1 > 0) {
        size_t nonzero = 0;
        for (size_t i = 0; i < fit->loss.n; i++) {
            nonzero += (i + 1) % fit->loss.width != 0 && x[i] != 0;
        }
        dn_report_number(report, "nonzero_weights", (double)nonzero);
    }
}

/* A constant column tells nothing: what rounding has left of its weight is taken out. The descents show their own arithmetic instead. */
static void clear_constants(const dni_logistic_fit *fit, double *x) {
    const dni_logistic *loss = &fit->loss;
    if (fit->plan.solver == DNI_LOGISTIC_DESCENT || fit->plan.solver == DNI_LOGISTIC_SGD) {
        return;
    }
    for (size_t j = 0; j + 1 < loss->width; j++) {
        for (size_t k = 0; fit->moments.deviation[j] == 0 && k < loss->n_scores; k++) {
            x[k * loss->width + j] = 0;
        }
    }
}

static dn_status solve(dni_logistic_fit *fit, double *x, double *gradient, dn_machine **out,
                       dn_error *err) {
    dni_outcome outcome;
    bool changed = false;
    dn_status status = start_at(fit, x, err);
    if (status == DN_OK) {
        status = run_solver(fit, x, &outcome, err);
    }
    if (status == DN_OK) {
        status = dni_logistic_second_look(fit, x, &changed, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (fit->plan.solver == DNI_LOGISTIC_SGD || fit->n_null > 0 ||
        changed) { /* the answer is not the point evaluated last */
        status = dni_logistic_least_norm(fit, x, err);
        if (status == DN_OK) {
            status = dni_logistic_evaluate(&fit->loss, fit->run, x, &outcome.value, gradient, err);
        }
        if (status != DN_OK) {
            return status;
        }
        outcome.value += dni_l1_value(fit->loss.threshold, x, fit->loss.n);
        dni_logistic_take_measure(fit);
    }
    clear_constants(fit, x);
    describe(fit, x, &outcome, fit->report);
    dni_logistic_judge(fit, &outcome);
    return hand_over(fit, x, out, err);
}

dn_status dni_logistic_run(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                           dn_report *report, dn_error *err) {
    const dn_rows *rows = input->rows;
    dn_report fresh = {0};
    dni_logistic_fit fit = {.input = input, .run = run, .report = &fresh};
    void *vectors = NULL;
    fit.plan = dni_logistic_make_plan(input->params, rows->n_rows, rows->n_cols, input->n_classes);
    dn_status status = dni_moments_compute(input, run, &fit.moments, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_logistic_init(&fit.loss, rows, input->n_classes, fit.plan.l2, &fit.moments,
                               fit.plan.uses, run, err);
    if (status == DN_OK) {
        fit.loss.squared = fit.plan.squared;
        dni_logistic_set_l1(&fit.loss, fit.plan.l1);
        status = dni_logistic_watch_init(&fit, err);
    }
    if (status == DN_OK) {
        status = dn_run_alloc(run, 2 * fit.loss.n, sizeof(double), "the weights", &vectors, err);
    }
    if (status == DN_OK) {
        status = solve(&fit, vectors, (double *)vectors + fit.loss.n, out, err);
    }
    if (status == DN_OK) {
        *report = fresh;
    }
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
