/* Passes over the pairs of rows and wrong classes: probabilities, sums and margins. */
#include "learners/shared/linear/linear_support.h"
#include "machine/probability.h"

#include <math.h>

struct support_pass {
    const dni_linear_problem *problem;
    double floor, tolerance;
};

void dni_linear_rivals(const dni_tile *tile, size_t n_scores, double *scores) {
    for (size_t t = 0; t < tile->x.n_rows; t++) {
        double *g = scores + t * n_scores;
        if (n_scores > 1) {
            dni_softmax(g, n_scores, g);
            continue;
        }
        const double margin = tile->target[t] > 0.5 ? *g : -*g, e = exp(-fabs(margin));
        *g = margin > 0 ? e / (1 + e) : 1 / (1 + e);
    }
}

void dni_linear_support_pair(const dni_tile *tile, size_t n_scores, const double *rivals,
                             double floor, size_t k, size_t l, double *c) {
    for (size_t t = 0; t < tile->x.n_rows; t++) {
        const double *p = rivals + t * n_scores, v = tile->weight[t];
        const size_t truth = (size_t)tile->target[t];
        c[t] = 0;
        if (n_scores == 1) {
            c[t] = *p > floor ? v : 0;
        } else if (k == l && k == truth) {
            for (size_t j = 0; j < n_scores; j++) {
                c[t] += j != truth && p[j] > floor ? v : 0;
            }
        } else if (k == l) {
            c[t] = p[k] > floor ? v : 0;
        } else if (k == truth || l == truth) {
            c[t] = p[k == truth ? l : k] > floor ? v : 0;
        }
    }
}

/* Adds Σ v p a over the support to the table `out`. */
static dn_status sum_block(const void *arg, const dn_block *block, size_t slot, double *out,
                           dn_error *err) {
    const struct support_pass *pass = arg;
    const dni_linear_problem *p = pass->problem;
    const size_t K = p->n_scores;
    double *scores = p->slots[slot].scores;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        dni_tile_scores(tile->x, p->table, K, scores);
        dni_linear_rivals(tile, K, scores);
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            double *q = scores + t * K, sum = 0;
            const double v = tile->weight[t];
            const size_t truth = (size_t)tile->target[t];
            if (K == 1) {
                *q = *q > pass->floor ? (truth == 1 ? v : -v) * *q : 0;
                continue;
            }
            for (size_t j = 0; j < K; j++) {
                q[j] = j != truth && q[j] > pass->floor ? -v * q[j] : 0;
                sum -= q[j];
            }
            q[truth] = sum;
        }
        dni_tile_gradient(tile->x, scores, K, out);
    }
    return tiles.status;
}

static void set_point(dni_linear_problem *problem, const double *x, double *table) {
    dni_linear_to_original(problem, x, problem->original);
    dni_linear_set_table(problem, problem->original, table);
}

dn_status dni_linear_support_sum(dni_linear_problem *problem, double floor, const double *x,
                                 double *out, dn_error *err) {
    const struct support_pass pass = {.problem = problem, .floor = floor};
    const size_t width = problem->width, d = width - 1;
    set_point(problem, x, problem->table);
    const dn_status status =
        dn_run_sum(problem->run, problem->rows,
                   &(dn_sum){sum_block, &pass, sizeof pass, problem->n}, problem->block_sums, err);
    if (status != DN_OK) {
        return status;
    }
    dni_linear_read_table(problem, problem->block_sums, out);
    for (size_t k = 0; k < problem->n_scores; k++) {
        double *g = out + k * width;
        g[d] = problem->intercept == DNI_INTERCEPT_NONE ? 0 : g[d] / problem->total_weight;
        for (size_t j = 0; j < d; j++) {
            g[j] = (g[j] / problem->total_weight - problem->shift[j] * g[d]) / problem->scale[j];
        }
    }
    return DN_OK;
}

