/* A fixed pool of threads that run jobs in order. Jobs that may last wait while all threads but one
 * run such, so that short ones behind them never wait for long. Knows nothing of calls. */
#ifndef HTTP_POOL_H
#define HTTP_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool_job {
    struct pool_job *next;             /* the pool's while queued */
    void (*run)(struct pool_job *job); /* may free the job's memory */
    bool lasting;                      /* it may compute for long */
    uint64_t number;                   /* the pool's: in the order of arrival */
};
struct pool_queue {
    struct pool_job *first, **last;
};
struct pool {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;  /* a job was queued, or stop */
    pthread_cond_t ended; /* a thread has */
    struct pool_queue short_ones, lasting;
    uint64_t pushed;  /* jobs so far */
    size_t n_lasting; /* that run */
    pthread_t *threads;
    size_t n_threads; /* of them */
    size_t n_alive;   /* that have not come to their end */
    bool stop;
};
bool pool_start(struct pool *pool, size_t n_threads);
void pool_push(struct pool *pool, struct pool_job *job); /* the job is the caller's memory and must
                                                            live until it has run; once at a time */
/* Runs what is queued, joins. false: a job still runs after patience_ns, nothing was freed; may be
 * called again. */
bool pool_stop(struct pool *pool, int64_t patience_ns);

#endif
