/* The writer thread: the only writing connection, two queues (state before bulk), and the
 * housekeeping between them (checkpoints, sweeping, keep-alive).
 *
 * A transaction is a value: fn(tx, arg) runs on the writer thread between BEGIN IMMEDIATE and
 * COMMIT. Its writes go through tx->connection with tx->problem, so they are no-ops after the first
 * failure, and that failure is what the caller gets. Waiting state transactions share one COMMIT,
 * each in a savepoint of its own; nobody is told of success before the COMMIT. */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "base/metrics/metrics.h"
#include "store/sqlite/engine/query.h"
#include "store/store.h"
#include <pthread.h>

/* What a transaction works with. */
struct store_tx {
    struct store *store;
    struct store_connection *connection; /* the writing one */
    struct problem *problem;             /* sticky: the first failure */
    int64_t now;                         /* milliseconds since 1970 */
};
typedef void (*store_tx_fn)(struct store_tx *tx, void *arg);

/* Notes a change to be shown when the transaction is committed. name: of a dataset or model, NULL
 * for a job. */
void store_tx_change(struct store_tx *tx, enum store_change_kind kind, const char *name,
                     int64_t job);
/* Likewise, of the versions of a model: members of struct store_change. */
void store_tx_model_change(struct store_tx *tx, const char *name, int64_t live, int64_t oldest,
                           int64_t removed);

/* A queued transaction; lives in the caller's memory until `done` was called. */
struct store_work {
    struct store_work *next;
    store_tx_fn run;
    void *arg;
    struct problem *problem;               /* the caller's, {0} */
    void (*done)(struct store_work *work); /* on the writer thread, after the commit or the failure;
                                              may free the work */
    size_t bytes;                          /* of a bulk work: counted against the queue's limit */
    bool lazy;                             /* need not survive a power failure */
    int64_t queued_ns;                     /* for the latency histogram */
    size_t mark;                           /* changes noted before it */
};

struct store_queue {
    struct store_work *first, **last; /* last: where the next one is linked */
    size_t n;
    int64_t bytes; /* in the queue or being written */
};

struct store_writer {
    struct store_connection *connection;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the queues, the flags and the pulse */
    pthread_cond_t work;   /* something to do */
    pthread_cond_t pulse;  /* answered changed */
    struct store_queue state, bulk;
    bool stopping; /* ends when the queues are empty */
    bool sweep;    /* there may be something to sweep */
    uint64_t asked,
        answered; /* the pulse: the writer copies asked to answered whenever it passes by */
    /* of the writer thread alone */
    bool durable;          /* PRAGMA synchronous is FULL now */
    int log_pages;         /* frames in the write-ahead log, by SQLite's hook */
    int log_done;          /* of them checkpointed */
    int log_retry;         /* a RESTART that readers hindered is tried again at this length */
    bool log_blocked;      /* readers kept the last RESTART from its end */
    int64_t idle_since_ns; /* when it last had something to do */
    int64_t bulk_ns;       /* when it last wrote a chunk or swept */
    int64_t keep_alive_ns; /* when the leases are renewed next */
    int64_t sweep_ns;      /* when expired parts are looked for next */
    int64_t recover_ns;    /* when what the last daemon left is given back; 0: it has been */
    int64_t swept_ns;      /* when a step of the sweep was made last */
    struct store_change *changes; /* of the transactions being committed */
    size_t n_changes, changes_room;
    struct metric *state_seconds, *bulk_seconds, *checkpoint_seconds, *checkpoints[4], *swept_bytes;
};

bool store_writer_init(struct store *store, struct problem *problem);
void store_writer_done(struct store *store);
/* Starts the thread; the connection, opened by the caller, is the thread's from then on. */
bool store_writer_start(struct store *store, struct problem *problem);
/* Does what is queued, then ends the thread: the connection is the caller's again. */
void store_writer_stop(struct store *store);

/* Runs fn as a state transaction and waits for its commit. `lazy`: synchronous=NORMAL will do. Not
 * on the writer thread. */
bool store_write(struct store *store, store_tx_fn fn, void *arg, struct problem *problem);
bool store_write_lazy(struct store *store, store_tx_fn fn, void *arg, struct problem *problem);
/* Queues a bulk transaction. False: the queue is over its limit now (it is queued all the same). */
bool store_writer_push_bulk(struct store *store, struct store_work *work);
/* There is something to sweep. */
void store_writer_kick(struct store *store);
/* Whether the writer thread passes by within the time. */
bool store_writer_pulse(struct store *store, int64_t timeout_ms);

/* transaction.c, on the writer thread: runs a list of works in one transaction and calls each one's
 * done. seconds: the histogram of their latency. */
void store_run_group(struct store *store, struct store_work *works, struct metric *seconds);
/* For housekeeping on the writer thread itself: one transaction, synchronous=NORMAL (or FULL). */
bool store_writer_transact(struct store *store, store_tx_fn fn, void *arg, bool durable,
                           struct problem *problem);

/* checkpoint.c, on the writer thread. pressing: somebody waits for a commit. */
int store_checkpoint_hook(void *writer, sqlite3 *db, const char *name, int pages);
void store_checkpoint_due(struct store *store, bool pressing);
bool store_checkpoint_holds(
    struct store *store); /* the log must be shortened before more chunks come */
void store_checkpoint_idle(struct store *store);
void store_checkpoint_last(struct store *store);

#endif
