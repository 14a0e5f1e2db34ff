/* The closed form. Columns are centred by their means m and divided by s_j = √(σ_j² + κm_j² + λ).
 * With z = (x − m)/s, u = s w and centred T the intercept is 0:
 *
 *   A u = b,   A = Σ v z zᵀ / n + λ s⁻²,   b = Σ v z T / n
 *
 * The diagonal of A is 1; with λ = 0, A is the matrix of correlations.
 *
 * If the intercept is not free, the row of least_squares_fit.h is added to the rows z: A gets
 * κ m mᵀ/s² and b gets κ m (T̄ − o)/s, and the intercept of z is o + (1 − κ)(T̄ − o) + κ mᵀw.
 *
 * A is computed from the scatter: Σ v (x − m)(x − m)ᵀ = S_W + Σ n_k (m_k − m)(m_k − m)ᵀ. b is
 * computed from the class means alone.
 *
 *   well conditioned   Cholesky, and one step of refinement with residuals computed from the rows
 *   otherwise          the triangular factor R of the rows √(v/n) z and √λ/s_j, by QR: RᵀR = A, but
 *                      R is computed without forming A. R is decomposed with column pivoting up to
 *                      the rank, which the rank rule decides without a penalty. Then the null space
 *                      is removed from w = u/s, which gives the minimiser of least norm, the limit
 *                      λ → 0.
 *
 * Golub and Van Loan, Matrix Computations, 4th ed., sections 5.3 and 5.5; Bishop, PRML, sections
 * 3.1.4 and 4.1.3; Björck, Numerical Methods for Least Squares Problems, sections 2.7.4 (rank) and
 * 6.6.5 (corrected seminormal equations). */
#include "catalogue/report.h"
#include "learners/least_squares/least_squares_fit.h"
#include "learners/shared/linear/linear_rank.h"
#include "learners/shared/linear/row_space.h"
#include "learners/shared/scatter.h"
#include "linalg/cholesky.h"
#include "linalg/qr.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* If a squared pivot of Cholesky is below SMALL_PIVOT, A may be too ill-conditioned for one step of
 * refinement. */
#define SMALL_PIVOT 1e-6
/* With a penalty, or with at least DNI_RANK_MAX_WIDTH columns, a column whose pivot in R is below
 * RANK depends on other columns. The first pivot is about 1. Otherwise the rank rule decides
 * (linear_rank.h). */
#define RANK 1e-10
/* A is far from singular by the rank rule if its least eigenvalue is above this times d. d bounds
 * the largest eigenvalue, because the diagonal of A is 1. */
#define FAR_FROM_SINGULAR (1e3 * DNI_RANK_SHARE)

struct closed {
    dni_least_squares *fit;
    dni_scatter scatter; /* scatter.scatter becomes A, then the Cholesky factor of A */
    double *scale;       /* [d] s */
    double *target;      /* [S] weighted means of T */
    double *u;           /* [S × width] rows: the weights of z, then the intercept */
    double *step;        /* [S × d] right-hand sides */
    bool *constant;      /* [d] constant columns: their weight is 0 */
    bool *marked;        /* [d] columns named in the warning */
    size_t n_null;       /* dimension of the null space, with the constant columns */
    size_t rank;         /* number of independent columns by the rank rule */
};

/* ---- memory ---- */
struct closed_shape {
    size_t n_scores, n_cols;
};

static void closed_layout(dni_layout *layout, const void *shape, void *work) {
    const struct closed_shape *s = shape;
    struct closed *c = work;
    c->scale = dni_layout_doubles(layout, s->n_cols);
    c->target = dni_layout_doubles(layout, s->n_scores);
    c->u = dni_layout_matrix(layout, s->n_scores, s->n_cols + 1);
    c->step = dni_layout_matrix(layout, s->n_scores, s->n_cols);
    c->constant = dni_layout_array(layout, s->n_cols, sizeof *c->constant);
    c->marked = dni_layout_array(layout, s->n_cols, sizeof *c->marked);
}

