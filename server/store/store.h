/* The store: datasets, jobs and models in one SQLite file. This interface shows no type of SQLite.
 *
 * One thread makes all writes. Functions that write and have no callback wait for their commit: do
 * not call them on an I/O thread. Functions that read run one short transaction. All functions are
 * thread safe. Fallible functions return false and set the problem, which must be {0} before; their
 * outputs are untouched then. A full disk is PROBLEM_STORAGE_FULL. JSON members are valid JSON
 * text; the store does not parse them. Times are milliseconds since 1970; 0 is null. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/buf.h"
#include "base/ids.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number that is stored beside each document: the format in which this binary writes the job's
 * spec and result, a dataset's columns, notes and options, and a model's info. It rises when a
 * document changes its meaning. store_open refuses a database with a higher number.
 *   1  dataset options: only those that the request gave
 *   2  dataset options: all, with their initial values */
#define STORE_DOCUMENT_FORMAT 2

struct store;

struct store_settings {
    const char *path;   /* of the database file, which is created if it does not exist */
    int64_t lease_ms;   /* duration of the lease of a job or a staged part; 0: 15,000 */
    int64_t bulk_limit; /* bytes of queued chunks from which store_part_append asks to pause; 0: 8
                           MiB, about one chunk beside the one that is written */
    bool no_backup;     /* migrations make no copy of the database before */
};

/* Creates or opens the file, locks FILE.lock (flock), applies migrations, starts the writer thread,
 * queues the running jobs of the last process again, and starts to sweep. Fails if the file is
 * locked, not writable, not a Discern database or newer than this binary, or if a migration was
 * changed after it was applied. */
bool store_open(const struct store_settings *settings, struct store **out, struct problem *problem);
/* Runs the queued transactions, checkpoints and closes the file. No other call may run. NULL is
 * allowed. */
void store_close(struct store *store);
/* The owner id of this process in leases: random, the same until store_close. */
const char *store_owner(const struct store *store);
/* Whether a read succeeds and the writer thread answers, each within 1 s. */
bool store_healthy(struct store *store, struct problem *problem);

struct store_stats {
    int64_t database_bytes, log_bytes; /* file sizes */
    size_t state_queue, bulk_queue;    /* transactions waiting */
    int64_t bulk_bytes;                /* bytes waiting */
    int64_t free_bytes;                /* in the file's free pages */
    int64_t dataset_bytes; /* in chunks and summaries of dataset versions; a chunk of several
                              versions counts once */
    int64_t doomed_bytes; /* in chunks and summaries of deleted versions that are not removed yet */
};
void store_stats(struct store *store, struct store_stats *out);

/* ---- changes: a feed of committed changes, for caches and event streams ---- */
enum store_change_kind {
    STORE_CHANGE_DATASET,
    STORE_CHANGE_MODEL,      /* a version was added or removed, or became live */
    STORE_CHANGE_MODEL_TEXT, /* of the description or the tags of a model */
    STORE_CHANGE_JOB
};
struct store_change {
    int64_t seq; /* ascending from 1 */
    enum store_change_kind kind;
    char name[IDS_NAME_SIZE]; /* dataset or model; "" for a job */
    int64_t job;              /* id; 0 otherwise */
    /* MODEL: */
    int64_t live;    /* the live version after the change; 0: no version is left */
    int64_t oldest;  /* all versions below this one were removed */
    int64_t removed; /* the version that was removed; 0: none */
};
/* Copies the changes after `since`, oldest first, at most `room`; returns their number. *lost:
 * changes after `since` were overwritten, so the caller must read its data again. Cheap, no SQL. */
size_t store_changes(struct store *store, int64_t since, struct store_change *out, size_t room,
                     bool *lost);
/* The number of the last change; 0: none. */
int64_t store_changes_last(struct store *store);
/* Returns the number of the last change. *committing: a MODEL change of this name is being
 * committed. Readers of the database may see it already, so a cached copy may be old. */
int64_t store_changes_look(struct store *store, const char *model, bool *committing);
/* Waits for a change after `since`, at most timeout_ms. store_wake ends the wait. Returns the
 * number of the last change. */
int64_t store_changes_wait(struct store *store, int64_t since, int64_t timeout_ms);
void store_wake(struct store *store);

