/* Statistics of weights: storage, serialization, and the figures that follow from stored ones. */
#include "model/model_statistics.h"
#include "encoder/encoder_impl.h"
#include "machine/machine_kind.h"
#include "model/model_impl.h"
#include "number/distribution.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *id, *text;
} reasons[] = {
    [DN_STATISTICS_AVAILABLE] = {"available", "there are statistics"},
    [DN_STATISTICS_OFF] = {"off", "the parameter \"statistics\" is off"},
    [DN_STATISTICS_TOO_MANY] = {"too_many",
                                "there are more than 2000 features, or more than 4096 weights and "
                                "intercepts"},
    [DN_STATISTICS_TOO_COSTLY] = {"too_costly",
                                  "the statistics take more than 1e9 multiplications: set "
                                  "\"statistics\" to \"on\" to compute them all the same"},
    [DN_STATISTICS_L1] = {"l1",
                          "a penalty with absolute values of the weights has no second derivative "
                          "where a weight is 0"},
    [DN_STATISTICS_LOSS] = {"loss", "the loss squared_error is not a log-likelihood"},
    [DN_STATISTICS_SEVERAL] = {"several_machines",
                               "the model has several machines with two classes each"},
    [DN_STATISTICS_SEPARABLE] = {"separable",
                                 "the classes are separable, so that the weights are unbounded"},
    [DN_STATISTICS_NOT_CONVERGED] = {"not_converged",
                                     "the fit stopped before the minimum: a Newton step from its "
                                     "weights is longer than 0.05 standard errors"},
    [DN_STATISTICS_SINGULAR] = {"singular",
                                "the matrix of second derivatives is not positive definite to "
                                "working precision"},
    [DN_STATISTICS_NO_RESIDUAL] = {"no_residual",
                                   "there are no more rows than parameters, so that the residual "
                                   "variance is undefined"},
    [DN_STATISTICS_EXACT] = {"exact", "the residuals are 0"},
    [DN_STATISTICS_OVERFLOW] =
        {"overflow", "a variance or a deviance is not a finite number, because values of "
                     "the features or the penalty are very large or very small"},
};
enum { N_REASONS = sizeof reasons / sizeof reasons[0] };

const char *dn_statistics_reason_id(dn_statistics_reason reason) {
    return (size_t)reason < N_REASONS ? reasons[reason].id : "unknown";
}

const char *dn_statistics_reason_text(dn_statistics_reason reason) {
    return (size_t)reason < N_REASONS ? reasons[reason].text : "unknown";
}

/* ---- terms ---- */
static size_t put_term(dn_inflation *out, size_t n, size_t input, size_t first, size_t n_features,
                       bool dependent) {
    if (out != NULL) {
        out[n] = (dn_inflation){.input = input,
                                .first_feature = first,
                                .n_features = n_features,
                                .df = (double)n_features - dependent};
    }
    return n + 1;
}

size_t dni_inflation_terms(const dn_encoder *encoder, dn_inflation *out) {
    size_t n = 0;
    for (size_t i = 0; i < dn_encoder_n_inputs(encoder); i++) {
        const dn_input *input = dn_encoder_input(encoder, i);
        if (dni_input_is_vector(input)) {
            for (size_t j = 0; j < input->n_features; j++) {
                n = put_term(out, n, i, input->first_feature + j, 1, false);
            }
        } else if (input->n_features > 0) {
            const bool all = input->type == DN_CATEGORICAL &&
                             input->n_features == input->levels.n + input->missing_level;
            n = put_term(out, n, i, input->first_feature, input->n_features, all);
        }
    }
    for (size_t j = encoder->n_base; j < dn_encoder_n_features(encoder); j++) {
        n = put_term(out, n, SIZE_MAX, j, 1, false);
    }
    return n;
}

/* ---- life ---- */
static dn_status no_memory(dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "the statistics need memory which the system does not have");
}

dn_status dni_statistics_none(dn_statistics_reason reason, dni_statistics **out, dn_error *err) {
    dni_statistics *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return no_memory(err);
    }
    s->view.reason = reason;
    *out = s;
    return DN_OK;
}

