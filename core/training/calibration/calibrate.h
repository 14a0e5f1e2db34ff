/* Calibration of probabilities for algorithms whose scores are not log-odds (model.h:
 * dn_calibration). The calibration is fitted to scores of held-out folds: each row is scored by
 * machines that were fitted without it.
 *
 * Platt, in: Advances in Large Margin Classifiers, MIT Press 1999; folds: Lin, Lin and Weng,
 * Machine Learning 68, 2007, section 3. */
#ifndef DNI_CALIBRATE_H
#define DNI_CALIBRATE_H

#include "base/share.h"
#include "training/fit.h"

/* Result of a calibration. {0}: the parameters request no calibration. */
typedef struct dni_calibrated {
    /* the part of the run for the fit of the model; the parts for the folds precede it */
    dni_share share;
    dn_calibration_method method;
    size_t folds;           /* number of folds used */
    size_t requested;       /* value of the parameter `calibration_folds` */
    size_t min_rows;        /* number of training rows of the smallest class */
    const char *few_groups; /* name of the column of the groups, if there are fewer folds because
                             * there are too few groups; NULL: otherwise */
    size_t n_unconverged;   /* number of fits of folds that did not converge */
    size_t n_flat;          /* number of scores whose calibrator is constant */

    /* mean log loss of the held-out rows, without (`before`) and with (`after`) the calibration;
     * NaN: not computed (one versus one) */
    double before, after;
} dni_calibrated;

/* Fits a calibration to the rows with DN_ROW_TRAIN, if the parameters request one.
 *
 *   fit  state before dni_fit_encode. Receives the calibration. fit->run becomes the last of
 *        folds + 1 equal parts of the run. labels->role is unchanged; labels->value is overwritten
 *   out  must outlive `fit` and must not move
 *
 * The folds keep groups together (dni_division_calibration).
 *
 * DN_ERR_DATA: a class has fewer than two training rows, or too few groups. */
DN_MUST_USE dn_status dni_calibrate(dni_fit *fit, dni_calibrated *out, dn_error *err);

/* Adds details and warnings to fit->report. Call it after dni_fit_train. */
void dni_calibrated_report(const dni_calibrated *calibrated, dni_fit *fit);

#endif
