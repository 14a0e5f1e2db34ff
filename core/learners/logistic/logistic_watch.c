/* Judge of the iterates: when to stop, what to tell, and whether unpenalised weights run away.
 *
 * Stopping: the largest component of the gradient (with l1: of the subgradient of least norm) with respect to standardised weights and intercepts is at most
 * `tolerance`.
 * Without a penalty the minimum may not exist:
 *   - every row on the right side of every boundary (t·g > 0): complete separation, the weights grow for ever;
 *   - otherwise a finite minimum is certified by u_t = v_t(1 − p(true)) > 0 with ‖Σ u_t t_t x_t‖ ≤ 1e-6 min u (multipliers that no separating direction allows);
 *   - if neither, weights of norm above 1e3 (and twice that of the start), or Newton steps that do not shrink although the gradient has vanished, show (quasi-)separability.
 *     Towards infinity a Newton step divides e^−g by e and is as long as the one before, so that SLOW_STEPS of them divide a gradient of 1e-9 by 3000; where
 *     some rows hold the weights back, the steps become shorter as that comes near. */
#include "catalogue/report.h"
#include "learners/logistic/logistic_fit.h"
#include "linalg/vector.h"
#include "machine/linear.h"
#include "optimize/l1/l1.h"

#include <math.h>
#include <string.h>

enum { SLOW_STEPS = 8 };