/* ---- parts: staged chunks of a dataset version or a model version ---- */
struct store_blob {
    void *bytes; /* malloc'ed */
    size_t size;
};
/* Runs on the writer thread when the chunk was committed (problem NULL) or refused: it must be
 * short and must not call a store function that waits. */
typedef void (*store_done_fn)(void *arg, const struct problem *problem);
/* A worker's right to write a job. The fencing token rises with each claim of the job, so the
 * writes of a worker whose job was claimed again are refused with PROBLEM_CONFLICT. */
struct store_claim {
    int64_t job, token;
};
/* Returns an id for staged chunks. They are leased to this process, which renews the lease until
 * they are published or dropped. claim: the job that the chunks belong to, NULL: none; chunks of a
 * job that was claimed again are refused. Runs no transaction: cheap, may be called on an I/O
 * thread. 0: no memory; then the first chunk is refused. */
int64_t store_part_begin(struct store *store, const struct store_claim *claim);
/* Queues a chunk of n_rows rows. blobs: [n_blobs] one for each column of a dataset, one for a
 * model; takes the memory of the blobs (not the array), also on failure. chunk: its number, from 0
 * in ascending order; or from 1, with number 0 at any time after them. `done` is called once.
 * Returns false if the queue is over its limit: the chunk is queued, and the caller should append
 * no other before a `done`. Computes checksums; does not wait. */
bool store_part_append(struct store *store, int64_t part, int64_t chunk, int64_t n_rows,
                       const struct store_blob *blobs, size_t n_blobs, store_done_fn done,
                       void *arg);
/* Reads a blob of a staged part, after the `done` of its chunk. Replaces the contents of out. The
 * CRC is checked. */
bool store_part_read(struct store *store, int64_t part, int64_t chunk, size_t column,
                     struct buf *out, struct problem *problem);
/* Discards a staged part; the sweep removes its chunks. Does not wait. */
void store_part_drop(struct store *store, int64_t part);

/* ---- lists ---- */
/* How much of a list a page may have. 0: no limit. */
struct store_limit {
    size_t items;
    size_t bytes; /* of text: the page ends with the item that reaches them */
};
/* A page of a list, for the caller to free. */
struct store_page {
    void *items; /* [n] of the struct that the function names; NULL: n is 0 */
    size_t n;
    bool more; /* more items follow in the list */
    const struct store_item *kind;
};
void store_page_done(struct store_page *page); /* NULL and {0} are allowed */

/* ---- conditions ---- */
struct store_condition {
    /* Values of the headers; NULL: absent. */
    const char *if_match;
    const char *if_none_match;
};
/* Checks If-Match and If-None-Match for the etag (NULL: the resource does not exist):
 * PROBLEM_PRECONDITION_FAILED. kind and name, as "dataset" and "iris", are for the message. c may
 * be NULL. */
bool store_condition_check(const struct store_condition *c, const char *etag, const char *kind,
                           const char *name, struct problem *problem);

/* ---- datasets ---- */
struct store_dataset {
    int64_t id; /* of the version */
    char name[IDS_NAME_SIZE];
    int64_t version, n_rows, n_cols, bytes, created_at;
    char *sha256;      /* NULL after an append */
    char *content;     /* digest of the values, "b2:…" */
    char *columns;     /* JSON array of column objects (names, types, summaries) */
    char *notes;       /* JSON object: options and warnings of the reading */
    char *options;     /* as in store_dataset_new */
    char *description; /* may be NULL */
    char *tags;        /* JSON array */
    int64_t revision;  /* counts changes of description and tags */
    bool newest;       /* the newest version of its name */
    char etag[64];     /* quotes included */
};
void store_dataset_done(struct store_dataset *d);

struct store_dataset_new {
    const char *name;
    int64_t part;
    int64_t n_rows, n_cols, bytes;
    const char *sha256, *content, *columns, *notes;
    const char *options; /* options of the request that change the reading. With the content and
                            options of the newest version no version is made */
    const char *options_format_1; /* `options` in document format 1, for the comparison; may be
                                     NULL */
    /* Of appended rows: id of the version that they are appended to. Its parts come before `part`,
     * and its rows are counted in n_rows. PROBLEM_CONFLICT if it is not the newest version. 0: no
     * append. */
    int64_t onto;
    int64_t taken; /* number of the last parts of `onto` that are left out; `part` has their rows */
    const struct store_blob *summaries; /* [n_summaries] saved summaries of the columns; without
                                           them an append reads the chunks */
    size_t n_summaries;
    struct store_condition condition;
};
struct store_dataset_published {
    int64_t id, version;
    bool created; /* the name had no version */
    bool
        unchanged; /* no version was made: id and version are of the newest one, the part is dead */
};
/* Publishes a staged part as a version. dataset: the version as it was committed, for the caller to
 * free; NULL: not wanted. */
