/* The fit of a network. The starts run one after another. The result is the best iterate of all
 * starts: the iterate with the least loss of the validation rows if there are any, otherwise with
 * the least objective.
 *
 * Initial biases are 0. Initial weights are uniform in ±√(6/(inputs + units)) (Glorot and Bengio,
 * AISTATS 2010, equation 16) or ±√(6/inputs) (He et al., ICCV 2015), for standardised columns. */
#include "learners/mlp/mlp_fit.h"
#include "base/layout.h"
#include "base/random.h"
#include "base/share.h"
#include "learners/mlp/mlp_batch.h"
#include "learners/shared/learner.h"
#include "linalg/vector.h"
#include "optimize/adam.h"
#include "optimize/solver.h"

#include <math.h>
#include <string.h>

struct mlp_fit {
    const dn_fit_input *input;
    const dn_run *run; /* run of the whole fit */
    const dni_mlp_plan *plan;
    dni_moments moments;
    dni_mlp_loss loss;
    dni_mlp_batch batch; /* used by adam only */
    bool *validation;    /* [n_rows]; NULL: there are no validation rows */
    size_t n_validation;
    double *x, *best, *kept; /* [n] solver's point, best of this start, best of all starts */
    double *values;          /* [restarts] best value of each start */
    void *memory, *validation_memory;
    /* state of the current start */
    double best_value; /* value of `best`: the validation loss or the objective */
    size_t best_iteration;
    double reference_value; /* last objective that decreased by more than the tolerance */
    size_t reference_iteration;
    double gradient_max; /* largest component of the gradient by the standardised weights */
    /* totals of all starts */
    size_t iterations, evaluations;
    /* results of the best start */
    dni_outcome outcome;
    double kept_value, kept_gradient_max;
    size_t kept_start, kept_iteration;
    /* values at `kept` */
    double objective, gradient_norm;
};

/* ---- memory ---- */
static void fit_layout(dni_layout *layout, const void *shape, void *work) {
    const dni_mlp_plan *plan = shape;
    struct mlp_fit *fit = work;
    const dni_layers layers = dni_mlp_layers(plan);
    const size_t n = dni_layers_numbers(&layers);
    fit->x = dni_layout_doubles(layout, n);
    fit->best = dni_layout_doubles(layout, n);
    fit->kept = dni_layout_doubles(layout, n);
    fit->values = dni_layout_doubles(layout, plan->restarts);
}

/* The rows with a weight above 0, grouped by class. */
struct class_rows {
    size_t *row;   /* [n_rows] */
    size_t *start; /* [n_classes + 1] index in `row` where each class starts */
};

struct class_shape {
    size_t n_rows, n_classes;
};

static void class_layout(dni_layout *layout, const void *shape, void *work) {
    const struct class_shape *s = shape;
    struct class_rows *rows = work;
    rows->row = dni_layout_array(layout, s->n_rows, sizeof *rows->row);
    rows->start = dni_layout_array(layout, s->n_classes + 1, sizeof *rows->start);
}

/* The working memory of the choice of validation rows is freed before the working memory of the fit
 * is allocated: the estimate includes the larger of the two only. */
double dni_mlp_fit_memory(const dni_mlp_plan *plan, const dn_fit_shape *shape) {
    const dni_layers layers = dni_mlp_layers(plan);
    const struct class_shape classes = {shape->n_rows, shape->n_classes};
    const size_t n = dni_layers_numbers(&layers);
    struct mlp_fit unused;
    struct class_rows unused_rows;
    double fit = dni_mlp_loss_memory(&layers, shape->n_rows, shape->n_slots) +
                 dni_layout_bytes(fit_layout, plan, &unused);
    if (plan->adam) {
        fit += dni_mlp_batch_memory(&layers, shape->n_rows, plan->batch_rows,
                                    isfinite(shape->n_entries)) +
               dni_solver_bytes(&dni_solver_adam, n, shape->n_rows);
    } else {
        fit += dni_solver_bytes(&dni_solver_lbfgs_20, n, 1);
    }
    if (plan->validation_share > 0) {
        fit = (double)shape->n_rows +
              fmax(fit, dni_layout_bytes(class_layout, &classes, &unused_rows));
    }
    return dni_moments_memory(shape->n_rows, shape->n_features, shape->n_classes, shape->n_slots) +
           fit;
}

/* ---- validation rows ---- */
/* Visits the rows with a weight above 0. Adds 1 to start[k + 1] for each row of class k. With
 * `add`, first stores the row's index in row[start[k + 1]]. */
