/* Stratified holdout and folds.
 *
 * The holdout uses selection sampling within each class: a row is selected with probability
 * (number of rows still to select) / (number of remaining rows of the class). This selects exactly
 * the required number of rows in one pass without a list of rows. Knuth, The Art of Computer
 * Programming, volume 2, algorithm 3.4.2 S.
 *
 * The folds use a list of the rows, sorted by class. Within each class the rows are shuffled
 * (algorithm 3.4.2 P), and row i of the list is assigned to fold i mod n_folds. */
#include "task/split.h"
#include "base/random.h"

#include <math.h>

dn_status dni_split_holdout(const double *target, size_t n_rows, size_t n_classes, double holdout,
                            const dn_run *run, uint8_t *role, dni_split *out, dn_error *err) {
    void *memory;
    dn_status status =
        dn_run_alloc(run, 2 * n_classes, sizeof(size_t), "the counts of the classes", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    size_t *left = memory; /* [n_classes] rows of the class that were not visited yet */
    size_t *to_hold_out =
        left + n_classes; /* [n_classes] how many of the rows in `left` to hold out */
    dni_split split = {0};
    dni_random random;
    dni_random_init(&random, run->seed, DNI_STREAM_HOLDOUT);
    for (size_t i = 0; i < n_rows; i++) {
        if (!isnan(target[i])) {
            left[(size_t)target[i]]++;
        }
    }
    for (size_t k = 0; k < n_classes; k++) {
        to_hold_out[k] = (size_t)floor((double)left[k] * holdout + 0.5);
        if (left[k] > 0 && to_hold_out[k] > left[k] - 1) {
            to_hold_out[k] = left[k] - 1;
        }
    }
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
                          const dn_run *run, uint16_t *fold, dn_error *err) {
    void *memory;
    dn_status status = dn_run_alloc(run, n_classes + n_rows, sizeof(size_t),
                                    "the rows of the folds", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    size_t *ends = memory, *row = ends + n_classes;
    dni_random random;
    dni_random_init(&random, run->seed, DNI_STREAM_FOLDS);
    sort_rows(target, n_rows, n_classes, ends, row);
    for (size_t k = 0, first = 0; k < n_classes; first = ends[k++]) {
        dni_random_shuffle(&random, row + first, ends[k] - first);
    }
    for (size_t i = 0; i < n_rows; i++) {
        fold[i] = 0;
    }
    for (size_t i = 0; i < (n_classes > 0 ? ends[n_classes - 1] : 0); i++) {
        fold[row[i]] = (uint16_t)(i % n_folds);
    }
    dn_run_free(run, memory);
    return DN_OK;
}

double dni_split_folds_memory(size_t n_rows, double later) {
    return (double)n_rows * sizeof(uint16_t) + fmax((double)n_rows * sizeof(size_t), later);
}
