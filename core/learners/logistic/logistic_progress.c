/* The actions at each point that the solver accepts: the stopping rule, the progress report, and
 * the search for separable classes.
 *
 * Stopping rule: the largest component of the gradient (with l1: of the subgradient of least norm)
 * with respect to standardised weights and intercepts is at most `tolerance`.
 *
 * Without a penalty the minimum may not exist:
 *   - Complete separation: every row is on the right side of every boundary (t·g > 0). The weights
 *     grow without bound.
 *   - Otherwise u_t = v_t(1 − p(true)) > 0 with ‖Σ u_t t_t x_t‖ <= 1e-6 min u proves that a finite
 *     minimum exists: if a direction separated the classes, no such u_t would exist.
 *   - If neither is proved, the classes are assumed to be (quasi-)separable if the norm of the
 *     weights exceeds 1e3 (and twice that of the start), or if Newton steps do not shrink although
 *     the gradient has vanished. If there is no minimum, a Newton step divides e^−g by e and has
 *     the length of the previous step; SLOW_STEPS steps divide the gradient by 3000. If a minimum
 *     exists, the steps become shorter. */
#include "catalogue/report.h"
#include "learners/logistic/logistic_fit.h"
#include "learners/shared/learner.h"
#include "linalg/vector.h"
#include "optimize/l1/l1.h"

#include <math.h>
#include <string.h>

enum { SLOW_STEPS = 8 };

void dni_logistic_layout(dni_layout *layout, const void *plan, void *arrays) {
    const dni_logistic_plan *p = plan;
    dni_logistic_arrays *a = arrays;
    const bool metric = (p->solver->needs & DNI_NEEDS_METRIC) != 0;
    a->x = dni_layout_doubles(layout, p->n);
    a->spare = dni_layout_doubles(layout, p->n);
    a->raw = dni_layout_doubles(layout, p->n);
    a->growing = dni_layout_array(layout, p->width, sizeof *a->growing);
    a->diagonal = metric ? dni_layout_doubles(layout, p->width) : NULL;
    a->metric = metric && p->l1 == 0 && p->width <= DNI_LOGISTIC_MAX_METRIC
                    ? dni_layout_matrix(layout, p->width, p->width)
                    : NULL;
}

