/* Linear systems with a Hessian that may be indefinite by rounding. */
#ifndef DNI_DEFINITE_H
#define DNI_DEFINITE_H

#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

/* A system H x = b in all or some of the variables. */
typedef struct dni_definite {
    const double *matrix; /* [order × order], the lower triangle */
    size_t order;
    const size_t
        *index; /* [n] ascending: the rows and columns of `matrix` in H; NULL: all, n = order */
    size_t n;
    double *factor; /* [n × n] work */
    double *scale;  /* [n] work */
} dni_definite;

/* x [n] ← H⁻¹b [n]. H is equilibrated to D^−½ H D^−½ with D its diagonal, so that the result does
 * not depend on the units of the variables, and factored by Cholesky. If H is not positive
 * definite, a multiple of the identity is added: 1e-12, 1e-10 … of its (unit) diagonal, until it
 * is. *solved is false if none is enough: then H is not finite. Fails only by the run's stop.
 * O(n³/3). */
DN_MUST_USE dn_status dni_definite_solve(const dni_definite *system, const dn_run *run,
                                         const double *b, double *x, bool *solved, dn_error *err);

#endif
