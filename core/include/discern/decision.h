/* Decision rules: from the scores of one or more machines to one of K classes.
 *
 * Bishop, PRML, section 4.1.2; Duda, Hart and Stork, section 5.2.2.
 *
 * Two classes, all rules but the closed rule and the outlier rule: one score g. The second class is
 * chosen if g > 0.
 *
 *   native               K scores. The class with the greatest score is chosen; among equal
 *                        scores the lowest index
 *   one versus rest      K machines of two classes. Class k is positive in machine k, all other
 *                        classes are negative. The class with the greatest score is chosen
 *   … closed             as one versus rest; of two classes the second is chosen if g >= 0. Then
 *                        the first class has the open half-space (Bishop, PRML, equation 4.53)
 *   … strict             machine k claims class k if its score is > 0. A class is chosen if it is
 *                        the only class that is claimed. With K − 1 machines the last class is
 *                        chosen if no class is claimed
 *   one versus one       K(K−1)/2 machines in the order (0,1), (0,2) … (K−2,K−1). In the machine of
 *                        i < j class j is positive. The class with the most pairs won is chosen;
 *                        among equals the greatest Σ_j g_ij, then the lowest index
 *   … strict             a class is chosen if it wins all its K − 1 pairs
 *   outlier              two classes, inlier and outlier. One score f, positive for inliers. The
 *                        second class is chosen if f < −threshold (machine.h)
 *
 * A point is ambiguous if a strict rule chooses no class.
 *
 * All functions are thread-safe. They neither allocate nor check their arguments. */
#ifndef DISCERN_DECISION_H
#define DISCERN_DECISION_H

#include <discern/api.h>
#include <discern/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

DN_BEGIN_DECLS

typedef enum dn_decision {
    DN_DECISION_NATIVE,
    DN_DECISION_ONE_VS_REST,
    DN_DECISION_ONE_VS_REST_STRICT,
    DN_DECISION_ALL_BUT_ONE_VS_REST_STRICT, /* K − 1 machines */
    DN_DECISION_ONE_VS_ONE,
    DN_DECISION_ONE_VS_ONE_STRICT,
    DN_DECISION_OUTLIER,
    DN_DECISION_ONE_VS_REST_CLOSED /* two classes: the second class is chosen if g >= 0 */
} dn_decision;

#define DN_AMBIGUOUS SIZE_MAX /* label of an ambiguous point */

/* Returns the number of machines for K classes. SIZE_MAX: the number overflows. */
size_t dn_decision_n_machines(dn_decision decision, size_t n_classes);
/* Returns the total number of scores of all machines. */
size_t dn_decision_n_scores(dn_decision decision, size_t n_classes);
/* Returns the positive and the negative class of machine i.
 *
 *   *out_negative SIZE_MAX   all other classes are negative
 *   both SIZE_MAX            a native machine, or the machine of a model with two classes */
void dn_decision_machine(
    dn_decision decision, size_t n_classes, size_t i, size_t *out_negative, size_t *out_positive);

/* Returns the class chosen by the scores [n_scores], or DN_AMBIGUOUS. The outlier rule uses
 * threshold 0. */
size_t dn_decision_label(dn_decision decision, size_t n_classes, const double *scores);
/* Marks the candidate classes in candidates [K] and returns their number.
 *
 * The chosen class is the only candidate. For an ambiguous point the candidates are the claimed
 * classes (one versus one: the classes with the most pairs won), or all classes if none is claimed.
 * The outlier rule uses threshold 0. */
size_t dn_decision_candidates(dn_decision decision,
                              size_t n_classes,
                              const double *scores,
                              bool *candidates);
/* Returns true if the rule can compute probabilities from log-odds scores. False for the outlier
 * rule, and for K − 1 machines unless K = 2. */
bool dn_decision_has_probabilities(dn_decision decision, size_t n_classes);
/* Returns the number of doubles that dn_decision_probabilities needs in `work`; 0 for most
 * rules. */
