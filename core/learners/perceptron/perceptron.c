/* The perceptron and related criteria, which correct the weights at misclassified rows. This file
 * has the parameters, the set-up of a fit and its report.
 *
 * With y = t·[x, 1], t = ±1, the classes are separated when wᵀy > 0 for every row. The criteria and
 * their steps are in perceptron_pass.c, the choice of the weights in perceptron_pocket.c.
 *
 * Duda, Hart and Stork, Pattern Classification, sections 5.5 and 5.6. */
#include "base/layout.h"
#include "catalogue/calibration_params.h"
#include "catalogue/multiclass_params.h"
#include "catalogue/param_rows.h"
#include "catalogue/registry.h"
#include "learners/perceptron/perceptron_fit.h"
#include "learners/shared/learner.h"
#include "learners/shared/moments.h"
#include "linalg/vector.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- parameters ---- */
static const char *const criteria[] = {"perceptron", "squared", "relaxation", NULL};
static const char *const criterion_meanings[] = {
    "sum of -w'y over the rows with w'y <= 0 (with a margin b: sum of b - w'y over the rows with "
    "w'y <= b)",
    "sum of (w'y)^2 over the rows with w'y <= 0; the weights may converge to the boundary of the "
    "set of solutions without reaching a solution. Each step is divided by the largest |y|^2 "
    "(normalize_step)",
    "half the sum of (w'y - b)^2/|y|^2 over the rows with w'y <= b", NULL};
static const char *const modes[] = {"sequential", "batch", NULL};
static const char *const mode_meanings[] = {
    "a step at each row that needs one, in turn; a row of weight v makes a step v times as long, "
    "which differs from v rows",
    "one step after each pass; see step", NULL};
static const char *const steps[] = {"auto", "sum", "mean", NULL};
static const char *const step_meanings[] = {
    "mean for criterion squared, sum for the others",
    "the sum of the steps of the rows, each times its weight",
    "that sum divided by the total weight of all training rows", NULL};
static const char *const zeros[] = {"wrong", "second", NULL};
static const char *const zero_meanings[] = {
    "a row with w'y = 0 is wrong (Duda, Hart and Stork)",
    "a row with w'x + w0 = 0 is in the second class: a step is made exactly at the rows whose "
    "predicted class differs (Bishop). A model of two classes predicts by the same rule",
    NULL};
static const char *const inits[] = {"auto", "zero", "random", NULL};
static const char *const init_meanings[] = {
    "random for criterion squared, for which 0 is a stationary point; zero for the others",
    "all weights 0", "uniform in (-0.01, 0.01) from the seed", NULL};
static const char *const schedules[] = {"constant", "inverse", "inverse_sqrt", NULL};
static const char *const schedule_meanings[] = {"learning_rate in every pass",
                                                "learning_rate/k in pass k",
                                                "learning_rate/sqrt(k) in pass k", NULL};

static const dn_param params[] = {
    DNI_PARAM_CHOICE("criterion",
                     "The criterion that is minimised, with y = t [x, 1] and t = 1 for the second "
                     "class, -1 for the first.",
                     "perceptron", criteria, criterion_meanings),
    DNI_PARAM_CHOICE("mode", "When the weights are changed.", "sequential", modes, mode_meanings),
    DNI_PARAM_CHOICE("step", "For mode batch: the step of a pass.", "auto", steps, step_meanings),
    {.name = "normalize_step",
     .type = DN_PARAM_BOOLEAN,
     .meaning = "For criterion squared: whether the step (w'y) y is divided by the largest |y|^2 "
                "of the training rows. false: the step of the textbook, for which only small "
                "learning rates converge.",
     .default_number = 1},
    DNI_PARAM_CHOICE(
        "at_zero",
        "For criterion perceptron without a margin: how rows with w'x + w0 = 0 are treated.",
        "wrong", zeros, zero_meanings),
    DNI_PARAM_CHOICE(
        "order",
        "For mode sequential: in which order a pass visits the rows. No effect in mode batch.",
        "shuffled", dni_row_orders, dni_row_order_meanings),
    {.name = "margin",
     .type = DN_PARAM_NUMBER,
     .meaning = "The margin b: a row with w'y <= b makes a step. auto: 1 for relaxation, where b "
                "must be above 0; 0 for the others, and always 0 for squared.",
     .default_choice = "auto",
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true,
     .word = "auto"},
    {.name = "learning_rate",
     .type = DN_PARAM_NUMBER,
     .meaning = "The factor of a step. With relaxation, 1 moves a row exactly onto its margin; it "
                "must be below 2, except for sums in batch mode. squared needs more than 1 to move "
                "a row across the boundary. auto: 1 for perceptron, 1.5 for the others; 1.5 is "
                "divided by the total weight of the rows if step is sum, and by the largest "
                "|y|^2 if normalize_step is false, so that the criterion decreases.",
     .default_choice = "auto",
     .default_number = 1,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_minimum = true,
     .open_maximum = true,
     .word = "auto"},
    DNI_PARAM_CHOICE("schedule", "How the learning rate changes from pass to pass.", "constant",
                     schedules, schedule_meanings),
    {.name = "max_iterations",
     .type = DN_PARAM_INTEGER,
     .meaning = "Maximum number of passes over the rows. 0: the model has the weights of init.",
     .default_number = 1000,
     .minimum = 0,
     .maximum = 1e9},
    {.name = "tolerance",
     .type = DN_PARAM_NUMBER,
     .meaning = "Criteria squared and relaxation stop when a pass changes the weights by at most "
                "tolerance * |w|, intercept included.",
     .default_number = 1e-6,
     .minimum = 0,
     .maximum = (double)INFINITY,
     .open_maximum = true},
    DNI_PARAM_START("", "auto", inits, init_meanings),
    DNI_PARAM_MULTICLASS(dni_multiclass_machines, "one_vs_rest"),
    DNI_PARAM_DISCRIMINANTS,
    DNI_PARAMS_CALIBRATE,
    DNI_PARAM_DECISION,
};

