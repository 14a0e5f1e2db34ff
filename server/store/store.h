/* The store: datasets, jobs and models in a database. This interface shows no type of SQLite.
 *
 * One thread makes all writes. Functions that write and have no callback wait for their commit: do
 * not call them on an I/O thread. Functions that read run one short transaction. All functions are
 * thread safe. Fallible functions return false and set the problem, which must be {0} before the
 * call; on failure their outputs are untouched. A full disk is PROBLEM_STORAGE_FULL. JSON members
 * are valid JSON text; the store does not parse them. Times are milliseconds since 1970; 0 is
 * null.
 *
 * After a failed write or fsync of the database, transactions fail with PROBLEM_UNAVAILABLE (503)
 * until the store has opened the file again; staged parts are lost, and their publish fails with
 * PROBLEM_UNAVAILABLE. What was acknowledged stays. Reads go on. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/ids.h"
#include "base/memory/buf.h"
#include "base/problem.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number that is stored beside each document: the format in which this binary writes the job's
 * spec and result, a dataset's columns, notes and options, and a model's info. It is increased when
 * the meaning of a document changes. store_open refuses a database with a higher number.
 *   1  dataset options: only those that the request gave
 *   2  dataset options: all, with their initial values */
#define STORE_DOCUMENT_FORMAT 2

struct store;

/* Exit status of the process if the disk has lost data that were acknowledged; see README.md,
 * "Failing disks". */
#define STORE_EXIT_LOST 3

struct store_settings {
    const char *path;   /* path of the database file, which is created if it does not exist */
    int64_t keep_audit; /* number of entries of the audit to keep; 0: all */
    int64_t lease_ms;   /* duration of the lease of a job or a staged part; 0: 15,000 */
    /* store_part_append asks to pause while more bytes of chunks than this are queued; 0: 8 MiB,
     * about one chunk in addition to the one that is being written */
    int64_t bulk_limit;
    /* do not suggest similar names of datasets and models when there is none of a name: not all
     * clients may know all names */
    bool no_hints;
    bool no_backup; /* do not copy the database before migrations */
    bool alone;     /* fail while another process has the database open, and keep others out */
};

/* Returns false after setting the problem if a value cannot be meant as a database: it is empty, or
 * it names a file like a URI or a connection string of libpq. The problem shows no password.
 * option: its name in the problem. */
bool store_database_check(const char *option, const char *database, struct problem *problem);
/* Returns the path of a database's file, in `database`; NULL: the database is not a file. */
const char *store_database_file(const char *database);
/* Returns the name of a database for messages, which the caller frees: a URI without user, password
 * and parameters. NULL: out of memory. */
char *store_database_name(const char *database);
/* Whether the URI of a database has a password, so that it must not be an argument of a program. */
bool store_database_has_password(const char *database);
/* Calls `read` for each file and folder that is read when a database is connected, certificates for
 * example; none for a database that is a file. Called before threads are started. */
void store_database_reads(const char *database, void (*read)(void *arg, const char *path),
                          void *arg);

/* Creates or opens the database, applies migrations, starts the writer thread, queues again the jobs
 * of processes that have ended, and starts the sweep. A file is locked (FILE.lock, flock); a database
 * of PostgreSQL may be open in other processes. Fails
 * if the file is locked, not writable, not a Discern database or newer than this binary, or if a
 * migration was changed after it was applied. */
bool store_open(const struct store_settings *settings, struct store **out, struct problem *problem);
/* Opens the database for reading, while another process has it open or not. Only functions that
 * read may be called, and store_dataset_pin, which protects from this process only. Takes no lock,
 * starts no thread and changes nothing. Fails if there is no file or if it has documents of a
 * newer format. */
bool store_open_reader(const char *path, struct store **out, struct problem *problem);
void store_close_reader(struct store *store); /* NULL is allowed */
/* Runs the queued transactions, checkpoints and closes the file. No other call may run at the same
 * time or later. NULL is allowed. */
void store_close(struct store *store);
/* Returns the owner id of this process in leases: random, the same until store_close. */
const char *store_owner(const struct store *store);
/* The state of writes. */
enum store_writes {
    STORE_WRITES_OK,
    STORE_WRITES_FAILING, /* the last write failed, and no probe has succeeded since */
    STORE_WRITES_FULL,    /* the disk is full: writes fail with PROBLEM_STORAGE_FULL */
    STORE_WRITES_STUCK    /* the writer thread does not answer within 1 s */
};
struct store_health {
    bool reads; /* a read has succeeded within 1 s */
    enum store_writes writes;
    int64_t since; /* since when writes are not OK; STUCK: since when the thread works */
};
/* Checks whether reads and writes succeed. Returns false after setting the problem if one of them
 * does not. */
bool store_healthy(struct store *store, struct store_health *out, struct problem *problem);

