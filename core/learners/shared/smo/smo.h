/* Sequential minimal optimisation: the dual of a machine with a kernel.
 *
 *   min ½ Σ_ij a_i a_j K_ij − Σ_i l_i a_i   over a_i = t_i α_i,  0 <= α_i <= u_i,  t_i = ±1,
 *
 * with Σ a_i of each group of variables left as it is at the start: one group (free intercept), two (hard margin: the classes' own hulls), or none (no intercept, each variable by itself).
 * l_i = t_i for the hinge loss, 0 for one class and for hulls. In terms of the gradient g_i = l_i − Σ_j K_ij a_j: a_i may rise where i is in `up` (t = 1: α < u; t = −1: α > 0) and fall where it is in `low`;
 * at the minimum max_up g <= min_low g within each group. A step takes from the j and gives to the i of a group, i the greatest g in up, j the one that makes the objective fall most
 * by second-order information. Platt, 1998; Fan, Chen and Lin, JMLR 6, 2005: algorithm 2, WSS 2; shrinking after Chang and Lin, LIBSVM, ACM TIST 2, 2011, section 5. */
#ifndef DNI_SMO_H
#define DNI_SMO_H

#include "learners/shared/smo/smo_rows.h"

#define DNI_SMO_MAX_GROUPS 2

typedef struct dni_smo {
    /* the problem */
    size_t n;
    const signed char *t; /* [n] */
    const double *upper;  /* [n] u > 0, INFINITY allowed */
    const double *linear; /* [n] l */
    size_t n_groups;      /* 0: no constraint */
    size_t group_end
        [DNI_SMO_MAX_GROUPS]; /* group k is from the end of the one before to group_end[k]; the last is n */
    bool
        relative; /* violations count in units of twice the objective by `unit`: hulls, whose squared distance that is; one class, where it is about what f is like */
    double least; /* … but of no less than this */
    double unit;  /* Σα of a group */
    double
        vanishes; /* an objective at or below which there is nothing left to find: hulls that touch */
    double tolerance; /* > 0: greatest violation max_up g − min_low g at which it is solved */
    double
        fine; /* a smaller one that is aimed at as long as it costs little, in iterations beside those that `tolerance` took; tolerance: none */
    double max_iterations; /* steps */
    /* start and solution */
    double *alpha;     /* [n] feasible at the start */
    double *g;         /* [n] out: the gradient, in double from K in double */
    double violation;  /* out: the greatest; relative: in those units */
    double iterations; /* out: steps */
    double objective;  /* out: the minimum found */
    bool converged;    /* out: violation <= tolerance */
} dni_smo;

/* Progress of a solver that runs for long; NULL in dni_smo_solve: nobody listens. Called every thousand steps and at the end, on the thread that called dni_smo_solve. */
typedef struct dni_smo_listener {
    void (*report)(void *ctx, double iterations, double violation, double objective);
    void *ctx;
} dni_smo_listener;

/* Working memory from the run, whose stop is polled all along. DN_ERR_NUMERIC: values that are not finite. */
DN_MUST_USE dn_status dni_smo_solve(dni_smo *smo, dni_smo_rows *rows, const dn_run *run,
                                    const dni_smo_listener *listener, dn_error *err);
/* Most steps for so many rows when nobody says, in thousands: 10 million, or 100 for each row. */
double dni_smo_thousands(size_t n_rows);
/* Bytes that it takes for n variables, the rows' own apart. */
double dni_smo_memory(size_t n);

#endif
