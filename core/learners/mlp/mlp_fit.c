/* A fit of a network from its starts to its report. Several starts are made one after the other; the one that ended best is kept, by the loss of the rows aside if there are any, by the objective
 * otherwise. Of a start, too, the best of its iterates is what it ends with.
 *
 * Starts: biases 0, weights uniform in ±√(6/(inputs + units)) (Glorot and Bengio, AISTATS 2010, equation 16), or ±√(6/inputs) (He et al., ICCV 2015), in the solver's variables. */
#include "learners/mlp/mlp_fit.h"
#include "base/random.h"
#include "base/share.h"
#include "linalg/vector.h"
#include "machine/machine_impl.h"
#include "optimize/adam.h"
#include "optimize/lbfgs.h"

#include <math.h>
#include <string.h>

/* A fit under way. */
struct fit {
    const dn_fit_input *input;
    const dn_run *run; /* the whole's */
    dni_mlp_plan plan;
    dni_moments moments;
    dni_mlp loss;
    bool *aside; /* NULL: none */
    size_t n_aside;
    double *x, *best, *kept; /* [n] the solver's point, the best of this start, the best of all */
    void *memory;
    /* of this start */
    double best_value, mark; /* what `best` is judged by; the objective that has to be undercut */
    size_t best_iteration, mark_iteration;
    double measure; /* largest component of the gradient in the solver's variables */
    size_t iterations, evaluations; /* of all starts */
    /* of the start kept */
    dni_outcome outcome;
    double kept_value;
    size_t kept_start, kept_iteration;
    /* what is told */
    double objective, gradient_norm, kept_measure;
};

/* ---- memory ---- */
double dni_mlp_fit_memory(const dni_mlp_plan *plan, size_t n_rows, size_t n_classes,
                          size_t n_slots) {
    const dni_layers layers = dni_mlp_layers(plan);
    const size_t n = dni_layers_numbers(&layers);
    const double solver = plan->adam ? dni_adam_memory(n, n_rows) : 8 * dni_lbfgs_memory(n);
    const double aside =
        plan->aside > 0 ? (double)n_rows + 8 * ((double)n_rows + (double)n_classes + 1) : 0;
    return dni_mlp_memory(&layers, n_rows, plan->adam ? plan->batch_rows : 0, n_slots) + solver +
           24 * plan->n + aside + 16 * (double)plan->n_features + 8 * (double)n_classes +
           dni_moments_memory(n_rows, plan->n_features, n_classes, n_slots) +
           16 * (double)plan->restarts;
}

/* ---- the start ---- */
static void start_at(struct fit *fit, size_t start) {
    const dni_layers layers = dni_mlp_layers(&fit->plan);
    dni_random random;
    dni_random_init(&random, fit->run->seed, DNI_MLP_STREAM_STARTS + 2 * start);
    double *x = fit->x;
    for (size_t l = 0; l < layers.n_layers; l++) {
        const size_t inputs = dni_layers_inputs(&layers, l), units = layers.units[l];
        const double bound = sqrt(6 / ((double)inputs + (fit->plan.he ? 0 : (double)units)));
        for (size_t i = 0; i < inputs * units; i++) {
            x[i] = dni_random_uniform(&random, -bound, bound);
        }
        memset(x + inputs * units, 0, units * sizeof *x);
        x += (inputs + 1) * units;
    }
    fit->best_value = fit->mark = (double)INFINITY;
    fit->best_iteration = fit->mark_iteration = 0;
}

/* ---- the judge ---- */
static void tell(const struct fit *fit, const dn_run *run, const dni_iterate *point, double norm) {
    if (run->progress == NULL) {
        return;
    }
    const dn_progress progress = {.iteration = point->iteration,
                                  .max_iterations = fit->plan.max_iterations,
                                  .fraction =
                                      (double)point->iteration / (double)fit->plan.max_iterations,
                                  .loss = point->value,
                                  .gradient_norm = norm,
                                  .train_error = fit->loss.wrong / fit->loss.weight};
    run->progress(run, &progress);
}

