/* A working set of points whose affine hull's point nearest to the origin is wanted: a Cholesky factor that points join and leave.
 *
 *   M = A Aᵀ + lift · E Eᵀ,   rows of A the points, E_ic = 1 for a point of group c:  positive definite when no point lies in what the others of its group, with the
 *   directions between all, span
 * Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11, 1976; here of one polytope or of the difference of two. */
#ifndef DNI_SVM_CORRAL_H
#define DNI_SVM_CORRAL_H

#include <discern/run.h>
#include <stdbool.h>
#include <stddef.h>

#define DNI_CORRAL_GROUPS 2

typedef struct dni_corral {
    size_t n, capacity, n_groups;
    double lift;          /* of the size of the points' squares */
    size_t *index;        /* [capacity] which points */
    unsigned char *group; /* [capacity] 0 … n_groups - 1 */
    double *beta;         /* [capacity] their shares: of each group the sum is 1 */
    double *
        factor; /* Cholesky factor of M, rows one behind the other without what is above the diagonal */
    double *columns;       /* [DNI_CORRAL_GROUPS × capacity] M⁻¹E */
    double *cosine, *sine; /* [capacity] rotations of a removal */
    double *row;           /* [capacity + 1] */
    void *memory, *numbers;
} dni_corral;

/* Bytes. */
double dni_corral_memory(size_t capacity);
/* *corral is to be freed with dni_corral_done even after a failure. */
DN_MUST_USE dn_status dni_corral_init(dni_corral *corral, size_t capacity, size_t n_groups,
                                      double lift, const dn_run *run, dn_error *err);
void dni_corral_done(dni_corral *corral, const dn_run *run);

/* A point with its products with the points there, [n], and with itself joins with share `beta`. false: it depends on them to working precision, or there is no room. O(n²). */
bool dni_corral_join(dni_corral *corral, size_t index, unsigned group, const double *products,
                     double square, double beta);
/* Point k leaves. O(n²). */
void dni_corral_leave(dni_corral *corral, size_t k);
/* out [n] ← the minimiser of ½ outᵀ A Aᵀ out + slopeᵀ out with Σ out over group c = sums[c]; slope [n], NULL: 0. false: arithmetic does not allow it. O(n²). */
bool dni_corral_minimise(dni_corral *corral, const double *slope,
                         const double sums[DNI_CORRAL_GROUPS], double *out);

#endif
