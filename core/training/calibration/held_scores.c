/* Storage and selection of the scores of held-out rows. */
#include "training/calibration/held_scores.h"
#include "base/layout.h"
#include "catalogue/calibration_params.h"
#include "machine/decision_pairs.h"
#include "model/calibration.h"

#include <math.h>
#include <string.h>

static dni_held_scores held_of(dn_decision decision, size_t n_classes, size_t n_rows,
                               size_t n_source) {
    dni_held_scores held = {.decision = decision,
                            .n_classes = n_classes,
                            .n_scores = dn_decision_n_scores(decision, n_classes),
                            .pairs = dni_decision_is_pairwise(decision, n_classes),
                            .n_rows = n_rows,
                            .n_source = n_source};
    held.kept = held.pairs ? n_classes - 1 : held.n_scores;
    return held;
}

static void held_layout(dni_layout *layout, const void *shape, void *out) {
    const dni_held_scores *s = shape;
    dni_held_scores *h = out;
    h->score = dni_layout_matrix(layout, s->n_rows, s->kept);
    h->weight = dni_layout_doubles(layout, s->n_rows);
    h->classes = dni_layout_array(layout, s->n_rows, sizeof *h->classes);
    h->selected.key = dni_layout_doubles(layout, s->n_rows);
    h->selected.row = dni_layout_array(layout, s->n_rows, sizeof *h->selected.row);
    h->stratum = dni_layout_doubles(layout, s->n_source);
    h->fold = dni_layout_array(layout, s->n_source, sizeof *h->fold);
    h->role = dni_layout_array(layout, s->n_source, sizeof *h->role);
}

dn_status dni_held_scores_init(dni_held_scores *held, dn_decision decision, size_t n_classes,
                               size_t n_rows, size_t n_source, const dn_run *run, dn_error *err) {
    const dni_held_scores shape = held_of(decision, n_classes, n_rows, n_source);
    *held = shape;
    return dni_layout_take(run, held_layout, &shape, held, "the scores of a calibration",
                           &held->memory, err);
}

/* Returns the index, among the stored scores of a row of class `truth`, of the score of the pair of
 * this class and class `other`. */
static size_t kept_index(size_t truth, size_t other) {
    return other < truth ? other : other - 1;
}

void dni_held_scores_add(void *held, const double *scores, const size_t *truth,
                         const double *weight, size_t n) {
    dni_held_scores *h = held;
    for (size_t i = 0; i < n; i++, scores += h->n_scores, h->n++) {
        double *to = h->score + h->n * h->kept;
        h->weight[h->n] = weight == NULL ? 1 : weight[i];
        h->classes[h->n] = (uint32_t)truth[i];
        if (!h->pairs) {
            memcpy(to, scores, h->kept * sizeof *to);
            continue;
        }
        for (size_t k = 0; k < h->n_classes; k++) {
            if (k != truth[i]) {
                to[kept_index(truth[i], k)] = scores[dni_pair_index(h->n_classes, truth[i], k)];
            }
        }
    }
}

dni_scored dni_held_scores_select(dni_held_scores *h, size_t s) {
    const bool one = h->n_classes == 2 || h->decision == DN_DECISION_NATIVE; /* a single machine */
    size_t negative = SIZE_MAX, positive = SIZE_MAX;
    dn_decision_machine(h->decision, h->n_classes, one ? 0 : s, &negative, &positive);
    if (positive == SIZE_MAX) { /* one machine for all classes */
        positive = h->n_classes == 2 ? 1 : s;
    }
    dni_scored scored = {.rows = h->selected,
                         .classes = h->classes,
                         .weight = h->weight,
                         .positive = (uint32_t)positive};
    for (size_t i = 0; i < h->n_rows; i++) {
        const size_t truth = h->classes[i];
        if (negative != SIZE_MAX && truth != negative && truth != positive) {
            continue;
        }
        const size_t k = h->pairs ? kept_index(truth, truth == positive ? negative : positive) : s;
        scored.rows.key[scored.n] = h->score[i * h->kept + k];
        scored.rows.row[scored.n++] = (uint32_t)i;
    }
    return scored;
}

static double log_loss(double p) {
    return -log(fmax(DNI_MIN_PROBABILITY, fmin(1 - DNI_MIN_PROBABILITY, p)));
}

dn_status dni_held_scores_loss(const dni_held_scores *h, const dn_calibration *calibration,
                               const dn_run *run, double *before, double *after, dn_error *err) {
    const size_t K = h->n_classes;
    void *memory = NULL;
    double plain = 0, calibrated = 0, total = 0;
    if (h->pairs) {
        *before = *after = (double)NAN;
        return DN_OK;
    }
    dn_status status = dn_run_alloc(run, K + h->n_scores, sizeof(double),
                                    "the probabilities of a row", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    double *p = memory, *logits = p + K;
    for (size_t i = 0; i < h->n_rows; i++) {
        const double *scores = h->score + i * h->kept;
        dn_decision_probabilities(h->decision, K, scores, p, NULL);
        plain += h->weight[i] * log_loss(p[h->classes[i]]);
        dni_calibration_apply(calibration, scores, logits);
        dn_decision_probabilities(dn_calibrated_decision(h->decision), K, logits, p, NULL);
        calibrated += h->weight[i] * log_loss(p[h->classes[i]]);
        total += h->weight[i];
    }
    dn_run_free(run, memory);
    *before = plain / total;
    *after = calibrated / total;
    return DN_OK;
}

double dni_calibration_memory(const dn_params *params, size_t n_rows, size_t n_source,
                              size_t n_classes, double fold) {
    const dn_decision decision = dn_params_decision(params);
    const dn_calibration_method method = dni_calibration_method(params);
    if (method == DN_CALIBRATION_NONE || !dn_decision_has_probabilities(decision, n_classes)) {
        return 0;
    }
    const dni_held_scores shape = held_of(decision, n_classes, n_rows, n_source);
    dni_held_scores held;
    dni_isotonic_work work;
    /* the working memory of dni_split_folds, the fits of the folds, and the isotonic regression are
     * not in use at the same time */
    double peak = fmax(fold, (double)n_rows * sizeof(size_t));
    if (method == DN_CALIBRATION_ISOTONIC) {
        peak = fmax(peak, dni_layout_bytes(dni_isotonic_layout, &n_rows, &work));
    }
    return dni_layout_bytes(held_layout, &shape, &held) + peak;
}
