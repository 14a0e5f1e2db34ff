/* Parts of the metrics (metric_parts.h). */
#include "evaluate/metric_parts.h"
#include "evaluate/ranking.h"

#include <math.h>

#define LN_2 0.69314718055994530941723212145818

/* ---- a row ---- */
dni_row_probability dni_row_probability_of(size_t K, size_t truth, const double *p) {
    size_t top = 0;
    double likelihood = p[truth], brier = 0;
    likelihood = likelihood < 1e-15 ? 1e-15 : likelihood > 1 - 1e-15 ? 1 - 1e-15 : likelihood;
    for (size_t k = K == 2 ? 1 : 0; k < K; k++) {
        const double off = p[k] - (k == truth);
        brier += off * off;
    }
    for (size_t k = 1; k < K; k++) {
        if (p[k] > p[top]) {
            top = k;
        }
    }
    const size_t last = DN_CALIBRATION_BINS - 1,
                 bin = p[top] < 1 ? (size_t)(p[top] * DN_CALIBRATION_BINS) : last;
    return (dni_row_probability){.log_loss = -log(likelihood),
                                 .brier = brier,
                                 .confidence = p[top],
                                 .right = top == truth,
                                 .bin = bin < last ? bin : last};
}

dni_row_margin dni_row_margin_of(size_t K, size_t truth, const double *scores) {
    double other = -(double)INFINITY;
    for (size_t k = 0; k < K; k++) {
        if (k != truth && !(scores[k] <= other)) {
            other = scores[k];
        }
    }
    const double margin = scores[truth] - other;
    return (dni_row_margin){.hinge = margin >= 1 ? 0 : 1 - margin,
                            .squared = (1 - margin) * (1 - margin),
                            .logistic =
                                (margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin) /
                                LN_2};
}

const double *dni_row_rank(size_t K, const double *p, const double *scores, double *room) {
    if (K > 2) {
        return p != NULL ? p : scores;
    }
    *room = scores != NULL ? scores[1] - scores[0] : p == NULL ? (double)NAN : p[1];
    return room;
}

/* ---- ratios ---- */
/* Sums for the mean of a ratio over the classes that are the true or the predicted class of some
 * row: unweighted, and weighted by the weight of the rows of the class (support). An undefined
 * ratio counts as 0. If it were omitted, a model that never predicts a class would have a better
 * mean precision. */
struct mean {
    double sum, count, weighted, weight;
};

static void mean_add(struct mean *mean, double value, double support) {
    double counted = isnan(value) ? 0 : value;
    mean->sum += counted;
    mean->count += 1;
    mean->weighted += support * counted;
    mean->weight += support;
}

double dni_ratio(double a, double b) {
    return b > 0 ? a / b : (double)NAN;
}

/* Returns the Matthews correlation coefficient of a confusion matrix cell = (a, b; c, d):
 * (ad − bc)/√((a+b)(c+d)(a+c)(b+d)). */
static double matthews(const double *cell) {
    double square = sqrt(cell[0] + cell[1]) * sqrt(cell[2] + cell[3]) * sqrt(cell[0] + cell[2]) *
                    sqrt(cell[1] + cell[3]);
    return dni_ratio(cell[0] * cell[3] - cell[1] * cell[2], square);
}

/* Sets interval [2] to Wilson's interval of the share p of n rows. */
static void wilson(double p, double n, double *interval) {
    const double z2 = DNI_NORMAL_95 * DNI_NORMAL_95, centre = (p + z2 / (2 * n)) / (1 + z2 / n),
                 half = DNI_NORMAL_95 / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    interval[0] = fmin(p, centre - half); /* p is a limit if it is 0 or 1 */
    interval[1] = fmax(p, centre + half);
}

/* Sums over the classes for the Matthews correlation coefficient of K classes,
 *
 *   R_K = (c·s − Σ t_k p_k)/√((s² − Σ p_k²)(s² − Σ t_k²))
 *
 * s is the total weight, c the weight of the correctly classified rows; t_k is the weight of the
 * rows of class k, p_k the weight of the rows predicted as class k. Ambiguous rows are counted as
 * predictions of an additional class that has no rows. s² − Σ p_k² is computed as Σ p_k (s − p_k),
 * without cancellation if one class has nearly all rows.
 *
 * Source: Gorodkin, Computational Biology and Chemistry 28, 2004. */
struct correlation {
    double right, product, predicted, truth;
};

/* Returns Cohen's kappa: (c·s − Σ t_k p_k)/(s² − Σ t_k p_k). */
static double cohen(const struct correlation *c, double total) {
    return dni_ratio(c->right * total - c->product, total * total - c->product);
}

static double gorodkin(const struct correlation *c, double total, double ambiguous) {
    double predicted = c->predicted + ambiguous * (total - ambiguous);
    return dni_ratio(c->right * total - c->product, sqrt(predicted) * sqrt(c->truth));
}

void dni_class_ratios(dn_metrics *base, const double *ambiguous, double square) {
    const size_t K = base->n_classes;
    struct mean precision = {0}, recall = {0}, f1 = {0},
                present = {0}; /* recall of the classes that have rows */
    struct correlation c = {0};
    double wrong = 0;
    for (size_t k = 0; k < K; k++) {
        double hit = base->confusion[k * K + k], truth = ambiguous[k], predicted = 0;
        wrong += ambiguous[k];
        base->ambiguous += ambiguous[k];
        for (size_t l = 0; l < K; l++) {
            truth += base->confusion[k * K + l];
            predicted += base->confusion[l * K + k];
            wrong += l == k ? 0 : base->confusion[k * K + l];
        }
        c.right += hit;
        c.product += truth * predicted;
        c.predicted += predicted * (base->weight - predicted);
        c.truth += truth * (base->weight - truth);
        dn_class_metrics *of_class = &base->per_class[k];
        *of_class = (dn_class_metrics){dni_ratio(hit, predicted), dni_ratio(hit, truth),
                                       dni_ratio(2 * hit, truth + predicted), truth};
        if (truth > 0) {
            mean_add(&present, of_class->recall, truth);
        }
        if (!(truth > 0 || predicted > 0)) {
            continue;
        }
        mean_add(&precision, of_class->precision, truth);
        mean_add(&recall, of_class->recall, truth);
        mean_add(&f1, of_class->f1, truth);
    }
    base->accuracy = dni_ratio(c.right, base->weight);
    base->error = dni_ratio(wrong, base->weight);
    base->balanced_accuracy = dni_ratio(present.sum, present.count);
    base->mcc = K == 2 && base->ambiguous == 0 ? matthews(base->confusion)
                                               : gorodkin(&c, base->weight, base->ambiguous);
    base->kappa = cohen(&c, base->weight);
    wilson(base->accuracy, base->weight * base->weight / square, base->accuracy_interval);
    base->macro = (dn_class_metrics){dni_ratio(precision.sum, precision.count),
                                     dni_ratio(recall.sum, recall.count),
                                     dni_ratio(f1.sum, f1.count), base->weight};
    base->weighted = (dn_class_metrics){dni_ratio(precision.weighted, precision.weight),
                                        dni_ratio(recall.weighted, recall.weight),
                                        dni_ratio(f1.weighted, f1.weight), base->weight};
}
