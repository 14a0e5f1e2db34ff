/* Stratified holdout: rows of a class in their order, each drawn with the chance that leaves exactly the wanted number (selection sampling,
 * Knuth, The Art of Computer Programming, volume 2, algorithm 3.4.2 S): one pass, no list of rows. */
#include "evaluate/split.h"
#include "optimize/random.h"

#include <math.h>

dn_status dni_split_holdout(const double *target, size_t n_rows, size_t n_classes, double holdout, const dn_run *run, uint8_t *role,
                            dni_split *out, dn_error *err) {
    void *memory;
    dn_status status = dn_run_alloc(run, 2 * n_classes, sizeof(size_t), "the counts of the classes", &memory, err);
    if (status != DN_OK)
        return status;
    size_t *left = memory, *wanted = left + n_classes; /* rows of the class not yet met, and how many of them are still to be held out */
    dni_split split = {0};
    dni_random random;
    dni_random_init(&random, run->seed, 4);
    for (size_t i = 0; i < n_rows; i++)
        if (!isnan(target[i]))
            left[(size_t)target[i]]++;
    for (size_t k = 0; k < n_classes; k++) {
        wanted[k] = (size_t)floor((double)left[k] * holdout + 0.5);
        if (left[k] > 0 && wanted[k] > left[k] - 1)
            wanted[k] = left[k] - 1;
    }
    for (size_t i = 0; i < n_rows; i++) {
        if (isnan(target[i])) {
            role[i] = DN_ROW_SKIP;
            split.n_skipped++;
            continue;
        }
        size_t k = (size_t)target[i];
        bool drawn = wanted[k] > 0 && dni_random_below(&random, left[k]) < wanted[k];
        left[k]--;
        wanted[k] -= drawn;
        role[i] = drawn ? DN_ROW_VALIDATE : DN_ROW_TRAIN;
        split.n_train += !drawn;
        split.n_validation += drawn;
    }
    dn_run_free(run, memory);
    *out = split;
    return DN_OK;
}
