/* One fit: trains a model on the rows with DN_ROW_TRAIN, and evaluates the model.
 *
 * A training without cross-validation and calibration is one fit. Cross-validation and calibration
 * make further fits to subsets of the rows (folds.h). The steps are called in this order:
 *
 *     dni_fit_encode        fits the encoder and encodes the training rows
 *     dni_fit_train         fits the machines and makes the model
 *     dni_fit_evaluate      evaluates the model on the training rows
 *     dni_fit_release_rows  releases the prepared rows
 *     dni_fit_evaluate      evaluates the model on held-out rows
 *     dni_fit_done */
#ifndef DNI_FIT_H
#define DNI_FIT_H

#include "evaluate/evaluate_rows.h"
#include "task/labels.h"
#include "training/prepared_rows.h"

/* Evaluation of a model on a set of rows. The task determines which member is used. */
typedef struct dni_evaluation {
    dn_metrics *metrics;        /* task "classes"; NULL otherwise */
    dni_outlier_count outliers; /* task "outliers" */
} dni_evaluation;
void dni_evaluation_done(dni_evaluation *evaluation); /* evaluation may be zero-initialised */

typedef struct dni_fit {
    /* set by the caller */
    const dn_train_request *request;
    const dn_run *run;
    dni_labels *labels;          /* borrowed; `role` selects the rows, `value` is overwritten */
    dn_calibration *calibration; /* owned by the fit, then by the model; NULL: no calibration */
    /* receive the rows with DN_ROW_VALIDATE when the model is evaluated on them; NULL: none. */
    dn_held_out *held_out;
    dni_pool *pool;
    bool statistics; /* true: compute the statistics of the weights and the feature means */

    /* set by a caller that makes several fits to the same rows with other parameters; NULL: none */
    const dn_model *start; /* a fitted model (dn_fit_input.start) */
    dn_prepared **kernel;  /* dn_fit_input.prepared */
    bool quick;            /* dn_fit_input.quick */

    /* a reference owned by the fit. The caller may set `prepared` before dni_fit_encode to reuse
     * the rows of another fit (prepared_rows.h). NULL: dni_fit_encode creates the rows */
    dni_prepared *prepared;

    /* results */
    dn_model *model;
    dn_report report;
} dni_fit;

DN_MUST_USE dn_status dni_fit_encode(dni_fit *fit, dn_error *err);
DN_MUST_USE dn_status dni_fit_train(dni_fit *fit, dn_error *err);
/* Calls dni_fit_encode, dni_fit_train and dni_fit_release_rows. */
DN_MUST_USE dn_status dni_fit_model(dni_fit *fit, dn_error *err);

/* Evaluates the model on the rows with a role. Rows with DN_ROW_TRAIN are read from the prepared
 * rows, if there are any; other rows are encoded from the source. The weights are those of the
 * weight column, without class weights. */
DN_MUST_USE dn_status dni_fit_evaluate(const dni_fit *fit, enum dn_row_role role, bool curves,
                                       dni_evaluation *out, dn_error *err);
/* Adds the rows with DN_ROW_VALIDATE to fit->pool and fit->held_out only. */
DN_MUST_USE dn_status dni_fit_add_held_out(const dni_fit *fit, dn_error *err);
void dni_fit_release_rows(dni_fit *fit);

/* Frees all members that the fit owns. A caller that keeps the model sets `model` to NULL before
 * the call; a caller that keeps the report sets `report` to {0}. */
void dni_fit_done(dni_fit *fit);

#endif
