/* The order of trials under a time limit. */
#include "search/search_order.h"

static bool is_better(const dni_search_order *o, size_t a, size_t b) {
    return o->tried[a] &&
           (!o->tried[b] || dn_trial_compare(&o->trials[a], &o->trials[b], o->smaller) < 0);
}

size_t dni_search_leaders(const dni_search_order *o, const size_t *list, size_t n,
                          size_t *leaders) {
    size_t n_leaders = 0;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first; end < n && o->family[list[end]] == o->family[list[first]];) {
            end++;
        }
        size_t leader = list[(first + end) / 2], at = n_leaders++;
        for (size_t i = first; i < end; i++) {
            leader = is_better(o, list[i], leader) ? list[i] : leader;
        }
        for (; at > 0 && is_better(o, leader, leaders[at - 1]); at--) {
            leaders[at] = leaders[at - 1];
        }
        leaders[at] = leader;
    }
    return n_leaders;
}

void dni_search_arrange(const dni_search_order *o, const size_t *list, size_t n,
                        const size_t *leaders, size_t n_leaders, size_t *out) {
    for (size_t l = 0; l < n_leaders; l++) {
        const size_t family = o->family[leaders[l]];
        size_t low = 0, high = n;
        while (low < high) { /* the first candidate of the family */
            const size_t middle = (low + high) / 2;
            if (o->family[list[middle]] < family) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for (; low < n && o->family[list[low]] == family; low++) {
            *out++ = list[low];
        }
    }
}
