/* Metrics of a classifier on labelled rows (ALGORITHMS.md, "Evaluation").
 *
 *   dn_metrics_new     declares the number of rows and the results that come with them
 *   dn_metrics_add     adds rows
 *   dn_metrics_finish  computes the ratios. It sorts the scores for the rank statistics
 *
 * dn_model_evaluate (model.h) performs all steps for a model.
 *
 * Sums are taken row by row in the order of the rows. Every mean is weighted by the weights of the
 * rows. Rows with weight 0 are ignored. Ambiguous rows (DN_AMBIGUOUS) are errors.
 *
 * Terms: K is the number of classes, v the weight of a row. A metrics object belongs to one thread
 * at a time; different objects are independent. */
#ifndef DISCERN_METRICS_H
#define DISCERN_METRICS_H

#include <discern/api.h>
#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

typedef struct dn_class_metrics {
    double precision, recall, f1; /* NaN: undefined (0/0: never predicted, no rows) */
    double support;               /* Σ v of the rows of the class */
} dn_class_metrics;

/* One point of a curve: the rates if the class is chosen for scores >= threshold. */
typedef struct dn_curve_point {
    double x, y; /* ROC: false and true positive rate; precision-recall: recall and precision */
    double threshold; /* INFINITY at the first point: the class is not chosen for any row */
} dn_curve_point;

typedef struct dn_curve {
    /* ROC area or average precision of the curve before thinning. NaN: no points. */
    double area;
    size_t n_points;        /* 0: the class has no rows, or all rows */
    dn_curve_point *points; /* [n_points] x ascending; first and last point are exact */
} dn_curve;

#define DN_CALIBRATION_BINS 10
/* Rows whose greatest probability is in [low, high). The last bin is [low, high]. */
typedef struct dn_calibration_bin {
    double low, high;
    double weight;     /* Σ v */
    double confidence; /* mean of the greatest probability; NaN: no rows */
    /* Share of the rows whose true class has the greatest probability. Among equal probabilities
     * the class with the lowest index counts. NaN: no rows. */
    double accuracy;
} dn_calibration_bin;

/* Curves for plots.
 *
 * Scores: for two classes g, of the second class. For K > 2 classes the probabilities, or the class
 * scores of a model without probabilities, each class against the rest.
 *
 * A curve has at most DN_CURVE_POINTS points; with more than 20 classes at most 4000/K, but not
 * fewer than 12. Longer curves are thinned. The first and the last point are kept.
 *   ROC               Points inside a straight segment are removed; the curve stays the same. If
 *                     there are still too many, the curve, of length 2 in Δx + Δy, is cut into
 *                     equal parts and the first point of each part is kept. With 200 points the
 *                     trapezoidal area changes by less than 0.003.
 *   precision-recall  If there are too many thresholds, the recall axis is cut into equal parts and
 *                     the first point of each part is kept. */
#define DN_CURVE_POINTS 200
typedef struct dn_curves {
    size_t n_curves;            /* 1 for two classes (the second is positive), K otherwise */
    bool of_probability;        /* thresholds are probabilities, not scores */
    dn_curve *roc;              /* [n_curves] from (0, 0) to (1, 1) */
    dn_curve *precision_recall; /* [n_curves] from recall 0, precision 1 to recall 1 */
    bool calibrated;            /* the rows have probabilities: the bins are filled */
    dn_calibration_bin calibration[DN_CALIBRATION_BINS];
} dn_curves;

/* Valid after dn_metrics_finish. NaN: undefined, null in JSON. Infinite scores can make a loss
 * infinite. */
