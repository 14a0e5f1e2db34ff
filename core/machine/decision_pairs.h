/* The machines and scores of one versus one: a machine for each pair of classes i < j, in the order
 * (0,1), (0,2) … (1,2) …. A positive score favours class j. */
#ifndef DNI_DECISION_PAIRS_H
#define DNI_DECISION_PAIRS_H

#include <discern/decision.h>

/* Returns whether the decision rule has a machine for each pair of classes. False for two classes,
 * where every rule has one machine. */
bool dni_decision_is_pairwise(dn_decision decision, size_t n_classes);

/* Returns the index of the machine for the classes i and j, i != j, of K classes. */
static inline size_t dni_pair_index(size_t K, size_t i, size_t j) {
    const size_t low = i < j ? i : j, high = i < j ? j : i;
    return low * (2 * K - low - 1) / 2 + (high - low - 1);
}

#endif
