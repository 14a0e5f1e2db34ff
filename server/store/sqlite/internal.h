/* What a store is made of. Locks: ring, readers, parts, pins, appends and writer have one each, all
 * leaves: none is taken under another, and no SQL runs under one. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include "store/sqlite/appends.h"
#include "store/sqlite/engine/changes.h"
#include "store/sqlite/engine/readers.h"
#include "store/sqlite/engine/writer.h"
#include "store/sqlite/file/lockfile.h"
#include "store/sqlite/parts.h"
#include "store/sqlite/pins.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct store {
    char *path;     /* of the database, without symbolic links */
    char *log_path; /* of its write-ahead log */
    char owner[33]; /* ours, in leases: 32 hex digits and NUL */
    int64_t lease_ms;
    int64_t bulk_limit;
    int64_t next_blob; /* id for the next blob; the writer thread's */
    int lock_fd;       /* FILE.lock */
    struct store_ring ring;
    struct store_readers readers;
    struct store_parts parts;
    struct store_pins pins;
    struct store_appends appends;
    struct store_writer writer;
};

/* A condition variable on the monotonic clock, and a point of time for it. */
bool store_cond_init(pthread_cond_t *cond);
struct timespec store_deadline(int64_t timeout_ms);

void store_etag(int64_t version, int64_t revision, char out[64]);

/* disk.c, on the writer thread: whether a chunk of so many bytes can be stored and room for
 * everything else stays. *lacking: bytes that are missing. Cost: a system call. */
bool store_disk_has_room(struct store *store, size_t bytes, int64_t *lacking);

/* store.c, on the writer thread or before it runs: gives back what the last daemon leased. On a
 * full disk it is done later, by the writer. */
bool store_recover(struct store *store, struct problem *problem);

/* sweep.c: one step of giving back, on the writer thread. busy: chunks are waiting. *more: there
 * may be another step. */
bool store_sweep_step(struct store *store, bool busy, bool *more);
/* Marks what versions no longer use as dead. */
void store_part_kill(struct store_tx *tx, int64_t part);

/* jobs: running jobs of other owners whose lease ran out are queued again (or cancelled, when that
 * was asked). */
void store_jobs_expire(struct store_tx *tx);
/* job_events.c: the job's next event. progress: JSON, of PROGRESS alone. */
void store_event_add(struct store_tx *tx, int64_t job, enum store_event_kind kind,
                     const char *progress);
void store_history_add(struct store_tx *tx, int64_t job, const struct store_history_row *rows,
                       size_t n);
/* The end of a job in any final state: its events and its hold on the dataset. */
void store_job_close(struct store_tx *tx, int64_t job);

/* model_change.c: a new live version from a staged part. Versions older than the newest `keep` go
 * (0: none). Returns its number. */
struct store_model_new {
    const char *name, *info;
    int64_t part, bytes, keep;
};
int64_t store_model_publish(struct store_tx *tx, const struct store_model_new *m,
                            const struct store_part_sum *staged);
/* models.c: the live version within a transaction: *out is {0} before. PROBLEM_UNKNOWN_MODEL. */
void store_model_find_live(struct store_tx *tx, const char *name, struct store_model *out);

#endif
