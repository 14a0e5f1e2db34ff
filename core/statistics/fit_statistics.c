/* Statistics of the weights after a fit.
 *
 * H is the Hessian of the mean objective f in the variables of the columns z = (x − m)/s
 * (linear_problem.h), H = L Lᵀ. A linear function c'u of the variables has the variance
 *
 *   logistic       Var(c'u) = ‖L⁻¹c‖²/Σv         f = −ln L/Σv
 *   least squares  Var(c'u) = s_k²‖L⁻¹c‖²/Σv     H is the Gram matrix of the columns
 *
 * The rows of L⁻¹ are multiplied from the right by the matrix that turns the variables into raw
 * weights and intercepts. The standard errors are then norms of its columns, and the covariance is
 * a product of the matrix with itself.
 *
 *   raw weights     w_j = u_j/D_j, w0 = c − Σ_j w_j M_j, where M_j and D_j are the mean and the
 *                   deviation of z_j in raw units: the encoder's and the problem's standardisation
 *                   together
 *   symmetric form  the mean over the classes is subtracted from the columns. dni_linear_hessian
 *                   adds curvature along equal changes of all classes; the subtraction removes the
 *                   inverse of this curvature, so that the pseudo-inverse of H remains
 *   intercept       penalised: H has the terms of linear_hessian.c. None: m = 0, and the row of the
 *                   intercept in L⁻¹ is ignored; the raw intercept is then −Σ_j w_j M_j
 *   λ = 0           curvature 1 is added along an orthonormal basis N of the combinations of
 *                   columns that no score depends on. If c is not orthogonal to N, the weight or
 *                   intercept is not unique and gets NaN. The variances of the others do not depend
 *                   on the added curvature */
#include "statistics/fit_statistics.h"
#include "base/layout.h"
#include "catalogue/param_rows.h"
#include "learners/shared/learner.h"
#include "learners/shared/linear/linear_rank.h"
#include "learners/shared/linear/target_coding.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/step.h"
#include "linalg/triangle.h"
#include "linalg/vector.h"
#include "machine/machine_dispatch.h"
#include "statistics/inflation.h"

#include <math.h>
#include <string.h>

/* A Newton step longer than this, in standard errors: the weights are not at the minimum. */
#define MAX_STEP 0.05
/* A weight or intercept whose component along dependent columns is larger than this share is not
 * unique. */
#define DEPENDENT 1e-6
/* Residuals below this share of the sum of squares are rounding errors. */
#define EXACT 1e-24

struct shape {
    size_t n_scores, n_cols, n_slots;
    bool least_squares;
};

struct work {
    double *gram;     /* [width × width] Gram matrix of the columns z */
    double *factor;   /* [p × p] Hessian, then L⁻¹, then L⁻¹ times the matrix that turns the
                       * variables into raw weights and intercepts */
    double *x;        /* [S × width] variables of the fitted weights, S·width numbers */
    double *gradient; /* [S × width] gradient of f */
    double *step;     /* [S × width] L⁻¹ times the gradient */
    double *sums;     /* [2 + S] sums over rows */
    bool *unique;     /* [p] true: the weight or intercept is unique */
    dni_inflation_work inflation;
};

struct job {
    const dn_fit_input *input;
    const dn_machine *machine;
    const dn_run *run;
    bool least_squares;
    double lambda;
    dni_target_coding coding; /* coding of the targets; least squares only */
    dni_intercept intercept;
    double intercept_square; /* ‖L⁻¹c‖² of the encoded intercepts, summed over the scores */
    dni_moments moments;
    dni_linear_problem problem;
    struct work work;
    void *memory;
    size_t p;           /* order of the Hessian: S·width; least squares: width */
    double *null_basis; /* [n_null × d] orthonormal; owned */
    size_t n_null;
    dni_statistics *out;
};

/* ---- which fits ---- */
static bool is_least_squares(const dn_params *params) {
    return strcmp(params->algorithm->id, "least_squares") == 0;
}

