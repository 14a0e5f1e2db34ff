/* The threads of the module: workers and reporter. A worker claims a job, trains it, and claims
 * again. Without a job it waits for jobs_poke, at most LOOK_SECONDS. */
#include "jobs/jobs.h"

#include "base/log/log.h"
#include "base/process/clock.h"
#include "jobs/mailbox.h"
#include "jobs/training.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOOK_SECONDS 1 /* seconds; longest wait of a worker between two claims */
#define REPORT_MS 500  /* ms between two deliveries of progress, which also renew leases */
#define PRUNE_EVERY 60 /* number of reports between two prunings of ended jobs */
#define STUCK_MS 60000 /* default of settings.stuck_ms */

struct worker {
    struct jobs *jobs;
    pthread_t thread;
    struct mailbox mailbox;
    int64_t alive_ns; /* when the reporter last saw the worker alive; guarded by the lock of jobs */
};

struct jobs {
    struct store *store;
    struct jobs_settings settings;
    struct worker *workers;
    size_t n_workers; /* number of started threads */
    pthread_t reporter;
    bool reporter_started;
    bool joined;          /* the workers were joined; used by the thread that stops the module */
    pthread_mutex_t lock; /* guards the members below; a leaf */
    pthread_cond_t work, tick, ended; /* ended: n_ended has changed */
    size_t n_ended;                   /* number of workers whose loop has ended */
    unsigned pokes;                   /* number of calls of jobs_poke */
    int64_t reported_ns;              /* when the reporter last looked at the workers */
    bool open, draining, stopping;
};

static void deadline_in(struct timespec *ts, int64_t ms) {
    clock_gettime(CLOCK_MONOTONIC, ts);
    ts->tv_sec += ms / 1000;
    ts->tv_nsec += ms % 1000 * 1000000;
    if (ts->tv_nsec >= 1000000000) {
        ts->tv_sec++;
        ts->tv_nsec -= 1000000000;
    }
}

/* Claims and runs one job. Returns false if no job could be claimed. */
static bool work_once(struct worker *me) {
    struct jobs *j = me->jobs;
    struct store_job job;
    struct problem problem = {0};
    bool found = false;
    if (!store_job_claim(j->store, j->settings.attempts, &job, &found, &problem)) {
        log_error("job.claim", log_str("detail", problem.detail));
        problem_done(&problem);
        return false;
    }
    if (!found) {
        return false;
    }
    training_run(j->store, &j->settings, &job, &me->mailbox);
    if (job.attempts > 1) {
        jobs_poke(j); /* jobs that crashed wait for one another */
    }
    store_job_done(&job);
    return true;
}

static void *worker_main(void *arg) {
    struct worker *me = arg;
    struct jobs *j = me->jobs;
    unsigned seen = 0;
    for (;;) {
        pthread_mutex_lock(&j->lock);
        while (!j->open && !j->draining) {
            pthread_cond_wait(&j->work, &j->lock);
        }
        bool over = j->draining;
        mailbox_beat(&me->mailbox);
        seen = j->pokes;
        pthread_mutex_unlock(&j->lock);
        if (over) {
            break;
        }
        if (work_once(me)) {
            continue;
        }
        struct timespec until;
        deadline_in(&until, LOOK_SECONDS * 1000);
        pthread_mutex_lock(&j->lock);
        while (j->pokes == seen && !j->draining &&
               pthread_cond_timedwait(&j->work, &j->lock, &until) != ETIMEDOUT)
            ;
        pthread_mutex_unlock(&j->lock);
    }
    pthread_mutex_lock(&j->lock);
    j->n_ended++;
    pthread_cond_broadcast(&j->ended);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* Deletes ended jobs beyond --keep-jobs. */
static void prune(struct jobs *j) {
    struct problem problem = {0};
    if (j->settings.keep_jobs > 0 && !store_job_prune(j->store, j->settings.keep_jobs, &problem)) {
        log_warn("job.prune", log_str("detail", problem.detail));
    }
    problem_done(&problem);
}

/* Notes which workers are not stuck. A worker that waits for jobs_open is not. The lock is held. */
static void look_at_workers(struct jobs *j) {
    j->reported_ns = clock_monotonic_ns();
    for (size_t i = 0; i < (size_t)j->settings.workers; i++) {
        if (mailbox_take_beat(&j->workers[i].mailbox) || !j->open) {
            j->workers[i].alive_ns = j->reported_ns;
        }
    }
}

static void *reporter_main(void *arg) {
    struct jobs *j = arg;
    bool stopping = false;
    for (unsigned reports = 0; !stopping; reports++) {
        if (reports % PRUNE_EVERY == 0) {
            prune(j);
        }
        struct timespec until;
        deadline_in(&until, REPORT_MS);
        pthread_mutex_lock(&j->lock);
        while (!j->stopping && pthread_cond_timedwait(&j->tick, &j->lock, &until) != ETIMEDOUT)
            ;
        stopping = j->stopping;
        look_at_workers(j);
        pthread_mutex_unlock(&j->lock);
        for (size_t i = 0; i < (size_t)j->settings.workers; i++) {
            mailbox_deliver(&j->workers[i].mailbox, j->store);
        }
    }
    return NULL;
}

static void init_conditions(struct jobs *j) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->work, &attr);
    pthread_cond_init(&j->tick, &attr);
    pthread_cond_init(&j->ended, &attr);
    pthread_condattr_destroy(&attr);
}

