/* From raw rows to scores, labels and probabilities.
 *
 * A row is scored by itself, input after input in their order, so that its answer cannot depend on its neighbours, the batch or the thread. A number adds
 * value times weight to each score, a category its level's weights: what is 0 in x costs nothing. Up to a few thousand weights this takes less time than
 * packing a tile for a matrix product, and unlike that it needs no padding to give one row the same last bits as a hundred. */
#include "predict/model.h"
#include "predict/probability.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { TILE = 64 };

size_t dni_label(const double *scores, size_t n_scores) {
    if (n_scores == 1)
        return scores[0] > 0;
    size_t best = 0;
    for (size_t k = 1; k < n_scores; k++)
        if (scores[k] > scores[best])
            best = k;
    return best;
}

size_t dn_model_workspace(const dn_model *model) {
    return TILE * model->n_scores;
}

/* The feature of a categorical raw value that is 1; SIZE_MAX: none. */
static size_t level_feature(const dni_term *term, double raw) {
    if (isnan(raw))
        return term->missing_level ? term->first_feature + term->n_levels : SIZE_MAX;
    return raw >= 0 && raw < (double)term->n_levels ? term->first_feature + (size_t)raw : SIZE_MAX;
}

/* One score, numbers only: four sums, because a single one would wait for itself. */
static double score_plain(const dn_model *m, const double *raw) {
    double sum[4] = {m->w0_raw[0], 0, 0, 0};
    for (size_t j = 0; j < m->n_inputs; j++) {
        double value = isnan(raw[j]) ? m->terms[j].fill : raw[j];
        sum[j % 4] += value * m->by_feature[j];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void score_row(const dn_model *m, const double *raw, double *scores) {
    size_t S = m->n_scores;
    if (m->plain && S == 1) {
        scores[0] = score_plain(m, raw);
        return;
    }
    memcpy(scores, m->w0_raw, S * sizeof *scores);
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

void dn_model_predict(const dn_model *model, const double *raw, size_t n, double *workspace, const dn_prediction *out) {
    size_t S = model->n_scores, K = model->classes.shown.n;
    assert(out->probabilities == NULL || dn_model_has_probabilities(model));
    for (size_t first = 0; first < n; first += TILE) {
        size_t rows = n - first < TILE ? n - first : TILE;
        for (size_t i = 0; i < rows; i++) {
            double *scores = workspace + i * S;
            score_row(model, raw + (first + i) * model->n_inputs, scores);
            if (out->label != NULL)
                out->label[first + i] = dni_label(scores, S);
            if (out->probabilities != NULL) {
                double *p = out->probabilities + (first + i) * K;
                if (S == 1)
                    dni_sigmoid(scores[0], p);
                else
                    dni_softmax(scores, S, p);
            }
        }
        if (out->scores != NULL)
            memcpy(out->scores + first * S, workspace, rows * S * sizeof *workspace);
    }
}