dn_status dni_statistics_new(bool least_squares, size_t n_scores, const dn_encoder *encoder,
                             dni_statistics **out, dn_error *err) {
    const size_t d = dn_encoder_n_features(encoder), n = n_scores * (d + 1),
                 of_covariance = least_squares ? d + 1 : n,
                 stored = of_covariance <= DN_STATISTICS_MAX_COVARIANCE ? of_covariance : 0,
                 n_responses = least_squares ? n_scores : 1,
                 n_terms = dni_inflation_terms(encoder, NULL);
    dni_statistics *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return no_memory(err);
    }
    s->responses = calloc(n_responses + 1, sizeof *s->responses);
    s->error = calloc(n + 1, sizeof *s->error);
    s->inflation = calloc(n_terms + 1, sizeof *s->inflation);
    s->terms = calloc(n_terms + 1, sizeof *s->terms);
    s->covariance = stored == 0 ? NULL : calloc(stored * stored, sizeof *s->covariance);
    if (s->responses == NULL || s->error == NULL || s->inflation == NULL || s->terms == NULL ||
        (stored > 0 && s->covariance == NULL)) {
        dni_statistics_free(s);
        return no_memory(err);
    }
    dni_inflation_terms(encoder, s->terms);
    s->view = (dn_statistics){.reason = DN_STATISTICS_AVAILABLE,
                              .least_squares = least_squares,
                              .n_scores = n_scores,
                              .n_features = d,
                              .n_responses = n_responses,
                              .responses = s->responses,
                              .error = s->error,
                              .covariance = s->covariance,
                              .n_covariance = stored,
                              .n_terms = n_terms,
                              .inflation = s->inflation};
    *out = s;
    return DN_OK;
}

void dni_statistics_free(dni_statistics *statistics) {
    if (statistics == NULL) {
        return;
    }
    free(statistics->responses);
    free(statistics->error);
    free(statistics->covariance);
    free(statistics->inflation);
    free(statistics->terms);
    free(statistics);
}

size_t dni_statistics_bytes(const dni_statistics *statistics) {
    if (statistics == NULL) {
        return 0;
    }
    const dn_statistics *s = &statistics->view;
    return sizeof *statistics + s->n_responses * sizeof *s->responses +
           (s->n_scores * (s->n_features + 1) + s->n_covariance * s->n_covariance + s->n_terms) *
               sizeof(double) +
           s->n_terms * sizeof *statistics->terms;
}

/* ---- bytes ---- */
void dni_statistics_write(const dni_statistics *statistics, dni_writer *writer) {
    if (statistics == NULL) {
        dni_write_u8(writer, 0);
        return;
    }
    const dn_statistics *s = &statistics->view;
    dni_write_u8(writer, (uint8_t)(1 + s->reason));
    if (s->reason != DN_STATISTICS_AVAILABLE) {
        return;
    }
    dni_write_u8(writer, (uint8_t)(s->least_squares + 2 * s->no_intercept));
    dni_write_u64(writer, s->n_rows);
    dni_write_f64(writer, s->weight);
    dni_write_f64(writer, s->log_weights);
    dni_write_f64(writer, s->lambda);
    dni_write_f64(writer, s->parameters);
    for (size_t k = 0; k < s->n_responses; k++) {
        dni_write_f64(writer, s->responses[k].null_deviance);
        dni_write_f64(writer, s->responses[k].deviance);
    }
    dni_write_f64s(writer, s->error, s->n_scores * (s->n_features + 1));
    dni_write_f64s(writer, s->inflation, s->n_terms);
    dni_write_u64(writer, s->n_covariance);
    for (size_t i = 0; i < s->n_covariance; i++) {
        dni_write_f64s(writer, s->covariance + i * s->n_covariance, i + 1);
    }
}

