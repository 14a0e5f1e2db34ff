/* Checks the parameters of an algorithm against each other, and calls the functions of its
 * dn_algorithm. */
#include "base/argument.h"
#include "catalogue/calibration_params.h"
#include "catalogue/multiclass_params.h"
#include "number/number_text.h"

#include <math.h>
#include <string.h>

dn_status dn_params_check(const dn_params *params, dn_error *err) {
    return params->algorithm->check == NULL ? DN_OK : params->algorithm->check(params, err);
}

static dn_status check_distribution(const dn_param *param, const dn_param_value *value,
                                    size_t n_classes, dn_error *err) {
    dn_status status = DN_OK;
    double sum = 0;
    for (size_t k = 0; k < value->n_list; k++) {
        sum += value->list[k];
    }
    if (value->n_list != n_classes) {
        status = dn_error_set(
            err, DN_ERR_ARGUMENT,
            "parameter \"%s\" must have a number for each of the %zu classes (got %zu)",
            param->name, n_classes, value->n_list);
    } else if (!(fabs(sum - 1) <= 1e-9)) {
        char number[DN_NUMBER_SIZE];
        status = dn_error_set(err, DN_ERR_ARGUMENT, "parameter \"%s\" must sum to 1 (got %s)",
                              param->name, dni_number_text(sum, number));
    }
    return status == DN_OK ? DN_OK : dni_error_at(status, param->name, -1, err);
}

dn_status dn_params_check_classes(const dn_params *params, size_t n_classes, dn_error *err) {
    dn_status status = DN_OK;
    for (size_t i = 0; i < params->algorithm->n_params && status == DN_OK; i++) {
        if (params->algorithm->params[i].distribution && params->values[i].list != NULL) {
            status = check_distribution(&params->algorithm->params[i], &params->values[i],
                                        n_classes, err);
        }
    }
    if (status == DN_OK) {
        status = dni_multiclass_check_classes(params, n_classes, err);
    }
    if (status == DN_OK) {
        status = dni_calibration_check_classes(params, n_classes, err);
    }
    if (status == DN_OK && params->algorithm->check_classes != NULL) {
        status = params->algorithm->check_classes(params, n_classes, err);
    }
    return status;
}

dn_status dn_params_encoding(const dn_params *params, const dn_table_column *columns, size_t n_rows,
                             dn_encoder_spec *spec, dn_error *err) {
    return params->algorithm->encoding
               ? params->algorithm->encoding(params, columns, n_rows, spec, err)
               : DN_OK;
}

dn_status dn_params_resolve(dn_params *params, size_t n_rows, size_t n_features, size_t n_classes,
                            dn_error *err) {
    return params->algorithm->resolve
               ? params->algorithm->resolve(params, n_rows, n_features, n_classes, err)
               : DN_OK;
}

bool dn_params_applies(const dn_params *params, size_t i) {
    return params->algorithm->applies == NULL || params->algorithm->applies(params, i);
}

bool dn_params_standardizes(const dn_params *params) {
    const dn_algorithm *algorithm = params->algorithm;
    return (algorithm->flags & DN_ALGORITHM_STANDARDIZE) != 0 &&
           (algorithm->standardizes == NULL || algorithm->standardizes(params));
}

/* Returns true if the value of a choice is `word`, or if the algorithm does not have the
 * parameter. */
static bool is_word_or_absent(const dn_params *params, const char *name, const char *word) {
    return !dn_params_has(params, name) || strcmp(dn_params_word(params, name), word) == 0;
}

bool dn_params_is_linear(const dn_params *params) {
    const unsigned others = DN_ALGORITHM_NONLINEAR | DN_ALGORITHM_NOT_ADDITIVE;
    return (params->algorithm->flags & (DN_ALGORITHM_TARGET | others)) == DN_ALGORITHM_TARGET &&
           is_word_or_absent(params, "kernel", "linear") &&
           is_word_or_absent(params, "covariance", "shared");
}

const char *dn_params_alone(const dn_params *params) {
    return params->algorithm->alone == NULL ? "its fit is not made of sums over the rows"
                                            : params->algorithm->alone(params);
}

bool dn_params_drops_first(const dn_params *params) {
    return params->algorithm->drops_first != NULL && params->algorithm->drops_first(params);
}
