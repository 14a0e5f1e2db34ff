/* What a model gives for each row, kept so that the metrics of weighted rows can be computed again
 * and again: those of bootstrap samples. */
#ifndef DNI_ROW_RESULTS_H
#define DNI_ROW_RESULTS_H

#include "evaluate/ranking.h"
#include <discern/metrics.h>
#include <discern/model.h>

/* Metrics of a sample: those of dn_metric_name, then the macro mean of F1. */
size_t dni_n_measured(void);

typedef struct dni_row_results {
    const dn_run *run; /* its memory is used */
    size_t n, n_classes;
    uint32_t *cell; /* [n] truth · K + label; K² + truth: ambiguous */
    double *
        probability; /* [n × 4] of the label; log loss, brier, share of the calibration error; NULL:
                          * none */
    uint8_t *bin;    /* [n] bin of the calibration error */
    double *margin;  /* [n × 3] hinge, squared and logistic loss; NULL: none */
    /* [n_columns × n] for each score column the rows by descending score, with the bits below; NULL:
     * not ranked */
    uint32_t *order;
    size_t n_columns;
    dni_ranking ranking; /* scores, until the order is known */
    void *memory;
} dni_row_results;
#define DNI_ORDER_LAST ((uint32_t)1 << 31)     /* last row of a group of ties */
#define DNI_ORDER_POSITIVE ((uint32_t)1 << 30) /* row of the class */
#define DNI_ORDER_ROW (DNI_ORDER_POSITIVE - 1)

/* Prepares for options->n_rows rows. options: n_classes, probabilities, class_scores and run are
 * used; the run must be valid until dni_row_results_done. n_columns is 0 if there is no memory to
 * rank the rows, or they are too many. DN_ERR_BUDGET, DN_ERR_MEMORY. results: {0}; call
 * dni_row_results_done also after a failure. */
DN_MUST_USE dn_status dni_row_results_init(dni_row_results *results,
                                           const dn_metrics_options *options, dn_error *err);
void dni_row_results_done(dni_row_results *results);
/* Sets rows first … first + rows->n − 1. */
void dni_row_results_set(dni_row_results *results, size_t first, const dn_metrics_rows *rows);
/* Ranks the rows, after all were set. DN_ERR_STOPPED, DN_ERR_TIME. */
DN_MUST_USE dn_status dni_row_results_rank(dni_row_results *results, dn_error *err);

/* Returns the label of row i: a class index or DN_AMBIGUOUS. */
size_t dni_row_results_label(const dni_row_results *results, size_t i);
/* Returns its true class. */
size_t dni_row_results_truth(const dni_row_results *results, size_t i);
/* Returns the probability of its label; NaN: none. */
double dni_row_results_probability(const dni_row_results *results, size_t i);

/* Samples are measured by so many at a time: their weights of a row are consecutive, so that a row
 * is read once for all of them. */
enum { DNI_SAMPLES = 4 };

/* Workspace for samples. */
typedef struct dni_sample_work {
    double *cells;               /* [(K² + K) × DNI_SAMPLES] */
    double *sample_cells;        /* [K² + K] */
    dn_class_metrics *per_class; /* [K] */
} dni_sample_work;
/* out [n_samples × stride] ← the dni_n_measured() metrics of each sample of the rows. Ties are
 * those of all rows. O(n) for each score column, and O(K²).
 *
 *   weight     [n × DNI_SAMPLES] the weights of a row in each sample; a weight of each of the first
 *              n_samples is not 0
 *   n_samples  1 … DNI_SAMPLES */
void dni_row_results_measure(const dni_row_results *results, const double *weight, size_t n_samples,
                             dni_sample_work *work, double *out, size_t stride);

#endif
