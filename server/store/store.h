/* The store: datasets, jobs and models in one SQLite file, behind a face that shows no SQLite type.
 * The only place with SQL.
 *
 * One writer thread owns the only writing connection and takes work from two queues: *state* (small
 * transactions that somebody waits for: jobs, publishes, deletes; synchronous=FULL) before *bulk*
 * (staged chunks, sweeping; synchronous=NORMAL), and makes the checkpoints. Functions that write
 * and have no callback wait for their commit: never call them on an I/O thread. Functions that read
 * borrow a reading connection from a small pool and hold no transaction longer than the call. All
 * functions are thread safe. Fallible ones return bool and fill the problem (which must be {0});
 * outputs are untouched on failure. A full disk is PROBLEM_STORAGE_FULL. JSON members are validated
 * JSON text that the store carries and does not read. Times are milliseconds since 1970; 0 is null.
 */
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
    const char *path;   /* the database file; made when it is not there */
    int64_t lease_ms;   /* how long a claim or a staged part is owned without renewal; 0: 15,000 */
    int64_t bulk_limit; /* bytes the bulk queue may hold before store_part_append's callers should
                           pause; 0: 8 MiB, about a chunk: one is written, one waits */
    bool no_backup;     /* no copy of the database before migrations change it */
};

/* Makes or opens the file, takes FILE.lock (flock), applies migrations, starts the writer, gives
 * expired work back, begins to sweep. Refusals are one clear line each: locked by pid N; no Discern
 * database; newer than this binary; a migration was changed; not writable. */
bool store_open(const struct store_settings *settings, struct store **out, struct problem *problem);
/* Ends the queues (what is queued is done), checkpoints, closes. No other call may be running. NULL
 * is allowed. */
void store_close(struct store *store);
/* This daemon's owner id in leases: random, for the process's life. */
const char *store_owner(const struct store *store);
bool store_healthy(struct store *store,
                   struct problem *problem); /* a read and the writer's pulse, within 1 s */

struct store_stats {
    int64_t database_bytes, log_bytes; /* file sizes */
    size_t state_queue, bulk_queue;    /* transactions waiting */
    int64_t bulk_bytes;                /* bytes waiting */
    int64_t free_bytes;                /* in the file's free pages */
    int64_t
        dataset_bytes; /* in chunks and summaries of dataset versions; shared chunks count once */
    int64_t doomed_bytes; /* in those of deleted versions and parts, until they are given back */
};
void store_stats(struct store *store, struct store_stats *out);

/* ---- changes: what was committed, for caches and event streams ---- */
enum store_change_kind {
    STORE_CHANGE_DATASET,
    STORE_CHANGE_MODEL,      /* versions came or went, or another one is live */
    STORE_CHANGE_MODEL_TEXT, /* its description or tags */
    STORE_CHANGE_JOB
};
struct store_change {
    int64_t seq; /* ascending from 1 */
    enum store_change_kind kind;
    char name[IDS_NAME_SIZE]; /* dataset or model; "" for a job */
    int64_t job;              /* id; 0 otherwise */
    /* MODEL: */
    int64_t live;    /* the live version from then on; 0: no version is left */
    int64_t oldest;  /* all versions below this one are gone */
    int64_t removed; /* this version is gone; 0: none */
};
/* Changes after `since`, oldest first, at most `room`. *lost: some were dropped from the ring since
 * then: reload everything. Returns how many. Cheap, no SQL. */
size_t store_changes(struct store *store, int64_t since, struct store_change *out, size_t room,
                     bool *lost);
int64_t store_changes_last(struct store *store);
/* Likewise. *committing: a MODEL change of this name is being committed. A reader of the database
 * may see it before it is shown here, so what the caller remembers of the name may be old. */
int64_t store_changes_look(struct store *store, const char *model, bool *committing);
/* Waits until there is a change after `since`, store_wake was called, or timeout. Returns the last
 * seq. */
