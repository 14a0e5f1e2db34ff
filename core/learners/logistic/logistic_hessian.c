/* Second derivatives of the cross-entropy.
 *
 *   ∂²f/∂u_k∂u_l = Σ_t v_t p_tk (δ_kl − p_tl) z_t z_tᵀ / Σv  (+ 2λ/s² on the diagonal of the weights),   z = [(x − m)/s, 1]
 *
 * A block (k, l) is a weighted Gram matrix of one sign, so a symmetric rank update of half the work serves it. Dense rows are centred before they are
 * multiplied (cancellation afterwards would cost (m/s)² of the precision); sparse ones must not be, and are centred in the finished matrix.
 * The cross-entropy does not see a vector added to the weights of all classes: there Σ_k u_k gets a curvature of its own, which leaves the minimiser alone. */
#include "base/random.h"
#include "learners/logistic/logistic_loss.h"
#include "linalg/step.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "machine/probability.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* Scores → probabilities, in place; of two classes the second's. */
static void probabilities(double *scores, size_t n_rows, size_t n_scores) {
    for (size_t t = 0; t < n_rows; t++) {
        if (n_scores == 1) {
            double p[2];
            dni_sigmoid(scores[t], p);
            scores[t] = p[0] * p[1];
        } else {
            dni_softmax(scores + t * n_scores, n_scores, scores + t * n_scores);
        }
    }
}

/* Adds sign·Σ c z zᵀ of a tile; the expanded rows are in slot->z unless the sparse road is taken. */
static dn_status add_gram(const dni_logistic *loss, const dni_logistic_slot *slot, dn_matrix x,
                          bool by_entries, double sign, double *gram, dn_error *err) {
    if (by_entries) {
        return dni_tile_gram_sparse(loss->run, x, slot->weights, sign, gram, err);
    }
    return dni_tile_gram(loss->run, slot->z, x.n_rows, loss->width, slot->weights, sign,
                         slot->scratch, gram, err);
}

static bool prepare_tile(const dni_logistic *loss, const dni_logistic_slot *slot, dn_matrix x) {
    if (loss->sparse && dni_tile_gram_sparse_pays(x)) {
        return true;
    }
    dni_tile_expand(x, loss->sparse ? NULL : loss->shift, loss->sparse ? NULL : loss->scale,
                    slot->z);
    return false;
}

static dn_status hessian_block(const void *arg, const dn_block *block, size_t slot_number,
                               double *out, dn_error *err) {
    const dni_logistic *loss = arg;
    const dni_logistic_slot *slot = &loss->slots[slot_number];
    size_t width = loss->width, K = loss->n_scores;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_block tile = dni_logistic_tile(block, first);
        size_t n = tile.x.n_rows;
        dni_tile_scores(tile.x, loss->table, K, slot->scores);
        probabilities(slot->scores, n, K);
        bool by_entries = prepare_tile(loss, slot, tile.x);
        double *gram = out;
        for (size_t k = 0; k < K; k++) {
            for (size_t l = 0; l <= k; l++, gram += width * width) {
                for (size_t t = 0; t < n; t++) {
                    const double *p = slot->scores + t * K;
                    double v = tile.weight == NULL ? 1 : tile.weight[t];
                    slot->weights[t] = v * (K == 1   ? p[0]
                                            : k == l ? p[k] * (1 - p[k])
                                                     : p[k] * p[l]);
                }
                dn_status status =
                    add_gram(loss, slot, tile.x, by_entries, k == l ? 1.0 : -1.0, gram, err);
                if (status != DN_OK) {
                    return status;
                }
            }
        }
    }
    return DN_OK;
}

/* A Gram matrix of raw rows [x, 1], lower triangle, to that of [(x − m)/s, 1], in place. */
static void centre_gram(const dni_logistic *loss, double *gram) {
    size_t width = loss->width, d = width - 1;
    const double *m = loss->shift, *s = loss->scale, *last = gram + d * width;
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

/* The pair matrices into their places of the lower triangle. */
static void assemble(const dni_logistic *loss, double *hessian) {
    size_t width = loss->width, K = loss->n_scores, n = loss->n;
    double *gram = loss->hessian_sums;
    for (size_t k = 0; k < K; k++) {
        for (size_t l = 0; l <= k; l++, gram += width * width) {
            if (loss->sparse) {
                centre_gram(loss, gram);
            }
            for (size_t i = 0; i < width; i++) {
                double *row = hessian + (k * width + i) * n + l * width;
                for (size_t j = 0; j < width; j++) {
                    row[j] =
                        (j <= i ? gram[i * width + j] : gram[j * width + i]) / loss->total_weight;
                }
            }
        }
    }
}

/* Curvature for what the objective does not see: null_basis in each class, … */
static dn_status add_null_basis(const dni_logistic *loss, double *hessian, dn_error *err) {
    size_t width = loss->width, d = width - 1, n = loss->n;
    size_t step = dni_step_rows(loss->n_null, (double)d * (double)d, 1);
    for (size_t k = 0; k < loss->n_scores; k++) {
        for (size_t first = 0, count; first < loss->n_null; first += count) {
            count = loss->n_null - first < step ? loss->n_null - first : step;
            dn_status status = dn_run_stop(loss->run, err);
            if (status != DN_OK) {
                return status;
            }
            cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)d, (int)count, 1.0,
                        loss->null_basis + first * d, (int)d, 1.0,
                        hessian + k * width * n + k * width, (int)n);
        }
    }
    return DN_OK;
}

