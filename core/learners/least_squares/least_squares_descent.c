/* Gradient descent on the objective f of least_squares_fit.h, with the update
 *
 *   Δw = η (Σ_t v_t (T_t − g_t) x_t − λ (Σv) w) = −η n ∇(f / 2a),   n = Σv
 *
 * The curvature of f/2a is at most L = λmax(Σ v x̃x̃ᵀ/n) + λ, x̃ = [x, 1]. The learning rate η
 * "auto" is 1/(n L); above 2/(n L) the descent diverges. Alpaydın, section 10.7; Bishop, PRML,
 * section 3.1.3. */
#include "base/random.h"
#include "catalogue/param_rows.h"
#include "learners/least_squares/least_squares_fit.h"
#include "learners/shared/learner.h"
#include "linalg/vector.h"
#include "machine/linear.h"
#include "optimize/solver.h"

#include <math.h>
#include <string.h>

struct descent {
    dni_least_squares *fit;
    dni_moments moments;
    double measure; /* largest component of ∇f in standardised variables, at the last point */
    double first_measure; /* measure at the start */
    double gradient_norm; /* Euclidean norm of ∇f in the original variables, at the last point */
    double fraction;      /* progress reported so far, 0 … 1; never decreases */
    double *raw;          /* [n] weights and intercepts of raw features, for a snapshot */
};

static void descent_layout(dni_layout *layout, const void *shape, void *work) {
    const size_t n = *(const size_t *)shape;
    struct descent *state = work;
    state->raw = dni_layout_doubles(layout, n);
}

double dni_least_squares_descend_bytes(double lambda, const dn_fit_shape *shape) {
    const dni_linear_shape problem = {.n_cols = shape->n_features,
                                      .n_classes = shape->n_classes,
                                      .n_slots = shape->n_slots,
                                      .sparse = isfinite(shape->n_entries)};
    const size_t n = (shape->n_features + 1) * (shape->n_classes == 2 ? 1 : shape->n_classes);
    struct descent scratch;
    const double fit = dni_moments_result_memory(shape->n_features, shape->n_classes) +
                       dni_linear_bytes(&problem, shape->n_rows) +
                       dni_layout_bytes(descent_layout, &n, &scratch) +
                       fmax(dni_solver_bytes(&dni_solver_gradient_descent, n, 1),
                            dni_least_squares_check_bytes(lambda, shape));
    return fmax(fit, dni_moments_memory(shape->n_rows, shape->n_features, shape->n_classes,
                                        shape->n_slots));
}

/* Implements dni_objective.evaluate for f/2a. */
static dn_status evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                          double *gradient, dn_error *err) {
    struct descent *state = ctx;
    return dni_linear_evaluate(&state->fit->problem, run, x, value, gradient, err);
}

/* Returns the largest component of ∇f with respect to standardised weights and intercepts. */
static double measure(const struct descent *state, const double *x, const double *gradient) {
    const dni_linear_problem *q = &state->fit->problem;
    const double slope = dni_least_squares_slope(state->fit); /* `gradient` is ∇(f/2a) */
    size_t d = q->width - 1;
    double largest = 0;
    for (size_t i = 0; i < q->n_scores; i++) {
        const double *w = x + i * q->width, *g = gradient + i * q->width;
        largest = fmax(largest, fabs(slope * g[d]));
        for (size_t j = 0; j < d; j++) {
            double s = state->moments.deviation[j];
            double of_weight = s > 0 ? slope * (g[j] - state->moments.mean[j] * g[d]) / s
                                     : slope * state->fit->lambda * w[j];
            largest = fmax(largest, fabs(of_weight));
        }
    }
    return largest;
}

static void report_progress(struct descent *state, const dn_run *run, const dni_iterate *point) {
    const dni_linear_problem *q = &state->fit->problem;
    state->fraction =
        dni_progress_fraction(point->iteration, state->fit->max_iterations, state->first_measure,
                              state->measure, state->fit->tolerance, state->fraction);
    dn_progress progress = {.iteration = point->iteration,
                            .start = point->iteration == 0,
                            .max_iterations = state->fit->max_iterations,
                            .fraction = state->fraction,
                            .loss = 2 * state->fit->coding.share * point->value,
                            .gradient_norm = state->gradient_norm,
                            .train_error = q->sums.wrong / q->total_weight,
                            .n_scores = q->n_scores,
                            .n_features = q->width - 1};
    dni_least_squares_report_progress(state->fit, run, point->x, state->raw, &progress);
}

static dn_status accepted(void *ctx, const dn_run *run, const dni_iterate *point,
                          dn_stop_reason *reason, dn_error *err) {
    struct descent *state = ctx;
    dn_status status = dn_run_stop(run, err);
    if (status != DN_OK) {
        return status;
    }
    state->measure = measure(state, point->x, point->gradient);
    state->gradient_norm =
        dni_least_squares_slope(state->fit) * dni_norm(point->gradient, state->fit->problem.n);
    if (point->iteration == 0) {
        state->first_measure = state->measure;
    }
    if (run->progress != NULL &&
        (point->iteration > 0 || dni_reports_start(state->fit->input, run))) {
        report_progress(state, run, point);
    }
    if (state->measure <= state->fit->tolerance) {
        *reason = DN_STOP_TOLERANCE;
    }
    return DN_OK;
}

/* *out ← the parameter learning_rate, or 1/(n L) if it is "auto". Adds a warning if the rate is
 * above 2/(n L). */