bool jobs_start(struct store *store, const struct jobs_settings *settings, struct jobs **out,
                struct problem *problem) {
    struct jobs *j = calloc(1, sizeof *j);
    if (j) {
        j->workers = calloc((size_t)settings->workers + 1, sizeof *j->workers);
    }
    if (!j || !j->workers) {
        free(j);
        return problem_no_memory(problem);
    }
    j->store = store;
    j->settings = *settings;
    if (j->settings.train_threads <= 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        j->settings.train_threads = cores > 0 ? cores : 1;
    }
    if (j->settings.stuck_ms <= 0) {
        j->settings.stuck_ms = STUCK_MS;
    }
    init_conditions(j);
    j->reported_ns = clock_monotonic_ns();
    for (size_t i = 0; i < (size_t)settings->workers; i++) {
        j->workers[i].jobs = j;
        j->workers[i].alive_ns = j->reported_ns;
        mailbox_init(&j->workers[i].mailbox);
    }
    bool good = pthread_create(&j->reporter, NULL, reporter_main, j) == 0;
    j->reporter_started = good;
    for (size_t i = 0; good && i < (size_t)settings->workers; i++) {
        good = pthread_create(&j->workers[i].thread, NULL, worker_main, &j->workers[i]) == 0;
        if (good) {
            j->n_workers++;
        }
    }
    if (!good) {
        jobs_stop(j);
        return problem_set(problem, PROBLEM_INTERNAL, "cannot start %lld workers",
                           (long long)settings->workers);
    }
    *out = j;
    return true;
}

void jobs_open(struct jobs *j) {
    pthread_mutex_lock(&j->lock);
    j->open = true;
    pthread_cond_broadcast(&j->work);
    pthread_mutex_unlock(&j->lock);
}

void jobs_poke(struct jobs *j) {
    pthread_mutex_lock(&j->lock);
    j->pokes++;
    pthread_cond_broadcast(&j->work);
    pthread_mutex_unlock(&j->lock);
}

bool jobs_healthy(struct jobs *j, struct jobs_health *out) {
    const int64_t now = clock_monotonic_ns(), limit = j->settings.stuck_ms * 1000000;
    int64_t longest = 0;
    out->stuck = 0;
    pthread_mutex_lock(&j->lock);
    const int64_t unseen = now - j->reported_ns > limit ? now - j->reported_ns : 0;
    for (size_t i = 0; i < j->n_workers; i++) {
        const int64_t silent = unseen > 0 ? unseen : now - j->workers[i].alive_ns;
        out->stuck += silent > limit;
        longest = silent > longest ? silent : longest;
    }
    pthread_mutex_unlock(&j->lock);
    out->since = out->stuck > 0 ? clock_real_ms() - longest / 1000000 : 0;
    return out->stuck == 0;
}

void jobs_drain(struct jobs *j) {
    pthread_mutex_lock(&j->lock);
    j->draining = true;
    pthread_cond_broadcast(&j->work);
    pthread_mutex_unlock(&j->lock);
    for (size_t i = 0; i < (size_t)j->settings.workers; i++) {
        mailbox_stop(&j->workers[i].mailbox, STOP_DRAIN);
    }
}

/* Called by the thread that starts and stops the module. */
static void join_workers(struct jobs *j) {
    for (size_t i = 0; i < j->n_workers && !j->joined; i++) {
        pthread_join(j->workers[i].thread, NULL);
    }
    j->joined = true;
}

bool jobs_await_drain(struct jobs *j, int64_t timeout_ms) {
    struct timespec until;
    deadline_in(&until, timeout_ms);
    pthread_mutex_lock(&j->lock);
    while (j->n_ended < j->n_workers &&
           pthread_cond_timedwait(&j->ended, &j->lock, &until) != ETIMEDOUT)
        ;
    const bool all = j->n_ended == j->n_workers;
    pthread_mutex_unlock(&j->lock);
    if (all) {
        join_workers(j);
    }
    return all;
}

void jobs_stop(struct jobs *j) {
    if (!j) {
        return;
    }
    jobs_drain(j);
    join_workers(j);
    pthread_mutex_lock(&j->lock);
    j->stopping = true;
    pthread_cond_broadcast(&j->tick);
    pthread_mutex_unlock(&j->lock);
    if (j->reporter_started) {
        pthread_join(j->reporter, NULL);
    }
    for (size_t i = 0; i < (size_t)j->settings.workers; i++) {
        mailbox_done(&j->workers[i].mailbox);
    }
    pthread_cond_destroy(&j->work);
    pthread_cond_destroy(&j->tick);
    pthread_cond_destroy(&j->ended);
    pthread_mutex_destroy(&j->lock);
    free(j->workers);
    free(j);
}

struct jobs_limits jobs_limits(const struct jobs *j) {
    return (struct jobs_limits){.seconds = j->settings.seconds,
                                .memory_bytes = j->settings.memory_bytes,
                                .threads = j->settings.train_threads,
                                .ranks = j->settings.ranks,
                                .ranks_above = j->settings.ranks_above};
}
