/* Stratified holdout and folds.
 *
 * The number of rows to hold out is allotted to the classes by largest remainder: each class gets
 * the integer part of its share, and the rows that are left go one by one to the classes with the
 * largest fractional parts. The seed orders classes with equal fractional parts.
 *
 * The holdout uses selection sampling within each class: a row is selected with probability
 * (number of rows still to select) / (number of remaining rows of the class). This selects exactly
 * the required number of rows in one pass without a list of rows. Knuth, The Art of Computer
 * Programming, volume 2, algorithm 3.4.2 S.
 *
 * The folds use a list of the rows, sorted by class. Within each class the rows are shuffled
 * (algorithm 3.4.2 P), and row i of the list is assigned to fold i mod n_folds. Classes of one row
 * are not in the list. */
#include "task/split.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

/* A class and its share of the rows to hold out. */
struct quota {
    size_t class_index;
    size_t rank;      /* random: orders classes with equal remainders */
    double remainder; /* fractional part of the share */
};

static int compare_quotas(const void *a, const void *b) {
    const struct quota *x = a, *y = b;
    return x->remainder != y->remainder
               ? (x->remainder < y->remainder) - (x->remainder > y->remainder)
               : (x->rank > y->rank) - (x->rank < y->rank);
}

/* held[k] ← the number of rows of class k to hold out, for rows[k] rows. A class with rows keeps at
 * least one. quotas [n_classes] is working memory. */
static void allot(const size_t *rows, size_t n_classes, double holdout, uint64_t seed, size_t *held,
                  struct quota *quotas) {
    size_t n = 0, allotted = 0;
    dni_random random;
    dni_random_init(&random, seed, DNI_STREAM_HOLDOUT_TIES);
    for (size_t k = 0; k < n_classes; k++) {
        held[k] = k; /* `held` first stores a permutation of the classes */
        n += rows[k];
    }
    dni_random_shuffle(&random, held, n_classes);
    for (size_t i = 0; i < n_classes; i++) {
        quotas[held[i]] = (struct quota){.class_index = held[i], .rank = i};
    }
    for (size_t k = 0; k < n_classes; k++) {
        const double share = (double)rows[k] * holdout;
        held[k] = rows[k] == 0 ? 0 : share < (double)(rows[k] - 1) ? (size_t)share : rows[k] - 1;
        quotas[k].remainder = share - floor(share);
        allotted += held[k];
    }
    qsort(quotas, n_classes, sizeof *quotas, compare_quotas);
    const size_t wanted = (size_t)floor((double)n * holdout + 0.5);
    for (size_t i = 0; i < n_classes && allotted < wanted; i++) {
        const size_t k = quotas[i].class_index;
        if (held[k] + 1 < rows[k]) {
            held[k]++;
            allotted++;
        }
    }
}

dn_status dni_split_holdout(const double *target, size_t n_rows, size_t n_classes, double holdout,
                            const dn_run *run, uint8_t *role, dni_split *out, dn_error *err) {
    void *memory, *quotas;
    dn_status status =
        dn_run_alloc(run, 2 * n_classes, sizeof(size_t), "the counts of the classes", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_alloc(run, n_classes, sizeof(struct quota), "the counts of the classes",
                          &quotas, err);
    if (status != DN_OK) {
        dn_run_free(run, memory);
        return status;
    }
    size_t *left = memory; /* [n_classes] rows of the class that were not visited yet */
    size_t *to_hold_out =
        left + n_classes; /* [n_classes] number of rows in `left` still to hold out */
    dni_split split = {0};
    dni_random random;
    dni_random_init(&random, run->seed, DNI_STREAM_HOLDOUT);
    for (size_t i = 0; i < n_rows; i++) {
        if (!isnan(target[i])) {
            left[(size_t)target[i]]++;
        }
    }
    allot(left, n_classes, holdout, run->seed, to_hold_out, quotas);
    for (size_t i = 0; i < n_rows; i++) {
        if (isnan(target[i])) {
            role[i] = DN_ROW_SKIP;
            split.n_skipped++;
            continue;
        }
        size_t k = (size_t)target[i];
        bool drawn = to_hold_out[k] > 0 && dni_random_below(&random, left[k]) < to_hold_out[k];
        left[k]--;
        to_hold_out[k] -= drawn;
        role[i] = drawn ? DN_ROW_VALIDATE : DN_ROW_TRAIN;
        split.n_train += !drawn;
        split.n_validation += drawn;
    }
    dn_run_free(run, quotas);
    dn_run_free(run, memory);
    *out = split;
    return DN_OK;
}

/* Writes the indices of the rows that have a class to `row`, sorted by class. ends[k] is 0 on
 * entry; on return it is the end of class k in `row`. */
static void sort_rows(const double *target, size_t n_rows, size_t n_classes, size_t *ends,
                      size_t *row) {
    for (size_t i = 0; i < n_rows; i++) {
        if (!isnan(target[i])) {
            ends[(size_t)target[i]]++;
        }
    }
    for (size_t k = 0, first = 0; k < n_classes; k++) { /* ends[k] ← first element of class k */
        size_t n = ends[k];
        ends[k] = first;
        first += n;
    }
    for (size_t i = 0; i < n_rows; i++) {
        if (!isnan(target[i])) {
            row[ends[(size_t)target[i]]++] = i;
        }
    }
}

dn_status dni_split_folds(const double *target, size_t n_rows, size_t n_classes, size_t n_folds,
                          uint64_t stream, const dn_run *run, uint16_t *fold, dn_error *err) {
    void *memory;
    dn_status status = dn_run_alloc(run, n_classes + n_rows, sizeof(size_t),
                                    "the rows of the folds", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    size_t *ends = memory, *row = ends + n_classes;
    dni_random random;
    dni_random_init(&random, run->seed, stream);
    sort_rows(target, n_rows, n_classes, ends, row);
    for (size_t k = 0, first = 0; k < n_classes; first = ends[k++]) {
        dni_random_shuffle(&random, row + first, ends[k] - first);
    }
    for (size_t i = 0; i < n_rows; i++) {
        fold[i] = (uint16_t)n_folds;
    }
    for (size_t k = 0, first = 0, next = 0; k < n_classes; first = ends[k++]) {
        for (size_t i = first; i < ends[k] && ends[k] - first > 1; i++, next++) {
            fold[row[i]] = (uint16_t)(next % n_folds);
        }
    }
    dn_run_free(run, memory);
    return DN_OK;
}

double dni_split_folds_memory(size_t n_rows, double later) {
    return (double)n_rows * sizeof(uint16_t) + fmax((double)n_rows * sizeof(size_t), later);
}
