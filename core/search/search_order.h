/* The order of trials under a time limit: from every family of candidates one, then the others of
 * the family with the best trial, of the second best, and so on. */
#ifndef DNI_SEARCH_ORDER_H
#define DNI_SEARCH_ORDER_H

#include <discern/search.h>

/* What is known of the candidates. A family is a run of candidates with the same method and
 * features. */
typedef struct dni_search_order {
    const size_t *family;   /* [n_candidates] number of the family, ascending */
    const dn_trial *trials; /* [n_candidates] valid where `tried` */
    const bool *tried;      /* [n_candidates] */
    bool smaller;           /* smaller values of the metric are better */
} dni_search_order;

/* leaders ← from each family with candidates in list [n] the candidate with the best trial, or the
 * middle one if none was tried. The list ascends. Leaders with better trials come first, those
 * without a trial last, in the order of the list. Returns their number. */
size_t dni_search_leaders(const dni_search_order *order, const size_t *list, size_t n,
                          size_t *leaders);
/* out [n] ← the candidates of list [n], family by family in the order of the leaders [n_leaders].
 * The list ascends, and so do the candidates of each family in `out`, as paths do. */
void dni_search_arrange(const dni_search_order *order, const size_t *list, size_t n,
                        const size_t *leaders, size_t n_leaders, size_t *out);

#endif
