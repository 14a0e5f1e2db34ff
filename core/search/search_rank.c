/* Ranks trials by share, success and mean. */
#include "search/search_rank.h"
#include "catalogue/param_step.h"

#include <math.h>
#include <stdlib.h>

/* Means that are better come first, undefined ones last. */
static int compare_means(double x, double y, bool smaller) {
    if (isnan(x) || isnan(y)) {
        return (int)isnan(x) - (int)isnan(y);
    }
    const int order = (x > y) - (x < y);
    return smaller ? order : -order;
}

int dn_trial_compare(const dn_trial *a, const dn_trial *b, bool smaller) {
    const bool failed_a = a->status != DN_OK, failed_b = b->status != DN_OK;
    if (failed_a != failed_b) {
        return failed_a - failed_b;
    }
    if (a->share != b->share) {
        return a->share > b->share ? -1 : 1;
    }
    const int order = failed_a ? 0 : compare_means(a->mean, b->mean, smaller);
    return order != 0 ? order : (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

static int compare_losses(const void *a, const void *b) {
    return dn_trial_compare(a, b, true);
}

static int compare_gains(const void *a, const void *b) {
    return dn_trial_compare(a, b, false);
}

void dni_search_sort(dn_trial *trials, size_t n, bool smaller) {
    if (n > 1) {
        qsort(trials, n, sizeof *trials, smaller ? compare_losses : compare_gains);
    }
}

/* Returns true if `a` is simpler than `b`. */
static bool is_simpler(const dn_trial *a, const dn_trial *b, const dn_candidate *candidates) {
    const dn_params *p = candidates[a->candidate].params, *q = candidates[b->candidate].params;
    const size_t step = dni_params_step(p, q);
    return step != SIZE_MAX ? dni_params_simpler(p, q, step) : a->bytes < b->bytes;
}

size_t dni_search_choose(const dn_trial *trials, size_t n, const dn_candidate *candidates,
                         size_t n_candidates, dn_search_rule rule, bool smaller) {
    /* the combination is the only trial that may precede the best candidate */
    const size_t first = trials[0].candidate == n_candidates;
    const dn_trial *best = &trials[first];
    size_t chosen = first;
    for (size_t i = first + 1; rule == DN_SEARCH_ONE_STANDARD_ERROR && i < n; i++) {
        const dn_trial *t = &trials[i];
        const double worse = smaller ? t->mean - best->mean : best->mean - t->mean;
        if (t->status == DN_OK && t->candidate < n_candidates && t->share == best->share &&
            worse <= best->error && is_simpler(t, &trials[chosen], candidates)) {
            chosen = i;
        }
    }
    return chosen;
}

bool dni_search_combination_wins(const dn_trial *trials, size_t n_candidates) {
    return trials[0].candidate == n_candidates &&
           fabs(trials[0].mean - trials[1].mean) > trials[1].error;
}
