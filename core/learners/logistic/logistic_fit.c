/* The fit of logistic regression: starting point, machine and report. */
#include "learners/logistic/logistic_fit.h"
#include "base/random.h"
#include "catalogue/param_rows.h"
#include "learners/shared/learner.h"
#include "machine/linear.h"
#include "optimize/l1/l1.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- memory ---- */
double dni_logistic_fit_bytes(const dn_params *params, const dn_fit_shape *shape) {
    const dni_logistic_plan plan =
        dni_logistic_make_plan(params, shape->n_rows, (double)shape->n_rows, shape->n_features,
                               shape->n_classes);
    const dni_linear_shape problem = {.n_cols = shape->n_features,
                                      .n_classes = shape->n_classes,
                                      .n_slots = shape->n_slots,
                                      .uses = plan.uses,
                                      .sparse = isfinite(shape->n_entries)};
    dni_logistic_arrays scratch;
    double phase = dni_logistic_solver_bytes(&plan, shape->n_rows); /* bytes of the largest phase */
    if (plan.wide || plan.check_wide) {
        phase = fmax(plan.wide ? 0 : phase, dni_logistic_wide_bytes(&plan, shape));
    }
    if (plan.check_uses != 0) {
        phase = fmax(phase, dni_logistic_check_bytes(&plan, shape));
    }
    const double fit = dni_moments_result_memory(shape->n_features, shape->n_classes) +
                       dni_layout_bytes(dni_logistic_layout, &plan, &scratch) +
                       dni_linear_bytes(&problem, shape->n_rows) + phase;
    return fmax(fit, dni_moments_memory(shape->n_rows, shape->n_features, shape->n_classes,
                                        shape->n_slots));
}

/* ---- the start ---- */
/* Subtracts from the weights and intercepts their mean over the classes, which changes no
 * probability. With l1 only intercepts without a penalty are changed, because the mean of the
 * weights changes the penalty. */
static void centre_classes(const dni_linear_problem *problem, double *table) {
    const size_t K = problem->n_scores, width = problem->width;
    const bool changes = K > 1 && !(problem->threshold[width - 1] > 0);
    for (size_t j = problem->l1 > 0 ? width - 1 : 0; changes && j < width; j++) {
        double mean = 0;
        for (size_t k = 0; k < K; k++) {
            mean += table[k * width + j];
        }
        mean /= (double)K;
        for (size_t k = 0; k < K; k++) {
            table[k * width + j] -= mean;
        }
    }
}

/* If the model has no intercept, sets the intercepts in x, the variables of the solver, to 0. */
static void clear_intercepts(const dni_linear_problem *problem, double *x) {
    for (size_t k = 0; problem->intercept == DNI_INTERCEPT_NONE && k < problem->n_scores; k++) {
        x[(k + 1) * problem->width - 1] = 0;
    }
}

/* Sets x to the weights of a machine for the same features. */
static void start_at_machine(const dni_linear_problem *problem, const dni_linear_machine *machine,
                             double *x) {
    const size_t d = problem->width - 1;
    for (size_t k = 0; k < problem->n_scores; k++) {
        double *row = problem->original + k * problem->width;
        memcpy(row, machine->w + k * d, d * sizeof *row);
        row[d] = machine->w0[k];
    }
    dni_linear_from_original(problem, problem->original, x);
}

/* Sets x [n], which is 0 on entry, to the starting point. */
static dn_status start_at(const dni_logistic_fit *fit, double *x, dn_error *err) {
    const dni_linear_problem *problem = &fit->problem;
    const dn_params *params = fit->input->params;
    size_t n;
    const double *list = dn_params_list(params, "init", &n);
    if (list != NULL) {
        const dn_fit_input *in = fit->input;
        const size_t d = problem->width - 1;
        const dn_status status = dni_start_check(params, problem->n_scores, d, err);
        if (status == DN_OK && params->rules == DN_RULES_FIRST) { /* the list has encoded units */
            dni_linear_from_original(problem, list, x);
        } else if (status == DN_OK) {
            dni_linear_to_encoded(list, problem->n_scores, d, in->mean, in->scale,
                                  problem->original);
            dni_linear_from_original(problem, problem->original, x);
        }
        if (status == DN_OK) {
            clear_intercepts(problem, x);
        }
        return status;
    }
    if (fit->input->start != NULL && !fit->plan.method->descends && !fit->plan.wide) {
        start_at_machine(problem, dni_linear_machine_of(fit->input->start), x);
        clear_intercepts(problem, x);
        return DN_OK;
    }
    dni_random random;
    dni_random_init(&random, fit->run->seed, DNI_STREAM_START);
    if (fit->plan.method->descends && strcmp(dn_params_word(params, "init"), "random") == 0) {
        for (size_t i = 0; i < problem->n; i++) {
            x[i] = dni_random_uniform(&random, -0.01, 0.01);
        }
    }
    clear_intercepts(problem, x);
    centre_classes(problem, x);
    return DN_OK;
}

/* ---- the end ---- */
/* With l1: subtracts a number from all intercepts w0 so that the intercepts of the raw features, w0
 * − Σ w mean/scale, have the mean 0 over the classes. */
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

