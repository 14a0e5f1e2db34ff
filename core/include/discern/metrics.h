/* Metrics of a classifier on labelled rows, as ALGORITHMS.md "Evaluation" defines them. Accumulated row by row in a fixed order; rows of weight 0 count as none,
 * rows without a label (ambiguous) are errors. Every mean is weighted by the rows' weights.
 *
 *   dn_metrics_new     says what the rows will come with, and how many they are
 *   dn_metrics_add     adds rows
 *   dn_metrics_finish  computes the ratios and, by sorting the rows' scores, what depends on their ranks
 *
 * dn_model_evaluate (model.h) does all of it for a model. */
#ifndef DISCERN_METRICS_H
#define DISCERN_METRICS_H

#include <discern/api.h>
#include <discern/run.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>

DN_BEGIN_DECLS

typedef struct dn_class_metrics {
    double precision, recall, f1; /* NaN: not defined (never predicted, never true) */
    double support;               /* Σ weights of the class's rows */
} dn_class_metrics;

/* One point of a curve: what choosing the class when its score is >= threshold gives. */
typedef struct dn_curve_point {
    double x, y; /* ROC: false and true positive rate; precision-recall: recall and precision */
    double threshold; /* INFINITY at the first point: the class is never chosen */
} dn_curve_point;

typedef struct dn_curve {
    double
        area; /* of the whole curve, before thinning: ROC area, average precision; NaN without points */
    size_t n_points;        /* 0: the class has no rows, or has them all */
    dn_curve_point *points; /* [n_points] x ascending, the ends exact */
} dn_curve;

#define DN_CALIBRATION_BINS 10
/* Rows whose top probability is in [low, high); the last bin is closed. */
typedef struct dn_calibration_bin {
    double low, high;
    double weight;     /* Σ weights */
    double confidence; /* mean top probability; NaN when empty */
    double
        accuracy; /* share of rows whose class is the one with the top probability (the first among equals); NaN when empty */
} dn_calibration_bin;

/* Curves for plots. The scores are g for two classes, of the second one; for K classes the probabilities, or the class scores of a model without: each class against
 * the rest.
 *
 * Thinned to at most DN_CURVE_POINTS points each (fewer beyond 20 classes: 4000/K, at least 12). ROC: points in the middle of a straight line are left out, which
 * loses nothing; if that is not enough, the line, of length 2 when measured as Δx + Δy, is cut in equal parts and the first point of each kept: with 200 points
 * the area by trapezoids changes by less than 0.003. Precision-recall: at most as many thresholds stay as they are; otherwise recall is cut in equal parts and the first
 * point of each kept. First and last point always stay. */
#define DN_CURVE_POINTS 200
typedef struct dn_curves {
    size_t n_curves;     /* 1 for two classes (the second is the positive one), K otherwise */
    bool of_probability; /* thresholds are probabilities, not scores */
    dn_curve *roc;       /* [n_curves] from (0, 0) to (1, 1) */
    dn_curve *precision_recall; /* [n_curves] from recall 0, precision 1 to recall 1 */
    bool calibrated;            /* there are probabilities: the bins are filled */
    dn_calibration_bin calibration[DN_CALIBRATION_BINS];
} dn_curves;