size_t dn_decision_work(dn_decision decision, size_t n_classes);
/* Computes p [K] from scores that are log-odds.
 *
 *   two classes       sigmoid
 *   native            softmax
 *   one versus rest   σ(g_i)/Σσ(g_j); softmax if all g_i < −30
 *   one versus one    pairwise coupling (Wu, Lin and Weng, JMLR 5, 2004, second method: section 4.2
 *                     and algorithm 2)
 *
 * `work` has dn_decision_work doubles. Requires dn_decision_has_probabilities. Cost: O(K); one
 * versus one O(K²) per iteration. */
void dn_decision_probabilities(
    dn_decision decision, size_t n_classes, const double *scores, double *p, double *work);
/* Returns the rule that computes probabilities from calibrated log-odds. Each of the K scores of a
 * native machine is calibrated for its class against the rest; these log-odds are combined as in
 * one versus rest. */
static inline dn_decision dn_calibrated_decision(dn_decision decision) {
    return decision == DN_DECISION_NATIVE ? DN_DECISION_ONE_VS_REST : decision;
}
/* Returns true if the rule has class scores (dn_decision_class_scores). */
bool dn_decision_has_class_scores(dn_decision decision, size_t n_classes);
/* Computes one score per class, m [K], for ranking rows and for margins (g_true − max other).
 *
 *   two classes               −g/2 and g/2, whose difference is g. Outlier rule: f/2 and −f/2
 *   native, one versus rest   the scores; also strict one versus rest with K machines
 *   other rules               returns false and leaves m unchanged */
bool dn_decision_class_scores(dn_decision decision,
                              size_t n_classes,
                              const double *scores,
                              double *m);

/* Computes one score per class, m [K], that ranks rows for class k against the rest. The class
 * scores where the rule has them; one versus one: Σ_j g_kj. Returns false and leaves m unchanged
 * for the strict rule with K − 1 machines. */
bool dn_decision_rank_scores(dn_decision decision,
                             size_t n_classes,
                             const double *scores,
                             double *m);

/* ---- labels by probabilities ---- */
/* Rules that choose a label from the probabilities of the classes: a threshold of two classes, the
 * least expected cost, and rejection.
 *
 * With the cost c_jk of label k for a row of class j, label k has the expected cost
 *
 *     R_k = Σ_j p_j c_jk
 *
 * The label is the class with the least R_k; of equal ones the first. If the least R_k is above the
 * level of rejection, the row has no label (Chow's rule: the level is the cost of no label).
 *
 * A threshold t of two classes chooses the positive class if p >= t. It is the rule of the costs
 * with t = c_fp/(c_fp + c_fn), where c_fp is the cost of the positive label for a row of the other
 * class, and c_fn that of the other label for a positive row.
 *
 * Chow, IEEE Transactions on Information Theory 16, 1970. Elkan, The foundations of cost-sensitive
 * learning, IJCAI 2001. Bishop, PRML, section 1.5. Youden, Cancer 3, 1950. */
typedef struct dn_rule {
    size_t n_classes;
    bool by_threshold; /* two classes: `threshold` of the class `positive`; otherwise costs */
    size_t positive;
    double threshold;   /* 0 … 1 */
    const double *cost; /* [K × K] finite, >= 0; row: true class, column: label. NULL: 0 for the
                         * true class and 1 for others */
    bool rejects;       /* with costs: rows whose least expected cost is above `reject` have no
                         * label */
    double reject;      /* >= 0 */
} dn_rule;

/* Returns the class that the rule chooses for the probabilities p [K], or DN_AMBIGUOUS if the row is
 * rejected. Cost: O(K²) with costs. */
size_t dn_rule_label(const dn_rule *rule, const double *p);
/* Returns the cost of a label for a row of class `truth`. label DN_AMBIGUOUS: the level of
 * rejection; 1 if the rule does not reject. A rule by threshold has the costs 0 and 1. */
double dn_rule_cost(const dn_rule *rule, size_t truth, size_t label);