/* Working memory of the triangular factor R. */
struct triangle {
    double *r;       /* [p × p], p = d + S */
    double *z;       /* [DNI_TILE_ROWS × width] rows z of a tile, with a 1 for the intercept */
    double *columns; /* [p × DNI_TILE_ROWS] the columns of a tile, then its targets */
    double *work;    /* working memory of dni_qr_append */
};

static void triangle_layout(dni_layout *layout, const void *shape, void *work) {
    const struct closed_shape *s = shape;
    const size_t p = s->n_cols + s->n_scores;
    struct triangle *t = work;
    t->r = dni_layout_matrix(layout, p, p);
    t->z = dni_layout_matrix(layout, DNI_TILE_ROWS, s->n_cols + 1);
    t->columns = dni_layout_matrix(layout, p, DNI_TILE_ROWS);
    t->work = dni_layout_doubles(layout, dni_qr_work(p));
}

/* True if the rank rule decides the rank. */
static bool searches_rank(double lambda, size_t d) {
    return lambda == 0 && d < DNI_RANK_MAX_WIDTH;
}

/* An upper bound: R and the null space, at most [d × d], are needed for ill-conditioned data
 * only. */
double dni_least_squares_solve_bytes(double lambda, const dn_fit_shape *shape) {
    if (lambda == 0 && dni_row_space_applies(shape->n_rows, shape->n_features)) {
        return dni_least_squares_solve_wide_bytes(shape);
    }
    const size_t K = shape->n_classes, d = shape->n_features;
    const struct closed_shape sizes = {K == 2 ? 1 : K, d};
    const dni_linear_shape problem = {.n_cols = d,
                                      .n_classes = K,
                                      .n_slots = shape->n_slots,
                                      .uses = DNI_LINEAR_EXPAND};
    struct closed scratch;
    struct triangle triangle;
    const double fit =
        dni_scatter_result_memory(DNI_SCATTER_POOLED, d, K) +
        dni_layout_bytes(closed_layout, &sizes, &scratch) +
        dni_linear_bytes(&problem, shape->n_rows) +
        fmax(dni_layout_bytes(triangle_layout, &sizes, &triangle) + 8 * (double)d * ((double)d + 2),
             searches_rank(lambda, d) ? dni_moments_memory(shape->n_rows, d, K, shape->n_slots) +
                                            dni_least_squares_null_space_bytes(shape)
                                      : 0);
    return fmax(fit, dni_scatter_memory(DNI_SCATTER_POOLED, shape->n_rows, d, K, shape->n_slots));
}

/* ---- the normal equations ---- */
/* Adds to the scatter within the classes (lower triangle) the scatter between the classes and that
 * of the row of the intercept. Fills scale, constant and target, and step with the right-hand
 * sides. */
static void prepare(struct closed *c) {
    dni_scatter *s = &c->scatter;
    size_t d = s->n_cols, K = s->n_classes, S = c->fit->problem.n_scores;
    const double share = c->fit->share;
    for (size_t k = 0; k < K; k++) {
        const double *m = s->class_mean + k * d;
        for (size_t i = 0; i < d; i++) {
            for (size_t j = 0; j <= i; j++) {
                s->scatter[i * d + j] +=
                    s->class_weight[k] * (m[i] - s->mean[i]) * (m[j] - s->mean[j]);
            }
        }
    }
    for (size_t i = 0; share > 0 && i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            s->scatter[i * d + j] += share * s->weight * s->mean[i] * s->mean[j];
        }
    }
    for (size_t j = 0; j < d; j++) {
        double variance = s->scatter[j * d + j] / s->weight, all = variance + c->fit->lambda;
        c->constant[j] = !(sqrt(variance) > 1e-13 * fabs(s->mean[j]));
        c->scale[j] = !c->constant[j] && all > 0 ? sqrt(all) : 1;
    }
    for (size_t i = 0; i < S; i++) {
        c->target[i] = 0;
        for (size_t k = 0; k < K; k++) {
            c->target[i] += dni_squares_target(S, i, k) * (s->class_weight[k] / s->weight);
        }
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t k = 0; k < K; k++) {
                sum += dni_squares_target(S, i, k) * s->class_weight[k] *
                       (s->class_mean[k * d + j] - s->mean[j]);
            }
            sum = sum / s->weight;
            if (share > 0) {
                sum += share * s->mean[j] * (c->target[i] - c->fit->coding.zero);
            }
            c->step[i * d + j] = c->constant[j] ? 0 : sum / c->scale[j];
        }
    }
}

