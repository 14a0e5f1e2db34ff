/* Trained models: construction, reference counting and accessors. */
#include "catalogue/param_rows.h"
#include "encoder/encoder_apply.h"
#include "encoder/encoder_bytes.h"
#include "encoder/encoder_impl.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "machine/machine_dispatch.h"
#include "model/calibration.h"
#include "model/conformal.h"
#include "model/model_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dn_status no_memory(dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "the model needs memory which the system does not have");
}

void dni_machines_free(dn_machine **machines, size_t n) {
    for (size_t i = 0; machines != NULL && i < n; i++) {
        dn_machine_free(machines[i]);
    }
    free(machines);
}

/* Returns whether the machines are used without conversion to raw features: they can score raw
 * features, or prediction passes encoded rows to them. */
static bool are_raw(const dn_model *m, dn_machine *const *machines) {
    if (dni_machine_stays_encoded(machines[0])) {
        return true;
    }
    bool raw = dn_encoder_mean(m->encoder) == NULL;
    for (size_t i = 0; i < m->n_machines; i++) {
        raw = raw && dni_machine_is_raw(machines[i]);
    }
    return raw;
}

/* Creates m->raw, the machines for raw features, from `machines`. */
static dn_status make_raw(dn_model *m, dn_machine *const *machines, dn_error *err) {
    const double *mean = dn_encoder_mean(m->encoder), *scale = dn_encoder_scale(m->encoder);
    m->raw = calloc(m->n_machines, sizeof *m->raw);
    if (m->raw == NULL) {
        return no_memory(err);
    }
    m->raw_shares = are_raw(m, machines);
    m->encoded = dni_machine_stays_encoded(machines[0]);
    m->linear = dni_machine_is_linear(machines[0]);
    dni_machines_finish(machines, m->n_machines);
    for (size_t i = 0; i < m->n_machines; i++) {
        if (m->raw_shares) {
            m->raw[i] = machines[i];
        } else {
            dn_status status = dni_machine_to_raw(machines[i], mean, scale, &m->raw[i], err);
            if (status != DN_OK) {
                return status;
            }
        }
        const size_t work = dni_machine_work(m->raw[i]);
        m->work = work > m->work ? work : m->work;
        m->expands = m->expands || dni_machine_needs_all(m->raw[i]);
    }
    m->n_scores = dni_machines_n_scores(m->raw, m->n_machines);
    /* without text and sparse columns most features are nonzero, so that the full x is no slower */
    m->expands = m->expands || (!m->linear && !m->encoded && m->encoder->n_vector_inputs == 0);
    return DN_OK;
}

static dn_status make_intercept(dn_model *m, dn_error *err) {
    double *work = malloc((m->work + 1) * sizeof *work);
    m->intercept = malloc(m->n_scores * sizeof *m->intercept);
    if (work == NULL || m->intercept == NULL) {
        free(work);
        return no_memory(err);
    }
    size_t first = 0;
    for (size_t i = 0; i < m->n_machines; i++) {
        dni_machine_intercept(m->raw[i], m->intercept + first, work);
        first += dn_machine_n_scores(m->raw[i]);
    }
    free(work);
    return DN_OK;
}

static dni_term make_term(const dn_encoder *encoder, size_t i) {
    const dn_input *input = dn_encoder_input(encoder, i);
    dni_term term = {.input = i,
                     .first_feature = input->first_feature,
                     .if_missing = SIZE_MAX,
                     .if_unseen = SIZE_MAX,
                     .fill = input->fill};
    if (input->type != DN_CATEGORICAL) {
        term.first_feature = input->in_basis_only ? SIZE_MAX : input->first_feature;
        term.if_missing =
            input->indicator ? input->first_feature + input->n_features - 1 : SIZE_MAX;
        return term;
    }
    term.categorical = true;
    term.n_levels = input->levels.n;
    term.dropped = input->levels.n + input->missing_level - input->n_features;
    term.if_missing = dni_encoder_level_feature(encoder, i, (double)NAN);
    term.if_unseen = dni_encoder_level_feature(encoder, i, DN_UNSEEN);
    return term;
}

