/* The pool. Its queue needs no bound of its own: a job is part of a call, and calls are bounded by connections. */
#include "http/pool.h"
#include <stdlib.h>
#include <string.h>

static void *pool_main(void *arg) {
    struct pool *pool = arg;
    (void)pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->first == NULL && !pool->stop)
            (void)pthread_cond_wait(&pool->wake, &pool->lock);
        struct pool_job *job = pool->first;
        if (job == NULL)
            break;
        pool->first = job->next;
        if (pool->first == NULL)
            pool->last = &pool->first;
        (void)pthread_mutex_unlock(&pool->lock);
        job->next = NULL;
        job->run(job);
        (void)pthread_mutex_lock(&pool->lock);
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

bool pool_start(struct pool *pool, size_t n_threads) {
    memset(pool, 0, sizeof *pool);
    pool->last = &pool->first;
    pool->threads = calloc(n_threads, sizeof *pool->threads);
    if (pool->threads == NULL)
        return false;
    if (pthread_mutex_init(&pool->lock, NULL) != 0) {
        free(pool->threads);
        pool->threads = NULL;
        return false;
    }
    if (pthread_cond_init(&pool->wake, NULL) != 0) {
        (void)pthread_mutex_destroy(&pool->lock);
        free(pool->threads);
        pool->threads = NULL;
        return false;
    }
    while (pool->n_threads < n_threads && pthread_create(&pool->threads[pool->n_threads], NULL, pool_main, pool) == 0)
        pool->n_threads++;
    if (pool->n_threads == n_threads)
        return true;
    pool_stop(pool);
    return false;
}

void pool_push(struct pool *pool, struct pool_job *job) {
    job->next = NULL;
    (void)pthread_mutex_lock(&pool->lock);
    *pool->last = job;
    pool->last = &job->next;
    (void)pthread_cond_signal(&pool->wake);
    (void)pthread_mutex_unlock(&pool->lock);
}

void pool_stop(struct pool *pool) {
    if (pool->threads == NULL)
        return;
    (void)pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    (void)pthread_cond_broadcast(&pool->wake);
    (void)pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_threads; i++)
        (void)pthread_join(pool->threads[i], NULL);
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    pool->threads = NULL;
}
