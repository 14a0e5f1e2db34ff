/* Cross-validation: a model that was fitted without the rows of a fold is evaluated on the fold.
 *
 * Every step that uses the data, including encoder and calibration, is repeated without the fold:
 * Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10. */
#include "training/crossval.h"
#include "catalogue/report.h"
#include "task/division.h"
#include "training/calibration/calibrate.h"
#include "training/fold_classes.h"
#include "training/folds.h"
#include "training/unseen_categories.h"

#include <stdio.h>
#include <stdlib.h>

struct crossval {
    dni_evaluation *folds; /* [n_folds] */
    const dni_crossval_rows *rows;
    size_t n_of_repeat; /* number of folds of a repeat */
    const dn_run *run;
    dn_report *report; /* report of the model */
    size_t n_model;    /* number of warnings in the report of the model */
    dni_unseen unseen; /* categories that only one fold has */
};

/* Adds the warnings of a fold to the report of the model, except those that are among its first
 * n_model warnings. */
static void add_warnings(dn_report *of_fold, size_t fold, size_t n_model, dn_report *report) {
    char prefix[32];
    snprintf(prefix, sizeof prefix, "fold %zu", fold + 1);
    for (size_t i = 0; i < of_fold->n_warnings; i++) {
        dn_warning *warning = &of_fold->warnings[i];
        warning->fold = fold;
        if (!dni_report_has_warning(report, n_model, warning)) {
            dni_report_add_warning(report, warning, prefix);
        }
    }
}

static dn_status make_fold(void *arg, size_t f, dni_fit *fit, dn_error *err) {
    struct crossval *c = arg;
    dni_calibrated calibrated = {0};
    dn_status status = dni_calibrate(fit, &calibrated, err);
    if (status != DN_OK) {
        return status;
    }
    status = dni_fit_model(fit, err);
    if (status != DN_OK) {
        return status;
    }
    dni_calibrated_report(&calibrated, fit);
    status = dni_unseen_count(dn_model_encoder(fit->model), fit->request->source, fit->labels->role,
                              fit->run, &c->unseen, err);
    if (status != DN_OK) {
        return status;
    }
    fit->pool = c->rows->pool;
    fit->held_out = c->rows->held_out;
    if (fit->held_out != NULL) {
        dni_held_out_begin(fit->held_out, f, f / c->n_of_repeat);
    }
    if (c->rows->only_pool) {
        /* leave-one-out has as many folds as rows: each kind of warning is added for its first fold
         * only */
        add_warnings(&fit->report, f, c->report->n_warnings, c->report);
        return dni_fit_add_held_out(fit, err);
    }
    status = dni_fit_evaluate(fit, DN_ROW_VALIDATE, false, &c->folds[f], err);
    if (status != DN_OK) {
        return status;
    }
    const dn_metrics *metrics = c->folds[f].metrics;
    if (metrics != NULL && metrics->warning[0] != '\0') {
        dn_report_warn(&fit->report, DN_WARNING_RANKING, "%s", metrics->warning);
    }
    add_warnings(&fit->report, f, c->n_model, c->report);
    return DN_OK;
}

/* Divides the rows and fits the folds of one repeat. */
static dn_status run_repeat(struct crossval *c, const dn_train_request *request, dni_labels *labels,
                            size_t repeat, uint16_t *fold, dn_error *err) {
    const size_t n_rows = request->source->n_rows, n_folds = request->folds;
    dn_status status = dni_division_folds(request, repeat, c->run, labels, fold, err);
    if (status != DN_OK) {
        return status;
    }
    if (repeat == 0) {
        const enum dni_fold_classes kind = c->rows->only_pool ? DNI_FOLDS_OF_ONE_ROW
                                           : request->grouped || request->ordered
                                               ? DNI_FOLDS_ANY
                                               : DNI_FOLDS_STRATIFIED;
        status = dni_warn_of_fold_classes(labels, n_rows, fold, n_folds, kind, c->report, err);
        if (status != DN_OK) {
            return status;
        }
    }
    const dni_folds folds = {.request = request,
                             .labels = labels,
                             .run = c->run,
                             .name = "fold",
                             .stratum = labels->stratum,
                             .fold = fold,
                             .n_folds = n_folds,
                             .rolling = request->ordered,
                             .n_before = repeat * n_folds,
                             .first = 1,
                             .n_parts = dni_division_fits(request) + 1,
                             .make = make_fold,
                             .arg = c};
    return dni_folds_run(&folds, err);
}

dn_status dni_crossval(const dn_train_request *request, dni_labels *labels, const dn_run *run,
                       dn_report *report, const dni_crossval_rows *rows, dni_evaluation **out,
                       dn_error *err) {
    const size_t n_fits = dni_division_fits(request);
    struct crossval c = {.rows = rows,
                         .n_of_repeat = request->folds,
                         .run = run,
                         .report = report,
                         .n_model = report->n_warnings};
    void *fold = NULL;
    c.folds = calloc(n_fits, sizeof *c.folds);
    if (c.folds == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the metrics of %zu folds", n_fits);
    }
    dn_status status = dn_run_alloc(run, request->source->n_rows, sizeof(uint16_t),
                                    "the folds of the rows", &fold, err);
    for (size_t repeat = 0; status == DN_OK && repeat * request->folds < n_fits; repeat++) {
        status = run_repeat(&c, request, labels, repeat, fold, err);
    }
    dn_run_free(run, fold);
    if (status == DN_OK) {
        dni_unseen_warn(&c.unseen, "held-out", report);
        *out = c.folds;
    } else {
        dni_crossval_free(c.folds, n_fits);
    }
    return status;
}

void dni_crossval_free(dni_evaluation *folds, size_t n_folds) {
    for (size_t f = 0; folds != NULL && f < n_folds; f++) {
        dni_evaluation_done(&folds[f]);
    }
    free(folds);
}