/* Keeps the best point, and ends the start when the rule of the catalogue holds. */
static dn_status accepted(void *ctx, const dn_run *run, const dni_iterate *point,
                          dn_stop_reason *reason, dn_error *err) {
    struct fit *fit = ctx;
    const dni_mlp_plan *plan = &fit->plan;
    const double value = fit->aside != NULL ? fit->loss.aside_loss : point->value;
    (void)err;
    fit->measure = dni_max_abs(point->gradient, fit->loss.n);
    tell(fit, run, point, dni_norm(fit->loss.gradient, fit->loss.n));
    if (value < fit->best_value) {
        fit->best_value = value;
        fit->best_iteration = point->iteration;
        memcpy(fit->best, point->x, fit->loss.n * sizeof *fit->best);
    }
    if (point->value < fit->mark - plan->tolerance * fabs(fit->mark) || isinf(fit->mark)) {
        fit->mark = point->value;
        fit->mark_iteration = point->iteration;
    }
    const bool rest = plan->adam ? point->iteration - fit->mark_iteration >= plan->patience
                                 : fit->measure <= plan->tolerance;
    if (rest) {
        *reason = DN_STOP_TOLERANCE;
    } else if (fit->aside != NULL && point->iteration - fit->best_iteration >= plan->patience) {
        *reason = DN_STOP_EARLY_STOPPING;
    }
    return DN_OK;
}

static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    struct fit *fit = ctx;
    return dni_mlp_evaluate(&fit->loss, run, x, value, gradient, err);
}

static dn_status batch(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                       const double *x, double *gradient, dn_error *err) {
    struct fit *fit = ctx;
    return dni_mlp_batch_gradient(&fit->loss, run, order, n_rows, x, gradient, err);
}

/* ---- starts ---- */
static dn_status solve(struct fit *fit, const dn_run *run, size_t start, dni_outcome *outcome,
                       dn_error *err) {
    const dni_mlp_plan *plan = &fit->plan;
    const dni_objective objective = {.n = fit->loss.n,
                                     .ctx = fit,
                                     .evaluate = evaluate,
                                     .accepted = accepted};
    start_at(fit, start);
    if (!plan->adam) {
        return dni_lbfgs(&objective, run, plan->max_iterations, fit->x, outcome, err);
    }
    const dni_adam_settings settings = {.max_passes = plan->max_iterations,
                                        .n_rows = fit->loss.batch.n_used,
                                        .batch_rows = fit->loss.batch.most,
                                        .rate = plan->rate,
                                        .fades = plan->fades,
                                        .seed = run->seed,
                                        .stream = DNI_MLP_STREAM_STARTS + 2 * start + 1,
                                        .batch = batch};
    return dni_adam(&objective, run, &settings, fit->x, outcome, err);
}

static dn_status run_starts(struct fit *fit, double *values, dn_error *err) {
    fit->kept_value = (double)INFINITY;
    for (size_t start = 0; start < fit->plan.restarts; start++) {
        dni_outcome outcome;
        dni_share share;
        const dn_run *run = fit->run;
        if (fit->plan.restarts > 1) {
            dni_share_init(&share, run, start, fit->plan.restarts);
            dni_share_machine(&share, fit->iterations);
            run = &share.run;
        }
        dn_status status = solve(fit, run, start, &outcome, err);
        if (status != DN_OK) {
            return status;
        }
        fit->iterations += outcome.iterations;
        fit->evaluations += outcome.evaluations;
        values[start] = fit->best_value;
        if (fit->best_value < fit->kept_value || start == 0) {
            fit->kept_value = fit->best_value;
            fit->kept_start = start;
            fit->kept_iteration = fit->best_iteration;
            fit->outcome = outcome;
            memcpy(fit->kept, fit->best, fit->loss.n * sizeof *fit->kept);
        }
    }
    return DN_OK;
}

