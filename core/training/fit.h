/* One fit of a training: from the rows that take part to a model, and how well it does. A cross-validation makes many of them. */
#ifndef DNI_FIT_H
#define DNI_FIT_H

#include "base/share.h"
#include "training/calibrate.h"
#include "training/training_set.h"

typedef struct dni_fit {
    const dn_train_request *request;
    const dn_run *run;
    dni_labels *labels; /* shared; role and value are as this training needs them while it lives */
    dni_calibrated calibrated;
    dni_share
        share; /* the model's own part of the run, when there are fits of a calibration too: `run` then */
    size_t n_train; /* rows with DN_ROW_TRAIN */
    dn_encoder *encoder;
    dni_training_set set;
    dn_rows *rows; /* the training rows */
    bool streamed;
    dn_model *model;
    dn_report report;
} dni_fit;

/* The steps in their order; labels->role says who takes part. */
DN_MUST_USE dn_status dni_training_calibrate(
    dni_fit *t,
    dn_error
        *err); /* if that is asked for; may be left out. *t must stay where it is from then on */
DN_MUST_USE dn_status dni_fit_encode(dni_fit *t, dn_error *err);
DN_MUST_USE dn_status dni_fit_train(dni_fit *t, dn_error *err);
/* Metrics on the rows with a role: those of DN_ROW_TRAIN as they were trained on, others from the source anew. By the rows' own weights. */
DN_MUST_USE dn_status dni_fit_evaluate(const dni_fit *t, enum dn_row_role role, bool curves,
                                       dn_metrics **out, dn_error *err);
/* Lets the training rows go. */
void dni_fit_release_rows(dni_fit *t);
/* Frees all of it, model and report too unless they were taken away ({0}). */
void dni_fit_done(dni_fit *t);

#endif
