/* Products of the Hessian of a linear problem with a direction u, and the diagonal of the Hessian,
 * without forming the matrix.
 *
 *   product  = Σ_t v_t ((∂²ℓ/∂g²) q_t)_k z_t / Σv + 2λ/s²·u
 *   diagonal = Σ_t v_t (∂²ℓ/∂g_k²) z_tj² / Σv + 2λ/s_j²
 *   z = [(x − m)/s, 1];  q_t: the scores of row t for u
 *
 * and the terms of the intercept as in linear_hessian.c.
 *
 * The sums are computed for the raw columns x and then converted to z, as for the gradient. */
#include "learners/shared/linear/linear_problem.h"

static dn_status along_block(const void *arg, const dn_block *block, size_t slot_number,
                             double *out, dn_error *err) {
    const dni_linear_problem *p = arg;
    const dni_linear_slot *slot = &p->slots[slot_number];
    const size_t K = p->n_scores;
    double *scores = p->loss->quadratic ? NULL : slot->scores;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        if (scores != NULL) {
            dni_tile_scores(tile->x, p->table, K, scores);
        }
        dni_tile_scores(tile->x, p->along, K, slot->along);
        p->loss->along(tile, K, scores, slot->along);
        dni_tile_gradient(tile->x, slot->along, K, out);
    }
    return tiles.status;
}

dn_status dni_linear_pass_along(dni_linear_problem *problem, const double *direction, double *out,
                                dn_error *err) {
    dni_linear_set_table(problem, direction, problem->along);
    const dn_status status =
        dn_run_sum(problem->run, problem->rows,
                   &(dn_sum){along_block, problem, sizeof *problem, problem->n}, problem->products,
                   err);
    if (status == DN_OK) {
        dni_linear_read_table(problem, problem->products, out);
    }
    return status;
}

/* Returns the change of the original intercept of a score along v [width], solver's variables. */
static double intercept_along(const dni_linear_problem *p, const double *v) {
    double change = v[p->width - 1];
    for (size_t j = 0; j + 1 < p->width; j++) {
        change -= v[j] / p->scale[j] * p->shift[j];
    }
    return change;
}

dn_status dni_linear_product(void *ctx, const dn_run *run, const double *x, const double *v,
                             double *product, dn_error *err) {
    dni_linear_problem *p = ctx;
    const size_t width = p->width, d = width - 1;
    double *sums = p->products + p->n;
    (void)run; /* the passes use p->run */
    dni_linear_to_original(p, x, p->original);
    dni_linear_set_table(p, p->original, p->table);
    dni_linear_to_original(p, v, sums); /* a direction is converted like a point */
    const dn_status status = dni_linear_pass_along(p, sums, sums, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < p->n_scores; k++) {
        double *g = sums + k * width;
        double *out = product + k * width;
        if (p->intercept == DNI_INTERCEPT_PENALISED) {
            g[d] += 2 * p->lambda * p->total_weight * intercept_along(p, v + k * width);
        } else if (p->intercept == DNI_INTERCEPT_NONE) {
            g[d] = 0;
        }
        for (size_t j = 0; j < d; j++) {
            out[j] = (g[j] - p->shift[j] * g[d]) / p->scale[j] / p->total_weight +
                     2 * p->lambda / p->scale[j] / p->scale[j] * v[k * width + j];
        }
        out[d] = g[d] / p->total_weight;
    }
    return DN_OK;
}

/* squares [width × K] += Σ c z², with z = (x − m)/s for dense rows and z = x for sparse rows. */
static void add_squares(const dni_linear_problem *p, dn_matrix x, const double *c,
                        double *squares) {
    size_t K = p->n_scores, d = p->width - 1;
    for (size_t t = 0; t < x.n_rows; t++, c += K) {
        if (x.kind == DN_DENSE) {
            const double *row = x.values + t * x.stride;
            for (size_t j = 0; j < d; j++) {
                double z = (row[j] - p->shift[j]) / p->scale[j];
                for (size_t k = 0; k < K; k++) {
                    squares[j * K + k] += c[k] * z * z;
                }
            }
        } else {
            for (size_t e = x.row_start[t]; e < x.row_start[t + 1]; e++) {
                for (size_t k = 0; k < K; k++) {
                    squares[x.cols[e] * K + k] += c[k] * x.values[e] * x.values[e];
                }
            }
        }
    }
}

/* out [2n]: first Σ c z² [width × K], with 0 for the intercepts; then Σ c [x, 1] in the layout of
 * dni_tile_gradient. */
static dn_status diagonal_block(const void *arg, const dn_block *block, size_t slot_number,
                                double *out, dn_error *err) {
    const dni_linear_problem *p = arg;
    double *scores = p->slots[slot_number].scores;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        dni_tile_scores(tile->x, p->table, p->n_scores, scores);
        p->loss->diagonal(tile, p->n_scores, scores);
        add_squares(p, tile->x, scores, out);
        dni_tile_gradient(tile->x, scores, p->n_scores, out + p->n);
    }
    return tiles.status;
}

dn_status dni_linear_diagonal(void *ctx, const dn_run *run, const double *x, double *diagonal,
                              dn_error *err) {
    dni_linear_problem *p = ctx;
    size_t width = p->width, d = width - 1, K = p->n_scores;
    dni_linear_to_original(p, x, p->original);
    dni_linear_set_table(p, p->original, p->table);
    dn_status status = dn_run_sum(run, p->rows, &(dn_sum){diagonal_block, p, sizeof *p, 2 * p->n},
                                  p->products, err);
    if (status != DN_OK) {
        return status;
    }
    const double *squares = p->products, *sums = squares + p->n;
    const bool penalised = p->intercept == DNI_INTERCEPT_PENALISED;
    size_t by_score = p->sparse ? 1 : width, by_column = p->sparse ? K : 1; /* strides of `sums` */
    for (size_t k = 0; k < K; k++) {
        double total = sums[k * by_score + d * by_column];
        for (size_t j = 0; j < d; j++) {
            double m = p->shift[j], s = p->scale[j], sum = squares[j * K + k];
            if (p->sparse) {
                sum = (sum - 2 * m * sums[k * by_score + j * by_column] + m * m * total) / (s * s);
            }
            sum = sum / p->total_weight + 2 * p->lambda / s / s * (1 + (penalised ? m * m : 0));
            diagonal[k * width + j] = sum > 0 ? sum : 1;
        }
        total = total / p->total_weight + (penalised ? 2 * p->lambda : 0);
        diagonal[k * width + d] = total > 0 && p->intercept != DNI_INTERCEPT_NONE ? total : 1;
    }
    return DN_OK;
}