int64_t store_changes_wait(struct store *store, int64_t since, int64_t timeout_ms);
void store_wake(struct store *store); /* wakes all store_changes_wait */

/* ---- parts: staged bytes, published by a dataset version or a model version ---- */
struct store_blob {
    void *bytes; /* malloc'ed */
    size_t size;
};
typedef void (*store_done_fn)(
    void *arg, const struct problem *problem); /* on the writer thread: be short, call no store
                                                  function that waits. NULL problem: committed */
/* A worker's right to write a job. The fencing token rises with each claim of the job, so the writes
 * of a worker whose job was claimed again are refused with PROBLEM_CONFLICT. */
struct store_claim {
    int64_t job, token;
};
/* Returns an id for staged chunks. They are leased to this process, which renews the lease until
 * they are published or dropped. claim: the job that the chunks belong to, NULL: none; chunks of a
 * job that was claimed again are refused. Runs no transaction: cheap, may be called on an I/O
 * thread. 0: no memory; then the first chunk is refused. */
int64_t store_part_begin(struct store *store, const struct store_claim *claim);
/* Queues chunk number `chunk` (0, 1, … in order; or 1, 2, … in order, and then number 0 may come
 * some time later and stands before them) of n_blobs blobs (a dataset: one a column; a model: one),
 * standing for n_rows rows. Takes the blobs' memory (not the array's) in any case. `done` is called
 * once. Returns false when the queue is over its limit: the caller should pause until its `done`s
 * come (the chunk is queued all the same). Never blocks. */
bool store_part_append(struct store *store, int64_t part, int64_t chunk, int64_t n_rows,
                       const struct store_blob *blobs, size_t n_blobs, store_done_fn done,
                       void *arg);
/* One blob of a staged part back, CRC checked; waits for nothing: only after its chunk's `done`. */
bool store_part_read(struct store *store, int64_t part, int64_t chunk, size_t column,
                     struct buf *out, struct problem *problem);
void store_part_drop(struct store *store,
                     int64_t part); /* not wanted any more; swept later. Never blocks */

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
    const char *if_match; /* header values as they came, or NULL */
    const char *if_none_match;
};
/* condition.c: whether If-Match and If-None-Match hold for this etag (NULL: there is nothing);
 * what: `dataset "iris"`. c may be NULL. */
bool store_condition_check(const struct store_condition *c, const char *etag, const char *kind,
                           const char *name, struct problem *problem);

/* ---- datasets ---- */
struct store_dataset {
    int64_t id; /* of the version */
    char name[IDS_NAME_SIZE];
    int64_t version, n_rows, n_cols, bytes, created_at;
    char *sha256;      /* NULL after an append */
    char *content;     /* "b2:…" */
    char *columns;     /* JSON array of column objects (names, types, summaries) */
    char *notes;       /* JSON object: how it was read (options, warnings) */
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
    const char *options; /* what of the request changes the reading: same content and options as the
                            newest version make no new one */
    const char
        *options_format_1; /* the same in document format 1, for that comparison; may be NULL */
    /* Rows were appended: id of the version whose parts come before `part`, counted in n_rows. It
     * must be the newest: PROBLEM_CONFLICT. 0: a table of its own. */
    int64_t onto;
    int64_t taken; /* so many of its last parts are left out: their rows are in `part` */
    const struct store_blob
        *summaries; /* [n_summaries] saved summaries of the columns, for an append
                                           onto this version; n_summaries may be 0 */
    size_t n_summaries;
    struct store_condition condition;
};
struct store_dataset_published {
    int64_t id, version;
    bool created;   /* the name had no version */
    bool unchanged; /* version is the newest one's, nothing was made, the part was dropped */
};
/* dataset: the version as it was committed, for the caller to free, whatever becomes of it later;
 * NULL: not wanted. */
bool store_dataset_publish(struct store *store, const struct store_dataset_new *d,
                           struct store_dataset_published *out, struct store_dataset *dataset,
                           struct problem *problem);
