/* Metrics that are ratios of sums over rows. Rank statistics are in ranking.c. */
#include "base/argument.h"
#include <discern/decision.h>
#include <discern/metrics.h>
#include <discern/model.h>

#include "evaluate/metric_parts.h"
#include "evaluate/ranking.h"
#include "machine/decision_pairs.h"
#include "task/class_metrics.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The maximum number of points of a curve is MAX_TOTAL_POINTS / K, but at least MIN_POINTS. */
enum { MAX_TOTAL_POINTS = 4000, MIN_POINTS = 12 };

/* Sums over the rows whose greatest probability p is in a range. v is the weight of a row. */
struct bin {
    double weight;     /* Σ v */
    double confidence; /* Σ v·p */
    double right;      /* Σ v of the rows whose true class has probability p */
};

struct metrics {
    dn_metrics base; /* first member, so that a dn_metrics * can be cast to struct metrics * */
    dn_metrics_options options;
    double added;                    /* number of rows added so far, including rows with weight 0 */
    bool misused;                    /* rows that contradict the options were added */
    double square;                   /* Σ v² */
    double log_loss, brier;          /* Σ v·loss */
    double hinge, squared, logistic; /* Σ v·loss */
    struct bin bins[DN_CALIBRATION_BINS];
    dni_ranking ranking; /* {0}: nothing is ranked */
    bool *set;           /* [K] work, with sets of labels; NULL: none */
    double *ambiguous;   /* [K] Σ v of the ambiguous rows of each class; stored after `cells` */
    double cells[];      /* the confusion matrix, [K × K] */
};

/* ---- life ---- */
static void curves_free(dn_curves *curves) {
    if (curves == NULL) {
        return;
    }
    for (size_t k = 0; k < curves->n_curves; k++) {
        if (curves->roc != NULL) {
            free(curves->roc[k].points);
        }
        if (curves->precision_recall != NULL) {
            free(curves->precision_recall[k].points);
        }
    }
    free(curves->roc);
    free(curves->precision_recall);
    free(curves);
}

static bool curves_new(const dn_metrics_options *options, dn_curves **out) {
    size_t K = options->n_classes, n = K == 2 ? 1 : K;
    dn_curves *curves = calloc(1, sizeof *curves);
    if (curves != NULL) {
        curves->n_curves = n;
        curves->of_probability = options->probabilities && (K > 2 || !options->class_scores);
        curves->calibrated = options->probabilities;
        curves->roc = calloc(n, sizeof *curves->roc);
        curves->precision_recall = calloc(n, sizeof *curves->precision_recall);
    }
    if (curves == NULL || curves->roc == NULL || curves->precision_recall == NULL) {
        curves_free(curves);
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        curves->roc[k].area = curves->precision_recall[k].area = (double)NAN;
    }
    *out = curves;
    return true;
}

static bool sets_new(struct metrics *m, size_t n_classes) {
    m->base.sets = calloc(n_classes + 1, sizeof *m->base.sets);
    m->set = calloc(n_classes + 1, sizeof *m->set);
    return m->base.sets != NULL && m->set != NULL;
}

/* m may be NULL. */
static void sets_free(struct metrics *m) {
    if (m != NULL) {
        free(m->base.sets);
        free(m->set);
    }
}

/* Allocates the ranking, or sets the warning. */
static void prepare_ranking(struct metrics *m) {
    dn_error why = {0};
    if (m->options.unranked || m->options.n_rows == 0 ||
        !(m->options.probabilities || m->options.class_scores || m->options.rank_scores)) {
        return;
    }
    if (dni_ranking_init(&m->ranking, &m->options, &why) != DN_OK) {
        (void)snprintf(m->base.warning, sizeof m->base.warning,
                       "roc_auc and average_precision are not computed: %.400s", why.message);
    }
}

dn_status dn_metrics_new(const dn_metrics_options *options, dn_metrics **out, dn_error *err) {
    if (options == NULL || out == NULL) {
        return dni_argument_null(options == NULL ? "options" : "out", err);
    }
    dn_status status = dni_argument_struct(options->struct_size, sizeof *options, "options", err);
    if (status != DN_OK) {
        return status;
    }
    size_t n_classes = options->n_classes,
           max_classes = (SIZE_MAX / 4 / sizeof(double)) / (n_classes + 1);
    struct metrics *m = NULL;
    dn_class_metrics *per_class = NULL;
    if (n_classes < max_classes) {
        m = calloc(1, sizeof *m + (n_classes + 1) * n_classes * sizeof(double));
        per_class = calloc(n_classes + 1, sizeof *per_class);
    }
    if (m == NULL || per_class == NULL || (options->sets != NULL && !sets_new(m, n_classes)) ||
        (options->curves && !curves_new(options, &m->base.curves))) {
        sets_free(m);
        free(m);
        free(per_class);
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the metrics of %zu classes need memory which the system does not have",
                            n_classes);
    }
    m->options = *options;
    m->base.n_classes = n_classes;
    m->base.confusion = m->cells;
    m->ambiguous = m->cells + n_classes * n_classes;
    m->base.per_class = per_class;
    prepare_ranking(m);
    *out = &m->base;
    return DN_OK;
}