/* Creates m->terms, which map the inputs of a raw row to features of x. */
static dn_status make_terms(dn_model *m, dn_error *err) {
    m->terms = calloc(m->n_inputs + 1, sizeof *m->terms);
    if (m->terms == NULL) {
        return no_memory(err);
    }
    m->first_basis = m->encoder->n_base;
    m->n_basis = m->n_features - m->first_basis;
    m->n_plain = m->n_basis;
    m->plain = m->n_basis == 0;
    for (size_t i = 0; i < m->n_inputs; i++) {
        const dn_input *input = dn_encoder_input(m->encoder, i);
        m->plain = m->plain && dni_input_is_plain(input) && input->first_feature == i;
        if (dni_input_is_vector(input)) {
            continue;
        }
        const dni_term term = make_term(m->encoder, i);
        if (term.first_feature == SIZE_MAX && term.if_missing == SIZE_MAX) {
            continue;
        }
        m->terms[m->n_terms++] = term;
        m->n_plain += term.categorical ? 1
                                       : (size_t)(term.first_feature != SIZE_MAX) +
                                             (term.if_missing != SIZE_MAX);
    }
    return DN_OK;
}

/* Creates w, the weight matrix of all linear machines, and by_feature, its transpose. With one
 * machine, w is the matrix of the machine; with one score, by_feature is w. */
static dn_status make_linear(dn_model *m, dn_error *err) {
    size_t d = m->n_features, S = m->n_scores, first = 0;
    const double *w, *w0;
    (void)dni_machine_linear(m->raw[0], &m->w, &w0);
    if (m->n_machines > 1) {
        m->w = m->own_w = malloc((d * S + 1) * sizeof *m->own_w);
        if (m->own_w == NULL) {
            return no_memory(err);
        }
        for (size_t i = 0; i < m->n_machines; i++) {
            const size_t n = dn_machine_n_scores(m->raw[i]);
            (void)dni_machine_linear(m->raw[i], &w, &w0);
            memcpy(m->own_w + first * d, w, n * d * sizeof *w);
            first += n;
        }
    }
    m->by_feature = m->w;
    m->length = S == 1 ? dni_norm(m->w, d) : 0;
    if (S == 1) {
        return DN_OK;
    }
    m->by_feature = m->own_by_feature = malloc((d * S + 1) * sizeof *m->own_by_feature);
    if (m->own_by_feature == NULL) {
        return no_memory(err);
    }
    dni_transpose(m->w, S, d, m->own_by_feature);
    return DN_OK;
}

/* Precomputes the data for prediction from the encoder and the machines. */
static dn_status prepare(dn_model *m, dn_machine *const *machines, dn_error *err) {
    dn_status status = make_raw(m, machines, err);
    if (status == DN_OK) {
        status = make_intercept(m, err);
    }
    if (status == DN_OK) {
        status = make_terms(m, err);
    }
    return status == DN_OK && m->linear ? make_linear(m, err) : status;
}

/* Sets the rule for labels. Uncalibrated probabilities of one machine of all classes, or of
 * machines of one class against the rest, increase with the scores: both rules then choose the same
 * class. */
static void set_labels(dn_model *m) {
    const bool pairs =
        m->decision == DN_DECISION_ONE_VS_ONE || m->decision == DN_DECISION_ONE_VS_ONE_STRICT;
    m->may_disagree = dn_model_has_probabilities(m) &&
                      (m->calibration != NULL || (pairs && m->classes.view.n > 2));
    m->labels =
        dn_params_has(m->params, "decision") && dni_params_is(m->params, "decision", "scores")
            ? DN_LABELS_SCORES
            : DN_LABELS_PROBABILITIES;
}

dn_status dni_model_new(const dni_model_parts *parts, dn_model **out, dn_error *err) {
    dn_model *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return no_memory(err);
    }
    atomic_init(&m->references, 1);
    m->seed = parts->seed;
    m->encoder = parts->encoder;
    m->decision = parts->decision;
    m->n_machines = parts->n_machines;
    m->n_features = dn_encoder_n_features(parts->encoder);
    m->n_inputs = dn_encoder_n_inputs(parts->encoder);
    m->target = malloc(parts->target_length + 1);
    dn_status status = m->target == NULL ? no_memory(err) : DN_OK;
    if (status == DN_OK) {
        memcpy(m->target, parts->target, parts->target_length);
        m->target[parts->target_length] = '\0';
        status = dn_params_copy(parts->params, &m->params, err);
    }
    if (status == DN_OK) {
        status = prepare(m, parts->machines, err);
    }
    if (status != DN_OK) {
        m->encoder = NULL; /* on failure the caller owns the encoder */
        dn_model_unref(m);
        return status;
    }
    if (dni_machine_is_precomputed(parts->machines[0]) && !m->encoder->refuse_missing) {
        m->encoder->refuse_missing = true; /* an encoder that was just read; not shared yet */
    }
    m->classes = *parts->classes;
    *parts->classes = (dni_classes){0};
    m->machines = parts->machines;
    m->calibration = parts->calibration;
    set_labels(m);
    m->statistics = parts->statistics;
    m->feature_mean = parts->feature_mean;
    *out = m;
    return DN_OK;
}