struct store_stats {
    int64_t database_bytes, log_bytes; /* file sizes */
    size_t state_queue, bulk_queue;    /* number of waiting transactions */
    int64_t bulk_bytes;                /* bytes of the chunks in the bulk queue */
    int64_t free_bytes;                /* bytes in free pages of the file */
    /* bytes of chunks and summaries of dataset versions; a chunk that several versions share is
     * counted once */
    int64_t dataset_bytes;
    /* bytes of chunks and summaries of deleted datasets and models that are not removed yet */
    int64_t doomed_bytes;
    size_t appends; /* places that appends hold, see store_append_enter */
};
void store_stats(struct store *store, struct store_stats *out);

/* ---- changes: a feed of committed changes, for caches and event streams ---- */
enum store_change_kind {
    STORE_CHANGE_DATASET,
    STORE_CHANGE_MODEL,      /* a version was added or removed, or became live */
    STORE_CHANGE_MODEL_TEXT, /* the description or the tags of a model changed */
    STORE_CHANGE_JOB
};
struct store_change {
    int64_t seq; /* ascending from 1 */
    enum store_change_kind kind;
    char name[IDS_NAME_SIZE]; /* name of the dataset or model; "" for a job */
    int64_t job;              /* id of the job; 0 for other kinds */
    /* the members from here on are for STORE_CHANGE_MODEL */
    int64_t live;    /* the live version after the change; 0: no version is left */
    int64_t oldest;  /* all versions below this one were removed */
    int64_t removed; /* the version that was removed; 0: none */
};
/* Copies the changes after number `since`, oldest first, at most `room`; returns how many. *lost:
 * changes after `since` were overwritten, so the caller must read its data again. Cheap, runs no
 * SQL. */
size_t store_changes(struct store *store, int64_t since, struct store_change *out, size_t room,
                     bool *lost);
/* Returns the number of the last change; 0: none. */
int64_t store_changes_last(struct store *store);
/* Returns the number of the last change. *committing: a STORE_CHANGE_MODEL change of this name is
 * being committed, or a read has seen a change that is not in the ring yet. Readers of the database
 * may see the change already, so a cached copy may be old. */
int64_t store_changes_look(struct store *store, const char *model, bool *committing);
/* ---- changes of a database that several processes have open ----
 * Each change has a number in the database, which a process tells its clients. Other numbers than
 * `seq` above. */
/* Returns the number of the newest change that this process may have shown; 0: changes have no
 * numbers in this database. Cheap. */
int64_t store_changes_seen(struct store *store);
/* Whether caches of this process know the change with this number. Cheap. */
bool store_changes_reached(struct store *store, int64_t number);
/* Reads the changes of other processes, if this one does not know the change with this number. A
 * number that the database does not have yet has no other effect. */
bool store_changes_reach(struct store *store, int64_t number, struct problem *problem);
/* Waits for a change after number `since`, at most timeout_ms. store_wake ends the wait. Returns
 * the number of the last change. */
int64_t store_changes_wait(struct store *store, int64_t since, int64_t timeout_ms);
void store_wake(struct store *store);

/* ---- parts: staged chunks of a dataset version or a model version ---- */
struct store_blob {
    void *bytes; /* malloc'ed */
    size_t size;
};
/* Runs on the writer thread when the chunk was committed (problem NULL) or refused. It must be
 * short and must not call a store function that waits. */
typedef void (*store_done_fn)(void *arg, const struct problem *problem);
/* A worker's right to write a job. Each claim of the job gets a higher token (a fencing token), so
 * the writes of a worker whose job was claimed again are refused with PROBLEM_CONFLICT. */
struct store_claim {
    int64_t job, token;
};
/* Returns an id for staged chunks. The chunks are leased to this process, which renews the lease
 * until they are published or dropped. claim: the job that the chunks belong to, NULL: none; if the
 * job was claimed again, further chunks are refused. Runs no transaction: cheap, may be called on
 * an I/O thread. Returns 0 if out of memory; then the first chunk is refused. */
int64_t store_part_begin(struct store *store, const struct store_claim *claim);
/* Queues a chunk of n_rows rows. blobs: [n_blobs] one for each column of a dataset, one for a
 * model; the function takes ownership of the bytes of the blobs (not of the array), also on
 * failure. chunk: number of the chunk, either from 0 in ascending order, or from 1 in ascending
 * order with number 0 at any later time. `done` is called once. Returns false if the queue is over
 * its limit: the chunk is queued, but the caller should append no further chunk before a `done`.
 * Computes checksums; does not wait. */
bool store_part_append(struct store *store, int64_t part, int64_t chunk, int64_t n_rows,
                       const struct store_blob *blobs, size_t n_blobs, store_done_fn done,
                       void *arg);
/* Reads a blob of a staged part. To be called after the `done` of its chunk. Replaces the contents
 * of `out`. The CRC is checked. */
bool store_part_read(struct store *store, int64_t part, int64_t chunk, size_t column,
                     struct buf *out, struct problem *problem);
