/* Loss functions of linear scores. Each loss is a table of functions.
 *
 * The loss ℓ of a row depends on its scores g [n_scores] and its class; a row of weight v adds vℓ.
 * Two classes have one score, which is positive for the second class; K > 2 classes have K scores.
 * The functions take the scores of a tile, [tile->x.n_rows × n_scores]. A new loss needs only a new
 * table. */
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
    /* scores ← v ∂ℓ/∂g. Adds the sums over the tile to *sums. */
    void (*residuals)(const dni_tile *tile, size_t n_scores, double *scores, dni_loss_sums *sums);
    /* q ← v (∂²ℓ/∂g²) q, with q [n_rows × n_scores]. Overwrites `scores`. For a quadratic loss
     * `scores` may be NULL. The function is NULL for a loss that is not convex. */
    void (*along)(const dni_tile *tile, size_t n_scores, double *scores, double *q);
    /* The three functions below are for the Hessian matrix. NULL: the loss does not have them. */
    /* scores ← v ∂²ℓ/∂g_k². */
    void (*diagonal)(const dni_tile *tile, size_t n_scores, double *scores);
    /* Converts the scores, in place, to the input `prepared` of `pair`. */
    void (*prepare)(size_t n_rows, size_t n_scores, double *scores);
    /* c [n_rows] ← v |∂²ℓ/∂g_k∂g_l|. The derivative must be >= 0 for k = l, and <= 0 for k ≠ l. */
    void (*pair)(const dni_tile *tile, size_t n_scores, const double *prepared, size_t k, size_t l,
                 double *c);
    /* Upper bound of the largest eigenvalue of ∂²ℓ/∂g², over all g. */
    double (*largest_curvature)(size_t n_scores);
} dni_loss;

/* −ln p(true class), with p the sigmoid or the softmax of the scores. loss_probability.c */
extern const dni_loss dni_loss_cross_entropy;
/* ½ Σ_k (p_k − r_k)², half the Brier score, with r the 1-of-K target. Not convex. Two classes have
 * one output p. loss_probability.c */
extern const dni_loss dni_loss_squared_probability;
/* ½ Σ_k (T_k − g_k)², with the scores as outputs. loss_squares.c */
extern const dni_loss dni_loss_squares;

/* Returns the target T of score s for a row of class k: 1 if s = k, otherwise 0; for two classes −1
 * or 1. */
static inline double dni_squares_target(size_t n_scores, size_t s, size_t k) {
    return n_scores == 1 ? (k == 1 ? 1 : -1) : s == k;
}

#endif