static const dni_perceptron_criterion *criterion_of(const dn_params *p) {
    const dni_perceptron_criterion *criterion = dni_perceptron_criteria;
    while (!dni_params_is(p, "criterion", criterion->name)) {
        criterion++;
    }
    return criterion;
}

static bool is_squared(const dn_params *p) {
    return criterion_of(p) == &dni_perceptron_criteria[DNI_PERCEPTRON_SQUARED];
}

static bool is_relaxation(const dn_params *p) {
    return criterion_of(p) == &dni_perceptron_criteria[DNI_PERCEPTRON_RELAXATION];
}

/* True if the step of a pass is divided by the weight of the rows. */
static bool takes_mean(const dn_params *p) {
    return dni_params_is(p, "mode", "batch") &&
           (dni_params_is(p, "step", "mean") ||
            (dni_params_is(p, "step", "auto") &&
             (is_squared(p) || (p->rules == DN_RULES_FIRST && is_relaxation(p)))));
}

static double margin_of(const dn_params *p) {
    return dn_params_word(p, "margin") == NULL ? dn_params_number(p, "margin")
                                               : criterion_of(p)->margin;
}

/* True if learning_rate is "auto" and depends on the rows. */
static bool rate_depends_on_rows(const dn_params *p) {
    return dn_params_word(p, "learning_rate") != NULL && criterion_of(p)->descends &&
           ((dni_params_is(p, "mode", "batch") && !takes_mean(p)) ||
            (is_squared(p) && !dn_params_boolean(p, "normalize_step")));
}

/* Returns the parameter learning_rate; if it is "auto", the default for steps that are means and
 * are normalised. */
static double rate_of(const dn_params *p) {
    return dn_params_word(p, "learning_rate") == NULL ? dn_params_number(p, "learning_rate")
                                                      : criterion_of(p)->rate;
}

static const double *start_of(const dn_params *p) {
    size_t n;
    return dn_params_list(p, "init", &n);
}

static bool starts_at_random(const dn_params *p) {
    return start_of(p) == NULL &&
           (dni_params_is(p, "init", "random") ||
            (dni_params_is(p, "init", "auto") && criterion_of(p)->random_start));
}

static dni_perceptron_schedule schedule_of(const dn_params *p) {
    if (dni_params_is(p, "schedule", "constant")) {
        return DNI_PERCEPTRON_CONSTANT;
    }
    return dni_params_is(p, "schedule", "inverse") ? DNI_PERCEPTRON_INVERSE
                                                   : DNI_PERCEPTRON_INVERSE_ROOT;
}

/* True if passes visit the rows in random order. A batch step does not depend on the order. */
static bool shuffles(const dn_params *p) {
    return dni_params_is(p, "mode", "sequential") && dni_shuffles_rows(p);
}

