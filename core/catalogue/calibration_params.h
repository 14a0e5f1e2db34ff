/* Parameters `calibrate` and `calibration_folds` of algorithms whose scores are not log-odds. */
#ifndef DNI_CALIBRATION_PARAMS_H
#define DNI_CALIBRATION_PARAMS_H

#include "catalogue/param_rows.h"
#include <discern/model.h>

#define DNI_MAX_CALIBRATION_FOLDS 20

/* Entries of a parameter table for `calibrate` and `calibration_folds`. */
extern const char *const dni_calibrations[], *const dni_calibration_meanings[];
#define DNI_PARAMS_CALIBRATE                                                                       \
    DNI_PARAM_CHOICE("calibrate",                                                                  \
                     "How probabilities are computed from scores. The calibration is fitted to "   \
                     "scores of training rows that were held out in folds.",                       \
                     "none", dni_calibrations, dni_calibration_meanings),                          \
    {                                                                                              \
        .name = "calibration_folds", .type = DN_PARAM_INTEGER,                                     \
        .meaning = "Number of folds of the calibration; each fold is one more fit. If the "        \
                   "smallest class has fewer rows, its number of rows is used.",                   \
        .default_number = 5, .minimum = 2, .maximum = DNI_MAX_CALIBRATION_FOLDS                    \
    }

/* Implements dn_algorithm.applies for these two parameters and `decision`; returns true for all
 * others. */
bool dni_calibrate_applies(const dn_params *params, size_t i);
/* Returns the calibration method of the parameters; DN_CALIBRATION_NONE if the algorithm has no
 * parameter `calibrate`. */
dn_calibration_method dni_calibration_method(const dn_params *params);
/* Checks that the decision rule has probabilities for n_classes classes if a calibration is
 * requested. DN_ERR_ARGUMENT otherwise. */
DN_MUST_USE dn_status dni_calibration_check_classes(const dn_params *params, size_t n_classes,
                                                    dn_error *err);

#endif
