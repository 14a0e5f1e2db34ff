/* The actions at each point that the solver accepts: the stopping rule, the progress report, and
 * the search for separable classes.
 *
 * Stopping rule: the largest component of the gradient (with l1: of the subgradient of least norm)
 * with respect to standardised weights and intercepts is at most `tolerance`.
 *
 * Without a penalty the minimum may not exist. A point at which every row is on the right side of
 * every boundary (t·g > 0) proves complete separation. Otherwise separation is checked by
 * dni_separation_check when the norm of the weights exceeds 1e3 (and twice that of the start), and
 * when the gradient has vanished but the Newton steps have not. If the check proves neither overlap
 * nor separation, the iterations go on, and the check is repeated. */
#include "catalogue/report.h"
#include "learners/logistic/logistic_fit.h"
#include "learners/shared/learner.h"
#include "learners/shared/linear/linear_support.h"
#include "linalg/vector.h"
#include "optimize/l1/l1.h"

#include <math.h>
#include <string.h>

/* A Newton step is large if it changes the margin of a row by more than this. */
#define MIN_GROWTH 1e-2
/* Iterations between two checks of separation, and their maximum number. */
enum { CHECK_INTERVAL = 3, MAX_CHECKS = 12 };

void dni_logistic_layout(dni_layout *layout, const void *plan, void *arrays) {
    const dni_logistic_plan *p = plan;
    dni_logistic_arrays *a = arrays;
    const bool metric = !p->wide && (p->solver->needs & DNI_NEEDS_METRIC) != 0;
    a->x = dni_layout_doubles(layout, p->n);
    a->spare = dni_layout_doubles(layout, p->n);
    a->raw = dni_layout_doubles(layout, p->n);
    a->growing = dni_layout_array(layout, p->width, sizeof *a->growing);
    a->direction = p->certifies ? dni_layout_doubles(layout, p->n) : NULL;
    a->diagonal = metric ? dni_layout_doubles(layout, p->width) : NULL;
    a->metric = metric && p->l1 == 0 && p->width <= DNI_LOGISTIC_MAX_METRIC
                    ? dni_layout_matrix(layout, p->width, p->width)
                    : NULL;
    a->hessian = p->conditions ? dni_layout_matrix(layout, p->width, p->width) : NULL;
    const size_t n_irls = p->wide ? 0 : p->n_irls; /* with a wide plan, the inner fit stores them */
    a->irls_weights = n_irls > 0 ? dni_layout_doubles(layout, n_irls) : NULL;
    a->irls_response = n_irls > 0 ? dni_layout_doubles(layout, n_irls) : NULL;
}

static double measure(const dni_logistic_fit *fit) {
    const dni_linear_problem *problem = &fit->problem;
    size_t width = problem->width, d = width - 1;
    double largest = 0;
    for (size_t k = 0; k < problem->n_scores; k++) {
        const double *g = problem->gradient + k * width;
        const double of_intercept =
            fabs(dni_l1_slope(problem->threshold[d], problem->original[k * width + d], g[d]));
        if (!(of_intercept <= largest)) {
            largest = of_intercept;
        }
        for (size_t j = 0; j < d; j++) {
            double s = fit->moments.deviation[j], w = problem->original[k * width + j];
            double slope =
                s > 0 ? (g[j] - fit->moments.mean[j] * g[d]) / s : 2 * problem->lambda * w;
            double component = fabs(dni_l1_slope(problem->l1 / (s > 0 ? s : 1), w, slope));
            if (!(component <= largest)) {
                largest = component;
            }
        }
    }
    return largest;
}

/* Returns the Euclidean norm of the gradient (with l1: of the subgradient) in the original
 * variables. */
static double stated_length(const dni_logistic_fit *fit) {
    const dni_linear_problem *problem = &fit->problem;
    double sum = 0;
    if (problem->l1 == 0) {
        return dni_norm(problem->gradient, problem->n);
    }
    for (size_t i = 0; i < problem->n; i++) {
        const double l1 = (i + 1) % problem->width == 0 ? problem->threshold[i] : problem->l1;
        const double slope = dni_l1_slope(l1, problem->original[i], problem->gradient[i]);
        sum += slope * slope;
    }
    return sqrt(sum);
}

