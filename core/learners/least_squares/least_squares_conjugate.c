/* Minimises the objective of least_squares_fit.h by conjugate gradients. Does not store A.
 *
 *   A w_k = b_k,   A = Σ_t v_t x̃_t x̃_tᵀ/n + λ,   b_k = Σ_t v_t (T_tk − T̄_k) x̃_t/n
 *   x̃ = x − m,   n = Σv
 *   the intercept is T̄_k − mᵀw_k
 *
 * An intercept that is not free adds κ m mᵀ to A and κ m (T̄_k − o) to b_k (least_squares_fit.h).
 * The products are then computed from Σ v s x with s = xᵀp − (1 − κ) mᵀp.
 *
 * The rows are not centred in memory either. One pass over the rows computes Σ v s x and Σ v s for
 * the scores s = xᵀp − mᵀp of a direction p. Then A p = (Σ v s x − m Σ v s)/n + λp. Σ v s is 0 up
 * to rounding: for a column with mean m and deviation σ the relative rounding error grows by the
 * factor m/σ, not by (m/σ)².
 *
 * With λ > 0 the system is preconditioned by its diagonal, variance + λ. With λ = 0 there is no
 * preconditioner: iterations that start at 0 then converge to the minimiser of least norm. The
 * weights of constant columns stay 0.
 *
 * Björck, Numerical Methods for Least Squares Problems, sections 7.1 and 7.4; Golub and Van Loan,
 * Matrix Computations, 4th ed., section 11.3. */
#include "learners/least_squares/least_squares_fit.h"
#include "learners/shared/learner.h"
#include "learners/shared/linear/linear_rank.h"
#include "learners/shared/linear/row_space.h"
#include "linalg/vector.h"
#include "optimize/conjugate_gradients.h"

#include <math.h>
#include <string.h>

struct conjugate {
    dni_least_squares *fit;
    dni_moments moments;
    double *target;       /* [S] T̄ */
    double *scale;        /* [d] diagonal of A: variance + κm² + λ; 1 for an idle column */
    bool *idle;           /* [d] columns with variance + κm² = 0; their weight stays 0 */
    double *w;            /* [S × d] */
    double *variables;    /* [S × width] weights and intercepts at which a pass evaluates */
    double *raw;          /* [n] weights and intercepts of raw features, for a snapshot */
    double first_measure; /* measure after the first iteration; 0 until then */
    bool searched;        /* dependent columns are searched for, and named in a warning */
    double fraction;      /* progress reported so far, 0 … 1; never decreases */
};

struct conjugate_shape {
    size_t n_scores, n_cols;
};

static void conjugate_layout(dni_layout *layout, const void *shape, void *work) {
    const struct conjugate_shape *s = shape;
    struct conjugate *c = work;
    c->target = dni_layout_doubles(layout, s->n_scores);
    c->scale = dni_layout_doubles(layout, s->n_cols);
    c->idle = dni_layout_array(layout, s->n_cols, sizeof *c->idle);
    c->w = dni_layout_matrix(layout, s->n_scores, s->n_cols);
    c->variables = dni_layout_matrix(layout, s->n_scores, s->n_cols + 1);
    c->raw = dni_layout_matrix(layout, s->n_scores, s->n_cols + 1);
}

/* True if the search for dependent columns costs at most as much as the closed form may cost. */
static bool search_is_cheap(size_t n_rows, size_t n_cols) {
    const double n = (double)n_rows, d = (double)n_cols;
    return n * d * fmin(n, d) <= 2e11;
}

double dni_least_squares_conjugate_bytes(double lambda, const dn_fit_shape *shape) {
    const struct conjugate_shape sizes = {shape->n_classes == 2 ? 1 : shape->n_classes,
                                          shape->n_features};
    const dni_linear_shape problem = {.n_cols = shape->n_features,
                                      .n_classes = shape->n_classes,
                                      .n_slots = shape->n_slots,
                                      .uses = DNI_LINEAR_PRODUCT,
                                      .sparse = isfinite(shape->n_entries)};
    struct conjugate scratch;
    const double fit = dni_moments_result_memory(shape->n_features, shape->n_classes) +
                       dni_linear_bytes(&problem, shape->n_rows) +
                       dni_layout_bytes(conjugate_layout, &sizes, &scratch) +
                       fmax(dni_conjugate_gradients_bytes(sizes.n_scores, sizes.n_cols),
                            search_is_cheap(shape->n_rows, shape->n_features)
                                ? dni_least_squares_check_bytes(lambda, shape)
                                : 0);
    return fmax(fit, dni_moments_memory(shape->n_rows, shape->n_features, shape->n_classes,
                                        shape->n_slots));
}

