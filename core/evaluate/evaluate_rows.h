/* Scores of encoded rows, and results computed from the scores: metrics, or the number of
 * outliers. */
#ifndef DNI_EVALUATE_ROWS_H
#define DNI_EVALUATE_ROWS_H

#include "evaluate/held_out_rows.h"
#include <discern/metrics.h>
#include <discern/model.h>
#include <discern/rows.h>
#include <discern/run.h>

/* Metrics of rows that several models score, one after the other. */
typedef struct dni_pool {
    size_t n_rows;       /* maximum number of rows of all models */
    const dn_run *run;   /* must be valid until the metrics are finished or freed */
    dn_metrics *metrics; /* created for the first model; NULL before, and if `lost`. The caller
                          * finishes or frees them, also after a failure */
    bool lost;           /* there was no memory to score the rows of a model, and they were scored
                          * again: there are no metrics */
} dni_pool;

/* Receives the results of the rows that are evaluated, in order. */
typedef struct dni_row_sink {
    /* rows: as for dn_metrics_add, from row `first` on. An evaluation that is repeated begins with
     * row 0 again */
    void (*take)(void *arg, size_t first, const dn_metrics_rows *rows);
    void *arg;
    size_t n; /* set to the number of rows */
} dni_row_sink;

/* Rows encoded by the model's encoder. */
typedef struct dni_evaluate_input {
    const dn_rows *rows; /* targets are class indices; without targets the class is 0 */
    /* [source rows] weights of the metrics; NULL: all 1. The weights in `rows` are those of the
     * learner and are ignored */
    const double *weight;
    /* [source rows] needed with `weight` and `held_out`: `rows` are the rows of the source with the
     * role `wanted`, in order */
    const uint8_t *role;
    uint8_t wanted;
    const double *scores; /* [n_rows × n_scores] of the model's machines; NULL: they are computed */
    bool curves;
    dn_labels labels;
    const dn_rule *rule;   /* as in dn_prediction */
    dn_held_out *held_out; /* receives the predictions; NULL: they are not kept */
    dni_pool *pool;        /* receives the rows in addition; NULL: none */
    bool pool_curves;      /* the metrics of the pool have curves */
    dni_row_sink *sink;    /* of dni_evaluate_rows; NULL: none */
} dni_evaluate_input;

/* Computes the metrics of a model. One pass over the rows. The scores are computed on all threads
 * of the run; the rows are added to the metrics in order, on this thread. */
DN_MUST_USE dn_status dni_evaluate_rows(const dni_evaluate_input *input, const dn_model *model,
                                        const dn_run *run, dn_metrics **out, dn_error *err);

/* Adds the rows to input->pool only. */
DN_MUST_USE dn_status dni_evaluate_add(const dni_evaluate_input *input, const dn_model *model,
                                       const dn_run *run, dn_error *err);

/* Receives the scores of the next n rows: scores [n × n_scores], truth [n] class indices, weight
 * [n] (NULL: all 1). */
typedef void dni_scores_fn(void *arg, const double *scores, const size_t *truth,
                           const double *weight, size_t n);
/* Passes the scores of all rows to fn, tile by tile, in order. Errors: those of
 * dni_evaluate_rows. */
DN_MUST_USE dn_status dni_score_rows(const dni_evaluate_input *input, const dn_model *model,
                                     const dn_run *run, dni_scores_fn *fn, void *arg,
                                     dn_error *err);

/* Predictions of a model with DN_DECISION_OUTLIER for rows without true classes. */
typedef struct dni_outlier_count {
    double inliers, outliers; /* sums of weights */
    size_t rows;
} dni_outlier_count;
DN_MUST_USE dn_status dni_count_outliers(const dni_evaluate_input *input, const dn_model *model,
                                         const dn_run *run, dni_outlier_count *out, dn_error *err);

/* Estimates the bytes that an evaluation needs in addition to the rows. densities: the machines may
 * have class densities. */
double dni_evaluate_memory(size_t n_scores, size_t n_features, size_t n_classes, size_t n_slots,
                           bool densities);
/* Returns the bytes that ranking needs; 0 if there are too many scores to rank. Ranking is
 * optional. */
double dni_ranking_memory(size_t n_rows, size_t n_classes, bool weighted);

#endif
