/* A linear system with a Hessian that rounding may have made indefinite. */
#ifndef DNI_DEFINITE_H
#define DNI_DEFINITE_H

#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

/* A system H x = b on some of the variables. */
typedef struct dni_definite {
    const double *matrix; /* [order × order], the lower triangle */
    size_t order;
    const size_t
        *index; /* [n] ascending: which rows and columns of it make H; NULL: all, n = order */
    size_t n;
    double *factor; /* [n × n] work */
    double *scale;  /* [n] work */
} dni_definite;

/* x [n] ← H⁻¹b [n], H equilibrated to D^−½ H D^−½ with D its diagonal, so that units of the variables do not matter, and factored by Cholesky. Where H is not
 * definite a multiple of the identity is added until it is: 1e-12, 1e-10 … of its (unit) diagonal. *solved is false when none helps, which only happens when H
 * is not finite. Polls the run's stop, whose code is the only failure. O(n³/3). */
DN_MUST_USE dn_status dni_definite_solve(const dni_definite *system, const dn_run *run,
                                         const double *b, double *x, bool *solved, dn_error *err);

#endif
