/* Results of a model for each row, and metrics of weighted rows (row_results.h). */
#include "evaluate/row_results.h"
#include "base/layout.h"
#include "evaluate/metric_parts.h"

#include <math.h>
#include <string.h>

enum { OF_PROBABILITY = 4, OF_MARGIN = 3 };
enum { MAX_CLASSES = 1 << 15 }; /* so that a cell is a uint32_t */

size_t dni_n_measured(void) {
    size_t n = 0;
    while (dn_metric_name(n) != NULL) {
        n++;
    }
    return n + 1;
}

/* ---- collection ---- */
struct shape {
    size_t n, n_columns;
    bool probable, scored;
};

static void results_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    dni_row_results *r = out;
    r->cell = dni_layout_array(layout, s->n, sizeof *r->cell);
    if (s->probable) {
        r->probability = dni_layout_matrix(layout, s->n, OF_PROBABILITY);
        r->bin = dni_layout_array(layout, s->n, sizeof *r->bin);
    }
    if (s->scored) {
        r->margin = dni_layout_matrix(layout, s->n, OF_MARGIN);
    }
    r->order = dni_layout_array(layout, s->n * s->n_columns, sizeof *r->order);
}

dn_status dni_row_results_init(dni_row_results *r, const dn_metrics_options *options,
                               dn_error *err) {
    const size_t K = options->n_classes;
    const dn_metrics_options ranked = {.n_classes = K,
                                       .n_rows = options->n_rows,
                                       .probabilities = options->probabilities,
                                       .class_scores = options->class_scores,
                                       .run = options->run};
    *r = (dni_row_results){.run = options->run, .n = options->n_rows, .n_classes = K};
    if (K >= MAX_CLASSES) {
        return dn_error_set(err, DN_ERR_BUDGET, "%zu classes are too many: at most %d", K,
                            MAX_CLASSES - 1);
    }
    if (dni_ranking_init(&r->ranking, &ranked, NULL) == DN_OK) {
        r->n_columns = r->ranking.n_columns;
    }
    const struct shape shape = {.n = r->n,
                                .n_columns = r->n_columns,
                                .probable = options->probabilities,
                                .scored = options->class_scores};
    return dni_layout_take_raw(r->run, results_layout, &shape, r, "the results of the rows",
                               &r->memory, err);
}

void dni_row_results_done(dni_row_results *r) {
    dni_ranking_done(&r->ranking);
    dn_run_free(r->run, r->memory);
    *r = (dni_row_results){0};
}

static void set_row(dni_row_results *r, size_t at, size_t truth, size_t label, const double *p,
                    const double *scores) {
    const size_t K = r->n_classes;
    r->cell[at] = (uint32_t)(label == DN_AMBIGUOUS ? K * K + truth : truth * K + label);
    if (r->probability != NULL && p != NULL) {
        const dni_row_probability of = dni_row_probability_of(K, truth, p);
        double *row = r->probability + at * OF_PROBABILITY;
        row[0] = label == DN_AMBIGUOUS ? (double)NAN : p[label];
        row[1] = of.log_loss;
        row[2] = of.brier;
        row[3] = (of.right ? 1 : 0) - of.confidence;
        r->bin[at] = (uint8_t)of.bin;
    }
    if (r->margin != NULL && scores != NULL) {
        const dni_row_margin of = dni_row_margin_of(K, truth, scores);
        double *row = r->margin + at * OF_MARGIN;
        row[0] = of.hinge;
        row[1] = of.squared;
        row[2] = of.logistic;
    }
}

/* Sets the score columns of a row. */
static void set_rank(dni_row_results *r, size_t at, const double *p, const double *scores) {
    dni_ranking *ranking = &r->ranking;
    if (p == NULL && scores == NULL) {
        ranking->broken = true;
        return;
    }
    double room;
    const double *columns = dni_row_rank(r->n_classes, p, scores, &room);
    for (size_t k = 0; k < ranking->n_columns; k++) {
        ranking->score[k * ranking->capacity + at] = columns[k];
        ranking->broken = ranking->broken || isnan(columns[k]);
    }
}

void dni_row_results_set(dni_row_results *r, size_t first, const dn_metrics_rows *rows) {
    const size_t K = r->n_classes;
    for (size_t i = 0; i < rows->n && first + i < r->n; i++) {
        const double *p = rows->probabilities == NULL ? NULL : rows->probabilities + i * K,
                     *scores = rows->class_scores == NULL ? NULL : rows->class_scores + i * K,
                     *ranks = rows->rank_scores == NULL ? scores : rows->rank_scores + i * K;
        set_row(r, first + i, rows->truth[i], rows->predicted[i], p, scores);
        if (r->n_columns > 0) {
            set_rank(r, first + i, p, ranks);
        }
    }
}

