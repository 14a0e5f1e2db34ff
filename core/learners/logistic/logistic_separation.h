/* The check whether the classes are separable, for fits without a penalty. */
#ifndef DNI_LOGISTIC_SEPARATION_H
#define DNI_LOGISTIC_SEPARATION_H

#include "learners/logistic/logistic_plan.h"
#include "learners/shared/linear/linear_rank.h"

/* Largest number of variables for which separation is checked. */
#define DNI_LOGISTIC_MAX_CHECKED DNI_RANK_MAX_WIDTH

typedef enum dni_separation {
    DNI_SEPARATION_UNKNOWN,  /* the point proves neither */
    DNI_SEPARATION_NONE,     /* the classes overlap: a finite minimum exists */
    DNI_SEPARATION_QUASI,    /* a direction has margins >= 0, and margins > 0 for some rows only */
    DNI_SEPARATION_COMPLETE, /* a direction has positive margins for all rows */
} dni_separation;

/* Looks for a proof at the point x [n] that the classes overlap, or that they are separable.
 *
 *   problem    of a fit without a penalty, with DNI_LINEAR_HESSIAN and DNI_LINEAR_PRODUCT and with
 *              its null_basis; n is at most DNI_LOGISTIC_MAX_CHECKED
 *   x          solver's variables, an iterate at which the gradient is small
 *   step       [n] the last step; NULL: none
 *   report     called with `ctx` before each part of the check, at most 12 times
 *   direction  [n] out: the separating direction for QUASI and COMPLETE; otherwise undefined
 *
 * Overwrites the tables of the problem; its gradient and sums are unchanged, and its `original` is
 * that of x. Polls the run's stop function. Cost: at most 3 × (2 Hessians, an eigenvalue problem of
 * order n, 5 passes). */
DN_MUST_USE dn_status dni_separation_check(dni_linear_problem *problem, const double *x,
                                           const double *step, void (*report)(void *ctx), void *ctx,
                                           double *direction, dni_separation *out, dn_error *err);
/* Bytes that dni_separation_check allocates for n variables. */
double dni_separation_bytes(size_t n);

#endif