static dn_status visit_classes(const dn_rows *rows, const dn_run *run, bool add,
                               const struct class_rows *classes, dn_error *err) {
    for (size_t i = 0; i < rows->n_blocks; i++) {
        dn_block block;
        dn_status status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = dn_rows_block(rows, i, 0, &block, err);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t t = 0; t < block.x.n_rows; t++) {
            size_t *at = &classes->start[(size_t)block.target[t] + 1];
            if (block.weight != NULL && !(block.weight[t] > 0)) {
                continue;
            }
            if (add) {
                classes->row[*at] = block.first_row + t;
            }
            ++*at;
        }
    }
    return DN_OK;
}

static dn_status group_by_class(const dn_rows *rows, size_t K, const dn_run *run,
                                const struct class_rows *classes, dn_error *err) {
    dn_status status = visit_classes(rows, run, false, classes, err);
    if (status != DN_OK) {
        return status;
    }
    size_t before = 0;
    for (size_t k = 0; k < K; k++) { /* start[k + 1] ← start of class k */
        const size_t n = classes->start[k + 1];
        classes->start[k + 1] = before;
        before += n;
    }
    return visit_classes(rows, run, true, classes, err); /* start[k + 1] ← end of class k */
}

dn_status dni_mlp_choose_validation(const dn_rows *rows, size_t n_classes, double share,
                                    const dn_run *run, bool *validation, size_t *out_n,
                                    dn_error *err) {
    const struct class_shape shape = {rows->n_rows, n_classes};
    struct class_rows classes = {0};
    void *memory = NULL;
    dni_random random;
    size_t total = 0;
    dn_status status = dni_layout_take(run, class_layout, &shape, &classes,
                                       "the rows of each class", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = group_by_class(rows, n_classes, run, &classes, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    dni_random_init(&random, run->seed, DNI_STREAM_VALIDATION);
    for (size_t k = 0; k < n_classes; k++) {
        size_t *row = classes.row + classes.start[k], n = classes.start[k + 1] - classes.start[k],
               chosen = (size_t)round(share * (double)n);
        chosen = chosen < n ? chosen : n > 0 ? n - 1 : 0;
        dni_random_shuffle(&random, row, n);
        for (size_t i = 0; i < chosen; i++) {
            validation[row[i]] = true;
        }
        total += chosen;
    }
    *out_n = total;
cleanup:
    dn_run_free(run, memory);
    return status;
}

/* ---- the iterates of a start ---- */
/* x ← the standardised weights (mlp_loss.h) of the network plan->start for raw features. */
static void start_from_list(const struct mlp_fit *fit, double *x) {
    const dn_fit_input *in = fit->input;
    const size_t units = fit->plan->units[0], d = fit->plan->n_features;
    const dni_layers layers = dni_mlp_layers(fit->plan);
    const double *list = fit->plan->start;
    double *to = x;
    for (size_t l = 0; l < layers.n_layers; l++) { /* the list has the weights unit by unit */
        const size_t inputs = dni_layers_inputs(&layers, l), n = layers.units[l];
        for (size_t i = 0; i < inputs * n; i++) {
            to[i] = list[i % n * inputs + i / n];
        }
        memcpy(to + inputs * n, list + inputs * n, n * sizeof *to);
        list += (inputs + 1) * n;
        to += (inputs + 1) * n;
    }
    for (size_t j = 0; j < d; j++) {
        const double scale = in->scale == NULL ? 1 : in->scale[j],
                     shift = in->mean == NULL ? 0 : in->mean[j], s = fit->moments.deviation[j];
        for (size_t k = 0; k < units; k++) {
            double *w = x + j * units + k; /* raw weight → encoded → standardised */
            x[d * units + k] += *w * shift;
            *w *= scale;
            x[d * units + k] += *w * fit->moments.mean[j];
            *w *= s;
        }
    }
}

/* Sets x to the first point of a start. */
static void initialise(struct mlp_fit *fit, size_t start) {
    const dni_layers layers = dni_mlp_layers(fit->plan);
    dni_random random;
    dni_random_init(&random, fit->run->seed, DNI_STREAM_NETWORK + 2 * start);
    double *x = fit->x;
    if (fit->plan->start != NULL) {
        start_from_list(fit, x);
    }
    for (size_t l = 0; fit->plan->start == NULL && l < layers.n_layers; l++) {
        const size_t inputs = dni_layers_inputs(&layers, l), units = layers.units[l];
        const double bound = sqrt(6 / ((double)inputs + (fit->plan->he ? 0 : (double)units)));
        for (size_t i = 0; i < inputs * units; i++) {
            x[i] = dni_random_uniform(&random, -bound, bound);
        }
        memset(x + inputs * units, 0, units * sizeof *x);
        x += (inputs + 1) * units;
    }
    fit->best_value = fit->reference_value = (double)INFINITY;
    fit->best_iteration = fit->reference_iteration = 0;
}

static void report_progress(const struct mlp_fit *fit, const dn_run *run, const dni_iterate *point,
                            double norm) {
    if (run->progress == NULL || (point->iteration == 0 && !dni_reports_start(fit->input, run))) {
        return;
    }
    const double max_iterations = (double)fit->plan->max_iterations;
    const dn_progress progress = {.iteration = point->iteration,
                                  .start = point->iteration == 0,
                                  .max_iterations = fit->plan->max_iterations,
                                  .fraction = (double)point->iteration / fmax(1, max_iterations),
                                  .loss = point->value,
                                  .gradient_norm = norm,
                                  .train_error =
                                      fit->loss.misclassified / fit->loss.training_weight};
    run->progress(run, &progress);
}

/* Implements dni_objective.accepted: copies the best point to `best`, and sets *reason if the
 * stopping rule of the parameter `tolerance` or `patience` is satisfied. */
static dn_status accepted(void *ctx, const dn_run *run, const dni_iterate *point,
                          dn_stop_reason *reason, dn_error *err) {
    struct mlp_fit *fit = ctx;
    const dni_mlp_plan *plan = fit->plan;
    const double value = fit->validation != NULL ? fit->loss.validation_loss : point->value;
    (void)err;
    fit->gradient_max = dni_max_abs(point->gradient, fit->loss.n);
    report_progress(fit, run, point, dni_norm(fit->loss.gradient, fit->loss.n));
    if (value < fit->best_value) {
        fit->best_value = value;
        fit->best_iteration = point->iteration;
        memcpy(fit->best, point->x, fit->loss.n * sizeof *fit->best);
    }
    if (point->value < fit->reference_value - plan->tolerance * fabs(fit->reference_value) ||
        isinf(fit->reference_value)) {
        fit->reference_value = point->value;
        fit->reference_iteration = point->iteration;
    }
    const bool converged = plan->adam
                               ? point->iteration - fit->reference_iteration >= plan->patience
                               : fit->gradient_max <= plan->tolerance;
    if (converged) {
        *reason = DN_STOP_TOLERANCE;
    } else if (fit->validation != NULL &&
               point->iteration - fit->best_iteration >= plan->patience) {
        *reason = DN_STOP_EARLY_STOPPING;
    }
    return DN_OK;
}

static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    struct mlp_fit *fit = ctx;
    return dni_mlp_loss_evaluate(&fit->loss, run, x, value, gradient, err);
}

static dn_status batch_gradient(void *ctx, const dn_run *run, const size_t *order, size_t n_rows,
                                const double *x, double *gradient, dn_error *err) {
    struct mlp_fit *fit = ctx;
    return dni_mlp_batch_gradient(&fit->batch, run, order, n_rows, x, gradient, err);
}

/* ---- starts ---- */
static dn_status solve(struct mlp_fit *fit, const dn_run *run, size_t start, dni_outcome *outcome,
                       dn_error *err) {
    const dni_mlp_plan *plan = fit->plan;
    const dni_objective objective = {.n = fit->loss.n,
                                     .ctx = fit,
                                     .evaluate = evaluate,
                                     .accepted = accepted};
    initialise(fit, start);
    if (!plan->adam) {
        const dni_solver_options options = {.max_iterations = plan->max_iterations};
        return dni_solver_minimise(&dni_solver_lbfgs_20, &objective, run, &options, fit->x, outcome,
                                   err);
    }
    const dni_adam_settings settings = {.max_passes = plan->max_iterations,
                                        .n_rows = fit->batch.n_used,
                                        .batch_rows = fit->batch.max_rows,
                                        .rate = plan->rate,
                                        .linear_decay = plan->linear_schedule,
                                        .seed = run->seed,
                                        .stream = DNI_STREAM_NETWORK + 2 * start + 1,
                                        .batch = batch_gradient};
    return dni_adam(&objective, run, &settings, fit->x, outcome, err);
}

static dn_status run_starts(struct mlp_fit *fit, dn_error *err) {
    fit->kept_value = (double)INFINITY;
    for (size_t start = 0; start < fit->plan->restarts; start++) {
        dni_outcome outcome;
        dni_share share;
        const dn_run *run = fit->run;
        if (fit->plan->restarts > 1) {
            dni_share_init(&share, run, start, fit->plan->restarts);
            dni_share_machine(&share, fit->iterations, 0);
            run = &share.run;
        }
        dn_status status = solve(fit, run, start, &outcome, err);
        if (status != DN_OK) {
            return status;
        }
        fit->iterations += outcome.iterations;
        fit->evaluations += outcome.evaluations;
        fit->values[start] = fit->best_value;
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

/* Evaluates the objective at `kept`: another point may have been evaluated last. */
static dn_status evaluate_kept(struct mlp_fit *fit, dn_error *err) {
    dn_status status =
        dni_mlp_loss_evaluate(&fit->loss, fit->run, fit->kept, &fit->objective, fit->x, err);
    if (status != DN_OK) {
        return status;
    }
    fit->kept_gradient_max = dni_max_abs(fit->x, fit->loss.n);
    fit->gradient_norm = dni_norm(fit->loss.gradient, fit->loss.n);
    return DN_OK;
}

/* ---- results ---- */
static dn_status make_machine(const struct mlp_fit *fit, dn_machine **out, dn_error *err) {
    const dni_layers layers = dni_mlp_layers(fit->plan);
    if (!dni_all_finite(fit->loss.w, fit->loss.n)) {
        return dni_weights_not_finite(err);
    }
    dn_status status = dni_network_machine_new(fit->input->n_classes, &layers, out, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < fit->loss.n; i++) {
        dni_network_of(*out)->w[i] = fit->loss.w[i] + 0.0; /* turns -0 into 0 */
    }
    return DN_OK;
}

/* True if the initial weights of the best start were better than all iterates of that start. */
static bool start_is_best(const struct mlp_fit *fit) {
    return fit->kept_iteration == 0 && fit->outcome.iterations > 0;
}

static void report_fit(const struct mlp_fit *fit, dn_report *report) {
    const dni_mlp_plan *plan = fit->plan;
    const bool chosen = strcmp(dn_params_word(fit->input->params, "solver"), "auto") == 0;
    const bool ended =
        fit->outcome.reason == DN_STOP_TOLERANCE || fit->outcome.reason == DN_STOP_EARLY_STOPPING;
    report->converged = ended && !start_is_best(fit);
    report->stop_reason = ended && !report->converged ? DN_STOP_NO_PROGRESS : fit->outcome.reason;
    report->iterations = fit->iterations;
    report->objective = fit->objective;
    report->gradient_norm = fit->gradient_norm;
    dn_report_text(report, "solver", "%s", plan->adam ? "adam" : "lbfgs");
    dn_report_text(report, "solver_reason", chosen ? "auto: %zu variables, %zu rows" : "asked for",
                   fit->loss.n, fit->loss.rows->n_rows);
    dn_report_number(report, "variables", (double)fit->loss.n);
    dni_report_tolerance(report, plan->tolerance, fit->kept_gradient_max);
    dn_report_number(report, "gradient_max", fit->kept_gradient_max);
    dn_report_number(report, "gradient_evaluations", (double)fit->evaluations);
    if (plan->adam) {
        dn_report_number(report, "learning_rate", plan->rate);
        dn_report_number(report, "batch_size", (double)fit->batch.max_rows);
    }
    if (fit->validation != NULL) {
        dn_report_number(report, "validation_rows", (double)fit->n_validation);
        dn_report_number(report, "validation_loss", fit->loss.validation_loss);
    }
    dn_report_number(report, "kept_iteration", (double)fit->kept_iteration);
    dn_report_number(report, "starts", (double)plan->restarts);
    if (plan->restarts > 1) {
        dn_report_number(report, "kept_start", (double)fit->kept_start + 1);
        dn_report_list(report,
                       fit->validation != NULL ? "start_validation_losses" : "start_objectives",
                       fit->values, plan->restarts);
    }
}

static void warn_start_is_best(const struct mlp_fit *fit, dn_report *report) {
    const dni_mlp_plan *plan = fit->plan;
    const char *measure = fit->validation != NULL ? ", by the loss of the validation rows" : "";
    const char *lambda = plan->lambda > 1 ? ", or a smaller lambda" : "";
    if (plan->adam) {
        dn_report_warn(
            report, DN_WARNING_NO_DECREASE,
            "no step was better than the random start%s: try another learning_rate (it is %g)%s",
            measure, plan->rate, lambda);
    } else {
        dn_report_warn(
            report, DN_WARNING_NO_DECREASE,
            "no step was better than the random start%s: try features.standardize, another seed%s",
            measure, lambda);
    }
}

static void add_warnings(const struct mlp_fit *fit, dn_report *report) {
    const dni_mlp_plan *plan = fit->plan;
    if (plan->validation_share > 0 && fit->validation == NULL) {
        dn_report_warn(report, DN_WARNING_VALIDATION_ROWS,
                       "there are no validation rows: the classes have too few rows for "
                       "early_stopping %g",
                       plan->validation_share);
    }
    dni_warn_of_start(report, fit->input->params);
    if (report->converged || plan->max_iterations == 0) {
        return;
    }
    if (start_is_best(fit)) {
        warn_start_is_best(fit, report);
    } else if (report->stop_reason != DN_STOP_MAX_ITERATIONS) {
        dn_report_warn(report, DN_WARNING_NO_DECREASE,
                       "no step lowers the objective further, but its largest derivative is %g, "
                       "above the tolerance of %g%s",
                       fit->kept_gradient_max, plan->tolerance,
                       plan->activation == DNI_ACTIVATION_RELU
                           ? ": relu is not smooth; try activation tanh, or solver adam"
                           : "");
    } else if (plan->adam) {
        dn_report_warn(
            report, DN_WARNING_NOT_CONVERGED,
            "%zu passes were made, and the objective may fall further: try more max_iterations%s",
            plan->max_iterations,
            plan->validation_share > 0
                ? ""
                : ", or early_stopping, which stops by the loss of validation rows");
    } else {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "after %zu iterations the largest derivative is %g, above the tolerance of "
                       "%g: try more max_iterations",
                       plan->max_iterations, fit->kept_gradient_max, plan->tolerance);
    }
}

/* ---- a fit ---- */
/* Sets fit->validation; NULL if no validation row is chosen. */
static dn_status choose_validation(struct mlp_fit *fit, dn_error *err) {
    const dn_rows *rows = fit->input->rows;
    if (!(fit->plan->validation_share > 0)) {
        return DN_OK;
    }
    dn_status status =
        dn_run_alloc(fit->run, rows->n_rows, sizeof(bool), "the marks of the validation rows",
                     &fit->validation_memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_mlp_choose_validation(rows, fit->input->n_classes, fit->plan->validation_share,
                                       fit->run, fit->validation_memory, &fit->n_validation, err);
    fit->validation = fit->n_validation > 0 ? fit->validation_memory : NULL;
    return status;
}

static dn_status prepare(struct mlp_fit *fit, dn_error *err) {
    const dn_fit_input *input = fit->input;
    const dni_mlp_plan *plan = fit->plan;
    const dni_layers layers = dni_mlp_layers(plan);
    dn_status status = dni_moments_compute(input, fit->run, &fit->moments, err);
    if (status != DN_OK) {
        return status;
    }
    status = choose_validation(fit, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_mlp_loss_init(&fit->loss, input->rows, input->n_classes, &layers, plan->lambda,
                               &fit->moments, fit->validation, fit->run, err);
    if (status == DN_OK && plan->adam) {
        status = dni_mlp_batch_init(&fit->batch, &fit->loss, plan->batch_rows, err);
    }
    return status == DN_OK ? dni_layout_take(fit->run, fit_layout, plan, fit,
                                             "the weights of the network", &fit->memory, err)
                           : status;
}

dn_status dni_mlp_fit(const dni_mlp_plan *plan, const dn_fit_input *input, const dn_run *run,
                      dn_machine **out, dn_report *report, dn_error *err) {
    struct mlp_fit fit = {.input = input, .run = run, .plan = plan};
    dn_status status = prepare(&fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = run_starts(&fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = evaluate_kept(&fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = make_machine(&fit, out, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    report_fit(&fit, report);
    add_warnings(&fit, report);
cleanup:
    dn_run_free(run, fit.memory);
    dni_mlp_batch_done(&fit.batch);
    dni_mlp_loss_done(&fit.loss);
    dn_run_free(run, fit.validation_memory);
    dni_moments_done(&fit.moments, run);
    return status;
}
