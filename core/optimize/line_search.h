/* Step length along a descent direction: weak Wolfe conditions, approximate ones near a minimum. */
#ifndef DNI_LINE_SEARCH_H
#define DNI_LINE_SEARCH_H

#include "optimize/objective.h"

/* Input and output of a search. */
typedef struct dni_line_search {
    const double *x;         /* [n] the present point */
    const double *direction; /* [n] */
    double value;            /* f(x) */
    double slope;            /* ∇f(x)·direction < 0 */
    double first_step;       /* > 0, tried first */
    double *x_new;           /* [n] out */
    double *gradient_new;    /* [n] out */
    double value_new;        /* out */
    double step;             /* out: x_new = x + step·direction */
    size_t evaluations;      /* out: added to */
} dni_line_search;

/* *found is false if no step decreases the objective: x may be as good as rounding allows. Errors
 * are those of the objective. */
DN_MUST_USE dn_status dni_line_search_run(const dni_objective *objective, const dn_run *run,
                                          dni_line_search *search, bool *found, dn_error *err);

#endif
