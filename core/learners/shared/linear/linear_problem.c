/* Set-up of a linear problem, and its value and gradient.
 *
 *   ∂f/∂w_k = Σ v (∂ℓ/∂g_k) x / Σv + 2λw_k,   ∂f/∂b_k = Σ v (∂ℓ/∂g_k) / Σv
 *
 * A penalised intercept adds 2λ(b_k − o) to ∂f/∂b_k; without an intercept ∂f/∂b_k is 0.
 *
 * One pass reads each tile of rows from memory once: it computes the scores, the residuals and the
 * gradient of a tile while the tile is in the cache. */
#include "learners/shared/linear/linear_problem.h"
#include "base/random.h"
#include "linalg/vector.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { SUMS = 3 }; /* number of sums that precede the gradient in block_sums */

/* ---- memory ---- */
static size_t scores_of(size_t n_classes) {
    return n_classes == 2 ? 1 : n_classes;
}

static double batch_doubles(const dni_linear_shape *s, size_t n_scores, size_t width) {
    return s->sparse ? (double)DN_BLOCK_ROWS * (double)n_scores
                     : (double)dni_linear_gathered_rows(width) * (double)width;
}

void dni_linear_layout(dni_layout *layout, const void *shape, void *problem) {
    const dni_linear_shape *s = shape;
    dni_linear_problem *p = problem;
    const size_t K = scores_of(s->n_classes), width = s->n_cols + 1, tile = DNI_TILE_ROWS;
    const bool along = (s->uses & DNI_LINEAR_PRODUCT) != 0,
               gram = (s->uses & (DNI_LINEAR_HESSIAN | DNI_LINEAR_GRAM)) != 0,
               expanded = gram || (s->uses & DNI_LINEAR_EXPAND) != 0;
    p->shift = dni_layout_doubles(layout, s->n_cols);
    p->scale = dni_layout_doubles(layout, s->n_cols);
    p->original = dni_layout_matrix(layout, K, width);
    p->gradient = dni_layout_matrix(layout, K, width);
    p->table = dni_layout_matrix(layout, K, width);
    p->threshold = dni_layout_matrix(layout, K, width);
    p->block_sums = dni_layout_doubles(layout, SUMS + K * width);
    p->along = along ? dni_layout_matrix(layout, K, width) : NULL;
    p->products = along ? dni_layout_matrix(layout, 2 * K, width) : NULL;
    p->batch = (s->uses & DNI_LINEAR_BATCH)
                   ? dni_layout_doubles(layout, (size_t)batch_doubles(s, K, width))
                   : NULL;
    p->hessian_sums = (s->uses & DNI_LINEAR_HESSIAN)
                          ? dni_layout_matrix(layout, K * (K + 1) / 2 * width, width)
                          : NULL;
    dni_linear_slot *slots = dni_layout_array(layout, s->n_slots, sizeof *slots);
    for (size_t i = 0; i < s->n_slots; i++) {
        const dni_linear_slot slot = {.scores = dni_layout_matrix(layout, tile, K),
                                      .along = along ? dni_layout_matrix(layout, tile, K) : NULL,
                                      .weights = dni_layout_doubles(layout, tile),
                                      .target = dni_layout_doubles(layout, tile),
                                      .z = expanded ? dni_layout_matrix(layout, tile, width) : NULL,
                                      .scratch =
                                          gram ? dni_layout_matrix(layout, tile, width) : NULL};
        if (slots != NULL) {
            slots[i] = slot;
        }
    }
    p->slots = slots;
}