static double lambda_of(const dn_params *params, double weight) {
    return dni_params_is(params, "penalty", "none") ? 0 : dni_lambda_of(params, weight);
}

/* Returns the number of multiplications for the Gram matrices, the inverse Hessian and the
 * inflation factors. */
static double cost_of(const dn_params *params, double n, double d, double K) {
    const double S = K == 2 ? 1 : K;
    return is_least_squares(params)
               ? n * d * d + 3 * d * d * d
               : n * d * d * (1 + S * (S + 1) / 2) + (S * S * S + 3) * d * d * d;
}

dn_statistics_reason dni_statistics_reason(const dn_params *params, size_t n_rows,
                                           size_t n_features, size_t n_classes) {
    const double S = is_least_squares(params) || n_classes == 2 ? 1 : (double)n_classes,
                 cost = cost_of(params, (double)n_rows, (double)n_features, (double)n_classes);
    const bool l1 =
        dni_params_is(params, "penalty", "l1") || dni_params_is(params, "penalty", "elastic_net");
    if (dni_params_is(params, "statistics", "off")) {
        return DN_STATISTICS_OFF;
    }
    if (n_classes > 2 && dn_params_decision(params) != DN_DECISION_NATIVE) {
        return DN_STATISTICS_SEVERAL;
    }
    if (dni_params_is(params, "loss", "squared_error")) {
        return DN_STATISTICS_LOSS;
    }
    if (l1 && !dni_lambda_is_zero(params)) {
        return DN_STATISTICS_L1;
    }
    if (n_features > DN_STATISTICS_MAX_FEATURES ||
        S * ((double)n_features + 1) > DN_STATISTICS_MAX_VARIABLES) {
        return DN_STATISTICS_TOO_MANY;
    }
    return dni_params_is(params, "statistics", "auto") && cost > DNI_STATISTICS_MAX_COST
               ? DN_STATISTICS_TOO_COSTLY
               : DN_STATISTICS_AVAILABLE;
}

/* ---- memory ---- */
static void work_layout(dni_layout *layout, const void *shape, void *work) {
    const struct shape *s = shape;
    struct work *w = work;
    const size_t width = s->n_cols + 1, p = s->least_squares ? width : s->n_scores * width;
    w->gram = dni_layout_matrix(layout, width, width);
    w->factor = dni_layout_matrix(layout, p, p);
    w->x = dni_layout_matrix(layout, s->n_scores, width);
    w->gradient = dni_layout_matrix(layout, s->n_scores, width);
    w->step = dni_layout_matrix(layout, s->n_scores, width);
    w->sums = dni_layout_doubles(layout, 2 + s->n_scores);
    w->unique = dni_layout_array(layout, p, sizeof *w->unique);
    dni_inflation_layout(layout, &s->n_cols, &w->inflation);
}

static unsigned uses_of(bool least_squares) {
    return DNI_LINEAR_STANDARDISE | DNI_LINEAR_GRAM | (least_squares ? 0u : DNI_LINEAR_HESSIAN);
}

double dni_statistics_memory(const dn_params *params, const dn_fit_shape *shape) {
    const size_t d = shape->n_features, K = shape->n_classes, S = K == 2 ? 1 : K;
    if (!dn_params_has(params, "statistics") ||
        dni_statistics_reason(params, shape->n_rows, d, K) != DN_STATISTICS_AVAILABLE) {
        return 0;
    }
    const bool least_squares = is_least_squares(params);
    const struct shape sizes = {S, d, shape->n_slots, least_squares};
    const dni_linear_shape problem = {.n_cols = d,
                                      .n_classes = K,
                                      .n_slots = shape->n_slots,
                                      .uses = uses_of(least_squares),
                                      .sparse = isfinite(shape->n_entries)};
    struct work work;
    const double phase = fmax(dni_symmetric_null_memory(d),
                              8 * (double)d * (double)d + /* the null basis */
                                  dni_lower_invert_memory(least_squares ? d + 1 : S * (d + 1)));
    const double fit = dni_moments_result_memory(d, K) + dni_linear_bytes(&problem, shape->n_rows) +
                       dni_layout_bytes(work_layout, &sizes, &work) + phase;
    return fmax(fit, dni_moments_memory(shape->n_rows, d, K, shape->n_slots));
}

