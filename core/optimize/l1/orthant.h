/* Steps within one orthant of F(x) = f(x) + Σ l1_i |x_i|, where the objective is smooth. A step
 * that would leave the orthant ends at its border. */
#ifndef DNI_ORTHANT_H
#define DNI_ORTHANT_H

#include "optimize/objective.h"

#define DNI_ORTHANT_TRIALS 40 /* enough for any descent direction */

/* Input and output of a search. */
typedef struct dni_orthant_search {
    const double *x;           /* [n] the present point */
    const double *subgradient; /* [n] of least norm there (l1.h) */
    const double
        *direction;     /* [n] with Σ subgradient_i·direction_i < 0; for a variable at 0, either 0
                                or of the sign opposite to its subgradient */
    double value;       /* F(x) */
    double first_step;  /* > 0, tried first */
    size_t most_trials; /* > 0 */
    double *x_new;      /* [n] out */
    double *gradient_new; /* [n] out: ∇f(x_new) */
    double value_new;     /* out */
    size_t evaluations;   /* out: added to, one for each trial */
} dni_orthant_search;

/* Sets direction_i to 0 for variables at 0 that it would move against the orthant, or whose
 * subgradient is 0. A direction −B·subgradient with B positive definite on the free variables stays
 * a descent direction. */
void dni_orthant_align(const double *x, const double *subgradient, size_t n, double *direction);

/* Halves the step until F decreases. *found is false if none of most_trials steps decreases it:
 * with DNI_ORTHANT_TRIALS x may be as good as rounding allows. Errors are those of the
 * objective. */
DN_MUST_USE dn_status dni_orthant_search_run(const dni_objective *objective, const dn_run *run,
                                             dni_orthant_search *search, bool *found,
                                             dn_error *err);

#endif
