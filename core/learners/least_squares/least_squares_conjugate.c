/* The objective of least_squares_fit.h by conjugate gradients, for more columns than a matrix can have.
 *
 *   A w_k = b_k,   A = Σ_t v_t x̃_t x̃_tᵀ/n + λ,   b_k = Σ_t v_t (T_tk − T̄_k) x̃_t/n,   x̃ = x − m,   n = Σv;   the intercept is T̄_k − mᵀw_k
 *
 * Neither A nor centred rows are ever written: a pass gives Σ v s x and Σ v s for the scores s = xᵀp − mᵀp of a direction p, and A p = (Σ v s x − m Σ v s)/n + λp.
 * Since Σ v s is 0 but for rounding, columns far from 0 lose m/σ of the precision, not its square. With λ > 0 the steps are those of columns scaled by √(variance + λ);
 * with λ = 0 they are not scaled, for then the weights found from 0 are the minimiser of least norm. Columns of one value have no part in it.
 *
 * Björck, Numerical Methods for Least Squares Problems, sections 7.1 and 7.4; Golub and Van Loan, Matrix Computations, 4th ed., section 11.3. */
#include "learners/least_squares/least_squares_fit.h"
#include "learners/shared/moments.h"
#include "linalg/vector.h"
#include "machine/linear.h"
#include "optimize/conjugate_gradients.h"

#include <math.h>
#include <string.h>

struct conjugate {
    dni_least_squares *fit;
    dni_moments moments;
    double tolerance;
    size_t max_iterations;
    double *target;       /* [S] T̄ */
    double *scale;        /* [d] variance + λ; 1 for a column of one value */
    double *w;            /* [S × d] */
    double *variables;    /* [S × width] weights and intercepts of a pass */
    double *raw;          /* [n] weights of a snapshot; NULL: none is wanted */
    double first_measure; /* after the first iteration; 0 before */
    double fraction;      /* of progress, never decreasing */
};

/* variables ← rows [p_k, base_k − mᵀp_k]; base NULL: 0. */
static void centre(const struct conjugate *c, const double *p, const double *base,
                   double *variables) {
    const dni_squares *q = &c->fit->squares;
    size_t d = q->width - 1;
    for (size_t k = 0; k < q->n_scores; k++) {
        memcpy(variables + k * q->width, p + k * d, d * sizeof *p);
        variables[k * q->width + d] =
            (base == NULL ? 0 : base[k]) - dni_dot(c->moments.mean, p + k * d, d);
    }
}

/* out ← sign·((Σ v s x − m Σ v s)/n + λp) of the pass just made. */
static void uncentre(const struct conjugate *c, const double *p, double sign, double *out) {
    const dni_squares *q = &c->fit->squares;
    size_t d = q->width - 1;
    for (size_t k = 0; k < q->n_scores; k++) {
        const double *g = q->gradient + k * q->width;
        for (size_t j = 0; j < d; j++) {
            double sum = (g[j] - c->moments.mean[j] * g[d]) / q->weight;
            out[k * d + j] =
                c->moments.deviation[j] > 0 ? sign * (sum + c->fit->lambda * p[k * d + j]) : 0;
        }
    }
}

static dn_status product(void *ctx, const dn_run *run, const double *p, double *out,
                         dn_error *err) {
    struct conjugate *c = ctx;
    (void)run; /* the same as the squares' own */
    centre(c, p, NULL, c->variables);
    dn_status status = dni_squares_pass(&c->fit->squares, c->variables, false, err);
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
    dn_status status = dni_squares_pass(&c->fit->squares, c->variables, true, err);
    if (status == DN_OK) {
        uncentre(c, w, -1, out);
    }
    return status;
}

static dn_status accepted(void *ctx, const dn_run *run, size_t iteration, const double *w,
                          double measure, dn_error *err) {
    struct conjugate *c = ctx;
    const dni_squares *q = &c->fit->squares;
    size_t d = q->width - 1;
    double fraction = (double)iteration / (double)c->max_iterations;
    (void)err;
    if (c->first_measure == 0) {
        c->first_measure = measure;
    }
    if (measure > 0 && c->tolerance > 0 && c->first_measure > c->tolerance) {
        fraction =
            fmax(fraction, log(c->first_measure / measure) / log(c->first_measure / c->tolerance));
    }
    c->fraction = fmin(fmax(c->fraction, fraction), 1);
    if (run->progress == NULL) {
        return DN_OK;
    }
    dn_progress progress = {.iteration = iteration,
                            .max_iterations = c->max_iterations,
                            .fraction = c->fraction,
                            .loss = (double)NAN, /* a pass of its own would tell */
                            .gradient_norm = (double)NAN,
                            .train_error = (double)NAN,
                            .n_scores = q->n_scores,
                            .n_features = d};
    if (c->raw != NULL && dn_run_wants_snapshot(run, iteration)) {
        const dn_fit_input *input = c->fit->input;
        double *w0 = c->raw + q->n_scores * d;
        centre(c, w, c->target, c->variables);
        dni_linear_to_raw(c->variables, q->width, c->variables + d, q->width, q->n_scores, d,
                          input->mean, input->scale, c->raw, w0);
        progress.w = c->raw;
        progress.w0 = w0;
    }
    run->progress(run, &progress);
    return DN_OK;
}

