/* Calibrated probabilities for algorithms whose scores are not log-odds: the fits on held-out folds
 * (model.h: dn_calibration).
 *
 * Platt, in: Advances in Large Margin Classifiers, MIT Press 1999. The folds as in Lin, Lin and Weng,
 * Machine Learning 68, 2007, section 3: each row is scored by machines that were fitted without it. */
#ifndef DNI_CALIBRATE_H
#define DNI_CALIBRATE_H

#include "base/share.h"
#include "training/fit.h"

/* How a calibration went. {0}: there was none. */
typedef struct dni_calibrated {
    dni_share share; /* the model's own part of the run */
    dn_calibration_method method;
    size_t folds, wanted; /* number of folds, and what the parameter says */
    size_t least;         /* rows of the smallest class */
    size_t n_unconverged; /* fits of folds that did not converge */
    size_t n_flat;        /* scores that do not rise with their class on the held-out rows */
    double before, after; /* log loss of the held-out rows without the calibration and with it; NaN:
                              not computed (pairs) */
} dni_calibrated;

/* Calibrates on the rows with DN_ROW_TRAIN, if the parameters ask for it.
 *
 *   fit  before dni_fit_encode. Receives the calibration, and its run becomes the last of the
 *        folds + 1 equal parts of the run. labels->role is unchanged, labels->value is overwritten
 *   out  must outlive `fit` and stay where it is
 *
 * DN_ERR_DATA: a class has only one row. */
DN_MUST_USE dn_status dni_calibrate(dni_fit *fit, dni_calibrated *out, dn_error *err);

/* Adds details and warnings to the fit's report; called after dni_fit_train. */
void dni_calibrated_report(const dni_calibrated *calibrated, dni_fit *fit);

#endif
