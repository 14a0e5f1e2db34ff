/* Prediction: from raw rows to scores, labels and probabilities.
 *
 * Each row is scored separately, feature by feature in a fixed order (features of text and sparse
 * columns last). The result of a row therefore does not depend on other rows, the batch or the
 * thread. Features that are 0 are skipped: a category costs the weights of its level, a text the
 * weights of its words. For up to a few thousand weights this is faster than packing a tile for a
 * matrix product, and the results for one row and for many rows are bitwise equal without padding.
 * The full vector x is computed only for densities that need all features. Machines that need
 * encoded rows process tiles of rows (encoded_scores.h). */
#include "base/layout.h"
#include "encoder/encoder_apply.h"
#include "encoder/encoder_impl.h"
#include "linalg/vector.h"
#include "machine/machine_dispatch.h"
#include "machine/probability.h"
#include "model/calibration.h"
#include "model/encoded_scores.h"
#include "model/model_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The workspace of one call of dn_model_predict. */
struct workspace {
    double *scores;       /* [score_rows × n_scores] used if out->scores is NULL */
    double *value;        /* [n_plain + 1] values of the nonzero features of a row */
    uint32_t *feature;    /* [n_plain + 1] indices of the nonzero features */
    double *basis;        /* [n_basis] values of the basis functions for a row */
    double *machine_work; /* [model->work] work of a machine for one row */
    double *joint;        /* [K] log densities of a row (dni_machine_joint), or probabilities */
    double *coupling;     /* [dni_probabilities_work] work of dni_model_probabilities */
    double *length;       /* [K] ‖w_c − w_j‖ for all classes j, where c = length_of */
    size_t length_of;     /* a class; SIZE_MAX: `length` is not computed */
    double *x;            /* [n_features] raw features; NULL: not needed */
    void *tile;           /* [dni_encoded_scores_bytes] if the machines need encoded rows */
};

/* put() writes one entry past the nonzero features, hence n_plain + 1. */
static void workspace_layout(dni_layout *layout, const void *model, void *out) {
    const dn_model *m = model;
    struct workspace *w = out;
    const size_t K = m->classes.view.n, score_rows = m->encoded ? DNI_ENCODED_ROWS : 1;
    w->scores = dni_layout_matrix(layout, score_rows, m->n_scores);
    w->value = dni_layout_doubles(layout, m->n_plain + 1);
    w->feature = dni_layout_array(layout, m->n_plain + 1, sizeof *w->feature);
    w->basis = dni_layout_doubles(layout, m->n_basis);
    w->machine_work = dni_layout_doubles(layout, m->work);
    w->joint = dni_layout_doubles(layout, K);
    w->coupling = dni_layout_doubles(layout, dni_probabilities_work(m));
    w->length = dni_layout_doubles(layout, K);
    w->x = m->expands ? dni_layout_doubles(layout, m->n_features) : NULL;
    w->tile = m->encoded ? dni_layout_array(layout, dni_encoded_scores_bytes(m), 1) : NULL;
}

size_t dn_model_workspace(const dn_model *m) {
    struct workspace w;
    return (size_t)dni_layout_bytes(workspace_layout, m, &w) / sizeof(double);
}

static struct workspace workspace_of(const dn_model *m, double *memory) {
    struct workspace w = {.length_of = SIZE_MAX};
    dni_layout_carve(memory, workspace_layout, m, &w);
    return w;
}

/* ---- a row as entries ---- */
/* Returns the index of the feature that is 1 for a categorical raw value; SIZE_MAX: none. */
static size_t level_feature(const dni_term *term, double raw) {
    if (isnan(raw)) {
        return term->if_missing;
    }
    if (!(raw >= 0 && raw < (double)term->n_levels)) {
        return term->if_unseen;
    }
    size_t level = (size_t)raw;
    return level < term->dropped ? SIZE_MAX : term->first_feature + level - term->dropped;
}

/* Stores entry n. Returns n + 1, or n if the value is 0. */
static inline size_t put(const struct workspace *w, size_t n, size_t feature, double value) {
    w->feature[n] = (uint32_t)feature;
    w->value[n] = value;
    return n + (value != 0);
}

