/* The pool. Its queue has no limit: a job is part of a call, and the number of connections limits
 * that of calls. */
#include "http/call/pool.h"
#include "base/clock.h"
#include "http/timer_thread.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void add(struct pool_queue *queue, struct pool_job *job) {
    job->next = NULL;
    *queue->last = job;
    queue->last = &job->next;
}

/* Removes the oldest job that may run now. NULL: there is none. */
static struct pool_job *take(struct pool *pool) {
    const struct pool_job *quick = pool->short_ones.first, *slow = pool->lasting.first;
    const bool room = pool->n_lasting + 1 < pool->n_alive || pool->n_lasting == 0;
    const bool lasting = slow != NULL && room && (quick == NULL || slow->number < quick->number);
    struct pool_queue *queue = lasting ? &pool->lasting : &pool->short_ones;
    struct pool_job *job = queue->first;
    if (job == NULL) {
        return NULL;
    }
    queue->first = job->next;
    if (queue->first == NULL) {
        queue->last = &queue->first;
    }
    job->next = NULL;
    return job;
}

static void *pool_main(void *arg) {
    struct pool *pool = arg;
    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        struct pool_job *job;
        while ((job = take(pool)) == NULL && !pool->stop) {
            (void)pthread_cond_wait(&pool->wake, &pool->lock);
        }
        if (job == NULL) { /* the threads that run lasting jobs also run the queued ones */
            break;
        }
        const bool lasting = job->lasting; /* `run` may free the job */
        pool->n_lasting += lasting;
        (void)pthread_mutex_unlock(&pool->lock);
        job->run(job);
        (void)pthread_mutex_lock(&pool->lock);
        pool->n_lasting -= lasting;
        if (lasting && pool->lasting.first != NULL) { /* this thread may take another job */
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
    pool->short_ones.last = &pool->short_ones.first;
    pool->lasting.last = &pool->lasting.first;
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

void pool_push(struct pool *pool, struct pool_job *job) {
    (void)pthread_mutex_lock(&pool->lock);
    job->number = pool->pushed++;
    add(job->lasting ? &pool->lasting : &pool->short_ones, job);
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
