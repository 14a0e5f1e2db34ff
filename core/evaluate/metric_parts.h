/* Parts of the metrics: the losses of a row, and the ratios of a confusion matrix. Shared by the
 * metrics of rows (metrics.c) and those of bootstrap samples (row_results.c). */
#ifndef DNI_METRIC_PARTS_H
#define DNI_METRIC_PARTS_H

#include <discern/metrics.h>

/* What the probabilities p [K] of a row add to the metrics. */
typedef struct dni_row_probability {
    double log_loss, brier;
    double confidence; /* the greatest probability */
    bool right;        /* the true class has it; of equal ones, the first */
    size_t bin;        /* of DN_CALIBRATION_BINS */
} dni_row_probability;
dni_row_probability dni_row_probability_of(size_t n_classes, size_t truth, const double *p);

/* What the class scores [K] of a row add: the losses of its margin. */
typedef struct dni_row_margin {
    double hinge, squared, logistic;
} dni_row_margin;
dni_row_margin dni_row_margin_of(size_t n_classes, size_t truth, const double *scores);

/* Returns the score columns by which a row is ranked: K with K > 2 classes, otherwise one.
 *
 *   p, scores  [K] probabilities, and class or rank scores; NULL: none
 *   room       the score of two classes */
const double *dni_row_rank(size_t n_classes, const double *p, const double *scores, double *room);

/* Returns a/b; NaN unless b > 0. */
double dni_ratio(double a, double b);
/* Computes the metrics of `m` that are ratios of the confusion matrix: error, accuracy with its
 * interval, balanced_accuracy, mcc, kappa, ambiguous, per_class, macro and weighted. m: n_classes,
 * weight, confusion and per_class [K] are set, ambiguous is 0.
 *
 *   ambiguous  [K] Σ v of the ambiguous rows of each class
 *   square     Σ v² */
void dni_class_ratios(dn_metrics *m, const double *ambiguous, double square);

#endif