/* Whether a chunk of the part could not be stored, or may be lost because the disk failed later.
 * Such a part cannot be published: stage the data again. */
bool store_part_failed(struct store *store, int64_t part);
/* Discards a staged part; the sweep removes its chunks. Does not wait. */
void store_part_drop(struct store *store, int64_t part);

/* ---- lists ---- */
/* Which names are listed: all, those that do not expire, those that do. */
enum store_expiring { STORE_EXPIRING_ALL, STORE_EXPIRING_NOT, STORE_EXPIRING_ONLY };
/* The size of a page. 0: no limit. */
struct store_limit {
    size_t items;
    size_t bytes; /* bytes of text: the page ends with the item that reaches this limit */
    /* JSON array of GLOB patterns, of which names of listed datasets, models and the datasets and
     * models of listed jobs must match one; NULL: all names */
    const char *only;
    /* of lists of datasets, models and jobs; a job expires if its request or its model does */
    enum store_expiring expiring;
};
/* A page of a list. The caller frees it with store_page_done. */
struct store_page {
    void *items; /* [n] items of the struct type that the function documents; NULL: n is 0 */
    size_t n;
    bool more; /* more items follow in the list */
    const struct store_item *kind;
};
void store_page_done(struct store_page *page); /* NULL and {0} are allowed */

/* ---- names that expire ---- */
/* Bounds of expires_in, in seconds. A dataset or a model whose `expires_at` has passed is deleted
 * with all its versions by the sweep, which runs every 5 s, but not while a queued or running job
 * reads the dataset or trains the model. Until then the name exists. A publish with expires_in
 * makes no name expire that exists and does not: PROBLEM_CONFLICT. */
enum { STORE_EXPIRES_MIN = 60, STORE_EXPIRES_MAX = 30 * 24 * 60 * 60 };
/* What a PATCH changes; {0}: nothing. */
struct store_patch {
    const char *description; /* NULL: unchanged; "": removed */
    const char *tags;        /* JSON array; NULL: unchanged */
    bool expires;            /* sets when the name expires */
    int64_t expires_in;      /* seconds from now; 0: never */
};
/* Checks a write with expires_in (0: without it) to a name that exists. Returns false and sets
 * PROBLEM_CONFLICT if the name does not expire. kind: "dataset" or "model"; expires_at: of the
 * name. Each write checks it again. */
bool store_may_expire(const char *kind, const char *name, int64_t expires_at, int64_t expires_in,
                      struct problem *problem);

/* ---- conditions ---- */
struct store_condition {
    /* values of the headers; NULL: the header is absent */
    const char *if_match;
    const char *if_none_match;
};
/* Checks If-Match and If-None-Match against the etag (NULL: the resource does not exist). Returns
 * false and sets PROBLEM_PRECONDITION_FAILED if a condition is false. kind and name, as "dataset"
 * and "iris", are used in the message. c may be NULL. */
bool store_condition_check(const struct store_condition *c, const char *etag, const char *kind,
                           const char *name, struct problem *problem);

/* ---- idempotency keys ---- */
#define STORE_DIGEST_SIZE 65 /* SHA-256 in hex digits, and NUL */
/* The answer to a request that made something. It is kept for 24 hours. */
struct store_answer {
    int status;
    char *location; /* without the base path; "": none */
    char etag[64];  /* "": none */
    char request[STORE_DIGEST_SIZE], body_digest[STORE_DIGEST_SIZE]; /* as in struct store_key */
    struct buf body;
};
void store_answer_done(struct store_answer *answer);
/* A request with a key. */
struct store_key {
    const char *owner;               /* name of the token; "": none */
    const char *key;                 /* unique for each request of the owner */
    char request[STORE_DIGEST_SIZE]; /* digest of the request without its body */
    char body[STORE_DIGEST_SIZE];    /* digest of the body; "": not known yet */
    int64_t max_keys;                /* kept answers of the owner; 0: no limit */
    /* Writes status, location, etag and body of the answer. Runs on the writer thread, in the
     * transaction; must not call a store function that waits. made: const struct store_job * or
     * const struct store_dataset *, as it is committed. */
    void (*write)(void *arg, const void *made, struct store_answer *out);
    void *arg;
    struct store_answer answer; /* gets what was written; the caller frees it */
    int64_t retry_s; /* set with PROBLEM_TOO_MANY_REQUESTS because of max_keys: when to try again */
};
/* Holds a key, so that no other call may use it. Returns NULL after setting PROBLEM_KEY_IN_USE if
 * another call does. Cheap; asks the server if several processes may have the database open. */
struct store_key_use;
struct store_key_use *store_key_enter(struct store *store, const struct store_key *key,
                                      struct problem *problem);
void store_key_leave(struct store *store, struct store_key_use *use); /* NULL is allowed */
/* Looks for the answer to an earlier request with the key. Fails with PROBLEM_KEY_REUSED if that
 * was another request. *out: to be freed if *found. */
