/* Fold after fold: encoder and machines from the other rows, metrics on its own. Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 7.10: everything that is
 * learned from data, the encoder too, is learned without the fold. */
#include "training/crossval.h"
#include "base/share.h"
#include "task/split.h"
#include "training/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

dn_status dni_folds_check(const dn_train_request *request, const dni_labels *labels,
                          dn_error *err) {
    size_t least = 0;
    for (size_t k = 1; k < labels->classes.shown.n && request->target != DN_NO_TARGET; k++) {
        if (labels->count[k] < labels->count[least]) {
            least = k;
        }
    }
    size_t n = labels->count[least];
    if (request->folds <= n) {
        return DN_OK;
    }
    if (request->target == DN_NO_TARGET) {
        return dn_error_set(
            err, DN_ERR_DATA,
            "there are only %zu rows, %zu folds need as many: take at most %zu folds", n,
            request->folds, n);
    }
    const char *name = labels->class_name[least];
    if (n == 1) {
        return dn_error_set(err, DN_ERR_DATA,
                            "class \"%.64s\" has only 1 row, %zu folds need as many of each class: "
                            "leave its row out, or "
                            "validate otherwise",
                            name, request->folds);
    }
    return dn_error_set(err, DN_ERR_DATA,
                        "class \"%.64s\" has only %zu rows, %zu folds need as many of each class: "
                        "take at most %zu folds, or "
                        "leave the class out",
                        name, n, request->folds, n);
}

/* What the fold warns of, unless the model itself does. */
static void add_warnings(const dn_report *own, size_t fold, size_t n_model, dn_report *report) {
    for (size_t i = 0; i < own->n_warnings; i++) {
        bool known = false;
        for (size_t j = 0; j < n_model && !known; j++) {
            known = strcmp(own->warnings[i], report->warnings[j]) == 0;
        }
        if (!known) {
            dn_report_warn(report, "fold %zu: %s", fold + 1, own->warnings[i]);
        }
    }
}

dn_status dni_fold_error(const dn_error *own, dn_status status, const char *what, size_t fold,
                         dn_error *err) {
    if (status == DN_ERR_STOPPED || status == DN_ERR_TIME) {
        dn_error_set(err, status, "%s", own->message);
    } else {
        dn_error_set(err, status, "%s %zu: %s", what, fold + 1, own->message);
    }
    dn_error_set_field(err, own->field);
    if (own->row >= 0) {
        dn_error_set_row(err, own->row);
    }
    return status;
}

static dn_status run_fold(const dn_train_request *request, dni_labels *labels, const dn_run *run,
                          dn_report *report, dn_metrics **out, dn_error *err) {
    dni_fit t = {.request = request, .run = run, .labels = labels};
    dn_status status = dni_training_calibrate(&t, err);
    if (status == DN_OK) {
        status = dni_fit_encode(&t, err);
    }
    if (status == DN_OK) {
        status = dni_fit_train(&t, err);
    }
    dni_fit_release_rows(&t);
    if (status == DN_OK) {
        status = dni_fit_evaluate(&t, DN_ROW_VALIDATE, false, out, err);
    }
    if (status == DN_OK) {
        *report = t.report;
        t.report = (dn_report){0};
        if ((*out)->warning[0] != '\0') {
            dn_report_warn(report, "%s", (*out)->warning);
        }
    }
    dni_fit_done(&t);
    return status;
}

static dn_status run_folds(const dn_train_request *request, dni_labels *labels,
                           const uint16_t *fold, const dn_run *run, dn_report *report,
                           dn_metrics **folds, dn_error *err) {
    size_t n_model = report->n_warnings;
    dn_report *own = malloc(sizeof *own); /* too large for a stack that is the caller's */
    if (own == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the reports of the folds");
    }
    dn_status status = DN_OK;
    for (size_t f = 0; f < request->folds && status == DN_OK; f++) {
        dn_error why;
        dni_share share;
        dn_error_clear(&why);
        *own = (dn_report){0};
        for (size_t i = 0; i < request->source->n_rows; i++) {
            labels->role[i] = (uint8_t)(isnan(labels->index[i]) ? DN_ROW_SKIP
                                        : fold[i] == f          ? DN_ROW_VALIDATE
                                                                : DN_ROW_TRAIN);
        }
        dni_share_init(&share, run, f + 1, request->folds + 1);
        dni_share_fold(&share, f + 1);
        status = run_fold(request, labels, &share.run, own, &folds[f], &why);
        if (status != DN_OK) {
            dni_fold_error(&why, status, "fold", f, err);
        } else {
            add_warnings(own, f, n_model, report);
        }
        dn_report_done(own);
    }
    free(own);
    return status;
}

dn_status dni_folds_run(const dn_train_request *request, dni_labels *labels, const dn_run *run,
                        dn_report *report, dn_metrics ***out, dn_error *err) {
    dn_metrics **folds = calloc(request->folds, sizeof *folds);
    void *fold = NULL;
    if (folds == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the metrics of %zu folds",
                            request->folds);
    }
    dn_status status = dn_run_alloc(run, request->source->n_rows, sizeof(uint16_t),
                                    "the folds of the rows", &fold, err);
    if (status == DN_OK) {
        status = dni_split_folds(labels->index, request->source->n_rows, labels->classes.shown.n,
                                 request->folds, run, fold, err);
    }
    if (status == DN_OK) {
        status = run_folds(request, labels, fold, run, report, folds, err);
    }
    dn_run_free(run, fold);
    if (status == DN_OK) {
        *out = folds;
    } else {
        dni_folds_free(folds, request->folds);
    }
    return status;
}

void dni_folds_free(dn_metrics **folds, size_t n) {
    for (size_t f = 0; folds != NULL && f < n; f++) {
        dn_metrics_free(folds[f]);
    }
    free(folds);
}