double dni_linear_bytes(const dni_linear_shape *shape, size_t n_rows) {
    dni_linear_problem scratch;
    const double width = (double)shape->n_cols + 1, K = (double)scores_of(shape->n_classes);
    double sum = SUMS + K * width;
    if (shape->uses & DNI_LINEAR_PRODUCT) {
        sum = fmax(sum, 2 * K * width);
    }
    if (shape->uses & DNI_LINEAR_GRAM) {
        sum = fmax(sum, width * width);
    }
    if (shape->uses & DNI_LINEAR_HESSIAN) {
        sum = fmax(sum, K * (K + 1) / 2 * width * width);
    }
    return dni_layout_bytes(dni_linear_layout, shape, &scratch) +
           dn_run_sum_memory(n_rows, shape->n_slots, sum);
}

/* Sets shift m and scale s. A column that is already standardised gets m = 0 and s = 1, so that its
 * values are not rounded again. */
static void set_shift_and_scale(dni_linear_problem *p, const dni_moments *moments, bool change) {
    for (size_t j = 0; j + 1 < p->width; j++) {
        const double m = moments->mean[j],
                     s = moments->deviation[j] > 0 ? moments->deviation[j] : 1;
        const bool standardised = fabs(m) <= 1e-9 * s && fabs(s - 1) <= 1e-9;
        p->shift[j] = change && !standardised ? m : 0;
        p->scale[j] = change && !standardised ? s : 1;
    }
}

dn_status dni_linear_init(dni_linear_problem *problem, const dn_rows *rows, size_t n_classes,
                          double lambda, const dni_moments *moments, unsigned uses,
                          const dn_run *run, dn_error *err) {
    const size_t width = rows->n_cols + 1, K = scores_of(n_classes);
    const dni_linear_shape shape = {.n_cols = rows->n_cols,
                                    .n_classes = n_classes,
                                    .n_slots = run->n_slots,
                                    .uses = uses,
                                    .sparse = moments->sparse};
    const bool expanded = (uses & (DNI_LINEAR_HESSIAN | DNI_LINEAR_GRAM | DNI_LINEAR_EXPAND)) != 0;
    *problem = (dni_linear_problem){.run = run,
                                    .rows = rows,
                                    .loss = &dni_loss_cross_entropy,
                                    .n_classes = n_classes,
                                    .n_scores = K,
                                    .width = width,
                                    .n = K * width,
                                    .sparse = moments->sparse,
                                    .expands = (uses & DNI_LINEAR_EXPAND) != 0,
                                    .lambda = lambda,
                                    .total_weight = moments->weight};
    if (width > INT_MAX / (expanded ? 2 * DNI_TILE_ROWS : 1) || K > INT_MAX / width) {
        return dn_error_set(
            err, DN_ERR_BUDGET,
            "the weights of %zu features for %zu classes are more than can be indexed",
            rows->n_cols, n_classes);
    }
    const dn_status status =
        dni_layout_take(run, dni_linear_layout, &shape, problem,
                        "the weights, the gradient and the tiles of rows", &problem->memory, err);
    if (status == DN_OK) {
        set_shift_and_scale(problem, moments, (uses & DNI_LINEAR_STANDARDISE) != 0);
    }
    return status;
}

void dni_linear_done(dni_linear_problem *problem) {
    if (problem->run != NULL) {
        dn_run_free(problem->run, problem->memory);
    }
    *problem = (dni_linear_problem){0};
}

void dni_linear_set_l1(dni_linear_problem *problem, double l1) {
    const double most = 1e300; /* finite, because 0·infinity is NaN */
    problem->l1 = l1;
    for (size_t k = 0; k < problem->n_scores; k++) {
        for (size_t j = 0; j + 1 < problem->width; j++) {
            problem->threshold[k * problem->width + j] = fmin(l1 / problem->scale[j], most);
        }
        if (problem->intercept == DNI_INTERCEPT_PENALISED) {
            problem->threshold[(k + 1) * problem->width - 1] = fmin(l1, most);
        }
    }
}

/* ---- variables ---- */
void dni_linear_to_original(const dni_linear_problem *problem, const double *x, double *original) {
    size_t width = problem->width, d = width - 1;
    for (size_t k = 0; k < problem->n_scores; k++) {
        const double *u = x + k * width;
        double *w = original + k * width;
        double intercept = u[d];
        for (size_t j = 0; j < d; j++) {
            w[j] = u[j] / problem->scale[j];
            intercept -= w[j] * problem->shift[j];
        }
        w[d] = intercept;
    }
}

