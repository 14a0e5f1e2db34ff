/* Sequential minimal optimisation: the dual of a machine with a kernel.
 *
 *   min ½ Σ_ij a_i a_j K_ij − Σ_i l_i a_i   over a_i = t_i α_i,  0 <= α_i <= u_i,  t_i = ±1
 *
 * The sum of a_i over each group of variables is constant: one group (free intercept), two (hard
 * margin: the hulls of the classes), or none (no intercept). l_i = t_i for the hinge loss, 0 for
 * one class and for hulls.
 *
 * With the gradient g_i = l_i − Σ_j K_ij a_j, `up` is the set of variables that can increase (t =
 * 1: α < u; t = −1: α > 0), `low` the set of those that can decrease. At the minimum max_up g <=
 * min_low g in each group. A step decreases a_j and increases a_i by the same amount: i has the
 * largest g in `up`, j decreases the objective most by second-order information.
 *
 * Sources: Platt, 1998; Fan, Chen and Lin, JMLR 6, 2005, algorithm 2, WSS 2; shrinking: Chang and
 * Lin, LIBSVM, ACM TIST 2, 2011, section 5. */
#ifndef DNI_SMO_H
#define DNI_SMO_H

#include "learners/shared/smo/smo_rows.h"

#define DNI_SMO_MAX_GROUPS 2

typedef struct dni_smo {
    /* The problem. */
    size_t n;
    const signed char *t; /* [n] */
    const double *upper;  /* [n] u > 0; INFINITY is allowed */
    const double *linear; /* [n] l */
    size_t n_groups;      /* 0: no constraint */
    /* Group k ends at group_end[k], where group k + 1 begins; the last one ends at n. */
    size_t group_end[DNI_SMO_MAX_GROUPS];
    /* Violations are in units of 2 objective/unit: the squared distance of hulls; for one
     * class, about the size of f. */
    bool relative;
    double least; /* smallest value of 2 objective in that unit */
    double unit;  /* Σα of a group */
    /* The solver stops when the objective is at most this: the hulls touch. */
    double vanishes;
    double tolerance; /* > 0: violation max_up g − min_low g at which the problem is solved */
    /* A smaller violation that is aimed at with a limited number of further steps; `tolerance`:
     * none. */
    double fine;
    double max_iterations; /* most steps */
    /* The start and the solution. */
    double *alpha;     /* [n] feasible at the start */
    double *g;         /* [n] out: the gradient, from kernel values in double precision */
    double violation;  /* out: the largest violation */
    double iterations; /* out: steps */
    double objective;  /* out: the value at the solution */
    bool converged;    /* out: violation <= tolerance */
} dni_smo;

/* Receives progress: every thousand steps and at the end, on the thread that called dni_smo_solve.
 * NULL in dni_smo_solve: no reports. */
typedef struct dni_smo_listener {
    void (*report)(void *ctx, double iterations, double violation, double objective);
    void *ctx;
} dni_smo_listener;

/* Solves the problem; polls for cancellation. The problem is solved if smo->converged.
 *
 * Errors: DN_ERR_NUMERIC if kernel values are not finite; those of memory and cancellation. */
DN_MUST_USE dn_status dni_smo_solve(dni_smo *smo, dni_smo_rows *rows, const dn_run *run,
                                    const dni_smo_listener *listener, dn_error *err);
/* The default of max_iterations in thousands: 10 million, or 100 per row if that is more. */
double dni_smo_thousands(size_t n_rows);
/* Bytes of working memory for n variables, without the rows'. */
double dni_smo_memory(size_t n);

#endif
