/* Losses of linear scores, each a table of functions.
 *
 * The loss ℓ of a row depends on its scores g [n_scores] and its class; a row of weight v adds vℓ.
 * Two classes have one score, which is positive for the second class; K > 2 classes have K scores.
 * The functions work on the scores of a tile, [tile->x.n_rows × n_scores]. Adding a loss is adding
 * a table; nothing outside it depends on which loss a problem has. */
#ifndef DNI_LINEAR_LOSS_H
#define DNI_LINEAR_LOSS_H

#include "linalg/tiles.h"

/* Sums over rows. */
typedef struct dni_loss_sums {
    double loss;        /* Σ vℓ */
    double wrong;       /* Σ v of the misclassified rows */
    double unseparated; /* rows with v > 0 whose true class has no score above all others */
} dni_loss_sums;

typedef struct dni_loss {
    const char *name;
    bool convex;
    bool quadratic; /* the second derivatives do not depend on the scores */
    /* scores ← v ∂ℓ/∂g, and the tile's contributions added to `sums`. */
    void (*residuals)(const dni_tile *tile, size_t n_scores, double *scores, dni_loss_sums *sums);
    /* q ← v (∂²ℓ/∂g²) q. Overwrites `scores`, which a quadratic loss does not read (NULL). */
    void (*along)(const dni_tile *tile, size_t n_scores, double *scores, double *q);
    /* NULL: the loss has no functions for a Hessian matrix. */
    /* scores ← v ∂²ℓ/∂g_k². */
    void (*diagonal)(const dni_tile *tile, size_t n_scores, double *scores);
    /* scores ← what `pair` reads. */
    void (*prepare)(size_t n_rows, size_t n_scores, double *scores);
    /* c [n_rows] ← v |∂²ℓ/∂g_k∂g_l|: the derivative is >= 0 for k = l, <= 0 otherwise. */
    void (*pair)(const dni_tile *tile, size_t n_scores, const double *prepared, size_t k, size_t l,
                 double *c);
    /* Upper bound of the largest eigenvalue of ∂²ℓ/∂g², over all g. */
    double (*largest_curvature)(size_t n_scores);
} dni_loss;

/* −ln p(true class), with p the sigmoid or the softmax of the scores. loss_probability.c */
extern const dni_loss dni_loss_cross_entropy;
/* ½ Σ_k (p_k − r_k)², half the Brier score, with r the 1-of-K target. Not convex. One output p for
 * two classes. loss_probability.c */
extern const dni_loss dni_loss_squared_probability;
/* ½ Σ_k (T_k − g_k)² of the scores themselves. loss_squares.c */
extern const dni_loss dni_loss_squares;

/* Target T of score s for a row of class k: 1 of K; −1 and 1 for two classes. */
static inline double dni_squares_target(size_t n_scores, size_t s, size_t k) {
    return n_scores == 1 ? (k == 1 ? 1 : -1) : s == k;
}

#endif
