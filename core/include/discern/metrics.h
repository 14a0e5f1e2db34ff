/* Metrics of a classifier on labelled rows, as ALGORITHMS.md "Evaluation" defines them. Accumulated row by row in a fixed order. */
#ifndef DISCERN_METRICS_H
#define DISCERN_METRICS_H

#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct dn_class_metrics {
    double precision, recall, f1; /* NaN: not defined (never predicted, never true) */
    double support;               /* Σ weights of the class's rows */
} dn_class_metrics;

/* Filled by dn_metrics_finish. NaN: not defined, null in JSON. */
typedef struct dn_metrics {
    size_t n_classes;
    double rows;   /* how many rows */
    double weight; /* Σ weights */
    double accuracy, error, balanced_accuracy;
    double log_loss;                  /* p of the true class clipped to [1e-15, 1 − 1e-15]; NaN without probabilities */
    double ambiguous;                 /* Σ weights of rows that got no label: errors, outside the confusion matrix */
    double *confusion;                /* [K × K], rows are the truth; weights summed */
    dn_class_metrics *per_class;      /* [K] */
    dn_class_metrics macro, weighted; /* means over the classes where defined; support: total */
} dn_metrics;

DN_MUST_USE dn_status dn_metrics_new(size_t n_classes, dn_metrics **out, dn_error *err);
void dn_metrics_free(dn_metrics *metrics);
/* Adds n rows: truth[i], predicted[i] are class indexes (predicted: or DN_AMBIGUOUS); probabilities [n × K] or NULL; weight NULL = 1. */
void dn_metrics_add(dn_metrics *metrics, size_t n, const size_t *truth, const size_t *predicted, const double *probabilities,
                    const double *weight);
/* Computes the ratios from the sums. No rows: everything NaN. */
void dn_metrics_finish(dn_metrics *metrics);

#endif
