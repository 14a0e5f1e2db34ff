/* Second derivatives of a linear problem as a matrix.
 *
 *   ∂²f/∂u_k∂u_l = Σ_t v_t (∂²ℓ/∂g_k∂g_l) z_t z_tᵀ / Σv,   z = [(x − m)/s, 1]
 *
 * The penalty adds 2λ/s² to the diagonal entries of the weights. A penalised intercept adds
 * 2λ t tᵀ, t = (−m/s, 1), because b = c − Σ u m/s. Without an intercept the rows and columns of the
 * intercepts are those of the identity.
 *
 * Block (k, l) is a weighted Gram matrix whose coefficients all have the same sign: a symmetric
 * rank-n update (BLAS syrk) computes it with half the work of a product. Dense rows are centred
 * before the products; if the finished matrix were centred, cancellation would lose digits in
 * proportion to (m/s)². For sparse rows the finished matrix is corrected for the means, because
 * centred rows would not be sparse.
 *
 * The cross-entropy does not depend on a vector that is added to the weights of all classes. A
 * positive curvature along Σ_k u_k is therefore added to the Hessian. It does not change the
 * minimiser. */
#include "learners/shared/linear/linear_problem.h"
#include "learners/shared/linear/linear_support.h"
#include "linalg/step.h"
#include "linalg/vector.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Returns true if the Gram matrix of a tile is cheaper to compute from the entries of its sparse
 * rows. Otherwise expands the rows into slot->z and returns false. */
static bool prepare_tile(const dni_linear_problem *p, const dni_linear_slot *slot, dn_matrix x) {
    if (p->sparse && dni_tile_gram_sparse_is_cheaper(x)) {
        return true;
    }
    dni_tile_expand(x, p->sparse ? NULL : p->shift, p->sparse ? NULL : p->scale, slot->z);
    return false;
}

/* gram += sign·Σ c zzᵀ over the rows of a tile, with the coefficients c in slot->weights. */
static dn_status add_gram(const dni_linear_problem *p, const dni_linear_slot *slot, dn_matrix x,
                          bool by_entries, double sign, double *gram, dn_error *err) {
    if (by_entries) {
        return dni_tile_gram_sparse(p->run, x, slot->weights, sign, gram, err);
    }
    return dni_tile_gram(p->run, slot->z, x.n_rows, p->width, slot->weights, sign, slot->scratch,
                         gram, err);
}

struct hessian_pass {
    const dni_linear_problem *problem;
    bool support; /* the matrix of dni_linear_support_matrix instead of the Hessian */
    double floor; /* only with `support` */
};

static dn_status hessian_block(const void *arg, const dn_block *block, size_t slot_number,
                               double *out, dn_error *err) {
    const struct hessian_pass *pass = arg;
    const dni_linear_problem *p = pass->problem;
    const dni_linear_slot *slot = &p->slots[slot_number];
    const size_t width = p->width, K = p->n_scores;
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        dni_tile_scores(tile->x, p->table, K, slot->scores);
        if (pass->support) {
            dni_linear_rivals(tile, K, slot->scores);
        } else {
            p->loss->prepare(tile->x.n_rows, K, slot->scores);
        }
        const bool by_entries = prepare_tile(p, slot, tile->x);
        double *gram = out;
        for (size_t k = 0; k < K; k++) {
            for (size_t l = 0; l <= k; l++, gram += width * width) {
                if (pass->support) {
                    dni_linear_support_pair(tile, K, slot->scores, pass->floor, k, l,
                                            slot->weights);
                } else {
                    p->loss->pair(tile, K, slot->scores, k, l, slot->weights);
                }
                const dn_status status =
                    add_gram(p, slot, tile->x, by_entries, k == l ? 1.0 : -1.0, gram, err);
                if (status != DN_OK) {
                    return status;
                }
            }
        }
    }
    return tiles.status;
}

/* Converts in place the Gram matrix of the rows [x, 1] to the Gram matrix of the rows [(x − m)/s,
 * 1]. Lower triangles. */
