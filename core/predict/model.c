/* A trained model: its life and the questions one may ask. */
#include "predict/model.h"
#include "linalg/tile.h"
#include "linalg/vector.h"
#include "predict/linear.h"

#include <stdlib.h>
#include <string.h>

static dn_status no_memory(dn_error *err) {
    dn_error_set(err, DN_ERR_MEMORY, "the model needs memory which the system does not have");
    return DN_ERR_MEMORY;
}

/* Derives what prediction uses from the encoder and the weights. */
static dn_status prepare(dn_model *m, const double *w, const double *w0, dn_error *err) {
    size_t d = m->n_features, S = m->n_scores;
    m->w_raw = malloc((d * S + 1) * sizeof *m->w_raw);
    m->w0_raw = malloc(S * sizeof *m->w0_raw);
    m->by_feature = malloc((d * S + 1) * sizeof *m->by_feature);
    m->terms = calloc(m->n_inputs + 1, sizeof *m->terms);
    if (m->w_raw == NULL || m->w0_raw == NULL || m->by_feature == NULL || m->terms == NULL)
        return no_memory(err);
    dni_linear_to_raw(w, d, w0, 1, S, d, dn_encoder_mean(m->encoder), dn_encoder_scale(m->encoder), m->w_raw, m->w0_raw);
    if (!dni_all_finite(m->w_raw, d * S) || !dni_all_finite(m->w0_raw, S))
        return dn_error_set(err, DN_ERR_NUMERIC, "the weights in the scale of the raw columns are not finite");
    dni_transpose(m->w_raw, S, d, m->by_feature);
    m->plain = true;
    for (size_t i = 0; i < m->n_inputs; i++) {
        const dn_input *input = dn_encoder_input(m->encoder, i);
        bool categorical = input->type == DN_CATEGORICAL;
        m->terms[i] = (dni_term){categorical, input->missing_level, input->first_feature, input->levels.n, input->fill};
        m->plain = m->plain && !categorical && input->first_feature == i;
    }
    return DN_OK;
}

dn_status dni_model_new(const dni_model_parts *parts, dn_model **out, dn_error *err) {
    dn_model *m = calloc(1, sizeof *m);
    if (m == NULL)
        return no_memory(err);
    atomic_init(&m->references, 1);
    m->seed = parts->seed;
    m->encoder = parts->encoder;
    m->n_scores = parts->n_scores;
    m->n_features = dn_encoder_n_features(parts->encoder);
    m->n_inputs = dn_encoder_n_inputs(parts->encoder);
    m->target = malloc(parts->target_length + 1);
    dn_status status = m->target == NULL ? no_memory(err) : DN_OK;
    if (status == DN_OK) {
        memcpy(m->target, parts->target, parts->target_length);
        m->target[parts->target_length] = '\0';
        status = dn_params_copy(parts->params, &m->params, err);
    }
    if (status == DN_OK)
        status = prepare(m, parts->w, parts->w0, err);
    if (status != DN_OK) {
        m->encoder = NULL; /* still the caller's */
        dn_model_unref(m);
        return status;
    }
    m->classes = *parts->classes;
    *parts->classes = (dni_classes){0};
    m->w = parts->w;
    m->w0 = parts->w0;
    *out = m;
    return DN_OK;
}

dn_model *dn_model_ref(dn_model *model) {
    atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
    return model;
}

void dn_model_unref(dn_model *model) {
    if (model == NULL || atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) > 1)
        return;
    dn_params_free(model->params);
    free(model->target);
    dni_classes_done(&model->classes);
    dn_encoder_unref(model->encoder);
    free(model->w);
    free(model->w0);
    free(model->w_raw);
    free(model->w0_raw);
    free(model->by_feature);
    free(model->terms);
    free(model);
}

size_t dn_model_memory(const dn_model *model) {
    const dn_classes *classes = &model->classes.shown;
    size_t bytes = sizeof *model + strlen(model->target) + model->params->algorithm->n_params * sizeof(dn_param_value);
    bytes += (3 * model->n_features + 2) * model->n_scores * sizeof(double) + model->n_inputs * sizeof(dni_term);
    bytes += model->classes.names.capacity + classes->n * (sizeof(double) + 5 * sizeof(uint32_t));
    bytes += model->n_features * 2 * sizeof(double); /* the encoder's means and scales */
    for (size_t i = 0; i < model->n_inputs; i++) {
        const dn_input *input = dn_encoder_input(model->encoder, i);
        bytes += sizeof *input + strlen(input->name) + input->levels.n * 6 * sizeof(uint32_t);
        if (input->levels.n > 0)
            bytes += input->levels.start[input->levels.n];
    }
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
    return model->target;
}

const dn_classes *dn_model_classes(const dn_model *model) {
    return &model->classes.shown;
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

bool dn_model_linear(const dn_model *model, dn_linear *out) {
    *out = (dn_linear){model->n_scores, model->n_features, model->w_raw, model->w0_raw};
    return true;
}

bool dn_model_has_probabilities(const dn_model *model) {
    return (model->params->algorithm->flags & DN_ALGORITHM_PROBABILITIES) != 0;
}

size_t dn_model_n_scores(const dn_model *model) {
    return model->n_scores;
}

const char *dn_version(void) {
    return "0.1.0";
}
