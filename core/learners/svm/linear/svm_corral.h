/* The working set ("corral") of Wolfe's nearest-point algorithm: a set of points. The point of
 * their affine hull that is nearest to the origin is computed with a Cholesky factor, which is
 * updated when a point is added or removed.
 *
 *   M = A Aᵀ + penalty · E Eᵀ,   rows of A the points, E_ic = 1 for a point of group c
 *
 * M is positive definite if the differences (point − first point of its group) of all groups
 * together are linearly independent.
 *
 * Source: Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11, 1976; here
 * for one polytope or for the difference of two polytopes. */
#ifndef DNI_SVM_CORRAL_H
#define DNI_SVM_CORRAL_H

#include "base/layout.h"

#include <stdbool.h>
#include <stddef.h>

#define DNI_CORRAL_GROUPS 2

typedef struct dni_corral {
    size_t n, capacity, n_groups;
    double penalty; /* factor of E Eᵀ in M; of the order of the squared length of the points */
    size_t *index;  /* [capacity] row index of each point */
    unsigned char *group;  /* [capacity] group of each point, 0 … n_groups − 1 */
    double *coef;          /* [capacity] coefficient of each point; Σ over a group is 1 */
    double *factor;        /* Cholesky factor of M, packed lower triangle by rows */
    double *columns;       /* [DNI_CORRAL_GROUPS × capacity] M⁻¹E */
    double *cosine, *sine; /* [capacity] rotations while a point is removed */
    double *row;           /* [capacity + 1] working memory for a row of the factor */
} dni_corral;

typedef struct dni_corral_shape {
    size_t capacity;
} dni_corral_shape;

/* Reserves the arrays: the dni_layout_fn of a dni_corral with a dni_corral_shape. */
void dni_corral_layout(dni_layout *layout, const void *shape, void *corral);
/* Initialises an empty working set in reserved arrays. penalty: of the order of the squared lengths
 * of the points. */
void dni_corral_init(dni_corral *corral, size_t capacity, size_t n_groups, double penalty);

/* Adds a point with the coefficient `coef`.
 *
 *   products  [n] inner products of the point with the points in the set
 *   square    squared length of the point
 *
 * Returns false if, to working precision, M would be singular with the point, or if the set is
 * full. O(n²). */
bool dni_corral_add(dni_corral *corral, size_t index, unsigned group, const double *products,
                    double square, double coef);
/* Removes point k. O(n²). */
void dni_corral_remove(dni_corral *corral, size_t k);
/* out [n] ← the minimiser of ½ outᵀ A Aᵀ out + linearᵀ out subject to Σ out = sums[c] over each
 * group c.
 *
 *   linear  [n]; NULL for 0; may be out
 *
 * Returns false if the result is not finite. O(n²). */
bool dni_corral_minimise(dni_corral *corral, const double *linear,
                         const double sums[DNI_CORRAL_GROUPS], double *out);

#endif