/* Returns the norm of the weights, without intercepts, in standardised variables. */
static double weight_norm(const dni_logistic_fit *fit) {
    const dni_linear_problem *problem = &fit->problem;
    double sum = 0;
    for (size_t k = 0; k < problem->n_scores; k++) {
        for (size_t j = 0; j + 1 < problem->width; j++) {
            double u = problem->original[k * problem->width + j] * fit->moments.deviation[j];
            sum += u * u;
        }
    }
    return sqrt(sum);
}

void dni_logistic_take_measure(dni_logistic_fit *fit) {
    fit->measure = measure(fit);
    fit->gradient_norm = stated_length(fit);
    fit->loss = fit->problem.sums.loss;
}

void dni_logistic_mark_growing(dni_logistic_fit *fit, const double *step) {
    const dni_linear_problem *problem = &fit->problem;
    size_t width = problem->width, d = width - 1;
    double most = 0;
    memset(fit->arrays.growing, 0, d * sizeof *fit->arrays.growing);
    for (int mark = 0; mark < 2 && step != NULL; mark++) {
        for (size_t k = 0; k < problem->n_scores; k++) {
            for (size_t j = 0; j < d; j++) {
                double moved =
                    fabs(step[k * width + j]) / problem->scale[j] * fit->moments.deviation[j];
                if (mark == 0) {
                    most = fmax(most, moved);
                } else if (moved > 0.1 * most) {
                    fit->arrays.growing[j] = true;
                }
            }
        }
    }
}

/* Reports progress within a check of separation: repeats the last report with a larger fraction.
 * ctx: the fit. */
static void report_check(void *ctx) {
    dni_logistic_fit *fit = ctx;
    if (fit->run->progress == NULL || fit->last.iteration == 0) {
        return;
    }
    fit->fraction += (1 - fit->fraction) / 20;
    fit->last.fraction = fit->fraction;
    fit->run->progress(fit->run, &fit->last);
}

/* Sets fit->separation to the result of dni_separation_check at x. If the classes are separable,
 * also marks the columns of the direction. */
static dn_status check_point(dni_logistic_fit *fit, const double *x, const double *step,
                             dn_error *err) {
    fit->n_checks++;
    const dn_status status = dni_separation_check(&fit->problem, x, step, report_check, fit,
                                                  fit->arrays.direction, &fit->separation, err);
    if (status == DN_OK && fit->separation > DNI_SEPARATION_NONE) {
        dni_logistic_mark_growing(fit, fit->arrays.direction);
    }
    return status;
}

dn_status dni_logistic_check_separation(dni_logistic_fit *fit, const double *x,
                                        dni_outcome *outcome, dn_error *err) {
    if (!fit->plan.certifies || fit->separation != DNI_SEPARATION_UNKNOWN ||
        outcome->reason == DN_STOP_TOLERANCE) {
        return DN_OK;
    }
    const dn_status status = check_point(fit, x, NULL, err);
    if (status == DN_OK && fit->separation > DNI_SEPARATION_NONE &&
        outcome->reason == DN_STOP_NO_PROGRESS) {
        outcome->reason = DN_STOP_SEPARABLE;
    }
    return status;
}

/* For fits without a penalty: sets fit->separation if the point, or a check at the point, proves
 * separation or overlap. Sets *reason to DN_STOP_SEPARABLE when more iterations would not change
 * the result. growing: the gradient has vanished, but the steps have not. */
