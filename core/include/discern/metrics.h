/* Metrics of a classifier on labelled rows.
 *
 *   dn_metrics_new     sets the maximum number of rows and the kinds of results of each row
 *   dn_metrics_add     adds rows
 *   dn_metrics_finish  computes the ratios. It sorts the scores for the rank statistics
 *
 * dn_model_evaluate (model.h) performs all steps for a model.
 *
 * Sums are taken row by row in the order of the rows. Every mean is weighted by the weights of the
 * rows. Rows with weight 0 are ignored. Ambiguous rows (DN_AMBIGUOUS) are errors.
 *
 * Terms: K is the number of classes, v the weight of a row. A metrics object may be used by one
 * thread at a time; different objects are independent. */
#ifndef DISCERN_METRICS_H
#define DISCERN_METRICS_H

#include <discern/api.h>
#include <discern/decision.h>
#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

typedef struct dn_class_metrics {
    double precision, recall, f1; /* NaN: undefined (0/0), because the class is never predicted or
                                   * has no rows */
    double support;               /* Σ v of the rows of the class */
} dn_class_metrics;

/* One point of a curve: the rates if the class is predicted for scores >= threshold. */
typedef struct dn_curve_point {
    double x, y; /* ROC: x is the false positive rate, y the true positive rate; precision-recall:
                  * x is the recall, y the precision */
    double threshold; /* INFINITY at the first point, where the class is predicted for no row */
} dn_curve_point;

typedef struct dn_curve {
    /* ROC area or average precision, computed before points are removed. NaN: no points */
    double area;
    size_t n_points;        /* 0: the class has no rows, or all rows */
    dn_curve_point *points; /* [n_points] x ascending; the first and the last point are always
                             * kept */
} dn_curve;

#define DN_CALIBRATION_BINS 10
/* Rows whose greatest probability is in [low, high); in the last bin [low, high]. */
typedef struct dn_calibration_bin {
    double low, high;
    double weight;     /* Σ v */
    double confidence; /* mean of the greatest probability; NaN: no rows */
    /* Share of the rows whose true class has the greatest probability. Of classes with equal
     * probabilities, the class with the lowest index has the greatest. NaN: no rows */
    double accuracy;
} dn_calibration_bin;

/* Curves for plots.
 *
 * Scores: for two classes g, the score of the second class. For K > 2 classes the probabilities,
 * or the class scores or rank scores of a model without probabilities; each class against the rest.
 * The threshold of a group of equal scores is its least score.
 *
 * A curve has at most DN_CURVE_POINTS points; with more than 20 classes at most 4000/K, but not
 * fewer than 12. Points of longer curves are removed. The first and the last point are kept.
 *   ROC               Points inside a straight segment are removed, which does not change the
 *                     curve. If there are still too many points, the curve, of length 2 in Δx + Δy,
 *                     is divided into equal parts and the first point of each part is kept. With
 *                     200 points the trapezoidal area changes by less than 0.003.
 *   precision-recall  If there are too many thresholds, the recall axis is divided into equal parts
 *                     and the first point of each part is kept. */
#define DN_CURVE_POINTS 200
typedef struct dn_curves {
    size_t n_curves;            /* 1 for two classes (the second is the positive class), otherwise
                                 * K */
    bool of_probability;        /* true: thresholds are probabilities; false: thresholds are
                                 * scores */
    dn_curve *roc;              /* [n_curves] from (0, 0) to (1, 1) */
    dn_curve *precision_recall; /* [n_curves] from recall 0, precision 1 to recall 1 */
    bool calibrated;            /* true: the rows have probabilities, and the bins are valid */
    dn_calibration_bin calibration[DN_CALIBRATION_BINS];
} dn_curves;

/* Sets of labels (dn_conformal) of all rows, or of the rows of a class. Ratios of weights; NaN: no
 * rows. */