static void prepare(struct conjugate *c) {
    dni_squares *q = &c->fit->squares;
    const dni_moments *m = &c->moments;
    q->sparse = m->sparse;
    q->weight = m->weight;
    for (size_t j = 0; j + 1 < q->width; j++) {
        c->scale[j] = m->deviation[j] > 0 ? m->deviation[j] * m->deviation[j] + c->fit->lambda : 1;
    }
    for (size_t k = 0; k < q->n_scores; k++) {
        c->target[k] = 0;
        for (size_t class = 0; class < c->fit->input->n_classes; class ++) {
            c->target[k] +=
                dni_squares_target(q->n_scores, k, class) * (m->class_weight[class] / m->weight);
        }
    }
}

/* The last pass was that of the weights: stated ← them, and the gradient there. */
static void state(struct conjugate *c) {
    dni_least_squares *fit = c->fit;
    const dni_squares *q = &fit->squares;
    size_t d = q->width - 1;
    double square = 0, penalty = 0;
    centre(c, c->w, c->target, fit->stated);
    for (size_t k = 0; k < q->n_scores; k++) {
        const double *w = c->w + k * d, *g = q->gradient + k * q->width;
        for (size_t j = 0; j < d; j++) {
            double own = g[j] / q->weight + fit->lambda * w[j];
            square += own * own;
            penalty += w[j] * w[j];
        }
        square += g[d] / q->weight * (g[d] / q->weight);
    }
    fit->report->gradient_norm = 2 * fit->share * sqrt(square);
    dni_least_squares_describe(fit, penalty, "conjugate_gradient");
}

static void warn(const struct conjugate *c, const dni_systems_outcome *outcome) {
    dn_report *report = c->fit->report;
    size_t d = c->fit->squares.width - 1, n = c->fit->input->rows->n_rows;
    if (c->fit->lambda == 0 && d >= n) {
        dn_report_warn(report,
                       "with lambda = 0 the weights are not unique: there are %zu columns and %zu "
                       "rows: the weights reported are those of "
                       "least norm",
                       d, n);
    }
    if (outcome->reason == DN_STOP_MAX_ITERATIONS) {
        dn_report_warn(report,
                       "not converged after %zu iterations: the residual of the normal equations "
                       "is %.3g of their right-hand side, the "
                       "tolerance %.3g; try more max_iterations, a larger lambda or tolerance, or "
                       "features.standardize",
                       outcome->iterations, outcome->measure, c->tolerance);
    } else if (outcome->reason == DN_STOP_NO_PROGRESS) {
        dn_report_warn(report,
                       "arithmetic allows no smaller residual of the normal equations than %.3g of "
                       "their right-hand side, the tolerance "
                       "is %.3g; try a larger lambda or tolerance, features.standardize, or solver "
                       "closed_form",
                       outcome->measure, c->tolerance);
    }
}

static dn_status solve(struct conjugate *c, dn_error *err) {
    dni_least_squares *fit = c->fit;
    const dni_squares *q = &fit->squares;
    dn_report *report = fit->report;
    dni_systems_outcome outcome;
    prepare(c);
    const dni_systems systems = {
        .n_systems = q->n_scores,
        .n = q->width - 1,
        .ctx = c,
        .product = product,
        .residual = residual,
        .rounding = 1e-15 * sqrt((double)q->width), /* correlations with a target are at most 1 */
        .scale = c->scale,
        .preconditioned = fit->lambda > 0,
        .accepted = accepted};
    dn_status status = dni_conjugate_gradients(&systems, fit->run, c->tolerance, c->max_iterations,
                                               c->w, &outcome, err);
    if (status != DN_OK) {
        return status;
    }
    report->converged = outcome.reason == DN_STOP_TOLERANCE;
    report->stop_reason = outcome.reason;
    report->iterations = outcome.iterations;
    state(c);
    dn_report_number(report, "tolerance", c->tolerance);
    dn_report_number(report, "normal_residual", outcome.measure);
    dn_report_number(report, "passes", (double)(outcome.iterations + outcome.residuals));
    warn(c, &outcome);
    return DN_OK;
}

dn_status dni_least_squares_conjugate(dni_least_squares *fit, dn_error *err) {
    size_t d = fit->input->rows->n_cols, S = fit->squares.n_scores, n = fit->squares.n;
    bool snapshots = fit->run->progress != NULL && fit->run->n_snapshots > 0;
    struct conjugate c = {.fit = fit,
                          .tolerance = fit->tolerance,
                          .max_iterations = fit->max_iterations};
    void *memory = NULL;
    dn_status status = dni_moments_compute(fit->input, fit->run, &c.moments, err);
    if (status == DN_OK) {
        status = dn_run_alloc(fit->run, S + d + S * d + n + (snapshots ? n : 0), sizeof(double),
                              "the weights", &memory, err);
    }
    if (status == DN_OK) {
        c.target = memory;
        c.scale = c.target + S;
        c.w = c.scale + d;
        c.variables = c.w + S * d;
        c.raw = snapshots ? c.variables + n : NULL;
        status = solve(&c, err);
    }
    dn_run_free(fit->run, memory);
    dni_moments_done(&c.moments, fit->run);
    return status;
}

double dni_least_squares_conjugate_memory(size_t n_rows, size_t n_cols, size_t n_classes,
                                          size_t n_slots) {
    double d = (double)n_cols, S = n_classes == 2 ? 1 : (double)n_classes, n = S * (d + 1);
    double systems = dni_conjugate_gradients_memory(n_classes == 2 ? 1 : n_classes, n_cols);
    return dni_squares_memory(n_rows, n_cols, n_classes, n_slots, false) +
           fmax(dni_moments_memory(n_rows, n_cols, n_classes, n_slots),
                8 * (2 * d + (double)n_classes + S + d + S * d + 2 * n + systems));
}