/* variables ← rows [p_k, base_k − (1 − κ) mᵀp_k]; base_k = 0 if base is NULL, and otherwise
 * dni_least_squares_base of base[k]. */
static void centre(const struct conjugate *c, const double *p, const double *base,
                   double *variables) {
    const dni_linear_problem *q = &c->fit->problem;
    size_t d = q->width - 1;
    for (size_t k = 0; k < q->n_scores; k++) {
        memcpy(variables + k * q->width, p + k * d, d * sizeof *p);
        variables[k * q->width + d] = (base == NULL ? 0 : dni_least_squares_base(c->fit, base[k])) -
                                      (1 - c->fit->share) * dni_dot(c->moments.mean, p + k * d, d);
    }
}

/* out ← sign·((Σ v s x − m Σ v s)/n + λp) from the sums of the last pass; without m Σ v s if the
 * intercept is not free. */
static void uncentre(const struct conjugate *c, const double *p, double sign, double *out) {
    const dni_linear_problem *q = &c->fit->problem;
    size_t d = q->width - 1;
    for (size_t k = 0; k < q->n_scores; k++) {
        const double *g = q->gradient + k * q->width;
        for (size_t j = 0; j < d; j++) {
            const double centre = c->fit->share == 0 ? c->moments.mean[j] * g[d] : 0,
                         sum = (g[j] - centre) / q->total_weight;
            out[k * d + j] = c->idle[j] ? 0 : sign * (sum + c->fit->lambda * p[k * d + j]);
        }
    }
}

static dn_status product(void *ctx, const dn_run *run, const double *p, double *out,
                         dn_error *err) {
    struct conjugate *c = ctx;
    (void)run; /* the same run as c->fit->problem.run */
    centre(c, p, NULL, c->variables);
    dni_linear_problem *q = &c->fit->problem;
    const dn_status status = dni_linear_pass_along(q, c->variables, q->gradient, err);
    if (status == DN_OK) {
        uncentre(c, p, 1, out);
    }
    return status;
}

static dn_status residual(void *ctx, const dn_run *run, const double *w, double *out,
                          dn_error *err) {
    struct conjugate *c = ctx;
    (void)run;
    centre(c, w, c->target, c->variables);
    const dn_status status = dni_linear_pass(&c->fit->problem, c->variables, err);
    if (status == DN_OK) {
        uncentre(c, w, -1, out);
    }
    return status;
}

static dn_status accepted(void *ctx, const dn_run *run, size_t iteration, const double *w,
                          double measure, dn_error *err) {
    struct conjugate *c = ctx;
    const dni_linear_problem *q = &c->fit->problem;
    (void)err;
    if (c->first_measure == 0) {
        c->first_measure = measure;
    }
    c->fraction = dni_progress_fraction(iteration, c->fit->max_iterations, c->first_measure,
                                        measure, c->fit->tolerance, c->fraction);
    if (run->progress == NULL) {
        return DN_OK;
    }
    dn_progress progress = {.iteration = iteration,
                            .max_iterations = c->fit->max_iterations,
                            .fraction = c->fraction,
                            .loss = (double)NAN, /* not computed: needs another pass */
                            .gradient_norm = (double)NAN,
                            .train_error = (double)NAN,
                            .n_scores = q->n_scores,
                            .n_features = q->width - 1};
    centre(c, w, c->target, c->variables);
    dni_least_squares_report_progress(c->fit, run, c->variables, c->raw, &progress);
    return DN_OK;
}

static void prepare(struct conjugate *c) {
    dni_linear_problem *q = &c->fit->problem;
    const dni_moments *m = &c->moments;
    for (size_t j = 0; j + 1 < q->width; j++) {
        const double square =
            m->deviation[j] * m->deviation[j] + c->fit->share * m->mean[j] * m->mean[j];
        c->idle[j] = !(square > 0);
        c->scale[j] = c->idle[j] ? 1 : square + c->fit->lambda;
    }
    for (size_t k = 0; k < q->n_scores; k++) {
        c->target[k] = 0;
        for (size_t class = 0; class < c->fit->input->n_classes; class ++) {
            c->target[k] +=
                dni_squares_target(q->n_scores, k, class) * (m->class_weight[class] / m->weight);
        }
    }
}

