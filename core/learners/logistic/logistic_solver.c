/* The solvers of logistic regression: learning rate, descents, Newton steps after L-BFGS. */
#include "catalogue/param_rows.h"
#include "learners/logistic/logistic_fit.h"
#include "learners/shared/learner.h"
#include "linalg/eigen.h"

#include <math.h>

double dni_logistic_solver_bytes(const dni_logistic_plan *plan, size_t n_rows) {
    const size_t n_blocks = n_rows / DN_BLOCK_ROWS + 1;
    double phase =
        dni_solver_bytes(plan->solver, plan->n, n_blocks); /* bytes of the largest phase */
    if (plan->polishes) {
        phase = fmax(phase, dni_solver_bytes(&dni_solver_newton, plan->n, n_blocks));
    }
    phase += plan->conditions ? dni_symmetric_null_memory(plan->width) : 0;
    phase += plan->certifies ? dni_separation_bytes(plan->n) : 0;
    if (dni_logistic_decomposes(plan)) {
        /* The null basis, at most half of `rank` bytes, remains allocated. */
        const double rank = dni_linear_null_space_bytes(plan->width);
        phase = fmax(rank, rank / 2 + phase);
    }
    return phase;
}

static dn_status step_batch(void *ctx, const dn_block *block, const size_t *order, size_t n_rows,
                            double rate, double *x, double *weight, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_linear_batch(&fit->problem, block, order, n_rows, rate, x, weight, err);
}

static dn_status step_batch_lazily(void *ctx, const dn_block *block, const size_t *order,
                                   size_t n_rows, double rate, dni_lazy *point, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_linear_batch_lazily(&fit->problem, block, order, n_rows, rate, point, err);
}

/* Implements dni_sgd_settings.to_ordered. For sparse rows the variables are transposed: the weights
 * of one column for all scores are then consecutive in memory. */
static void to_ordered(void *ctx, const double *x, double *table) {
    const dni_logistic_fit *fit = ctx;
    dni_linear_set_table(&fit->problem, x, table);
}

static void from_ordered(void *ctx, const double *table, double *x) {
    const dni_logistic_fit *fit = ctx;
    dni_linear_read_table(&fit->problem, table, x);
}

/* *out ← the parameter learning_rate, or 1/(v L) if it is "auto", where v is the weight of the rows
 * of one step and L is the curvature bound. Adds a warning if the rate is above 2/(v L). batch:
 * number of rows of one step; 0: all rows. L needs passes over the rows; with batches it is
 * computed for "auto" only. */
static dn_status choose_rate(dni_logistic_fit *fit, size_t batch, double *out, dn_error *err) {
    const dn_params *p = fit->input->params;
    dni_linear_problem *problem = &fit->problem;
    const bool chosen = dn_params_word(p, "learning_rate") != NULL;
    double largest, rows = fit->moments.weight, typical = 0;
    *out = dn_params_number(p, "learning_rate");
    if (!chosen && batch > 0) {
        return DN_OK;
    }
    dn_status status = dni_linear_largest_eigenvalue(problem, &largest, err);
    if (status == DN_OK && batch > 0) {
        status = dni_linear_mean_drawn_weight(problem, &typical, err);
    }
    if (status != DN_OK) {
        return status;
    }
    const double bound = problem->loss->largest_curvature(problem->n_scores);
    double curvature = bound * largest + 2 * problem->lambda;
    if (batch > 0) {
        /* Adds a bound for the variance of a batch: the mean of ‖[x, 1]‖² over its rows. */
        double square = problem->intercept == DNI_INTERCEPT_NONE ? 0 : 1;
        for (size_t j = 0; j + 1 < problem->width; j++) {
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
            fit->report, DN_WARNING_LEARNING_RATE,
            "learning_rate %g is above 2/(n L) = %g: the descent may oscillate or diverge", *out,
            2 / (rows * curvature));
    }
    dn_report_number(fit->report, "curvature_bound", curvature);
    return DN_OK;
}