bool store_key_find(struct store *store, const struct store_key *key, struct store_answer *out,
                    bool *found, struct problem *problem);
/* Compares the digests. Sets PROBLEM_KEY_REUSED if they differ. */
bool store_key_check(const struct store_key *key, const struct store_answer *answer,
                     struct problem *problem);

/* ---- owners ---- */
/* Who makes a dataset version or a job, and how much the owner may have. PROBLEM_QUOTA_EXCEEDED or
 * PROBLEM_TOO_MANY_REQUESTS beyond that. */
struct store_quota {
    const char *owner; /* stored as submitted_by; NULL: none, without limits */
    int64_t max_jobs;  /* queued and running jobs; 0: no limit */
    /* bytes of chunks of dataset versions, of which a version that shares chunks with an older one
     * has its own only, and of model versions; 0: no limit */
    int64_t max_bytes;
};
/* Reads what an owner has. */
bool store_owned(struct store *store, const char *owner, int64_t *jobs, int64_t *bytes,
                 struct problem *problem);

/* ---- audit: who changed what ---- */
/* Who asks for a change. Each function that makes a change adds an entry in the transaction of the
 * change. */
struct store_actor {
    const char *token;   /* name of the token or in the client certificate; NULL: none */
    const char *client;  /* address of the client; NULL: the daemon itself */
    const char *request; /* id of the request; NULL: none */
};
struct store_audit_new {
    struct store_actor by;
    const char *action; /* "dataset.replace" */
    const char *kind;   /* "dataset", "model", "job"; NULL: none of them */
    const char *name;   /* of the dataset or the model, for a job of its model; NULL: none */
    int64_t version;    /* of the dataset or the model; 0: none, or all */
    int64_t job;        /* 0: none */
    const char *result; /* "done" or another word */
    int64_t count;      /* how many events the entry stands for; 0: 1 */
    const char *detail; /* NULL: none */
};
/* Adds an entry in a separate transaction. Used for events that do not change the store, such as a
 * start of the daemon. */
bool store_audit_add(struct store *store, const struct store_audit_new *entry,
                     struct problem *problem);
/* A call that was answered 401 or 403. */
struct store_refusal {
    struct store_actor by;
    const char *name; /* of the dataset or model in the path; NULL: none */
    const char *call; /* method and path of the route */
    bool forbidden;   /* 403; otherwise 401 */
};
/* Counts a refused call for the audit. A flood of them makes few entries; see "Audit" in README.md.
 * Does not wait. */
void store_audit_refused(struct store *store, const struct store_refusal *refusal);
struct store_audit_entry {
    int64_t seq, at;
    char *token, *client, *request; /* may be NULL */
    char *action, *kind, *name;     /* kind, name: may be NULL */
    int64_t version, job;           /* 0: none */
    char *result, *detail;          /* detail: may be NULL */
    int64_t count;
    char hash[65]; /* hexadecimal */
    bool intact;   /* the hash fits the entry and the hash of the entry before */
};
struct store_audit_filter {
    const char *name, *token, *action; /* NULL: any */
    int64_t since;                     /* not before this time; 0: from the start */
    int64_t before;                    /* only numbers below this; 0: all, from the newest */
};
/* The end of the chain. */
struct store_audit_head {
    int64_t first; /* number of the oldest entry; 0: there is no entry */
    int64_t seq;   /* number of the newest entry; 0: there was none */
    char hash[65]; /* of the newest entry, hexadecimal */
};
/* Lists entries in descending order of numbers. Items: struct store_audit_entry. *head: the end of
 * the chain at that time. */
bool store_audit_list(struct store *store, const struct store_audit_filter *filter,
                      const struct store_limit *limit, struct store_page *out,
                      struct store_audit_head *head, struct problem *problem);
/* What a check of the chain found. */
struct store_audit_report {
    struct store_audit_head head;
    int64_t n_entries;
    int64_t n_faults;
    char fault[256]; /* the first fault; "": the chain is intact */
};
/* Checks the chain in a database file, which a daemon may have open, and changes nothing. known:
 * the hash of an entry, hexadecimal, that the chain must have; NULL: none. Returns false after
 * setting the problem if the file cannot be read; a chain that is not intact is no problem. */
bool store_audit_verify(const char *path, const char *known, struct store_audit_report *out,
                        struct problem *problem);

/* ---- datasets ---- */
struct store_dataset {
    int64_t id; /* id of the version */
    char name[IDS_NAME_SIZE];
    int64_t version, n_rows, n_cols, bytes, created_at;
    char *sha256;       /* NULL after an append */
    char *content;      /* "b2:<hex>": BLAKE2b over column names, types and values */
    char *columns;      /* JSON array of column objects (names, types, summaries) */
    char *notes;        /* JSON object: how the upload was read, and warnings */
    char *options;      /* as in store_dataset_new */
    char *submitted_by; /* name of the token that made the version; NULL: there was none */
    char *description;  /* may be NULL */
    char *tags;         /* JSON array */
    int64_t revision;   /* counts changes of description, tags and expires_at */
    int64_t expires_at; /* when the name expires; 0: never */
    bool newest;        /* the newest version of its name */
    char etag[64];      /* with its quotes */
};
void store_dataset_done(struct store_dataset *d);

