/* Fold after fold: encoder and machines of the other rows score the fold's; all these scores make the calibration. */
#include "training/calibrate.h"
#include "base/share.h"
#include "evaluate/evaluate_rows.h"
#include "model/calibration.h"
#include "task/split.h"
#include "training/calibrate_fit.h"
#include "training/crossval.h"
#include "training/fit.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SHOWN = 100 }; /* numbers of a list among the details */

void dni_calibrated_done(dni_calibrated *calibrated) {
    dni_calibration_free(calibrated->calibration);
    *calibrated = (dni_calibrated){0};
}

/* ---- the rows held out ---- */
struct calibrating {
    const dn_train_request *request;
    dni_labels *labels;
    const dn_run *run;
    dn_decision decision;
    size_t n_classes, n_scores, n_rows, n_folds;
    bool pairs;     /* of a row those scores are kept that are about its class, K − 1 of them */
    size_t kept;    /* scores of a row */
    void *memory;   /* of all of the following */
    double *score;  /* [n_rows × kept] in the order in which rows were scored */
    double *weight; /* [n_rows] their own */
    double *index;  /* [source rows] class of the rows that take part, NaN of others */
    dni_pairs rows; /* [n_rows] for a calibrator */
    dni_pairs room; /* [n_rows] */
    uint32_t *classes;   /* [n_rows] */
    uint8_t *role;       /* [source rows] as it was */
    uint16_t *fold;      /* [source rows] */
    size_t n_scored, at; /* rows so far; the next row of the source */
    dni_calibrated result;
};

/* Which of the scores that are kept of a row of class `own` is that of its pair with `other`. */
static size_t place_of(size_t own, size_t other) {
    return other < own ? other : other - 1;
}

static size_t pair_of(size_t K, size_t i, size_t j) {
    const size_t low = i < j ? i : j, high = i < j ? j : i;
    return low * (2 * K - low - 1) / 2 + (high - low - 1);
}

static void keep_scores(void *arg, const double *scores, const size_t *truth, size_t n) {
    struct calibrating *c = arg;
    for (size_t i = 0; i < n; i++, scores += c->n_scores, c->n_scored++, c->at++) {
        double *to = c->score + c->n_scored * c->kept;
        while (c->labels->role[c->at] != DN_ROW_VALIDATE) {
            c->at++;
        }
        c->weight[c->n_scored] = c->labels->weight == NULL ? 1 : c->labels->weight[c->at];
        c->classes[c->n_scored] = (uint32_t)truth[i];
        for (size_t k = 0; c->pairs && k < c->n_classes; k++) {
            if (k != truth[i]) {
                to[place_of(truth[i], k)] = scores[pair_of(c->n_classes, truth[i], k)];
            }
        }
        if (!c->pairs) {
            memcpy(to, scores, c->kept * sizeof *to);
        }
    }
}

static dn_status score_fold(struct calibrating *c, const dni_fit *t, const dn_run *run,
                            dn_error *err) {
    dn_rows *rows = NULL;
    dn_status status =
        dn_rows_from_source(c->request->source, dn_model_encoder(t->model), c->labels->role,
                            DN_ROW_VALIDATE, c->index, NULL, false, run, &rows, err);
    c->at = 0;
    if (status == DN_OK) {
        status = dni_score_rows(rows, t->model, run, keep_scores, c, err);
    }
    dn_rows_free(rows);
    return status;
}

static dn_status run_fold(struct calibrating *c, const dn_run *run, dn_error *err) {
    dni_fit t = {.request = c->request, .run = run, .labels = c->labels};
    dn_status status = dni_fit_encode(&t, err);
    if (status == DN_OK) {
        status = dni_fit_train(&t, err);
    }
    dni_fit_release_rows(&t);
    if (status == DN_OK) {
        status = score_fold(c, &t, run, err);
    }
    c->result.unconverged += status == DN_OK && !t.report.converged;
    dni_fit_done(&t);
    return status;
}