void dn_metrics_free(dn_metrics *metrics) {
    if (metrics == NULL) {
        return;
    }
    dni_ranking_done(&((struct metrics *)metrics)->ranking);
    curves_free(metrics->curves);
    sets_free((struct metrics *)metrics);
    free(metrics->per_class);
    free(metrics);
}

/* ---- sums ---- */
/* Adds the set of a row. The sums are divided by the weight at the end. */
static void add_set(struct metrics *m, size_t truth, const double *p, double v) {
    const size_t n = dn_conformal_set(m->options.sets, p, m->set);
    dn_set_metrics *const both[] = {&m->base.sets[truth], &m->base.sets[m->base.n_classes]};
    for (size_t i = 0; i < 2; i++) {
        both[i]->weight += v;
        both[i]->coverage += m->set[truth] ? v : 0;
        both[i]->size += v * (double)n;
        both[i]->empty += n == 0 ? v : 0;
        both[i]->single += n == 1 ? v : 0;
    }
}

/* Adds one row with probabilities p [K] and weight v. */
static void add_probabilities(struct metrics *m, size_t truth, const double *p, double v) {
    const dni_row_probability row = dni_row_probability_of(m->base.n_classes, truth, p);
    m->log_loss += v * row.log_loss;
    m->brier += v * row.brier;
    m->bins[row.bin].weight += v;
    m->bins[row.bin].confidence += v * row.confidence;
    m->bins[row.bin].right += row.right ? v : 0;
    if (m->set != NULL) {
        add_set(m, truth, p, v);
    }
}

/* Adds one row with class scores [K] and weight v. */
static void add_margin(struct metrics *m, size_t truth, const double *scores, double v) {
    const dni_row_margin row = dni_row_margin_of(m->base.n_classes, truth, scores);
    m->hinge += v * row.hinge;
    m->squared += v * row.squared;
    m->logistic += v * row.logistic;
}

void dn_metrics_add(dn_metrics *metrics, const dn_metrics_rows *rows) {
    struct metrics *m = (struct metrics *)metrics;
    size_t K = metrics->n_classes;
    m->added += (double)rows->n;
    if ((rows->probabilities != NULL) != m->options.probabilities ||
        (rows->class_scores != NULL) != m->options.class_scores ||
        (rows->rank_scores != NULL) != m->options.rank_scores ||
        (rows->weight != NULL && !m->options.weighted) || m->added > (double)m->options.n_rows) {
        m->misused = true;
        return;
    }
    for (size_t i = 0; i < rows->n; i++) {
        double v = rows->weight == NULL ? 1 : rows->weight[i];
        size_t truth = rows->truth[i], predicted = rows->predicted[i];
        const double *p = rows->probabilities == NULL ? NULL : rows->probabilities + i * K;
        const double *scores = rows->class_scores == NULL ? NULL : rows->class_scores + i * K;
        const double *ranks = rows->rank_scores == NULL ? scores : rows->rank_scores + i * K;
        if (!(v > 0)) {
            continue;
        }
        if (truth >= K || (predicted >= K && predicted != DN_AMBIGUOUS)) {
            m->misused = true;
            continue;
        }
        metrics->rows += 1;
        metrics->weight += v;
        m->square += v * v;
        if (predicted == DN_AMBIGUOUS) {
            m->ambiguous[truth] += v;
        } else {
            metrics->confusion[truth * K + predicted] += v;
        }
        if (p != NULL) {
            add_probabilities(m, truth, p, v);
        }
        if (scores != NULL) {
            add_margin(m, truth, scores, v);
        }
        if (m->ranking.memory != NULL) {
            double room;
            dni_ranking_add(&m->ranking, truth, v, dni_row_rank(K, p, ranks, &room));
        }
    }
}

