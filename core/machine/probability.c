/* Sigmoid and softmax. The argument of exp is never above 0, so that exp does not overflow and
 * small probabilities keep their relative precision. */
#include "machine/probability.h"

#include <math.h>

void dni_sigmoid(double g, double out[2]) {
    double e = exp(-fabs(g));
    double likely = 1 / (1 + e), unlikely = e / (1 + e);
    out[0] = g > 0 ? unlikely : likely;
    out[1] = g > 0 ? likely : unlikely;
}

void dni_softmax(const double *g, size_t n, double *out) {
    double max = g[0], sum = 0;
    for (size_t k = 1; k < n; k++) {
        max = g[k] > max ? g[k] : max;
    }
    for (size_t k = 0; k < n; k++) {
        out[k] = exp(g[k] - max);
        sum += out[k];
    }
    for (size_t k = 0; k < n; k++) {
        out[k] /= sum;
    }
}

/* ---- pairwise coupling ----
 *
 *   minimise ½ Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)²  subject to Σ p_i = 1,   r_ij = P(i | i or j, x)
 *   Q_ii = Σ_{j≠i} r_ji²,  Q_ij = −r_ji r_ij;   at the optimum (Qp)_i = pᵀQp for all i.
 *
 * Fixed-point iteration (algorithm 2): for i = 1, 2, … p_i ← (pᵀQp − Σ_{j≠i} Q_ij p_j)/Q_ii, then
 * p is divided by its sum. r is clamped to [1e-7, 1 − 1e-7], as in the authors' implementation.
 *
 * Source: Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise
 * coupling, JMLR 5 (2004), section 4.2. */
#define MIN_PAIR_PROBABILITY 1e-7

size_t dni_coupling_work(size_t K) {
    return K * K + K;
}

/* Computes q [K × K], the matrix Q. */
static void coupling_fill(const double *scores, size_t K, double *q) {
    for (size_t i = 0; i < K; i++) {
        q[i * K + i] = 0;
    }
    for (size_t i = 0; i < K; i++) {
        for (size_t j = i + 1; j < K; j++) {
            double r[2]; /* r_ij, r_ji */
            dni_sigmoid(*scores++, r);
            for (int s = 0; s < 2; s++) {
                r[s] = fmax(MIN_PAIR_PROBABILITY, fmin(1 - MIN_PAIR_PROBABILITY, r[s]));
            }
            q[i * K + i] += r[1] * r[1];
            q[j * K + j] += r[0] * r[0];
            q[i * K + j] = q[j * K + i] = -r[0] * r[1];
        }
    }
}

/* qp ← Qp. Returns pᵀQp. */
static double coupling_product(const double *q, size_t K, const double *p, double *qp) {
    double sum = 0;
    for (size_t i = 0; i < K; i++) {
        qp[i] = 0;
        for (size_t j = 0; j < K; j++) {
            qp[i] += q[i * K + j] * p[j];
        }
        sum += p[i] * qp[i];
    }
    return sum;
}

void dni_coupling(const double *scores, size_t K, double *p, double *work) {
    double *q = work, *qp = work + K * K;
    size_t rounds = K < 100 ? 100 : K;
    coupling_fill(scores, K, q);
    for (size_t i = 0; i < K; i++) {
        p[i] = 1 / (double)K;
    }
    for (size_t round = 0; round < rounds; round++) {
        double value = coupling_product(q, K, p, qp), worst = 0;
        for (size_t i = 0; i < K; i++) {
            worst = fmax(worst, fabs(qp[i] - value));
        }
        if (worst < 1e-12 / (double)K) {
            return;
        }
        for (size_t i = 0; i < K; i++) {
            double step = (value - qp[i]) / q[i * K + i], whole = 1 + step;
            p[i] += step;
            value = (value + step * (step * q[i * K + i] + 2 * qp[i])) / (whole * whole);
            for (size_t j = 0; j < K; j++) {
                qp[j] = (qp[j] + step * q[i * K + j]) / whole;
                p[j] /= whole;
            }
        }
    }
}