bool store_dataset_publish(struct store *store, const struct store_dataset_new *d,
                           struct store_dataset_published *out, struct store_dataset *dataset,
                           struct problem *problem);
/* The queue of appends of this process. An append extends the newest version, so two appends of one
 * dataset must not end at the same time. One append of a dataset runs at a time, at most
 * STORE_APPENDS_RUNNING of all datasets, in the order of their first store_append_run. At most
 * STORE_APPENDS_OF_ONE appends of one dataset and STORE_APPENDS_OF_ALL of all have a place. */
enum { STORE_APPENDS_RUNNING = 2, STORE_APPENDS_OF_ONE = 32, STORE_APPENDS_OF_ALL = 128 };
/* Takes a place when the first rows arrive. Returns its number for store_append_leave; 0: no place
 * is free. */
int64_t store_append_enter(struct store *store, const char *name);
/* To be called when all rows have arrived: the first call queues the append. Returns whether it may
 * run. */
bool store_append_run(struct store *store, int64_t append);
/* Frees the place, so that other appends may run. 0 has no effect. */
void store_append_leave(struct store *store, int64_t append);
/* version 0: the newest version. PROBLEM_UNKNOWN_DATASET. */
bool store_dataset_get(struct store *store, const char *name, int64_t version,
                       struct store_dataset *out, struct problem *problem);
bool store_dataset_get_by_id(struct store *store, int64_t id, struct store_dataset *out,
                             struct problem *problem);
/* The newest versions by name, ascending, of names after `after` (NULL: from the start). Items:
 * struct store_dataset. */
bool store_dataset_list(struct store *store, const char *after, const struct store_limit *limit,
                        struct store_page *out, struct problem *problem);
/* The versions of a dataset after number `after`, ascending. Items: struct store_dataset. */
bool store_dataset_versions(struct store *store, const char *name, int64_t after,
                            const struct store_limit *limit, struct store_page *out,
                            struct problem *problem);
/* Changes description and tags. NULL leaves the old value; the description "" removes it. *dataset
 * becomes the newest version as it was committed, for the caller to free; dataset may be NULL. */
bool store_dataset_patch(struct store *store, const char *name, const char *description,
                         const char *tags, const struct store_condition *condition,
                         struct store_dataset *dataset, struct problem *problem);
/* Deletes a version (0: all of the name). The sweep removes its chunks later. PROBLEM_IN_USE while
 * a queued or running job reads it. */
bool store_dataset_delete(struct store *store, const char *name, int64_t version,
                          const struct store_condition *condition, struct problem *problem);

struct store_chunk {
    int64_t part, chunk;
    int64_t first_row, n_rows;
};
/* The chunks of a version in row order, [*n]; the caller frees the array. */
bool store_dataset_chunks(struct store *store, int64_t id, struct store_chunk **out, size_t *n,
                          struct problem *problem);
/* Reads a column of a chunk. Replaces the contents of out. The CRC is checked. */
bool store_chunk_read(struct store *store, const struct store_chunk *chunk, size_t column,
                      struct buf *out, struct problem *problem);
/* Reads the saved summary of a column of a version. Replaces the contents of out; empty: none is
 * saved. Only the last version that was published has summaries. */
bool store_dataset_summary(struct store *store, int64_t id, size_t column, struct buf *out,
                           struct problem *problem);
/* Pins a version: its chunks stay until the unpin, even if the version is deleted meanwhile. To be
 * called before store_dataset_chunks. Pins are counted, and end with the process. An unpin without
 * a pin has no effect. */
bool store_dataset_pin(struct store *store, int64_t id, struct problem *problem);
void store_dataset_unpin(struct store *store, int64_t id);

/* ---- models ---- */
struct store_model {
    int64_t id; /* of the version */
    char name[IDS_NAME_SIZE];
    int64_t version, live_version, newest_version, created_at, bytes;
    char *info;        /* JSON object: algorithm, parameters, classes, features, metrics, … */
    char *description; /* of the name; may be NULL */
    char *tags;        /* JSON array */
    int64_t revision;  /* counts changes of the name's description, tags and live version */
    char etag[64];
};
void store_model_done(struct store_model *m);
/* version 0: the live version. PROBLEM_UNKNOWN_MODEL. */
bool store_model_get(struct store *store, const char *name, int64_t version,
                     struct store_model *out, struct problem *problem);
