/* Calibrated probabilities for algorithms whose scores are no log-odds: the fits on held-out folds (model.h: dn_calibration).
 * Platt 1999; the folds as in Lin, Lin and Weng, Machine Learning 68, 2007, section 3: every row is scored by machines that have not seen it. */
#ifndef DNI_CALIBRATE_H
#define DNI_CALIBRATE_H

#include "catalogue/calibration_params.h"
#include "task/labels.h"

/* A calibration, and what is to be told of it. */
typedef struct dni_calibrated {
    dn_calibration *calibration; /* malloc'ed; NULL: none */
    size_t asked;                /* folds */
    size_t least;                /* the rows of the smallest class */
    size_t unconverged;          /* fits of folds that did not converge */
    size_t flat;                 /* scores that do not rise with their class on the rows held out */
    double before,
        after; /* log loss of the rows held out: of σ or softmax of the scores as they are, and calibrated; NaN: not computed (pairs) */
} dni_calibrated;
void dni_calibrated_done(dni_calibrated *calibrated); /* {0} is allowed */

/* Calibrates on the rows with DN_ROW_TRAIN of labels->role, if the parameters ask for it; labels->role is as before then, labels->value is not. Its fits count as 1 … folds of the run's folds + 1 fits:
 * *fits ← the place of the model's own among them, *of ← their number (0 of 1 without). DN_ERR_DATA: a class has one row. */
DN_MUST_USE dn_status dni_calibrate(const dn_train_request *request, dni_labels *labels,
                                    const dn_run *run, dni_calibrated *out, size_t *fits,
                                    size_t *of, dn_error *err);
/* Details and warnings of it, when the model's own fit is reported. */
void dni_calibrated_tell(const dni_calibrated *calibrated, dn_report *report);

/* Bytes that it takes beside its fits. */
double dni_calibration_memory(const dn_params *params, size_t n_rows, size_t n_classes);

#endif