void dni_linear_from_original(const dni_linear_problem *problem, const double *original,
                              double *x) {
    size_t width = problem->width, d = width - 1;
    for (size_t k = 0; k < problem->n_scores; k++) {
        const double *w = original + k * width;
        double *u = x + k * width;
        double centred = w[d];
        for (size_t j = 0; j < d; j++) {
            u[j] = w[j] * problem->scale[j];
            centred += w[j] * problem->shift[j];
        }
        u[d] = centred;
    }
}

static bool transposed(const dni_linear_problem *p) {
    return p->sparse && !p->expands;
}

void dni_linear_set_table(const dni_linear_problem *problem, const double *original,
                          double *table) {
    if (transposed(problem)) {
        dni_transpose(original, problem->n_scores, problem->width, table);
    } else {
        memcpy(table, original, problem->n * sizeof *original);
    }
}

void dni_linear_read_table(const dni_linear_problem *problem, const double *table,
                           double *original) {
    if (transposed(problem)) {
        dni_transpose(table, problem->width, problem->n_scores, original);
    } else {
        memcpy(original, table, problem->n * sizeof *original);
    }
}

/* ---- value and gradient ---- */
/* Returns the rows of a tile for the products: unchanged, or expanded into z as (x − m)/s. */
static dn_matrix tile_rows(const dni_linear_problem *p, const dni_tile *tile, double *z) {
    if (!p->expands) {
        return tile->x;
    }
    dni_tile_expand(tile->x, p->shift, p->scale, z);
    return (dn_matrix){.kind = DN_DENSE,
                       .n_rows = tile->x.n_rows,
                       .n_cols = p->width - 1,
                       .stride = p->width,
                       .values = z};
}

static dn_status pass_block(const void *arg, const dn_block *block, size_t slot, double *out,
                            dn_error *err) {
    const dni_linear_problem *p = arg;
    const dni_linear_slot *arrays = &p->slots[slot];
    dni_loss_sums sums = {0};
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dn_matrix x = tile_rows(p, &tiles.tile, arrays->z);
        dni_tile_scores(x, p->table, p->n_scores, arrays->scores);
        p->loss->residuals(&tiles.tile, p->n_scores, arrays->scores, &sums);
        dni_tile_gradient(x, arrays->scores, p->n_scores, out + SUMS);
    }
    out[0] += sums.loss;
    out[1] += sums.wrong;
    out[2] += sums.unseparated;
    return tiles.status;
}

dn_status dni_linear_pass(dni_linear_problem *problem, const double *point, dn_error *err) {
    dni_linear_set_table(problem, point, problem->table);
    const dn_status status =
        dn_run_sum(problem->run, problem->rows,
                   &(dn_sum){pass_block, problem, sizeof *problem, SUMS + problem->n},
                   problem->block_sums, err);
    if (status != DN_OK) {
        return status;
    }
    const double *sums = problem->block_sums;
    problem->sums = (dni_loss_sums){.loss = sums[0], .wrong = sums[1], .unseparated = sums[2]};
    dni_linear_read_table(problem, sums + SUMS, problem->gradient);
    return DN_OK;
}