size_t dni_row_results_label(const dni_row_results *r, size_t i) {
    const size_t K = r->n_classes;
    return r->cell[i] >= K * K ? DN_AMBIGUOUS : r->cell[i] % K;
}

size_t dni_row_results_truth(const dni_row_results *r, size_t i) {
    const size_t K = r->n_classes;
    return r->cell[i] >= K * K ? r->cell[i] - K * K : r->cell[i] / K;
}

double dni_row_results_probability(const dni_row_results *r, size_t i) {
    return r->probability == NULL ? (double)NAN : r->probability[i * OF_PROBABILITY];
}

dn_status dni_row_results_rank(dni_row_results *r, dn_error *err) {
    dn_status status = DN_OK;
    r->ranking.n = r->n;
    if (r->ranking.broken) {
        r->n_columns = 0;
    }
    for (size_t k = 0; status == DN_OK && k < r->n_columns; k++) {
        uint32_t *order = r->order + k * r->n;
        const size_t positive = r->ranking.n_columns == 1 ? 1 : k;
        status = dni_ranking_order(&r->ranking, k, DNI_ORDER_LAST, order, err);
        for (size_t i = 0; status == DN_OK && i < r->n; i++) {
            order[i] |= dni_row_results_truth(r, order[i] & DNI_ORDER_ROW) == positive
                            ? DNI_ORDER_POSITIVE
                            : 0;
        }
    }
    dni_ranking_done(&r->ranking);
    return status;
}

/* ---- metrics of weighted rows ---- */
enum { W = DNI_SAMPLES };

/* Avoids a division of 0 by 0. Added to a sum of weights it has no effect: they are > 1e-100. */
#define LEAST_WEIGHT 1e-200

/* Sums over the rows, for each sample. */
struct sums {
    double weight[W], square[W], log_loss[W], brier[W];
    double bins[DN_CALIBRATION_BINS][W], margin[OF_MARGIN][W];
};

/* to [W] += value · v [W] */
static inline void add(double *restrict to, double value, const double *restrict v) {
    for (size_t s = 0; s < W; s++) {
        to[s] += value * v[s];
    }
}

static void sum_cells(const dni_row_results *r, const double *weight, struct sums *out,
                      double *cells) {
    double sum[W] = {0}, square[W] = {0};
    memset(cells, 0, (r->n_classes + 1) * r->n_classes * W * sizeof *cells);
    for (size_t i = 0; i < r->n; i++) {
        const double *v = weight + i * W;
        add(cells + (size_t)r->cell[i] * W, 1, v);
        add(sum, 1, v);
        for (size_t s = 0; s < W; s++) {
            square[s] += v[s] * v[s];
        }
    }
    memcpy(out->weight, sum, sizeof sum);
    memcpy(out->square, square, sizeof square);
}

static void sum_probabilities(const dni_row_results *r, const double *weight, struct sums *out) {
    double log_loss[W] = {0}, brier[W] = {0};
    for (size_t i = 0; i < r->n; i++) {
        const double *row = r->probability + i * OF_PROBABILITY, *v = weight + i * W;
        add(log_loss, row[1], v);
        add(brier, row[2], v);
        add(out->bins[r->bin[i]], row[3], v);
    }
    memcpy(out->log_loss, log_loss, sizeof log_loss);
    memcpy(out->brier, brier, sizeof brier);
}

static void sum_margins(const dni_row_results *r, const double *weight, struct sums *out) {
    double sum[OF_MARGIN][W] = {0};
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k < OF_MARGIN; k++) {
            add(sum[k], r->margin[i * OF_MARGIN + k], weight + i * W);
        }
    }
    memcpy(out->margin, sum, sizeof sum);
}

