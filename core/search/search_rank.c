/* Ranks trials by share, success and mean. */
#include "search/search_rank.h"
#include "catalogue/param_step.h"

#include <math.h>
#include <stdlib.h>

/* The key of a trial, and its place in the order. */
static int compare(const dn_trial *x, const dn_trial *y, double sign) {
    const bool failed_x = x->status != DN_OK, failed_y = y->status != DN_OK;
    if (failed_x != failed_y) {
        return failed_x - failed_y;
    }
    if (x->share != y->share) {
        return x->share > y->share ? -1 : 1;
    }
    if (!failed_x && x->mean != y->mean) {
        return sign * x->mean < sign * y->mean ? -1 : 1;
    }
    return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

static int compare_losses(const void *a, const void *b) {
    return compare(a, b, 1);
}

static int compare_gains(const void *a, const void *b) {
    return compare(a, b, -1);
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
                         dn_search_rule rule, bool smaller) {
    size_t chosen = 0;
    const dn_trial *best = &trials[0];
    for (size_t i = 1; rule == DN_SEARCH_ONE_STANDARD_ERROR && i < n; i++) {
        const dn_trial *t = &trials[i];
        const double worse = smaller ? t->mean - best->mean : best->mean - t->mean;
        if (t->status == DN_OK && t->share == best->share && worse <= best->error &&
            is_simpler(t, &trials[chosen], candidates)) {
            chosen = i;
        }
    }
    return chosen;
}