dn_status dni_logistic_watch_init(dni_logistic_fit *fit, dn_error *err) {
    size_t d = fit->loss.width - 1;
    void *memory;
    dn_status status = dn_run_alloc(fit->run, d == 0 ? 1 : d, sizeof(bool),
                                    "the marks of the columns", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    fit->growing = memory;
    if (fit->run->progress == NULL || fit->run->n_snapshots == 0) {
        return DN_OK;
    }
    status = dn_run_alloc(fit->run, fit->loss.n, sizeof(double), "the weights of a snapshot",
                          &memory, err);
    if (status == DN_OK) {
        fit->raw = memory;
    }
    return status;
}

static double measure(const dni_logistic_fit *fit) {
    const dni_logistic *loss = &fit->loss;
    size_t width = loss->width, d = width - 1;
    double largest = 0;
    for (size_t k = 0; k < loss->n_scores; k++) {
        const double *g = loss->gradient + k * width;
        double of_intercept = fabs(g[d]);
        if (!(of_intercept <= largest)) {
            largest = of_intercept;
        }
        for (size_t j = 0; j < d; j++) {
            double s = fit->moments.deviation[j], w = loss->stated[k * width + j];
            double slope = s > 0 ? (g[j] - fit->moments.mean[j] * g[d]) / s : 2 * loss->lambda * w;
            double own = fabs(dni_l1_slope(loss->l1 / (s > 0 ? s : 1), w, slope));
            if (!(own <= largest)) {
                largest = own;
            }
        }
    }
    return largest;
}

/* Length of the gradient in the stated variables, of the subgradient with l1. */
static double stated_length(const dni_logistic_fit *fit) {
    const dni_logistic *loss = &fit->loss;
    double sum = 0;
    if (loss->l1 == 0) {
        return dni_norm(loss->gradient, loss->n);
    }
    for (size_t i = 0; i < loss->n; i++) {
        double slope = dni_l1_slope((i + 1) % loss->width == 0 ? 0 : loss->l1, loss->stated[i],
                                    loss->gradient[i]);
        sum += slope * slope;
    }
    return sqrt(sum);
}

/* Norms in standardised variables: of the weights without intercepts, and of the gradient with them. */
static double weight_norm(const dni_logistic_fit *fit) {
    const dni_logistic *loss = &fit->loss;
    double sum = 0;
    for (size_t k = 0; k < loss->n_scores; k++) {
        for (size_t j = 0; j + 1 < loss->width; j++) {
            double u = loss->stated[k * loss->width + j] * fit->moments.deviation[j];
            sum += u * u;
        }
    }
    return sqrt(sum);
}

static double gradient_length(const dni_logistic_fit *fit) {
    const dni_logistic *loss = &fit->loss;
    size_t width = loss->width, d = width - 1;
    double sum = 0;
    for (size_t k = 0; k < loss->n_scores; k++) {
        const double *g = loss->gradient + k * width;
        sum += g[d] * g[d];
        for (size_t j = 0; j < d; j++) {
            double s = fit->moments.deviation[j];
            double own = s > 0 ? (g[j] - fit->moments.mean[j] * g[d]) / s : 0;
            sum += own * own;
        }
    }
    return sqrt(sum);
}

void dni_logistic_take_measure(dni_logistic_fit *fit) {
    fit->measure = measure(fit);
    fit->gradient_norm = stated_length(fit);
}

/* A pass that looks whether the present iterate certifies a finite minimum (lambda = 0). */
static dn_status certify(dni_logistic_fit *fit, dn_error *err) {
    double below, length = gradient_length(fit) * fit->moments.weight;
    dn_status status = dni_logistic_count_below(&fit->loss, fit->run, 1e6 * length, &below, err);
    if (status == DN_OK) {
        fit->certified = below == 0;
    }
    return status;
}

/* Marks the columns whose standardised weight moved most in a step. */
static void mark_growing(dni_logistic_fit *fit, const double *step) {
    const dni_logistic *loss = &fit->loss;
    size_t width = loss->width, d = width - 1;
    double most = 0;
    memset(fit->growing, 0, d * sizeof *fit->growing);
    for (int mark = 0; mark < 2 && step != NULL; mark++) {
        for (size_t k = 0; k < loss->n_scores; k++) {
            for (size_t j = 0; j < d; j++) {
                double moved =
                    fabs(step[k * width + j]) / loss->scale[j] * fit->moments.deviation[j];
                if (mark == 0) {
                    most = fmax(most, moved);
                } else if (moved > 0.1 * most) {
                    fit->growing[j] = true;
                }
            }
        }
    }
}

/* Lambda = 0: notes that the classes are separable, and sets *reason where going on tells nothing more. A descent told to make so many passes makes them: the
 * weights may be watched as they grow. */
static dn_status watch_unpenalised(dni_logistic_fit *fit, const dni_iterate *point,
                                   dn_stop_reason *reason, dn_error *err) {
    if (fit->loss.unseparated == 0) {
        fit->separated = true;
        mark_growing(fit, point->step);
    }
    if (fit->separated) {
        if (fit->measure <= fit->plan.tolerance || weight_norm(fit) > fit->norm_bound) {
            *reason = DN_STOP_SEPARABLE;
        }
        return DN_OK;
    }
    if (!fit->loss.squared && !fit->norm_checked &&
        weight_norm(fit) > fit->norm_bound) { /* the certificate is for convex losses */
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

/* Newton at lambda = 0: the gradient may vanish because e^−g does. Then the steps stay large. */
static bool still_growing(dni_logistic_fit *fit, const dni_iterate *point) {
    bool newton = fit->plan.solver == DNI_LOGISTIC_NEWTON || fit->polishing;
    if (!newton || !dni_logistic_unpenalised(&fit->loss)) {
        return false;
    }
    if (point->step == NULL) {
        return fit->polishing ||
               fit->norm_bound >
                   1e3; /* where L-BFGS ended, or a start far out: one step at least */
    }
    double size = dni_max_abs(point->x, fit->loss.n), step = dni_max_abs(point->step, fit->loss.n);
    return step > 1e-4 * fmax(1, size);
}

/* How many steps have been as long as the one before; rounding disturbs one or another. */
static size_t count_slow(dni_logistic_fit *fit, const dni_iterate *point) {
    double step = point->step == NULL ? 0 : dni_max_abs(point->step, fit->loss.n);
    fit->slow += step > 0.9 * fit->last_step;
    fit->last_step = step;
    if (step > 0) {
        mark_growing(fit, point->step);
    }
    return fit->slow;
}

static void tell(dni_logistic_fit *fit, const dni_iterate *point) {
    const dn_run *run = fit->run;
    const dni_logistic *loss = &fit->loss;
    double fraction = (double)point->iteration / (double)fit->plan.max_iterations;
    if (fit->measure > 0 && fit->first_measure > fit->plan.tolerance) {
        fraction = fmax(fraction, log(fit->first_measure / fit->measure) /
                                      log(fit->first_measure / fit->plan.tolerance));
    }
    fit->fraction = fmin(fmax(fit->fraction, fraction), 1);
    if (run->progress == NULL || point->iteration == 0) {
        return;
    }
    size_t d = loss->width - 1;
    dn_progress progress = {.iteration = point->iteration,
                            .max_iterations = fit->plan.max_iterations,
                            .fraction = fit->fraction,
                            .loss = point->value,
                            .gradient_norm = fit->gradient_norm,
                            .train_error = loss->wrong / loss->total_weight,
                            .n_scores = loss->n_scores,
                            .n_features = d};
    if (fit->raw != NULL && dn_run_wants_snapshot(run, point->iteration)) {
        double *w0 = fit->raw + loss->n_scores * d;
        dni_linear_to_raw(loss->stated, loss->width, loss->stated + d, loss->width, loss->n_scores,
                          d, fit->input->mean, fit->input->scale, fit->raw, w0);
        progress.w = fit->raw;
        progress.w0 = w0;
    }
    run->progress(run, &progress);
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
        fit->norm_bound =
            fmax(1e3, 2 * dni_norm(point->x, fit->loss.n)); /* a start far out tells nothing */
    }
    if (!(fit->polishing && point->step == NULL)) { /* told already */
        tell(fit, point);
    }
    if (dni_logistic_unpenalised(&fit->loss)) {
        status = watch_unpenalised(fit, point, reason, err);
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
    return dni_logistic_evaluate(&fit->loss, run, x, value, gradient, err);
}

static dn_status hessian(void *ctx, const dn_run *run, const double *x, double *out,
                         dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_logistic_hessian(&fit->loss, run, x, out, err);
}

static dn_status product(void *ctx, const dn_run *run, const double *x, const double *v,
                         double *out, dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_logistic_product(&fit->loss, run, x, v, out, err);
}

static dn_status diagonal(void *ctx, const dn_run *run, const double *x, double *out,
                          dn_error *err) {
    dni_logistic_fit *fit = ctx;
    return dni_logistic_diagonal(&fit->loss, run, x, out, err);
}

dni_objective dni_logistic_objective(dni_logistic_fit *fit) {
    return (dni_objective){.n = fit->loss.n,
                           .ctx = fit,
                           .evaluate = evaluate,
                           .l1 = fit->loss.l1 > 0 ? fit->loss.threshold : NULL,
                           .hessian = fit->loss.hessian_sums == NULL ? NULL : hessian,
                           .product = fit->loss.products == NULL ? NULL : product,
                           .diagonal = fit->loss.products == NULL ? NULL : diagonal,
                           .precondition = fit->diagonal == NULL ? NULL : dni_logistic_precondition,
                           .accepted = accepted};
}

bool dni_logistic_found_separable(const dni_logistic_fit *fit, const dni_outcome *outcome) {
    bool at_the_end =
        outcome->reason == DN_STOP_NO_PROGRESS && fit->slow > SLOW_STEPS / 2; /* of arithmetic */
    return outcome->reason == DN_STOP_SEPARABLE || fit->separated || at_the_end;
}

void dni_logistic_judge(dni_logistic_fit *fit, const dni_outcome *outcome) {
    dn_report *report = fit->report;
    report->converged = outcome->reason == DN_STOP_TOLERANCE;
    report->stop_reason = outcome->reason;
    if (fit->loss.squared) {
        dn_report_warn(report,
                       "squared_error is not convex: what was found may be a local minimum, or a "
                       "plateau where the gradient vanishes although rows "
                       "are on the wrong side%s; loss cross_entropy has one minimum",
                       outcome->iterations == 0 && report->converged
                           ? " (the gradient at the start is within the tolerance already)"
                           : "");
    }
    if (dni_logistic_found_separable(fit, outcome)) {
        if (outcome->reason != DN_STOP_MAX_ITERATIONS) { /* a descent's last passes are its last */
            report->stop_reason = DN_STOP_SEPARABLE;
        }
        report->converged = false;
        char names[DNI_NAMES_SIZE];
        dni_feature_list(fit->input, fit->growing, 8, names);
        dn_report_warn(report,
                       "separable or quasi-separable, weights unbounded: without a penalty the "
                       "weights grow for ever%s%s; give lambda > 0",
                       names[0] == '\0' ? "" : ", fastest for ", names);
    } else if (outcome->reason == DN_STOP_MAX_ITERATIONS) {
        bool descends =
            fit->plan.solver == DNI_LOGISTIC_DESCENT || fit->plan.solver == DNI_LOGISTIC_SGD;
        dn_report_warn(
            report,
            "not converged after %zu iterations: the largest component of the gradient is %.3g, "
            "the tolerance %.3g; %s",
            outcome->iterations, fit->measure, fit->plan.tolerance,
            descends
                ? "try more max_iterations, another learning_rate, features.standardize, or solver "
                  "newton or lbfgs"
                : "try more max_iterations, a larger lambda or tolerance, or features.standardize");
    } else if (outcome->reason == DN_STOP_NO_PROGRESS) {
        dn_report_warn(report,
                       "arithmetic allows no further decrease: the largest component of the "
                       "gradient is %.3g, the tolerance %.3g; "
                       "try features.standardize or a larger tolerance",
                       fit->measure, fit->plan.tolerance);
    }
}
