/* The writer thread: the only writing connection, two queues (state before bulk), and housekeeping
 * between transactions (checkpoints, renewal of leases, sweep).
 *
 * A transaction is a function, fn(tx, arg), that the writer thread runs between BEGIN IMMEDIATE and
 * COMMIT. Its writes use tx->connection and tx->problem: after the first failure they have no
 * effect, and the caller gets this failure. State transactions that wait at the same time share one
 * COMMIT, each in a savepoint. Their callers return after the COMMIT. */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "base/metrics/metrics.h"
#include "store/sqlite/engine/query.h"
#include "store/store.h"
#include <pthread.h>

/* A running transaction. */
struct store_tx {
    struct store *store;
    struct store_connection *connection; /* of the writer thread */
    struct problem *problem;             /* of the caller; keeps the first failure */
    int64_t now;                         /* milliseconds since 1970 */
};
typedef void (*store_tx_fn)(struct store_tx *tx, void *arg);

/* Records a change, which enters the ring after the commit. name: of a dataset or model, NULL for a
 * job. */
void store_tx_change(struct store_tx *tx, enum store_change_kind kind, const char *name,
                     int64_t job);
/* Records a change of the versions of a model: see struct store_change. */
void store_tx_model_change(struct store_tx *tx, const char *name, int64_t live, int64_t oldest,
                           int64_t removed);

/* A queued transaction, in memory of the caller until `done` is called. */
struct store_work {
    struct store_work *next;
    store_tx_fn run;
    void *arg;
    struct problem *problem;               /* the caller's, {0} */
    void (*done)(struct store_work *work); /* on the writer thread, after the commit or the failure;
                                              may free the work */
    size_t bytes;                          /* of a bulk work: counted against bulk_limit */
    bool lazy;                             /* synchronous=NORMAL: a power failure may undo it */
    int64_t queued_ns;                     /* for the latency histogram */
    size_t mark;                           /* number of changes recorded before it */
};

struct store_queue {
    struct store_work *first, **last; /* last: link to which the next work is added */
    size_t n;
    int64_t bytes; /* in the queue or being written */
};

struct store_writer {
    struct store_connection *connection;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the queues, the flags and the pulse */
    pthread_cond_t work;   /* a work was queued, or a flag was set */
    pthread_cond_t pulse;  /* `answered` has changed */
    struct store_queue state, bulk;
    bool stopping; /* the thread ends when the queues are empty */
    bool sweep;    /* a step of the sweep is due */
    uint64_t asked,
        answered; /* store_writer_pulse: the thread sets `answered` to `asked` in each round */
    /* The members below are used by the writer thread alone. */
    bool durable;          /* PRAGMA synchronous is FULL */
    int log_pages;         /* number of frames in the write-ahead log */
    int log_done;          /* number of these frames that a checkpoint copied */
    int log_retry;         /* log_pages of the next RESTART, after one that readers prevented */
    bool log_blocked;      /* readers prevented the last RESTART */
    int64_t idle_since_ns; /* time of the last work */
    int64_t bulk_ns;       /* time of the last chunk's transaction, or of an empty bulk queue */
    int64_t keep_alive_ns; /* time of the next renewal of leases */
    int64_t sweep_ns;      /* time of the next search for parts whose lease ended */
    int64_t recover_ns;    /* time of the next store_recover; 0: it has succeeded */
    int64_t swept_ns;      /* time of the last step of the sweep */
    struct store_change *changes; /* of the transactions in the current COMMIT */
    size_t n_changes, changes_room;
    struct metric *state_seconds, *bulk_seconds, *checkpoint_seconds, *checkpoints[4], *swept_bytes;
};

bool store_writer_init(struct store *store, struct problem *problem);
void store_writer_done(struct store *store);
/* Starts the thread. It owns the connection, which the caller has opened, until
 * store_writer_stop. */
bool store_writer_start(struct store *store, struct problem *problem);
/* Runs what is queued and ends the thread. The caller owns the connection again. */
void store_writer_stop(struct store *store);

/* Run fn as a state transaction and wait for its commit: with synchronous=FULL, or NORMAL (lazy).
 * Not to be called on the writer thread. */
bool store_write(struct store *store, store_tx_fn fn, void *arg, struct problem *problem);
bool store_write_lazy(struct store *store, store_tx_fn fn, void *arg, struct problem *problem);
/* Queues a bulk transaction. Returns false if the queue is over its limit now. */
bool store_writer_push_bulk(struct store *store, struct store_work *work);
/* Makes a step of the sweep due. */
void store_writer_kick(struct store *store);
/* Returns whether the writer thread answers within the time. */
bool store_writer_pulse(struct store *store, int64_t timeout_ms);

/* transaction.c, on the writer thread: runs a list of works in one transaction and calls the `done`
 * of each. seconds: histogram of the time from queueing to commit. */
void store_run_group(struct store *store, struct store_work *works, struct metric *seconds);
/* Housekeeping on the writer thread: runs one transaction. durable: with synchronous=FULL. */
bool store_writer_transact(struct store *store, store_tx_fn fn, void *arg, bool durable,
                           struct problem *problem);

/* checkpoint.c, on the writer thread. pressing: a caller waits for a commit. */
int store_checkpoint_hook(void *writer, sqlite3 *db, const char *name, int pages);
void store_checkpoint_due(struct store *store, bool pressing);
bool store_checkpoint_holds(
    struct store *store); /* the log must be shortened before more chunks come */
void store_checkpoint_idle(struct store *store);
void store_checkpoint_last(struct store *store);

#endif
