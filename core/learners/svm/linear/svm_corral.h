/* The working set of Wolfe's nearest-point algorithm: points whose affine hull's nearest point to
 * the origin is computed from a Cholesky factor that points join and leave.
 *
 *   M = A Aᵀ + lift · E Eᵀ,   rows of A the points, E_ic = 1 for a point of group c
 *
 * M is positive definite if no point lies in the affine hull of the others of its group, extended
 * by the directions between all points.
 *
 * Source: Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11, 1976; here
 * for one polytope, or the difference of two. */
#ifndef DNI_SVM_CORRAL_H
#define DNI_SVM_CORRAL_H

#include "base/layout.h"

#include <stdbool.h>
#include <stddef.h>

#define DNI_CORRAL_GROUPS 2

typedef struct dni_corral {
    size_t n, capacity, n_groups;
    double lift;           /* of the order of the points' squared lengths */
    size_t *index;         /* [capacity] the points' row numbers */
    unsigned char *group;  /* [capacity] 0 … n_groups - 1 */
    double *beta;          /* [capacity] the points' shares; those of a group sum to 1 */
    double *factor;        /* Cholesky factor of M, packed lower triangle by rows */
    double *columns;       /* [DNI_CORRAL_GROUPS × capacity] M⁻¹E */
    double *cosine, *sine; /* [capacity] the rotations of a removal */
    double *row;           /* [capacity + 1] */
} dni_corral;

typedef struct dni_corral_shape {
    size_t capacity;
} dni_corral_shape;

/* Reserves the arrays of a working set; a dni_layout_fn of dni_corral_shape and dni_corral. */
void dni_corral_layout(dni_layout *layout, const void *shape, void *corral);
/* Empties a working set whose arrays are reserved; `lift` is of the order of the points'
 * squares. */
void dni_corral_init(dni_corral *corral, size_t capacity, size_t n_groups, double lift);

/* Adds a point with share `beta`.
 *
 *   products  [n] its products with the points in the set
 *   square    its product with itself
 *
 * Returns false if the point depends linearly on the others to working precision, or the set is
 * full. O(n²). */
bool dni_corral_join(dni_corral *corral, size_t index, unsigned group, const double *products,
                     double square, double beta);
/* Removes point k. O(n²). */
void dni_corral_leave(dni_corral *corral, size_t k);
/* out [n] ← the minimiser of ½ outᵀ A Aᵀ out + slopeᵀ out with Σ out = sums[c] over each group c.
 *
 *   slope  [n]; NULL for 0; may be out
 *
 * Returns false if the result is not finite. O(n²). */
bool dni_corral_minimise(dni_corral *corral, const double *slope,
                         const double sums[DNI_CORRAL_GROUPS], double *out);

#endif
