/* The Hessian of the cross-entropy without the matrix: its product with a direction, its diagonal.
 *
 *   q_tk = the change of the score g_k of row t along the direction;   c_tk = p_tk (q_tk − Σ_l p_tl q_tl),  one score: c_t = p_t (1 − p_t) q_t
 *   product = Σ_t v_t c_tk z_t / Σv + 2λ/s²·(the direction),   z = [(x − m)/s, 1]
 *   diagonal = Σ_t v_t p_tk (1 − p_tk) z_tj² / Σv + 2λ/s_j²
 *
 * The change of variables is made on the sums, not on the rows: what the gradient does too. */
#include "learners/logistic/logistic_loss.h"
#include "linalg/tile.h"
#include "machine/probability.h"

/* scores → v ∂²ℓ/∂g² along q, in q. */
static void curve_scores(const dn_block *tile, size_t K, double *scores, double *q) {
    for (size_t t = 0; t < tile->x.n_rows; t++, scores += K, q += K) {
        double v = tile->weight == NULL ? 1 : tile->weight[t], mean = 0;
        if (K == 1) {
            double p[2];
            dni_sigmoid(*scores, p);
            *q *= v * p[0] * p[1];
            continue;
        }
        dni_softmax(scores, K, scores);
        for (size_t k = 0; k < K; k++) {
            mean += scores[k] * q[k];
        }
        for (size_t k = 0; k < K; k++) {
            q[k] = v * scores[k] * (q[k] - mean);
        }
    }
}

static dn_status product_block(const void *arg, const dn_block *block, size_t slot_number,
                               double *out, dn_error *err) {
    const dni_logistic *loss = arg;
    const dni_logistic_slot *slot = &loss->slots[slot_number];
    size_t K = loss->n_scores;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_status status = dn_run_stop(loss->run, err);
        if (status != DN_OK) {
            return status;
        }
        dn_block tile = dni_logistic_tile(block, first);
        dni_tile_scores(tile.x, loss->table, K, slot->scores);
        dni_tile_scores(tile.x, loss->along, K, slot->along);
        curve_scores(&tile, K, slot->scores, slot->along);
        dni_tile_gradient(tile.x, slot->along, K, out);
    }
    return DN_OK;
}

dn_status dni_logistic_product(void *ctx, const dn_run *run, const double *x, const double *v,
                               double *product, dn_error *err) {
    dni_logistic *loss = ctx;
    size_t width = loss->width, d = width - 1;
    double *stated = loss->products + loss->n;
    dni_logistic_state(loss, x, loss->stated);
    dni_logistic_set_table(loss, loss->stated, loss->table);
    dni_logistic_state(loss, v,
                       stated); /* the change is linear: a direction changes like a point */
    dni_logistic_set_table(loss, stated, loss->along);
    dn_status status =
        dn_run_sum(run, loss->rows, &(dn_sum){product_block, loss, sizeof *loss, loss->n},
                   loss->products, err);
    if (status != DN_OK) {
        return status;
    }
    const double *sums = loss->products;
    if (loss->sparse) {
        dni_transpose(sums, width, loss->n_scores, stated);
        sums = stated;
    }
    for (size_t k = 0; k < loss->n_scores; k++) {
        const double *g = sums + k * width;
        double *own = product + k * width;
        for (size_t j = 0; j < d; j++) {
            own[j] = (g[j] - loss->shift[j] * g[d]) / loss->scale[j] / loss->total_weight +
                     2 * loss->lambda / loss->scale[j] / loss->scale[j] * v[k * width + j];
        }
        own[d] = g[d] / loss->total_weight;
    }
    return DN_OK;
}

/* scores → v p (1 − p) */
static void curvatures(const dn_block *tile, size_t K, double *scores) {
    for (size_t t = 0; t < tile->x.n_rows; t++, scores += K) {
        double v = tile->weight == NULL ? 1 : tile->weight[t];
        if (K == 1) {
            double p[2];
            dni_sigmoid(*scores, p);
            *scores = v * p[0] * p[1];
            continue;
        }
        dni_softmax(scores, K, scores);
        for (size_t k = 0; k < K; k++) {
            scores[k] *= v * (1 - scores[k]);
        }
    }
}

/* squares [width × K] += Σ c z²; dense rows are centred, sparse ones are not. */
static void add_squares(const dni_logistic *loss, dn_matrix x, const double *c, double *squares) {
    size_t K = loss->n_scores, d = loss->width - 1;
    for (size_t t = 0; t < x.n_rows; t++, c += K) {
        if (x.kind == DN_DENSE) {
            const double *row = x.values + t * x.stride;
            for (size_t j = 0; j < d; j++) {
                double z = (row[j] - loss->shift[j]) / loss->scale[j];
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

/* out [n]: Σ c z² as [width × K], the intercepts' left 0; behind it [n]: Σ c [x, 1] as a gradient. */
static dn_status diagonal_block(const void *arg, const dn_block *block, size_t slot_number,
                                double *out, dn_error *err) {
    const dni_logistic *loss = arg;
    double *scores = loss->slots[slot_number].scores;
    for (size_t first = 0; first < block->x.n_rows; first += DNI_TILE_ROWS) {
        dn_status status = dn_run_stop(loss->run, err);
        if (status != DN_OK) {
            return status;
        }
        dn_block tile = dni_logistic_tile(block, first);
        dni_tile_scores(tile.x, loss->table, loss->n_scores, scores);
        curvatures(&tile, loss->n_scores, scores);
        add_squares(loss, tile.x, scores, out);
        dni_tile_gradient(tile.x, scores, loss->n_scores, out + loss->n);
    }
    return DN_OK;
}

dn_status dni_logistic_diagonal(void *ctx, const dn_run *run, const double *x, double *diagonal,
                                dn_error *err) {
    dni_logistic *loss = ctx;
    size_t width = loss->width, d = width - 1, K = loss->n_scores;
    dni_logistic_state(loss, x, loss->stated);
    dni_logistic_set_table(loss, loss->stated, loss->table);
    dn_status status =
        dn_run_sum(run, loss->rows, &(dn_sum){diagonal_block, loss, sizeof *loss, 2 * loss->n},
                   loss->products, err);
    if (status != DN_OK) {
        return status;
    }
    const double *squares = loss->products, *sums = squares + loss->n;
    size_t by_score = loss->sparse ? 1 : width,
           by_column = loss->sparse ? K : 1; /* where `sums` has them */
    for (size_t k = 0; k < K; k++) {
        double total = sums[k * by_score + d * by_column];
        for (size_t j = 0; j < d; j++) {
            double m = loss->shift[j], s = loss->scale[j], sum = squares[j * K + k];
            if (loss->sparse) {
                sum = (sum - 2 * m * sums[k * by_score + j * by_column] + m * m * total) / (s * s);
            }
            sum = sum / loss->total_weight + 2 * loss->lambda / s / s;
            diagonal[k * width + j] = sum > 0 ? sum : 1;
        }
        diagonal[k * width + d] = total > 0 ? total / loss->total_weight : 1;
    }
    return DN_OK;
}
