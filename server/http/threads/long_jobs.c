/* Long jobs in turns. */
#include "http/threads/long_jobs.h"
#include "base/process/clock.h"
#include "http/timer_thread.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURN_NS 20000000     /* ns; a turn lasts this long if other clients wait */
#define FURTHER_FOR_A_TURN 3 /* jobs that may have begun beside the first one of their bucket */
#define MOST_RETRY_S 60      /* s; the longest time in Retry-After */

/* The state of a job that has begun; on the stack of its thread. */
struct long_turn {
    pthread_cond_t wake; /* `granted` was set */
    bool granted;        /* guarded by the lock of the long jobs */
    int64_t since_ns;    /* monotonic time at which the turn began; used by the job's thread */
};

static void *long_main(void *arg);

/* Starts an idle thread. The caller holds the lock. */
static bool start_thread(struct long_jobs *l) {
    if (pthread_create(&l->threads[l->n_threads], NULL, long_main, l) != 0) {
        return false;
    }
    l->n_threads++;
    l->n_alive++;
    l->n_idle++;
    return true;
}

/* Bits of the buckets that have a job that may compute next. The first job of a bucket may always
 * begin: there are threads for the first job of each bucket and for n_further others. The caller
 * holds the lock. */
static uint64_t candidates(const struct long_jobs *l) {
    uint64_t buckets = l->paused.filled;
    const bool has_thread = l->n_idle > 0 || !l->no_thread;
    for (unsigned b = 0; b < FAIR_BUCKETS && has_thread; b++) {
        const bool may_begin = l->begun[b] == 0 || (l->begun[b] < l->share &&
                                                    l->n_further < l->n_turns * FURTHER_FOR_A_TURN);
        buckets |= l->fresh.first[b] != NULL && may_begin ? UINT64_C(1) << b : 0;
    }
    return buckets;
}

/* Lets the first fresh job of the bucket begin. Returns false if no thread can be started; a thread
 * whose job ends tries again. The caller holds the lock. */
static bool begin_job(struct long_jobs *l, unsigned bucket) {
    if (l->n_idle == 0 && !start_thread(l)) {
        l->no_thread = true;
        return false;
    }
    struct pool_job *job = fair_pop(&l->fresh, UINT64_C(1) << bucket);
    l->n_further += l->begun[bucket] > 0;
    l->begun[bucket]++;
    l->n_idle--;
    job->next = l->ready;
    l->ready = job;
    (void)pthread_cond_signal(&l->wake);
    return true;
}

/* Gives the free turns. A client with a paused job continues it before it begins another. The
 * caller holds the lock. */
static void give_turns(struct long_jobs *l) {
    l->no_thread = false;
    for (uint64_t open; l->n_running < l->n_turns && (open = candidates(l)) != 0;) {
        while ((open >> l->next & 1) == 0) {
            l->next = (l->next + 1) % FAIR_BUCKETS;
        }
        struct pool_job *job = fair_pop(&l->paused, UINT64_C(1) << l->next);
        if (job != NULL) {
            job->turn->granted = true;
            (void)pthread_cond_signal(&job->turn->wake);
        } else if (!begin_job(l, l->next)) {
            continue; /* no fresh job is a candidate now */
        }
        l->n_running++;
        l->next = (l->next + 1) % FAIR_BUCKETS;
    }
    atomic_store_explicit(&l->n_waiting, l->fresh.n + l->paused.n, memory_order_relaxed);
}

void long_yield(struct long_jobs *l, struct pool_job *job) {
    struct long_turn *turn = job->turn;
    if (turn == NULL || atomic_load_explicit(&l->n_waiting, memory_order_relaxed) == 0 ||
        clock_monotonic_ns() - turn->since_ns < TURN_NS) {
        return;
    }
    (void)pthread_mutex_lock(&l->lock);
    if ((candidates(l) & ~(UINT64_C(1) << fair_bucket(job))) != 0) {
        turn->granted = false;
        fair_push(&l->paused, job);
        l->n_running--;
        give_turns(l);
        while (!turn->granted) {
            (void)pthread_cond_wait(&turn->wake, &l->lock);
        }
    }
    turn->since_ns = clock_monotonic_ns();
    (void)pthread_mutex_unlock(&l->lock);
}

