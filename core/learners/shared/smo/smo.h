/* Sequential minimal optimisation: the dual of a machine with a kernel.
 *
 *   min ½ Σ_ij a_i a_j K_ij − Σ_i l_i a_i   over a_i = t_i α_i,  0 <= α_i <= u_i,  t_i = ±1
 *
 * The sum of a_i over each group of variables is constant. There is one group (free intercept), two
 * groups (hard margin: one group for the convex hull of each class), or none (no intercept). l_i =
 * t_i for the hinge loss, 0 for one-class machines and for the hard margin.
 *
 * With the gradient g_i = l_i − Σ_j K_ij a_j, `up` is the set of variables that can increase (t =
 * 1: α < u; t = −1: α > 0), `low` the set of those that can decrease. At the minimum max_up g <=
 * min_low g in each group. A step decreases a_j and increases a_i by the same amount. i has the
 * largest g in `up`; j is the variable for which the second-order model predicts the largest
 * decrease of the objective.
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
    /* Group k has the variables group_end[k − 1] … group_end[k] − 1, group 0 starts at variable 0.
     * The end of the last group is n. */
    size_t group_end[DNI_SMO_MAX_GROUPS];
    /* If is_relative, violations are divided by max(2·objective, min_scale)/alpha_sum. For the hard
     * margin 2·objective is the squared distance of the hulls; for a one-class machine
     * 2·objective/alpha_sum has the size of f. */
    bool is_relative;
    double min_scale;
    double alpha_sum; /* Σα of one group */
    /* If is_relative: the solver stops without a solution when the objective is at most
     * zero_objective. The hulls then touch. */
    double zero_objective;
    double tolerance; /* > 0: largest violation max_up g − min_low g of a solution */
    /* A smaller violation that the solver tries to reach with a limited number of further steps;
     * equal to `tolerance`: no further steps. */
    double fine_tolerance;
    /* The gradient that the steps have updated is the result where kernel values have double
     * precision and all variables are active. Its rounding errors add up: use it only for
     * tolerances far above the precision of double. Otherwise the gradient is computed again. */
    bool keep_gradient;
    double objective_unit; /* divisor of the objective in progress reports */
    double max_iterations; /* maximum number of steps */
    /* In and out: the starting point, then the solution. */
    double *alpha;     /* [n] feasible at the start */
    double *g;         /* [n] out: the gradient, from kernel values in double precision */
    bool has_gradient; /* g is set at the start: the gradient at alpha */
    double violation;  /* out: the largest violation */
    double iterations; /* out: number of steps */
    double objective;  /* out: the value at the solution */
    bool converged;    /* out: violation <= tolerance */
} dni_smo;

/* Solves the problem and polls the stop flag. smo->converged is true if the problem is solved.
 * Reports progress to run->progress, if it is not NULL, at least every thousand steps and at the
 * end: the iteration in thousands of steps, the violation as gradient_norm,
 * objective/objective_unit as loss.
 *
 * Errors: DN_ERR_NUMERIC if kernel values are not finite; those of dn_run_alloc and dn_run_stop. */
DN_MUST_USE dn_status dni_smo_solve(dni_smo *smo, dni_smo_rows *rows, const dn_run *run,
                                    dn_error *err);
/* Returns the default of max_iterations, in thousands of steps: 10 million steps, or 100 steps per
 * row if that is more. */
double dni_smo_thousands(size_t n_rows);
/* Bytes of working memory for n variables, without the kernel rows. */
double dni_smo_memory(size_t n);

#endif