/* scatter ← A */
static void normalise(struct closed *c) {
    size_t d = c->scatter.n_cols;
    double *a = c->scatter.scatter, n = c->scatter.weight;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            a[i * d + j] =
                c->constant[i] || c->constant[j] ? 0 : a[i * d + j] / n / c->scale[i] / c->scale[j];
        }
        a[i * d + i] = 1;
    }
}

/* u += A⁻¹ step; needs the Cholesky factor of A in scatter. Overwrites step. */
static void take_step(struct closed *c) {
    size_t d = c->scatter.n_cols, S = c->fit->problem.n_scores;
    dni_cholesky_solve(c->scatter.scatter, d, c->step, S);
    for (size_t i = 0; i < S; i++) {
        dni_axpy(1, c->step + i * d, c->u + i * (d + 1), d);
    }
}

/* Sets the intercepts of z in u to the best for the weights in u. A free intercept does not depend
 * on the weights, because z is centred. */
static void set_intercepts(struct closed *c) {
    const size_t d = c->scatter.n_cols;
    for (size_t i = 0; i < c->fit->problem.n_scores; i++) {
        double *u = c->u + i * (d + 1);
        u[d] = dni_least_squares_base(c->fit, c->target[i]);
        for (size_t j = 0; j < d && c->fit->share > 0; j++) {
            u[d] += c->fit->share * c->scatter.mean[j] * u[j] / c->scale[j];
        }
    }
}

/* step ← −½ of the gradient of the objective, one row for each score. Also updates the
 * intercepts. */
static dn_status residual_step(struct closed *c, dn_error *err) {
    dni_linear_problem *q = &c->fit->problem;
    size_t d = c->scatter.n_cols;
    const bool free = c->fit->share == 0;
    if (!free) {
        set_intercepts(c);
    }
    dn_status status = dni_linear_pass(q, c->u, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < q->n_scores; i++) {
        double *u = c->u + i * q->width;
        const double *g = q->gradient + i * q->width;
        for (size_t j = 0; j < d; j++) {
            const double slope = free ? g[j] : g[j] + c->scatter.mean[j] / c->scale[j] * g[d];
            c->step[i * d + j] = c->constant[j]
                                     ? 0
                                     : -(slope / q->total_weight +
                                         c->fit->lambda / c->scale[j] * (u[j] / c->scale[j]));
        }
        u[d] -= free ? g[d] / q->total_weight : 0;
    }
    return DN_OK;
}

/* Returns an estimate of the least eigenvalue of A, by steps of inverse iteration with the Cholesky
 * factor of A in scatter. Overwrites u, which is 0 again on return except for the intercepts. */
static double least_eigenvalue(struct closed *c) {
    enum { STEPS = 4 };
    const size_t d = c->scatter.n_cols;
    double *x = c->u, intercept = x[d], norm = 1;
    for (size_t j = 0; j < d; j++) {
        x[j] = (j % 2 == 0 ? 1 : -1) * (1 + (double)(j % 7)) / sqrt((double)d);
    }
    for (int step = 0; step <= STEPS; step++) {
        norm = dni_norm(x, d);
        for (size_t j = 0; j < d; j++) {
            x[j] /= norm;
        }
        if (step < STEPS) {
            dni_cholesky_solve(c->scatter.scatter, d, x, 1);
        }
    }
    memset(x, 0, d * sizeof *x);
    x[d] = intercept;
    return 1 / norm;
}