static dn_status run_folds(struct calibrating *c, dn_error *err) {
    const size_t n = c->request->source->n_rows;
    dn_status status = DN_OK;
    assert(c->role != NULL);
    for (size_t f = 0; f < c->n_folds && status == DN_OK; f++) {
        dn_error why;
        dni_share share;
        dn_error_clear(&why);
        for (size_t i = 0; i < n; i++) {
            c->labels->role[i] = (uint8_t)(isnan(c->index[i]) ? DN_ROW_SKIP
                                           : c->fold[i] == f  ? DN_ROW_VALIDATE
                                                              : DN_ROW_TRAIN);
        }
        dni_share_init(&share, c->run, f, c->n_folds + 1);
        dni_share_fold(&share, f + 1);
        status = run_fold(c, &share.run, &why);
        if (status != DN_OK) {
            dni_fold_error(&why, status, "calibration fold", f, err);
        }
    }
    memcpy(c->labels->role, c->role, n);
    return status;
}

/* ---- calibrators ---- */
/* The rows that score s is about, and the class for which it speaks. */
static dni_scored rows_of(struct calibrating *c, size_t s) {
    size_t negative = SIZE_MAX, positive = SIZE_MAX;
    dn_decision_machine(c->decision, c->n_classes,
                        c->pairs                                                 ? s
                        : c->n_classes == 2 || c->decision == DN_DECISION_NATIVE ? 0
                                                                                 : s,
                        &negative, &positive);
    if (positive == SIZE_MAX) { /* one machine of all classes */
        positive = c->n_classes == 2 ? 1 : s;
    }
    dni_scored scored = {.rows = c->rows,
                         .classes = c->classes,
                         .weight = c->weight,
                         .positive = (uint32_t)positive};
    for (size_t i = 0; i < c->n_rows; i++) {
        const size_t own = c->classes[i];
        if (negative != SIZE_MAX && own != negative && own != positive) {
            continue;
        }
        const size_t place = c->pairs ? place_of(own, own == positive ? negative : positive) : s;
        c->rows.key[scored.n] = c->score[i * c->kept + place];
        c->rows.row[scored.n++] = (uint32_t)i;
    }
    return scored;
}

static bool is_flat(dn_calibration_method method, const dn_calibrator *c) {
    return method == DN_CALIBRATION_PLATT ? !(c->slope > 0)
                                          : !(c->probability[c->n - 1] > c->probability[0]);
}

static dn_status fit_scores(struct calibrating *c, dn_calibration_method method, dn_error *err) {
    dn_calibration *calibration = NULL;
    dn_status status = dni_calibration_new(method, c->n_folds, c->n_scores, &calibration, err);
    c->result.calibration = calibration;
    for (size_t s = 0; status == DN_OK && s < c->n_scores; s++) {
        const dni_scored scored = rows_of(c, s);
        dn_calibrator *out = &calibration->scores[s];
        status = dn_run_stop(c->run, err);
        if (status == DN_OK) {
            status = method == DN_CALIBRATION_PLATT
                         ? dni_calibrate_platt(&scored, c->run, out, err)
                         : dni_calibrate_isotonic(&scored, c->room, c->run, out, err);
        }
        c->result.flat += status == DN_OK && is_flat(method, out);
    }
    return status;
}

static double loss_of(double p) {
    return -log(fmax(DNI_LEAST_PROBABILITY, fmin(1 - DNI_LEAST_PROBABILITY, p)));
}

