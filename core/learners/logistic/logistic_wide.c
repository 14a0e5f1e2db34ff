/* Fits without a penalty of at most as many rows as columns. The rows are replaced by their
 * coordinates in the row space (row_space.h), at most n − 1 numbers per row (n without an
 * intercept); the solver and the check of separation work on these. The minimum, the scores of the
 * rows, and whether the classes are separable are the same. The weights of the coordinates are then
 * converted to weights of the columns.
 *
 * The gradient for the standardised columns is at most √(λmax r) times the largest component of the
 * gradient for r standardised coordinates; the tolerance is divided by this number. */
#include "base/layout.h"
#include "base/share.h"
#include "learners/logistic/logistic_fit.h"
#include "learners/shared/learner.h"
#include "learners/shared/linear/row_space.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

struct wide_shape {
    size_t n, d, n_scores;
};

/* The parts of a fit, each of which has the same share of its progress. */
enum part { DECOMPOSITION, SOLVER, DEPENDENT, LEAST_NORM, N_PARTS };

/* A fit in the coordinates of the row space. */
struct wide {
    dni_logistic_fit *outer;
    const dn_run *run; /* run of the whole fit */
    dni_row_space space;
    dni_share of_space;  /* run of the space in the current part */
    dni_share of_solver; /* run of the solver */
    dn_rows *rows;       /* the coordinates; owned */
    dn_fit_input input;
    dni_logistic_fit inner;
    double *coordinates; /* [n × max(rank, 1)] */
    double *scores;      /* [n_scores × n] */
    double *w;           /* [n_scores × d] */
    double *table;       /* [n_scores × width] weights of the coordinates, and intercepts */
    bool *marked;        /* [d] */
    void *memory;        /* owns the arrays */
};

static void wide_layout(dni_layout *layout, const void *shape, void *wide) {
    const struct wide_shape *s = shape;
    struct wide *w = wide;
    w->coordinates = dni_layout_matrix(layout, s->n, s->n);
    w->scores = dni_layout_matrix(layout, s->n_scores, s->n);
    w->w = dni_layout_matrix(layout, s->n_scores, s->d);
    w->table = dni_layout_matrix(layout, s->n_scores, s->n + 1);
    w->marked = dni_layout_array(layout, s->d, sizeof *w->marked);
}

double dni_logistic_wide_bytes(const dni_logistic_plan *plan, const dn_fit_shape *shape) {
    const size_t n = shape->n_rows, rank = plan->intercept == DNI_INTERCEPT_NONE ? n
                                           : n > 2                               ? n - 1
                                                                                 : 1;
    const dni_logistic_plan inner = dni_logistic_plan_of_coordinates(plan, n, rank);
    const struct wide_shape sizes = {n, shape->n_features, plan->n_scores};
    const dni_linear_shape problem = {.n_cols = rank,
                                      .n_classes = shape->n_classes,
                                      .n_slots = shape->n_slots,
                                      .uses = inner.uses};
    struct wide unused;
    dni_logistic_arrays arrays;
    const double fit = dni_moments_result_memory(rank, shape->n_classes) +
                       dni_linear_bytes(&problem, n) +
                       dni_layout_bytes(dni_logistic_layout, &inner, &arrays) +
                       dni_logistic_solver_bytes(&inner, n);
    return dni_row_space_bytes(n, shape->n_features, plan->n_scores) +
           dni_layout_bytes(wide_layout, &sizes, &unused) +
           fmax(fit, dni_moments_memory(n, rank, shape->n_classes, shape->n_slots));
}

/* ---- coordinates ---- */
static dn_status make_rows(struct wide *w, dn_error *err) {
    const size_t rank = w->space.rank > 0 ? w->space.rank : 1; /* 1: a column of zeros */
    if (w->space.rank > 0) {
        dni_row_space_coordinates(&w->space, w->coordinates);
    }
    const dn_status status = dn_rows_from_matrix(dn_matrix_dense(w->coordinates, w->space.n, rank),
                                                 w->space.target, w->space.weight, &w->rows, err);
    w->input = (dn_fit_input){.rows = w->rows,
                              .n_classes = w->outer->input->n_classes,
                              .params = w->outer->input->params};
    return status;
}

