/* The pool. Its queue has no limit: a job is part of a call, and the number of connections limits
 * that of calls. */
#include "http/threads/pool.h"
#include "base/process/clock.h"
#include "http/timer_thread.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_IN_A_ROW 8 /* short jobs that are taken while a lasting one could be */

/* Removes the next job that may run now. NULL: there is none. */
static struct pool_job *take(struct pool *pool, bool *lasting) {
    const bool room = pool->n_lasting + 1 < pool->n_alive || pool->n_lasting == 0;
    *lasting = room && pool->lasting.n > 0 &&
               (pool->short_ones.n == 0 || pool->n_in_a_row >= MOST_IN_A_ROW);
    pool->n_in_a_row = *lasting ? 0 : pool->n_in_a_row + 1;
    return fair_pop(*lasting ? &pool->lasting : &pool->short_ones, UINT64_MAX);
}

static void *pool_main(void *arg) {
    struct pool *pool = arg;
    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct pool_job *job;
        bool lasting;
        while ((job = take(pool, &lasting)) == NULL && !pool->stop) {
            (void)pthread_cond_wait(&pool->wake, &pool->lock);
        }
        if (job == NULL) { /* the threads that run lasting jobs also run the queued ones */
            break;
        }
        pool->n_lasting += lasting;
        (void)pthread_mutex_unlock(&pool->lock);
        job->run(job);
        (void)pthread_mutex_lock(&pool->lock);
        pool->n_lasting -= lasting;
        if (lasting && pool->lasting.n > 0) { /* this thread may take another job */
            (void)pthread_cond_signal(&pool->wake);
        }
    }
    pool->n_alive--;
    (void)pthread_cond_signal(&pool->ended);
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool init_locks(struct pool *pool) {
    if (pthread_mutex_init(&pool->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&pool->wake, NULL) == 0) {
        if (monotonic_cond_init(&pool->ended)) {
            return true;
        }
        (void)pthread_cond_destroy(&pool->wake);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    return false;
}

bool pool_start(struct pool *pool, size_t n_threads) {
    memset(pool, 0, sizeof *pool);
    pool->threads = calloc(n_threads, sizeof *pool->threads);
    if (pool->threads == NULL) {
        return false;
    }
    if (!init_locks(pool)) {
        free(pool->threads);
        pool->threads = NULL;
        return false;
    }
    pool->n_alive = n_threads;
    while (pool->n_threads < n_threads &&
           pthread_create(&pool->threads[pool->n_threads], NULL, pool_main, pool) == 0) {
        pool->n_threads++;
    }
    if (pool->n_threads == n_threads) {
        return true;
    }
    (void)pthread_mutex_lock(&pool->lock);
    pool->n_alive -= n_threads - pool->n_threads;
    (void)pthread_mutex_unlock(&pool->lock);
    (void)pool_stop(pool, INT64_MAX);
    return false;
}

void pool_push(struct pool *pool, struct pool_job *job, bool lasting) {
    job->turn = NULL;
    (void)pthread_mutex_lock(&pool->lock);
    fair_push(lasting ? &pool->lasting : &pool->short_ones, job);
    (void)pthread_cond_signal(&pool->wake);
    (void)pthread_mutex_unlock(&pool->lock);
}

bool pool_stop(struct pool *pool, int64_t patience_ns) {
    if (pool->threads == NULL) {
        return true;
    }
    int64_t now = clock_monotonic_ns();
    int64_t until = patience_ns < INT64_MAX - now ? now + patience_ns : INT64_MAX;
    const struct timespec end = {.tv_sec = (time_t)(until / 1000000000),
                                 .tv_nsec = (long)(until % 1000000000)};
    (void)pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    (void)pthread_cond_broadcast(&pool->wake);
    while (pool->n_alive > 0 && pthread_cond_timedwait(&pool->ended, &pool->lock, &end) == 0) {
        continue;
    }
    bool over = pool->n_alive == 0;
    (void)pthread_mutex_unlock(&pool->lock);
    if (!over) {
        return false;
    }
    for (size_t i = 0; i < pool->n_threads; i++) {
        (void)pthread_join(pool->threads[i], NULL);
    }
    (void)pthread_cond_destroy(&pool->ended);
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    pool->threads = NULL;
    return true;
}