/* … columns that are constant, the common part of all classes. The weights' common part is l1's affair when there is l1: a curvature that the objective has not
 * would make the models of proximal Newton wrong. */
static void make_definite(const dni_logistic *loss, double *hessian) {
    size_t width = loss->width, K = loss->n_scores, n = loss->n;
    for (size_t j = 0; j < width; j++) {
        double mean = 0;
        for (size_t k = 0; k < K; k++) {
            double *own = &hessian[(k * width + j) * n + k * width + j];
            if (!(*own > 0)) {
                *own = 1;
            }
            mean += *own / (double)K;
        }
        bool unseen = K > 1 && (loss->l1 == 0 || j + 1 == width);
        for (size_t k = 0; unseen && k < K; k++) {
            for (size_t l = 0; l <= k; l++) {
                hessian[(k * width + j) * n + l * width + j] += mean / (double)K;
            }
        }
    }
}

dn_status dni_logistic_hessian(void *ctx, const dn_run *run, const double *x, double *hessian,
                               dn_error *err) {
    dni_logistic *loss = ctx;
    size_t width = loss->width, d = width - 1, K = loss->n_scores;
    dni_logistic_state(loss, x, loss->stated);
    dni_logistic_set_table(loss, loss->stated, loss->table);
    size_t pairs = K * (K + 1) / 2;
    dn_status status =
        dn_run_sum(run, loss->rows,
                   &(dn_sum){hessian_block, loss, sizeof *loss, pairs * width * width},
                   loss->hessian_sums, err);
    if (status != DN_OK) {
        return status;
    }
    assemble(loss, hessian);
    for (size_t k = 0; k < K; k++) {
        for (size_t j = 0; j < d; j++) {
            size_t i = k * width + j;
            hessian[i * loss->n + i] += 2 * loss->lambda / (loss->scale[j] * loss->scale[j]);
        }
    }
    status = add_null_basis(loss, hessian, err);
    if (status == DN_OK) {
        make_definite(loss, hessian);
    }
    return status;
}

static dn_status gram_block(const void *arg, const dn_block *block, size_t slot_number, double *out,
                            dn_error *err) {
    const dni_logistic *loss = arg;
    const dni_logistic_slot *slot = &loss->slots[slot_number];
    if (block->first_row / DN_BLOCK_ROWS % loss->gram_stride != 0) {
        return DN_OK;
    }
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_block tile = dni_logistic_tile(block, first);
        for (size_t t = 0; t < tile.x.n_rows; t++) {
            slot->weights[t] = tile.weight == NULL ? 1 : tile.weight[t];
        }
        dn_status status =
            add_gram(loss, slot, tile.x, prepare_tile(loss, slot, tile.x), 1.0, out, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

dn_status dni_logistic_gram(dni_logistic *loss, const dn_run *run, size_t stride, double *gram,
                            dn_error *err) {
    size_t width = loss->width;
    loss->gram_stride = stride;
    dn_status status =
        dn_run_sum(run, loss->rows, &(dn_sum){gram_block, loss, sizeof *loss, width * width}, gram,
                   err);
    if (status != DN_OK) {
        return status;
    }
    double total = gram[width * width - 1];
    if (loss->sparse) {
        centre_gram(loss, gram);
    }
    if (total > 0) {
        for (size_t i = 0; i < width * width; i++) {
            gram[i] /= total;
        }
    }
    return DN_OK;
}

/* out[3…] += Σ v (x̃ᵀu) x̃ */
static dn_status power_block(const void *arg, const dn_block *block, size_t slot, double *out,
                             dn_error *err) {
    const dni_logistic *loss = arg;
    double *scores = loss->slots[slot].scores;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_status status = dn_run_stop(loss->run, err);
        if (status != DN_OK) {
            return status;
        }
        dn_block tile = dni_logistic_tile(block, first);
        dni_tile_scores(tile.x, loss->table, 1, scores);
        for (size_t t = 0; t < tile.x.n_rows; t++) {
            scores[t] *= tile.weight == NULL ? 1 : tile.weight[t];
        }
        dni_tile_gradient(tile.x, scores, 1, out);
    }
    return DN_OK;
}

dn_status dni_logistic_largest_eigenvalue(dni_logistic *loss, const dn_run *run, double *out,
                                          dn_error *err) {
    enum { MOST_PASSES = 100 };
    size_t width = loss->width;
    double *u = loss->table, *product = loss->sums;
    dni_random random;
    dni_random_init(&random, run->seed, 3);
    for (size_t j = 0; j < width; j++) {
        u[j] = dni_random_uniform(&random, 0.5,
                                  1); /* all of one sign: means that are not 0 show at once */
    }
    double value = 0;
    for (int i = 0; i < MOST_PASSES; i++) {
        double norm = dni_norm(u, width);
        if (!(norm > 0) || !isfinite(norm)) {
            break;
        }
        for (size_t j = 0; j < width; j++) {
            u[j] /= norm;
        }
        dn_status status =
            dn_run_sum(run, loss->rows, &(dn_sum){power_block, loss, sizeof *loss, width}, product,
                       err);
        if (status != DN_OK) {
            return status;
        }
        double before = value;
        value = dni_norm(product, width) / loss->total_weight;
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