/* Stores the nonzero features of terms and bases in ascending order. Returns their number. */
static size_t plain_entries(const dn_model *m, const double *raw, const struct workspace *w) {
    size_t n = 0;
    for (size_t t = 0; t < m->n_terms; t++) {
        const dni_term *term = &m->terms[t];
        const double value = raw[term->input];
        if (term->categorical) {
            const size_t feature = level_feature(term, value);
            if (feature != SIZE_MAX) {
                n = put(w, n, feature, 1);
            }
            continue;
        }
        if (term->first_feature != SIZE_MAX) {
            n = put(w, n, term->first_feature, isnan(value) ? term->fill : value);
        }
        if (term->if_missing != SIZE_MAX) {
            n = put(w, n, term->if_missing, isnan(value));
        }
    }
    if (m->n_basis == 0) {
        return n;
    }
    dni_encode_bases(m->encoder, raw, false, w->basis);
    for (size_t j = 0; j < m->n_basis; j++) {
        n = put(w, n, m->first_basis + j, w->basis[j]);
    }
    return n;
}

/* The nonzero features of a row in two parts: terms and bases, then text and sparse columns. */
struct entries {
    dni_entry_part parts[2];
};

static struct entries entries_of(const dn_model *m, dn_raw_rows rows, size_t i,
                                 const struct workspace *w) {
    struct entries entries = {
        {{w->feature, w->value, plain_entries(m, rows.value + i * m->n_inputs, w)}, {0}}};
    if (rows.row_start != NULL) {
        const size_t first = rows.row_start[i];
        entries.parts[1] = (dni_entry_part){rows.feature + first, rows.entry + first,
                                            rows.row_start[i + 1] - first};
    }
    return entries;
}

/* ---- scores ---- */
/* Computes one score of numeric inputs. Four partial sums break the dependency chain of the
 * additions. */
