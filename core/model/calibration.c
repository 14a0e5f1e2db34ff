/* Calibrations: memory, evaluation, serialization. */
#include "model/calibration.h"

#include <math.h>
#include <stdlib.h>

/* ---- life ---- */
static dn_status no_memory(dn_error *err) {
    return dn_error_set(err, DN_ERR_MEMORY,
                        "a calibration needs memory which the system does not have");
}

dn_status dni_calibration_new(dn_calibration_method method, size_t folds, size_t n_scores,
                              dn_calibration **out, dn_error *err) {
    dn_calibration *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return no_memory(err);
    }
    *c = (dn_calibration){.method = method, .folds = folds, .n_scores = n_scores};
    c->scores = calloc(n_scores + 1, sizeof *c->scores);
    if (c->scores == NULL) {
        free(c);
        return no_memory(err);
    }
    *out = c;
    return DN_OK;
}

void dni_calibration_free(dn_calibration *calibration) {
    if (calibration == NULL) {
        return;
    }
    for (size_t s = 0; s < calibration->n_scores; s++) {
        free(calibration->scores[s].score);
    }
    free(calibration->scores);
    free(calibration);
}

dn_status dni_calibrator_resize(dn_calibrator *calibrator, size_t n, dn_error *err) {
    double *score = malloc((2 * n + 1) * sizeof *score);
    if (score == NULL) {
        return no_memory(err);
    }
    free(calibrator->score);
    calibrator->score = score;
    calibrator->probability = score + n;
    calibrator->n = n;
    return DN_OK;
}

size_t dni_calibration_bytes(const dn_calibration *calibration) {
    size_t bytes = calibration == NULL ? 0 : sizeof *calibration;
    for (size_t s = 0; calibration != NULL && s < calibration->n_scores; s++) {
        bytes += sizeof *calibration->scores + 2 * calibration->scores[s].n * sizeof(double);
    }
    return bytes;
}

/* ---- probabilities ---- */
/* Interpolates linearly between the points of the calibrator; constant below the first and above
 * the last score. */
static double interpolate(const dn_calibrator *c, double score) {
    size_t low = 0, high = c->n; /* score[low] <= score < score[high] */
    if (!(score > c->score[0])) {
        return c->probability[0];
    }
    if (score >= c->score[c->n - 1]) {
        return c->probability[c->n - 1];
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (c->score[middle] <= score) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (c->probability[high] == c->probability[low]) {
        return c->probability[low];
    }
    const double width = c->score[high] / 2 - c->score[low] / 2,
                 part =
                     (score / 2 - c->score[low] / 2) /
                     width; /* the scores are halved, so that the subtraction does not overflow */
    return c->probability[low] +
           (width > 0 ? part : 0) * (c->probability[high] - c->probability[low]);
}

void dni_calibration_apply(const dn_calibration *calibration, const double *scores,
                           double *logits) {
    for (size_t s = 0; s < calibration->n_scores; s++) {
        const dn_calibrator *c = &calibration->scores[s];
        if (calibration->method == DN_CALIBRATION_PLATT) {
            logits[s] = fmax(-1e300, fmin(1e300, c->slope * scores[s] + c->intercept));
            continue;
        }
        const double p = interpolate(c, scores[s]);
        logits[s] = log(p) - log1p(-p);
    }
}

size_t dni_probabilities_work(const dn_model *m) {
    return dn_decision_work(m->decision, m->classes.view.n) +
           (m->calibration == NULL ? 0 : m->n_scores);
}

void dni_model_probabilities(const dn_model *m, const double *scores, double *p, double *work) {
    const size_t K = m->classes.view.n;
    if (m->calibration == NULL) {
        dn_decision_probabilities(m->decision, K, scores, p, work);
        return;
    }
    double *logits = work + dn_decision_work(m->decision, K);
    dni_calibration_apply(m->calibration, scores, logits);
    dn_decision_probabilities(dn_calibrated_decision(m->decision), K, logits, p, work);
}

/* ---- bytes ---- */
void dni_calibration_write(const dn_calibration *calibration, dni_writer *writer) {
    dni_write_u8(writer,
                 (uint8_t)(calibration == NULL ? DN_CALIBRATION_NONE : calibration->method));
    if (calibration == NULL) {
        return;
    }
    dni_write_u32(writer, (uint32_t)calibration->folds);
    for (size_t s = 0; s < calibration->n_scores; s++) {
        const dn_calibrator *c = &calibration->scores[s];
        if (calibration->method == DN_CALIBRATION_PLATT) {
            dni_write_f64(writer, c->slope);
            dni_write_f64(writer, c->intercept);
            continue;
        }
        dni_write_u64(writer, c->n);
        dni_write_f64s(writer, c->score, c->n);
        dni_write_f64s(writer, c->probability, c->n);
    }
}

static dn_status corrupt(dn_error *err) {
    return dn_error_set(err, DN_ERR_CORRUPT, "the model is damaged: the calibration is invalid");
}

static dn_status read_steps(dni_reader *reader, dn_calibrator *c, dn_error *err) {
    const size_t n = dni_read_count(reader, 2 * sizeof(double));
    if (reader->failed || n == 0) {
        return corrupt(err);
    }
    dn_status status = dni_calibrator_resize(c, n, err);
    if (status != DN_OK) {
        return status;
    }
    if (!dni_read_f64s(reader, c->score, n) || !dni_read_f64s(reader, c->probability, n)) {
        return corrupt(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(c->score[i]) ||
            !(c->probability[i] >= DNI_MIN_PROBABILITY &&
              c->probability[i] <= 1 - DNI_MIN_PROBABILITY) ||
            (i > 0 &&
             !(c->score[i] > c->score[i - 1] && c->probability[i] >= c->probability[i - 1]))) {
            return corrupt(err);
        }
    }
    return DN_OK;
}

static dn_status read_calibrator(dni_reader *reader, dn_calibration_method method, dn_calibrator *c,
                                 dn_error *err) {
    if (method == DN_CALIBRATION_ISOTONIC) {
        return read_steps(reader, c, err);
    }
    c->slope = dni_read_f64(reader);
    c->intercept = dni_read_f64(reader);
    return reader->failed || !isfinite(c->slope) || !isfinite(c->intercept) ? corrupt(err) : DN_OK;
}

dn_status dni_calibration_read(dni_reader *reader, size_t n_scores, dn_calibration **out,
                               dn_error *err) {
    const uint8_t method = dni_read_u8(reader);
    const size_t folds = method == DN_CALIBRATION_NONE ? 2 : dni_read_u32(reader);
    if (reader->failed || method > DN_CALIBRATION_ISOTONIC || folds < 2) {
        return corrupt(err);
    }
    if (method == DN_CALIBRATION_NONE) {
        *out = NULL;
        return DN_OK;
    }
    if (n_scores > reader->left / (2 * sizeof(double))) {
        return corrupt(err);
    }
    dn_calibration *c = NULL;
    dn_status status = dni_calibration_new((dn_calibration_method)method, folds, n_scores, &c, err);
    for (size_t s = 0; status == DN_OK && s < n_scores; s++) {
        status = read_calibrator(reader, c->method, &c->scores[s], err);
    }
    if (status != DN_OK) {
        dni_calibration_free(c);
        return status;
    }
    *out = c;
    return DN_OK;
}
