/* Functions that the fits of several methods share. */
#include "learners/shared/learner.h"
#include "base/argument.h"
#include "catalogue/param_rows.h"
#include "linalg/vector.h"
#include "machine/linear.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

dn_status dni_learner_fit(const dn_fit_input *input, const dn_run *run, dn_machine **out,
                          dn_report *report, dn_error *err) {
    dn_machine *machine = NULL;
    dn_report fresh = {0};
    dn_status status = input->params->algorithm->fit(input, run, &machine, &fresh, err);
    if (status != DN_OK) {
        dn_machine_free(machine);
        dn_report_done(&fresh);
        return status;
    }
    *out = machine;
    *report = fresh;
    return DN_OK;
}

void dni_report_tolerance(dn_report *report, double tolerance, double reached) {
    dn_report_number(report, "tolerance", tolerance);
    dn_report_number(report, "tolerance_reached", reached);
}

dn_report dni_report_closed_form(void) {
    return (dn_report){.converged = true,
                       .stop_reason = DN_STOP_CLOSED_FORM,
                       .iterations = 1,
                       .gradient_norm = (double)NAN};
}

dn_status dni_weights_not_finite(dn_error *err) {
    return dn_error_set(
        err, DN_ERR_NUMERIC,
        "the weights in the scale of the features are not finite; standardise the columns");
}

dn_status dni_linear_machine_of_table(const double *table, size_t n_classes, size_t n_features,
                                      dn_machine **out, dn_error *err) {
    const size_t S = n_classes == 2 ? 1 : n_classes, d = n_features, width = d + 1;
    if (!dni_all_finite(table, S * width)) {
        return dni_weights_not_finite(err);
    }
    dn_status status = dni_linear_machine_new(n_classes, d, false, out, err);
    if (status != DN_OK) {
        return status;
    }
    dni_linear_machine *machine = dni_linear_machine_of(*out);
    for (size_t k = 0; k < S; k++) {
        memcpy(machine->w + k * d, table + k * width, d * sizeof *table);
        machine->w0[k] = table[k * width + d];
    }
    return DN_OK;
}

double dni_progress_fraction(size_t iteration, size_t max_iterations, double first_measure,
                             double measure, double tolerance, double before) {
    double fraction = (double)iteration / (double)max_iterations;
    if (measure > 0 && tolerance > 0 && first_measure > tolerance) {
        fraction = fmax(fraction, log(first_measure / measure) / log(first_measure / tolerance));
    }
    return fmin(fmax(before, fraction), 1);
}

void dni_linear_report_progress(const dn_fit_input *input, const dn_run *run, const double *table,
                                double *raw, dn_progress *progress) {
    const size_t d = progress->n_features, S = progress->n_scores;
    if (dn_run_wants_snapshot(run, progress->iteration)) {
        dni_linear_to_raw(table, d + 1, table + d, d + 1, S, d, input->mean, input->scale, raw,
                          raw + S * d);
        progress->w = raw;
        progress->w0 = raw + S * d;
    }
    run->progress(run, progress);
}

size_t dni_table_row(const dn_fit_input *input, size_t r) {
    if (input->role == NULL) {
        return r;
    }
    for (size_t i = 0; i < input->n_source_rows; i++) {
        if (input->role[i] == DN_ROW_TRAIN && r-- == 0) {
            return i;
        }
    }
    return r;
}

size_t dni_default_iterations(size_t n_rows, double visits, double least, double most) {
    return (size_t)fmax(least, fmin(most, visits / fmax(1, (double)n_rows)));
}

dn_status dni_start_check(const dn_params *params, size_t n_scores, size_t n_features,
                          dn_error *err) {
    const size_t width = n_features + 1, wanted = n_scores * width;
    size_t n;
    char each[48] = "";
    const double *list = dn_params_list(params, "init", &n);
    if (list == NULL || n == wanted) {
        const bool fixed = list != NULL && dni_params_is(params, "intercept", "none");
        for (size_t i = width - 1; fixed && i < n; i += width) {
            if (list[i] != 0) {
                return dni_parameter_error(err, "init",
                                           "parameter \"init\" must have 0 for w0 with "
                                           "\"intercept\" = \"none\" (got %g)",
                                           list[i]);
            }
        }
        return DN_OK;
    }
    if (n_scores > 1) {
        snprintf(each, sizeof each, "for each of %zu classes ", n_scores);
    }
    return dni_parameter_error(err, "init",
                               "parameter \"init\" must have %zu numbers: %sthe weights of %zu "
                               "features and the intercept (got %zu)",
                               wanted, each, n_features, n);
}

const char *const dni_row_orders[] = {"shuffled", "given", "cyclic", NULL};
const char *const dni_row_order_meanings[] = {
    "a different random order in each pass, derived from the seed (the rows of a block of 4096 "
    "stay together)",
    "the order of the table, the same in every pass", "the same as given", NULL};

bool dni_shuffles_rows(const dn_params *params) {
    return dni_params_is(params, "order", "shuffled");
}

bool dni_reports_start(const dn_fit_input *input, const dn_run *run) {
    size_t n;
    return run->progress != NULL && (dn_params_list(input->params, "init", &n) != NULL ||
                                     dn_params_number(input->params, "max_iterations") == 0 ||
                                     dn_run_wants_snapshot(run, 0));
}

void dni_warn_of_start(dn_report *report, const dn_params *params) {
    const char *word = dn_params_word(params, "init");
    if (word != NULL && dn_params_number(params, "max_iterations") == 0) {
        dn_report_warn(report, DN_WARNING_NOT_CONVERGED,
                       "max_iterations is 0: the model has the weights of init \"%s\", which are "
                       "not trained",
                       word);
    }
}

dn_status dni_parameter_error(dn_error *err, const char *name, const char *format, ...) {
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return dni_error_at(dn_error_set(err, DN_ERR_ARGUMENT, "%s", message), name, -1, err);
}

bool dni_drops_first(const dn_params *params) {
    (void)params;
    return true;
}

bool dni_drops_first_without_lambda(const dn_params *params) {
    return dni_lambda_is_zero(params);
}

double dni_lambda_of(const dn_params *params, double weight) {
    return dn_params_word(params, "lambda") == NULL ? dn_params_number(params, "lambda")
                                                    : 1 / (2 * weight);
}

bool dni_lambda_is_zero(const dn_params *params) {
    return dn_params_word(params, "lambda") == NULL && dn_params_number(params, "lambda") == 0;
}
