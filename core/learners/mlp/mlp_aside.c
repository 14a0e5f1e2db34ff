/* Rows kept aside, from which nothing is learned: their loss tells when to stop. */
#include "base/random.h"
#include "learners/mlp/mlp_fit.h"

#include <math.h>
#include <string.h>

/* The rows that weigh something, class after class. */
struct piles {
    size_t *row; /* [n_rows] */
    size_t *
        start; /* [n_classes + 1] of each class's in `row`; while they are counted, one place further on */
};

/* Calls for every row that weighs something: counts its class, or puts it on its pile. */
static dn_status walk(const dn_rows *rows, const dn_run *run, const struct piles *piles, bool put,
                      dn_error *err) {
    for (size_t i = 0; i < rows->n_blocks; i++) {
        dn_block block;
        dn_status status = dn_run_stop(run, err);
        if (status == DN_OK) {
            status = dn_rows_block(rows, i, 0, &block, err);
        }
        if (status != DN_OK) {
            return status;
        }
        for (size_t t = 0; t < block.x.n_rows; t++) {
            size_t *at = &piles->start[(size_t)block.target[t] + 1];
            if (block.weight != NULL && !(block.weight[t] > 0)) {
                continue;
            }
            if (put) {
                piles->row[*at] = block.first_row + t;
            }
            ++*at;
        }
    }
    return DN_OK;
}

static dn_status sort_rows(const dn_rows *rows, size_t K, const dn_run *run,
                           const struct piles *piles, dn_error *err) {
    dn_status status = walk(rows, run, piles, false, err);
    size_t before = 0;
    for (size_t k = 0; k < K; k++) { /* counts become places */
        const size_t n = piles->start[k + 1];
        piles->start[k + 1] = before;
        before += n;
    }
    return status == DN_OK ? walk(rows, run, piles, true, err) : status; /* … and places ends */
}

dn_status dni_mlp_keep_aside(const dn_rows *rows, size_t n_classes, double share, const dn_run *run,
                             bool *aside, size_t *out_n, dn_error *err) {
    void *memory = NULL;
    dn_status status = dn_run_alloc(run, rows->n_rows + n_classes + 1, sizeof(size_t),
                                    "the rows of each class", &memory, err);
    if (status != DN_OK) {
        return status;
    }
    const struct piles piles = {(size_t *)memory + n_classes + 1, memory};
    dni_random random;
    size_t total = 0;
    dni_random_init(&random, run->seed, DNI_MLP_STREAM_ASIDE);
    status = sort_rows(rows, n_classes, run, &piles, err);
    for (size_t k = 0; status == DN_OK && k < n_classes; k++) {
        size_t *own = piles.row + piles.start[k], n = piles.start[k + 1] - piles.start[k];
        size_t kept = (size_t)round(share * (double)n);
        kept = kept < n ? kept : n > 0 ? n - 1 : 0;
        dni_random_shuffle(&random, own, n);
        for (size_t i = 0; i < kept; i++) {
            aside[own[i]] = true;
        }
        total += kept;
    }
    dn_run_free(run, memory);
    if (status == DN_OK) {
        *out_n = total;
    }
    return status;
}