static dn_status histogram_block(const void *arg, const dn_block *block, size_t slot, double *out,
                                 dn_error *err) {
    const struct support_pass *pass = arg;
    const dni_linear_problem *p = pass->problem;
    const size_t K = p->n_scores;
    double *scores = p->slots[slot].scores;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        dni_tile_scores(tile->x, p->table, K, scores);
        dni_linear_rivals(tile, K, scores);
        for (size_t i = 0; i < tile->x.n_rows * K; i++) {
            const size_t t = i / K;
            if (!(tile->weight[t] > 0) || (K > 1 && i % K == (size_t)tile->target[t])) {
                continue;
            }
            const double bin = floor(-log2(scores[i]));
            out[bin < DNI_LINEAR_BINS - 1 ? (size_t)fmax(bin, 0) : DNI_LINEAR_BINS - 1] += 1;
        }
    }
    return tiles.status;
}

dn_status dni_linear_histogram(dni_linear_problem *problem, const double *x, double *counts,
                               dn_error *err) {
    const struct support_pass pass = {.problem = problem};
    set_point(problem, x, problem->table);
    return dn_run_sum(problem->run, problem->rows,
                      &(dn_sum){histogram_block, &pass, sizeof pass, DNI_LINEAR_BINS}, counts, err);
}

enum { INSIDE, OUTSIDE, UNPROVED, POSITIVE, NEGATIVE, SQUARE, N_COUNTS };

static void count_pair(const struct support_pass *pass, double p, double margin, double *out) {
    const bool inside = p > pass->floor;
    out[inside ? INSIDE : OUTSIDE] += 1;
    out[UNPROVED] += inside && !(fabs(margin) < p / 2);
    out[POSITIVE] += margin > pass->tolerance;
    out[NEGATIVE] += !(margin >= -pass->tolerance);
    out[SQUARE] += inside ? 0 : margin * margin;
}

static dn_status margins_block(const void *arg, const dn_block *block, size_t slot, double *out,
                               dn_error *err) {
    const struct support_pass *pass = arg;
    const dni_linear_problem *p = pass->problem;
    const size_t K = p->n_scores;
    const dni_linear_slot *arrays = &p->slots[slot];
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        dni_tile_scores(tile->x, p->table, K, arrays->scores);
        dni_linear_rivals(tile, K, arrays->scores);
        dni_tile_scores(tile->x, p->along, K, arrays->along);
        for (size_t t = 0; t < tile->x.n_rows; t++) {
            const double *q = arrays->scores + t * K, *g = arrays->along + t * K;
            const size_t truth = (size_t)tile->target[t];
            if (!(tile->weight[t] > 0)) {
                continue;
            }
            if (K == 1) {
                count_pair(pass, *q, truth == 1 ? *g : -*g, out);
            }
            for (size_t j = 0; K > 1 && j < K; j++) {
                if (j != truth) {
                    count_pair(pass, q[j], g[truth] - g[j], out);
                }
            }
        }
    }
    return tiles.status;
}

dn_status dni_linear_count_margins(dni_linear_problem *problem, double floor, double tolerance,
                                   const double *x, const double *direction,
                                   dni_linear_margins *out, dn_error *err) {
    const struct support_pass pass = {problem, floor, tolerance};
    double sums[N_COUNTS];
    set_point(problem, x, problem->table);
    set_point(problem, direction, problem->along);
    const dn_status status =
        dn_run_sum(problem->run, problem->rows,
                   &(dn_sum){margins_block, &pass, sizeof pass, N_COUNTS}, sums, err);
    if (status == DN_OK) {
        *out = (dni_linear_margins){.inside = sums[INSIDE],
                                    .outside = sums[OUTSIDE],
                                    .unproved = sums[UNPROVED],
                                    .positive = sums[POSITIVE],
                                    .negative = sums[NEGATIVE],
                                    .square = sums[SQUARE]};
    }
    return status;
}
