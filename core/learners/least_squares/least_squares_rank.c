/* Fits without a penalty: the search for dependent columns by the rank rule (linear_rank.h), and
 * the closed form for at most as many rows as columns.
 *
 * With Z = Q Λ^½ P of row_space.h, the minimiser whose weights have the least norm has the scores
 * T̄ + Q Qᵀ (T − T̄). Without an intercept o takes the place of T̄, and m is 0. */
#include "base/layout.h"
#include "base/share.h"
#include "catalogue/report.h"
#include "learners/least_squares/least_squares_fit.h"
#include "learners/shared/learner.h"
#include "learners/shared/linear/linear_rank.h"
#include "learners/shared/linear/row_space.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

void dni_least_squares_warn_of_rank(dni_least_squares *fit, const bool *marked) {
    size_t dependent = 0;
    char names[DNI_NAMES_SIZE];
    for (size_t j = 0; j < fit->input->rows->n_cols; j++) {
        dependent += marked[j];
    }
    if (dependent == 0) {
        return;
    }
    dni_feature_list(fit->input, marked, 8, names);
    dn_report_warn(fit->report, DN_WARNING_NOT_UNIQUE,
                   "with lambda = %g the weights are not unique, because %zu of the columns are "
                   "linear combinations of others (%s); the weights of least norm are reported",
                   fit->lambda, dependent, names);
}

/* ---- more rows than columns ---- */
static dni_linear_shape rank_shape(const dn_fit_shape *shape) {
    return (dni_linear_shape){.n_cols = shape->n_features,
                              .n_classes = shape->n_classes,
                              .n_slots = shape->n_slots,
                              .uses = DNI_LINEAR_STANDARDISE | DNI_LINEAR_GRAM,
                              .sparse = isfinite(shape->n_entries)};
}

dn_status dni_least_squares_null_space(dni_least_squares *fit, const dni_moments *moments,
                                       size_t *out_n, double **out_null, dn_error *err) {
    const dni_linear_shape shape = {.uses = DNI_LINEAR_STANDARDISE | DNI_LINEAR_GRAM};
    dni_linear_problem problem;
    dn_status status = dni_linear_init(&problem, fit->input->rows, fit->input->n_classes, 0,
                                       moments, shape.uses, fit->run, err);
    problem.intercept = fit->intercept;
    if (status == DN_OK) {
        status = dni_linear_null_space(&problem, moments, out_n, out_null, err);
    }
    dni_linear_done(&problem);
    return status;
}

double dni_least_squares_null_space_bytes(const dn_fit_shape *shape) {
    const dni_linear_shape problem = rank_shape(shape);
    return dni_linear_bytes(&problem, shape->n_rows) +
           dni_linear_null_space_bytes(shape->n_features + 1);
}

/* Makes the weights in fit->original orthogonal to the combinations null/s. The weights of constant
 * columns become 0. Overwrites `null`. */
static dn_status project(dni_least_squares *fit, const dni_moments *m, double *null, size_t n_null,
                         dn_error *err) {
    const size_t d = fit->input->rows->n_cols, width = d + 1;
    const dn_status status = dni_linear_raw_null(fit->run, null, n_null, d, m->deviation, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < fit->problem.n_scores; k++) {
        double *w = fit->original + k * width;
        for (size_t r = 0; r < n_null; r++) {
            const double part = dni_dot(w, null + r * d, d);
            dni_axpy(-part, null + r * d, w, d);
            w[d] += part * dni_dot(null + r * d, m->mean, d);
        }
    }
    return DN_OK;
}

static dn_status check_null_space(dni_least_squares *fit, const dni_moments *moments, bool *changed,
                                  dn_error *err) {
    const size_t d = fit->input->rows->n_cols;
    void *marked = NULL;
    size_t n_null = 0;
    double *null = NULL;
    dn_status status = dni_least_squares_null_space(fit, moments, &n_null, &null, err);
    if (status != DN_OK || n_null == 0) {
        return status;
    }
    status = dn_run_alloc(fit->run, d, sizeof(bool), "the dependent columns", &marked, err);
    if (status == DN_OK) {
        dni_linear_mark_dependent(null, n_null, moments, d, marked);
        dni_least_squares_warn_of_rank(fit, marked);
        if (changed != NULL) {
            *changed = true;
            status = project(fit, moments, null, n_null, err);
        }
    }
    dn_run_free(fit->run, marked);
    dn_run_free(fit->run, null);
    return status;
}

/* ---- at most as many rows as columns ---- */
struct wide_shape {
    size_t n, d, n_scores;
};

/* The parts of a fit, each of which has the same share of its progress. */
enum part { DECOMPOSITION, DEPENDENT, LEAST_NORM, N_PARTS };

