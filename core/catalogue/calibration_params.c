/* Parameters of the calibration of probabilities. */
#include "catalogue/calibration_params.h"
#include "base/argument.h"
#include <discern/decision.h>
#include <discern/model.h>

#include <string.h>

const char *const dni_calibrations[] = {[DN_CALIBRATION_NONE] = "none",
                                        [DN_CALIBRATION_PLATT] = "platt",
                                        [DN_CALIBRATION_ISOTONIC] = "isotonic",
                                        NULL};
const char *const dni_calibration_meanings[] = {
    "scores without probabilities",
    "a sigmoid of the score with two fitted numbers (Platt 1999): works with few rows, and assumes "
    "that the log-odds are linear in the score",
    "a non-decreasing function of the score (isotonic regression): assumes nothing about its "
    "shape, and needs about 1000 rows",
    NULL};

const char *dn_calibration_name(dn_calibration_method method) {
    return dni_calibrations[method];
}

dn_calibration_method dni_calibration_method(const dn_params *params) {
    const char *word =
        dn_params_has(params, "calibrate") ? dn_params_word(params, "calibrate") : NULL;
    size_t method = word == NULL ? DN_CALIBRATION_NONE : DN_CALIBRATION_ISOTONIC;
    while (method > DN_CALIBRATION_NONE && strcmp(dni_calibrations[method], word) != 0) {
        method--;
    }
    return (dn_calibration_method)method;
}

bool dni_calibrate_applies(const dn_params *params, size_t i) {
    const char *name = params->algorithm->params[i].name;
    return (strcmp(name, "calibration_folds") != 0 && strcmp(name, "decision") != 0) ||
           dni_calibration_method(params) != DN_CALIBRATION_NONE;
}

dn_status dni_calibration_check_classes(const dn_params *params, size_t n_classes, dn_error *err) {
    if (dni_calibration_method(params) == DN_CALIBRATION_NONE ||
        dn_decision_has_probabilities(dn_params_decision(params), n_classes)) {
        return DN_OK;
    }
    return dni_error_at(
        dn_error_set(err, DN_ERR_ARGUMENT,
                     "parameter \"calibrate\" has no effect: with \"discriminants\" = \"K-1\" the "
                     "%zu classes have no probabilities: omit one of the two parameters",
                     n_classes),
        "calibrate", -1, err);
}