/* ---- the Hessian ---- */
/* Returns true if columns are not centred: without an intercept; and with a penalised intercept if
 * a column has a constant value other than 0, because this column is then a variable like the
 * intercept. */
static bool uses_moments_about_zero(const struct job *j) {
    bool constant = false;
    for (size_t i = 0; i < j->input->rows->n_cols; i++) {
        constant = constant || (j->moments.deviation[i] == 0 && j->moments.mean[i] != 0);
    }
    return j->intercept == DNI_INTERCEPT_NONE ||
           (j->intercept == DNI_INTERCEPT_PENALISED && constant);
}

static dn_status set_up(struct job *j, dn_error *err) {
    const dn_fit_input *input = j->input;
    const struct shape shape = {.n_scores = input->n_classes == 2 ? 1 : input->n_classes,
                                .n_cols = input->rows->n_cols,
                                .n_slots = j->run->n_slots,
                                .least_squares = j->least_squares};
    dn_status status = dni_moments_compute(input, j->run, &j->moments, err);
    if (status != DN_OK) {
        return status;
    }
    j->lambda = lambda_of(input->params, j->moments.weight);
    j->intercept = dni_intercept_of(input->params, j->lambda > 0);
    if (uses_moments_about_zero(j)) {
        dni_moments_about_zero(&j->moments, input->rows->n_cols);
    }
    j->coding = dni_target_coding_of(input->params, input->n_classes);
    status = dni_linear_init(&j->problem, input->rows, input->n_classes,
                             j->least_squares ? j->lambda / 2 : j->lambda, &j->moments,
                             uses_of(j->least_squares), j->run, err);
    if (status != DN_OK) {
        return status;
    }
    j->problem.intercept = j->intercept;
    if (j->least_squares) {
        j->problem.loss = &dni_loss_squares;
        j->problem.origin = j->coding.zero;
    }
    j->p = j->least_squares ? j->problem.width : j->problem.n;
    return dni_layout_take(j->run, work_layout, &shape, &j->work, "the statistics of the weights",
                           &j->memory, err);
}

/* Finds the combinations of columns that no score depends on. Needed only if there is no penalty.
 * Columns whose inflation factors are all small are independent: 1/(least eigenvalue) is at most
 * the sum of the factors of all single columns. */
static dn_status find_null(struct job *j, bool independent, dn_error *err) {
    const size_t d = j->problem.width - 1;
    if (j->lambda > 0 || independent) {
        return DN_OK;
    }
    double *m = j->work.factor;
    for (size_t i = 0; i < d; i++) {
        memcpy(m + i * d, j->work.gram + i * (d + 1), (i + 1) * sizeof *m);
    }
    const dn_status status =
        dni_symmetric_null(j->run, m, d, DNI_RANK_SHARE, &j->n_null, &j->null_basis, err);
    if (status != DN_OK || j->n_null == 0 || j->null_basis != NULL) {
        j->problem.null_basis = j->null_basis;
        j->problem.n_null = j->n_null;
        return status;
    }
    j->out->view.reason = DN_STATISTICS_SINGULAR;
    return DN_OK;
}

/* Returns the coefficient of variable i in the encoded intercept b = c − Σ u m/s. */
static double of_intercept(const dni_linear_problem *problem, size_t i) {
    return i + 1 < problem->width ? -problem->shift[i] / problem->scale[i] : 1;
}

