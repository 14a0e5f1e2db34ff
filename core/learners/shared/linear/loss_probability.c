/* Losses of the probabilities p = 1/(1 + e^−g) or p = softmax(g), and their derivatives.
 *
 *   cross-entropy  K = 2:  ℓ = ln(1 + e^{−tg}),  t = ±1        ∂ℓ/∂g = p − r
 *                  K > 2:  ℓ = ln Σ_k e^{g_k} − g_true          ∂ℓ/∂g_k = p_k − r_k
 *                          ∂²ℓ/∂g_k∂g_l = p_k (δ_kl − p_l)
 *   squared error  K = 2:  ℓ = ½(p − r)²  (one output)          ∂ℓ/∂g = (p − r) p (1 − p)
 *                  K > 2:  ℓ = ½Σ_k (p_k − r_k)²
 *                          ∂ℓ/∂g_k = p_k ((p_k − r_k) − Σ_l p_l (p_l − r_l))
 *
 * The derivative of the squared error is 0 where p is 0 or 1, so that a misclassified row far from
 * the boundary has no influence. Cross-entropy: Bishop, PRML, sections 4.3.2 and 4.3.4; squared
 * error: Alpaydın, section 10.8. */
#include "learners/shared/linear/linear_loss.h"
#include "machine/probability.h"

#include <math.h>

/* ---- values and first derivatives ---- */
static void residuals_two(double *g, bool squared, const dni_tile *tile, dni_loss_sums *sums) {
    for (size_t t = 0; t < tile->x.n_rows; t++) {
        double v = tile->weight[t];
        bool second = tile->target[t] > 0.5;
        double margin = second ? g[t] : -g[t];
        double e = exp(-fabs(g[t]));
        double miss = margin > 0 ? e / (1 + e) : 1 / (1 + e); /* 1 − p(true) */
        sums->wrong += (g[t] > 0) != second ? v : 0;
        sums->unseparated += v > 0 && !(margin > 0);
        if (squared) {
            sums->loss += v * miss * miss / 2;
            miss *= e / (1 + e) / (1 + e);
        } else {
            sums->loss += v * ((margin > 0 ? 0 : -margin) + log1p(e));
        }
        g[t] = v * (second ? -miss : miss);
    }
}

/* p [K]: probabilities on entry, v ∂ℓ/∂g of the squared error on return. miss: 1 − p(true). Returns
 * ℓ. */
static double square_many(double *p, size_t K, size_t truth, double miss, double v) {
    double squares = 0, mean = 0;
    for (size_t k = 0; k < K; k++) {
        double off = k == truth ? -miss : p[k];
        squares += off * off;
        mean += p[k] * off;
    }
    for (size_t k = 0; k < K; k++) {
        p[k] *= v * ((k == truth ? -miss : p[k]) - mean);
    }
    return squares / 2;
}

/* Subtracts the greatest score before taking exponentials, so that they cannot overflow. */
static void residuals_many(double *g, size_t K, bool squared, const dni_tile *tile,
                           dni_loss_sums *sums) {
    for (size_t t = 0; t < tile->x.n_rows; t++, g += K) {
        double v = tile->weight[t];
        size_t truth = (size_t)tile->target[t], best = 0;
        double rival = -(double)INFINITY, score = g[truth];
        for (size_t k = 0; k < K; k++) {
            if (g[k] > g[best]) {
                best = k;
            }
            if (k != truth && !(g[k] <= rival)) {
                rival = g[k];
            }
        }
        double greatest = g[best], sum = 0;
        for (size_t k = 0; k < K; k++) {
            g[k] = exp(g[k] - greatest);
            sum += g[k];
        }
        sums->wrong += best != truth ? v : 0;
        sums->unseparated += v > 0 && !(score > rival);
        double others = 0; /* sum·(1 − p(true)), without cancellation */
        for (size_t k = 0; k < K; k++) {
            others += k != truth ? g[k] : 0;
        }
        if (squared) {
            for (size_t k = 0; k < K; k++) {
                g[k] /= sum;
            }
            sums->loss += v * square_many(g, K, truth, others / sum, v);
            continue;
        }
        sums->loss += v * (log(sum) + (greatest - score));
        for (size_t k = 0; k < K; k++) {
            g[k] *= v / sum;
        }
        g[truth] = -v * (others / sum);
    }
}

static void entropy_residuals(const dni_tile *tile, size_t n_scores, double *scores,
                              dni_loss_sums *sums) {
    if (n_scores == 1) {
        residuals_two(scores, false, tile, sums);
    } else {
        residuals_many(scores, n_scores, false, tile, sums);
    }
}

static void squared_residuals(const dni_tile *tile, size_t n_scores, double *scores,
                              dni_loss_sums *sums) {
    if (n_scores == 1) {
        residuals_two(scores, true, tile, sums);
    } else {
        residuals_many(scores, n_scores, true, tile, sums);
    }
}

/* ---- second derivatives of the cross-entropy ---- */
static void entropy_along(const dni_tile *tile, size_t K, double *scores, double *q) {
    for (size_t t = 0; t < tile->x.n_rows; t++, scores += K, q += K) {
        double v = tile->weight[t], mean = 0;
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

static void entropy_diagonal(const dni_tile *tile, size_t K, double *scores) {
    for (size_t t = 0; t < tile->x.n_rows; t++, scores += K) {
        double v = tile->weight[t];
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

/* scores [n_rows × K] ← the probabilities p; with one score p(1 − p). */
static void entropy_prepare(size_t n_rows, size_t K, double *scores) {
    for (size_t t = 0; t < n_rows; t++) {
        if (K == 1) {
            double p[2];
            dni_sigmoid(scores[t], p);
            scores[t] = p[0] * p[1];
        } else {
            dni_softmax(scores + t * K, K, scores + t * K);
        }
    }
}

static void entropy_pair(const dni_tile *tile, size_t K, const double *p, size_t k, size_t l,
                         double *c) {
    for (size_t t = 0; t < tile->x.n_rows; t++, p += K) {
        c[t] = tile->weight[t] * (K == 1 ? p[0] : k == l ? p[k] * (1 - p[k]) : p[k] * p[l]);
    }
}

/* One score: p(1 − p) <= 1/4. K scores: the eigenvalues of diag(p) − ppᵀ are at most 1/2. */
static double entropy_curvature(size_t n_scores) {
    return n_scores == 1 ? 0.25 : 0.5;
}

/* One score: the maximum of |(2p − 3p²) p(1 − p)| is at p = (15 − √33)/24. K scores: at the maximum
 * only two classes have a probability above 0. In the direction (1, −1)/√2 of these two the
 * curvature is then 4 times that of one score. */
static double squared_curvature(size_t n_scores) {
    return n_scores == 1 ? 0.0771 : 0.3082;
}

const dni_loss dni_loss_cross_entropy = {.name = "cross_entropy",
                                         .convex = true,
                                         .residuals = entropy_residuals,
                                         .along = entropy_along,
                                         .diagonal = entropy_diagonal,
                                         .prepare = entropy_prepare,
                                         .pair = entropy_pair,
                                         .largest_curvature = entropy_curvature};

const dni_loss dni_loss_squared_probability = {.name = "squared_error",
                                               .residuals = squared_residuals,
                                               .largest_curvature = squared_curvature};