/* ---- the end ---- */
static dn_status hand_over(const struct fit *fit, dn_machine *out, dn_error *err) {
    const dni_layers layers = dni_mlp_layers(&fit->plan);
    if (!dni_all_finite(fit->loss.stated, fit->loss.n)) {
        return dn_error_set(
            err, DN_ERR_NUMERIC,
            "the weights in the scale of the features are not finite; standardise the columns");
    }
    dn_machine machine;
    dn_status status = dni_machine_new_network(fit->input->n_classes, &layers, &machine, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < fit->loss.n; i++) {
        machine.network->w[i] = fit->loss.stated[i] + 0.0; /* no -0 */
    }
    *out = machine;
    return DN_OK;
}

/* Steps were made, and none was better than the start: that the objective came to rest says nothing. */
static bool learned_nothing(const struct fit *fit) {
    return fit->kept_iteration == 0 && fit->outcome.iterations > 0;
}

static void describe(const struct fit *fit, const double *values, dn_report *report) {
    const dni_mlp_plan *plan = &fit->plan;
    const bool chosen = strcmp(dn_params_word(fit->input->params, "solver"), "auto") == 0;
    const bool rests =
        fit->outcome.reason == DN_STOP_TOLERANCE || fit->outcome.reason == DN_STOP_EARLY_STOPPING;
    report->converged = rests && !learned_nothing(fit);
    report->stop_reason = rests && !report->converged ? DN_STOP_NO_PROGRESS : fit->outcome.reason;
    report->iterations = fit->iterations;
    report->objective = fit->objective;
    report->gradient_norm = fit->gradient_norm;
    dn_report_text(report, "solver", "%s", plan->adam ? "adam" : "lbfgs");
    dn_report_text(report, "solver_reason", chosen ? "auto: %zu variables, %zu rows" : "asked for",
                   fit->loss.n, fit->loss.rows->n_rows);
    dn_report_number(report, "variables", (double)fit->loss.n);
    dn_report_number(report, "tolerance", plan->tolerance);
    dn_report_number(report, "gradient_max", fit->kept_measure);
    dn_report_number(report, "gradient_evaluations", (double)fit->evaluations);
    if (plan->adam) {
        dn_report_number(report, "learning_rate", plan->rate);
        dn_report_number(report, "batch_size", (double)fit->loss.batch.most);
    }
    if (fit->aside != NULL) {
        dn_report_number(report, "rows_aside", (double)fit->n_aside);
        dn_report_number(report, "loss_aside", fit->loss.aside_loss);
    }
    dn_report_number(report, "kept_iteration", (double)fit->kept_iteration);
    dn_report_number(report, "starts", (double)plan->restarts);
    if (plan->restarts > 1) {
        dn_report_number(report, "kept_start", (double)fit->kept_start + 1);
        dn_report_list(report, fit->aside != NULL ? "start_losses_aside" : "start_objectives",
                       values, plan->restarts);
    }
}

static void warn_of_start(const struct fit *fit, dn_report *report) {
    const dni_mlp_plan *plan = &fit->plan;
    const char *judge = fit->aside != NULL ? ", by the loss of the rows kept aside" : "";
    const char *lambda = plan->lambda > 1 ? ", or a smaller lambda" : "";
    if (plan->adam) {
        dn_report_warn(
            report,
            "no step was better than the random start%s: try another learning_rate (it is %g)%s",
            judge, plan->rate, lambda);
    } else {
        dn_report_warn(
            report,
            "no step was better than the random start%s: try features.standardize, another seed%s",
            judge, lambda);
    }
}