/* factor, lower triangle ← G + λ/s² + N N', and λ t t' for a penalised intercept t'u. */
static void make_gram_hessian(struct job *j) {
    const dni_linear_problem *problem = &j->problem;
    const size_t width = problem->width, d = width - 1;
    double *h = j->work.factor;
    memcpy(h, j->work.gram, width * width * sizeof *h);
    for (size_t i = 0; i < d; i++) {
        h[i * width + i] += j->lambda / (problem->scale[i] * problem->scale[i]);
        for (size_t r = 0; r < j->n_null; r++) {
            const double *v = j->null_basis + r * d;
            for (size_t k = 0; k <= i; k++) {
                h[i * width + k] += v[i] * v[k];
            }
        }
    }
    for (size_t i = 0; i < width && j->intercept == DNI_INTERCEPT_PENALISED; i++) {
        for (size_t k = 0; k <= i; k++) {
            h[i * width + k] += j->lambda * of_intercept(problem, i) * of_intercept(problem, k);
        }
    }
}

/* factor ← L⁻¹. Sets the reason if the Hessian is singular. */
static dn_status factorise(struct job *j, dn_error *err) {
    bool definite = false;
    dn_status status = DN_OK;
    if (j->least_squares) {
        make_gram_hessian(j);
    } else {
        status = dni_linear_hessian(&j->problem, j->run, j->work.x, j->work.factor, err);
    }
    if (status == DN_OK) {
        status = dni_cholesky(j->run, j->work.factor, j->p, &definite, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (!definite) {
        j->out->view.reason = DN_STATISTICS_SINGULAR;
        return DN_OK;
    }
    return dni_lower_invert(j->run, j->work.factor, j->p, err);
}

/* ---- sums over the rows ---- */
/* Adds to out Σ ln v, then Σ v e_k² of every score. */
static dn_status residual_block(const void *arg, const dn_block *block, size_t slot, double *out,
                                dn_error *err) {
    const dni_linear_problem *p = arg;
    const size_t S = p->n_scores;
    double *scores = p->slots[slot].scores;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        dni_tile_scores(tile->x, p->table, S, scores);
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const double v = tile->weight[t];
            const size_t truth = (size_t)tile->target[t];
            out[0] += v > 0 ? log(v) : 0;
            for (size_t k = 0; k < S; k++) {
                const double e = scores[t * S + k] - dni_squares_target(S, k, truth);
                out[1 + k] += v > 0 ? v * e * e : 0;
            }
        }
    }
    return tiles.status;
}

/* Sets n_rows, weight, lambda, no_intercept, log_weights and the deviances of the statistics, and
 * computes the gradient at the fitted weights. */
static dn_status measure(struct job *j, dn_error *err) {
    dni_linear_problem *p = &j->problem;
    const size_t S = p->n_scores, K = j->input->n_classes;
    const double V = p->total_weight, *of_class = j->moments.class_weight;
    dni_statistics *out = j->out;
    double value;
    dn_status status = dni_linear_evaluate(p, j->run, j->work.x, &value, j->work.gradient, err);
    if (status != DN_OK) {
        return status;
    }
    out->view.n_rows = p->rows->n_rows;
    out->view.weight = V;
    out->view.lambda = j->lambda;
    out->view.no_intercept = j->intercept == DNI_INTERCEPT_NONE;
    if (!j->least_squares) {
        double null = 0;
        for (size_t k = 0; k < K; k++) {
            null -= 2 * of_class[k] * log(out->view.no_intercept ? 1 / (double)K : of_class[k] / V);
        }
        out->responses[0] = (dn_response){.null_deviance = null, .deviance = 2 * p->sums.loss};
        return DN_OK;
    }
    status = dn_run_sum(j->run, p->rows, &(dn_sum){residual_block, p, sizeof *p, 1 + S},
                        j->work.sums, err);
    for (size_t k = 0; k < S && status == DN_OK; k++) {
        const double share = of_class[S == 1 ? 1 : k] / V, size = S == 1 ? 4 : 1,
                     square = j->coding.scale * j->coding.scale;
        out->view.log_weights = j->work.sums[0];
        double null = size * V * share * (1 - share);
        if (out->view.no_intercept) {
            null = 0;
            for (size_t class = 0; class < K; class ++) {
                const double t = dni_squares_target(S, k, class) - j->coding.zero;
                null += of_class[class] * t * t;
            }
        }
        out->responses[k] =
            (dn_response){.null_deviance = square * null, .deviance = square * j->work.sums[1 + k]};
    }
    return status;
}

