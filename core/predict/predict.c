/* From raw rows to scores, labels and probabilities.
 *
 * A row is scored by itself, input after input in their order, so that its answer cannot depend on its neighbours, the batch or the thread. A number adds
 * value times weight to each score, a category its level's weights: what is 0 in x costs nothing. Up to a few thousand weights this takes less time than
 * packing a tile for a matrix product, and unlike that it needs no padding to give one row the same last bits as a hundred. */
#include "data/encoder_bytes.h"
#include "linalg/vector.h"
#include "predict/machine.h"
#include "predict/model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* What a call carves from its workspace. */
struct room {
    double *scores;   /* [n_scores] of a row whose scores nobody wants */
    double *x;        /* [n_features] raw features */
    double *work;     /* [model->work] */
    double *coupling; /* [dn_decision_work] */
};

size_t dn_model_workspace(const dn_model *model) {
    return model->n_scores + model->n_features + model->work + model->classes.shown.n +
           dn_decision_work(model->decision, model->classes.shown.n);
}

static struct room room_of(const dn_model *m, double *workspace) {
    struct room room = {.scores = workspace};
    room.x = room.scores + m->n_scores;
    room.work = room.x + m->n_features;
    room.coupling = room.work + m->work + m->classes.shown.n;
    return room;
}

/* The feature of a categorical raw value that is 1; SIZE_MAX: none. */
static size_t level_feature(const dni_term *term, double raw) {
    if (isnan(raw))
        return term->if_missing;
    if (!(raw >= 0 && raw < (double)term->n_levels))
        return term->if_unseen;
    size_t level = (size_t)raw;
    return level < term->dropped ? SIZE_MAX : term->first_feature + level - term->dropped;
}

