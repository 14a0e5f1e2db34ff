/* Parameters of the calibration of probabilities. */
#include "catalogue/calibration_params.h"
#include <discern/decision.h>
#include <discern/model.h>

#include <string.h>

const char *const dni_calibrations[] = {[DN_CALIBRATION_NONE] = "none",
                                        [DN_CALIBRATION_PLATT] = "platt",
                                        [DN_CALIBRATION_ISOTONIC] = "isotonic",
                                        NULL};
const char *const dni_calibration_meanings[] = {
    "scores only",
    "a sigmoid of the score, of two numbers (Platt 1999): for few rows, and scores that go wrong "
    "evenly",
    "a rising step function of the score (isotonic regression): for a thousand rows and more",
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
    return strcmp(params->algorithm->params[i].name, "calibration_folds") != 0 ||
           dni_calibration_method(params) != DN_CALIBRATION_NONE;
}

dn_status dni_calibration_check_classes(const dn_params *params, size_t n_classes, dn_error *err) {
    if (dni_calibration_method(params) == DN_CALIBRATION_NONE ||
        dn_decision_has_probabilities(dn_params_decision(params), n_classes)) {
        return DN_OK;
    }
    dn_status status = dn_error_set(err, DN_ERR_ARGUMENT,
                                    "parameter \"calibrate\" has no effect: one discriminant fewer "
                                    "than the %zu classes gives no "
                                    "probabilities; leave it out, or \"discriminants\"",
                                    n_classes);
    dn_error_set_field(err, "calibrate");
    return status;
}