static void centre_gram(const dni_linear_problem *p, double *gram) {
    size_t width = p->width, d = width - 1;
    const double *m = p->shift, *s = p->scale, *last = gram + d * width;
    double total = last[d];
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            gram[i * width + j] =
                (gram[i * width + j] - m[i] * last[j] - m[j] * last[i] + m[i] * m[j] * total) /
                (s[i] * s[j]);
        }
    }
    for (size_t i = 0; i < d; i++) {
        gram[d * width + i] = (last[i] - m[i] * total) / s[i];
    }
}

/* Copies the Gram matrices of all pairs of scores (k, l), divided by Σv, to their blocks of the
 * Hessian. */
static void assemble(const dni_linear_problem *p, double *hessian) {
    size_t width = p->width, K = p->n_scores, n = p->n;
    double *gram = p->hessian_sums;
    for (size_t k = 0; k < K; k++) {
        for (size_t l = 0; l <= k; l++, gram += width * width) {
            if (p->sparse) {
                centre_gram(p, gram);
            }
            for (size_t i = 0; i < width; i++) {
                double *row = hessian + (k * width + i) * n + l * width;
                for (size_t j = 0; j < width; j++) {
                    row[j] = (j <= i ? gram[i * width + j] : gram[j * width + i]) / p->total_weight;
                }
            }
        }
    }
}

/* Adds the curvature 1 along each direction of null_basis, for each score. */
static dn_status add_null_basis(const dni_linear_problem *p, double *hessian, dn_error *err) {
    size_t width = p->width, d = width - 1, n = p->n;
    size_t step = dni_step_rows(p->n_null, (double)d * (double)d, 1);
    for (size_t k = 0; k < p->n_scores; k++) {
        for (size_t first = 0, count; first < p->n_null; first += count) {
            count = p->n_null - first < step ? p->n_null - first : step;
            dn_status status = dn_run_stop(p->run, err);
            if (status != DN_OK) {
                return status;
            }
            cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)d, (int)count, 1.0,
                        p->null_basis + first * d, (int)d, 1.0, hessian + k * width * n + k * width,
                        (int)n);
        }
    }
    return DN_OK;
}

/* Makes the Hessian positive definite: sets curvature that is 0 to 1 unless p->plain, and adds
 * curvature along equal changes of a column's weights in all classes. With l1 the latter is added
 * for intercepts without a penalty only, because the penalty depends on the weights' mean. */
static void make_definite(const dni_linear_problem *p, double *hessian) {
    size_t width = p->width, K = p->n_scores, n = p->n;
    for (size_t j = 0; j < width; j++) {
        double mean = 0;
        for (size_t k = 0; k < K; k++) {
            double *entry = &hessian[(k * width + j) * n + k * width + j];
            if (!(*entry > 0) && !p->plain) {
                *entry = 1;
            }
            mean += *entry / (double)K;
        }
        bool free =
            K > 1 && (p->l1 == 0 || (j + 1 == width && p->intercept != DNI_INTERCEPT_PENALISED));
        for (size_t k = 0; free && k < K; k++) {
            for (size_t l = 0; l <= k; l++) {
                hessian[(k * width + j) * n + l * width + j] += mean / (double)K;
            }
        }
    }
}

/* Without an intercept: makes the rows and columns of the intercepts those of the identity. */
static void fix_intercepts(const dni_linear_problem *p, double *matrix) {
    const size_t width = p->width, n = p->n;
    for (size_t i = 0; p->intercept == DNI_INTERCEPT_NONE && i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            if ((i + 1) % width == 0 || (j + 1) % width == 0) {
                matrix[i * n + j] = i == j;
            }
        }
    }
}

/* Adds the second derivatives of λ(b − o)² for each score. */
static void penalise_intercepts(const dni_linear_problem *p, double *hessian) {
    const size_t width = p->width, d = width - 1;
    for (size_t k = 0; k < p->n_scores && p->intercept == DNI_INTERCEPT_PENALISED; k++) {
        for (size_t i = 0; i < width; i++) {
            const double t = i < d ? -p->shift[i] / p->scale[i] : 1;
            double *row = hessian + (k * width + i) * p->n + k * width;
            for (size_t j = 0; j <= i; j++) {
                row[j] += 2 * p->lambda * t * (j < d ? -p->shift[j] / p->scale[j] : 1);
            }
        }
    }
}