/* ---- ratios ---- */
static void finish_calibration(struct metrics *m) {
    dn_metrics *base = &m->base;
    double ece = 0;
    for (size_t b = 0; b < DN_CALIBRATION_BINS; b++) {
        const struct bin *bin = &m->bins[b];
        ece += fabs(bin->right - bin->confidence);
        if (base->curves != NULL) {
            base->curves->calibration[b] =
                (dn_calibration_bin){(double)b / DN_CALIBRATION_BINS,
                                     (double)(b + 1) / DN_CALIBRATION_BINS, bin->weight,
                                     dni_ratio(bin->confidence, bin->weight),
                                     dni_ratio(bin->right, bin->weight)};
        }
    }
    base->ece = m->options.probabilities ? dni_ratio(ece, base->weight) : (double)NAN;
}

static dn_status finish_ranks(struct metrics *m, dn_error *err) {
    dn_metrics *base = &m->base;
    size_t n = MAX_TOTAL_POINTS / base->n_classes;
    n = n > DN_CURVE_POINTS ? DN_CURVE_POINTS : n < MIN_POINTS ? MIN_POINTS : n;
    base->roc_auc = base->average_precision = (double)NAN;
    base->roc_auc_interval[0] = base->roc_auc_interval[1] = (double)NAN;
    dn_status status = DN_OK;
    if (m->ranking.broken) {
        (void)snprintf(base->warning, sizeof base->warning,
                       "roc_auc and average_precision are not computed: a score is not a number");
    } else if (m->ranking.memory != NULL) {
        status = dni_ranking_finish(&m->ranking, n, base->curves, &base->roc_auc,
                                    &base->average_precision, base->roc_auc_interval, err);
    }
    dni_ranking_done(&m->ranking);
    return status;
}

dn_status dn_metrics_finish(dn_metrics *metrics, dn_error *err) {
    struct metrics *m = (struct metrics *)metrics;
    double by_probability = m->options.probabilities ? metrics->weight : 0,
           by_score = m->options.class_scores ? metrics->weight : 0;
    if (m->misused) {
        return dn_error_set(
            err, DN_ERR_ARGUMENT,
            "dn_metrics_add got rows that do not match the options: more than %zu rows, other "
            "arrays than the options announce, or a class index of %zu or more",
            m->options.n_rows, metrics->n_classes);
    }
    dni_class_ratios(metrics, m->ambiguous, m->square);
    finish_calibration(m);
    metrics->log_loss = dni_ratio(m->log_loss, by_probability);
    metrics->brier = dni_ratio(m->brier, by_probability);
    metrics->hinge = dni_ratio(m->hinge, by_score);
    metrics->squared_loss = dni_ratio(m->squared, by_score);
    metrics->logistic_loss = dni_ratio(m->logistic, by_score);
    for (size_t k = 0; metrics->sets != NULL && k <= metrics->n_classes; k++) {
        dn_set_metrics *s = &metrics->sets[k];
        s->coverage = dni_ratio(s->coverage, s->weight);
        s->size = dni_ratio(s->size, s->weight);
        s->empty = dni_ratio(s->empty, s->weight);
        s->single = dni_ratio(s->single, s->weight);
    }
    return finish_ranks(m, err);
}

/* ---- by name ---- */
#define ROW(member, loss, of) {#member, offsetof(dn_metrics, member), loss, DN_METRIC_OF_##of},
static const struct {
    const char *name;
    size_t offset;
    bool loss;
    dn_metric_of of;
} named[] = {DNI_CLASS_METRICS(ROW)};

const char *dn_metric_name(size_t i) {
    return i < sizeof named / sizeof *named ? named[i].name : NULL;
}

bool dn_metric_is_loss(size_t i) {
    return i < sizeof named / sizeof *named && named[i].loss;
}

dn_metric_of dn_metric_computed_of(size_t i) {
    return i < sizeof named / sizeof *named ? named[i].of : DN_METRIC_OF_LABELS;
}

bool dn_params_have_metric(const dn_params *params, size_t n_classes, size_t i) {
    const dn_decision decision = dn_params_decision(params);
    const dn_metric_of of = dn_metric_computed_of(i);
    const bool probabilities = dn_params_have_probabilities(params, n_classes),
               class_scores = dn_decision_has_class_scores(decision, n_classes);
    return of == DN_METRIC_OF_LABELS || (of == DN_METRIC_OF_MARGINS && class_scores) ||
           (of == DN_METRIC_OF_PROBABILITIES && probabilities) ||
           (of == DN_METRIC_OF_RANKS &&
            (probabilities || class_scores || dni_decision_is_pairwise(decision, n_classes)));
}

double dn_metric_value(const dn_metrics *metrics, size_t i) {
    if (i >= sizeof named / sizeof *named) {
        return (double)NAN;
    }
    return *(const double *)(const void *)((const char *)metrics + named[i].offset);
}