static dn_status check(const dn_params *p, dn_error *err) {
    const bool squared = is_squared(p), relaxation = is_relaxation(p);
    if (relaxation && rate_of(p) >= 2 &&
        (takes_mean(p) || dni_params_is(p, "mode", "sequential"))) {
        return dni_parameter_error(
            err, "learning_rate",
            "parameter \"learning_rate\" must be > 0 and < 2 for criterion relaxation, except for "
            "mode batch with step sum (got %g)",
            rate_of(p));
    }
    if (relaxation && !(margin_of(p) > 0)) {
        return dni_parameter_error(
            err, "margin", "parameter \"margin\" must be > 0 for criterion relaxation (got %g)",
            margin_of(p));
    }
    if (squared && margin_of(p) > 0) {
        return dni_parameter_error(err, "margin",
                                   "parameter \"margin\" must be 0 for criterion squared (got %g); "
                                   "relaxation is the squared criterion with a margin",
                                   margin_of(p));
    }
    if (squared && start_of(p) == NULL && dni_params_is(p, "init", "zero")) {
        return dni_parameter_error(err, "init",
                                   "parameter \"init\" must be \"random\" or a list for criterion "
                                   "squared, because 0 is a stationary point");
    }
    if (dni_params_is(p, "at_zero", "second") && margin_of(p) > 0) {
        return dni_parameter_error(err, "at_zero",
                                   "parameter \"at_zero\" = \"second\" needs margin 0 (got %g)",
                                   margin_of(p));
    }
    if (dni_params_is(p, "at_zero", "second") && !dni_params_is(p, "multiclass", "one_vs_rest")) {
        return dni_parameter_error(err, "at_zero",
                                   "parameter \"at_zero\" = \"second\" needs \"multiclass\" = "
                                   "\"one_vs_rest\" (got \"%s\")",
                                   dn_params_word(p, "multiclass"));
    }
    return dni_multiclass_check(p, err);
}

static dn_status resolve(dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                         dn_error *err) {
    (void)n_rows;
    (void)n_classes;
    dn_status status = dni_start_check(p, 1, n_features, err);
    if (status == DN_OK && start_of(p) == NULL) {
        status = dn_params_set_word(p, "init", starts_at_random(p) ? "random" : "zero", err);
    }
    if (status == DN_OK) {
        status = dn_params_set_number(p, "margin", margin_of(p), err);
    }
    if (status == DN_OK && dni_params_is(p, "mode", "batch")) {
        status = dn_params_set_word(p, "step", takes_mean(p) ? "mean" : "sum", err);
    }
    return status == DN_OK && !rate_depends_on_rows(p)
               ? dn_params_set_number(p, "learning_rate", rate_of(p), err)
               : status;
}

static bool applies(const dn_params *p, size_t i) {
    const char *name = p->algorithm->params[i].name;
    return (strcmp(name, "step") != 0 || dni_params_is(p, "mode", "batch")) &&
           (strcmp(name, "normalize_step") != 0 || is_squared(p)) &&
           (strcmp(name, "at_zero") != 0 ||
            criterion_of(p) == &dni_perceptron_criteria[DNI_PERCEPTRON_ERRORS]) &&
           dni_calibrate_applies(p, i);
}

/* ---- memory ---- */
struct perceptron_shape {
    size_t width, n_blocks, n_slots;
    bool shuffled;
};

static void perceptron_layout(dni_layout *layout, const void *shape, void *arrays) {
    const struct perceptron_shape *s = shape;
    dni_perceptron_arrays *a = arrays;
    a->w = dni_layout_doubles(layout, s->width);
    a->before = dni_layout_doubles(layout, s->width);
    a->longest = dni_layout_doubles(layout, s->width);
    a->kept = dni_layout_doubles(layout, s->width);
    a->direction = dni_layout_doubles(layout, s->width);
    a->raw = dni_layout_doubles(layout, s->width);
    a->sums = dni_layout_doubles(layout, DNI_PERCEPTRON_SUMS + s->width);
    a->slots = dni_layout_array(layout, s->n_slots, sizeof *a->slots);
    a->blocks = s->shuffled ? dni_layout_array(layout, s->n_blocks, sizeof *a->blocks) : NULL;
    a->order = s->shuffled ? dni_layout_array(layout, DN_BLOCK_ROWS, sizeof *a->order) : NULL;
}

static double memory(const dn_params *p, const dn_fit_shape *shape) {
    const struct perceptron_shape sizes = {.width = shape->n_features + 1,
                                           .n_blocks = shape->n_rows / DN_BLOCK_ROWS + 1,
                                           .n_slots = shape->n_slots,
                                           .shuffled = shuffles(p)};
    const double width = (double)sizes.width;
    const double sum = DNI_PERCEPTRON_SUMS + (dni_params_is(p, "mode", "batch") ? width : 0);
    dni_perceptron_arrays scratch;
    return dni_layout_bytes(perceptron_layout, &sizes, &scratch) +
           dn_run_sum_memory(shape->n_rows, shape->n_slots, sum);
}