struct store_dataset_new {
    const char *name;
    int64_t part;
    int64_t n_rows, n_cols, bytes;
    const char *sha256, *content, *columns, *notes;
    /* options of the request that change how the body is read. If content and options equal those
     * of the newest version, no version is made */
    const char *options;
    /* `options` in document format 1, used for the comparison; may be NULL */
    const char *options_format_1;
    /* append only: id of the version to which the rows are appended. Its parts come before `part`,
     * and its rows are counted in n_rows. PROBLEM_CONFLICT if it is not the newest version. 0: no
     * append */
    int64_t onto;
    /* append only: how many of the last parts of `onto` are left out, because `part` has their
     * rows */
    int64_t taken;
    /* [n_summaries] saved summaries of the columns; without them a later append reads the chunks */
    const struct store_blob *summaries;
    size_t n_summaries;
    int64_t expires_in; /* seconds until the name expires; 0: it does not expire any more */
    struct store_quota quota;
    struct store_actor by;
    struct store_condition condition;
    struct store_key *key; /* NULL: none */
};
struct store_dataset_published {
    int64_t id, version;
    bool created; /* the name had no version */
    /* no version was made: id and version are those of the newest version, the part is dead */
    bool unchanged;
};
/* Publishes a staged part as a version, and sets when the name expires, also if no version was
 * made. dataset: gets the version as it was committed, which the caller frees; NULL: not needed. If
 * no version was made, it has the notes of `d`: how this body was read. */
bool store_dataset_publish(struct store *store, const struct store_dataset_new *d,
                           struct store_dataset_published *out, struct store_dataset *dataset,
                           struct problem *problem);
/* The queue of appends of this process. An append extends the newest version, so two appends of one
 * dataset must not end at the same time. At any time one append of a dataset runs, and at most
 * STORE_APPENDS_RUNNING of all datasets, in the order of their first store_append_run. At most
 * STORE_APPENDS_OF_ONE appends of one dataset and STORE_APPENDS_OF_ALL of all datasets have a place
 * in the queue. */
enum { STORE_APPENDS_RUNNING = 2, STORE_APPENDS_OF_ONE = 32, STORE_APPENDS_OF_ALL = 128 };
/* Takes a place in the queue. To be called when the first rows arrive. Returns the number of the
 * append, for store_append_run and store_append_leave; 0 if no place is free. */
int64_t store_append_enter(struct store *store, const char *name);
/* To be called when all rows have arrived: the first call queues the append. Returns whether it may
 * run. */
bool store_append_run(struct store *store, int64_t append);
/* Whether an append waits because another process appends to its dataset: store_append_run must be
 * tried again after some time. */
bool store_appends_wait(struct store *store);
/* Frees the place, so that other appends may run. append 0 has no effect. */
void store_append_leave(struct store *store, int64_t append);
/* Reads a version. version 0: the newest version. Fails with PROBLEM_UNKNOWN_DATASET if there is
 * none. */
bool store_dataset_get(struct store *store, const char *name, int64_t version,
                       struct store_dataset *out, struct problem *problem);
/* Reads the newest version if there is one. Returns false if the store failed. */
bool store_dataset_try_newest(struct store *store, const char *name, struct store_dataset *out,
                              bool *found, struct problem *problem);
bool store_dataset_get_by_id(struct store *store, int64_t id, struct store_dataset *out,
                             struct problem *problem);
/* Lists the newest version of each dataset in ascending order of names, from the first name after
 * `after` (NULL: from the start). Items: struct store_dataset. */
bool store_dataset_list(struct store *store, const char *after, const struct store_limit *limit,
                        struct store_page *out, struct problem *problem);
/* Lists the versions of a dataset with numbers above `after`, ascending. Items: struct
 * store_dataset. */
bool store_dataset_versions(struct store *store, const char *name, int64_t after,
                            const struct store_limit *limit, struct store_page *out,
                            struct problem *problem);
/* Changes description, tags and expires_at. by: NULL: the daemon itself. dataset: gets the newest
 * version as it was committed, which the caller frees; may be NULL. */
bool store_dataset_patch(struct store *store, const struct store_actor *by, const char *name,
                         const struct store_patch *patch, const struct store_condition *condition,
                         struct store_dataset *dataset, struct problem *problem);
/* Deletes a version (0: all versions of the dataset). The sweep removes the chunks later. Fails
 * with PROBLEM_IN_USE while a queued or running job reads a version. */
