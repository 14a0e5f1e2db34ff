/* Backpropagation on a tile of rows.
 *
 *   two classes: ℓ = ln(1 + e^g) − r g, ∂ℓ/∂g = σ(g) − r;   K: ℓ = ln Σ e^{g_k} − g_r, ∂ℓ/∂g_k = p_k − [k = r]
 *   δ_L = v ∂ℓ/∂g;   δ_{l−1} = (δ_l W_lᵀ) ∘ h′
 *
 * Bishop, PRML, equations (5.54)–(5.56); Rumelhart, Hinton and Williams, Nature 323, 1986. */
#include "learners/mlp/mlp_loss.h"
#include "linalg/layer.h"

#include <math.h>

/* One score. */
static double sigmoid_residual(double g, double target, bool *wrong, double *loss) {
    const double e = exp(-fabs(g)), p = g >= 0 ? 1 / (1 + e) : e / (1 + e);
    *wrong = (g > 0) != (target == 1);
    *loss = log1p(e) + (g > 0 ? g : 0) - (target == 1 ? g : 0);
    return p - target;
}

/* K scores: residual [K] ← p − [k = truth]. */
static void softmax_residual(const double *g, size_t K, size_t truth, double *residual, bool *wrong,
                             double *loss) {
    size_t best = 0;
    double sum = 0;
    for (size_t k = 1; k < K; k++) {
        best = g[k] > g[best] ? k : best;
    }
    const double most = g[best], own = g[truth];
    *wrong = best != truth;
    for (size_t k = 0; k < K; k++) {
        sum += residual[k] = exp(g[k] - most);
    }
    for (size_t k = 0; k < K; k++) {
        residual[k] /= sum;
    }
    residual[truth] -= 1;
    *loss = log(sum) + (most - own);
}

void dni_mlp_residuals(const dni_mlp *loss, const double *scores, const double *target,
                       const double *weight, size_t n, double *residual, dni_mlp_tally *tally) {
    const size_t S = loss->n_scores;
    for (size_t t = 0; t < n; t++) {
        const double v = weight == NULL ? 1 : weight[t];
        double *r = residual + t * S, own;
        bool wrong;
        if (S == 1) {
            r[0] = sigmoid_residual(scores[t], target[t], &wrong, &own);
        } else {
            softmax_residual(scores + t * S, S, (size_t)target[t], r, &wrong, &own);
        }
        tally->loss += v > 0 ? v * own : 0;
        tally->wrong += wrong ? v : 0;
        for (size_t k = 0; k < S; k++) {
            r[k] = v > 0 ? v * r[k] : 0; /* a row that does not count may have any score */
        }
    }
}

dn_status dni_mlp_backward(const dni_mlp *loss, const double *w, size_t n, const double *says,
                           double *delta, dn_error *err) {
    const dni_layers *layers = &loss->layers;
    const size_t last = layers->n_layers - 1;
    size_t at = n * (loss->n_units - layers->units[last]);
    const double *table = w + loss->n - (layers->units[last - 1] + 1) * layers->units[last];
    for (size_t l = last; l > 0; l--) {
        const size_t units = layers->units[l], inputs = layers->units[l - 1],
                     below = at - n * inputs;
        dn_status status = dn_run_stop(loss->run, err);
        if (status != DN_OK) {
            return status;
        }
        dni_layer_backward(delta + at, n, table, inputs, units, delta + below);
        dni_activation_slopes(layers->activation, says + below, delta + below, n * inputs);
        table -= (dni_layers_inputs(layers, l - 1) + 1) * inputs;
        at = below;
    }
    return DN_OK;
}