/* matrix [n × n] ← the sums of a pass at x. */
static dn_status sum_matrix(dni_linear_problem *p, const struct hessian_pass *pass, const double *x,
                            double *matrix, dn_error *err) {
    const size_t pairs = p->n_scores * (p->n_scores + 1) / 2;
    dni_linear_to_original(p, x, p->original);
    dni_linear_set_table(p, p->original, p->table);
    const dn_status status =
        dn_run_sum(p->run, p->rows,
                   &(dn_sum){hessian_block, pass, sizeof *pass, pairs * p->width * p->width},
                   p->hessian_sums, err);
    if (status == DN_OK) {
        assemble(p, matrix);
        fix_intercepts(p, matrix);
    }
    return status;
}

dn_status dni_linear_support_matrix(dni_linear_problem *problem, double floor, const double *x,
                                    double *matrix, dn_error *err) {
    const struct hessian_pass pass = {problem, true, floor};
    const size_t width = problem->width, K = problem->n_scores, n = problem->n;
    dn_status status = sum_matrix(problem, &pass, x, matrix, err);
    if (status == DN_OK) {
        status = add_null_basis(problem, matrix, err);
    }
    for (size_t j = 0; status == DN_OK && K > 1 && j < width; j++) {
        for (size_t k = 0; k < K; k++) {
            for (size_t l = 0; l <= k; l++) {
                matrix[(k * width + j) * n + l * width + j] += 1 / (double)K;
            }
        }
    }
    return status;
}

dn_status dni_linear_hessian(void *ctx, const dn_run *run, const double *x, double *hessian,
                             dn_error *err) {
    dni_linear_problem *p = ctx;
    const struct hessian_pass pass = {.problem = p};
    size_t width = p->width, d = width - 1, K = p->n_scores;
    (void)run; /* the passes use p->run */
    dn_status status = sum_matrix(p, &pass, x, hessian, err);
    if (status != DN_OK) {
        return status;
    }
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            size_t i = k * width + j;
            hessian[i * p->n + i] += 2 * p->lambda / (p->scale[j] * p->scale[j]);
        }
    }
    penalise_intercepts(p, hessian);
    status = add_null_basis(p, hessian, err);
    if (status == DN_OK) {
        make_definite(p, hessian);
    }
    return status;
}

struct gram_pass {
    const dni_linear_problem *problem;
    size_t stride;
};

static dn_status gram_block(const void *arg, const dn_block *block, size_t slot_number, double *out,
                            dn_error *err) {
    const struct gram_pass *pass = arg;
    const dni_linear_problem *p = pass->problem;
    const dni_linear_slot *slot = &p->slots[slot_number];
    if (block->first_row / DN_BLOCK_ROWS % pass->stride != 0) {
        return DN_OK;
    }
    dni_tiles tiles = dni_tiles_of(p->run, block);
    while (dni_tiles_next(&tiles, err)) {
        const dni_tile *tile = &tiles.tile;
        memcpy(slot->weights, tile->weight, tile->x.n_rows * sizeof *slot->weights);
        const dn_status status =
            add_gram(p, slot, tile->x, prepare_tile(p, slot, tile->x), 1.0, out, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return tiles.status;
}

dn_status dni_linear_gram(dni_linear_problem *problem, size_t stride, double *gram, dn_error *err) {
    const size_t width = problem->width;
    struct gram_pass pass = {problem, stride};
    const dn_status status =
        dn_run_sum(problem->run, problem->rows,
                   &(dn_sum){gram_block, &pass, sizeof pass, width * width}, gram, err);
    if (status != DN_OK) {
        return status;
    }
    const double total = gram[width * width - 1];
    const bool fixed = problem->intercept == DNI_INTERCEPT_NONE;
    if (problem->sparse) {
        centre_gram(problem, gram);
    }
    if (total > 0) {
        for (size_t i = 0; i < width * width; i++) {
            gram[i] /= total;
        }
    }
    for (size_t j = 0; fixed && j < width; j++) {
        gram[(width - 1) * width + j] = j + 1 == width;
    }
    return DN_OK;
}
