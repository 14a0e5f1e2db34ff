/* Losses of rows in their scores g, with p = 1/(1 + e^−g) or softmax(g), and their derivatives.
 *
 *   cross-entropy  K = 2:  ℓ = ln(1 + e^{−tg}),  t = ±1        ∂ℓ/∂g = p − r
 *                  K > 2:  ℓ = ln Σ_k e^{g_k} − g_true          ∂ℓ/∂g_k = p_k − r_k
 *   squared error  K = 2:  ℓ = ½(p − r)²  (one output)          ∂ℓ/∂g = (p − r) p (1 − p)
 *                  K > 2:  ℓ = ½Σ_k (p_k − r_k)²                ∂ℓ/∂g_k = p_k ((p_k − r_k) − Σ_l p_l (p_l − r_l))
 *
 * The mean squared error is half the Brier score. Its derivative vanishes where p is 0 or 1, right or wrong: far from the boundary a row that is on the wrong side
 * pulls no more. Cross-entropy: Bishop, PRML, sections 4.3.2 and 4.3.4; squared error: Alpaydın, section 10.8. */
#include "learners/logistic/logistic_loss.h"

#include <math.h>

static void residuals_two(double *g, bool squared, const dn_block *tile,
                          dni_logistic_tally *tally) {
    for (size_t t = 0; t < tile->x.n_rows; t++) {
        double v = tile->weight == NULL ? 1 : tile->weight[t];
        bool second = tile->target[t] > 0.5;
        double margin = second ? g[t] : -g[t];
        double e = exp(-fabs(g[t]));
        double miss = margin > 0 ? e / (1 + e) : 1 / (1 + e); /* 1 − p(true) */
        tally->wrong += (g[t] > 0) != second ? v : 0;
        tally->unseparated += v > 0 && !(margin > 0);
        if (squared) {
            tally->loss += v * miss * miss / 2;
            miss *= e / (1 + e) / (1 + e);
        } else {
            tally->loss += v * ((margin > 0 ? 0 : -margin) + log1p(e));
        }
        g[t] = v * (second ? -miss : miss);
    }
}

/* p [K] of a row, miss = 1 − p(true) → v ∂ℓ/∂g of the squared error; returns ℓ. */
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

/* The greatest score is taken out before exponentials. */
static void residuals_many(double *g, size_t K, bool squared, const dn_block *tile,
                           dni_logistic_tally *tally) {
    for (size_t t = 0; t < tile->x.n_rows; t++, g += K) {
        double v = tile->weight == NULL ? 1 : tile->weight[t];
        size_t truth = (size_t)tile->target[t], best = 0;
        double rival = -(double)INFINITY, own = g[truth];
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
        tally->wrong += best != truth ? v : 0;
        tally->unseparated += v > 0 && !(own > rival);
        double others =
            0; /* 1 − p(true) as a sum of small numbers, not as a difference of large ones */
        for (size_t k = 0; k < K; k++) {
            others += k != truth ? g[k] : 0;
        }
        if (squared) {
            for (size_t k = 0; k < K; k++) {
                g[k] /= sum;
            }
            tally->loss += v * square_many(g, K, truth, others / sum, v);
            continue;
        }
        tally->loss += v * (log(sum) + (greatest - own));
        for (size_t k = 0; k < K; k++) {
            g[k] *= v / sum;
        }
        g[truth] = -v * (others / sum);
    }
}

void dni_logistic_residuals(const dni_logistic *loss, const dn_block *tile, double *scores,
                            dni_logistic_tally *tally) {
    if (loss->n_scores == 1) {
        residuals_two(scores, loss->squared, tile, tally);
    } else {
        residuals_many(scores, loss->n_scores, loss->squared, tile, tally);
    }
}

/* Of the cross-entropy p(1 − p) ≤ ¼ and diag(p) − ppᵀ ≤ ½. Of the squared error, one output: |(2p − 3p²) p(1 − p)|, greatest at p = (15 − √33)/24; more: found
 * where two classes share all the probability, which is that case in (1, −1)/√2 with both outputs: four times as much. */
double dni_logistic_curvature(const dni_logistic *loss) {
    if (loss->squared) {
        return loss->n_scores == 1 ? 0.0771 : 0.3082;
    }
    return loss->n_scores == 1 ? 0.25 : 0.5;
}
