/* Squared error of linear scores: ℓ = ½ Σ_k (T_k − g_k)², ∂ℓ/∂g = g − T, ∂²ℓ/∂g² = I.
 *
 * A row with weight 0 is ignored, even if its scores are not finite. */
#include "learners/shared/linear/linear_loss.h"

#include <math.h>

static void squares_residuals(const dni_tile *tile, size_t n_scores, double *g,
                              dni_loss_sums *sums) {
    for (size_t t = 0; t < tile->x.n_rows; t++, g += n_scores) {
        const double v = tile->weight[t];
        const size_t truth = (size_t)tile->target[t];
        size_t best = n_scores == 1 && g[0] > 0;
        double sum = 0, rival = -(double)INFINITY;
        for (size_t k = 1; k < n_scores; k++) {
            if (g[k] > g[best]) {
                best = k;
            }
        }
        for (size_t k = 0; k < n_scores; k++) {
            rival = k != truth && g[k] > rival ? g[k] : rival;
        }
        const double margin = n_scores > 1 ? g[truth] - rival : truth == 1 ? g[0] : -g[0];
        for (size_t k = 0; k < n_scores; k++) {
            const double e = v == 0 ? 0 : g[k] - dni_squares_target(n_scores, k, truth);
            sum += e * e;
            g[k] = v * e;
        }
        sums->loss += v * sum / 2;
        sums->wrong += best != truth ? v : 0;
        sums->unseparated += v > 0 && !(margin > 0);
    }
}

static void squares_along(const dni_tile *tile, size_t n_scores, double *scores, double *q) {
    (void)scores;
    for (size_t t = 0; t < tile->x.n_rows; t++, q += n_scores) {
        for (size_t k = 0; k < n_scores; k++) {
            q[k] = tile->weight[t] == 0 ? 0 : tile->weight[t] * q[k];
        }
    }
}

static double squares_curvature(size_t n_scores) {
    (void)n_scores;
    return 1;
}

const dni_loss dni_loss_squares = {.name = "squares",
                                   .convex = true,
                                   .quadratic = true,
                                   .residuals = squares_residuals,
                                   .along = squares_along,
                                   .largest_curvature = squares_curvature};
