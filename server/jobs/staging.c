/* Staging the bytes of a model in chunks of 4 MiB, and its predictions of held-out rows. One chunk is queued at a time, so the additional
 * memory is one chunk. */
#include "jobs/staging.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STAGING_CHUNK ((size_t)4 << 20)

/* A wait for the `done` of a chunk. */
struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool done;
    struct problem problem;
};

static void staged(void *arg, const struct problem *problem) {
    struct waiter *w = arg;
    pthread_mutex_lock(&w->lock);
    if (problem) {
        problem_copy(&w->problem, problem);
    }
    w->done = true;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->lock);
}

/* Stages a chunk and waits for its commit. Returns false after setting w->problem. */
static bool stage_chunk(struct store *store, int64_t part, int64_t chunk, int64_t n_rows,
                        const void *bytes, size_t n, struct waiter *w) {
    struct store_blob blob = {malloc(n ? n : 1), n};
    if (!blob.bytes) {
        return problem_no_memory(&w->problem);
    }
    memcpy(blob.bytes, bytes, n);
    w->done = false;
    store_part_append(store, part, chunk, n_rows, &blob, 1, staged, w);
    pthread_mutex_lock(&w->lock);
    while (!w->done) {
        pthread_cond_wait(&w->cond, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return w->problem.type == PROBLEM_NONE;
}

/* Stages the predictions from chunk number `chunk` on. *out: their bytes. */
static bool stage_predictions(struct store *store, int64_t part, int64_t chunk,
                              const struct held_out_source *source, int64_t *out,
                              struct waiter *w) {
    struct buf bytes = {0};
    bool good = true;
    *out = 0;
    for (size_t first = 0; good && source->rows != NULL && first < source->rows->n; chunk++) {
        buf_clear(&bytes);
        const size_t n = held_out_chunk_write(source, first, &bytes);
        good = bytes.failed
                   ? problem_no_memory(&w->problem)
                   : stage_chunk(store, part, chunk, (int64_t)n, bytes.data, bytes.size, w);
        *out += (int64_t)bytes.size;
        first += n;
    }
    buf_done(&bytes);
    return good;
}

bool staging_write(struct store *store, const struct store_claim *claim,
                   const struct staging_model *model, int64_t *out_part, int64_t *out_predictions,
                   struct problem *problem) {
    struct waiter w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    int64_t part = store_part_begin(store, claim), chunk = 0, predictions = 0;
    bool good = true;
    for (size_t at = 0; good && at < model->size; at += STAGING_CHUNK, chunk++) {
        size_t n = model->size - at < STAGING_CHUNK ? model->size - at : STAGING_CHUNK;
        good = stage_chunk(store, part, chunk, 0, (const char *)model->bytes + at, n, &w);
    }
    good = good && stage_predictions(store, part, chunk, &model->held_out, &predictions, &w);
    if (good) {
        *out_part = part;
        *out_predictions = predictions;
    } else {
        store_part_drop(store, part);
        problem_move(problem, &w.problem);
    }
    pthread_cond_destroy(&w.cond);
    pthread_mutex_destroy(&w.lock);
    return good;
}
