/* Declarations shared by the files of the perceptron. */
#ifndef DNI_PERCEPTRON_FIT_H
#define DNI_PERCEPTRON_FIT_H

#include "base/random.h"
#include <discern/algorithm.h>

typedef struct dni_perceptron dni_perceptron;

/* A criterion: the loss of a row with s = wᵀy <= b, and the step at such a row. */
typedef struct dni_perceptron_criterion {
    const char *name;  /* value of the parameter "criterion" */
    double margin;     /* value of margin "auto": b */
    double rate;       /* value of learning_rate "auto": η */
    bool random_start; /* init "auto" is "random", because w = 0 is a stationary point */
    bool descends;     /* steps become small near a minimum: the fit may stop by `tolerance` */
    /* Returns the factor of y. */
    double (*step)(const dni_perceptron *p, dn_matrix x, size_t t, double s);
    double (*loss)(const dni_perceptron *p, dn_matrix x, size_t t, double s);
} dni_perceptron_criterion;

/* Indices of dni_perceptron_criteria. The last entry of the array has the name NULL. */
enum { DNI_PERCEPTRON_ERRORS, DNI_PERCEPTRON_SQUARED, DNI_PERCEPTRON_RELAXATION };
extern const dni_perceptron_criterion dni_perceptron_criteria[];

/* The rate of pass k: η, η/k or η/√k. */
typedef enum dni_perceptron_schedule {
    DNI_PERCEPTRON_CONSTANT,
    DNI_PERCEPTRON_INVERSE,
    DNI_PERCEPTRON_INVERSE_ROOT
} dni_perceptron_schedule;

/* Errors of one weight vector w on the training rows. */
typedef struct dni_perceptron_count {
    double errors;     /* Σv of the errors: the rows with wᵀy <= 0 */
    double error_rows; /* number of errors with v > 0 */
    double within;     /* number of rows with wᵀy <= b, the errors included */
    double objective;  /* value of the criterion */
    double least;      /* smallest wᵀy */
} dni_perceptron_count;

/* Minima and maxima of one thread. They do not depend on the order of the rows. */
typedef struct dni_perceptron_slot {
    double least[2];           /* smallest wᵀy of each candidate */
    double square;             /* largest ‖y‖² */
    double least_v, largest_v; /* smallest and largest row weight > 0 */
} dni_perceptron_slot;

/* Arrays of a fit. */
typedef struct dni_perceptron_arrays {
    double *w;         /* [width] current weights */
    double *before;    /* [width] weights before the current pass */
    double *longest;   /* [width] weights; see out_longest of dni_perceptron_pass */
    double *kept;      /* [width] best weights so far: the pocket */
    double *direction; /* [width] batch mode: Σ v·step at w */
    double *raw;       /* [width] weights for raw features, for a snapshot */
    double *sums;      /* [DNI_PERCEPTRON_SUMS + width] result of a pass that counts errors */
    dni_perceptron_slot *slots; /* [n_slots] */
    size_t *blocks, *order;     /* [n_blocks], [DN_BLOCK_ROWS]; NULL if not shuffled */
} dni_perceptron_arrays;

struct dni_perceptron {
    const dn_fit_input *input;
    const dn_run *run;
    const dni_perceptron_criterion *criterion;
    bool batch;          /* true: one step per pass; false: one step per row */
    bool mean;           /* batch: the step is divided by Σv */
    bool second_at_zero; /* a row of the second class with wᵀy = 0 is no error */
    bool random_start;   /* w is random at the start */
    const double *start; /* [width] w at the start, for raw features; NULL: random or 0 */
    double margin;       /* b */
    double rate;         /* η */
    /* Criterion squared: steps are divided by it; max ‖y‖² with normalize_step, otherwise 1. */
    double divisor;
    dni_perceptron_schedule schedule;
    double tolerance;
    size_t max_iterations;
    size_t width; /* d + 1: the intercept is the last weight */
    dni_perceptron_arrays a;
    /* properties of the rows, set by dni_perceptron_measure */
    double weight;             /* Σv */
    double rows;               /* number of rows with v > 0 */
    double square;             /* R² = max ‖y‖² */
    double least_v, largest_v; /* smallest and largest row weight > 0 */
    /* state of the iteration */
    dni_random random; /* generator for the order of the rows */
    size_t iterations;
    double updates;                 /* number of changes of w so far */
    dni_perceptron_count now, best; /* errors of w and of `kept` */
    size_t best_iteration;          /* number of the pass that set `kept`; 0: the start */
};

#define DNI_PERCEPTRON_SUMS 8 /* 4 sums for each of 2 candidates */

/* ---- perceptron_pass.c ---- */
/* Sets the properties of the rows in one pass over them. `square` is INFINITY if it overflows.
 * DN_ERR_DATA: no row has a weight above 0. */
DN_MUST_USE dn_status dni_perceptron_measure(dni_perceptron *p, dn_error *err);
/* Counts the errors of n = 1 or 2 weight vectors in one pass over the rows: out[i] ← the errors of
 * candidates[i], [width]. In batch mode n is 1, and the function also computes p->direction. */
DN_MUST_USE dn_status dni_perceptron_evaluate(dni_perceptron *p, const double *const *candidates,
                                              size_t n, dni_perceptron_count *out, dn_error *err);
/* One pass with the rate η.
 *
 * Sequential: visits every row once on the calling thread and changes w at each row with wᵀy <= b.
 * Reports each change if the run wants reports of updates.
 * Batch: one step along `direction`, which must have been computed at w.
 *
 *   out_updates   number of changes of w
 *   out_longest   `longest` is set to the w that classified the most consecutive rows correctly, of
 *                 all w that this pass both set and replaced. *out_longest ← the number of these
 *                 rows; 0 if there is no such w */
DN_MUST_USE dn_status dni_perceptron_pass(dni_perceptron *p, double rate, size_t *out_updates,
                                          size_t *out_longest, dn_error *err);

/* Reports the progress after w has changed, with the counts in p->now. Requires run->progress.
 *
 *   number  iteration or update
 *   row     training row of the update; SIZE_MAX: none or several */
void dni_perceptron_report(dni_perceptron *p, size_t number, size_t row);

/* ---- perceptron_pocket.c ---- */
/* Runs all passes. Call it after dni_perceptron_measure. *out_reason ← why the passes ended.
 * DN_ERR_NUMERIC: the weights are not finite. */
DN_MUST_USE dn_status dni_perceptron_iterate(dni_perceptron *p, dn_stop_reason *out_reason,
                                             dn_error *err);

#endif