/* Filled by dn_metrics_finish. NaN: not defined, null in JSON. A loss of infinite scores may be infinite. */
typedef struct dn_metrics {
    size_t n_classes;
    double rows;   /* how many rows with a weight > 0 */
    double weight; /* Σ weights */
    double accuracy, error;
    double balanced_accuracy; /* mean recall of the classes that occur */
    /* of probabilities; NaN without: */
    double log_loss; /* p of the true class clipped to [1e-15, 1 − 1e-15] */
    double brier;    /* two classes: mean (p − r)² of the second; K: mean Σ_k (p_k − r_k)² */
    double ece;      /* Σ share of a bin · |accuracy − confidence| over the calibration bins */
    double
        mcc; /* Matthews: two classes the classical coefficient, K Gorodkin's R_K; rows without a label are a class never true; NaN when 0/0 */
    /* of ranks; two classes: of g; K: mean over the classes that have rows and not all, each against the rest. NaN when there is none, and with a warning: */
    double roc_auc; /* ties count ½ */
    double
        average_precision; /* Σ (R_i − R_{i−1}) P_i from the highest score down, ties in one step */
    /* of margins m = t·g, K classes: g_true − max other; NaN without class scores (votes): */
    double hinge;         /* mean max(0, 1 − m) */
    double squared_loss;  /* mean (1 − m)² */
    double logistic_loss; /* mean ln(1 + e^−m)/ln 2 */
    double
        ambiguous; /* Σ weights of rows that got no label: errors, outside the confusion matrix */
    double *confusion;           /* [K × K], rows are the truth; weights summed */
    dn_class_metrics *per_class; /* [K] */
    dn_class_metrics macro,
        weighted; /* means over the classes true or predicted of some row, undefined as 0; support: total */
    dn_curves *curves; /* NULL unless asked for */
    char warning
        [DN_MESSAGE_SIZE]; /* why ROC area, average precision and their curves are missing although defined; "" otherwise */
} dn_metrics;

/* Ranking keeps the rows' scores until dn_metrics_finish: 28 bytes a row for two classes, 8·K + 20 for K, 8 more with weights. It is not done, with a warning, when
 * the run's allocator refuses, or when there would be more scores than this. */
#define DN_MAX_RANKED_SCORES ((size_t)1 << 27)

/* What the rows come with. */
typedef struct dn_metrics_options {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n_classes;
    size_t n_rows; /* most rows that will be added */
    bool probabilities, class_scores,
        weighted; /* whether every call of dn_metrics_add gives them */
    bool curves;
    bool unranked; /* leave out what depends on ranks, without a warning */
    const dn_run *
        run; /* allocator for the ranking, seen until dn_metrics_finish (dn_metrics_free) returns, and stop; NULL: malloc, never stops */
} dn_metrics_options;

/* n rows. */
typedef struct dn_metrics_rows {
    size_t struct_size; /* sizeof, or 0: see api.h */
    size_t n;
    const size_t *truth;         /* [n] class indexes */
    const size_t *predicted;     /* [n] class indexes or DN_AMBIGUOUS */
    const double *probabilities; /* [n × K]; NULL: none */
    const double *class_scores;  /* [n × K] as dn_decision_class_scores leaves them; NULL: none */
    const double *weight;        /* [n] >= 0; NULL: all 1 */
} dn_metrics_rows;

/* DN_ERR_MEMORY; that there is no memory for the ranking is a warning. */
DN_MUST_USE dn_status dn_metrics_new(const dn_metrics_options *options,
                                     dn_metrics **out,
                                     dn_error *err);
void dn_metrics_free(dn_metrics *metrics); /* NULL is allowed */
/* Adds rows, at most options.n_rows in all. Rows that break a rule of the options or have a class index
 * >= n_classes are not added, and dn_metrics_finish returns DN_ERR_ARGUMENT. */
void dn_metrics_add(dn_metrics *metrics, const dn_metrics_rows *rows);
/* Once, after the last row. No rows: everything NaN. O(K n log n). DN_ERR_MEMORY for the curves, DN_ERR_STOPPED, DN_ERR_TIME: the metrics can only be freed then. */
DN_MUST_USE dn_status dn_metrics_finish(dn_metrics *metrics, dn_error *err);

/* The single numbers by name, for whoever lists them or takes means over folds: "accuracy", "error", "balanced_accuracy", "log_loss", "brier", "mcc", "roc_auc",
 * "average_precision", "hinge", "squared_loss", "logistic_loss", "ece", "ambiguous". NULL from the end on. */
const char *dn_metric_name(size_t i);
double dn_metric_value(const dn_metrics *metrics, size_t i);

DN_END_DECLS

#endif