struct wide {
    dni_least_squares *fit;
    const dn_run *run; /* run of the whole fit */
    dni_share share;   /* run of the space in the current part */
    dni_row_space space;
    double *scores; /* [S × n] */
    double *w;      /* [S × d] */
    double *centre; /* [S] scores at the means of the columns */
    bool *marked;   /* [d] dependent columns */
    void *memory;   /* owns the arrays */
};

static void wide_layout(dni_layout *layout, const void *shape, void *wide) {
    const struct wide_shape *s = shape;
    struct wide *w = wide;
    w->scores = dni_layout_matrix(layout, s->n_scores, s->n);
    w->w = dni_layout_matrix(layout, s->n_scores, s->d);
    w->centre = dni_layout_doubles(layout, s->n_scores);
    w->marked = dni_layout_array(layout, s->d, sizeof *w->marked);
}

static double wide_bytes(const dn_fit_shape *shape) {
    const struct wide_shape sizes = {shape->n_rows, shape->n_features,
                                     shape->n_classes == 2 ? 1 : shape->n_classes};
    struct wide unused;
    return dni_row_space_bytes(sizes.n, sizes.d, sizes.n_scores) +
           dni_layout_bytes(wide_layout, &sizes, &unused);
}

static void begin_part(struct wide *w, enum part part) {
    dni_share_init(&w->share, w->run, part, N_PARTS);
}

/* The caller calls wide_done, also after a failure. */
static dn_status wide_init(struct wide *w, dni_least_squares *fit, const dni_moments *moments,
                           const dn_run *run, dn_error *err) {
    const dn_rows *rows = fit->input->rows;
    const struct wide_shape shape = {rows->n_rows, rows->n_cols, fit->problem.n_scores};
    *w = (struct wide){.fit = fit, .run = run};
    begin_part(w, DECOMPOSITION);
    const dn_status status =
        dni_row_space_init(&w->space, rows, moments, shape.n_scores,
                           fit->intercept != DNI_INTERCEPT_NONE, &w->share.run, err);
    return status != DN_OK ? status
                           : dni_layout_take(fit->run, wide_layout, &shape, w,
                                             "the scores of the rows", &w->memory, err);
}

static void wide_done(struct wide *w) {
    dn_run_free(w->fit->run, w->memory);
    dni_row_space_done(&w->space);
}

/* Adds the warning of dependent columns. */
static dn_status warn_wide(struct wide *w, dn_error *err) {
    begin_part(w, DEPENDENT);
    const dn_status status = dni_row_space_dependent(&w->space, w->marked, err);
    if (status == DN_OK) {
        dni_least_squares_warn_of_rank(w->fit, w->marked);
    }
    return status;
}

/* fit->original ← the weights of least norm with the scores w->scores + w->centre. Adds the warning
 * of dependent columns. w->w has weights with these scores. */
static dn_status take_weights(struct wide *w, dn_error *err) {
    dni_least_squares *fit = w->fit;
    const size_t d = w->space.d, S = fit->problem.n_scores;
    dn_status status = warn_wide(w, err);
    if (status == DN_OK) {
        begin_part(w, LEAST_NORM);
        status = dni_row_space_least_norm(&w->space, w->scores, S, w->w, err);
    }
    for (size_t k = 0; status == DN_OK && k < S; k++) {
        double *original = fit->original + k * (d + 1);
        memcpy(original, w->w + k * d, d * sizeof *original);
        original[d] = w->centre[k] - dni_dot(original, w->space.moments->mean, d);
    }
    return status;
}

static dn_status check_wide(dni_least_squares *fit, const dni_moments *moments, bool *changed,
                            dn_error *err) {
    const size_t d = fit->input->rows->n_cols, S = fit->problem.n_scores;
    struct wide w;
    dn_run quiet = *fit->run; /* the solver has reported all iterations */
    quiet.progress = NULL;
    dn_status status = wide_init(&w, fit, moments, &quiet, err);
    if (status == DN_OK && changed == NULL) {
        status = warn_wide(&w, err);
        goto cleanup;
    }
    for (size_t k = 0; status == DN_OK && k < S; k++) {
        const double *original = fit->original + k * (d + 1);
        memcpy(w.w + k * d, original, d * sizeof *original);
        w.centre[k] = original[d] + dni_dot(original, moments->mean, d);
    }
    if (status == DN_OK) {
        status = dni_row_space_scores(&w.space, w.w, S, w.scores, err);
    }
    if (status == DN_OK) {
        status = dni_row_space_weights(&w.space, w.scores, S, w.w, err);
    }
    if (status == DN_OK) {
        *changed = true;
        status = take_weights(&w, err);
    }
cleanup:
    wide_done(&w);
    return status;
}

