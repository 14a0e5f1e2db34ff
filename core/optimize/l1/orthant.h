/* One orthant of F(x) = f(x) + Σ l1_i |x_i|: within it the objective is smooth, and a step that would leave it ends on its border. */
#ifndef DNI_ORTHANT_H
#define DNI_ORTHANT_H

#include "optimize/objective.h"

#define DNI_ORTHANT_TRIALS 40 /* enough for any direction that is one of descent at all */

/* Where the search starts and what it may write; F is the objective. */
typedef struct dni_orthant_search {
    const double *x;           /* [n] the present point */
    const double *subgradient; /* [n] of least norm there (l1.h) */
    const double *
        direction; /* [n] with Σ subgradient_i·direction_i < 0, and of a variable at 0 either 0 or against its subgradient */
    double value;  /* F(x) */
    double first_step;    /* > 0, tried first */
    size_t most_trials;   /* > 0 */
    double *x_new;        /* [n] out */
    double *gradient_new; /* [n] out: ∇f(x_new) */
    double value_new;     /* out */
    size_t evaluations;   /* out: added to, one for each trial */
} dni_orthant_search;

/* direction [n] ← the variables that a step may move: those not at 0, and those at 0 whose subgradient is not. The others, and what goes to the wrong side of 0,
 * become 0. A direction −B·subgradient with B positive definite on the free variables stays one of descent. */
void dni_orthant_align(const double *x, const double *subgradient, size_t n, double *direction);

/* Halves the step until F decreases. *found is false when none of most_trials steps does: with DNI_ORTHANT_TRIALS x may be as good as arithmetic allows. Errors are the objective's only. */
DN_MUST_USE dn_status dni_orthant_search_run(const dni_objective *objective, const dn_run *run,
                                             dni_orthant_search *search, bool *found,
                                             dn_error *err);

#endif