bool store_dataset_delete(struct store *store, const struct store_actor *by, const char *name,
                          int64_t version, const struct store_condition *condition,
                          struct problem *problem);

struct store_chunk {
    int64_t part, chunk;
    int64_t first_row, n_rows;
};
/* Lists the chunks of a version in row order, in an array of *n elements that the caller frees. */
bool store_dataset_chunks(struct store *store, int64_t id, struct store_chunk **out, size_t *n,
                          struct problem *problem);
/* Reads a column of a chunk. Replaces the contents of `out`. The CRC is checked. */
bool store_chunk_read(struct store *store, const struct store_chunk *chunk, size_t column,
                      struct buf *out, struct problem *problem);
/* Reads the saved summary of a column of a version. Replaces the contents of `out`, which is empty
 * if no summary is saved. Of each dataset, only the version that was published last has
 * summaries. */
bool store_dataset_summary(struct store *store, int64_t id, size_t column, struct buf *out,
                           struct problem *problem);
/* Pins a version: its chunks stay until the unpin, even if the version is deleted meanwhile. Call
 * it before store_dataset_chunks. Pins are counted, and end with the process. An unpin without a
 * pin has no effect. */
bool store_dataset_pin(struct store *store, int64_t id, struct problem *problem);
void store_dataset_unpin(struct store *store, int64_t id);

/* ---- models ---- */
struct store_model {
    int64_t id; /* id of the version */
    char name[IDS_NAME_SIZE];
    int64_t version, live_version, newest_version, created_at, bytes;
    char *submitted_by;    /* name of the token that submitted the job; NULL: there was none */
    char *rule;            /* JSON object: the decision rule of the version; NULL: none */
    int64_t rule_revision; /* counts the changes of the rule; 0: there was none */
    char *info;            /* JSON object: algorithm, parameters, classes, features, metrics, … */
    char *description;     /* description of the model; may be NULL */
    char *tags;            /* JSON array */
    int64_t revision;      /* counts changes of the model's description, tags, live version and
                              expires_at */
    int64_t expires_at;    /* when the name expires; 0: never */
    char etag[64];
    double sort; /* value by which a list is sorted; NaN: it has none, or the list is by name */
};
void store_model_done(struct store_model *m);
/* Reads a version. version 0: the live version. Fails with PROBLEM_UNKNOWN_MODEL if there is
 * none. */
bool store_model_get(struct store *store, const char *name, int64_t version,
                     struct store_model *out, struct problem *problem);
/* Reads the live version if there is one. Returns false if the store failed. */
bool store_model_try_live(struct store *store, const char *name, struct store_model *out,
                          bool *found, struct problem *problem);
/* Lists the live version of each model in ascending order of names, from the first name after
 * `after` (NULL: from the start). Items: struct store_model. */
bool store_model_list(struct store *store, const char *after, const struct store_limit *limit,
                      struct store_page *out, struct problem *problem);
/* An order of models by a number in `info`. */
struct store_model_order {
    const char *path; /* path of the number for SQLite's json_extract: "$.metrics.train.brier" */
    bool descending;
    /* last item of the page before; NULL: from the start */
    const char *after_name;
    double after_value; /* its `sort` */
};
/* Lists the live version of each model by the number, models without it last; equal ones by
 * name. */
bool store_model_list_by(struct store *store, const struct store_model_order *order,
                         const struct store_limit *limit, struct store_page *out,
                         struct problem *problem);
/* Lists the versions of a model with numbers above `after`, ascending. Items: struct
 * store_model. */
bool store_model_versions(struct store *store, const char *name, int64_t after,
                          const struct store_limit *limit, struct store_page *out,
                          struct problem *problem);
/* Reads the bytes of a version. Replaces the contents of `out`. The CRC is checked. */
bool store_model_bytes(struct store *store, int64_t id, struct buf *out, struct problem *problem);
/* Lists the chunks with rows that were staged with a version, in row order, in an array of *n
 * elements that the caller frees: predictions of held-out rows. *n 0: there are none. Their column
 * 0 is read with store_chunk_read. Fails with PROBLEM_UNKNOWN_MODEL if there is no such version. */
bool store_model_predictions(struct store *store, const char *name, int64_t version,
                             struct store_chunk **out, size_t *n, struct problem *problem);
/* Makes a version live. *model receives the live version as it was committed. The caller frees it.
 * NULL: it is not needed. */
bool store_model_set_live(struct store *store, const struct store_actor *by, const char *name,
                          int64_t version, const struct store_condition *condition,
                          struct store_model *model, struct problem *problem);
/* Sets the decision rule of a version; NULL: removes it. The condition is about the ETag of the
 * version. model: receives the version, which the caller frees. */
bool store_model_set_rule(struct store *store, const struct store_actor *by, const char *name,
                          int64_t version, const char *rule,
                          const struct store_condition *condition, struct store_model *model,
                          struct problem *problem);