/* Returns ‖L⁻¹g‖², where g is row k of the gradient; logistic: the whole gradient. */
static double squared_step(struct job *j, size_t k) {
    const double *g = j->work.gradient + (j->least_squares ? k * j->p : 0);
    double sum = 0;
    for (size_t r = 0; r < j->p; r++) {
        const double y = dni_dot(j->work.factor + r * j->p, g, r + 1);
        sum += y * y;
    }
    return sum;
}

/* Returns the length of the Newton step in standard errors, the largest of the responses. */
static double newton_step(struct job *j, double df) {
    const double V = j->problem.total_weight;
    double largest = 0;
    for (size_t k = 0; k < j->out->view.n_responses; k++) {
        const double variance = j->least_squares ? j->out->responses[k].deviance / df : 1,
                     step = j->coding.scale * sqrt(V * squared_step(j, k) / variance);
        largest = step > largest || isnan(step) ? step : largest;
    }
    return largest;
}

/* ---- raw weights and intercepts ---- */
/* Computes the mean and the deviation by which the variables scale a column of raw features: raw =
 * mean + deviation · z. */
static void raw_scale(const struct job *j, size_t col, double *mean, double *deviation) {
    const dn_fit_input *input = j->input;
    const double M = input->mean == NULL ? 0 : input->mean[col],
                 S = input->scale == NULL ? 1 : input->scale[col];
    *mean = M + S * j->problem.shift[col];
    *deviation = S * j->problem.scale[col];
}

/* Multiplies a row of L⁻¹ by the matrix that turns the variables into raw weights and
 * intercepts. */
static void row_to_raw(struct job *j, double *row) {
    const size_t width = j->problem.width, d = width - 1, n = j->p / width;
    double encoded = 0; /* the element for the encoded intercept of a score */
    for (size_t i = 0; n > 1 && i < width; i++) {
        double mean = 0;
        for (size_t k = 0; k < n; k++) {
            mean += row[k * width + i] / (double)n;
        }
        for (size_t k = 0; k < n; k++) {
            row[k * width + i] -= mean;
        }
    }
    for (size_t k = 0; k < n; k++) {
        double *of = row + k * width;
        of[d] = j->intercept == DNI_INTERCEPT_NONE ? 0 : of[d];
        for (size_t i = 0; i < width && j->intercept == DNI_INTERCEPT_PENALISED; i++) {
            encoded += of[i] * of_intercept(&j->problem, i);
        }
        j->intercept_square += encoded * encoded;
        encoded = 0;
        for (size_t i = 0; i < d; i++) {
            double mean, deviation;
            raw_scale(j, i, &mean, &deviation);
            of[i] = j->moments.deviation[i] > 0 ? of[i] / deviation : 0;
            of[d] -= of[i] * mean;
        }
    }
}

/* Sets `unique` of all weights and intercepts; it is the same for every score. */
static void find_unique(struct job *j) {
    const size_t width = j->problem.width, d = width - 1;
    bool *unique = j->work.unique;
    for (size_t i = 0; i < d; i++) {
        double along = 0;
        for (size_t r = 0; r < j->n_null; r++) {
            along = fmax(along, fabs(j->null_basis[r * d + i]));
        }
        unique[i] = j->moments.deviation[i] > 0 && along <= DEPENDENT;
    }
    unique[d] = true;
    for (size_t r = 0; r < j->n_null; r++) {
        double along = 0, length = 0;
        for (size_t i = 0; i < d; i++) {
            double mean, deviation;
            raw_scale(j, i, &mean, &deviation);
            if (j->moments.deviation[i] > 0) {
                along += j->null_basis[r * d + i] * mean / deviation;
                length = fmax(length, fabs(mean / deviation));
            }
        }
        unique[d] = unique[d] && fabs(along) <= DEPENDENT * fmax(1, length);
    }
    for (size_t i = width; i < j->p; i++) {
        unique[i] = unique[i - width];
    }
}