static double score_plain(const dn_model *m, const double *raw) {
    double sum[4] = {m->intercept[0], 0, 0, 0};
    for (size_t j = 0; j < m->n_inputs; j++) {
        double value = isnan(raw[j]) ? m->terms[j].fill : raw[j];
        sum[j % 4] += value * m->by_feature[j];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static inline void add_weights(double value, const double *restrict w, size_t n,
                               double *restrict scores) {
    for (size_t k = 0; k < n; k++) {
        scores[k] += value * w[k];
    }
}

/* Computes the linear scores of row i without storing the entries of the row. */
static void score_row(const dn_model *m, dn_raw_rows rows, size_t i, const struct workspace *w,
                      double *scores) {
    const size_t S = m->n_scores;
    const double *raw = rows.value + i * m->n_inputs;
    memcpy(scores, m->intercept, S * sizeof *scores);
    for (const dni_term *term = m->terms; term < m->terms + m->n_terms; term++) {
        size_t feature = term->first_feature;
        double value = raw[term->input];
        const bool missing = isnan(value);
        if (term->categorical) {
            feature = level_feature(term, value);
            value = 1;
        } else if (missing) {
            value = term->fill;
        }
        if (feature != SIZE_MAX && value != 0) {
            add_weights(value, m->by_feature + feature * S, S, scores);
        }
        if (missing && !term->categorical && term->if_missing != SIZE_MAX) {
            add_weights(1, m->by_feature + term->if_missing * S, S, scores);
        }
    }
    if (m->n_basis > 0) {
        dni_encode_bases(m->encoder, raw, false, w->basis);
    }
    for (size_t j = 0; j < m->n_basis; j++) {
        add_weights(w->basis[j], m->by_feature + (m->first_basis + j) * S, S, scores);
    }
    if (rows.row_start == NULL) {
        return;
    }
    for (size_t e = rows.row_start[i]; e < rows.row_start[i + 1]; e++) {
        add_weights(rows.entry[e], m->by_feature + rows.feature[e] * S, S, scores);
    }
}

/* Computes the scores of nonlinear machines from x or from the entries. Returns false if the row
 * has density 0 under some machine. */
static bool score_machines(const dn_model *m, const struct entries *entries,
                           const struct workspace *w, double *scores) {
    bool possible = true;
    for (size_t i = 0; i < m->n_machines; i++) {
        const dn_machine *machine = m->raw[i];
        const bool here = m->expands ? dni_machine_scores(machine, w->x, scores, w->machine_work)
                                     : dni_machine_scores_entries(machine, entries->parts, 2,
                                                                  scores, w->machine_work);
        possible = here && possible;
        scores += dn_machine_n_scores(machine);
    }
    return possible;
}

/* A score can overflow even if all inputs are finite. A log density can be −∞. */
bool dni_model_scores_valid(const dn_model *model, const double *scores) {
    const bool finite = dni_machine_finite_scores(model->raw[0]);
    bool valid = true;
    for (size_t k = 0; k < model->n_scores; k++) {
        valid = valid && (finite ? isfinite(scores[k]) : !isnan(scores[k]));
    }
    return valid;
}

bool dni_labels_need_probabilities(const dn_model *model, dn_labels labels, const dn_rule *rule) {
    return rule != NULL ||
           (model->may_disagree &&
            (labels == DN_LABELS_OF_MODEL ? model->labels : labels) == DN_LABELS_PROBABILITIES);
}

size_t dni_model_label(const dn_model *model, const double *scores, const double *p,
                       const dn_rule *rule) {
    const size_t K = model->classes.view.n;
    if (rule != NULL) {
        return dn_rule_label(rule, p);
    }
    if (model->decision == DN_DECISION_OUTLIER) {
        return scores[0] < -model->machines[0]->threshold;
    }
    size_t label = dn_decision_label(model->decision, K, scores);
    for (size_t k = 0; p != NULL && label != DN_AMBIGUOUS && k < K; k++) {
        label = p[k] > p[label] ? k : label;
    }
    return label;
}

/* ---- distances, contributions, densities ---- */
/* w->length [K] ← ‖w_c − w_j‖ for all classes j. */
static void compute_lengths(const dn_model *m, size_t c, struct workspace *w) {
    const size_t K = m->classes.view.n, d = m->n_features;
    for (size_t j = 0; j < K; j++) {
        double square = 0;
        for (size_t f = 0; j != c && f < d; f++) {
            double step = m->w[c * d + f] - m->w[j * d + f];
            square += step * step;
        }
        w->length[j] = sqrt(square);
    }
    w->length_of = c;
}

/* Returns the distance of a row from the decision surface; NaN if undefined. Two classes: with the
 * sign of the score. K classes: the surface between the chosen class and the nearest other class.
 * w->length is recomputed only if the chosen class differs from the class of the previous row. */
static double distance_of(const dn_model *m, const double *scores, struct workspace *w) {
    const size_t K = m->classes.view.n;
    double min = (double)NAN;
    if (K == 2) {
        const double length = m->linear ? m->length : dni_machine_norm(m->raw[0]);
        return length > 0 ? scores[0] / length : min;
    }
    if (!m->linear) {
        return min;
    }
    if (m->n_scores != K ||
        (m->decision != DN_DECISION_NATIVE && m->decision != DN_DECISION_ONE_VS_REST &&
         m->decision != DN_DECISION_ONE_VS_REST_CLOSED)) {
        return min;
    }
    const size_t best = dn_decision_label(m->decision, K, scores);
    if (best >= K) { /* ambiguous */
        return min;
    }
    if (w->length_of != best) {
        compute_lengths(m, best, w);
    }
    for (size_t j = 0; j < K; j++) {
        double distance = (scores[best] - scores[j]) / w->length[j];
        if (w->length[j] > 0 && !(distance >= min)) {
            min = distance;
        }
    }
    return min;
}

/* Computes the contributions w_kj x_j, which are 0 for features without an entry. */
static void linear_contributions(const dn_model *m, const struct entries *entries, double *to) {
    const size_t d = m->n_features;
    memset(to, 0, m->n_scores * d * sizeof *to);
    for (const dni_entry_part *part = entries->parts; part < entries->parts + 2; part++) {
        for (size_t e = 0; e < part->n; e++) {
            for (size_t k = 0, at = part->feature[e]; k < m->n_scores; k++, at += d) {
                to[at] = m->w[at] * part->value[e];
            }
        }
    }
}

static void contributions_of(const dn_model *m, dn_raw_rows row, const struct entries *entries,
                             const struct workspace *w, double *to) {
    if (m->linear) {
        linear_contributions(m, entries, to);
        return;
    }
    for (size_t k = 0; k < m->n_machines; k++) {
        const double *x = w->x;
        if (!m->expands) {
            dni_encoder_expand(m->encoder, row, to);
            x = to;
        }
        dni_machine_contributions(m->raw[k], x, to, w->machine_work);
        to += dn_machine_n_scores(m->raw[k]) * m->n_features;
    }
}

static bool wants_densities(const dn_prediction *out) {
    return out->log_density != NULL || out->class_log_density != NULL || out->posterior != NULL;
}

/* Computes the densities of row i, and the posteriors by Bayes' theorem. scores: the scores of the
 * row. */
static void write_densities(const dn_model *m, const struct entries *entries, const double *scores,
                            size_t i, const struct workspace *w, const dn_prediction *out) {
    const size_t K = m->classes.view.n;
    const double *prior = dni_machine_prior(m->raw[0]);
    const bool possible = m->expands
                              ? dni_machine_joint(m->raw[0], w->x, w->joint, w->machine_work)
                              : dni_machine_joint_entries(m->raw[0], entries->parts, 2, w->joint);
    double *posterior = out->posterior == NULL ? NULL : out->posterior + i * K;
    if (out->log_density != NULL) {
        out->log_density[i] = possible ? dni_log_sum(w->joint, K) : -(double)INFINITY;
    }
    for (size_t k = 0; k < K; k++) {
        const double log_prior = log(prior[k]),
                     density = possible ? w->joint[k] - log_prior : -(double)INFINITY;
        if (out->class_log_density != NULL) {
            out->class_log_density[i * K + k] = density;
        }
        if (posterior != NULL) {
            posterior[k] = density + log_prior;
        }
    }
    if (posterior != NULL && possible) {
        dni_softmax(posterior, K, posterior);
    } else if (posterior != NULL) {
        dn_decision_probabilities(m->decision, K, scores, posterior, w->coupling);
    }
}

/* ---- rows ---- */
/* Computes the results of row i from its scores. */
static void write_results(const dn_model *m, const double *scores, bool possible, size_t i,
                          struct workspace *w, const dn_prediction *out) {
    const size_t K = m->classes.view.n;
    const dn_rule *rule = dni_rule_used(m, out->labels, out->rule);
    const bool labelled = out->label != NULL || out->candidates != NULL,
               probable = labelled && dni_labels_need_probabilities(m, out->labels, rule);
    double *p = out->probabilities != NULL ? out->probabilities + i * K : w->joint;
    if (out->probabilities != NULL || out->set != NULL || probable) {
        dni_model_probabilities(m, scores, p, w->coupling);
    }
    const size_t label = labelled ? dni_model_label(m, scores, probable ? p : NULL, rule) : 0;
    if (out->label != NULL) {
        out->label[i] = label;
    }
    if (out->candidates != NULL && label == DN_AMBIGUOUS) {
        dn_decision_candidates(m->decision, K, scores, out->candidates + i * K);
    } else if (out->candidates != NULL) {
        for (size_t k = 0; k < K; k++) {
            out->candidates[i * K + k] = k == label;
        }
    }
    if (out->set != NULL) {
        (void)dn_conformal_set(m->conformal, p, out->set + i * K);
    }
    if (out->distance != NULL) {
        out->distance[i] = distance_of(m, scores, w);
    }
    if (out->out_of_support != NULL) {
        out->out_of_support[i] = !possible;
    }
}

/* Returns the first missing input of row i for precomputed kernels, which need all inputs because
 * a missing value has no substitute; n_inputs if no input is missing. */
static size_t find_missing(const dn_model *m, dn_raw_rows rows, size_t i) {
    size_t j = 0;
    if (!dni_machine_is_precomputed(m->raw[0])) {
        return m->n_inputs;
    }
    while (j < m->n_inputs && !isnan(rows.value[i * m->n_inputs + j])) {
        j++;
    }
    return j;
}

void dn_model_predict_why(const dn_model *m, dn_raw_rows rows, size_t i,
                          char out[DN_MESSAGE_SIZE]) {
    const size_t j = find_missing(m, rows, i);
    if (j < m->n_inputs) {
        (void)snprintf(out, DN_MESSAGE_SIZE,
                       "has no value for \"%.128s\": a precomputed kernel needs the value of K for "
                       "the row and every training row",
                       dn_encoder_input(m->encoder, j)->name);
    } else {
        (void)snprintf(out, DN_MESSAGE_SIZE, "has values so large that its scores overflow");
    }
}

/* Predicts with machines that need encoded rows, tile by tile. */
static size_t predict_tiles(const dn_model *m, dn_raw_rows rows, struct workspace *w,
                            const dn_prediction *out) {
    const size_t S = m->n_scores;
    for (size_t i = 0, n; i < rows.n; i += n) {
        double *scores = out->scores == NULL ? w->scores : out->scores + i * S;
        n = dni_encoded_scores(m, rows, i, scores, w->tile);
        for (size_t r = 0; r < n; r++) {
            if (!dni_model_scores_valid(m, scores + r * S) ||
                find_missing(m, rows, i + r) < m->n_inputs) {
                return i + r;
            }
            write_results(m, scores + r * S, true, i + r, w, out);
        }
    }
    return rows.n;
}

/* Sets out [n] to NaN. out may be NULL. */
static void fill_nan(double *out, size_t n) {
    for (size_t i = 0; out != NULL && i < n; i++) {
        out[i] = (double)NAN;
    }
}

/* Sets the results that the model cannot compute to NaN, and sets of labels to false. Returns the
 * prediction without these results. */
static dn_prediction without_absent_results(const dn_model *m, size_t n, const dn_prediction *out) {
    dn_prediction given = *out;
    if (given.probabilities != NULL && !dn_model_has_probabilities(m)) {
        fill_nan(given.probabilities, n * m->classes.view.n);
        given.probabilities = NULL;
    }
    if (wants_densities(&given) && !dn_model_has_density(m)) {
        fill_nan(given.log_density, n);
        fill_nan(given.class_log_density, n * m->classes.view.n);
        fill_nan(given.posterior, n * m->classes.view.n);
        given.log_density = given.class_log_density = given.posterior = NULL;
    }
    if (given.contributions != NULL && !dn_model_has_contributions(m)) {
        fill_nan(given.contributions, n * m->n_scores * m->n_features);
        given.contributions = NULL;
    }
    if (given.set != NULL && m->conformal == NULL) {
        memset(given.set, 0, n * m->classes.view.n * sizeof *given.set);
        given.set = NULL;
    }
    return given;
}

size_t dn_model_predict(const dn_model *m, dn_raw_rows rows, double *workspace,
                        const dn_prediction *out) {
    const size_t S = m->n_scores;
    struct workspace w = workspace_of(m, workspace);
    struct entries entries = {0};
    const dn_prediction given = without_absent_results(m, rows.n, out);
    out = &given;
    const bool plain = m->linear && m->plain && S == 1, densities = wants_densities(out),
               explained = out->contributions != NULL || densities;
    const bool expanded = m->expands && (!m->linear || explained);
    if (m->encoded) {
        return predict_tiles(m, rows, &w, out);
    }
    for (size_t i = 0; i < rows.n; i++) {
        double *scores = out->scores == NULL ? w.scores : out->scores + i * S;
        bool possible = true;
        if (expanded) {
            dni_encoder_expand(m->encoder, dn_raw_part(rows, m->n_inputs, i, 1), w.x);
        }
        if (m->linear ? explained : !m->expands) {
            entries = entries_of(m, rows, i, &w);
        }
        if (plain) {
            scores[0] = score_plain(m, rows.value + i * m->n_inputs);
        } else if (m->linear) {
            score_row(m, rows, i, &w, scores);
        } else {
            possible = score_machines(m, &entries, &w, scores);
        }
        if (!dni_model_scores_valid(m, scores)) {
            return i;
        }
        write_results(m, scores, possible, i, &w, out);
        if (out->contributions != NULL) {
            contributions_of(m, dn_raw_part(rows, m->n_inputs, i, 1), &entries, &w,
                             out->contributions + i * S * m->n_features);
        }
        if (densities) {
            write_densities(m, &entries, scores, i, &w, out);
        }
    }
    return rows.n;
}

/* Computes the coordinates of row i, other than scores. */
static void coordinates_of(const dn_model *m, dn_coordinates coordinates, dn_raw_rows rows,
                           size_t i, const struct workspace *w, double *out) {
    const size_t d = m->n_features;
    if (coordinates == DN_COORDINATES_BASIS) {
        dni_encoder_expand(m->encoder, dn_raw_part(rows, m->n_inputs, i, 1), out);
    } else if (coordinates == DN_COORDINATES_HIDDEN) {
        const struct entries entries = entries_of(m, rows, i, w);
        dni_machine_hidden(m->raw[0], entries.parts, 2, out, w->machine_work);
    } else {
        dni_encoder_expand(m->encoder, dn_raw_part(rows, m->n_inputs, i, 1), w->x);
        for (size_t c = 0; c < m->raw[0]->n_components; c++) {
            out[c] = dni_dot(m->raw[0]->projection + c * d, w->x, d);
        }
    }
}

size_t dn_model_transform(const dn_model *m, dn_coordinates coordinates, dn_raw_rows rows,
                          double *workspace, double *out) {
    const struct workspace w = workspace_of(m, workspace);
    const size_t n = dn_model_n_components(m, coordinates);
    if (coordinates == DN_COORDINATES_SCORES) {
        const dn_prediction scores = {.scores = out};
        return dn_model_predict(m, rows, workspace, &scores);
    }
    for (size_t i = 0; i < rows.n; i++) {
        coordinates_of(m, coordinates, rows, i, &w, out + i * n);
        if (!dni_all_finite(out + i * n, n)) {
            return i;
        }
    }
    return rows.n;
}
