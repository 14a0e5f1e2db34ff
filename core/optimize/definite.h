/* Linear systems with a Hessian that may be indefinite because of rounding errors. */
#ifndef DNI_DEFINITE_H
#define DNI_DEFINITE_H

#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

/* The matrix of a system H x = b: all rows and columns of `matrix`, or those in `index`. */
typedef struct dni_definite {
    const double *matrix; /* [order × order]; only the lower triangle is read */
    size_t order;
    /* [n] ascending: the rows and columns of `matrix` that form H; NULL: all, n = order */
    const size_t *index;
    size_t n;
    /* > 0: nothing is added to the scaled matrix, and it counts as singular if a squared pivot is
     * at most this */
    double least_pivot;
    double *factor; /* [n × n] work */
    double *scale;  /* [n] work */
} dni_definite;

/* x [n] ← H⁻¹b [n]. H is scaled to D^−½ H D^−½, where D is the diagonal of H, and factored by
 * Cholesky; the scaling makes the result independent of the units of the variables. While the
 * factorisation fails, a multiple of the identity is added to the scaled matrix: 1e-12, 1e-10, …
 * *solved ← false if the factorisation fails with every multiple: then H is not finite, or singular
 * with a least_pivot. Fails only if the run is stopped. O(n³/3). */
DN_MUST_USE dn_status dni_definite_solve(const dni_definite *system, const dn_run *run,
                                         const double *b, double *x, bool *solved, dn_error *err);

#endif