/* Stores the solution in fit->original, and fills the report. The last pass was at these weights,
 * so that its sums give the gradient. */
static void store_solution(struct conjugate *c) {
    dni_least_squares *fit = c->fit;
    const dni_linear_problem *q = &fit->problem;
    centre(c, c->w, c->target, fit->original);
    fit->report->gradient_norm = dni_least_squares_gradient_norm(fit, q->gradient);
    dni_least_squares_describe(fit, "conjugate_gradient");
}

static void warn(const struct conjugate *c, const dni_systems_outcome *outcome) {
    dn_report *report = c->fit->report;
    size_t d = c->fit->problem.width - 1, n = c->fit->input->rows->n_rows;
    if (c->fit->lambda == 0 && d >= n && !c->searched) {
        dn_report_warn(report, DN_WARNING_NOT_UNIQUE,
                       "with lambda = 0 the weights are not unique, because there are not more "
                       "rows (%zu) than columns (%zu); the weights of least norm are reported",
                       n, d);
    }
    if (outcome->reason == DN_STOP_MAX_ITERATIONS) {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "not converged after %zu iterations: the residual of the normal equations "
                       "is %.3g times their right-hand side (tolerance %.3g); try more "
                       "max_iterations, a larger lambda or tolerance, or "
                       "features.standardize",
                       outcome->iterations, outcome->measure, c->fit->tolerance);
    } else if (outcome->reason == DN_STOP_NO_PROGRESS) {
        dn_report_warn(report, DN_WARNING_NO_DECREASE,
                       "rounding errors allow no smaller residual of the normal equations than "
                       "%.3g times their right-hand side (tolerance %.3g); try a larger lambda or "
                       "tolerance, features.standardize, or solver closed_form",
                       outcome->measure, c->fit->tolerance);
    }
}

static dn_status solve(struct conjugate *c, dn_error *err) {
    dni_least_squares *fit = c->fit;
    const dni_linear_problem *q = &fit->problem;
    dn_report *report = fit->report;
    dni_systems_outcome outcome;
    prepare(c);
    const dni_systems systems = {
        .n_systems = q->n_scores,
        .n = q->width - 1,
        .ctx = c,
        .product = product,
        .residual = residual,
        .rounding = 1e-15 * sqrt((double)q->width), /* scaled right-hand sides are at most 1 */
        .scale = c->scale,
        .preconditioned = fit->lambda > 0,
        .accepted = accepted};
    dn_status status = dni_conjugate_gradients(&systems, fit->run, c->fit->tolerance,
                                               c->fit->max_iterations, c->w, &outcome, err);
    if (status != DN_OK) {
        return status;
    }
    report->converged = outcome.reason == DN_STOP_TOLERANCE;
    report->stop_reason = outcome.reason;
    report->iterations = outcome.iterations;
    store_solution(c);
    dni_report_tolerance(report, c->fit->tolerance, outcome.measure);
    dn_report_number(report, "normal_residual", outcome.measure);
    dn_report_number(report, "passes", (double)(outcome.iterations + outcome.residuals));
    c->searched =
        fit->lambda == 0 && search_is_cheap(q->rows->n_rows, q->width - 1) &&
        (dni_row_space_applies(q->rows->n_rows, q->width - 1) || q->width <= DNI_RANK_MAX_WIDTH);
    status = c->searched ? dni_least_squares_check(fit, &c->moments, NULL, err) : DN_OK;
    warn(c, &outcome);
    return status;
}

dn_status dni_least_squares_conjugate(dni_least_squares *fit, dn_error *err) {
    struct conjugate c = {.fit = fit};
    void *memory = NULL;
    dn_status status = dni_moments_compute(fit->input, fit->run, &c.moments, err);
    if (status != DN_OK) {
        return status;
    }
    if (fit->intercept == DNI_INTERCEPT_NONE) {
        dni_moments_about_zero(&c.moments, fit->input->rows->n_cols);
    }
    status = dni_least_squares_init(fit, &c.moments, DNI_LINEAR_PRODUCT, err);
    if (status == DN_OK) {
        const struct conjugate_shape shape = {fit->problem.n_scores, fit->problem.width - 1};
        status =
            dni_layout_take(fit->run, conjugate_layout, &shape, &c, "the weights", &memory, err);
    }
    if (status == DN_OK) {
        status = solve(&c, err);
    }
    dn_run_free(fit->run, memory);
    dni_moments_done(&c.moments, fit->run);
    return status;
}
