/* Threads for long jobs, which compute for more than some ms. As many of them compute at a time as
 * there are turns. A job that has had its turn for TURN_NS gives it to a waiting job of another
 * client at its next long_yield, and waits on its thread for the next turn. So a client's long job
 * waits for one slice of each other client's, not for its end.
 *
 * A bucket of clients has a thread for its first job, however many other jobs have begun. It may
 * have `share` jobs that have begun if fewer than three for each turn are further ones. So there
 * are at most FAIR_BUCKETS + 3 × n_turns threads; most of them wait. A thread is started when a job
 * begins and none is idle, and then stays. Does not depend on calls. */
#ifndef HTTP_LONG_JOBS_H
#define HTTP_LONG_JOBS_H

#include "http/threads/fair_queue.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct long_jobs {
    pthread_mutex_t lock;     /* guards all below */
    pthread_cond_t wake;      /* a job is ready, or `stop` was set */
    pthread_cond_t ended;     /* a thread has ended */
    struct fair_queue fresh;  /* jobs that have not begun */
    struct fair_queue paused; /* jobs that have begun and wait for a turn */
    size_t begun[FAIR_BUCKETS];
    size_t n_further;         /* jobs that have begun beside another one of their bucket */
    unsigned next;            /* the bucket that gets the next turn */
    size_t n_turns;           /* jobs that compute at a time */
    size_t n_running;         /* jobs that have a turn */
    bool no_thread;           /* a thread could not be started */
    size_t n_idle;            /* threads without a job, without those that `ready` has jobs for */
    struct pool_job *ready;   /* jobs that have a turn, and no thread yet; linked by next */
    size_t share;             /* jobs of a bucket that may have begun */
    size_t limit;             /* fresh jobs; a quarter of them for each bucket */
    double mean_s;            /* mean duration of a job, in s */
    _Atomic size_t n_waiting; /* jobs in both queues */
    pthread_t *threads;
    size_t n_threads; /* threads that were started */
    size_t n_alive;   /* threads that have not ended */
    bool stop;
};

/* n_turns: jobs that compute at a time. limit: jobs that wait. */
bool long_start(struct long_jobs *jobs, size_t n_turns, size_t limit);
/* Queues the job, whose memory must live until it has run. refusable: the job is refused if the
 * queue is full; the result is then 0 or, for a refused job, the seconds after which the client may
 * try again. */
unsigned long_push(struct long_jobs *jobs, struct pool_job *job, bool refusable);
/* To be called by a long job between two slices of its work, on its thread: may give the turn to
 * another job, and return with a later turn. */
void long_yield(struct long_jobs *jobs, struct pool_job *job);
/* As pool_stop. */
bool long_stop(struct long_jobs *jobs, int64_t patience_ns);

#endif