static double measure(const dni_logistic_fit *fit) {
    const dni_linear_problem *problem = &fit->problem;
    size_t width = problem->width, d = width - 1;
    double largest = 0;
    for (size_t k = 0; k < problem->n_scores; k++) {
        const double *g = problem->gradient + k * width;
        double of_intercept = fabs(g[d]);
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

/* Euclidean norm of the gradient (with l1: of the subgradient) in the original variables. */
static double stated_length(const dni_logistic_fit *fit) {
    const dni_linear_problem *problem = &fit->problem;
    double sum = 0;
    if (problem->l1 == 0) {
        return dni_norm(problem->gradient, problem->n);
    }
    for (size_t i = 0; i < problem->n; i++) {
        double slope = dni_l1_slope((i + 1) % problem->width == 0 ? 0 : problem->l1,
                                    problem->original[i], problem->gradient[i]);
        sum += slope * slope;
    }
    return sqrt(sum);
}

/* Norm of the weights, without intercepts, in standardised variables. */
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

static double gradient_length(const dni_logistic_fit *fit) {
    const dni_linear_problem *problem = &fit->problem;
    size_t width = problem->width, d = width - 1;
    double sum = 0;
    for (size_t k = 0; k < problem->n_scores; k++) {
        const double *g = problem->gradient + k * width;
        sum += g[d] * g[d];
        for (size_t j = 0; j < d; j++) {
            double s = fit->moments.deviation[j];
            double component = s > 0 ? (g[j] - fit->moments.mean[j] * g[d]) / s : 0;
            sum += component * component;
        }
    }
    return sqrt(sum);
}

void dni_logistic_take_measure(dni_logistic_fit *fit) {
    fit->measure = measure(fit);
    fit->gradient_norm = stated_length(fit);
}

/* Sets fit->certified to whether the last point proves that a finite minimum exists. Takes one pass
 * over the rows. */
static dn_status certify(dni_logistic_fit *fit, dn_error *err) {
    double below, length = gradient_length(fit) * fit->moments.weight;
    dn_status status = dni_linear_count_below(&fit->problem, 1e6 * length, &below, err);
    if (status == DN_OK) {
        fit->certified = below == 0;
    }
    return status;
}

/* Marks the columns whose standardised weights moved most in a step. */
static void mark_growing(dni_logistic_fit *fit, const double *step) {
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

/* For fits without a penalty: sets fit->separated if the classes are separable. Sets *reason to
 * DN_STOP_SEPARABLE when more iterations would not change that result. */
static dn_status check_separable(dni_logistic_fit *fit, const dni_iterate *point,
                                 dn_stop_reason *reason, dn_error *err) {
    if (fit->problem.sums.unseparated == 0) {
        fit->separated = true;
        mark_growing(fit, point->step);
    }
    if (fit->separated) {
        if (fit->measure <= fit->plan.tolerance || weight_norm(fit) > fit->norm_bound) {
            *reason = DN_STOP_SEPARABLE;
        }
        return DN_OK;
    }
    if (fit->plan.loss->convex && !fit->norm_checked &&
        weight_norm(fit) > fit->norm_bound) { /* certify needs a convex loss */
        fit->norm_checked = true;
        dn_status status = certify(fit, err);
        if (status != DN_OK) {
            return status;
        }
        if (!fit->certified) {
            mark_growing(fit, point->step);
            *reason = DN_STOP_SEPARABLE;
        }
    }
    return DN_OK;
}

/* For Newton's method without a penalty: true if the steps are still large. If the weights grow
 * without bound, the gradient vanishes with e^−g but the steps do not. */
static bool still_growing(dni_logistic_fit *fit, const dni_iterate *point) {
    bool newton =
        fit->plan.solver->needs & (DNI_NEEDS_HESSIAN | DNI_NEEDS_PRODUCT) || fit->polishing;
    if (!newton || !dni_linear_unpenalised(&fit->problem)) {
        return false;
    }
    if (point->step == NULL) {
        return fit->polishing ||
               fit->norm_bound >
                   1e3; /* no step yet: one step follows L-BFGS or a start of large norm */
    }
    double size = dni_max_abs(point->x, fit->problem.n),
           step = dni_max_abs(point->step, fit->problem.n);
    return step > 1e-4 * fmax(1, size);
}

/* Counts the step if it is longer than 0.9 times the previous step. Returns the count. */
static size_t count_slow(dni_logistic_fit *fit, const dni_iterate *point) {
    double step = point->step == NULL ? 0 : dni_max_abs(point->step, fit->problem.n);
    fit->slow += step > 0.9 * fit->last_step;
    fit->last_step = step;
    if (step > 0) {
        mark_growing(fit, point->step);
    }
    return fit->slow;
}

static void report_progress(dni_logistic_fit *fit, const dni_iterate *point) {
    const dn_run *run = fit->run;
    const dni_linear_problem *problem = &fit->problem;
    fit->fraction =
        dni_progress_fraction(point->iteration, fit->plan.max_iterations, fit->first_measure,
                              fit->measure, fit->plan.tolerance, fit->fraction);
    if (run->progress == NULL || point->iteration == 0) {
        return;
    }
    dn_progress progress = {.iteration = point->iteration,
                            .max_iterations = fit->plan.max_iterations,
                            .fraction = fit->fraction,
                            .loss = point->value,
                            .gradient_norm = fit->gradient_norm,
                            .train_error = problem->sums.wrong / problem->total_weight,
                            .n_scores = problem->n_scores,
                            .n_features = problem->width - 1};
    dni_linear_report_progress(fit->input, run, problem->original, fit->arrays.raw, &progress);
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
    if (dni_linear_unpenalised(&fit->problem)) {
        status = check_separable(fit, point, reason, err);
        if (status != DN_OK || *reason != DN_STOP_NONE) {
            return status;
        }
    }
    if (fit->measure <= fit->plan.tolerance) {
        if (!still_growing(fit, point)) {
            *reason = DN_STOP_TOLERANCE;
        } else if (fit->measure <= 1e-9 && count_slow(fit, point) >= SLOW_STEPS) {
            *reason = DN_STOP_SEPARABLE;
        }
    }
    return DN_OK;
}

static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_linear_evaluate(&fit->problem, run, x, value, gradient, err);
}

static dn_status hessian(void *ctx, const dn_run *run, const double *x, double *out,
                         dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_linear_hessian(&fit->problem, run, x, out, err);
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

bool dni_logistic_found_separable(const dni_logistic_fit *fit, const dni_outcome *outcome) {
    bool at_the_end = outcome->reason == DN_STOP_NO_PROGRESS && fit->slow > SLOW_STEPS / 2;
    return outcome->reason == DN_STOP_SEPARABLE || fit->separated || at_the_end;
}

void dni_logistic_report_end(dni_logistic_fit *fit, const dni_outcome *outcome) {
    dn_report *report = fit->report;
    report->converged = outcome->reason == DN_STOP_TOLERANCE;
    report->stop_reason = outcome->reason;
    if (!fit->plan.loss->convex) {
        dn_report_warn(report, DN_WARNING_LOCAL_MINIMUM,
                       "squared_error is not convex: what was found may be a local minimum, or a "
                       "plateau where the gradient vanishes although rows "
                       "are on the wrong side%s; loss cross_entropy has one minimum",
                       outcome->iterations == 0 && report->converged
                           ? " (the gradient at the start is within the tolerance already)"
                           : "");
    }
    if (dni_logistic_found_separable(fit, outcome)) {
        if (outcome->reason != DN_STOP_MAX_ITERATIONS) {
            report->stop_reason = DN_STOP_SEPARABLE;
        }
        report->converged = false;
        char names[DNI_NAMES_SIZE];
        dni_feature_list(fit->input, fit->arrays.growing, 8, names);
        dn_report_warn(report, DN_WARNING_SEPARABLE,
                       "separable or quasi-separable, weights unbounded: without a penalty the "
                       "weights grow without bound%s%s; give lambda > 0",
                       names[0] == '\0' ? "" : ", fastest for ", names);
    } else if (outcome->reason == DN_STOP_MAX_ITERATIONS) {
        bool descends = fit->plan.method->descends;
        dn_report_warn(
            report, DN_WARNING_NOT_CONVERGED,
            "not converged after %zu iterations: the largest component of the gradient is %.3g, "
            "the tolerance %.3g; %s",
            outcome->iterations, fit->measure, fit->plan.tolerance,
            descends
                ? "try more max_iterations, another learning_rate, features.standardize, or solver "
                  "newton or lbfgs"
                : "try more max_iterations, a larger lambda or tolerance, or features.standardize");
    } else if (outcome->reason == DN_STOP_NO_PROGRESS) {
        dn_report_warn(report, DN_WARNING_NO_DECREASE,
                       "arithmetic allows no further decrease: the largest component of the "
                       "gradient is %.3g, the tolerance %.3g; "
                       "try features.standardize or a larger tolerance",
                       fit->measure, fit->plan.tolerance);
    }
}
