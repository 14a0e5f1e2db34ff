/* The order of trials, and the choice of the winner. */
#ifndef DNI_SEARCH_RANK_H
#define DNI_SEARCH_RANK_H

#include <discern/search.h>

/* Sorts trials by rank (dn_trial_compare).
 *
 *   smaller  true: smaller values of the metric are better */
void dni_search_sort(dn_trial *trials, size_t n, bool smaller);

/* Returns the index in `trials` of the best candidate by the rule, without the combination.
 * `trials` are sorted, and the trial of some candidate succeeded. */
size_t dni_search_choose(const dn_trial *trials, size_t n, const dn_candidate *candidates,
                         size_t n_candidates, dn_search_rule rule, bool smaller);
/* Returns true if the combination is better than the best candidate by more than the standard error
 * of the latter. */
bool dni_search_combination_wins(const dn_trial *trials, size_t n_candidates);

#endif
