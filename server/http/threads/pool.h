/* A fixed pool of threads that run jobs, those of different clients in turn. At most all threads but
 * one run lasting jobs at the same time, so that short jobs never wait for long. Does not depend on
 * calls. */
#ifndef HTTP_POOL_H
#define HTTP_POOL_H

#include "http/threads/fair_queue.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;  /* a job was queued, or `stop` was set */
    pthread_cond_t ended; /* a thread has ended */
    struct fair_queue short_ones, lasting;
    unsigned n_in_a_row; /* short jobs that were taken since the last lasting one */
    size_t n_lasting;    /* lasting jobs that run now */
    pthread_t *threads;
    size_t n_threads; /* threads that were started */
    size_t n_alive;   /* threads that have not ended */
    bool stop;
};
bool pool_start(struct pool *pool, size_t n_threads);
/* Queues the job, whose memory must live until it has run. A job is queued once at a time. lasting:
 * it may run for some ms. */
void pool_push(struct pool *pool, struct pool_job *job, bool lasting);
/* Runs the queued jobs, and joins the threads. Returns false if a job still runs after patience_ns:
 * nothing was freed, and the function may be called again. */
bool pool_stop(struct pool *pool, int64_t patience_ns);

#endif