static void warn(const struct fit *fit, dn_report *report) {
    const dni_mlp_plan *plan = &fit->plan;
    if (plan->aside > 0 && fit->aside == NULL) {
        dn_report_warn(
            report,
            "no row was kept aside: the classes have too few rows for an early_stopping of %g",
            plan->aside);
    }
    if (report->converged) {
        return;
    }
    if (learned_nothing(fit)) {
        warn_of_start(fit, report);
    } else if (report->stop_reason != DN_STOP_MAX_ITERATIONS) {
        dn_report_warn(report,
                       "no step lowers the objective any more, but its largest derivative is %g, "
                       "above the tolerance of %g%s",
                       fit->kept_measure, plan->tolerance,
                       plan->activation == DN_ACTIVATION_RELU
                           ? ": relu has corners; try activation tanh, or solver adam"
                           : "");
    } else if (plan->adam) {
        dn_report_warn(
            report,
            "%zu passes were made, and the objective may fall further: try more max_iterations%s",
            plan->max_iterations, plan->aside > 0 ? "" : ", or early_stopping to end by itself");
    } else {
        dn_report_warn(report,
                       "after %zu iterations the largest derivative is %g, above the tolerance of "
                       "%g: try more max_iterations",
                       plan->max_iterations, fit->kept_measure, plan->tolerance);
    }
}

/* The point that is kept, looked at once more: it need not be the one that was evaluated last. */
static dn_status look_back(struct fit *fit, dn_error *err) {
    dn_status status =
        dni_mlp_evaluate(&fit->loss, fit->run, fit->kept, &fit->objective, fit->x, err);
    fit->kept_measure = dni_max_abs(fit->x, fit->loss.n);
    fit->gradient_norm = dni_norm(fit->loss.gradient, fit->loss.n);
    return status;
}

/* ---- a fit ---- */
static dn_status set_aside(struct fit *fit, dn_error *err) {
    void *memory = NULL;
    const dn_rows *rows = fit->input->rows;
    if (!(fit->plan.aside > 0)) {
        return DN_OK;
    }
    dn_status status = dn_run_alloc(fit->run, rows->n_rows, sizeof(bool),
                                    "which rows are kept aside", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_mlp_keep_aside(rows, fit->input->n_classes, fit->plan.aside, fit->run, memory,
                                &fit->n_aside, err);
    if (status == DN_OK && fit->n_aside > 0) {
        fit->aside = memory;
    } else {
        dn_run_free(fit->run, memory);
    }
    return status;
}

static dn_status prepare(struct fit *fit, dn_error *err) {
    const dni_layers layers = dni_mlp_layers(&fit->plan);
    dn_status status = dni_moments_compute(fit->input, fit->run, &fit->moments, err);
    if (status == DN_OK) {
        status = set_aside(fit, err);
    }
    if (status == DN_OK) {
        status = dni_mlp_init(&fit->loss, fit->input->rows, fit->input->n_classes, &layers,
                              fit->plan.lambda, &fit->moments, fit->aside,
                              fit->plan.adam ? fit->plan.batch_rows : 0, fit->run, err);
    }
    if (status == DN_OK) {
        status = dn_run_alloc(fit->run, 3 * fit->loss.n + fit->plan.restarts, sizeof(double),
                              "the weights of the network", &fit->memory, err);
    }
    return status;
}

dn_status dni_mlp_fit(const dn_fit_input *input, const dn_run *run, dn_machine *out,
                      dn_report *report, dn_error *err) {
    dn_report fresh = {0};
    struct fit fit = {.input = input,
                      .run = run,
                      .plan = dni_mlp_make_plan(input->params, input->rows->n_rows,
                                                input->rows->n_cols, input->n_classes)};
    dn_status status = prepare(&fit, err);
    if (status == DN_OK) {
        fit.x = fit.memory;
        fit.best = fit.x + fit.loss.n;
        fit.kept = fit.best + fit.loss.n;
        status = run_starts(&fit, fit.kept + fit.loss.n, err);
    }
    if (status == DN_OK) {
        status = look_back(&fit, err);
    }
    if (status == DN_OK) {
        status = hand_over(&fit, out, err);
    }
    if (status == DN_OK) {
        describe(&fit, fit.kept + fit.loss.n, &fresh);
        warn(&fit, &fresh);
        *report = fresh;
    }
    dn_run_free(run, fit.memory);
    dni_mlp_done(&fit.loss, run);
    dn_run_free(run, fit.aside);
    dni_moments_done(&fit.moments, run);
    return status;
}