/* w->scores ← the scores of the rows, without intercepts, for `variables`: weights of the
 * coordinates in the solver's variables of the inner problem. w->table ← the same weights, and
 * intercepts, in its original variables. */
static void score_rows(struct wide *w, const double *variables) {
    const dni_linear_problem *q = &w->inner.problem;
    const size_t n = w->space.n, rank = w->space.rank, cols = q->width - 1;
    dni_linear_to_original(q, variables, w->table);
    for (size_t i = 0; i < q->n_scores * n; i++) {
        w->scores[i] = dni_dot(w->coordinates + i % n * cols, w->table + i / n * q->width, rank);
    }
}

/* Returns Σ (m_j − shift_j) w_j: the score at the means of the columns, less the intercept in the
 * solver's variables of the outer problem. */
static double offset(const struct wide *w, const double *weights) {
    const double *mean = w->outer->moments.mean, *shift = w->outer->problem.shift;
    double sum = 0;
    for (size_t j = 0; j < w->space.d; j++) {
        sum += weights[j] == 0 ? 0 : (mean[j] - shift[j]) * weights[j];
    }
    return sum;
}

/* x ← the weights w->w and the intercepts of w->table, in the solver's variables of the outer
 * problem. */
static void store_weights(const struct wide *w, double *x) {
    const dni_linear_problem *q = &w->outer->problem;
    const size_t d = q->width - 1, width = w->inner.problem.width;
    for (size_t k = 0; k < q->n_scores; k++) {
        for (size_t j = 0; j < d; j++) {
            x[k * q->width + j] = w->w[k * d + j] * q->scale[j];
        }
        x[k * q->width + d] = w->table[k * width + width - 1] - offset(w, w->w + k * d);
    }
}

/* Implements dni_logistic_fit.report_coordinates. */
static void report_coordinates(dni_logistic_fit *inner, dn_progress *progress) {
    struct wide *w = inner->coordinates;
    dni_logistic_fit *outer = w->outer;
    dn_status status = DN_OK;
    progress->n_features = w->space.d;
    if (dn_run_wants_snapshot(inner->run, progress->iteration)) {
        dni_linear_from_original(&inner->problem, inner->problem.original, inner->arrays.spare);
        score_rows(w, inner->arrays.spare);
        status = dni_row_space_weights(&w->space, w->scores, inner->problem.n_scores, w->w, NULL);
        store_weights(w, outer->arrays.spare);
        dni_linear_to_original(&outer->problem, outer->arrays.spare, outer->problem.original);
    }
    if (status == DN_OK) {
        dni_linear_report_progress(outer->input, inner->run, outer->problem.original,
                                   outer->arrays.raw, progress);
    }
}

/* ---- the fit ---- */
/* Begins a part whose progress the space reports. */
static void begin_part(struct wide *w, enum part part) {
    dni_share_init(&w->of_space, w->run, part, N_PARTS);
}

/* w->scores ← the centred scores of the rows at x, solver's variables of the outer problem.
 * w->table ← the weights of the coordinates with these scores, and the scores at the means of the
 * columns as intercepts. inner.arrays.x ← w->table in the solver's variables of the inner
 * problem. */
static dn_status set_start(struct wide *w, const double *x, dn_error *err) {
    const dni_linear_problem *outer = &w->outer->problem, *q = &w->inner.problem;
    const size_t d = outer->width - 1, rank = w->space.rank;
    for (size_t k = 0; k < outer->n_scores; k++) {
        for (size_t j = 0; j < d; j++) {
            w->w[k * d + j] = x[k * outer->width + j] / outer->scale[j];
        }
    }
    const dn_status status = dni_row_space_scores(&w->space, w->w, outer->n_scores, w->scores, err);
    if (status != DN_OK) {
        return status;
    }
    dni_row_space_project(&w->space, w->scores, outer->n_scores, w->inner.arrays.spare);
    memset(w->table, 0, q->n * sizeof *w->table);
    for (size_t k = 0; k < outer->n_scores; k++) {
        double *row = w->table + k * q->width;
        memcpy(row, w->inner.arrays.spare + k * rank, rank * sizeof *row);
        row[q->width - 1] = x[k * outer->width + d] + offset(w, w->w + k * d);
    }
    dni_linear_from_original(q, w->table, w->inner.arrays.x);
    return DN_OK;
}

