/* Rank statistics: ROC area, average precision and their curves. */
#ifndef DNI_RANKING_H
#define DNI_RANKING_H

#include "evaluate/descending.h"
#include <discern/metrics.h>

/* The scores of all rows, kept for sorting. */
typedef struct dni_ranking {
    const dn_run *run;  /* the caller's, or NULL */
    size_t n_columns;   /* number of score columns: 1 (of the second class) with two classes,
                         * otherwise K */
    size_t capacity, n; /* maximum number of rows; number of rows added */
    double *score;      /* [n_columns × capacity] column by column */
    double *weight;     /* [capacity]; NULL: all 1 */
    uint32_t *truth;    /* [capacity] class indices */
    dni_pairs scratch;
    uint32_t *row;      /* [capacity] row numbers, sorted together with a column of scores */
    bool broken;        /* true: a score is NaN, so that the rows cannot be ranked */
    bool probabilities; /* the scores are probabilities, which has its own rule for ties */
    void *memory;       /* the allocation that contains all arrays */
} dni_ranking;

/* Allocates memory for the rows of `options`. DN_ERR_BUDGET, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_ranking_init(dni_ranking *ranking, const dn_metrics_options *options,
                                       dn_error *err);
/* Frees the memory of a ranking. The ranking may be zero-initialised. */
void dni_ranking_done(dni_ranking *ranking);
/* Adds one row; scores [n_columns]. */
void dni_ranking_add(dni_ranking *ranking, size_t truth, double weight, const double *scores);
/* Scores s1 >= s2 tie if s1 − s2 is at most this share of the range of the finite scores. */
#define DNI_RANK_TIE 1e-9
/* Probabilities p1 >= p2 of K classes tie if p1 − p2 <= K·DNI_PROBABILITY_TIE·p1. Equal votes give
 * probabilities that differ by the rounding of their sum, to which each class without a vote adds
 * 1e-15. */
#define DNI_PROBABILITY_TIE 2e-15

/* order [n] ← the rows of a column in descending order of score; the number of the last row of each
 * group of ties has the bits `last` as well. Sorts the column. DN_ERR_STOPPED, DN_ERR_TIME. */
DN_MUST_USE dn_status dni_ranking_order(dni_ranking *ranking, size_t column, uint32_t last,
                                        uint32_t *order, dn_error *err);

/* Quantile of the standard normal distribution at 0.975, for intervals of 95 %. */
#define DNI_NORMAL_95 1.9599639845400542355

/* Sorts the columns and computes the means of the areas over the classes where they are defined.
 *
 *   out_interval  [2] the interval of the ROC area for two classes; unchanged if undefined
 *   curves  NULL: not computed. Otherwise n_curves = n_columns; receives at most max_points points
 *           for each curve, allocated by malloc
 *
 * DN_ERR_STOPPED, DN_ERR_TIME, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_ranking_finish(dni_ranking *ranking, size_t max_points, dn_curves *curves,
                                         double *out_roc, double *out_precision,
                                         double *out_interval, dn_error *err);

#endif