/* squares [p] ← the squared norms of the columns of the matrix that row_to_raw makes; the
 * covariance ← their products. */
static dn_status add_rows(struct job *j, double *squares, dn_error *err) {
    const size_t p = j->p, n = j->out->view.n_covariance;
    dni_pace pace = {.run = j->run};
    memset(squares, 0, p * sizeof *squares);
    for (size_t r = 0; r < p; r++) {
        double *row = j->work.factor + r * p;
        const dn_status status =
            dni_pace_poll(&pace, 4 * (double)p + (double)n * (double)n / 2, err);
        if (status != DN_OK) {
            return status;
        }
        row_to_raw(j, row);
        for (size_t i = 0; i < p; i++) {
            squares[i] += row[i] * row[i];
        }
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k <= i; k++) {
                j->out->covariance[i * n + k] += row[i] * row[k];
            }
        }
    }
    return DN_OK;
}

/* Returns the number of parameters: the rank minus tr P Cov, where P is the matrix of the
 * penalty. */
static double parameters_of(const struct job *j, const double *squares) {
    const size_t width = j->problem.width, d = width - 1, n = j->p / width;
    const double penalty = j->least_squares ? j->lambda : 2 * j->lambda;
    double constant = 0, taken = 0;
    for (size_t i = 0; i < d; i++) {
        const double scale = j->input->scale == NULL ? 1 : j->input->scale[i];
        constant += j->lambda > 0 && !(j->moments.deviation[i] > 0);
        for (size_t k = 0; k < n; k++) {
            taken += penalty * scale * scale * squares[k * width + i];
        }
    }
    taken += penalty * j->intercept_square; /* 0 unless the intercept is penalised */
    const double rank =
        (double)width - (double)j->n_null - constant - (j->intercept == DNI_INTERCEPT_NONE);
    return rank * (n > 1 ? (double)n - 1 : 1) - taken;
}

/* Computes the standard errors from `squares`, divides the covariance by Σv, and sets the figures
 * of weights that are not unique to NaN. */
static void finish(struct job *j, const double *squares) {
    dni_statistics *out = j->out;
    const size_t p = j->p, n = out->view.n_covariance;
    const double V = j->problem.total_weight;
    const bool *unique = j->work.unique;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k <= i; k++) {
            double *entry = &out->covariance[i * n + k];
            *entry = unique[i] && unique[k] ? *entry / V : (double)NAN;
            out->covariance[k * n + i] = *entry;
        }
    }
    const double df = (double)out->view.n_rows - out->view.parameters;
    for (size_t k = 0; k < out->view.n_responses; k++) {
        const double variance = j->least_squares ? out->responses[k].deviance / df : 1;
        for (size_t i = 0; i < p; i++) {
            out->error[k * p + i] = unique[i] ? sqrt(variance * squares[i] / V) : (double)NAN;
        }
    }
}

static dn_statistics_reason check_residuals(const struct job *j) {
    const dni_statistics *out = j->out;
    if (!j->least_squares) {
        return DN_STATISTICS_AVAILABLE;
    }
    if (!((double)out->view.n_rows - out->view.parameters > 0.5)) {
        return DN_STATISTICS_NO_RESIDUAL;
    }
    for (size_t k = 0; k < out->view.n_responses; k++) {
        if (!(out->responses[k].deviance > EXACT * out->responses[k].null_deviance)) {
            return DN_STATISTICS_EXACT;
        }
    }
    return DN_STATISTICS_AVAILABLE;
}