static dn_status solve_wide(struct wide *w, dn_error *err) {
    dni_least_squares *fit = w->fit;
    const dni_moments *m = w->space.moments;
    const size_t n = w->space.n, S = fit->problem.n_scores;
    const double origin = fit->intercept == DNI_INTERCEPT_NONE ? fit->coding.zero : 0;
    for (size_t k = 0; k < S; k++) {
        for (size_t class = 0; class < fit->input->n_classes; class ++) {
            w->centre[k] += dni_squares_target(S, k, class) * (m->class_weight[class] / m->weight);
        }
        w->centre[k] = fit->intercept == DNI_INTERCEPT_NONE ? origin : w->centre[k];
        for (size_t t = 0; t < n; t++) {
            w->scores[k * n + t] = dni_squares_target(S, k, (size_t)w->space.target[t]) - origin;
        }
    }
    dn_status status = dni_row_space_weights(&w->space, w->scores, S, w->w, err);
    if (status == DN_OK) { /* the targets may not be scores of any weights */
        status = dni_row_space_scores(&w->space, w->w, S, w->scores, err);
    }
    return status == DN_OK ? take_weights(w, err) : status;
}

/* Fills the report for the weights in fit->original. */
static dn_status describe(dni_least_squares *fit, size_t rank, dn_error *err) {
    const dni_linear_problem *q = &fit->problem;
    if (!dni_all_finite(fit->original, q->n)) {
        return dn_error_set(
            err, DN_ERR_NUMERIC,
            "the weights are not finite: the inputs are too large (standardise the columns)");
    }
    const dn_status status = dni_linear_pass(&fit->problem, fit->original, err);
    if (status != DN_OK) {
        return status;
    }
    fit->report->converged = true;
    fit->report->stop_reason = DN_STOP_CLOSED_FORM;
    fit->report->gradient_norm = dni_least_squares_gradient_norm(fit, q->gradient);
    dni_least_squares_describe(fit, "closed_form");
    dn_report_text(fit->report, "factorisation", "gram_eigenvectors");
    dn_report_number(fit->report, "rank", (double)rank);
    return DN_OK;
}

dn_status dni_least_squares_solve_wide(dni_least_squares *fit, dn_error *err) {
    dni_moments moments;
    struct wide w;
    dn_status status = dni_moments_compute(fit->input, fit->run, &moments, err);
    if (status != DN_OK) {
        return status;
    }
    if (fit->intercept == DNI_INTERCEPT_NONE) {
        dni_moments_about_zero(&moments, fit->input->rows->n_cols);
    }
    status = dni_least_squares_init(fit, &moments, 0, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = wide_init(&w, fit, &moments, fit->run, err);
    const size_t rank = w.space.rank;
    if (status == DN_OK) {
        status = solve_wide(&w, err);
    }
    wide_done(&w);
    if (status == DN_OK) {
        status = describe(fit, rank, err);
    }
cleanup:
    dni_moments_done(&moments, fit->run);
    return status;
}

double dni_least_squares_solve_wide_bytes(const dn_fit_shape *shape) {
    const dni_linear_shape problem = {.n_cols = shape->n_features,
                                      .n_classes = shape->n_classes,
                                      .n_slots = shape->n_slots,
                                      .sparse = isfinite(shape->n_entries)};
    const double fit = dni_moments_result_memory(shape->n_features, shape->n_classes) +
                       dni_linear_bytes(&problem, shape->n_rows) + wide_bytes(shape);
    return fmax(fit, dni_moments_memory(shape->n_rows, shape->n_features, shape->n_classes,
                                        shape->n_slots));
}

/* ---- the check after an iterative solver ---- */
dn_status dni_least_squares_check(dni_least_squares *fit, const dni_moments *moments, bool *changed,
                                  dn_error *err) {
    const dn_rows *rows = fit->input->rows;
    if (changed != NULL) {
        *changed = false;
    }
    if (fit->lambda > 0) {
        return DN_OK;
    }
    if (dni_row_space_applies(rows->n_rows, rows->n_cols)) {
        return check_wide(fit, moments, changed, err);
    }
    if (rows->n_cols < DNI_RANK_MAX_WIDTH) {
        return check_null_space(fit, moments, changed, err);
    }
    dn_report_warn(
        fit->report, DN_WARNING_NOT_UNIQUE,
        "with lambda = 0 the weights may not be unique, nor of least norm, because dependent "
        "columns are searched for among at most %d features only; set lambda > 0",
        DNI_RANK_MAX_WIDTH - 1);
    return DN_OK;
}

double dni_least_squares_check_bytes(double lambda, const dn_fit_shape *shape) {
    if (lambda > 0) {
        return 0;
    }
    if (dni_row_space_applies(shape->n_rows, shape->n_features)) {
        return wide_bytes(shape);
    }
    return shape->n_features < DNI_RANK_MAX_WIDTH
               ? dni_least_squares_null_space_bytes(shape) + (double)shape->n_features
               : 0;
}