/* The queue of appends, in this process. The end of an append makes a version out of the newest
 * one, so another append must not do so meanwhile: one append of a dataset runs at a time, and at
 * most STORE_APPENDS_RUNNING of all datasets, in the order in which they first called store_append_run. Places are bounded:
 * STORE_APPENDS_OF_ONE appends of one dataset, STORE_APPENDS_OF_ALL of all. */
enum { STORE_APPENDS_RUNNING = 2, STORE_APPENDS_OF_ONE = 32, STORE_APPENDS_OF_ALL = 128 };
/* Takes a place, when the first rows arrive. Returns its number, for the caller to leave; 0: no place
 * is free. */
int64_t store_append_enter(struct store *store, const char *name);
/* The rows are complete: takes a turn in the queue with the first call. true: the append runs now.
 */
bool store_append_run(struct store *store, int64_t append);
/* Frees the place; others may run then. 0 is allowed. */
void store_append_leave(struct store *store, int64_t append);
/* version 0: the newest. PROBLEM_UNKNOWN_DATASET. */
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
/* NULL leaves a member as it is; description "" becomes null. */
/* dataset: the newest version as it was committed, for the caller to free; NULL: not wanted. */
bool store_dataset_patch(struct store *store, const char *name, const char *description,
                         const char *tags, const struct store_condition *condition,
                         struct store_dataset *dataset, struct problem *problem);
/* version 0: all of the name. Hidden at once, chunks given back later. PROBLEM_IN_USE while a
 * queued or running job reads it. */
bool store_dataset_delete(struct store *store, const char *name, int64_t version,
                          const struct store_condition *condition, struct problem *problem);

struct store_chunk {
    int64_t part, chunk;
    int64_t first_row, n_rows;
};
/* The chunks of a version in row order: malloc'ed array, the caller frees. */
bool store_dataset_chunks(struct store *store, int64_t id, struct store_chunk **out, size_t *n,
                          struct problem *problem);
/* Column `column` of a chunk: replaces out's contents; the CRC is verified. One short read
 * transaction. */
bool store_chunk_read(struct store *store, const struct store_chunk *chunk, size_t column,
                      struct buf *out, struct problem *problem);
/* The saved summary of a column of a version: replaces out's contents. out is empty if there is none:
 * only the version of a dataset that was published last has summaries. */
bool store_dataset_summary(struct store *store, int64_t id, size_t column, struct buf *out,
                           struct problem *problem);
/* Pins a version: its chunks stay until the unpin, even if the version is deleted meanwhile. To be
 * called before store_dataset_chunks. Pins are counted, and end with the process. An unpin without a
 * pin has no effect. */
bool store_dataset_pin(struct store *store, int64_t id, struct problem *problem);
void store_dataset_unpin(struct store *store, int64_t id);

/* ---- models ---- */
struct store_model {
    int64_t id; /* of the version */
    char name[IDS_NAME_SIZE];
    int64_t version, live_version, newest_version, created_at, bytes;
    char *info; /* JSON object: algorithm, params, classes, features, metrics, dataset, seed, daemon
                   version… as jobs wrote it */
    char *description; /* of the name; may be NULL */
    char *tags;        /* JSON array */
    int64_t revision;  /* counts changes of the name's description, tags and live version */
    char etag[64];
};
void store_model_done(struct store_model *m);
bool store_model_get(struct store *store, const char *name, int64_t version,
                     struct store_model *out,
                     struct problem *problem); /* version 0: the live one */
/* The live versions by name, ascending, of names after `after` (NULL: from the start). Items: struct
 * store_model. */
bool store_model_list(struct store *store, const char *after, const struct store_limit *limit,
                      struct store_page *out, struct problem *problem);
/* The versions of a model after number `after`, ascending. Items: struct store_model. */
bool store_model_versions(struct store *store, const char *name, int64_t after,
                          const struct store_limit *limit, struct store_page *out,
                          struct problem *problem);
bool store_model_bytes(struct store *store, int64_t id, struct buf *out,
                       struct problem *problem); /* CRC checked */