dn_status dni_linear_evaluate(void *ctx, const dn_run *run, const double *x, double *value,
                              double *gradient, dn_error *err) {
    dni_linear_problem *p = ctx;
    const size_t width = p->width, d = width - 1;
    (void)run; /* the passes use p->run */
    dni_linear_to_original(p, x, p->original);
    const dn_status status = dni_linear_pass(p, p->original, err);
    if (status != DN_OK) {
        return status;
    }
    double penalty = 0;
    for (size_t k = 0; k < p->n_scores; k++) {
        const double *w = p->original + k * width;
        double *g = p->gradient + k * width, *out = gradient + k * width;
        g[d] /= p->total_weight;
        if (p->intercept == DNI_INTERCEPT_PENALISED) {
            g[d] += 2 * p->lambda * (w[d] - p->origin);
            penalty += (w[d] - p->origin) * (w[d] - p->origin);
        } else if (p->intercept == DNI_INTERCEPT_NONE) {
            g[d] = 0;
        }
        out[d] = g[d];
        for (size_t j = 0; j < d; j++) {
            g[j] = g[j] / p->total_weight + 2 * p->lambda * w[j];
            out[j] = (g[j] - p->shift[j] * g[d]) / p->scale[j];
        }
        penalty += dni_dot(w, w, d);
    }
    *value = p->sums.loss / p->total_weight + (p->lambda > 0 ? p->lambda * penalty : 0);
    return DN_OK;
}

/* ---- other sums ---- */
/* out += Σ v (x̃ᵀu) x̃ */
static dn_status power_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const dni_linear_problem *p = arg;
    double *scores = p->slots[slot].scores;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        dni_tile_scores(tiles.tile.x, p->table, 1, scores);
        for (size_t t = 0; t < tiles.tile.x.n_rows; t++) {
            scores[t] *= tiles.tile.weight[t];
        }
        dni_tile_gradient(tiles.tile.x, scores, 1, out);
    }
    return tiles.status;
}

dn_status dni_linear_largest_eigenvalue(dni_linear_problem *problem, double *out, dn_error *err) {
    enum { MAX_PASSES = 100 };
    const size_t width = problem->width;
    double *u = problem->table, *product = problem->block_sums, value = 0;
    dni_random random;
    dni_random_init(&random, problem->run->seed, DNI_STREAM_EIGENVECTOR);
    for (size_t j = 0; j < width; j++) { /* positive: probably not orthogonal to the eigenvector */
        u[j] = dni_random_uniform(&random, 0.5, 1);
    }
    const bool fixed = problem->intercept == DNI_INTERCEPT_NONE;
    u[width - 1] = fixed ? 0 : u[width - 1];
    for (int i = 0; i < MAX_PASSES; i++) {
        const double norm = dni_norm(u, width), before = value;
        if (!(norm > 0) || !isfinite(norm)) {
            break;
        }
        for (size_t j = 0; j < width; j++) {
            u[j] /= norm;
        }
        const dn_status status =
            dn_run_sum(problem->run, problem->rows,
                       &(dn_sum){power_block, problem, sizeof *problem, width}, product, err);
        if (status != DN_OK) {
            return status;
        }
        product[width - 1] = fixed ? 0 : product[width - 1];
        value = dni_norm(product, width) / problem->total_weight;
        memcpy(u, product, width * sizeof *u);
        if (fabs(value - before) <= 1e-4 * value) {
            break;
        }
    }
    if (!(value > 0) || !isfinite(value)) {
        return dn_error_set(
            err, DN_ERR_NUMERIC,
            "a learning rate cannot be chosen: the inputs are too large (standardise the columns)");
    }
    *out = value;
    return DN_OK;
}

/* out[0] += Σv², out[1] += Σv */
static dn_status weigh_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    (void)arg;
    (void)slot;
    (void)err;
    for (size_t t = 0; t < block->x.n_rows; t++) {
        const double v = block->weight == NULL ? 1 : block->weight[t];
        out[0] += v * v;
        out[1] += v;
    }
    return DN_OK;
}

dn_status dni_linear_mean_drawn_weight(dni_linear_problem *problem, double *out, dn_error *err) {
    double sums[2];
    const dn_status status = dn_run_sum(problem->run, problem->rows,
                                        &(dn_sum){.fn = weigh_block, .n_out = 2}, sums, err);
    if (status == DN_OK) {
        *out = sums[0] / sums[1];
    }
    return status;
}