/* Like store_dataset_patch. model: as in store_model_set_live. */
bool store_model_patch(struct store *store, const struct store_actor *by, const char *name,
                       const struct store_patch *patch, const struct store_condition *condition,
                       struct store_model *model, struct problem *problem);
/* Deletes a version (0: all versions). promote: the version that becomes live; 0: none. Fails with
 * PROBLEM_CONFLICT if the live version is deleted, other versions exist and none is promoted. When
 * its last version is deleted, the model is deleted; its version numbers are not used again. */
bool store_model_delete(struct store *store, const struct store_actor *by, const char *name,
                        int64_t version, int64_t promote, const struct store_condition *condition,
                        struct problem *problem);

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
    char *request; /* JSON object: the body of the POST; NULL: an earlier release made the job */
    char *spec;    /* JSON object: the validated request with all values resolved */
    char *submitted_by; /* name of the token of the POST; NULL: there was none */
    int64_t created_at, started_at, finished_at;
    int64_t attempts;
    int64_t token; /* token of the latest claim; 0: the job was never claimed */
    bool cancel_requested;
    bool search_cancelled; /* a cancellation has ended the search: store_job_end_search */
    char *progress;        /* JSON object or NULL */
    char *warnings;        /* JSON array */
    char *error;           /* problem document or NULL */
    char *result;          /* JSON object without "model" and "version", or NULL */
    int64_t version;       /* version of the model that the job made; 0: none */
    int64_t last_event;    /* number of the newest event of the job */
    char etag[64];         /* with its quotes; each change of the document makes an event */
};
void store_job_done(struct store_job *j);

struct store_job_new {
    const char *model, *algorithm;
    /* id of the version to train on; PROBLEM_UNKNOWN_DATASET if that was deleted */
    int64_t dataset_id;
    /* id of the version to validate on; PROBLEM_UNKNOWN_DATASET if that was deleted; 0: none */
    int64_t validation_id;
    const char *request; /* JSON object, or NULL */
    const char *spec;
    const char *warnings; /* JSON array, or NULL */
    /* Seconds from the end of the job until the model expires; 0: it does not expire any more.
     * PROBLEM_CONFLICT if the model exists and does not expire; a model that was made meanwhile
     * and does not expire stays so. The job is deleted with the model, and `expires_in` after its
     * end if it made none. */
    int64_t expires_in;
    struct store_quota quota;
    struct store_actor by;
    int64_t max_queued; /* PROBLEM_UNAVAILABLE if at least this many jobs are queued; 0: no limit */
    struct store_key *key; /* NULL: none */
};
/* Queues a job. job, also in store_job_cancel: gets the job as it was committed, which the caller
 * frees; NULL: not needed. */
bool store_job_insert(struct store *store, const struct store_job_new *j, int64_t *id,
                      struct store_job *job, struct problem *problem);
/* Reads a job. Fails with PROBLEM_UNKNOWN_JOB if there is none. */
bool store_job_get(struct store *store, int64_t id, struct store_job *out, struct problem *problem);
/* Reads only the state, which is cheaper. Fails with PROBLEM_UNKNOWN_JOB if there is no such
 * job. */
bool store_job_get_state(struct store *store, int64_t id, enum store_job_state *out,
                         struct problem *problem);
struct store_job_filter {
    int state;         /* enum store_job_state; -1: any state */
    const char *model; /* name of the model; NULL: any model */
    int64_t before;    /* only ids below this; 0: all, from the newest */
};
/* Lists jobs in descending order of ids. Items: struct store_job, without `request`. */
bool store_job_list(struct store *store, const struct store_job_filter *filter,
                    const struct store_limit *limit, struct store_page *out,
                    struct problem *problem);
/* Counts the jobs in each state. counts: indexed by enum store_job_state. */
bool store_job_counts(struct store *store, int64_t counts[5], struct problem *problem);

/* Claims the oldest queued job for a worker: sets it running, counts an attempt, sets owner, lease
 * and a new token, and clears progress and history. Before that, it queues again the jobs whose
 * lease ended; a job with max_attempts attempts fails with PROBLEM_JOB_CRASHED. *found: false if no
 * job may start now.
 *
 * A job that was running when a process died is a suspect: it may have caused the crash. At most
 * one suspect runs at a time; while one runs, queued jobs that are not suspects may start. The last
 * attempt of a suspect starts only when no job runs, and no job is claimed while it runs.
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
    bool trial;      /* a trial of a search, which outlives the attempt; without an iteration */
    const char *doc; /* JSON object */
};
/* Renews the lease of a claimed job. progress: JSON object, stored with the job and as a "progress"
 * event; NULL: none. rows: history rows since the last call. *cancel: whether a user asked to
 * cancel the job. Fails with PROBLEM_CONFLICT if the claim is lost. */
bool store_job_report(struct store *store, const struct store_claim *claim, const char *progress,
                      const struct store_history_row *rows, size_t n_rows, bool *cancel,
                      struct problem *problem);