/* The live versions by name, ascending, of names after `after` (NULL: from the start). Items:
 * struct store_model. */
bool store_model_list(struct store *store, const char *after, const struct store_limit *limit,
                      struct store_page *out, struct problem *problem);
/* The versions of a model after number `after`, ascending. Items: struct store_model. */
bool store_model_versions(struct store *store, const char *name, int64_t after,
                          const struct store_limit *limit, struct store_page *out,
                          struct problem *problem);
/* Reads the bytes of a version. Replaces out. The CRC is checked. */
bool store_model_bytes(struct store *store, int64_t id, struct buf *out, struct problem *problem);
/* Makes a version live. model, here and in store_model_patch: the live version as it was committed,
 * for the caller to free; NULL: not wanted. */
bool store_model_set_live(struct store *store, const char *name, int64_t version,
                          const struct store_condition *condition, struct store_model *model,
                          struct problem *problem);
/* Changes description and tags as store_dataset_patch does. */
bool store_model_patch(struct store *store, const char *name, const char *description,
                       const char *tags, const struct store_condition *condition,
                       struct store_model *model, struct problem *problem);
/* Deletes a version (0: all). promote: the version that becomes live; 0: none. PROBLEM_CONFLICT if
 * the live version is deleted, other versions exist and none is promoted. With its last version the
 * name is deleted; version numbers are not used again. */
bool store_model_delete(struct store *store, const char *name, int64_t version, int64_t promote,
                        const struct store_condition *condition, struct problem *problem);

/* ---- jobs ---- */
enum store_job_state {
    STORE_JOB_QUEUED,
    STORE_JOB_RUNNING,
    STORE_JOB_SUCCEEDED,
    STORE_JOB_FAILED,
    STORE_JOB_CANCELLED
};
const char *store_job_state_name(enum store_job_state state);
bool store_job_state_parse(const char *name, enum store_job_state *out);
static inline bool store_job_ended(enum store_job_state s) {
    return s >= STORE_JOB_SUCCEEDED;
}

struct store_job {
    int64_t id;
    enum store_job_state state;
    char model[IDS_NAME_SIZE];
    char *algorithm;
    char dataset[IDS_NAME_SIZE];
    int64_t dataset_version, dataset_id; /* id of the version */
    char *spec; /* JSON object: the validated request with all values resolved */
    int64_t created_at, started_at, finished_at;
    int64_t attempts;
    int64_t token; /* of its latest claim; 0: it was never claimed */
    bool cancel_requested;
    char *progress;     /* JSON object or NULL */
    char *warnings;     /* JSON array */
    char *error;        /* problem document or NULL */
    char *result;       /* JSON object without "model" and "version", or NULL */
    int64_t version;    /* of the model it made; 0: none */
    int64_t last_event; /* number of its newest event */
};
void store_job_done(struct store_job *j);

struct store_job_new {
    const char *model, *algorithm;
    int64_t dataset_id;    /* version to train on; PROBLEM_UNKNOWN_DATASET if it was deleted */
    int64_t validation_id; /* version to validate on, likewise; 0: none */
    const char *spec;
    const char *warnings; /* JSON array, or NULL */
    int64_t max_queued;   /* PROBLEM_UNAVAILABLE if so many jobs are queued; 0: no limit */
};
/* Queues a job. job, here and in store_job_cancel: the job as it was committed, for the caller to
 * free; NULL: not wanted. */
bool store_job_insert(struct store *store, const struct store_job_new *j, int64_t *id,
                      struct store_job *job, struct problem *problem);
/* PROBLEM_UNKNOWN_JOB. */
bool store_job_get(struct store *store, int64_t id, struct store_job *out, struct problem *problem);
/* Reads the state alone, at less cost. PROBLEM_UNKNOWN_JOB. */
bool store_job_get_state(struct store *store, int64_t id, enum store_job_state *out,
                         struct problem *problem);
