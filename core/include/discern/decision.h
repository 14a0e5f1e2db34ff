/* From scores to a class: how the scores of one or many machines become a decision among K classes (ALGORITHMS.md, "From two classes to K").
 *
 * With two classes every rule but the last is the same: one score g, g > 0 chooses the second class.
 *   native               K scores, the greatest chooses, the lowest index among equals
 *   one versus rest      K machines of two classes, class k against all others (k positive): the greatest score chooses
 *   … strict             a class is chosen only when it alone is claimed (score > 0); with K − 1 machines the last class is what none claims
 *   one versus one       K(K−1)/2 machines, (0,1), (0,2) … (K−2,K−1); the machine of i < j has j positive. Votes; among equals the greatest Σ_j g_ij, then the lower index
 *   … strict             a class is chosen only when it wins all its K − 1 pairs
 *   outlier              of two classes, inlier and outlier: one score f, positive inside; f < −threshold (machine.h) chooses the second
 * Where a strict rule chooses none, the point is ambiguous. Bishop, PRML, section 4.1.2; Duda, Hart and Stork, section 5.2.2. */
#ifndef DISCERN_DECISION_H
#define DISCERN_DECISION_H

#include <discern/api.h>
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
    DN_DECISION_OUTLIER
} dn_decision;

#define DN_AMBIGUOUS SIZE_MAX /* as a label: no class */

/* How many machines decide among K classes. SIZE_MAX on overflow. */
size_t dn_decision_n_machines(dn_decision decision, size_t n_classes);
/* How many scores they have together. */
size_t dn_decision_n_scores(dn_decision decision, size_t n_classes);
/* The classes of machine i: positive against negative; *out_negative SIZE_MAX: against all others. A native machine's: SIZE_MAX both. */
void dn_decision_machine(
    dn_decision decision, size_t n_classes, size_t i, size_t *out_negative, size_t *out_positive);

/* The class that the scores [n_scores] choose, or DN_AMBIGUOUS. Outlier: with threshold 0. */
size_t dn_decision_label(dn_decision decision, size_t n_classes, const double *scores);
/* candidates[K] ← the classes that come into question: the chosen one alone; for an ambiguous point those claimed by their machines (one versus one: with most
 * pairs won), or all when none is. Returns how many. */
size_t dn_decision_candidates(dn_decision decision,
                              size_t n_classes,
                              const double *scores,
                              bool *candidates);
/* Whether log-odds scores give probabilities under the rule: all but K − 1 machines, and outliers. */
bool dn_decision_has_probabilities(dn_decision decision, size_t n_classes);
/* Doubles of `work` that dn_decision_probabilities needs. */
size_t dn_decision_work(dn_decision decision, size_t n_classes);
/* p[K] of scores that are log-odds. Native: sigmoid or softmax; one versus rest σ(g_i)/Σσ(g_j); one versus one: pairwise coupling
 * (Wu, Lin and Weng, JMLR 5, 2004, second method: section 4.2 and algorithm 2). O(K) and O(K²) a round. */
void dn_decision_probabilities(
    dn_decision decision, size_t n_classes, const double *scores, double *p, double *work);
/* How calibrated log-odds become probabilities: one machine's K scores, each of them then a class against the rest, as one versus rest. */
static inline dn_decision dn_calibrated_decision(dn_decision decision) {
    return decision == DN_DECISION_NATIVE ? DN_DECISION_ONE_VS_REST : decision;
}
/* m[K] ← a value for each class by which rows can be ranked and margins taken (g_true − max other): scores of native and one versus rest;
 * false, m untouched, for the others. Two classes: −g/2 and g/2, so that their difference is g; outlier: the other way round. */
bool dn_decision_class_scores(dn_decision decision,
                              size_t n_classes,
                              const double *scores,
                              double *m);

DN_END_DECLS

#endif