static dn_status make_machine(dni_logistic_fit *fit, const double *x, dn_machine **out,
                              dn_error *err) {
    dni_linear_problem *problem = &fit->problem;
    const size_t d = problem->width - 1;
    dni_linear_to_original(problem, x, problem->original);
    if (fit->plan.max_iterations > 0) {
        centre_classes(problem, problem->original);
    }
    const dn_status status =
        dni_linear_machine_of_table(problem->original, problem->n_classes, d, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_linear_machine *machine = dni_linear_machine_of(*out);
    for (size_t i = 0; i < problem->n_scores * d; i++) {
        machine->w[i] += 0.0; /* turns -0 into 0 */
    }
    if (problem->l1 > 0 && problem->intercept == DNI_INTERCEPT_FREE &&
        fit->plan.max_iterations > 0) {
        centre_intercepts(fit->input, machine);
    }
    return DN_OK;
}

static void describe(const dni_logistic_fit *fit, const double *x, const dni_outcome *outcome,
                     dn_report *report) {
    const dni_logistic_plan *plan = &fit->plan;
    const dni_linear_problem *problem = &fit->problem;
    const bool chosen = dni_params_is(fit->input->params, "solver", "auto");
    report->iterations = outcome->iterations;
    report->objective = outcome->value;
    report->gradient_norm = fit->gradient_norm;
    dn_report_text(report, "solver", "%s", plan->method->name);
    dn_report_text(report, "solver_reason", chosen ? "auto: %zu variables, %zu rows" : "asked for",
                   problem->n, problem->rows->n_rows);
    dn_report_number(report, "variables", (double)problem->n);
    if (plan->loss == &dni_loss_cross_entropy) {
        dn_report_number(report, "log_likelihood", -fit->loss);
    }
    dn_report_number(report, "lambda", plan->lambda);
    dni_report_tolerance(report, plan->tolerance, fit->measure);
    dn_report_number(report, "gradient_max", fit->measure);
    dn_report_number(report, "gradient_norm_start", fit->first_norm);
    dn_report_number(report, "gradient_evaluations", (double)outcome->evaluations);
    if (outcome->hessians > 0) {
        dn_report_number(report, "hessian_evaluations", (double)outcome->hessians);
    }
    if (plan->solver->inner != NULL) {
        dn_report_text(report, "inner_solver", "%s", plan->solver->inner);
        dn_report_number(report, "inner_iterations", (double)outcome->inner);
    }
    if (problem->l1 > 0) {
        size_t nonzero = 0;
        for (size_t i = 0; i < problem->n; i++) {
            nonzero += (i + 1) % problem->width != 0 && x[i] != 0;
        }
        dn_report_number(report, "nonzero_weights", (double)nonzero);
    }
}

/* Sets the weights of constant columns to 0. These weights have no effect on scores, and may
 * contain rounding errors. The weights of descents and given weights are left unchanged. */
static void clear_constants(const dni_logistic_fit *fit, double *x) {
    const dni_linear_problem *problem = &fit->problem;
    if (fit->plan.method->descends || fit->plan.max_iterations == 0) {
        return;
    }
    for (size_t j = 0; j + 1 < problem->width; j++) {
        for (size_t k = 0; fit->moments.deviation[j] == 0 && k < problem->n_scores; k++) {
            x[k * problem->width + j] = 0;
        }
    }
}

static dn_status solve(dni_logistic_fit *fit, dn_machine **out, dn_error *err) {
    double *x = fit->arrays.x;
    dni_outcome outcome;
    bool changed = false;
    dn_status status = start_at(fit, x, err);
    if (status == DN_OK) {
        status = fit->plan.wide ? dni_logistic_solve_wide(fit, x, &outcome, err)
                                : dni_logistic_solve(fit, x, &outcome, err);
    }
    if (status == DN_OK) {
        status = dni_logistic_check_result(fit, x, &changed, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if ((fit->plan.solver->needs & DNI_NEEDS_BATCHES) || fit->n_null > 0 || fit->plan.wide ||
        changed) {
        /* x is changed here, or was not the last point evaluated: the objective is evaluated at
         * x. */
        status = dni_logistic_least_norm(fit, x, err);
        if (status == DN_OK) {
            status = dni_linear_evaluate(&fit->problem, fit->run, x, &outcome.value,
                                         fit->arrays.spare, err);
        }
        if (status != DN_OK) {
            return status;
        }
        outcome.value += dni_l1_value(fit->problem.threshold, x, fit->problem.n);
        dni_logistic_take_measure(fit);
    }
    clear_constants(fit, x);
    describe(fit, x, &outcome, fit->report);
    dni_logistic_report_end(fit, &outcome);
    return make_machine(fit, x, out, err);
}

dn_status dni_logistic_run(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                           dn_report *report, dn_error *err) {
    const dn_rows *rows = input->rows;
    dni_logistic_fit fit = {.input = input, .run = run, .report = report};
    dn_status status = dni_moments_compute(input, run, &fit.moments, err);
    if (status != DN_OK) {
        return status;
    }
    fit.plan = dni_logistic_make_plan(input->params, rows->n_rows, fit.moments.weight, rows->n_cols,
                                      input->n_classes);
    status = dni_logistic_check_newton(input->params, &fit.plan, rows->n_rows, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    if (fit.plan.intercept != DNI_INTERCEPT_FREE) {
        dni_moments_about_zero(&fit.moments, rows->n_cols);
    }
    status = dni_linear_init(&fit.problem, rows, input->n_classes, fit.plan.l2, &fit.moments,
                             fit.plan.uses, run, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    fit.problem.loss = fit.plan.loss;
    fit.problem.intercept = fit.plan.intercept;
    fit.problem.plain = fit.plan.full;
    dni_linear_set_l1(&fit.problem, fit.plan.l1);
    status = dni_layout_take(run, dni_logistic_layout, &fit.plan, &fit.arrays, "the weights",
                             &fit.memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = solve(&fit, out, err);
cleanup:
    dn_run_free(run, fit.null_basis);
    dn_run_free(run, fit.memory);
    dni_linear_done(&fit.problem);
    dni_moments_done(&fit.moments, run);
    return status;
}
