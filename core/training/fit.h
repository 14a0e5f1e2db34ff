/* One fit: from the rows that take part to a model, and the evaluation of that model.
 *
 * A training without cross-validation and calibration is one fit. Cross-validation and calibration
 * make further fits on parts of the rows (folds.h). The steps are called in this order:
 *
 *     dni_fit_encode        fits the encoder and encodes the training rows
 *     dni_fit_train         fits the machines and makes the model
 *     dni_fit_evaluate      evaluates the model on the training rows
 *     dni_fit_release_rows  gives up the prepared rows
 *     dni_fit_evaluate      evaluates the model on held-out rows
 *     dni_fit_done */
#ifndef DNI_FIT_H
#define DNI_FIT_H

#include "evaluate/evaluate_rows.h"
#include "task/labels.h"
#include "training/prepared_rows.h"

/* The evaluation of a model on some rows, depending on the task. */
typedef struct dni_evaluation {
    dn_metrics *metrics;        /* classes; NULL otherwise */
    dni_outlier_count outliers; /* outliers */
} dni_evaluation;
void dni_evaluation_done(dni_evaluation *evaluation); /* {0} is allowed */

typedef struct dni_fit {
    /* set by the caller */
    const dn_train_request *request;
    const dn_run *run;
    dni_labels *labels; /* shared; `role` says which rows take part. `value` is overwritten */
    dn_calibration *calibration; /* owned until the model takes it; NULL: none */
    dni_prepared
        *prepared; /* owned reference, for a fit with the rows of another one (prepared_rows.h).
                               NULL: dni_fit_encode makes it */

    /* results */
    dn_model *model;
    dn_report report;
} dni_fit;

DN_MUST_USE dn_status dni_fit_encode(dni_fit *fit, dn_error *err);
DN_MUST_USE dn_status dni_fit_train(dni_fit *fit, dn_error *err);

/* Evaluates the model on the rows with a role: those of DN_ROW_TRAIN as they were encoded for the
 * fit, others from the source. Weights are the rows' own, without class weights. */
DN_MUST_USE dn_status dni_fit_evaluate(const dni_fit *fit, enum dn_row_role role, bool curves,
                                       dni_evaluation *out, dn_error *err);
void dni_fit_release_rows(dni_fit *fit);

/* Frees everything. A caller that keeps the model or the report sets them to NULL and {0} before. */
void dni_fit_done(dni_fit *fit);

#endif