/* Mean log loss of the rows held out, before and after. Of pairs not all scores are there. */
static dn_status measure(struct calibrating *c, dn_error *err) {
    const size_t K = c->n_classes;
    void *memory = NULL;
    double before = 0, after = 0, total = 0;
    c->result.before = c->result.after = (double)NAN;
    if (c->pairs) {
        return DN_OK;
    }
    dn_status status = dn_run_alloc(c->run, K + c->n_scores, sizeof(double),
                                    "the probabilities of a row", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    double *p = memory, *logits = p + K;
    for (size_t i = 0; i < c->n_rows; i++) {
        const double *scores = c->score + i * c->kept;
        dn_decision_probabilities(c->decision, K, scores, p, NULL);
        before += c->weight[i] * loss_of(p[c->classes[i]]);
        dni_calibration_apply(c->result.calibration, scores, logits);
        dn_decision_probabilities(dn_calibrated_decision(c->decision), K, logits, p, NULL);
        after += c->weight[i] * loss_of(p[c->classes[i]]);
        total += c->weight[i];
    }
    dn_run_free(c->run, memory);
    c->result.before = before / total;
    c->result.after = after / total;
    return DN_OK;
}

/* ---- all ---- */
/* How many rows take part, and how many of the smallest class, *out_class. */
static size_t count_rows(const dni_labels *labels, size_t n, size_t K, size_t *count,
                         size_t *out_class) {
    size_t rows = 0;
    for (size_t i = 0; i < n; i++) {
        if (labels->role[i] == DN_ROW_TRAIN) {
            count[(size_t)labels->index[i]]++;
            rows++;
        }
    }
    *out_class = 0;
    for (size_t k = 1; k < K; k++) {
        if (count[k] < count[*out_class]) {
            *out_class = k;
        }
    }
    return rows;
}

static dn_status choose_folds(struct calibrating *c, dn_error *err) {
    void *count = NULL;
    size_t least = 0;
    dn_status status =
        dn_run_alloc(c->run, c->n_classes, sizeof(size_t), "the rows of the classes", &count, err);
    if (status != DN_OK) {
        return status;
    }
    c->n_rows = count_rows(c->labels, c->request->source->n_rows, c->n_classes, count, &least);
    c->result.least = ((size_t *)count)[least];
    dn_run_free(c->run, count);
    c->result.asked = (size_t)dn_params_number(c->request->params, "calibration_folds");
    c->n_folds = c->result.least < c->result.asked ? c->result.least : c->result.asked;
    if (c->n_folds >= 2) {
        return DN_OK;
    }
    status = dn_error_set(err, DN_ERR_DATA,
                          "class \"%.64s\" has only %zu training row: a calibration holds rows of "
                          "each class out and needs at least 2",
                          c->labels->class_name[least], c->result.least);
    dn_error_set_field(err, "calibrate");
    return status;
}

/* Bytes of everything that is as long as the rows; wide elements first. */
static double bytes_of(size_t n_rows, size_t n_source_rows, size_t kept) {
    return (double)n_rows * (8.0 * (double)kept + 8 + 2 * 8 + 3 * 4) +
           (double)n_source_rows * (8 + 2 + 1) + 64;
}

static dn_status get_memory(struct calibrating *c, dn_error *err) {
    const size_t n = c->request->source->n_rows;
    const double bytes = bytes_of(c->n_rows, n, c->kept);
    if (bytes > (double)(SIZE_MAX / 2)) {
        return dn_error_set(err, DN_ERR_MEMORY,
                            "the scores of a calibration need %.0f bytes of memory", bytes);
    }
    dn_status status =
        dn_run_alloc(c->run, (size_t)bytes, 1, "the scores of a calibration", &c->memory, err);
    if (status != DN_OK) {
        return status;
    }
    c->score = c->memory;
    c->weight = c->score + c->n_rows * c->kept;
    c->index = c->weight + c->n_rows;
    c->rows.key = c->index + n;
    c->room.key = c->rows.key + c->n_rows;
    c->rows.row = (uint32_t *)(void *)(c->room.key + c->n_rows);
    c->room.row = c->rows.row + c->n_rows;
    c->classes = c->room.row + c->n_rows;
    c->fold = (uint16_t *)(void *)(c->classes + c->n_rows);
    c->role = (uint8_t *)(void *)(c->fold + n);
    for (size_t i = 0; i < n; i++) {
        c->index[i] = c->labels->role[i] == DN_ROW_TRAIN ? c->labels->index[i] : (double)NAN;
    }
    memcpy(c->role, c->labels->role, n);
    return DN_OK;
}

static dn_status calibrate(struct calibrating *c, dn_calibration_method method, dn_error *err) {
    dn_status status = choose_folds(c, err);
    if (status == DN_OK) {
        status = get_memory(c, err);
    }
    if (status == DN_OK) {
        status = dni_split_folds(c->index, c->request->source->n_rows, c->n_classes, c->n_folds,
                                 c->run, c->fold, err);
    }
    if (status == DN_OK) {
        status = run_folds(c, err);
    }
    if (status == DN_OK) {
        status = fit_scores(c, method, err);
    }
    if (status == DN_OK) {
        status = measure(c, err);
    }
    dn_run_free(c->run, c->memory);
    return status;
}

dn_status dni_calibrate(const dn_train_request *request, dni_labels *labels, const dn_run *run,
                        dni_calibrated *out, size_t *fits, size_t *of, dn_error *err) {
    const dn_calibration_method method = dni_calibration_method(request->params);
    struct calibrating c = {.request = request,
                            .labels = labels,
                            .run = run,
                            .decision = dn_params_decision(request->params),
                            .n_classes = labels->classes.shown.n};
    *fits = 0;
    *of = 1;
    if (method == DN_CALIBRATION_NONE) {
        return DN_OK;
    }
    c.n_scores = dn_decision_n_scores(c.decision, c.n_classes);
    c.pairs = c.n_classes > 2 &&
              (c.decision == DN_DECISION_ONE_VS_ONE || c.decision == DN_DECISION_ONE_VS_ONE_STRICT);
    c.kept = c.pairs ? c.n_classes - 1 : c.n_scores;
    dn_status status = calibrate(&c, method, err);
    if (status != DN_OK) {
        dni_calibrated_done(&c.result);
        return status;
    }
    *fits = c.n_folds;
    *of = c.n_folds + 1;
    *out = c.result;
    return DN_OK;
}

double dni_calibration_memory(const dn_params *params, size_t n_rows, size_t n_classes) {
    const dn_decision decision = dn_params_decision(params);
    if (dni_calibration_method(params) == DN_CALIBRATION_NONE ||
        !dn_decision_has_probabilities(decision, n_classes)) {
        return 0;
    }
    const bool pairs = n_classes > 2 && (decision == DN_DECISION_ONE_VS_ONE ||
                                         decision == DN_DECISION_ONE_VS_ONE_STRICT);
    const size_t kept = pairs ? n_classes - 1 : dn_decision_n_scores(decision, n_classes);
    return bytes_of(n_rows, n_rows, kept) +
           32 * (double)n_rows; /* pools, beside the folds' lists */
}

/* ---- what is told ---- */
static void tell_numbers(const dn_calibration *calibration, dn_report *report) {
    double slopes[SHOWN], intercepts[SHOWN];
    for (size_t s = 0; s < calibration->n_scores; s++) {
        slopes[s] = calibration->scores[s].slope;
        intercepts[s] = calibration->scores[s].intercept;
    }
    dn_report_list(report, "calibration_slopes", slopes, calibration->n_scores);
    dn_report_list(report, "calibration_intercepts", intercepts, calibration->n_scores);
}

void dni_calibrated_tell(const dni_calibrated *calibrated, dn_report *report) {
    const dn_calibration *c = calibrated->calibration;
    if (c == NULL) {
        return;
    }
    dn_report_text(report, "calibration", "%s", dni_calibrations[c->method]);
    dn_report_number(report, "calibration_folds", (double)c->folds);
    if (c->method == DN_CALIBRATION_PLATT && c->n_scores <= SHOWN) {
        tell_numbers(c, report);
    }
    if (!isnan(calibrated->after)) {
        dn_report_number(report, "calibration_log_loss_before", calibrated->before);
        dn_report_number(report, "calibration_log_loss", calibrated->after);
    }
    if (c->folds < calibrated->asked) {
        dn_report_warn(
            report,
            "the calibration has %zu folds, not %zu: the smallest class has %zu training rows",
            c->folds, calibrated->asked, calibrated->least);
    }
    if (calibrated->unconverged > 0 && report->converged) {
        dn_report_warn(report, "%zu of the %zu fits of the calibration did not converge",
                       calibrated->unconverged, c->folds);
    }
    if (calibrated->flat > 0) {
        dn_report_warn(report,
                       "calibration: %zu of %zu scores do not rise with their class on the rows "
                       "that were held out: the probabilities tell "
                       "little",
                       calibrated->flat, c->n_scores);
    }
}