/* ---- all steps ---- */
static dn_status compute(struct job *j, dn_error *err) {
    dn_statistics *view = &j->out->view;
    const double *w, *w0;
    bool independent;
    (void)dni_machine_linear(j->machine, &w, &w0);
    dn_status status = set_up(j, err);
    if (status != DN_OK) {
        return status;
    }
    const size_t d = j->problem.width - 1, S = j->problem.n_scores;
    double *table = j->work.step;
    for (size_t k = 0; k < S; k++) {
        double *g = table + k * (d + 1); /* the score is cg + b (target_coding.h) */
        for (size_t i = 0; i < d; i++) {
            g[i] = w[k * d + i] / j->coding.scale;
        }
        g[d] = (w0[k] - j->coding.shift) / j->coding.scale;
    }
    dni_linear_from_original(&j->problem, table, j->work.x);
    status = dni_linear_gram(&j->problem, 1, j->work.gram, err);
    if (status == DN_OK) {
        status = dni_inflation_compute(j->work.gram, j->moments.deviation, j->out,
                                       &j->work.inflation, j->run, &independent, err);
    }
    if (status == DN_OK) {
        status = measure(j, err);
    }
    if (status == DN_OK) {
        status = find_null(j, independent, err);
    }
    if (status == DN_OK && view->reason == DN_STATISTICS_AVAILABLE) {
        status = factorise(j, err);
    }
    if (status != DN_OK || view->reason != DN_STATISTICS_AVAILABLE) {
        return status;
    }
    const size_t n_intercepts = j->intercept == DNI_INTERCEPT_NONE ? 0 : 1;
    const double rows = (double)view->n_rows - (double)(d + n_intercepts - j->n_null),
                 step = newton_step(j, j->lambda > 0 ? fmax(rows, 1) : rows);
    double *squares = j->work.step;
    find_unique(j);
    status = add_rows(j, squares, err);
    if (status != DN_OK) {
        return status;
    }
    view->parameters = parameters_of(j, squares);
    view->reason = check_residuals(j);
    if (view->reason == DN_STATISTICS_AVAILABLE && !(step <= MAX_STEP)) {
        view->reason = DN_STATISTICS_NOT_CONVERGED;
    }
    if (view->reason == DN_STATISTICS_AVAILABLE) {
        finish(j, squares);
    }
    return DN_OK;
}

static dn_status compute_and_release(struct job *j, dn_error *err) {
    const dn_status status = compute(j, err);
    dn_run_free(j->run, j->null_basis);
    dn_run_free(j->run, j->memory);
    dni_linear_done(&j->problem);
    dni_moments_done(&j->moments, j->run);
    return status;
}

dn_status dni_statistics_compute(const dn_fit_input *input, const dn_machine *machine,
                                 bool separable, const dn_run *run, dni_statistics **out,
                                 dn_error *err) {
    const size_t K = input->n_classes;
    if (!dn_params_has(input->params, "statistics")) {
        return DN_OK;
    }
    dn_statistics_reason reason =
        dni_statistics_reason(input->params, input->rows->n_rows, input->rows->n_cols, K);
    reason = reason == DN_STATISTICS_AVAILABLE && separable ? DN_STATISTICS_SEPARABLE : reason;
    if (reason != DN_STATISTICS_AVAILABLE) {
        return dni_statistics_none(reason, out, err);
    }
    struct job j = {.input = input,
                    .machine = machine,
                    .run = run,
                    .least_squares = is_least_squares(input->params)};
    dn_status status =
        dni_statistics_new(j.least_squares, K == 2 ? 1 : K, input->encoder, &j.out, err);
    if (status != DN_OK) {
        return status;
    }
    status = compute_and_release(&j, err);
    reason = j.out->view.reason;
    if (status == DN_OK && reason == DN_STATISTICS_AVAILABLE && !dni_statistics_in_range(j.out)) {
        reason = DN_STATISTICS_OVERFLOW;
    }
    if (status != DN_OK || reason != DN_STATISTICS_AVAILABLE) {
        dni_statistics_free(j.out);
        return status == DN_OK ? dni_statistics_none(reason, out, err) : status;
    }
    *out = j.out;
    return DN_OK;
}
