/* Set-up of the linear problem of least squares, and the part of the report that all solvers
 * share. */
#include "learners/least_squares/least_squares_fit.h"
#include "learners/shared/learner.h"
#include "machine/linear.h"

#include <math.h>

dn_status dni_least_squares_init(dni_least_squares *fit, const dni_moments *moments, unsigned uses,
                                 dn_error *err) {
    fit->lambda = dni_lambda_of(fit->input->params, moments->weight);
    const dn_status status = dni_linear_init(&fit->problem, fit->input->rows, fit->input->n_classes,
                                             fit->lambda / 2, moments, uses, fit->run, err);
    fit->problem.loss = &dni_loss_squares;
    fit->problem.intercept = fit->intercept;
    fit->problem.origin = fit->coding.zero;
    fit->share = fit->intercept == DNI_INTERCEPT_NONE        ? 1
                 : fit->intercept == DNI_INTERCEPT_PENALISED ? fit->lambda / (1 + fit->lambda)
                                                             : 0;
    return status;
}

double dni_least_squares_base(const dni_least_squares *fit, double target) {
    return fit->share == 0 ? target
                           : fit->coding.zero + (1 - fit->share) * (target - fit->coding.zero);
}

double dni_least_squares_gradient_norm(const dni_least_squares *fit, const double *gradient) {
    const dni_linear_problem *q = &fit->problem;
    double square = 0;
    for (size_t i = 0; i < q->n; i++) {
        const bool is_intercept = (i + 1) % q->width == 0;
        double slope = gradient[i] / q->total_weight;
        if (!is_intercept) {
            slope += fit->lambda * fit->original[i];
        } else if (fit->intercept != DNI_INTERCEPT_FREE) {
            slope = fit->intercept == DNI_INTERCEPT_NONE
                        ? 0
                        : slope + fit->lambda * (fit->original[i] - fit->coding.zero);
        }
        square += slope * slope;
    }
    return dni_least_squares_slope(fit) * sqrt(square);
}

/* Returns ‖W‖², plus ‖b − o‖² for a penalised intercept. */
static double penalty_of(const dni_least_squares *fit) {
    const dni_linear_problem *q = &fit->problem;
    double sum = 0;
    for (size_t i = 0; i < q->n; i++) {
        const bool is_intercept = (i + 1) % q->width == 0;
        const double w = fit->original[i] - (is_intercept ? fit->coding.zero : 0);
        sum += !is_intercept || fit->intercept == DNI_INTERCEPT_PENALISED ? w * w : 0;
    }
    return sum;
}

double dni_least_squares_slope(const dni_least_squares *fit) {
    return 2 * fit->coding.share / fit->coding.scale;
}

void dni_least_squares_report_progress(const dni_least_squares *fit, const dn_run *run,
                                       const double *table, double *raw, dn_progress *progress) {
    const size_t d = progress->n_features, S = progress->n_scores;
    if (dn_run_wants_snapshot(run, progress->iteration)) {
        dni_linear_to_raw(table, d + 1, table + d, d + 1, S, d, fit->input->mean, fit->input->scale,
                          raw, raw + S * d);
        for (size_t i = 0; i < S * (d + 1); i++) {
            raw[i] = fit->coding.scale * raw[i] + (i < S * d ? 0 : fit->coding.shift);
        }
        progress->w = raw;
        progress->w0 = raw + S * d;
    }
    run->progress(run, progress);
}

void dni_least_squares_describe(dni_least_squares *fit, const char *solver) {
    dn_report *report = fit->report;
    const double penalty = penalty_of(fit);
    const double squares = fit->coding.share * (2 * fit->problem.sums.loss);
    report->objective =
        squares / fit->problem.total_weight + fit->lambda * fit->coding.share * penalty;
    dn_report_text(report, "solver", "%s", solver);
    dn_report_number(report, "lambda", fit->lambda);
    dn_report_number(report, "residual_sum_of_squares", squares);
    dn_report_number(report, "squared_norm_of_weights", fit->coding.share * penalty);
}
