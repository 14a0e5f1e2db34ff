/* Learning curves: the metrics of a method by the number of training rows.
 *
 * Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10 and figure
 * 7.8. */
#include "base/argument.h"
#include "base/layout.h"
#include "evaluate/evaluate_table.h"
#include "task/division.h"
#include "task/split_share.h"
#include "training/calibration/calibrate.h"
#include "training/folds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct curve {
    const dn_train_request *request;
    const dn_run *run;
    const double *shares;
    size_t n_shares, n_metrics;
    dni_labels labels;
    dn_learning_point *points; /* [n_shares] sums over the fits, then means */
    double *counts;            /* [n_shares × 2 × n_metrics] fits that define a metric */
    double *squares;           /* [n_shares × n_metrics] */
    size_t *order;             /* [n_order] */
    size_t n_order;
    size_t *count; /* [2 × n_strata] */
    uint8_t *role; /* [n_rows] roles of a fit with all training rows */
    uint16_t *fold;
};

struct shape {
    size_t n_rows, n_strata;
};

static void curve_layout(dni_layout *layout, const void *shape, void *out) {
    const struct shape *s = shape;
    struct curve *c = out;
    c->order = dni_layout_array(layout, s->n_rows, sizeof *c->order);
    c->count = dni_layout_array(layout, 2 * s->n_strata, sizeof *c->count);
    c->role = dni_layout_array(layout, s->n_rows, sizeof *c->role);
    c->fold = dni_layout_array(layout, s->n_rows, sizeof *c->fold);
}

static size_t count_metrics(void) {
    size_t n = 0;
    while (dn_metric_name(n) != NULL) {
        n++;
    }
    return n;
}

/* ---- checks ---- */
static dn_status check(const dn_train_request *r, const double *shares, size_t n_shares,
                       const dn_run *run, dn_error *err) {
    dn_status status = dni_argument_not_null(r, "request", err);
    if (status == DN_OK && r->n_members > 0) {
        status = dni_request_refuse("members", "a combination has no learning curve", err);
    }
    if (status == DN_OK) {
        status = dni_argument_struct(r->struct_size, sizeof *r, "request", err);
    }
    if (status == DN_OK) {
        status = dni_argument_source(r->source, "request->source", err);
    }
    if (status == DN_OK) {
        status = dni_argument_run(run, err);
    }
    if (status == DN_OK) {
        status = dni_division_check(r, err);
    }
    if (status != DN_OK) {
        return status;
    }
    if (r->target == DN_NO_TARGET) {
        return dni_request_refuse("target", "a learning curve needs a target", err);
    }
    const bool folds = r->folds > 0 && r->folds != DN_LEAVE_ONE_OUT;
    if (!folds && !(r->holdout > 0) && !r->marked && r->validation == NULL) {
        return dni_request_refuse("validation", "a learning curve needs validation rows", err);
    }
    for (size_t i = 0; i < n_shares; i++) {
        if (!(shares[i] > 0 && shares[i] <= 1)) {
            return dni_request_refuse("shares", "a share must be > 0 and <= 1", err);
        }
    }
    return n_shares > 0 ? DN_OK : dni_request_refuse("shares", "there are no shares", err);
}

/* ---- one fit ---- */
static void add_metrics(const dn_metrics *metrics, size_t n, double *sums, double *counts,
                        double *squares) {
    for (size_t i = 0; i < n; i++) {
        const double value = dn_metric_value(metrics, i);
        if (isnan(value)) {
            continue;
        }
        sums[i] += value;
        counts[i]++;
        if (squares != NULL) {
            squares[i] += value * value;
        }
    }
}

static dn_status evaluate(const struct curve *c, dni_fit *fit, dni_evaluation *train,
                          dni_evaluation *held_out, dn_error *err) {
    const dn_train_request *r = c->request;
    const char *weight = r->weighted ? r->source->columns[r->weight].name : NULL;
    dn_status status = dni_fit_evaluate(fit, DN_ROW_TRAIN, false, train, err);
    dni_fit_release_rows(fit);
    if (status != DN_OK) {
        return status;
    }
    if (r->validation == NULL) {
        return dni_fit_evaluate(fit, DN_ROW_VALIDATE, false, held_out, err);
    }
    if (weight != NULL && dni_source_column(r->validation, weight) == SIZE_MAX) {
        weight = NULL;
    }
    const dn_evaluate_options options = {.weight = weight};
    return dn_model_evaluate(fit->model, r->validation, &options, fit->run, &held_out->metrics,
                             err);
}

/* Fits to share s of the training rows of c->role, and adds the metrics to its point. */
static dn_status fit_share(struct curve *c, size_t s, dn_error *err) {
    const size_t n = c->request->source->n_rows, m = c->n_metrics;
    dn_learning_point *point = &c->points[s];
    double *counts = c->counts + s * 2 * m;
    dni_calibrated calibrated = {0};
    dni_evaluation train = {0}, held_out = {0};
    dni_fit fit = {.request = c->request, .run = c->run, .labels = &c->labels};
    memcpy(c->labels.role, c->role, n);
    dni_split_share(c->order, c->n_order, c->labels.stratum, c->labels.n_strata, c->shares[s],
                    c->count, c->labels.role);
    dn_status status = dni_calibrate(&fit, &calibrated, err);
    if (status == DN_OK) {
        status = dni_fit_encode(&fit, err);
    }
    if (status == DN_OK) {
        point->rows += (double)fit.prepared->rows->n_rows;
        status = dni_fit_train(&fit, err);
    }
    if (status == DN_OK) {
        status = evaluate(c, &fit, &train, &held_out, err);
    }
    if (status == DN_OK) {
        point->n_fits++;
        point->n_unconverged += !fit.report.converged;
        add_metrics(train.metrics, m, point->train, counts, NULL);
        add_metrics(held_out.metrics, m, point->validation, counts + m, c->squares + s * m);
    }
    dni_evaluation_done(&train);
    dni_evaluation_done(&held_out);
    dni_fit_done(&fit);
    return status;
}

