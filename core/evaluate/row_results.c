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
static void measure_probabilities(const dni_row_results *r, const double *weight, dn_metrics *m) {
    double log_loss = 0, brier = 0, bins[DN_CALIBRATION_BINS] = {0}, ece = 0;
    for (size_t i = 0; i < r->n; i++) {
        const double *row = r->probability + i * OF_PROBABILITY;
        log_loss += weight[i] * row[1];
        brier += weight[i] * row[2];
        bins[r->bin[i]] += weight[i] * row[3];
    }
    for (size_t b = 0; b < DN_CALIBRATION_BINS; b++) {
        ece += fabs(bins[b]);
    }
    m->log_loss = dni_ratio(log_loss, m->weight);
    m->brier = dni_ratio(brier, m->weight);
    m->ece = dni_ratio(ece, m->weight);
}

static void measure_margins(const dni_row_results *r, const double *weight, dn_metrics *m) {
    double sum[OF_MARGIN] = {0};
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k < OF_MARGIN; k++) {
            sum[k] += weight[i] * r->margin[i * OF_MARGIN + k];
        }
    }
    m->hinge = dni_ratio(sum[0], m->weight);
    m->squared_loss = dni_ratio(sum[1], m->weight);
    m->logistic_loss = dni_ratio(sum[2], m->weight);
}

/* The areas of one score column, as ranking.c defines them. NaN: the class has no rows, or all. */
static void measure_column(const dni_row_results *r, size_t column, const double *weight,
                           double *out_roc, double *out_precision) {
    const uint32_t *order = r->order + column * r->n;
    double positive = 0, negative = 0, true_step = 0, false_step = 0, roc = 0, precision = 0;
    for (size_t i = 0; i < r->n; i++) {
        const double v = weight[order[i] & DNI_ORDER_ROW];
        if ((order[i] & DNI_ORDER_POSITIVE) != 0) {
            true_step += v;
        } else {
            false_step += v;
        }
        if ((order[i] & DNI_ORDER_LAST) == 0) {
            continue;
        }
        roc += false_step * (positive + true_step / 2);
        positive += true_step;
        negative += false_step;
        precision += true_step > 0 ? true_step * (positive / (positive + negative)) : 0;
        true_step = false_step = 0;
    }
    const bool defined = positive > 0 && negative > 0;
    *out_roc = defined ? roc / negative / positive : (double)NAN;
    *out_precision = defined ? precision / positive : (double)NAN;
}

static void measure_ranks(const dni_row_results *r, const double *weight, dn_metrics *m) {
    double roc = 0, precision = 0, count = 0;
    for (size_t k = 0; k < r->n_columns; k++) {
        double of_class, precision_of_class;
        measure_column(r, k, weight, &of_class, &precision_of_class);
        if (!isnan(of_class)) {
            roc += of_class;
            precision += precision_of_class;
            count += 1;
        }
    }
    m->roc_auc = dni_ratio(roc, count);
    m->average_precision = dni_ratio(precision, count);
}

void dni_row_results_measure(const dni_row_results *r, const double *weight, dni_sample_work *work,
                             double *out) {
    const size_t K = r->n_classes, n_measured = dni_n_measured();
    double square = 0;
    dn_metrics m = {.n_classes = K, .confusion = work->cells, .per_class = work->per_class};
    memset(work->cells, 0, (K + 1) * K * sizeof *work->cells);
    for (size_t i = 0; i < r->n; i++) {
        work->cells[r->cell[i]] += weight[i];
        m.weight += weight[i];
        square += weight[i] * weight[i];
    }
    dni_class_ratios(&m, work->cells + K * K, square);
    m.log_loss = m.brier = m.ece = m.hinge = m.squared_loss = m.logistic_loss = (double)NAN;
    if (r->probability != NULL) {
        measure_probabilities(r, weight, &m);
    }
    if (r->margin != NULL) {
        measure_margins(r, weight, &m);
    }
    measure_ranks(r, weight, &m);
    for (size_t i = 0; i + 1 < n_measured; i++) {
        out[i] = dn_metric_value(&m, i);
    }
    out[n_measured - 1] = m.macro.f1;
}
