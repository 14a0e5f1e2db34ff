/* A queue of jobs that takes turns between clients. Clients share FAIR_BUCKETS queues by a hash of
 * their key; the queues are served in turn, each in the order of arrival. Two clients with the same
 * hash share their turns. Source: McKenney, "Stochastic Fairness Queueing", INFOCOM 1990. */
#ifndef HTTP_FAIR_QUEUE_H
#define HTTP_FAIR_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#define FAIR_BUCKETS 64

struct pool_job {
    struct pool_job *next;             /* the next job of the queue */
    void (*run)(struct pool_job *job); /* may free the job's memory */
    uint64_t client;                   /* key of the client, a random hash */
    struct long_turn *turn;            /* used by long_jobs.c; NULL: the job does not run there */
};

struct fair_queue {
    struct pool_job *first[FAIR_BUCKETS], *last[FAIR_BUCKETS];
    size_t count[FAIR_BUCKETS];
    uint64_t filled; /* bit b: bucket b has a job */
    unsigned next;   /* the bucket that is served next */
    size_t n;        /* jobs */
};

static inline unsigned fair_bucket(const struct pool_job *job) {
    return (unsigned)(job->client % FAIR_BUCKETS);
}
void fair_push(struct fair_queue *queue, struct pool_job *job);
/* Removes the first job of the next bucket whose bit is set in `buckets`. NULL: there is none. */
struct pool_job *fair_pop(struct fair_queue *queue, uint64_t buckets);

#endif