/* ---- the report ---- */
/* True if Novikoff's bound on the number of corrections holds. The bound is (R‖w*‖/min w*ᵀy)² for
 * any w* with w*ᵀy > 0 for all rows, where y = t [x, 1] and R = max ‖y‖. It holds for the
 * perceptron criterion in sequential mode, margin 0, the start w = 0, a constant rate and equal row
 * weights. */
static bool bounded(const dni_perceptron *p) {
    return p->criterion == &dni_perceptron_criteria[DNI_PERCEPTRON_ERRORS] && !p->batch &&
           p->margin == 0 && p->best.least > 0 && p->least_v == p->largest_v && !p->random_start &&
           p->start == NULL && p->schedule == DNI_PERCEPTRON_CONSTANT;
}

static void describe(const dni_perceptron *p, dn_report *report) {
    double norm = dni_norm(p->a.kept, p->width), radius = sqrt(p->square);
    report->converged = p->best.within == 0;
    report->iterations = p->iterations;
    report->objective = p->best.objective;
    report->gradient_norm = (double)NAN;
    dn_report_number(report, "updates", p->updates);
    dn_report_number(report, "errors", p->best.error_rows);
    dn_report_number(report, "error_share", p->best.errors / p->weight);
    dn_report_number(report, "within_margin", p->best.within);
    dn_report_number(report, "least_margin", p->best.least);
    dn_report_number(report, "weight_norm", norm);
    dn_report_number(report, "max_norm", radius);
    dn_report_number(report, "kept_iteration", (double)p->best_iteration);
    dn_report_number(report, "margin", p->margin);
    dn_report_number(report, "learning_rate", p->rate);
    if (bounded(p)) {
        double root = radius * norm / p->best.least;
        dn_report_number(report, "update_bound", root * root);
    }
}

static const char *remedy(const dni_perceptron *p, dn_stop_reason stop_reason) {
    if (p->criterion == &dni_perceptron_criteria[DNI_PERCEPTRON_SQUARED]) {
        return "criterion relaxation (squared may converge to the boundary)";
    }
    if (stop_reason == DN_STOP_TOLERANCE) {
        return "criterion perceptron";
    }
    return p->batch || p->a.order != NULL ? "more max_iterations"
                                          : "order shuffled, more max_iterations";
}

/* Warns of steps so long that the criterion may increase. */
static void warn_of_rate(const dni_perceptron *p, dn_report *report) {
    const double longest = p->batch ? p->rate * p->weight : p->rate * p->largest_v;
    if (p->criterion != &dni_perceptron_criteria[DNI_PERCEPTRON_RELAXATION] || p->mean ||
        longest < 2) {
        return;
    }
    if (p->batch) {
        dn_report_warn(report, DN_WARNING_LEARNING_RATE,
                       "learning_rate times the total weight of the rows is %g, and from 2 on a "
                       "sum of relaxation steps may overshoot and diverge: try learning_rate "
                       "\"auto\" or step \"mean\"",
                       longest);
    } else {
        dn_report_warn(report, DN_WARNING_LEARNING_RATE,
                       "learning_rate times the largest row weight is %g, and from 2 on relaxation "
                       "may overshoot and diverge: make the weights or the rate smaller, or use "
                       "mode batch with step mean, which divides by the sum of the weights",
                       longest);
    }
}

static void warn(const dni_perceptron *p, dn_report *report) {
    dni_warn_of_start(report, p->input->params);
    if (p->best.within == 0 || p->max_iterations == 0) {
        return;
    }
    warn_of_rate(p, report);
    if (p->best.errors > 0) {
        dn_report_warn(report, DN_WARNING_NOT_SEPARABLE,
                       "the classes may not be separable, because the best weights of %zu passes "
                       "leave %.0f of %.0f training rows on the wrong side; try %s, %sbasis "
                       "functions, or logistic, which needs no separation",
                       p->iterations, p->best.error_rows, p->rows, remedy(p, report->stop_reason),
                       p->input->scale == NULL || (p->input->encoder != NULL &&
                                                   !dn_encoder_standardizes(p->input->encoder))
                           ? "features.standardize, "
                           : "");
    } else {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "the classes are separated, but after %zu passes %.0f of %.0f training rows "
                       "have a margin of at most %g (the smallest is %.15g); try %s or a smaller "
                       "margin",
                       p->iterations, p->best.within, p->rows, p->margin, p->best.least,
                       report->stop_reason == DN_STOP_TOLERANCE ? "a larger learning_rate"
                                                                : "more max_iterations");
    }
}