/* Runs a ready job, without the lock, which the caller holds. */
static void run_ready(struct long_jobs *l) {
    struct pool_job *job = l->ready;
    struct long_turn turn = {.wake = PTHREAD_COND_INITIALIZER, .since_ns = clock_monotonic_ns()};
    const int64_t began = turn.since_ns;
    const unsigned bucket = fair_bucket(job); /* `run` may free the job */
    l->ready = job->next;
    job->next = NULL;
    job->turn = &turn;
    (void)pthread_mutex_unlock(&l->lock);
    job->run(job);
    (void)pthread_mutex_lock(&l->lock);
    (void)pthread_cond_destroy(&turn.wake);
    l->mean_s += ((double)(clock_monotonic_ns() - began) * 1e-9 - l->mean_s) / 8;
    l->begun[bucket]--;
    l->n_further -= l->begun[bucket] > 0;
    l->n_running--;
    l->n_idle++;
    give_turns(l);
    if (l->stop) {
        (void)pthread_cond_broadcast(&l->wake); /* this job may have been the last */
    }
}

static void *long_main(void *arg) {
    struct long_jobs *l = arg;
    (void)pthread_mutex_lock(&l->lock);
    for (;;) {
        while (l->ready == NULL && !(l->stop && l->fresh.n == 0)) {
            (void)pthread_cond_wait(&l->wake, &l->lock);
        }
        if (l->ready == NULL) {
            break;
        }
        run_ready(l);
    }
    l->n_idle--;
    l->n_alive--;
    (void)pthread_cond_signal(&l->ended);
    (void)pthread_mutex_unlock(&l->lock);
    return NULL;
}

unsigned long_push(struct long_jobs *l, struct pool_job *job, bool refusable) {
    unsigned after_s = 0;
    const unsigned bucket = fair_bucket(job);
    job->turn = NULL;
    (void)pthread_mutex_lock(&l->lock);
    if (refusable && (l->fresh.n >= l->limit || l->fresh.count[bucket] >= (l->limit + 3) / 4)) {
        const double wait_s = l->mean_s * (double)(l->fresh.n + 1) / (double)l->n_turns;
        after_s = wait_s < MOST_RETRY_S ? 1 + (unsigned)wait_s : MOST_RETRY_S;
    } else {
        fair_push(&l->fresh, job);
        give_turns(l);
    }
    (void)pthread_mutex_unlock(&l->lock);
    return after_s;
}

/* ---- start and stop ---- */

static bool init_locks(struct long_jobs *l) {
    if (pthread_mutex_init(&l->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&l->wake, NULL) == 0) {
        if (monotonic_cond_init(&l->ended)) {
            return true;
        }
        (void)pthread_cond_destroy(&l->wake);
    }
    (void)pthread_mutex_destroy(&l->lock);
    return false;
}

bool long_start(struct long_jobs *l, size_t n_turns, size_t limit) {
    memset(l, 0, sizeof *l);
    l->n_turns = l->share = n_turns;
    l->limit = limit;
    l->threads = calloc(FAIR_BUCKETS + n_turns * FURTHER_FOR_A_TURN, sizeof *l->threads);
    if (l->threads == NULL) {
        return false;
    }
    if (!init_locks(l)) {
        free(l->threads);
        l->threads = NULL;
        return false;
    }
    bool good = true;
    (void)pthread_mutex_lock(&l->lock);
    while (good && l->n_threads < n_turns && l->n_threads < FAIR_BUCKETS) {
        good = start_thread(l);
    }
    (void)pthread_mutex_unlock(&l->lock);
    if (!good) {
        (void)long_stop(l, INT64_MAX);
    }
    return good;
}

bool long_stop(struct long_jobs *l, int64_t patience_ns) {
    if (l->threads == NULL) {
        return true;
    }
    const int64_t now = clock_monotonic_ns();
    const int64_t until = patience_ns < INT64_MAX - now ? now + patience_ns : INT64_MAX;
    const struct timespec end = {.tv_sec = (time_t)(until / 1000000000),
                                 .tv_nsec = (long)(until % 1000000000)};
    (void)pthread_mutex_lock(&l->lock);
    l->stop = true;
    (void)pthread_cond_broadcast(&l->wake);
    while (l->n_alive > 0 && pthread_cond_timedwait(&l->ended, &l->lock, &end) == 0) {
        continue;
    }
    const bool over = l->n_alive == 0;
    (void)pthread_mutex_unlock(&l->lock);
    if (!over) {
        return false;
    }
    for (size_t i = 0; i < l->n_threads; i++) {
        (void)pthread_join(l->threads[i], NULL);
    }
    (void)pthread_cond_destroy(&l->ended);
    (void)pthread_cond_destroy(&l->wake);
    (void)pthread_mutex_destroy(&l->lock);
    free(l->threads);
    l->threads = NULL;
    return true;
}