/* Notes that the search of a claimed job has ended. If a user asked to cancel it, the job is not to
 * be cancelled any more, and has search_cancelled in its further attempts; a later cancellation is
 * for the training of the winner. Fails with PROBLEM_CONFLICT if the claim is lost. */
bool store_job_end_search(struct store *store, const struct store_claim *claim,
                          struct problem *problem);
/* Whether a new version of a model becomes live. */
struct store_promotion {
    bool promote; /* a model without a live version gets one in any case */
    int64_t live; /* the live version when the caller decided; 0: none */
};
struct store_job_end {
    struct store_claim claim;
    /* SUCCEEDED, FAILED or CANCELLED; QUEUED: the job is queued again and its attempt is not
     * counted, unless it has `crashed` */
    enum store_job_state state;
    bool crashed;
    const char *progress, *warnings, *error, *result; /* JSON or NULL */
    const char *algorithm; /* that of the winner of a search; NULL: as it was submitted */
    /* [n_rows] history rows since the last report */
    const struct store_history_row *rows;
    size_t n_rows;
    int64_t model_part; /* SUCCEEDED: the staged part with the model's bytes */
    int64_t model_bytes;
    int64_t prediction_bytes; /* bytes of the chunks with rows, which follow those of the model */
    const char *model_info;   /* JSON object */
    const char *rule;         /* JSON object: the decision rule; NULL: none */
    /* SUCCEEDED: NULL: the model becomes live. Otherwise the end fails with
     * PROBLEM_PRECONDITION_FAILED if another version is live than the caller knew */
    const struct store_promotion *promotion;
    /* SUCCEEDED: deletes the versions that are neither live nor among the newest keep_versions; 0:
     * deletes none */
    int64_t keep_versions;
    /* SUCCEEDED: max_bytes of struct store_quota for the owner of the job; fails with
     * PROBLEM_QUOTA_EXCEEDED if the owner would have more with the model; 0: no limit */
    int64_t max_bytes;
};
/* Ends a claimed job in one transaction, which also publishes the model if the job succeeded.
 * *out_version: version of the model; 0: none; out_version may be NULL. Fails with PROBLEM_CONFLICT
 * if the claim is lost. */
bool store_job_end(struct store *store, const struct store_job_end *end, int64_t *out_version,
                   struct problem *problem);
/* Cancels a queued job, or asks the worker of a running job to stop. Fails with PROBLEM_CONFLICT if
 * the job has ended. condition, key: may be NULL. */
bool store_job_cancel(struct store *store, const struct store_actor *by, int64_t id,
                      const struct store_condition *condition, struct store_key *key,
                      struct store_job *job, struct problem *problem);
/* Deletes an ended job. Fails with PROBLEM_CONFLICT if the job is queued or running. condition: may
 * be NULL. */
bool store_job_delete(struct store *store, const struct store_actor *by, int64_t id,
                      const struct store_condition *condition, struct problem *problem);
/* Deletes all ended jobs except the `keep` jobs that ended last. */
bool store_job_prune(struct store *store, int64_t keep, struct problem *problem);

enum store_event_kind { STORE_EVENT_STATE, STORE_EVENT_PROGRESS, STORE_EVENT_DONE };
struct store_event {
    int64_t seq; /* number of the event among the events of the job, from 1 */
    enum store_event_kind kind;
    char *progress; /* PROGRESS: JSON object; other kinds: NULL */
    /* STATE and DONE: the members below are those of the job at the time of the event */
    enum store_job_state state;
    int64_t attempts, started_at;
    char *warnings; /* JSON array */
};
/* Lists the events of a job with numbers above `after`, ascending. Items: struct store_event. Fails
 * with PROBLEM_UNKNOWN_JOB if there is no such job. */
bool store_job_events(struct store *store, int64_t id, int64_t after,
                      const struct store_limit *limit, struct store_page *out,
                      struct problem *problem);
/* Lists the history rows of a job, or its snapshots, in the order in which they were reported.
 * Items: struct store_history_row. Fails with PROBLEM_UNKNOWN_JOB if there is no such job. */
bool store_job_history(struct store *store, int64_t id, bool snapshots,
                       const struct store_limit *limit, struct store_page *out,
                       struct problem *problem);
/* Lists the trials of a search in the order in which they ended, of all attempts, without damaged
 * rows. Items: struct store_history_row. Fails with PROBLEM_UNKNOWN_JOB if there is no such job. */
bool store_job_trials(struct store *store, int64_t id, const struct store_limit *limit,
                      struct store_page *out, struct problem *problem);
/* Reads the snapshot of an iteration or update. *doc: JSON object, freed by the caller; NULL: the
 * job kept no snapshot with this number. Fails with PROBLEM_UNKNOWN_JOB if there is no such job. */
bool store_job_snapshot(struct store *store, int64_t id, int64_t iteration, char **doc,
                        struct problem *problem);

#endif