static dn_status solve_normal(struct closed *c, bool *solved, dn_error *err) {
    size_t d = c->scatter.n_cols;
    bool definite = false;
    normalise(c);
    dn_status status = dni_cholesky(c->fit->run, c->scatter.scatter, d, &definite, err);
    for (size_t j = 0; definite && j < d; j++) {
        definite = c->scatter.scatter[j * d + j] * c->scatter.scatter[j * d + j] > SMALL_PIVOT;
    }
    if (status == DN_OK && definite && d > 0 && searches_rank(c->fit->lambda, d)) {
        definite = least_eigenvalue(c) > FAR_FROM_SINGULAR * (double)d;
    }
    *solved = definite;
    if (status != DN_OK || !definite) {
        return status;
    }
    take_step(c);
    status = residual_step(c, err);
    if (status == DN_OK) {
        take_step(c);
    }
    return status;
}

/* ---- the triangular factor R ---- */
/* Appends the rows of a tile, multiplied by √(v/n), to R. */
static dn_status append_tile(const struct closed *c, struct triangle *t, const dni_tile *tile,
                             dn_error *err) {
    const size_t d = c->scatter.n_cols, S = c->fit->problem.n_scores, width = d + 1,
                 n = tile->x.n_rows;
    dni_tile_expand(tile->x, c->scatter.mean, c->scale, t->z);
    for (size_t i = 0; i < n; i++) {
        const double v = tile->weight[i], root = sqrt(v / c->scatter.weight);
        for (size_t j = 0; j < d; j++) {
            t->columns[j * n + i] = v == 0 || c->constant[j] ? 0 : root * t->z[i * width + j];
        }
        for (size_t k = 0; k < S; k++) {
            t->columns[(d + k) * n + i] =
                root * (dni_squares_target(S, k, (size_t)tile->target[i]) - c->target[k]);
        }
    }
    return dni_qr_append(c->fit->run, t->r, d + S, t->columns, n, t->work, err);
}

/* Appends all rows to R in their order, on the calling thread. */
static dn_status append_rows(const struct closed *c, struct triangle *t, dn_error *err) {
    const dn_rows *rows = c->fit->input->rows;
    for (size_t b = 0; b < rows->n_blocks; b++) {
        for (size_t k = 0; k < dn_rows_n_pieces(rows, b); k++) {
            dn_block block;
            dn_status status = dn_rows_piece(rows, b, k, 0, &block, err);
            if (status != DN_OK) {
                return status;
            }
            dni_tiles tiles = dni_tiles_of(c->fit->run, &block);
            while (dni_tiles_next(&tiles, err)) {
                status = append_tile(c, t, &tiles.tile, err);
                if (status != DN_OK) {
                    return status;
                }
            }
            if (tiles.status != DN_OK) {
                return tiles.status;
            }
        }
    }
    return DN_OK;
}

/* Appends the row of an intercept that is not free to R. */
static dn_status append_intercept(struct closed *c, struct triangle *t, dn_error *err) {
    const size_t d = c->scatter.n_cols, S = c->fit->problem.n_scores;
    const double root = sqrt(c->fit->share);
    for (size_t j = 0; j < d; j++) {
        t->columns[j] = c->constant[j] ? 0 : root * c->scatter.mean[j] / c->scale[j];
    }
    for (size_t k = 0; k < S; k++) {
        t->columns[d + k] = root * (c->target[k] - c->fit->coding.zero);
    }
    return root == 0 ? DN_OK : dni_qr_append(c->fit->run, t->r, d + S, t->columns, 1, t->work, err);
}