/* Returns true if all numbers are finite or NaN, and not below `least`. */
static bool in_range(const double *values, size_t n, double least) {
    for (size_t i = 0; i < n; i++) {
        if (isinf(values[i]) || values[i] < least) {
            return false;
        }
    }
    return true;
}

bool dni_statistics_in_range(const dni_statistics *s) {
    const dn_statistics *v = &s->view;
    bool good = v->n_rows > 0 && isfinite(v->weight) && v->weight > 0 && isfinite(v->log_weights) &&
                isfinite(v->lambda) && v->lambda >= 0 && isfinite(v->parameters) &&
                v->parameters >= 0;
    for (size_t k = 0; k < v->n_responses && good; k++) {
        good = isfinite(s->responses[k].null_deviance) && isfinite(s->responses[k].deviance);
    }
    return good && in_range(s->error, v->n_scores * (v->n_features + 1), 0) &&
           in_range(s->inflation, v->n_terms, 0) &&
           in_range(s->covariance, v->n_covariance * v->n_covariance, -DBL_MAX);
}

static bool read_covariance(dni_reader *reader, dni_statistics *s) {
    const size_t n = s->view.n_covariance;
    if (dni_read_u64(reader) != n || reader->failed) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        double *row = s->covariance + i * n;
        if (!dni_read_f64s(reader, row, i + 1)) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            s->covariance[j * n + i] = row[j];
        }
    }
    return true;
}

static bool read_numbers(dni_reader *reader, dni_statistics *s) {
    dn_statistics *v = &s->view;
    v->n_rows = (size_t)dni_read_u64(reader);
    v->weight = dni_read_f64(reader);
    v->log_weights = dni_read_f64(reader);
    v->lambda = dni_read_f64(reader);
    v->parameters = dni_read_f64(reader);
    for (size_t k = 0; k < v->n_responses; k++) {
        s->responses[k].null_deviance = dni_read_f64(reader);
        s->responses[k].deviance = dni_read_f64(reader);
    }
    return !reader->failed && dni_read_f64s(reader, s->error, v->n_scores * (v->n_features + 1)) &&
           dni_read_f64s(reader, s->inflation, v->n_terms) && read_covariance(reader, s) &&
           dni_statistics_in_range(s);
}

dn_status dni_statistics_read(dni_reader *reader, size_t n_scores, const dn_encoder *encoder,
                              dni_statistics **out, dn_error *err) {
    static const char *const wrong = "the statistics of the weights are truncated or out of range";
    const uint8_t code = dni_read_u8(reader);
    if (reader->failed || code > N_REASONS) {
        return dni_machine_corrupt(wrong, err);
    }
    if (code == 0) {
        return DN_OK;
    }
    if (code != 1 + DN_STATISTICS_AVAILABLE) {
        return dni_statistics_none((dn_statistics_reason)(code - 1), out, err);
    }
    const uint8_t flags = dni_read_u8(reader);
    const size_t d = dn_encoder_n_features(encoder);
    /* the bytes contain the standard errors, so that `left` limits the memory to allocate */
    if (reader->failed || flags > 3 || n_scores == 0 || d + 1 > reader->left / 8 / n_scores) {
        return dni_machine_corrupt(wrong, err);
    }
    dni_statistics *s = NULL;
    dn_status status = dni_statistics_new((flags & 1) != 0, n_scores, encoder, &s, err);
    if (status != DN_OK) {
        return status;
    }
    s->view.no_intercept = (flags & 2) != 0;
    if (!read_numbers(reader, s)) {
        dni_statistics_free(s);
        return dni_machine_corrupt(wrong, err);
    }
    *out = s;
    return DN_OK;
}

/* ---- figures ---- */
const dn_statistics *dn_model_statistics(const dn_model *model) {
    return model->statistics == NULL ? NULL : &model->statistics->view;
}

bool dn_model_has_statistics_method(const dn_model *model) {
    return dn_params_has(model->params, "statistics");
}

/* Returns the number of independent observations: n(K − 1) for the softmax, otherwise n. */
static double observations(const dn_statistics *s) {
    return (double)s->n_rows *
           (s->least_squares || s->n_scores == 1 ? 1.0 : (double)s->n_scores - 1);
}

