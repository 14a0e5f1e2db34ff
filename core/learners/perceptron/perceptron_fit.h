/* One fit of a perceptron: what its files share. */
#ifndef DNI_PERCEPTRON_FIT_H
#define DNI_PERCEPTRON_FIT_H

#include "base/random.h"
#include <discern/algorithm.h>

typedef struct dni_perceptron dni_perceptron;

/* A criterion: what it adds up over the rows with s = wᵀy <= b, and its step at such a row. */
typedef struct dni_perceptron_criterion {
    const char *name;  /* as the parameter has it */
    double margin;     /* b of "auto" */
    double rate;       /* η of "auto" */
    bool random_start; /* w = 0 is a stationary point; `init` of "auto" is "random" */
    bool mean;         /* batch steps are divided by Σv; converges by `tolerance` */
    double (*step)(const dni_perceptron *p, dn_matrix x, size_t t, double s); /* factor of y */
    double (*loss)(const dni_perceptron *p, dn_matrix x, size_t t, double s);
} dni_perceptron_criterion;

/* Indexes of dni_perceptron_criteria, which ends with a name of NULL. */
enum { DNI_PERCEPTRON_ERRORS, DNI_PERCEPTRON_SQUARED, DNI_PERCEPTRON_RELAXATION };
extern const dni_perceptron_criterion dni_perceptron_criteria[];

/* η of pass k: η, η/k, η/√k. */
typedef enum dni_perceptron_schedule {
    DNI_PERCEPTRON_CONSTANT,
    DNI_PERCEPTRON_INVERSE,
    DNI_PERCEPTRON_INVERSE_ROOT
} dni_perceptron_schedule;

/* Errors of some weights on the training rows. */
typedef struct dni_perceptron_count {
    double errors;     /* Σv of the rows with wᵀy <= 0 */
    double error_rows; /* number of these rows */
    double within;     /* number of rows with wᵀy <= b, the errors included */
    double objective;  /* the criterion */
    double least;      /* smallest wᵀy */
} dni_perceptron_count;

/* Extremes do not depend on the order of the rows, so that each thread may keep its own. */
typedef struct dni_perceptron_slot {
    double least[2];           /* wᵀy of each candidate */
    double square;             /* largest ‖y‖² */
    double least_v, largest_v; /* row weights > 0 */
} dni_perceptron_slot;

/* Arrays of a fit. */
typedef struct dni_perceptron_arrays {
    double *w;                  /* [width] the present weights */
    double *before;             /* [width] those before the pass */
    double *longest;            /* [width] see dni_perceptron_pass */
    double *kept;               /* [width] the best weights so far: the pocket */
    double *direction;          /* [width] batch mode: Σ v·step at w */
    double *raw;                /* [width] weights of a snapshot */
    double *sums;               /* [DNI_PERCEPTRON_SUMS + width] */
    dni_perceptron_slot *slots; /* [n_slots] */
    size_t *blocks, *order;     /* shuffled: [n_blocks] and [DN_BLOCK_ROWS]; otherwise NULL */
} dni_perceptron_arrays;

struct dni_perceptron {
    const dn_fit_input *input;
    const dn_run *run;
    const dni_perceptron_criterion *criterion;
    bool batch;        /* one step a pass; false: one a row */
    bool random_start; /* false: w = 0 */
    double margin;     /* b */
    double rate;       /* η */
    dni_perceptron_schedule schedule;
    double tolerance;
    size_t max_iterations;
    size_t width; /* d + 1: the intercept is the last weight */
    dni_perceptron_arrays a;
    /* properties of the rows, set by dni_perceptron_measure */
    double weight;             /* Σv */
    double rows;               /* number of rows with v > 0 */
    double square;             /* R² = max ‖y‖² */
    double least_v, largest_v; /* row weights > 0 */
    /* state of the iteration */
    dni_random random; /* of the order */
    size_t iterations;
    double updates;                 /* changes of the weights */
    dni_perceptron_count now, best; /* of w and of kept */
    size_t best_iteration;          /* the pass that set kept; 0: the start */
};

#define DNI_PERCEPTRON_SUMS 8 /* sums of two counts */

/* ---- perceptron_pass.c ---- */
/* Sets the properties of the rows, in one pass; `square` is INFINITY if it overflows. DN_ERR_DATA:
 * no row has a weight. */
DN_MUST_USE dn_status dni_perceptron_measure(dni_perceptron *p, dn_error *err);
/* out[i] ← the count of candidates[i], 1 or 2 of them, [width] each, in one pass. In batch mode
 * (one candidate) also sets `direction`. */
DN_MUST_USE dn_status dni_perceptron_evaluate(dni_perceptron *p, const double *const *candidates,
                                              size_t n, dni_perceptron_count *out, dn_error *err);
/* One pass with the rate η.
 *
 * Sequential: visits every row once on this thread and changes w at each with wᵀy <= b. Batch: one
 * step along `direction`, which belongs to w.
 *
 *   out_updates   how often w was changed
 *   out_longest   how many consecutive rows `longest` classified correctly, a w that this pass both
 *                 set and replaced; 0: there is none */
DN_MUST_USE dn_status dni_perceptron_pass(dni_perceptron *p, double rate, size_t *out_updates,
                                          size_t *out_longest, dn_error *err);

/* ---- perceptron_pocket.c ---- */
/* Makes all passes, after dni_perceptron_measure. *out_reason ← why they ended. DN_ERR_NUMERIC: the
 * weights are no longer finite. */
DN_MUST_USE dn_status dni_perceptron_iterate(dni_perceptron *p, dn_stop_reason *out_reason,
                                             dn_error *err);

#endif