static dn_status run_descent(dni_logistic_fit *fit, const dni_objective *objective, double *x,
                             dni_outcome *outcome, dn_error *err) {
    const dni_linear_problem *problem = &fit->problem;
    const bool batches = (fit->plan.solver->needs & DNI_NEEDS_BATCHES) != 0;
    const size_t batch = (size_t)dn_params_number(fit->input->params, "batch_size");
    double rate;
    const dn_status status = choose_rate(fit, batches ? batch : 0, &rate, err);
    if (status != DN_OK) {
        return status;
    }
    dn_report_number(fit->report, "learning_rate", rate);
    const dni_sgd_settings sgd = {.batch_rows = batch,
                                  .rate = rate,
                                  .decay = 2 * problem->lambda,
                                  .seed = fit->run->seed,
                                  .given_order = !dni_shuffles_rows(fit->input->params),
                                  .step = problem->sparse ? NULL : step_batch,
                                  .step_lazily = step_batch_lazily,
                                  .n_penalised = problem->intercept == DNI_INTERCEPT_PENALISED
                                                     ? problem->n
                                                     : problem->n - problem->n_scores,
                                  .to_ordered = to_ordered,
                                  .from_ordered = from_ordered};
    const dni_solver_options options = {.max_iterations = fit->plan.max_iterations,
                                        .step = rate * fit->moments.weight,
                                        .sgd = &sgd,
                                        .rows = problem->rows};
    return dni_solver_minimise(fit->plan.solver, objective, fit->run, &options, x, outcome, err);
}

/* Runs Newton steps from x, the result of L-BFGS. */
static dn_status polish(dni_logistic_fit *fit, const dni_objective *objective, double *x,
                        dni_outcome *outcome, dn_error *err) {
    const dni_solver_options options = {.max_iterations = 40};
    dni_outcome last;
    fit->polishing = true;
    fit->base_iteration = outcome->iterations;
    dn_status status =
        dni_solver_minimise(&dni_solver_newton, objective, fit->run, &options, x, &last, err);
    if (status == DN_OK) {
        status = dni_logistic_check_separation(fit, x, &last, err);
    }
    if (status != DN_OK) {
        return status;
    }
    outcome->iterations += last.iterations;
    outcome->evaluations += last.evaluations;
    outcome->hessians += last.hessians;
    outcome->value = last.value;
    /* If Newton's method makes no progress, L-BFGS had already reached the precision of the
     * arithmetic: its stop reason is kept. */
    if (last.reason != DN_STOP_NO_PROGRESS || dni_logistic_found_separable(fit)) {
        outcome->reason = last.reason;
    }
    return DN_OK;
}

static dn_status run_solver(dni_logistic_fit *fit, double *x, dni_outcome *outcome, dn_error *err) {
    const dni_logistic_plan *plan = &fit->plan;
    const dni_objective objective = dni_logistic_objective(fit);
    const dni_solver_options options = {.max_iterations = plan->max_iterations};
    dn_status status = DN_OK;
    if (plan->max_iterations == 0) {
        return dni_solver_minimise(plan->solver, &objective, fit->run, &options, x, outcome, err);
    }
    if (dni_logistic_decomposes(plan)) {
        status = dni_logistic_find_rank(fit, err);
    }
    if (status == DN_OK && fit->arrays.diagonal != NULL) {
        status = dni_logistic_make_metric(fit, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (dni_linear_unpenalised(&fit->problem) && plan->width > DNI_RANK_MAX_WIDTH &&
        !plan->check_wide && !plan->independent) {
        dn_report_warn(
            fit->report, DN_WARNING_NOT_UNIQUE,
            "with lambda = 0 the weights may not be unique, nor of least norm, because dependent "
            "columns are searched for among at most %d features only; set lambda > 0",
            DNI_RANK_MAX_WIDTH - 1);
    }
    if (plan->method->descends) {
        return run_descent(fit, &objective, x, outcome, err);
    }
    status = dni_solver_minimise(plan->solver, &objective, fit->run, &options, x, outcome, err);
    if (status != DN_OK || !plan->polishes || outcome->reason != DN_STOP_TOLERANCE) {
        return status;
    }
    return polish(fit, &objective, x, outcome, err);
}

dn_status dni_logistic_solve(dni_logistic_fit *fit, double *x, dni_outcome *outcome,
                             dn_error *err) {
    const dn_status status = run_solver(fit, x, outcome, err);
    dni_logistic_report_irls(fit);
    return status == DN_OK ? dni_logistic_check_separation(fit, x, outcome, err) : status;
}