static double residual_df(const dn_statistics *s) {
    return observations(s) - s->parameters;
}

static void least_squares_goodness(const dn_statistics *s, dn_goodness *out) {
    static const double pi = 3.14159265358979323846;
    const double n = (double)s->n_rows, q = s->parameters + 1;
    out->residual_variance = out->deviance / out->df_residual;
    out->log_likelihood = (s->log_weights - n * (log(2 * pi * out->deviance / n) + 1)) / 2;
    out->aic = 2 * q - 2 * out->log_likelihood;
    out->bic = q * log(n) - 2 * out->log_likelihood;
    out->r_squared = 1 - out->deviance / out->null_deviance;
    out->adjusted_r_squared = 1 - out->residual_variance / (out->null_deviance / out->df_null);
    if (s->lambda == 0 && out->df > 0) {
        out->statistic = (out->null_deviance - out->deviance) / out->df / out->residual_variance;
        out->p = dni_f_upper(out->statistic, out->df, out->df_residual);
    }
}

static void logistic_goodness(const dn_statistics *s, dn_goodness *out) {
    out->residual_variance = out->adjusted_r_squared = (double)NAN;
    out->log_likelihood = -out->deviance / 2;
    out->aic = out->deviance + 2 * s->parameters;
    out->bic = out->deviance + s->parameters * log((double)s->n_rows);
    out->r_squared = 1 - out->deviance / out->null_deviance;
    if (s->lambda == 0 && out->df > 0) {
        out->statistic = out->null_deviance - out->deviance;
        out->p = dni_chi_squared_upper(out->statistic, out->df);
    }
}

void dn_statistics_goodness(const dn_statistics *statistics, size_t response, dn_goodness *out) {
    const dn_statistics *s = statistics;
    const double intercepts = s->no_intercept ? 0 : observations(s) / (double)s->n_rows;
    *out = (dn_goodness){.null_deviance = s->responses[response].null_deviance,
                         .deviance = s->responses[response].deviance,
                         .df_null = observations(s) - intercepts,
                         .df_residual = residual_df(s),
                         .statistic = (double)NAN,
                         .df = s->lambda == 0 ? s->parameters - intercepts : (double)NAN,
                         .p = (double)NAN};
    if (s->least_squares) {
        least_squares_goodness(s, out);
    } else {
        logistic_goodness(s, out);
    }
}

double dn_statistics_factor(const dn_statistics *statistics, double level) {
    return statistics->least_squares ? dni_student_quantile(level, residual_df(statistics))
                                     : dni_normal_quantile(level);
}

void dn_model_weight_statistics(const dn_model *model, size_t score, size_t feature, double factor,
                                dn_weight_statistics *out) {
    const dn_statistics *s = &model->statistics->view;
    const size_t d = s->n_features;
    const double nan = (double)NAN, error = s->error[score * (d + 1) + feature],
                 weight = feature < d ? model->w[score * d + feature] : model->intercept[score];
    *out = (dn_weight_statistics){.weight = weight,
                                  .standard_error = error,
                                  .statistic = nan,
                                  .p = nan,
                                  .low = weight - factor * error,
                                  .high = weight + factor * error,
                                  .odds_ratio = nan,
                                  .odds_low = nan,
                                  .odds_high = nan};
    if (!(error > 0)) {
        return;
    }
    out->statistic = weight / error;
    out->p = s->least_squares ? dni_student_two_sided(out->statistic, residual_df(s))
                              : dni_normal_two_sided(out->statistic);
    if (!s->least_squares) {
        out->odds_ratio = exp(weight);
        out->odds_low = exp(out->low);
        out->odds_high = exp(out->high);
    }
}

void dn_model_inflation(const dn_model *model, size_t i, dn_inflation *out) {
    const dni_statistics *s = model->statistics;
    *out = s->terms[i];
    out->factor = s->inflation[i];
    out->scaled = pow(out->factor, 1 / (2 * out->df));
}
