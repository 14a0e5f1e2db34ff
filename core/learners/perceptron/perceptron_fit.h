/* One fit of a perceptron: what its files share. */
#ifndef DNI_PERCEPTRON_FIT_H
#define DNI_PERCEPTRON_FIT_H

#include "base/random.h"
#include <discern/algorithm.h>

typedef enum dni_perceptron_criterion {
    DNI_PERCEPTRON_ERRORS,
    DNI_PERCEPTRON_SQUARED,
    DNI_PERCEPTRON_RELAXATION
} dni_perceptron_criterion;

/* η of pass k: η, η/k, η/√k. */
typedef enum dni_perceptron_schedule {
    DNI_PERCEPTRON_CONSTANT,
    DNI_PERCEPTRON_INVERSE,
    DNI_PERCEPTRON_INVERSE_ROOT
} dni_perceptron_schedule;

/* What all training rows say of some weights. */
typedef struct dni_perceptron_count {
    double errors;     /* Σv of the rows with wᵀy <= 0 */
    double error_rows; /* how many these are */
    double within;     /* how many rows have wᵀy <= b, the errors among them */
    double objective;  /* the criterion */
    double least;      /* least wᵀy */
} dni_perceptron_count;

/* Extremes are the same in whatever order they are found, so a slot may keep them. */
typedef struct dni_perceptron_slot {
    double least[2];           /* wᵀy of each candidate */
    double square;             /* largest ‖y‖² */
    double least_v, largest_v; /* row weights > 0 */
} dni_perceptron_slot;

typedef struct dni_perceptron {
    const dn_fit_input *input;
    const dn_run *run;
    dni_perceptron_criterion criterion;
    bool batch;        /* one step a pass; false: one a row */
    bool random_start; /* false: w = 0 */
    double margin;     /* b */
    double rate;       /* η */
    dni_perceptron_schedule schedule;
    double tolerance;
    size_t max_iterations;
    size_t width; /* d + 1: the intercept is the last weight */
    /* the rows, by dni_perceptron_measure */
    double weight;             /* Σv */
    double rows;               /* how many weigh more than nothing */
    double square;             /* R² = max ‖y‖² */
    double least_v, largest_v; /* row weights > 0 */
    /* memory */
    double *w;      /* [width] the present weights */
    double *before; /* [width] those before the pass */
    double
        *longest; /* [width] those of the last pass that stood longest, see dni_perceptron_pass */
    double *kept; /* [width] the best that were counted: the pocket */
    double *direction; /* [width] batch: the sum over the rows of their steps, as last counted */
    double *raw;       /* [width] weights of a snapshot; NULL: none is wanted */
    double *sums;      /* [DNI_PERCEPTRON_SUMS + width] */
    dni_perceptron_slot *slots; /* [run->n_slots] */
    size_t *blocks,
        *order;        /* shuffled: [n_blocks] and [DN_BLOCK_ROWS]; NULL: the rows in their order */
    dni_random random; /* of the order */
    /* the course so far */
    size_t iterations;
    double updates;                 /* changes of the weights */
    dni_perceptron_count now, best; /* of w and of kept */
    size_t best_iteration;          /* the pass that kept comes from; 0: the start */
} dni_perceptron;

#define DNI_PERCEPTRON_SUMS 8 /* numbers of two counts that are added up */

/* ---- perceptron_pass.c ---- */
/* One pass: the rows' number, weights and lengths. DN_ERR_NUMERIC names a feature whose values are too large; DN_ERR_DATA: no row has a weight. */
DN_MUST_USE dn_status dni_perceptron_measure(dni_perceptron *p, dn_error *err);
/* One pass: out[i] ← the count of candidates[i] (1 or 2 of them, [width]). In batch mode (one candidate) `direction` too. */
DN_MUST_USE dn_status dni_perceptron_judge(dni_perceptron *p, const double *const *candidates,
                                           size_t n, dni_perceptron_count *out, dn_error *err);
/* Sequential: visits every row once on this thread and changes w at each with wᵀy <= b. Batch: one step along `direction`, which belongs to w. `rate` is η of this pass.
 * *out_updates ← how often w was changed. *out_longest ← how many rows in a row were right under `longest`, a w that the pass both came to and left; 0: no such. */
DN_MUST_USE dn_status dni_perceptron_pass(dni_perceptron *p, double rate, size_t *out_updates,
                                          size_t *out_longest, dn_error *err);

/* ---- perceptron_pocket.c ---- */
/* All passes: kept, best and the course are filled; *out_reason ← why they ended. After dni_perceptron_measure. DN_ERR_NUMERIC: the weights left the finite numbers. */
DN_MUST_USE dn_status dni_perceptron_iterate(dni_perceptron *p, dn_stop_reason *out_reason,
                                             dn_error *err);

#endif