typedef struct dn_set_metrics {
    double weight;   /* Σ v */
    double coverage; /* share of the rows whose set has the true label */
    double size;     /* mean number of labels of a set */
    double empty;    /* share of the rows whose set is empty */
    double single;   /* share of the rows whose set has one label */
} dn_set_metrics;

/* Results. Valid after dn_metrics_finish. NaN: undefined (null in JSON). Infinite scores can make
 * a loss infinite. */
typedef struct dn_metrics {
    size_t n_classes;
    double rows;   /* number of rows with a weight > 0 */
    double weight; /* Σ v */
    double accuracy, error;
    double balanced_accuracy; /* mean recall of the classes that have rows */
    /* Computed from probabilities. NaN: the rows have no probabilities. */
    double log_loss; /* mean −ln p_true; p_true is clipped to [1e-15, 1 − 1e-15] */
    double brier; /* r_k is 1 for the true class, otherwise 0. Two classes: mean (p − r)² of the
                      * second class; K classes: mean Σ_k (p_k − r_k)² */
    double ece;   /* expected calibration error: Σ over the bins of (share of the weight) ·
                      * |accuracy − confidence| */
    /* Matthews correlation coefficient; for K > 2 classes, or with ambiguous rows, Gorodkin's R_K.
     * Ambiguous rows are counted as predictions of an additional class that has no rows. NaN:
     * 0/0. */
    double mcc;
    /* Cohen's kappa (p − e)/(1 − e): p is the accuracy, e = Σ_k t_k p_k/s² the accuracy of
     * independent predictions with the same class shares; t, p and s as for mcc. NaN: 0/0. Cohen,
     * Educational and Psychological Measurement 20, 1960. */
    double kappa;
    /* Computed from ranks. Two classes: of g. K classes: mean over the classes that have some rows
     * but not all, each class against the rest, by probabilities, otherwise by class scores,
     * otherwise by rank scores. NaN: there is no such class, the rows were not ranked (see
     * `warning`), or the rows have none of the three.
     *
     * Ties: the rows are in descending order. Scores that differ from the greatest score of a group
     * by at most 1e-9 times the range of the finite scores belong to the group. Probabilities must
     * be equal. */
    double roc_auc; /* ties count ½ */
    /* Σ (R_i − R_{i−1}) P_i over descending scores, where R is the recall and P the precision;
     * equal scores are one step. */
    double average_precision;
    /* Computed from margins m = g_true − (greatest other class score); two classes: m = t·g, t =
     * ±1. NaN: the rows have no class scores (votes). */
    double hinge;         /* mean max(0, 1 − m) */
    double squared_loss;  /* mean (1 − m)² */
    double logistic_loss; /* mean ln(1 + e^−m)/ln 2 */
    /* Σ v of the ambiguous rows, which are counted as errors and are not in the confusion
     * matrix. */
    double ambiguous;
    double *confusion;           /* [K × K] Σ v; row: true class, column: predicted class */
    dn_class_metrics *per_class; /* [K] */
    /* Means over the classes that are the true or the predicted class of some row: unweighted, and
     * weighted by support. Undefined values are 0 in the means. `support` is the total weight. */
    dn_class_metrics macro, weighted;
    dn_curves *curves; /* NULL: not requested */
    /* Reason why the rank statistics are missing although they are defined; otherwise "". */
    char warning[DN_MESSAGE_SIZE];

    /* Intervals of 95 % confidence, lower and upper end. With row weights v a sample of n rows
     * counts as (Σ v)²/Σ v² rows, so that a common factor of the weights has no effect.
     *   accuracy  Wilson, Journal of the American Statistical Association 22, 1927. NaN: no rows
     *   roc_auc   two classes: DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988, cut to
     *             [0, 1]. NaN: K > 2 classes, no ROC area, or a class with one row */
    double accuracy_interval[2], roc_auc_interval[2];
    dn_set_metrics *sets; /* [K + 1] of the rows of each class, and of all rows; NULL: the options
                           * have no sets */
} dn_metrics;