static dn_status learning_rate(struct descent *state, double *out, dn_error *err) {
    const dn_params *p = state->fit->input->params;
    dn_report *report = state->fit->report;
    double bound, rate = dn_params_number(p, "learning_rate"), n = state->moments.weight;
    const dn_status status = dni_linear_largest_eigenvalue(&state->fit->problem, &bound, err);
    if (status != DN_OK) {
        return status;
    }
    bound += state->fit->lambda;
    if (dn_params_word(p, "learning_rate") != NULL) {
        rate = 1 / (n * bound);
    } else if (rate > 2 / (n * bound)) {
        dn_report_warn(
            report, DN_WARNING_LEARNING_RATE,
            "learning_rate %g is above 2/(n L) = %g: the descent may oscillate or diverge", rate,
            2 / (n * bound));
    }
    dn_report_number(report, "curvature_bound", bound);
    dn_report_number(report, "learning_rate", rate);
    *out = rate;
    return DN_OK;
}

/* Sets x to the starting point: the list of the parameter init, or weights and intercepts of the
 * outputs y that are uniform random numbers in (−0.01, 0.01), or 0. Without an intercept the
 * intercepts are 0. */
static dn_status start_at(const struct descent *state, double *x, dn_error *err) {
    const dni_linear_problem *q = &state->fit->problem;
    const dni_target_coding *coding = &state->fit->coding;
    const dn_fit_input *input = state->fit->input;
    const bool zero = dni_params_is(input->params, "init", "zero"),
               fixed = state->fit->intercept == DNI_INTERCEPT_NONE;
    size_t n;
    const double *list = dn_params_list(input->params, "init", &n);
    dni_random random;
    if (list != NULL) {
        const dn_status status = dni_start_check(input->params, q->n_scores, q->width - 1, err);
        if (status != DN_OK) {
            return status;
        }
        dni_linear_to_encoded(list, q->n_scores, q->width - 1, input->mean, input->scale, x);
        for (size_t i = 0; i < q->n; i++) {
            const bool is_intercept = (i + 1) % q->width == 0;
            x[i] = fixed && is_intercept
                       ? coding->zero
                       : (x[i] - (is_intercept ? coding->shift : 0)) / coding->scale;
        }
        return DN_OK;
    }
    dni_random_init(&random, state->fit->run->seed, DNI_STREAM_START);
    for (size_t i = 0; i < q->n; i++) {
        const bool is_intercept = (i + 1) % q->width == 0;
        const double start = zero ? 0 : dni_random_uniform(&random, -0.01, 0.01) / coding->scale;
        x[i] = is_intercept ? coding->zero + (fixed ? 0 : start) : start;
    }
    return DN_OK;
}

static dn_status descend(struct descent *state, dn_error *err) {
    dni_least_squares *fit = state->fit;
    dni_linear_problem *q = &fit->problem;
    dn_report *report = fit->report;
    double rate = 0;
    dni_outcome outcome;
    dn_status status = start_at(state, fit->original, err);
    if (status == DN_OK && fit->max_iterations > 0) {
        status = learning_rate(state, &rate, err);
    }
    if (status != DN_OK) {
        return status;
    }
    dni_objective objective = {.n = q->n, .ctx = state, .evaluate = evaluate, .accepted = accepted};
    const dni_solver_options options = {.max_iterations = fit->max_iterations,
                                        .step = rate * q->total_weight};
    status = dni_solver_minimise(&dni_solver_gradient_descent, &objective, fit->run, &options,
                                 fit->original, &outcome, err);
    bool changed = false;
    if (status == DN_OK && fit->max_iterations > 0) {
        status = dni_least_squares_check(fit, &state->moments, &changed, err);
    }
    if (status == DN_OK && changed) {
        status = dni_linear_pass(q, fit->original, err);
    }
    if (status != DN_OK) {
        return status;
    }
    report->converged = outcome.reason == DN_STOP_TOLERANCE;
    report->stop_reason = outcome.reason;
    report->iterations = outcome.iterations;
    report->gradient_norm = state->gradient_norm;
    dni_least_squares_describe(fit, "gradient_descent");
    dni_report_tolerance(report, state->fit->tolerance, state->measure);
    dni_warn_of_start(report, fit->input->params);
    dn_report_number(report, "gradient_max", state->measure);
    dn_report_number(report, "gradient_evaluations", (double)outcome.evaluations);
    if (!report->converged && fit->max_iterations > 0) {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "not converged after %zu iterations: the largest component of the gradient "
                       "is %.3g (tolerance %.3g); try more max_iterations, another learning_rate, "
                       "features.standardize, or solver closed_form or conjugate_gradient",
                       outcome.iterations, state->measure, state->fit->tolerance);
    }
    return DN_OK;
}

dn_status dni_least_squares_descend(dni_least_squares *fit, dn_error *err) {
    struct descent state = {.fit = fit};
    void *memory = NULL;
    dn_status status = dni_moments_compute(fit->input, fit->run, &state.moments, err);
    if (status != DN_OK) {
        return status;
    }
    if (fit->intercept != DNI_INTERCEPT_FREE) {
        dni_moments_about_zero(&state.moments, fit->input->rows->n_cols);
    }
    status = dni_least_squares_init(fit, &state.moments, 0, err);
    if (status == DN_OK) {
        status = dni_layout_take(fit->run, descent_layout, &fit->problem.n, &state,
                                 "the weights of a snapshot", &memory, err);
    }
    if (status == DN_OK) {
        status = descend(&state, err);
    }
    dn_run_free(fit->run, memory);
    dni_moments_done(&state.moments, fit->run);
    return status;
}
