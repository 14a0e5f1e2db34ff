/* Jobs: the workers of the persistent queue, and training from a stored dataset to a stored model.
 *
 * Threads: `workers` that claim and train, each with train_threads - 1 helpers for sums; one
 * reporter that delivers progress, renews leases and reads cancellations twice a second, so that
 * training does not wait for the store. */
#ifndef JOBS_JOBS_H
#define JOBS_JOBS_H

#include "base/problem.h"
#include "jobs/request/job_request.h"
#include "store/store.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jobs;
struct launcher;
struct jobs_settings {
    int64_t workers;       /* 1 to 256 */
    int64_t train_threads; /* maximum threads of a job; 0: one for each core */
    int64_t memory_bytes;  /* maximum memory of a job (--job-memory) */
    double seconds;        /* maximum duration of a job; 0: no limit */
    int64_t attempts;      /* number of crashes after which a job fails (3) */
    int64_t keep_jobs;     /* number of ended jobs that are kept (10,000) */
    int64_t keep_versions; /* number of versions of a model that are kept; 0: all */
    int64_t stuck_ms;      /* 0: 60,000; see jobs_healthy */
    /* Starts the ranks of a training; must outlive the module. NULL: the daemon trains alone. */
    struct launcher *launcher;
    int64_t ranks, ranks_above; /* as in struct jobs_limits */
    /* Returns the bytes that the owner may have stored (max_bytes of struct store_quota); 0: no
     * limit. Called at the end of a job, on any thread. NULL: no owner has a limit. */
    int64_t (*max_bytes)(void *arg, const char *owner);
    void *max_bytes_arg;
};
/* Starts the threads. No job is claimed before jobs_open. */
bool jobs_start(struct store *store, const struct jobs_settings *settings, struct jobs **out,
                struct problem *problem);
void jobs_open(struct jobs *jobs);
/* Call after a job was queued: idle workers claim at once instead of at their next poll. */
void jobs_poke(struct jobs *jobs);
struct jobs_health {
    int64_t stuck; /* number of workers that are stuck */
    int64_t since; /* ms since 1970: since when the first of them is; 0: none is stuck */
};
/* Returns whether no worker is stuck. A worker is stuck if it has neither looked for a job nor, in
 * a training, asked whether it must stop for settings.stuck_ms. All workers are stuck if the
 * reporter is. */
bool jobs_healthy(struct jobs *jobs, struct jobs_health *out);
/* Asks running jobs to stop, which takes up to 1 s; they are queued again. No further job is
 * claimed. Returns at once. */
void jobs_drain(struct jobs *jobs);
void jobs_stop(struct jobs *jobs); /* drains, joins the threads and frees */
/* After jobs_drain: waits until no worker runs a job. Returns false if one still does at the
 * timeout. */
bool jobs_await_drain(struct jobs *jobs, int64_t timeout_ms);
struct jobs_limits jobs_limits(const struct jobs *jobs); /* the daemon's limits of a job */

#endif