/* Appends the penalty to R: d rows, row j with √λ/s_j in column j and 0 elsewhere. */
static dn_status append_penalty(struct closed *c, struct triangle *t, dn_error *err) {
    size_t d = c->scatter.n_cols, p = d + c->fit->problem.n_scores;
    for (size_t first = 0, n; c->fit->lambda > 0 && first < d; first += n) {
        n = d - first < DNI_TILE_ROWS ? d - first : DNI_TILE_ROWS;
        memset(t->columns, 0, p * n * sizeof *t->columns);
        for (size_t i = 0; i < n; i++) {
            t->columns[(first + i) * n + i] = sqrt(c->fit->lambda) / c->scale[first + i];
        }
        dn_status status = dni_qr_append(c->fit->run, t->r, p, t->columns, n, t->work, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

/* Makes the rows of w = u/s orthogonal to the rows of null/s, for u [S × d]. Overwrites `null`. */
static dn_status least_norm(struct closed *c, double *u, double *null, size_t n_null,
                            dn_error *err) {
    size_t d = c->scatter.n_cols, S = c->fit->problem.n_scores;
    const dn_status status = dni_linear_raw_null(c->fit->run, null, n_null, d, c->scale, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t i = 0; i < S; i++) {
        double *w = u + i * d;
        for (size_t j = 0; j < d; j++) {
            w[j] /= c->scale[j];
        }
        for (size_t r = 0; r < n_null; r++) {
            dni_axpy(-dni_dot(w, null + r * d, d), null + r * d, w, d);
        }
        for (size_t j = 0; j < d; j++) {
            w[j] *= c->scale[j];
        }
    }
    return DN_OK;
}

static dn_status solve_triangle(struct closed *c, struct triangle *t, dn_error *err) {
    size_t d = c->scatter.n_cols, S = c->fit->problem.n_scores, n_null = 0;
    double *null = NULL, largest_mean_ratio = 0;
    const bool ruled = searches_rank(c->fit->lambda, d);
    for (size_t j = 0; j < d; j++) {
        largest_mean_ratio =
            fmax(largest_mean_ratio, c->constant[j] ? 0 : fabs(c->scatter.mean[j]) / c->scale[j]);
    }
    /* larger if large means cause rounding errors */
    const double tolerance = ruled ? 0 : RANK * fmax(1, 1e-5 * largest_mean_ratio);
    dn_status status = append_rows(c, t, err);
    if (status != DN_OK) {
        return status;
    }
    status = append_intercept(c, t, err);
    if (status == DN_OK) {
        status = append_penalty(c, t, err);
    }
    if (status != DN_OK) {
        return status;
    }
    status = dni_qr_solve(c->fit->run, t->r, d, S, tolerance, ruled ? c->rank : d, c->step, &n_null,
                          &null, err);
    if (status != DN_OK) {
        return status;
    }
    c->n_null = n_null;
    if (n_null > 0) {
        for (size_t i = 0; !ruled && i < n_null * d; i++) {
            c->marked[i % d] = c->marked[i % d] || fabs(null[i]) > 1e-6;
        }
        status = least_norm(c, c->step, null, n_null, err);
        dn_run_free(c->fit->run, null);
    }
    for (size_t i = 0; status == DN_OK && i < S; i++) {
        memcpy(c->u + i * (d + 1), c->step + i * d, d * sizeof *c->u);
    }
    return status;
}

static dn_status solve_rows(struct closed *c, dn_error *err) {
    const struct closed_shape shape = {c->fit->problem.n_scores, c->scatter.n_cols};
    struct triangle t;
    void *memory = NULL;
    dn_status status = dni_layout_take(c->fit->run, triangle_layout, &shape, &t,
                                       "the triangle of the rows", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = solve_triangle(c, &t, err);
    dn_run_free(c->fit->run, memory);
    return status;
}

/* Sets c->rank and fills c->marked by the rank rule. */
static dn_status find_rank(struct closed *c, dn_error *err) {
    dni_least_squares *fit = c->fit;
    const size_t d = c->scatter.n_cols;
    dni_moments moments;
    size_t n_null = 0;
    double *null = NULL;
    dn_status status = dni_moments_compute(fit->input, fit->run, &moments, err);
    if (status != DN_OK) {
        return status;
    }
    if (fit->intercept == DNI_INTERCEPT_NONE) {
        dni_moments_about_zero(&moments, d);
    }
    status = dni_least_squares_null_space(fit, &moments, &n_null, &null, err);
    if (status == DN_OK) {
        dni_linear_mark_dependent(null, n_null, &moments, d, c->marked);
        c->rank = d - n_null;
    }
    dn_run_free(fit->run, null);
    dni_moments_done(&moments, fit->run);
    return status;
}

/* ---- report ---- */
static void warn(const struct closed *c) {
    for (size_t j = 0; j < c->scatter.n_cols; j++) {
        c->marked[j] = c->marked[j] && !c->constant[j];
    }
    dni_least_squares_warn_of_rank(c->fit, c->marked);
}

/* Stores the weights and intercepts for x in fit->original, and fills the report. With g the
 * gradient for u and the intercept of z, the gradient for w_j is s_j g_j + m_j g_intercept; it
 * replaces g. */
static void store_solution(struct closed *c) {
    dni_least_squares *fit = c->fit;
    dni_linear_problem *q = &fit->problem;
    size_t d = c->scatter.n_cols;
    for (size_t i = 0; i < q->n_scores; i++) {
        const double *u = c->u + i * q->width;
        double *w = fit->original + i * q->width, *g = q->gradient + i * q->width, intercept = u[d];
        for (size_t j = 0; j < d; j++) {
            w[j] = u[j] / c->scale[j];
            intercept -= w[j] * c->scatter.mean[j];
            g[j] = c->scale[j] * g[j] + c->scatter.mean[j] * g[d];
        }
        w[d] = fit->intercept == DNI_INTERCEPT_NONE ? fit->coding.zero : intercept;
    }
    fit->report->gradient_norm = dni_least_squares_gradient_norm(fit, q->gradient);
    dni_least_squares_describe(fit, "closed_form");
}

static dn_status solve(struct closed *c, dn_error *err) {
    dni_least_squares *fit = c->fit;
    dni_linear_problem *q = &fit->problem;
    bool solved;
    prepare(c);
    memcpy(q->shift, c->scatter.mean, (q->width - 1) * sizeof *q->shift);
    memcpy(q->scale, c->scale, (q->width - 1) * sizeof *q->scale);
    set_intercepts(c);
    dn_status status = solve_normal(c, &solved, err);
    if (status == DN_OK && !solved && searches_rank(fit->lambda, q->width - 1)) {
        status = find_rank(c, err);
    }
    if (status == DN_OK && !solved) {
        status = solve_rows(c, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (fit->share > 0) {
        set_intercepts(c);
    }
    if (!dni_all_finite(c->u, q->n)) {
        return dn_error_set(
            err, DN_ERR_NUMERIC,
            "the weights are not finite: the inputs are too large (standardise the columns)");
    }
    status = dni_linear_pass(q, c->u, err);
    if (status != DN_OK) {
        return status;
    }
    fit->report->converged = true;
    fit->report->stop_reason = DN_STOP_CLOSED_FORM;
    warn(c);
    store_solution(c);
    dn_report_text(fit->report, "factorisation", solved ? "cholesky" : "pivoted_qr");
    size_t rank = q->width - 1 - c->n_null;
    for (size_t j = 0; solved && j + 1 < q->width; j++) {
        rank -= c->constant[j];
    }
    dn_report_number(fit->report, "rank", (double)rank);
    return DN_OK;
}

dn_status dni_least_squares_solve(dni_least_squares *fit, dn_error *err) {
    if (fit->lambda == 0 &&
        dni_row_space_applies(fit->input->rows->n_rows, fit->input->rows->n_cols)) {
        return dni_least_squares_solve_wide(fit, err);
    }
    const size_t d = fit->input->rows->n_cols, K = fit->input->n_classes;
    const struct closed_shape shape = {K == 2 ? 1 : K, d};
    struct closed c = {.fit = fit};
    void *memory = NULL;
    dn_status status =
        dni_scatter_compute(fit->input, DNI_SCATTER_POOLED, fit->run, &c.scatter, err);
    if (status != DN_OK) {
        return status;
    }
    status =
        dni_layout_take(fit->run, closed_layout, &shape, &c, "the normal equations", &memory, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    const dni_moments moments = {.weight = c.scatter.weight,
                                 .mean = c.scatter.mean,
                                 .deviation = c.scale};
    status = dni_least_squares_init(fit, &moments, DNI_LINEAR_EXPAND, err);
    if (status == DN_OK) {
        status = solve(&c, err);
    }
cleanup:
    dn_run_free(fit->run, memory);
    dni_scatter_done(&c.scatter, fit->run);
    return status;
}
