/* One fit: from the rows that take part to a model, and the evaluation of that model.
 *
 * A training without cross-validation and calibration is one fit. Cross-validation and calibration
 * make further fits on parts of the rows (folds.h). The steps are called in this order:
 *
 *     dni_fit_encode        fits the encoder and encodes the training rows
 *     dni_fit_train         fits the machines and makes the model
 *     dni_fit_evaluate      evaluates the model on the training rows
 *     dni_fit_release_rows  frees the training rows
 *     dni_fit_evaluate      evaluates the model on held-out rows
 *     dni_fit_done */
#ifndef DNI_FIT_H
#define DNI_FIT_H

#include "evaluate/evaluate_rows.h"
#include "task/labels.h"
#include "training/training_set.h"

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
    dn_calibration
        *calibration; /* of the model, which takes it; freed by dni_fit_done. NULL: none */

    /* results */
    size_t n_train;      /* rows with DN_ROW_TRAIN */
    dn_encoder *encoder; /* until the model takes it */
    dni_training_set set;
    dn_rows *rows; /* the training rows */
    bool streamed; /* the rows are decoded from the source whenever they are read */
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