struct store_job_filter {
    int state;         /* enum store_job_state, -1: any */
    const char *model; /* NULL: any */
    int64_t before;    /* ids below this; 0: from the newest */
};
/* Jobs by id, descending. Items: struct store_job. */
bool store_job_list(struct store *store, const struct store_job_filter *filter,
                    const struct store_limit *limit, struct store_page *out,
                    struct problem *problem);
/* Number of jobs in each state, indexed by enum store_job_state. */
bool store_job_counts(struct store *store, int64_t counts[5], struct problem *problem);

/* Claims the oldest queued job for a worker: sets it running, counts an attempt, sets owner, lease
 * and a new token, and clears progress and history. Before, jobs whose lease ended are queued
 * again; a job with max_attempts attempts fails with PROBLEM_JOB_CRASHED instead. *found false: no
 * job may start now.
 *
 * A job that was running in a process that died is a suspect: it may have ended the process. One
 * suspect runs at a time; queued jobs that are not suspects start before the others. A suspect
 * starts its last attempt when no job runs, and no job is claimed while it runs.
 *
 * Cost: a read if no job is queued, otherwise a transaction. */
bool store_job_claim(struct store *store, int64_t max_attempts, struct store_job *out, bool *found,
                     struct problem *problem);
static inline struct store_claim store_job_claim_of(const struct store_job *j) {
    return (struct store_claim){.job = j->id, .token = j->token};
}
struct store_history_row {
    int64_t iteration;
    bool snapshot;
    const char *doc; /* JSON object */
};
/* Renews the lease of a claimed job. progress: JSON object, stored with the job and as a "progress"
 * event; NULL: none. rows: history since the last call. *cancel: a user asked to cancel the job.
 * PROBLEM_CONFLICT: the claim is lost. */
bool store_job_report(struct store *store, const struct store_claim *claim, const char *progress,
                      const struct store_history_row *rows, size_t n_rows, bool *cancel,
                      struct problem *problem);
struct store_job_end {
    struct store_claim claim;
    /* SUCCEEDED, FAILED or CANCELLED. QUEUED: the job is given back, its attempt is not counted. */
    enum store_job_state state;
    const char *progress, *warnings, *error, *result; /* JSON or NULL */
    const struct store_history_row *rows;             /* [n_rows] since the last report */
    size_t n_rows;
    int64_t model_part; /* SUCCEEDED: the staged part with the model's bytes */
    int64_t model_bytes;
    const char *model_info; /* JSON object */
    int64_t keep_versions;  /* SUCCEEDED: versions that are neither live nor among the newest
                               keep_versions are deleted; 0: none */
};
/* Ends a claimed job in one transaction, which also publishes the model of a success. *out_version:
 * of the model, 0: none; may be NULL. PROBLEM_CONFLICT: the claim is lost. */
bool store_job_end(struct store *store, const struct store_job_end *end, int64_t *out_version,
                   struct problem *problem);
/* Cancels a queued job; asks the worker of a running job to stop. PROBLEM_CONFLICT if the job has
 * ended. */
bool store_job_cancel(struct store *store, int64_t id, struct store_job *job,
                      struct problem *problem);
/* Deletes an ended job. PROBLEM_CONFLICT if it is queued or running. */
bool store_job_delete(struct store *store, int64_t id, struct problem *problem);
/* Deletes the ended jobs except the `keep` that ended last. */
bool store_job_prune(struct store *store, int64_t keep, struct problem *problem);

enum store_event_kind { STORE_EVENT_STATE, STORE_EVENT_PROGRESS, STORE_EVENT_DONE };
struct store_event {
    int64_t seq; /* its number among the events of the job, from 1 */
    enum store_event_kind kind;
    char *progress; /* PROGRESS: JSON object; NULL otherwise */
    /* STATE and DONE: members of the job at the time of the event. */
    enum store_job_state state;
    int64_t attempts, started_at;
    char *warnings; /* JSON array */
};
/* The events of a job after number `after`, ascending. Items: struct store_event.
 * PROBLEM_UNKNOWN_JOB. */
bool store_job_events(struct store *store, int64_t id, int64_t after,
                      const struct store_limit *limit, struct store_page *out,
                      struct problem *problem);
/* The history rows of a job, or its snapshots, in the order of their report. Items: struct
 * store_history_row. PROBLEM_UNKNOWN_JOB. */
bool store_job_history(struct store *store, int64_t id, bool snapshots,
                       const struct store_limit *limit, struct store_page *out,
                       struct problem *problem);

#endif