dn_model *dn_model_ref(dn_model *model) {
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
    return model;
}

void dn_model_unref(dn_model *model) {
    if (model == NULL ||
        atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) > 1) {
        return;
    }
    dn_params_free(model->params);
    free(model->target);
    dni_classes_done(&model->classes);
    dn_encoder_unref(model->encoder);
    dni_machines_free(model->machines, model->n_machines);
    dni_machines_free(model->raw, model->raw_shares ? 0 : model->n_machines);
    dni_calibration_free(model->calibration);
    free(model->conformal);
    dni_statistics_free(model->statistics);
    free(model->feature_mean);
    free(model->rule);
    free(model->intercept);
    free(model->own_w);
    free(model->own_by_feature);
    free(model->terms);
    free(model);
}

void dni_model_leave_run(dn_model *model) {
    dni_machine_leave_run(model->machines[0]);
}

size_t dn_model_memory(const dn_model *model) {
    const dn_classes *classes = &model->classes.view;
    size_t bytes = sizeof *model + dni_calibration_bytes(model->calibration) +
                   dni_conformal_bytes(model->conformal) + dni_statistics_bytes(model->statistics) +
                   strlen(model->target) +
                   model->params->algorithm->n_params * sizeof(dn_param_value);
    bytes += ((size_t)(model->own_w != NULL) + (model->own_by_feature != NULL)) *
             model->n_features * model->n_scores * sizeof(double);
    bytes += model->feature_mean == NULL ? 0 : model->n_features * sizeof(double);
    bytes += model->n_scores * sizeof(double) + model->n_inputs * sizeof(dni_term);
    for (size_t i = 0; i < model->n_machines; i++) {
        bytes += (size_t)dni_machine_memory(model->machines[i]) + 2 * sizeof(dn_machine *);
        if (!model->raw_shares) {
            bytes += (size_t)dni_machine_memory(model->raw[i]);
        }
    }
    bytes += (size_t)dni_machine_shared_memory(model->machines[0]);
    bytes += model->classes.names.capacity + classes->n * (sizeof(double) + 5 * sizeof(uint32_t));
    bytes += dni_encoder_memory(model->encoder);
    return bytes;
}

const dn_algorithm *dn_model_algorithm(const dn_model *model) {
    return model->params->algorithm;
}

const dn_params *dn_model_params(const dn_model *model) {
    return model->params;
}

uint64_t dn_model_seed(const dn_model *model) {
    return model->seed;
}

const char *dn_model_target(const dn_model *model) {
    return (model->params->algorithm->flags & DN_ALGORITHM_TARGET) != 0 ? model->target : NULL;
}

const dn_classes *dn_model_classes(const dn_model *model) {
    return &model->classes.view;
}

const dn_encoder *dn_model_encoder(const dn_model *model) {
    return model->encoder;
}

size_t dn_model_class_of_number(const dn_model *model, double number) {
    return dni_classes_find_number(&model->classes, number);
}

size_t dn_model_class_of_text(const dn_model *model, const char *text, size_t length) {
    return dni_classes_find_text(&model->classes, text, length);
}

dn_decision dn_model_decision(const dn_model *model) {
    return model->decision;
}

size_t dn_model_n_machines(const dn_model *model) {
    return model->n_machines;
}

const dn_machine *dn_model_machine(const dn_model *model, size_t i) {
    return i < model->n_machines ? model->raw[i] : NULL;
}

bool dn_model_linear(const dn_model *model, dn_linear *out) {
    if (model->linear) {
        *out = (dn_linear){model->n_scores, model->n_features, model->w, model->intercept};
    }
    return model->linear;
}