/* Limit of (number of rows) × (number of score columns) for ranking. Score columns: one for two
 * classes, otherwise K.
 *
 * Ranking stores all scores until dn_metrics_finish: 28 bytes per row for two classes, 8·K + 20
 * for K classes, and 8 more with weights. If the allocator of the run refuses the memory, or the
 * limit is exceeded, the rows are not ranked and `warning` has the reason. */
#define DN_MAX_RANKED_SCORES ((size_t)1 << 27)

/* Options of dn_metrics_new: the data that dn_metrics_add will receive. */
typedef struct dn_metrics_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n_classes;
    size_t n_rows; /* maximum number of rows */
    /* If a flag is set, every call of dn_metrics_add must pass the array, otherwise none.
     * Exception: `weight` may be NULL although `weighted` is set. */
    bool probabilities, class_scores, weighted;
    bool rank_scores; /* a flag as above. Allowed only without the first two, for K > 2 classes */
    bool curves;
    bool unranked; /* true: the rank statistics are omitted without a warning */
    /* Provides the memory for ranking and the stop function. Must be valid until dn_metrics_finish
     * or dn_metrics_free returns. NULL: malloc, never cancelled. */
    const dn_run *run;
    /* Sets of labels, whose metrics are computed from the probabilities. Must be valid until
     * dn_metrics_finish or dn_metrics_free returns. NULL: none */
    const dn_conformal *sets;
} dn_metrics_options;

/* Rows to add. The arrays are read only during the call. */
typedef struct dn_metrics_rows {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n;
    const size_t *truth;         /* [n] class indices */
    const size_t *predicted;     /* [n] class indices or DN_AMBIGUOUS */
    const double *probabilities; /* [n × K]; NULL: none */
    const double *class_scores;  /* [n × K] from dn_decision_class_scores; NULL: none */
    const double *rank_scores;   /* [n × K] from dn_decision_rank_scores; NULL: none */
    const double *weight;        /* [n] >= 0; NULL: all 1 */
} dn_metrics_rows;

/* Creates an empty metrics object. The options are copied; the run to which they point is not.
 * Free the object with dn_metrics_free.
 *
 * DN_ERR_ARGUMENT, DN_ERR_VERSION, DN_ERR_MEMORY. If there is no memory for ranking, a warning is
 * set and no error is returned. */
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
 * DN_ERR_TIME: cancelled. After an error the only allowed call is dn_metrics_free. */
DN_MUST_USE dn_status dn_metrics_finish(dn_metrics *metrics, dn_error *err);

/* dn_metric_name and dn_metric_value return the name and the value of scalar metric i, for listings
 * and for means over folds: "accuracy", "error", "balanced_accuracy", "log_loss", "brier", "mcc",
 * "kappa", "roc_auc", "average_precision", "hinge", "squared_loss", "logistic_loss", "ece",
 * "ambiguous". They return NULL and NaN if i is too large. */
const char *dn_metric_name(size_t i);
/* Returns true if a smaller value of metric i is better: "error", "log_loss", "brier", "hinge",
 * "squared_loss", "logistic_loss", "ece", "ambiguous". */
bool dn_metric_is_loss(size_t i);
/* The results of a model from which a metric is computed. */
typedef enum dn_metric_of {
    DN_METRIC_OF_LABELS,        /* the chosen class, which every model has */
    DN_METRIC_OF_PROBABILITIES, /* "log_loss", "brier", "ece" */
    DN_METRIC_OF_RANKS,         /* "roc_auc", "average_precision": probabilities, class scores or
                                 * rank scores (decision.h) */
    DN_METRIC_OF_MARGINS        /* "hinge", "squared_loss", "logistic_loss": class scores */
} dn_metric_of;
/* Returns the results from which metric i is computed; DN_METRIC_OF_LABELS if i is too large. */
dn_metric_of dn_metric_computed_of(size_t i);
double dn_metric_value(const dn_metrics *metrics, size_t i);

DN_END_DECLS

#endif