/* One score, numbers only: four sums, because a single one would wait for itself. */
static double score_plain(const dn_model *m, const double *raw) {
    double sum[4] = {m->intercept[0], 0, 0, 0};
    for (size_t j = 0; j < m->n_inputs; j++) {
        double value = isnan(raw[j]) ? m->terms[j].fill : raw[j];
        sum[j % 4] += value * m->by_feature[j];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Linear scores without writing x. */
static void score_row(const dn_model *m, const double *raw, double *scores) {
    size_t S = m->n_scores;
    if (m->plain && S == 1) {
        scores[0] = score_plain(m, raw);
        return;
    }
    memcpy(scores, m->intercept, S * sizeof *scores);
    for (size_t i = 0; i < m->n_inputs; i++) {
        const dni_term *term = &m->terms[i];
        size_t feature = term->first_feature;
        double value = 1;
        if (term->categorical)
            feature = level_feature(term, raw[i]);
        else
            value = isnan(raw[i]) ? term->fill : raw[i];
        if (feature == SIZE_MAX || value == 0)
            continue;
        const double *w = m->by_feature + feature * S;
        for (size_t k = 0; k < S; k++)
            scores[k] += value * w[k];
    }
}

/* The same of an x. */
static void score_features(const dn_model *m, const double *x, double *scores) {
    size_t S = m->n_scores;
    memcpy(scores, m->intercept, S * sizeof *scores);
    for (size_t j = 0; j < m->n_features; j++) {
        const double *w = m->by_feature + j * S;
        for (size_t k = 0; x[j] != 0 && k < S; k++)
            scores[k] += x[j] * w[k];
    }
}

bool dni_model_scores(const dn_model *m, const double *x, double *scores, double *work) {
    bool possible = true;
    for (size_t i = 0; i < m->n_machines; i++) {
        possible = dni_machine_scores(&m->raw[i], x, scores, work) && possible;
        scores += dn_machine_n_scores(&m->raw[i]);
    }
    return possible;
}

/* Distance of x from the surface between the chosen class and its nearest rival. */
static double distance_of(const dn_model *m, const double *scores) {
    size_t K = m->classes.shown.n, d = m->n_features;
    double least = (double)NAN;
    if (!m->linear)
        return least;
    if (K == 2) {
        double length = dni_norm(m->w, d);
        return length > 0 ? scores[0] / length : least;
    }
    if (m->n_scores != K || (m->decision != DN_DECISION_NATIVE && m->decision != DN_DECISION_ONE_VS_REST))
        return least;
    size_t best = dn_decision_label(m->decision, K, scores);
    for (size_t j = 0; j < K; j++) {
        double square = 0;
        for (size_t f = 0; j != best && f < d; f++) {
            double step = m->w[best * d + f] - m->w[j * d + f];
            square += step * step;
        }
        double distance = (scores[best] - scores[j]) / sqrt(square);
        if (square > 0 && !(distance >= least))
            least = distance;
    }
    return least;
}

/* What needs x: its contributions, its density. */
static void explain_row(const dn_model *m, const struct room *room, size_t i, const dn_prediction *out) {
    double *to = out->contributions == NULL ? NULL : out->contributions + i * m->n_scores * m->n_features;
    for (size_t k = 0; to != NULL && k < m->n_machines; k++) {
        dni_machine_contributions(&m->raw[k], room->x, to, room->work);
        to += dn_machine_n_scores(&m->raw[k]) * m->n_features;
    }
    if (out->log_density == NULL)
        return;
    double *joint = room->work + m->work; /* [K] */
    bool possible = dni_machine_joint(&m->raw[0], room->x, joint, room->work);
    out->log_density[i] = possible ? dni_log_sum(joint, m->classes.shown.n) : -(double)INFINITY;
}

/* Whether scores are numbers: sums of finite inputs can leave the finite ones. Where densities multiply, −∞ is an answer. */
bool dni_model_scores_good(const dn_model *model, const double *scores) {
    bool good = true;
    for (size_t k = 0; k < model->n_scores; k++)
        good = good && (model->linear ? isfinite(scores[k]) : !isnan(scores[k]));
    return good;
}

size_t dn_model_predict(const dn_model *model, const double *raw, size_t n, double *workspace, const dn_prediction *out) {
    size_t S = model->n_scores, K = model->classes.shown.n;
    struct room room = room_of(model, workspace);
    bool terms = model->linear && model->terms != NULL;
    bool expanded = !terms || out->contributions != NULL || out->log_density != NULL;
    assert(out->probabilities == NULL || dn_model_has_probabilities(model));
    assert(out->log_density == NULL || dn_model_has_density(model));
    for (size_t i = 0; i < n; i++) {
        const double *row = raw + i * model->n_inputs;
        double *scores = out->scores == NULL ? room.scores : out->scores + i * S;
        bool possible = true;
        if (expanded)
            dni_encoder_expand(model->encoder, row, 1, room.x);
        if (terms)
            score_row(model, row, scores);
        else if (model->linear)
            score_features(model, room.x, scores);
        else
            possible = dni_model_scores(model, room.x, scores, room.work);
        if (!dni_model_scores_good(model, scores))
            return i;
        if (out->label != NULL)
            out->label[i] = dn_decision_label(model->decision, K, scores);
        if (out->probabilities != NULL)
            dn_decision_probabilities(model->decision, K, scores, out->probabilities + i * K, room.coupling);
        if (out->candidates != NULL)
            dn_decision_candidates(model->decision, K, scores, out->candidates + i * K);
        if (out->distance != NULL)
            out->distance[i] = distance_of(model, scores);
        if (out->out_of_support != NULL)
            out->out_of_support[i] = !possible;
        if (expanded)
            explain_row(model, &room, i, out);
    }
    return n;
}

size_t dn_model_transform(const dn_model *model, const double *raw, size_t n, double *workspace, double *out) {
    struct room room = room_of(model, workspace);
    size_t d = model->n_features, n_components = dn_model_n_components(model);
    for (size_t i = 0; i < n; i++) {
        dni_encoder_expand(model->encoder, raw + i * model->n_inputs, 1, room.x);
        for (size_t c = 0; c < n_components; c++)
            out[i * n_components + c] = dni_dot(model->raw[0].projection + c * d, room.x, d);
        if (!dni_all_finite(out + i * n_components, n_components))
            return i;
    }
    return n;
}
