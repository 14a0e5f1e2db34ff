/* Jobs: the persistent queue's workers, and a training run from a stored dataset to a stored model.
 *
 * Threads: `workers` that claim and train, each with train_threads − 1 helpers for sums; one
 * reporter that ships progress, renews leases and learns of cancellations twice a second, so that
 * training never waits for the store. */
#ifndef JOBS_JOBS_H
#define JOBS_JOBS_H

#include "base/problem.h"
#include "store/store.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jobs;
struct jobs_settings {
    int64_t workers;         /* 1 … 256 */
    int64_t train_threads;   /* most threads a job may use; 0: one a core */
    int64_t memory_bytes;    /* most a job may use (--job-memory) */
    double seconds;          /* most a job may run; 0: no limit */
    int64_t attempts;        /* starts before job-crashed (3) */
    int64_t keep_jobs;       /* ended jobs kept (10,000) */
    int64_t keep_versions;   /* model versions kept a name; 0: all */
    const char *crash_model; /* a test hook: the process aborts half a second after a job for this
                                model was claimed; NULL: none */
};
/* Starts the threads; nothing is claimed before jobs_open. */
bool jobs_start(struct store *store, const struct jobs_settings *settings, struct jobs **out,
                struct problem *problem);
void jobs_open(struct jobs *jobs);    /* from now on jobs are claimed */
void jobs_poke(struct jobs *jobs);    /* a job was queued: a hint */
bool jobs_healthy(struct jobs *jobs); /* the workers are up */
void jobs_drain(struct jobs *jobs); /* running jobs stop within 1 s and are queued again; nothing is
                                       claimed any more. Returns at once */
void jobs_stop(struct jobs *jobs);  /* drains and joins */
/* After jobs_drain: waits until no worker runs a job. false: some still do when the time is over.
 */
bool jobs_await_drain(struct jobs *jobs, int64_t timeout_ms);
/* What of a job's memory the training proper may use: the rest (an eighth) keeps the dataset's
 * encoded chunks, so that passes after the first read no file. */
int64_t jobs_training_memory(int64_t memory_bytes);
int64_t jobs_memory_limit(const struct jobs *jobs);
int64_t jobs_thread_limit(const struct jobs *jobs);
double jobs_seconds_limit(const struct jobs *jobs);

#endif