/* ---- all fits ---- */
static dn_status fit_shares(struct curve *c, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t s = 0; s < c->n_shares && status == DN_OK; s++) {
        dn_error error;
        dn_error_clear(&error);
        status = fit_share(c, s, &error);
        if (status != DN_OK) {
            status = dni_error_prefixed(&error, status, "learning curve", err);
        }
    }
    return status;
}

static dn_status fit_folds(struct curve *c, dn_error *err) {
    const dn_train_request *r = c->request;
    dn_status status = dni_labels_check_folds(&c->labels, r->folds, err);
    for (size_t f = 0; f < dni_division_fits(r) && status == DN_OK; f++) {
        if (f % r->folds == 0) {
            status = dni_division_folds(r, f / r->folds, c->run, &c->labels, c->fold, err);
        }
        for (size_t i = 0; i < r->source->n_rows; i++) {
            c->role[i] = (uint8_t)(isnan(c->labels.stratum[i])
                                       ? DN_ROW_SKIP
                                       : dni_division_role(r, c->fold[i], f % r->folds));
        }
        if (status == DN_OK) {
            status = fit_shares(c, err);
        }
    }
    return status;
}

static dn_status fit_all(struct curve *c, dn_error *err) {
    dni_split split;
    if (c->request->folds > 0) {
        return fit_folds(c, err);
    }
    dn_status status = dni_division_holdout(c->request, c->run, &c->labels, &split, err);
    if (status != DN_OK) {
        return status;
    }
    memcpy(c->role, c->labels.role, c->request->source->n_rows);
    return fit_shares(c, err);
}

/* Turns the sums of a point into means, and the squares into standard deviations. */
static void finish(const struct curve *c, size_t s) {
    dn_learning_point *point = &c->points[s];
    const size_t m = c->n_metrics;
    const double *of_train = c->counts + s * 2 * m, *of_validation = of_train + m;
    point->rows /= (double)point->n_fits;
    for (size_t i = 0; i < m; i++) {
        const double n = of_validation[i];
        point->train[i] = of_train[i] > 0 ? point->train[i] / of_train[i] : (double)NAN;
        point->validation[i] = n > 0 ? point->validation[i] / n : (double)NAN;
        const double square =
            c->squares[s * m + i] / n - point->validation[i] * point->validation[i];
        point->deviation[i] = n > 0 ? sqrt(fmax(0, square)) : (double)NAN;
    }
}

static dn_status run_curve(struct curve *c, dn_error *err) {
    const size_t n = c->request->source->n_rows;
    void *memory = NULL;
    dn_status status = dni_labels_read(c->request, c->run, &c->labels, err);
    if (status != DN_OK) {
        return status;
    }
    const struct shape shape = {n, c->labels.n_strata};
    status = dni_layout_take(c->run, curve_layout, &shape, c, "the rows of a learning curve",
                             &memory, err);
    if (status == DN_OK) {
        c->n_order = dni_split_shuffle(c->labels.stratum, n, c->run, c->order);
        status = fit_all(c, err);
    }
    for (size_t s = 0; s < c->n_shares && status == DN_OK; s++) {
        finish(c, s);
    }
    dn_run_free(c->run, memory);
    return status;
}

dn_status dn_learning_curve(const dn_train_request *request, const double *shares, size_t n_shares,
                            const dn_run *run, dn_learning_point **out, dn_error *err) {
    const dn_run fallback = dn_run_default();
    dn_status status = check(request, shares, n_shares, run, err);
    if (status == DN_OK) {
        status = dni_argument_not_null(out, "out", err);
    }
    if (status != DN_OK) {
        return status;
    }
    dn_train_request used = *request;
    const size_t m = count_metrics();
    used.held_out = NULL;
    status = dn_params_encoding(used.params, used.source->columns, used.source->n_rows,
                                &used.features, err);
    if (status != DN_OK) {
        return status;
    }
    dn_run quiet = run == NULL ? fallback : *run;
    quiet.progress = NULL;
    quiet.n_snapshots = 0;
    struct curve c = {
        .request = &used, .run = &quiet, .shares = shares, .n_shares = n_shares, .n_metrics = m};
    c.points = calloc(1, n_shares * (sizeof *c.points + 3 * m * sizeof(double)));
    c.counts = calloc(n_shares * 3 * m, sizeof *c.counts);
    if (c.points == NULL || c.counts == NULL) {
        status = dn_error_set(err, DN_ERR_MEMORY, "no memory for a learning curve of %zu points",
                              n_shares);
        goto cleanup;
    }
    c.squares = c.counts + n_shares * 2 * m;
    for (size_t s = 0; s < n_shares; s++) {
        double *of_point = (double *)(void *)(c.points + n_shares) + s * 3 * m;
        c.points[s] = (dn_learning_point){.share = shares[s],
                                          .train = of_point,
                                          .validation = of_point + m,
                                          .deviation = of_point + 2 * m};
    }
    status = run_curve(&c, err);
    dni_labels_done(&c.labels);
    if (status == DN_OK) {
        *out = c.points;
        c.points = NULL;
    }
cleanup:
    free(c.points);
    free(c.counts);
    return status;
}

void dn_learning_curve_free(dn_learning_point *points) {
    free(points);
}
