/* A queue of jobs that takes turns between clients. */
#include "http/threads/fair_queue.h"

void fair_push(struct fair_queue *q, struct pool_job *job) {
    const unsigned b = fair_bucket(job);
    job->next = NULL;
    if (q->first[b] == NULL) {
        q->first[b] = job;
        q->filled |= UINT64_C(1) << b;
    } else {
        q->last[b]->next = job;
    }
    q->last[b] = job;
    q->count[b]++;
    q->n++;
}

struct pool_job *fair_pop(struct fair_queue *q, uint64_t buckets) {
    const uint64_t open = q->filled & buckets;
    if (open == 0) {
        return NULL;
    }
    unsigned b = q->next;
    while ((open >> b & 1) == 0) {
        b = (b + 1) % FAIR_BUCKETS;
    }
    struct pool_job *job = q->first[b];
    q->first[b] = job->next;
    if (job->next == NULL) {
        q->last[b] = NULL;
        q->filled &= ~(UINT64_C(1) << b);
    }
    q->count[b]--;
    q->n--;
    q->next = (b + 1) % FAIR_BUCKETS;
    job->next = NULL;
    return job;
}