/* Sets the metrics of sample s that are means over the rows. */
static void set_means(const dni_row_results *r, const struct sums *sums, size_t s, dn_metrics *m) {
    double ece = 0;
    m->log_loss = m->brier = m->ece = m->hinge = m->squared_loss = m->logistic_loss = (double)NAN;
    if (r->probability != NULL) {
        for (size_t b = 0; b < DN_CALIBRATION_BINS; b++) {
            ece += fabs(sums->bins[b][s]);
        }
        m->log_loss = dni_ratio(sums->log_loss[s], m->weight);
        m->brier = dni_ratio(sums->brier[s], m->weight);
        m->ece = dni_ratio(ece, m->weight);
    }
    if (r->margin != NULL) {
        m->hinge = dni_ratio(sums->margin[0][s], m->weight);
        m->squared_loss = dni_ratio(sums->margin[1][s], m->weight);
        m->logistic_loss = dni_ratio(sums->margin[2][s], m->weight);
    }
}

/* The areas of a score column in each sample. */
struct column_areas {
    double positive[W], negative[W], roc[W], precision[W];
};

/* The areas of one score column, as ranking.c defines them. NaN: the class has no rows, or all. */
static void measure_column(const dni_row_results *r, size_t column, const double *weight,
                           struct column_areas *out) {
    const uint32_t *order = r->order + column * r->n;
    struct column_areas a = {0};
    double true_step[W] = {0}, false_step[W] = {0};
    for (size_t i = 0; i < r->n; i++) {
        const double *v = weight + (size_t)(order[i] & DNI_ORDER_ROW) * W;
        const double is_true = (order[i] & DNI_ORDER_POSITIVE) != 0 ? 1 : 0;
        add(true_step, is_true, v);
        add(false_step, 1 - is_true, v);
        if ((order[i] & DNI_ORDER_LAST) == 0) {
            continue;
        }
        for (size_t s = 0; s < W; s++) {
            const double before = a.positive[s];
            a.positive[s] += true_step[s];
            a.negative[s] += false_step[s];
            a.roc[s] += false_step[s] * (before + true_step[s] / 2);
            a.precision[s] +=
                true_step[s] * (a.positive[s] / (a.positive[s] + a.negative[s] + LEAST_WEIGHT));
            true_step[s] = false_step[s] = 0;
        }
    }
    for (size_t s = 0; s < W; s++) {
        const bool defined = a.positive[s] > 0 && a.negative[s] > 0;
        a.roc[s] = defined ? a.roc[s] / a.negative[s] / a.positive[s] : (double)NAN;
        a.precision[s] = defined ? a.precision[s] / a.positive[s] : (double)NAN;
    }
    *out = a;
}

/* roc, precision [W] ← the means over the classes for which they are defined. */
static void measure_ranks(const dni_row_results *r, const double *weight, double *roc,
                          double *precision) {
    double count[W] = {0};
    memset(roc, 0, W * sizeof *roc);
    memset(precision, 0, W * sizeof *precision);
    for (size_t k = 0; k < r->n_columns; k++) {
        struct column_areas a;
        measure_column(r, k, weight, &a);
        for (size_t s = 0; s < W; s++) {
            if (!isnan(a.roc[s])) {
                roc[s] += a.roc[s];
                precision[s] += a.precision[s];
                count[s] += 1;
            }
        }
    }
    for (size_t s = 0; s < W; s++) {
        roc[s] = dni_ratio(roc[s], count[s]);
        precision[s] = dni_ratio(precision[s], count[s]);
    }
}

void dni_row_results_measure(const dni_row_results *r, const double *weight, size_t n_samples,
                             dni_sample_work *work, double *out, size_t stride) {
    const size_t K = r->n_classes, n_measured = dni_n_measured(), n_cells = (K + 1) * K;
    double roc[W], precision[W];
    struct sums sums = {0};
    sum_cells(r, weight, &sums, work->cells);
    if (r->probability != NULL) {
        sum_probabilities(r, weight, &sums);
    }
    if (r->margin != NULL) {
        sum_margins(r, weight, &sums);
    }
    measure_ranks(r, weight, roc, precision);
    for (size_t s = 0; s < n_samples; s++, out += stride) {
        dn_metrics m = {.n_classes = K,
                        .confusion = work->sample_cells,
                        .per_class = work->per_class,
                        .weight = sums.weight[s],
                        .roc_auc = roc[s],
                        .average_precision = precision[s]};
        for (size_t i = 0; i < n_cells; i++) {
            work->sample_cells[i] = work->cells[i * W + s];
        }
        dni_class_ratios(&m, work->sample_cells + K * K, sums.square[s]);
        set_means(r, &sums, s, &m);
        for (size_t i = 0; i + 1 < n_measured; i++) {
            out[i] = dn_metric_value(&m, i);
        }
        out[n_measured - 1] = m.macro.f1;
    }
}
