/* Calibration. For each fold, encoder and machines are fitted to the rows of the other folds and
 * score the rows of the fold. The calibrators are fitted to the scores of all folds. */
#include "training/calibration/calibrate.h"
#include "base/argument.h"
#include "base/layout.h"
#include "catalogue/calibration_params.h"
#include "model/calibration.h"
#include "model/model_impl.h"
#include "task/division.h"
#include "training/calibration/held_scores.h"
#include "training/folds.h"

#include <math.h>
#include <string.h>

enum { MAX_LISTED = 100 }; /* maximum length of a list in the details of the report */

struct calibration {
    dni_held_scores held;
    dni_calibrated result;
    bool quick; /* dni_fit.quick of the fits */
};

static dn_status make_fold(void *arg, size_t f, dni_fit *fit, dn_error *err) {
    struct calibration *c = arg;
    const dni_labels *labels = fit->labels;
    dn_rows *rows = NULL;
    (void)f;
    fit->quick = c->quick;
    dn_status status = dni_fit_model(fit, err);
    if (status != DN_OK) {
        return status;
    }
    c->result.n_unconverged += !fit->report.converged;
    status =
        dn_rows_from_source(fit->request->source, dn_model_encoder(fit->model), labels->role,
                            DN_ROW_VALIDATE, c->held.stratum, NULL, false, fit->run, &rows, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_evaluate_input input = {.rows = rows,
                                      .weight = labels->weight,
                                      .role = labels->role,
                                      .wanted = DN_ROW_VALIDATE};
    status = dni_score_rows(&input, fit->model, fit->run, dni_held_scores_add, &c->held, err);
    dn_rows_free(rows);
    return status;
}

static bool is_flat(dn_calibration_method method, const dn_calibrator *c) {
    return method == DN_CALIBRATION_PLATT ? !(c->slope > 0)
                                          : !(c->probability[c->n - 1] > c->probability[0]);
}

/* Returns dni_scored.rows_per_weight: n/Σv of the held-out rows; 1 with DN_WEIGHTS_FREQUENCIES. */
static double rows_per_weight(dn_weights meaning, const dni_held_scores *held) {
    double sum = 0;
    if (meaning == DN_WEIGHTS_FREQUENCIES) {
        return 1;
    }
    for (size_t i = 0; i < held->n; i++) {
        sum += held->weight[i];
    }
    return sum > 0 ? (double)held->n / sum : 1;
}

/* Fits one calibrator to each score. */
static dn_status fit_calibrators(struct calibration *c, dn_weights weights, const dn_run *run,
                                 dn_calibration *out, dn_error *err) {
    const dn_calibration_method method = c->result.method;
    dni_isotonic_work work = {0};
    const double rows = rows_per_weight(weights, &c->held);
    void *memory = NULL;
    dn_status status = DN_OK;
    if (method == DN_CALIBRATION_ISOTONIC) {
        status = dni_layout_take_raw(run, dni_isotonic_layout, &c->held.n_rows, &work,
                                     "the steps of a calibration", &memory, err);
        if (status != DN_OK) {
            return status;
        }
    }
    for (size_t s = 0; s < c->held.n_scores; s++) {
        dni_scored scored = dni_held_scores_select(&c->held, s);
        scored.rows_per_weight = rows;
        dn_calibrator *calibrator = &out->scores[s];
        status = dn_run_stop(run, err);
        if (status != DN_OK) {
            break;
        }
        status = method == DN_CALIBRATION_PLATT
                     ? dni_calibrate_platt(&scored, run, calibrator, err)
                     : dni_calibrate_isotonic(&scored, &work, run, calibrator, err);
        if (status != DN_OK) {
            break;
        }
        c->result.n_flat += is_flat(method, calibrator);
    }
    dn_run_free(run, memory);
    return status;
}

/* Counts the training rows (*out_rows) and sets the number of folds: the value of the parameter,
 * but at most the number of rows of the smallest class. */
static dn_status choose_folds(struct calibration *c, const dni_fit *fit, size_t *out_rows,
                              dn_error *err) {
    const dni_labels *labels = fit->labels;
    void *memory = NULL;
    size_t smallest = 0, rows = 0;
    dn_status status = dn_run_alloc(fit->run, labels->n_strata, sizeof(size_t),
                                    "the rows of the classes", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    size_t *count = memory;
    for (size_t i = 0; i < fit->request->source->n_rows; i++) {
        if (labels->role[i] == DN_ROW_TRAIN) {
            count[(size_t)labels->stratum[i]]++;
            rows++;
        }
    }
    for (size_t k = 1; k < labels->n_strata; k++) {
        smallest = count[k] < count[smallest] ? k : smallest;
    }
    dni_calibrated *r = &c->result;
    r->min_rows = count[smallest];
    dn_run_free(fit->run, memory);
    r->requested = (size_t)dn_params_number(fit->request->params, "calibration_folds");
    r->folds = r->min_rows < r->requested ? r->min_rows : r->requested;
    if (r->folds < 2) {
        return dni_error_at(
            dn_error_set(err, DN_ERR_DATA,
                         "class \"%.64s\" has %zu training row: a calibration needs at least 2 "
                         "rows of each class",
                         labels->class_name[smallest], r->min_rows),
            "calibrate", -1, err);
    }
    *out_rows = rows;
    return DN_OK;
}

/* Scores each training row with the model that was fitted without the fold of the row. */
static dn_status score_folds(struct calibration *c, const dni_fit *fit, dn_error *err) {
    const size_t n = fit->request->source->n_rows;
    dni_labels *labels = fit->labels;
    dni_held_scores *held = &c->held;
    for (size_t i = 0; i < n; i++) {
        held->stratum[i] = labels->role[i] == DN_ROW_TRAIN ? labels->stratum[i] : (double)NAN;
    }
    const size_t most = c->result.folds;
    size_t group = SIZE_MAX;
    dn_status status = dni_division_calibration(fit->request, labels, held->stratum, fit->run,
                                                &c->result.folds, held->fold, &group, err);
    if (status != DN_OK) {
        return status;
    }
    const dni_folds folds = {.request = fit->request,
                             .labels = labels,
                             .run = fit->run,
                             .name = "calibration fold",
                             .stratum = held->stratum,
                             .fold = held->fold,
                             .n_folds = c->result.folds,
                             .n_parts = c->result.folds + 1,
                             .make = make_fold,
                             .arg = c};
    memcpy(held->role, labels->role, n);
    status = dni_folds_run(&folds, err);
    memcpy(labels->role, held->role, n);
    held->n_rows = held->n; /* without the rows of groups that cannot be held out */
    c->result.few_groups =
        c->result.folds < most ? fit->request->source->columns[group].name : NULL;
    return status;
}

dn_status dni_calibrate(dni_fit *fit, dni_calibrated *out, dn_error *err) {
    struct calibration c = {.result.method = dni_calibration_method(fit->request->params),
                            .quick = fit->quick};
    dn_calibration *calibration = NULL;
    size_t n_rows = 0;
    *out = (dni_calibrated){0};
    if (c.result.method == DN_CALIBRATION_NONE) {
        return DN_OK;
    }
    dn_status status = choose_folds(&c, fit, &n_rows, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_held_scores_init(&c.held, dn_params_decision(fit->request->params),
                                  fit->labels->n_strata, n_rows, fit->request->source->n_rows,
                                  fit->run, err);
    if (status != DN_OK) {
        return status;
    }
    status = score_folds(&c, fit, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status =
        dni_calibration_new(c.result.method, c.result.folds, c.held.n_scores, &calibration, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = fit_calibrators(&c, fit->request->weights, fit->run, calibration, err);
    if (status != DN_OK) {
        goto cleanup;
    }
    status = dni_held_scores_loss(&c.held, calibration, fit->run, &c.result.before, &c.result.after,
                                  err);
cleanup:
    dn_run_free(fit->run, c.held.memory);
    if (status != DN_OK) {
        dni_calibration_free(calibration);
        return status;
    }
    *out = c.result;
    dni_share_init(&out->share, fit->run, out->folds, out->folds + 1);
    fit->run = &out->share.run;
    fit->calibration = calibration;
    return DN_OK;
}

/* ---- report ---- */
static void report_sigmoids(const dn_calibration *calibration, dn_report *report) {
    double slopes[MAX_LISTED], intercepts[MAX_LISTED];
    for (size_t s = 0; s < calibration->n_scores; s++) {
        slopes[s] = calibration->scores[s].slope;
        intercepts[s] = calibration->scores[s].intercept;
    }
    dn_report_list(report, "calibration_slopes", slopes, calibration->n_scores);
    dn_report_list(report, "calibration_intercepts", intercepts, calibration->n_scores);
}

void dni_calibrated_report(const dni_calibrated *calibrated, dni_fit *fit) {
    dn_report *report = &fit->report;
    if (calibrated->method == DN_CALIBRATION_NONE) {
        return;
    }
    const dn_calibration *c = dn_model_calibration(fit->model);
    dn_report_text(report, "calibration", "%s", dn_calibration_name(c->method));
    dn_report_number(report, "calibration_folds", (double)c->folds);
    if (c->method == DN_CALIBRATION_PLATT && c->n_scores <= MAX_LISTED) {
        report_sigmoids(c, report);
    }
    if (!isnan(calibrated->after)) {
        dn_report_number(report, "calibration_log_loss_before", calibrated->before);
        dn_report_number(report, "calibration_log_loss", calibrated->after);
    }
    if (calibrated->few_groups != NULL) {
        dn_report_warn(report, DN_WARNING_CALIBRATION_FOLDS,
                       "the calibration has %zu folds, not %zu: it keeps the groups of column "
                       "\"%.64s\" together, and so many of them can be held out",
                       c->folds, calibrated->requested, calibrated->few_groups);
    } else if (c->folds < calibrated->requested) {
        dn_report_warn(
            report, DN_WARNING_CALIBRATION_FOLDS,
            "the calibration has %zu folds, not %zu: the smallest class has %zu training rows",
            c->folds, calibrated->requested, calibrated->min_rows);
    }
    if (calibrated->n_unconverged > 0 && report->converged) {
        dn_report_warn(report, DN_WARNING_CALIBRATION_FITS,
                       "%zu of the %zu fits of the calibration did not converge",
                       calibrated->n_unconverged, c->folds);
    }
    if (calibrated->n_flat > 0) {
        dn_report_warn(
            report, DN_WARNING_CALIBRATION_FLAT,
            "calibration: on held-out rows %zu of %zu scores are not higher for the rows of their "
            "class; the calibrated probabilities of these classes are nearly constant",
            calibrated->n_flat, c->n_scores);
    }
}