/* What a threshold is chosen for. tp, fp, fn, tn: weights of the rows by truth and label. */
typedef enum dn_rule_goal {
    DN_RULE_F1,       /* 2tp/(2tp + fp + fn) */
    DN_RULE_YOUDEN,   /* tp/(tp + fn) + tn/(tn + fp) − 1 */
    DN_RULE_MCC,      /* Matthews correlation coefficient */
    DN_RULE_ACCURACY, /* (tp + tn)/(tp + fp + fn + tn) */
    DN_RULE_PRECISION /* tp/(tp + fp) >= a bound; the greatest recall tp/(tp + fn) */
} dn_rule_goal;
/* Rows from which a threshold is chosen. They must not be training rows of the models that predict
 * them. */
typedef struct dn_rule_rows {
    size_t n;
    const double *p;      /* [n] probability of the positive class */
    const bool *positive; /* [n] the row is of the positive class */
    const double *weight; /* [n] >= 0; NULL: all 1 */
} dn_rule_rows;
/* Chooses the threshold among the values of p. Of equally good ones it takes the greatest.
 *
 *   least      DN_RULE_PRECISION: the bound
 *   threshold  receives the threshold
 *   value      receives what the goal maximises; DN_RULE_PRECISION: the recall
 *   found      receives whether there is one: a row of each class, and a precision of at least the
 *              bound; otherwise the other two are unchanged
 *
 * O(n log n). DN_ERR_ARGUMENT, DN_ERR_MEMORY. */
DN_MUST_USE dn_status dn_rule_choose(const dn_rule_rows *rows,
                                     dn_rule_goal goal,
                                     double least,
                                     double *threshold,
                                     double *value,
                                     bool *found,
                                     dn_error *err);

/* ---- sets of labels ---- */
/* Conformal prediction: sets of labels that have the true label with a given probability.
 *
 * The score of label k for a row is s_k = 1 − p_k. Calibration rows, which are not training rows of
 * the model that predicts them, have the scores of their true labels. With n calibration rows the
 * threshold is the ⌈(n + 1)·coverage⌉-th smallest score. The set of a row is the labels with
 * s_k <= threshold. If the row and the calibration rows are exchangeable, for instance drawn
 * independently from one distribution, the set has the true label with a probability of at least
 * `coverage`, on average over calibration rows and rows, whatever the model. This is exact for a
 * holdout; for folds, whose models are not the model that predicts new rows, it is approximate
 * (cross-conformal prediction).
 *
 * by_class: the threshold of label k is computed from the calibration rows of class k alone. Then
 * the probability is at least `coverage` for the rows of each class (Mondrian prediction).
 *
 * A set can be empty: then every label has a lower probability than `coverage` asks for. It can
 * have all labels.
 *
 * Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, Springer 2005, sections 2.2
 * and 4.5; Angelopoulos and Bates, Conformal Prediction: A Gentle Introduction, Foundations and
 * Trends in Machine Learning 16, 2023, sections 1 and 4.1; Vovk, Cross-conformal predictors, Annals
 * of Mathematics and Artificial Intelligence 74, 2015. */
typedef struct dn_conformal {
    size_t n_classes;
    double coverage; /* > 0, < 1 */
    bool by_class;
    bool folds;              /* the calibration rows were held out by folds; otherwise by a holdout
                              * or a column of marks */
    const size_t *rows;      /* [K] number of calibration rows of the threshold: all rows, or with
                              * by_class those of the class */
    const double *threshold; /* [K] 0 … 1; all equal unless by_class */
} dn_conformal;

/* Returns ⌈(n + 1)·coverage⌉, the rank of the threshold among n scores. A product that differs from
 * an integer by at most 1e-12 of itself counts as the integer. If the rank is above n, there are too
 * few rows. */
size_t dn_conformal_rank(size_t n, double coverage);
/* Returns the least n with dn_conformal_rank(n, coverage) <= n, for 0 < coverage < 1. */
size_t dn_conformal_least_rows(double coverage);
/* set [K] ← whether label k is in the set of a row with the probabilities p [K]. Returns the number
 * of labels in the set. Cost: O(K). */
size_t dn_conformal_set(const dn_conformal *conformal, const double *p, bool *set);

DN_END_DECLS

#endif