/* Returns the error for rows whose squares overflow. If the squares of one column overflow, the
 * error of dni_moments_compute names the column. The caller has released the arrays of the fit. */
static dn_status report_overflow(const dni_perceptron *p, dn_error *err) {
    dni_moments moments;
    const dn_status status = dni_moments_compute(p->input, p->run, &moments, err);
    if (status != DN_OK) {
        return status;
    }
    dni_moments_done(&moments, p->run);
    return dn_error_set(err, DN_ERR_NUMERIC,
                        "the features of a row are so large that the sum of their squares "
                        "overflows: standardise the columns");
}

/* Sets p->divisor. If learning_rate is "auto", divides p->rate so that the criterion decreases. */
static void set_rate(dni_perceptron *p) {
    const dn_params *q = p->input->params;
    p->divisor = dn_params_boolean(q, "normalize_step") ? p->square : 1;
    if (rate_depends_on_rows(q)) {
        p->rate /=
            (p->batch && !p->mean ? p->weight : 1) * (is_squared(q) ? p->square / p->divisor : 1);
    }
}

static dn_status fit_perceptron(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                                dn_report *report, dn_error *err) {
    assert(input->n_classes == 2);
    dni_perceptron p = {.input = input,
                        .run = run,
                        .criterion = criterion_of(input->params),
                        .batch = dni_params_is(input->params, "mode", "batch"),
                        .mean = takes_mean(input->params),
                        .second_at_zero = dni_params_is(input->params, "at_zero", "second"),
                        .start = start_of(input->params),
                        .random_start = starts_at_random(input->params),
                        .margin = margin_of(input->params),
                        .rate = rate_of(input->params),
                        .schedule = schedule_of(input->params),
                        .tolerance = dn_params_number(input->params, "tolerance"),
                        .max_iterations = (size_t)dn_params_number(input->params, "max_iterations"),
                        .width = input->rows->n_cols + 1};
    const struct perceptron_shape shape = {.width = p.width,
                                           .n_blocks = input->rows->n_blocks,
                                           .n_slots = run->n_slots,
                                           .shuffled = shuffles(input->params)};
    void *memory = NULL;
    dn_status status = dni_start_check(input->params, 1, p.width - 1, err);
    if (status == DN_OK) {
        status = dni_layout_take(run, perceptron_layout, &shape, &p.a, "the weights", &memory, err);
    }
    if (status != DN_OK) {
        return status;
    }
    status = dni_perceptron_measure(&p, err);
    if (status == DN_OK && !isfinite(p.square)) {
        dn_run_free(run, memory);
        return report_overflow(&p, err);
    }
    if (status == DN_OK) {
        set_rate(&p);
        status = dni_perceptron_iterate(&p, &report->stop_reason, err);
    }
    if (status == DN_OK) {
        describe(&p, report);
        warn(&p, report);
        status = dni_linear_machine_of_table(p.a.kept, 2, p.width - 1, out, err);
    }
    dn_run_free(run, memory);
    return status;
}

const dn_algorithm dni_algorithm_perceptron = {
    .id = "perceptron",
    .title = "Perceptron",
    .summary =
        "A linear discriminant found by correcting the weights at the rows that are on the wrong "
        "side, with margins and relaxation. Separates the training rows exactly when that is "
        "possible; otherwise the weights with fewest errors are kept, with a warning.",
    .source = "Duda, Hart and Stork, Pattern Classification, sections 5.5-5.6; Alpaydin, "
              "Introduction to Machine Learning, chapter 10",
    .stopping_rule = "no training row has w'y <= margin, y = t [x, 1]: the classes are separated. "
                     "The passes end with the first that changes nothing (criterion perceptron), "
                     "or when every w'y exceeds the margin or a pass changes w by at most "
                     "tolerance * |w| (squared, relaxation); the last is not converged",
    .flags = DN_ALGORITHM_TARGET | DN_ALGORITHM_STANDARDIZE | DN_ALGORITHM_STREAMS,
    .params = params,
    .n_params = sizeof params / sizeof params[0],
    .check = check,
    .applies = applies,
    .resolve = resolve,
    .memory = memory,
    .fit = fit_perceptron,
};