/* Adds the warning of dependent columns if some columns are dependent. */
static dn_status warn_of_rank(struct wide *w, dn_error *err) {
    const dn_status status = dni_row_space_dependent(&w->space, w->marked, err);
    if (status == DN_OK) {
        dni_logistic_warn_of_rank(w->outer, w->marked);
    }
    return status;
}

/* Sets up the inner fit. */
static dn_status init_inner(struct wide *w, dn_error *err) {
    dni_logistic_fit *inner = &w->inner, *outer = w->outer;
    const dn_run *run = &w->of_solver.run;
    const size_t n = w->space.n, rank = w->rows->n_cols;
    *inner = (dni_logistic_fit){.input = &w->input,
                                .run = run,
                                .report = outer->report,
                                .plan = dni_logistic_plan_of_coordinates(&outer->plan, n, rank),
                                .report_coordinates = report_coordinates,
                                .coordinates = w};
    inner->plan.tolerance /= sqrt(fmax(1, w->space.values[n - 1] * (double)rank));
    dn_status status = dni_moments_compute(&w->input, run, &inner->moments, err);
    if (status == DN_OK && inner->plan.intercept == DNI_INTERCEPT_NONE) {
        dni_moments_about_zero(&inner->moments, w->rows->n_cols);
    }
    if (status == DN_OK) {
        status = dni_linear_init(&inner->problem, w->rows, w->input.n_classes, 0, &inner->moments,
                                 inner->plan.uses, run, err);
    }
    if (status != DN_OK) {
        return status;
    }
    inner->problem.loss = inner->plan.loss;
    inner->problem.intercept = inner->plan.intercept;
    inner->problem.plain = inner->plan.full;
    return dni_layout_take(run, dni_logistic_layout, &inner->plan, &inner->arrays, "the weights",
                           &inner->memory, err);
}

/* Copies inner.separation to the outer fit. If the classes are separable, marks the columns of a
 * separating direction. Overwrites outer.arrays.spare. */
static dn_status take_separation(struct wide *w, dn_error *err) {
    dni_logistic_fit *inner = &w->inner, *outer = w->outer;
    outer->separation = inner->separation;
    if (!dni_logistic_found_separable(inner)) {
        return DN_OK;
    }
    /* a point where every margin is positive is a separating direction */
    score_rows(w, inner->separation == DNI_SEPARATION_COMPLETE ? inner->arrays.x
                                                               : inner->arrays.direction);
    const dn_status status =
        dni_row_space_weights(&w->space, w->scores, inner->problem.n_scores, w->w, err);
    if (status == DN_OK) {
        store_weights(w, outer->arrays.spare);
        dni_logistic_mark_growing(outer, outer->arrays.spare);
    }
    return status;
}

/* x ← the weights of least norm for the scores w->scores and the intercepts of w->table, in the
 * solver's variables of the outer problem. Adds the warning of dependent columns. */
static dn_status take_weights(struct wide *w, double *x, dn_error *err) {
    const size_t S = w->inner.problem.n_scores;
    dn_status status = dni_row_space_weights(&w->space, w->scores, S, w->w, err);
    if (status == DN_OK) {
        w->space.shown = w->inner.last.iteration > 0 ? w->inner.last : w->space.shown;
        begin_part(w, DEPENDENT);
        status = warn_of_rank(w, err);
    }
    if (status == DN_OK) {
        begin_part(w, LEAST_NORM);
        status = dni_row_space_least_norm(&w->space, w->scores, S, w->w, err);
    }
    if (status == DN_OK) {
        store_weights(w, x);
    }
    return status;
}

