/* What depends on the ranks of scores: ROC area, average precision, their curves. */
#ifndef DNI_RANKING_H
#define DNI_RANKING_H

#include "evaluate/descending.h"
#include <discern/metrics.h>

/* Scores of rows, kept until they are sorted. */
typedef struct dni_ranking {
    const dn_run *run; /* the caller's, or NULL */
    size_t n_columns;  /* 1: of the second of two classes; K: one for each class */
    size_t room, n;    /* rows there is room for, rows added */
    double *score;     /* [n_columns × room] column by column */
    double *weight;    /* [room]; NULL: all 1 */
    uint32_t *truth;   /* [room] class indexes */
    dni_pairs scratch;
    uint32_t *row; /* [room] what is sorted with a column */
    bool broken;   /* a score is NaN: nothing can be ranked */
    void *memory;  /* of all of it */
} dni_ranking;

/* Room for the rows of `options`, or the reason why there is none (DN_ERR_BUDGET, DN_ERR_MEMORY). */
DN_MUST_USE dn_status dni_ranking_init(dni_ranking *ranking, const dn_metrics_options *options,
                                       dn_error *err);
/* {0} is allowed. */
void dni_ranking_done(dni_ranking *ranking);
/* One row; scores [n_columns]. */
void dni_ranking_add(dni_ranking *ranking, size_t truth, double weight, const double *scores);
/* Sorts column after column: *out_roc and *out_precision ← means of the areas where defined. With curves (n_curves = n_columns, roc and precision_recall zeroed) fills them,
 * at most most_points points each, malloc'ed. DN_ERR_STOPPED, DN_ERR_TIME, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dni_ranking_finish(dni_ranking *ranking, size_t most_points,
                                         dn_curves *curves, double *out_roc, double *out_precision,
                                         dn_error *err);

#endif
