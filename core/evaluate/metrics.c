/* Accuracy, log loss, confusion matrix and what follows from it. */
#include <discern/decision.h>
#include <discern/metrics.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct metrics {
    dn_metrics shown;   /* first: a dn_metrics * is a struct metrics * */
    double loss;        /* Σ v·(−ln p) */
    bool probabilities; /* every row so far came with them */
    double *ambiguous;  /* [K] weights of the class's rows that got no label; behind cells */
    double cells[];     /* the confusion matrix, [K × K] */
};

dn_status dn_metrics_new(size_t n_classes, dn_metrics **out, dn_error *err) {
    size_t most = (SIZE_MAX / 4 / sizeof(double)) / (n_classes + 1);
    struct metrics *m = NULL;
    dn_class_metrics *per_class = NULL;
    if (n_classes < most) {
        m = calloc(1, sizeof *m + (n_classes + 1) * n_classes * sizeof(double));
        per_class = calloc(n_classes + 1, sizeof *per_class);
    }
    if (m == NULL || per_class == NULL) {
        free(m);
        free(per_class);
        return dn_error_set(err, DN_ERR_MEMORY, "the metrics of %zu classes need memory which the system does not have", n_classes);
    }
    m->shown.n_classes = n_classes;
    m->shown.confusion = m->cells;
    m->ambiguous = m->cells + n_classes * n_classes;
    m->shown.per_class = per_class;
    m->probabilities = true;
    *out = &m->shown;
    return DN_OK;
}

void dn_metrics_free(dn_metrics *metrics) {
    if (metrics == NULL)
        return;
    free(metrics->per_class);
    free(metrics);
}

void dn_metrics_add(dn_metrics *metrics, size_t n, const size_t *truth, const size_t *predicted, const double *probabilities,
                    const double *weight) {
    struct metrics *m = (struct metrics *)metrics;
    size_t K = metrics->n_classes;
    for (size_t i = 0; i < n; i++) {
        double v = weight == NULL ? 1 : weight[i];
        metrics->rows += 1;
        metrics->weight += v;
        if (predicted[i] == DN_AMBIGUOUS)
            m->ambiguous[truth[i]] += v;
        else
            metrics->confusion[truth[i] * K + predicted[i]] += v;
        if (probabilities != NULL) {
            double p = probabilities[i * K + truth[i]];
            p = p < 1e-15 ? 1e-15 : p > 1 - 1e-15 ? 1 - 1e-15 : p;
            m->loss -= v * log(p);
        } else {
            m->probabilities = false;
        }
    }
}

/* Mean of one ratio over the classes where it is defined, plain and by support. */
struct mean {
    double sum, count, weighted, weight;
};

static void take(struct mean *mean, double value, double support) {
    if (isnan(value))
        return;
    mean->sum += value;
    mean->count += 1;
    mean->weighted += support * value;
    mean->weight += support;
}

static double ratio(double a, double b) {
    return b > 0 ? a / b : (double)NAN;
}

void dn_metrics_finish(dn_metrics *metrics) {
    struct metrics *m = (struct metrics *)metrics;
    size_t K = metrics->n_classes;
    struct mean precision = {0}, recall = {0}, f1 = {0};
    double right = 0, wrong = 0;
    for (size_t k = 0; k < K; k++) {
        double hit = metrics->confusion[k * K + k], truth = m->ambiguous[k], predicted = 0;
        wrong += m->ambiguous[k];
        metrics->ambiguous += m->ambiguous[k];
        for (size_t l = 0; l < K; l++) {
            truth += metrics->confusion[k * K + l];
            predicted += metrics->confusion[l * K + k];
            wrong += l == k ? 0 : metrics->confusion[k * K + l];
        }
        right += hit;
        dn_class_metrics *own = &metrics->per_class[k];
        own->precision = ratio(hit, predicted);
        own->recall = ratio(hit, truth);
        own->f1 = ratio(2 * hit, truth + predicted);
        own->support = truth;
        take(&precision, own->precision, truth);
        take(&recall, own->recall, truth);
        take(&f1, own->f1, truth);
    }
    metrics->accuracy = ratio(right, metrics->weight);
    metrics->error = ratio(wrong, metrics->weight);
    metrics->balanced_accuracy = ratio(recall.sum, recall.count);
    metrics->log_loss = m->probabilities ? ratio(m->loss, metrics->weight) : (double)NAN;
    metrics->macro = (dn_class_metrics){ratio(precision.sum, precision.count), ratio(recall.sum, recall.count), ratio(f1.sum, f1.count),
                                        metrics->weight};
    metrics->weighted = (dn_class_metrics){ratio(precision.weighted, precision.weight), ratio(recall.weighted, recall.weight),
                                           ratio(f1.weighted, f1.weight), metrics->weight};
}
