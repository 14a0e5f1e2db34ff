/* Chooses training rows by a random order that does not depend on the share. */
#include "task/split_share.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

size_t dni_split_shuffle(const double *stratum, size_t n_rows, const dn_run *run, size_t *order) {
    dni_random random;
    size_t n = 0;
    for (size_t i = 0; i < n_rows; i++) {
        if (!isnan(stratum[i])) {
            order[n++] = i;
        }
    }
    dni_random_init(&random, run->seed, DNI_STREAM_SHARES);
    dni_random_shuffle(&random, order, n);
    return n;
}

void dni_split_share(const size_t *order, size_t n, const double *stratum, size_t n_strata,
                     double share, size_t *count, uint8_t *role) {
    size_t *all = count, *kept = count + n_strata;
    memset(count, 0, 2 * n_strata * sizeof *count);
    for (size_t i = 0; i < n; i++) {
        all[(size_t)stratum[order[i]]] += role[order[i]] == DN_ROW_TRAIN;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t row = order[i], k = (size_t)stratum[row];
        if (role[row] != DN_ROW_TRAIN) {
            continue;
        }
        if ((double)kept[k] < ceil(share * (double)all[k])) {
            kept[k]++;
        } else {
            role[row] = DN_ROW_SKIP;
        }
    }
}