bool dn_model_has_probabilities(const dn_model *model) {
    return ((model->params->algorithm->flags & DN_ALGORITHM_PROBABILITIES) != 0 ||
            model->calibration != NULL) &&
           dn_decision_has_probabilities(model->decision, model->classes.view.n);
}

dn_labels dn_model_labels(const dn_model *model) {
    return model->labels;
}

const dn_calibration *dn_model_calibration(const dn_model *model) {
    return model->calibration;
}

const dn_conformal *dn_model_conformal(const dn_model *model) {
    return model->conformal;
}

bool dn_model_has_density(const dn_model *model) {
    return model->n_machines == 1 && dni_machine_has_densities(model->raw[0]);
}

const double *dn_model_prior(const dn_model *model) {
    return dn_model_has_density(model) ? dni_machine_prior(model->raw[0]) : NULL;
}

bool dn_model_has_contributions(const dn_model *model) {
    return dni_machine_has_contributions(model->raw[0]);
}

const double *dn_model_feature_means(const dn_model *model) {
    return model->feature_mean;
}

dn_status dn_model_mean_contributions(const dn_model *model, double *out, dn_error *err) {
    if (!dn_model_has_contributions(model) || model->feature_mean == NULL) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "the model has no contributions of the mean row%s",
                            model->feature_mean == NULL && dn_model_has_contributions(model)
                                ? ": an earlier version of the library trained it"
                                : "");
    }
    double *work = malloc((model->work + 1) * sizeof *work);
    if (work == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for the contributions of the mean row");
    }
    for (size_t k = 0; k < model->n_machines; k++) {
        dni_machine_contributions(model->raw[k], model->feature_mean, out, work);
        out += dn_machine_n_scores(model->raw[k]) * model->n_features;
    }
    free(work);
    return DN_OK;
}

bool dn_model_can_be_impossible(const dn_model *model) {
    return !dni_machine_finite_scores(model->raw[0]);
}

bool dn_model_is_precomputed(const dn_model *model) {
    return dni_machine_is_precomputed(model->raw[0]);
}

double dn_model_threshold(const dn_model *model) {
    return model->machines[0]->threshold;
}

double dn_model_cost(const dn_model *model) {
    return dni_machines_cost(model->raw, model->n_machines);
}

/* ---- description ---- */
const char *dn_model_kind(const dn_model *model) {
    return dni_machine_kind_name(model->raw[0]);
}

dn_status dn_model_describe(const dn_model *model, const dn_visitor *visitor, dn_error *err) {
    return dni_machine_describe_shared(model->raw[0], model->encoder, visitor, err);
}

bool dn_model_describes_machines(const dn_model *model) {
    return dni_machine_describes(model->raw[0]);
}

dn_status dn_model_describe_machine(const dn_model *model, size_t i, const dn_visitor *visitor,
                                    dn_error *err) {
    if (i >= model->n_machines) {
        return dn_error_set(err, DN_ERR_ARGUMENT,
                            "there is no machine %zu: the model has %zu machines", i,
                            model->n_machines);
    }
    return dni_machine_describe(model->raw[i], model->encoder, visitor, err);
}

double dn_model_matrix_numbers(const dn_model *model, const char **out_name) {
    double numbers = dni_machine_shared_matrix_numbers(model->raw[0], model->encoder);
    for (size_t i = 0; i < model->n_machines; i++) {
        numbers += dni_machine_matrix_numbers(model->raw[i]);
    }
    *out_name = dni_machine_matrices_name(model->raw[0]);
    return numbers;
}

const double *dn_model_intercept(const dn_model *model) {
    return model->intercept;
}

size_t dn_model_n_components(const dn_model *model, dn_coordinates coordinates) {
    switch (coordinates) {
    case DN_COORDINATES_DIRECTIONS:
        return model->n_machines == 1 ? model->raw[0]->n_components : 0;
    case DN_COORDINATES_BASIS:
        return model->n_basis > 0 ? model->n_features : 0;
    case DN_COORDINATES_HIDDEN:
        return model->n_machines == 1 ? dni_machine_n_hidden(model->raw[0]) : 0;
    case DN_COORDINATES_SCORES:
        return model->n_scores;
    default:
        return 0;
    }
}

size_t dn_model_n_scores(const dn_model *model) {
    return model->n_scores;
}

const char *dn_version(void) {
    return "0.1.0";
}
