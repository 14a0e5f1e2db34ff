/* Staging the bytes of a model in chunks of 4 MiB. One chunk is queued at a time, so the additional
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
static bool stage_chunk(struct store *store, int64_t part, int64_t chunk, const void *bytes,
                        size_t n, struct waiter *w) {
    struct store_blob blob = {malloc(n ? n : 1), n};
    if (!blob.bytes) {
        return problem_no_memory(&w->problem);
    }
    memcpy(blob.bytes, bytes, n);
    w->done = false;
    store_part_append(store, part, chunk, 0, &blob, 1, staged, w);
    pthread_mutex_lock(&w->lock);
    while (!w->done) {
        pthread_cond_wait(&w->cond, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return w->problem.type == PROBLEM_NONE;
}

bool staging_write(struct store *store, const struct store_claim *claim, const void *bytes,
                   size_t size, int64_t *out_part, struct problem *problem) {
    struct waiter w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    int64_t part = store_part_begin(store, claim), chunk = 0;
    bool good = true;
    for (size_t at = 0; good && at < size; at += STAGING_CHUNK, chunk++) {
        size_t n = size - at < STAGING_CHUNK ? size - at : STAGING_CHUNK;
        good = stage_chunk(store, part, chunk, (const char *)bytes + at, n, &w);
    }
    if (good) {
        *out_part = part;
    } else {
        store_part_drop(store, part);
        problem_move(problem, &w.problem);
    }
    pthread_cond_destroy(&w.cond);
    pthread_mutex_destroy(&w.lock);
    return good;
}