static dn_status solve(struct wide *w, double *x, dni_outcome *outcome, dn_error *err) {
    dni_logistic_fit *outer = w->outer;
    double value;
    /* the measures at the start, in the variables of the report */
    dn_status status =
        dni_linear_evaluate(&outer->problem, outer->run, x, &value, outer->arrays.spare, err);
    if (status != DN_OK) {
        return status;
    }
    dni_logistic_take_measure(outer);
    outer->first_measure = outer->measure;
    outer->first_norm = outer->gradient_norm;
    status = set_start(w, x, err);
    if (status == DN_OK) {
        status = dni_logistic_solve(&w->inner, w->inner.arrays.x, outcome, err);
    }
    if (status == DN_OK) {
        w->outer->fraction = w->inner.fraction;
        status = take_separation(w, err);
    }
    if (status != DN_OK) {
        return status;
    }
    score_rows(w, w->inner.arrays.x);
    return take_weights(w, x, err);
}

/* Runs Newton steps from the point x of a descent to find out whether there is a minimum. A numeric
 * failure of the steps is ignored: the result of the descent remains valid. */
static dn_status step_on(struct wide *w, dn_error *err) {
    dni_outcome outcome;
    dn_error why;
    dn_error_clear(&why);
    const dn_status status = dni_logistic_solve(&w->inner, w->inner.arrays.x, &outcome, &why);
    if (status == DN_ERR_NUMERIC) {
        return DN_OK;
    }
    if (status != DN_OK) {
        if (err != NULL) {
            *err = why;
        }
        return status;
    }
    return dni_logistic_found_separable(&w->inner) ? take_separation(w, err) : DN_OK;
}

static dn_status check(struct wide *w, double *x, dn_error *err) {
    dn_status status = set_start(w, x, err);
    if (status == DN_OK && w->outer->plan.check_steps &&
        w->outer->separation == DNI_SEPARATION_UNKNOWN) {
        status = step_on(w, err);
        if (status == DN_OK) {
            status = set_start(w, x, err); /* the steps have overwritten scores and table */
        }
    }
    return status == DN_OK ? take_weights(w, x, err) : status;
}

/* Computes the coordinates of the rows of w->outer and sets up the inner fit. w->run, of_space and
 * of_solver must be set. The caller calls wide_done, also after a failure. */
static dn_status wide_init(struct wide *w, dn_error *err) {
    const dni_logistic_fit *outer = w->outer;
    const dn_rows *rows = outer->input->rows;
    const struct wide_shape shape = {rows->n_rows, rows->n_cols, outer->plan.n_scores};
    const bool centred = outer->plan.intercept != DNI_INTERCEPT_NONE;
    dn_status status = dni_row_space_init(&w->space, rows, &outer->moments, outer->plan.n_scores,
                                          centred, &w->of_space.run, err);
    if (status == DN_OK) {
        status = dni_layout_take(outer->run, wide_layout, &shape, w, "the coordinates of the rows",
                                 &w->memory, err);
    }
    if (status == DN_OK) {
        status = make_rows(w, err);
    }
    return status == DN_OK ? init_inner(w, err) : status;
}

static void wide_done(struct wide *w) {
    const dn_run *run = w->outer->run;
    dn_run_free(run, w->inner.memory);
    dni_linear_done(&w->inner.problem);
    dni_moments_done(&w->inner.moments, run);
    dn_rows_free(w->rows);
    dn_run_free(run, w->memory);
    dni_row_space_done(&w->space);
}

dn_status dni_logistic_solve_wide(dni_logistic_fit *fit, double *x, dni_outcome *outcome,
                                  dn_error *err) {
    struct wide w = {.outer = fit, .run = fit->run};
    begin_part(&w, DECOMPOSITION);
    dni_share_init(&w.of_solver, w.run, SOLVER, N_PARTS);
    dn_status status = wide_init(&w, err);
    if (status == DN_OK) {
        status = solve(&w, x, outcome, err);
    }
    wide_done(&w);
    return status;
}

dn_status dni_logistic_check_wide(dni_logistic_fit *fit, double *x, bool *changed, dn_error *err) {
    dn_run quiet = *fit->run; /* the descent has reported its progress */
    quiet.progress = NULL;
    struct wide w = {.outer = fit, .run = &quiet};
    begin_part(&w, DECOMPOSITION);
    dni_share_init(&w.of_solver, w.run, SOLVER, N_PARTS);
    dn_status status = wide_init(&w, err);
    if (status == DN_OK) {
        status = check(&w, x, err);
        *changed = true;
    }
    wide_done(&w);
    return status;
}