/* model: the live version as it was committed, for the caller to free, whatever others change
 * later; NULL: not wanted. So in store_model_patch. */
bool store_model_set_live(struct store *store, const char *name, int64_t version,
                          const struct store_condition *condition, struct store_model *model,
                          struct problem *problem);
bool store_model_patch(struct store *store, const char *name, const char *description,
                       const char *tags, const struct store_condition *condition,
                       struct store_model *model, struct problem *problem);
/* version 0: all. promote: the version that is live afterwards; 0: the live one stays.
 * PROBLEM_CONFLICT if the live version would go and others stay. Deleting the last version deletes
 * the name (its counter stays). */
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
    char *spec; /* JSON object: the job as it will be run, complete, as api/jobs validated it */
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
    int64_t dataset_id;    /* the version; must still be there: PROBLEM_UNKNOWN_DATASET otherwise */
    int64_t validation_id; /* another version that the job reads, likewise; 0: none */
    const char *spec;
    const char *warnings; /* JSON array, or NULL */
    int64_t max_queued;   /* PROBLEM_UNAVAILABLE when so many wait already; 0: no limit */
};
/* job: as it was committed, for the caller to free, whatever becomes of it later; NULL: not wanted.
 * So in store_job_cancel. */
bool store_job_insert(struct store *store, const struct store_job_new *j, int64_t *id,
                      struct store_job *job, struct problem *problem);
bool store_job_get(struct store *store, int64_t id, struct store_job *out,
                   struct problem *problem); /* PROBLEM_UNKNOWN_JOB */
/* The state alone, whatever the row holds besides. PROBLEM_UNKNOWN_JOB. */
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
bool store_job_counts(struct store *store, int64_t counts[5],
                      struct problem *problem); /* by state */

/* Claims the oldest queued job for a worker: sets it running, counts an attempt, sets owner, lease
 * and a new token, and clears progress and history. A job whose lease ended is queued again before;
 * after max_attempts starts it fails with PROBLEM_JOB_CRASHED instead. *found false: no job may
 * start now.
 *
 * Any job that was running when a process died may have ended the process. So only one such job
 * runs at a time, while younger jobs pass the others; and before its last attempt it waits until no
 * job runs, and no job is claimed while it runs.
 *
 * Cost: a read if no job waits, otherwise a transaction. */
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
/* The end, all in one transaction: state, result, warnings, error, last history, and for a success
 * the model version from its staged part. */
struct store_job_end {
    struct store_claim claim;
    enum store_job_state
        state; /* SUCCEEDED, FAILED, CANCELLED; QUEUED: given back (drain): attempts - 1 */
    const char *progress, *warnings, *error, *result; /* JSON or NULL */
    const struct store_history_row *rows;
    size_t n_rows;
    int64_t model_part; /* SUCCEEDED: the staged bytes */
    int64_t model_bytes;
    const char *model_info; /* JSON object */
    int64_t keep_versions;  /* older versions than the newest this many are deleted, never the live
                               one; 0: all stay */
};
bool store_job_end(struct store *store, const struct store_job_end *end, int64_t *out_version,
                   struct problem *problem); /* PROBLEM_CONFLICT: the claim is lost */
/* Asks to cancel: queued → cancelled at once; running → flag. PROBLEM_CONFLICT when it has ended.
 */
bool store_job_cancel(struct store *store, int64_t id, struct store_job *job,
                      struct problem *problem);
bool store_job_delete(struct store *store, int64_t id,
                      struct problem *problem); /* PROBLEM_CONFLICT while it runs or waits */
bool store_job_prune(struct store *store, int64_t keep,
                     struct problem *problem); /* ended jobs beyond the newest `keep` */

enum store_event_kind { STORE_EVENT_STATE, STORE_EVENT_PROGRESS, STORE_EVENT_DONE };
struct store_event {
    int64_t seq; /* of the job, from 1 */
    enum store_event_kind kind;
    char *progress; /* JSON of a PROGRESS event; NULL otherwise */
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
