/* Passes for the search of a direction that separates the classes (logistic_separation.h).
 *
 * A pair (t, j) is a row t with v_t > 0 and a class j other than its class c. The vector of a pair
 * is a_tj = (e_c − e_j) ⊗ z_t with z = [(x − m)/s, 1]; the vector of a row of two classes is ±z_t.
 * The margin of a pair along a direction β is a_tjᵀβ, the score of c minus the score of j. p_tj is
 * the probability of class j at a point x. The support of x with a floor θ is the set of the pairs
 * with p_tj > θ. */
#ifndef DNI_LINEAR_SUPPORT_H
#define DNI_LINEAR_SUPPORT_H

#include "learners/shared/linear/linear_problem.h"

/* Number of bins of dni_linear_histogram: bin b has the pairs with 2^(−b−1) < p <= 2^(−b). */
enum { DNI_LINEAR_BINS = 64 };

/* Counts of pairs, for a direction and a support. */
typedef struct dni_linear_margins {
    double inside, outside; /* pairs in the support, and not in the support */
    double unproved;        /* pairs in the support with |margin| >= p/2 */
    double positive;        /* pairs with margin > tolerance */
    double negative;        /* pairs with margin < −tolerance */
    double square;          /* Σ margin² of the pairs outside the support */
} dni_linear_margins;

/* scores [n_rows × n_scores] ← the probabilities p of the wrong classes. With one score the number
 * is the probability of the wrong class; otherwise the number at the class of the row is
 * undefined. */
void dni_linear_rivals(const dni_tile *tile, size_t n_scores, double *scores);
/* c [n_rows] ← the absolute values of the weights of z zᵀ in block (k, l) of Σ v a aᵀ over the
 * support. rivals: from dni_linear_rivals. */
void dni_linear_support_pair(const dni_tile *tile, size_t n_scores, const double *rivals,
                             double floor, size_t k, size_t l, double *c);
/* matrix [n × n], lower triangle ← Σ v a aᵀ/Σv over the support of x, plus the curvature 1 along
 * null_basis and along equal changes of the weights of all classes. Needs DNI_LINEAR_HESSIAN.
 * linear_hessian.c */
DN_MUST_USE dn_status dni_linear_support_matrix(dni_linear_problem *problem, double floor,
                                                const double *x, double *matrix, dn_error *err);
/* out [n] ← Σ v p a/Σv over the support of x, in the solver's variables. */
DN_MUST_USE dn_status dni_linear_support_sum(dni_linear_problem *problem, double floor,
                                             const double *x, double *out, dn_error *err);
/* counts [DNI_LINEAR_BINS] ← the number of pairs in each bin of p at x. The last bin also has the
 * pairs with smaller p. */
DN_MUST_USE dn_status dni_linear_histogram(dni_linear_problem *problem, const double *x,
                                           double *counts, dn_error *err);
/* *out ← the counts at x for the direction [n]; both are solver's variables. Needs
 * DNI_LINEAR_PRODUCT. */
DN_MUST_USE dn_status dni_linear_count_margins(dni_linear_problem *problem, double floor,
                                               double tolerance, const double *x,
                                               const double *direction, dni_linear_margins *out,
                                               dn_error *err);

#endif