typedef struct dn_metrics {
    size_t n_classes;
    double rows;   /* number of rows with a weight > 0 */
    double weight; /* Σ v */
    double accuracy, error;
    double balanced_accuracy; /* mean recall of the classes that have rows */
    /* From probabilities. NaN: the rows have none. */
    double log_loss; /* mean −ln p_true; p clipped to [1e-15, 1 − 1e-15] */
    double brier;    /* two classes: mean (p − r)² of the second; K: mean Σ_k (p_k − r_k)² */
    double ece;      /* Σ over the bins of share of the weight · |accuracy − confidence| */
    /* Matthews correlation coefficient; for K > 2 classes, or with ambiguous rows, Gorodkin's R_K.
     * Ambiguous rows count as predictions of one more class that has no rows. NaN: 0/0. */
    double mcc;
    /* From ranks. Two classes: of g. K: mean over the classes that have some rows but not all, each
     * against the rest. NaN: there is no such class, the rows were not ranked (see `warning`), or
     * they have neither probabilities nor class scores. */
    double roc_auc; /* ties count ½ */
    /* Σ (R_i − R_{i−1}) P_i over descending scores; equal scores are one step. */
    double average_precision;
    /* From margins m = g_true − max other class score (two classes: t·g). NaN: the rows have no
     * class scores (votes). */
    double hinge;         /* mean max(0, 1 − m) */
    double squared_loss;  /* mean (1 − m)² */
    double logistic_loss; /* mean ln(1 + e^−m)/ln 2 */
    /* Σ v of the ambiguous rows. They are errors and are not in the confusion matrix. */
    double ambiguous;
    double *confusion;           /* [K × K] Σ v; row: true class, column: predicted class */
    dn_class_metrics *per_class; /* [K] */
    /* Means over the classes that are true or predicted for some row: unweighted, and weighted by
     * support. Undefined values count as 0. Their `support` is the total weight. */
    dn_class_metrics macro, weighted;
    dn_curves *curves; /* NULL: not requested */
    /* Why the rank statistics are missing although they are defined; "" otherwise. */
    char warning[DN_MESSAGE_SIZE];
} dn_metrics;

/* Limit of rows × score columns for ranking (one column for two classes, otherwise K).
 *
 * Ranking keeps all scores until dn_metrics_finish: 28 bytes per row for two classes, 8·K + 20 for
 * K, and 8 more with weights. If the allocator of the run refuses the memory, or the limit is
 * exceeded, the rows are not ranked and `warning` gives the reason. */
#define DN_MAX_RANKED_SCORES ((size_t)1 << 27)

/* What dn_metrics_add will receive. */
typedef struct dn_metrics_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n_classes;
    size_t n_rows; /* maximum number of rows */
    /* Every call of dn_metrics_add passes the array exactly if its flag is set. `weight` may be
     * NULL although `weighted` is set. */
    bool probabilities, class_scores, weighted;
    bool curves;
    bool unranked; /* omit the rank statistics without a warning */
    /* Provides the memory for ranking, and cancellation. Must be valid until dn_metrics_finish or
     * dn_metrics_free returns. NULL: malloc, never cancelled. */
    const dn_run *run;
} dn_metrics_options;

/* Rows to add. The arrays are read during the call only. */
typedef struct dn_metrics_rows {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n;
    const size_t *truth;         /* [n] class indices */
    const size_t *predicted;     /* [n] class indices or DN_AMBIGUOUS */
    const double *probabilities; /* [n × K]; NULL: none */
    const double *class_scores;  /* [n × K] from dn_decision_class_scores; NULL: none */
    const double *weight;        /* [n] >= 0; NULL: all 1 */
} dn_metrics_rows;

/* Creates an empty metrics object. The options are copied; the run in them is not. Free it with
 * dn_metrics_free.
 *
 * DN_ERR_ARGUMENT, DN_ERR_VERSION, DN_ERR_MEMORY. Missing memory for ranking is a warning, not an
 * error. */
DN_MUST_USE dn_status dn_metrics_new(const dn_metrics_options *options,
                                     dn_metrics **out,
                                     dn_error *err);
void dn_metrics_free(dn_metrics *metrics); /* NULL is allowed */
/* Adds rows, at most options.n_rows in total. Rows that violate the options, or have a class index
 * >= n_classes, are not added; dn_metrics_finish then returns DN_ERR_ARGUMENT. */
void dn_metrics_add(dn_metrics *metrics, const dn_metrics_rows *rows);
/* Computes all results. Call it once, after the last row. Without rows all ratios are NaN. O(K n
 * log n).
 *
 * DN_ERR_ARGUMENT: see dn_metrics_add. DN_ERR_MEMORY: no memory for the curves. DN_ERR_STOPPED,
 * DN_ERR_TIME: cancelled. After an error the metrics can only be freed. */
DN_MUST_USE dn_status dn_metrics_finish(dn_metrics *metrics, dn_error *err);

/* The scalar metrics by number, for listings and for means over folds: "accuracy", "error",
 * "balanced_accuracy", "log_loss", "brier", "mcc", "roc_auc", "average_precision", "hinge",
 * "squared_loss", "logistic_loss", "ece", "ambiguous". Beyond the last: NULL and NaN. */
const char *dn_metric_name(size_t i);
double dn_metric_value(const dn_metrics *metrics, size_t i);

DN_END_DECLS

#endif
