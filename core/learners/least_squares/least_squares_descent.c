/* Gradient descent on the objective of least_squares_fit.h, with the textbook's update
 *
 *   Δw = η (Σ_t v_t (T_t − g_t) x_t − λ (Σv) w) = −η n ∇(f / 2a),   n = Σv
 *
 * The curvature of f/2a is at most L = λmax(Σ v x̃x̃ᵀ/n) + λ, x̃ = [x, 1]: the rate is 1/(n L) when it is "auto", and above 2/(n L) it diverges.
 * Alpaydın, section 10.7; Bishop, PRML, section 3.1.3. */
#include "base/random.h"
#include "learners/least_squares/least_squares_fit.h"
#include "learners/logistic/logistic_loss.h"
#include "learners/shared/moments.h"
#include "linalg/vector.h"
#include "machine/linear.h"
#include "optimize/gradient_descent.h"

#include <math.h>
#include <string.h>

struct descent {
    dni_least_squares *fit;
    dni_moments moments;
    double tolerance;
    size_t max_iterations;
    double
        measure; /* largest component of the gradient in standardised variables, at the last point */
    double first_measure; /* at the start */
    double gradient_norm; /* as stated, at the last point */
    double fraction;      /* of progress, never decreasing */
    double *raw;          /* [n] weights of a snapshot; NULL: none is wanted */
};

static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    struct descent *own = ctx;
    dni_least_squares *fit = own->fit;
    dni_squares *q = &fit->squares;
    (void)run; /* the same as the squares' own */
    dn_status status = dni_squares_pass(q, x, true, err);
    if (status != DN_OK) {
        return status;
    }
    double penalty = 0, twice = 2 * fit->share;
    size_t d = q->width - 1;
    for (size_t i = 0; i < q->n_scores; i++) {
        const double *w = x + i * q->width, *g = q->gradient + i * q->width;
        double *out = gradient + i * q->width;
        for (size_t j = 0; j < d; j++) {
            out[j] = twice * (g[j] / q->weight + fit->lambda * w[j]);
        }
        out[d] = twice * g[d] / q->weight;
        penalty += dni_dot(w, w, d);
    }
    *value = fit->share * (q->squares / q->weight + (fit->lambda > 0 ? fit->lambda * penalty : 0));
    return DN_OK;
}

/* Largest component of the gradient with respect to standardised weights and intercepts. */
static double measure(const struct descent *own, const double *x, const double *gradient) {
    const dni_squares *q = &own->fit->squares;
    size_t d = q->width - 1;
    double largest = 0;
    for (size_t i = 0; i < q->n_scores; i++) {
        const double *w = x + i * q->width, *g = gradient + i * q->width;
        largest = fmax(largest, fabs(g[d]));
        for (size_t j = 0; j < d; j++) {
            double s = own->moments.deviation[j];
            double of_weight = s > 0 ? (g[j] - own->moments.mean[j] * g[d]) / s
                                     : 2 * own->fit->share * own->fit->lambda * w[j];
            largest = fmax(largest, fabs(of_weight));
        }
    }
    return largest;
}

static void tell(struct descent *own, const dn_run *run, const dni_iterate *point) {
    const dni_squares *q = &own->fit->squares;
    size_t d = q->width - 1;
    double fraction = (double)point->iteration / (double)own->max_iterations;
    if (own->measure > 0 && own->tolerance > 0 && own->first_measure > own->tolerance) {
        fraction = fmax(fraction, log(own->first_measure / own->measure) /
                                      log(own->first_measure / own->tolerance));
    }
    own->fraction = fmin(fmax(own->fraction, fraction), 1);
    dn_progress progress = {.iteration = point->iteration,
                            .max_iterations = own->max_iterations,
                            .fraction = own->fraction,
                            .loss = point->value,
                            .gradient_norm = own->gradient_norm,
                            .train_error = q->wrong / q->weight,
                            .n_scores = q->n_scores,
                            .n_features = d};
    if (own->raw != NULL && dn_run_wants_snapshot(run, point->iteration)) {
        const dn_fit_input *input = own->fit->input;
        double *w0 = own->raw + q->n_scores * d;
        dni_linear_to_raw(point->x, q->width, point->x + d, q->width, q->n_scores, d, input->mean,
                          input->scale, own->raw, w0);
        progress.w = own->raw;
        progress.w0 = w0;
    }
    run->progress(run, &progress);
}

static dn_status accepted(void *ctx, const dn_run *run, const dni_iterate *point,
                          dn_stop_reason *reason, dn_error *err) {
    struct descent *own = ctx;
    dn_status status = dn_run_stop(run, err);
    if (status != DN_OK) {
        return status;
    }
    own->measure = measure(own, point->x, point->gradient);
    own->gradient_norm = dni_norm(point->gradient, own->fit->squares.n);
    if (point->iteration == 0) {
        own->first_measure = own->measure;
    } else if (run->progress != NULL) {
        tell(own, run, point);
    }
    if (own->measure <= own->tolerance) {
        *reason = DN_STOP_TOLERANCE;
    }
    return DN_OK;
}