static dn_status check_separable(dni_logistic_fit *fit, const dni_iterate *point, bool growing,
                                 dn_stop_reason *reason, dn_error *err) {
    const bool large = weight_norm(fit) > fit->norm_bound;
    if (fit->problem.sums.unseparated == 0) {
        fit->separation = DNI_SEPARATION_COMPLETE;
        dni_logistic_mark_growing(fit, point->step);
    }
    if (fit->separation == DNI_SEPARATION_UNKNOWN && fit->plan.certifies && (large || growing) &&
        fit->n_checks < MAX_CHECKS && point->iteration >= fit->next_check) {
        fit->next_check = point->iteration + CHECK_INTERVAL;
        const dn_status status = check_point(fit, point->x, point->step, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (fit->separation > DNI_SEPARATION_NONE && (fit->measure <= fit->plan.tolerance || large)) {
        *reason = DN_STOP_SEPARABLE;
    }
    return DN_OK;
}

/* *out ← true if the steps of Newton's method without a penalty are still large. If the weights
 * grow without bound, the gradient vanishes with e^−g, but each step changes the scores of some
 * rows by about 1. */
static dn_status still_growing(dni_logistic_fit *fit, const dni_iterate *point, bool *out,
                               dn_error *err) {
    const bool newton =
        fit->plan.solver->needs & (DNI_NEEDS_HESSIAN | DNI_NEEDS_PRODUCT) || fit->polishing;
    *out = false;
    if (!newton || !dni_linear_unpenalised(&fit->problem)) {
        return DN_OK;
    }
    if (point->step == NULL) { /* one step follows L-BFGS or a start of large norm */
        *out = fit->polishing || fit->norm_bound > 1e3;
        return DN_OK;
    }
    if (!fit->plan.certifies) {
        const size_t n = fit->problem.n;
        *out = dni_max_abs(point->step, n) > 1e-4 * fmax(1, dni_max_abs(point->x, n));
        return DN_OK;
    }
    dni_linear_margins margins;
    const dn_status status = dni_linear_count_margins(&fit->problem, 1, MIN_GROWTH, point->x,
                                                      point->step, &margins, err);
    if (status == DN_OK) {
        *out = margins.positive + margins.negative > 0;
        dni_linear_to_original(&fit->problem, point->x, fit->problem.original);
    }
    return status;
}

static void report_progress(dni_logistic_fit *fit, const dni_iterate *point) {
    const dn_run *run = fit->run;
    const dni_linear_problem *problem = &fit->problem;
    fit->fraction =
        dni_progress_fraction(point->iteration, fit->plan.max_iterations, fit->first_measure,
                              fit->measure, fit->plan.tolerance, fit->fraction);
    if (run->progress == NULL || (point->iteration == 0 && !dni_reports_start(fit->input, run))) {
        return;
    }
    dn_progress progress = {.iteration = point->iteration,
                            .start = point->iteration == 0,
                            .max_iterations = fit->plan.max_iterations,
                            .fraction = fit->fraction,
                            .loss = point->value,
                            .gradient_norm = fit->gradient_norm,
                            .train_error = problem->sums.wrong / problem->total_weight,
                            .n_scores = problem->n_scores,
                            .n_features = problem->width - 1,
                            .condition = point->iteration > 0 ? fit->condition : 0};
    if (fit->report_coordinates != NULL) {
        fit->report_coordinates(fit, &progress);
    } else {
        dni_linear_report_progress(fit->input, run, problem->original, fit->arrays.raw, &progress);
    }
    progress.w = progress.w0 = NULL;
    fit->last = progress;
}

static dn_status accepted(void *ctx, const dn_run *run, const dni_iterate *iterate,
                          dn_stop_reason *reason, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    dni_iterate counted = *iterate;
    const dni_iterate *point = &counted;
    counted.iteration += fit->base_iteration;
    dn_status status = dn_run_stop(run, err);
    if (status != DN_OK) {
        return status;
    }
    dni_logistic_take_measure(fit);
    if (point->iteration == 0) {
        fit->first_measure = fit->measure;
        fit->first_norm = fit->gradient_norm;
        fit->norm_bound = fmax(1e3, 2 * dni_norm(point->x, fit->problem.n));
    }
    if (!(fit->polishing && point->step == NULL)) { /* L-BFGS has reported this point */
        report_progress(fit, point);
    }
    bool growing = false;
    if (fit->measure <= fit->plan.tolerance) {
        status = still_growing(fit, point, &growing, err);
        if (status != DN_OK) {
            return status;
        }
    }
    if (dni_linear_unpenalised(&fit->problem)) {
        status = check_separable(fit, point, growing && point->step != NULL, reason, err);
        if (status != DN_OK || *reason != DN_STOP_NONE) {
            return status;
        }
    }
    if (!(fit->measure <= fit->plan.tolerance) || growing) {
        return DN_OK;
    }
    *reason = DN_STOP_TOLERANCE;
    if (fit->plan.certifies && fit->separation == DNI_SEPARATION_UNKNOWN) {
        /* Where the weights are large, rounding may hide the growth of the steps. */
        status = check_point(fit, point->x, point->step, err);
        if (status == DN_OK && fit->separation > DNI_SEPARATION_NONE) {
            *reason = DN_STOP_SEPARABLE;
        }
    }
    return status;
}

static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_linear_evaluate(&fit->problem, run, x, value, gradient, err);
}

static dn_status hessian(void *ctx, const dn_run *run, const double *x, double *out,
                         dn_error *err) {
    dni_logistic_fit *fit = ctx;
    const dn_status status = dni_linear_hessian(&fit->problem, run, x, out, err);
    return status == DN_OK ? dni_logistic_note_hessian(fit, out, err) : status;
}

static dn_status product(void *ctx, const dn_run *run, const double *x, const double *v,
                         double *out, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_linear_product(&fit->problem, run, x, v, out, err);
}

static dn_status diagonal(void *ctx, const dn_run *run, const double *x, double *out,
                          dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_linear_diagonal(&fit->problem, run, x, out, err);
}

dni_objective dni_logistic_objective(dni_logistic_fit *fit) {
    return (dni_objective){.n = fit->problem.n,
                           .ctx = fit,
                           .evaluate = evaluate,
                           .l1 = fit->problem.l1 > 0 ? fit->problem.threshold : NULL,
                           .hessian = hessian,
                           .product = product,
                           .diagonal = diagonal,
                           .precondition =
                               fit->arrays.diagonal == NULL ? NULL : dni_logistic_precondition,
                           .accepted = accepted};
}

bool dni_logistic_found_separable(const dni_logistic_fit *fit) {
    return fit->separation > DNI_SEPARATION_NONE;
}

void dni_logistic_report_end(dni_logistic_fit *fit, const dni_outcome *outcome) {
    dn_report *report = fit->report;
    report->converged = outcome->reason == DN_STOP_TOLERANCE;
    report->stop_reason = outcome->reason;
    dni_warn_of_start(report, fit->input->params);
    if (!fit->plan.loss->convex && fit->plan.max_iterations > 0) {
        dn_report_warn(report, DN_WARNING_LOCAL_MINIMUM,
                       "loss squared_error is not convex: the result may be a local minimum, or a "
                       "plateau where the gradient vanishes although rows are on the wrong side%s; "
                       "loss cross_entropy has one minimum",
                       outcome->iterations == 0 && report->converged
                           ? " (the gradient at the start is within the tolerance already)"
                           : "");
    }
    if (dni_logistic_found_separable(fit)) {
        if (outcome->reason != DN_STOP_MAX_ITERATIONS) {
            report->stop_reason = DN_STOP_SEPARABLE;
        }
        report->converged = false;
        char names[DNI_NAMES_SIZE];
        dni_feature_list(fit->input, fit->arrays.growing, 8, names);
        dn_report_warn(report, DN_WARNING_SEPARABLE,
                       "the classes are %s: without a penalty the weights grow without bound%s%s; "
                       "set lambda > 0",
                       fit->separation == DNI_SEPARATION_COMPLETE
                           ? "completely separable"
                           : "quasi-completely separable (a boundary exists with no row on the "
                             "wrong side, and rows of both classes on it)",
                       names[0] == '\0' ? "" : ", fastest for ", names);
    } else if (outcome->reason == DN_STOP_MAX_ITERATIONS && fit->plan.max_iterations > 0) {
        bool descends = fit->plan.method->descends;
        dn_report_warn(
            report, DN_WARNING_NOT_CONVERGED,
            "not converged after %zu iterations: the largest component of the gradient is %.3g "
            "(tolerance %.3g); %s",
            outcome->iterations, fit->measure, fit->plan.tolerance,
            fit->plan.full ? "try step line_search"
            : descends
                ? "try more max_iterations, another learning_rate, features.standardize, or solver "
                  "newton or lbfgs"
                : "try more max_iterations, a larger lambda or tolerance, or features.standardize");
    } else if (outcome->reason == DN_STOP_NO_PROGRESS && fit->plan.full) {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "not converged: after %zu iterations there is no full step, because the "
                       "Hessian is singular to working precision or the step is not finite; the "
                       "model has the weights of iteration %zu, where the largest "
                       "component of the gradient is %.3g; try step line_search",
                       outcome->iterations, outcome->iterations, fit->measure);
    } else if (outcome->reason == DN_STOP_NO_PROGRESS) {
        dn_report_warn(
            report, DN_WARNING_NO_DECREASE,
            "rounding errors allow no further decrease: the largest component of the gradient is "
            "%.3g (tolerance %.3g); try features.standardize or a larger tolerance",
            fit->measure, fit->plan.tolerance);
    }
}