/* L of the file's head; the power iteration is logistic regression's. */
static dn_status curvature(struct descent *own, double *out, dn_error *err) {
    dni_least_squares *fit = own->fit;
    dni_logistic loss;
    double largest = 0;
    dn_status status =
        dni_logistic_init(&loss, fit->input->rows, 2, fit->lambda, &own->moments, 0, fit->run, err);
    if (status == DN_OK) {
        status = dni_logistic_largest_eigenvalue(&loss, fit->run, &largest, err);
    }
    dni_logistic_done(&loss, fit->run);
    if (status == DN_OK) {
        *out = largest + fit->lambda;
    }
    return status;
}

static dn_status learning_rate(struct descent *own, double *out, dn_error *err) {
    const dn_params *p = own->fit->input->params;
    dn_report *report = own->fit->report;
    double bound, rate = dn_params_number(p, "learning_rate"), n = own->moments.weight;
    dn_status status = curvature(own, &bound, err);
    if (status != DN_OK) {
        return status;
    }
    if (dn_params_word(p, "learning_rate") != NULL) {
        rate = 1 / (n * bound);
    } else if (rate > 2 / (n * bound)) {
        dn_report_warn(
            report, "learning_rate %g is above 2/(n L) = %g: the descent may oscillate or diverge",
            rate, 2 / (n * bound));
    }
    dn_report_number(report, "curvature_bound", bound);
    dn_report_number(report, "learning_rate", rate);
    *out = rate;
    return DN_OK;
}

/* Where it starts: uniform in (−0.01, 0.01), or 0. */
static void start_at(const struct descent *own, double *x) {
    dni_random random;
    dni_random_init(&random, own->fit->run->seed, 1);
    for (size_t i = 0; strcmp(dn_params_word(own->fit->input->params, "init"), "zero") != 0 &&
                       i < own->fit->squares.n;
         i++) {
        x[i] = dni_random_uniform(&random, -0.01, 0.01);
    }
}

static dn_status descend(struct descent *own, dn_error *err) {
    dni_least_squares *fit = own->fit;
    dni_squares *q = &fit->squares;
    dn_report *report = fit->report;
    double rate, penalty = 0;
    dni_outcome outcome;
    q->sparse = own->moments.sparse;
    q->weight = own->moments.weight;
    dn_status status = learning_rate(own, &rate, err);
    if (status != DN_OK) {
        return status;
    }
    dni_objective objective = {.n = q->n, .ctx = own, .evaluate = evaluate, .accepted = accepted};
    start_at(own, fit->stated);
    status = dni_gradient_descent(&objective, fit->run, own->max_iterations,
                                  rate * q->weight / (2 * fit->share), fit->stated, &outcome, err);
    if (status != DN_OK) {
        return status;
    }
    report->converged = outcome.reason == DN_STOP_TOLERANCE;
    report->stop_reason = outcome.reason;
    report->iterations = outcome.iterations;
    report->gradient_norm = own->gradient_norm;
    for (size_t i = 0; i < q->n_scores; i++) {
        penalty += dni_dot(fit->stated + i * q->width, fit->stated + i * q->width, q->width - 1);
    }
    dni_least_squares_describe(fit, penalty, "gradient_descent");
    dn_report_number(report, "tolerance", own->tolerance);
    dn_report_number(report, "gradient_max", own->measure);
    dn_report_number(report, "gradient_evaluations", (double)outcome.evaluations);
    if (!report->converged) {
        dn_report_warn(report,
                       "not converged after %zu iterations: the largest component of the gradient "
                       "is %.3g, the tolerance %.3g; try more "
                       "max_iterations, another learning_rate, features.standardize, or solver "
                       "closed_form or conjugate_gradient",
                       outcome.iterations, own->measure, own->tolerance);
    }
    return DN_OK;
}

dn_status dni_least_squares_descend(dni_least_squares *fit, dn_error *err) {
    struct descent own = {.fit = fit,
                          .tolerance = fit->tolerance,
                          .max_iterations = fit->max_iterations};
    void *raw = NULL;
    dn_status status = dni_moments_compute(fit->input, fit->run, &own.moments, err);
    if (status == DN_OK && fit->run->progress != NULL && fit->run->n_snapshots > 0) {
        status = dn_run_alloc(fit->run, fit->squares.n, sizeof(double), "the weights of a snapshot",
                              &raw, err);
    }
    own.raw = raw;
    if (status == DN_OK) {
        status = descend(&own, err);
    }
    dn_run_free(fit->run, raw);
    dni_moments_done(&own.moments, fit->run);
    return status;
}

double dni_least_squares_descend_memory(size_t n_rows, size_t n_cols, size_t n_classes,
                                        size_t n_slots) {
    double n = ((double)n_cols + 1) * (n_classes == 2 ? 1 : (double)n_classes);
    double fit = dni_logistic_memory(n_rows, n_cols, 2, n_slots, 0) +
                 8 * (3 * n + 2 * (double)n_cols + (double)n_classes);
    return dni_squares_memory(n_rows, n_cols, n_classes, n_slots, false) +
           fmax(fit, dni_moments_memory(n_rows, n_cols, n_classes, n_slots));
}
