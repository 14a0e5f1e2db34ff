/* The writer thread: the only writing connection, two queues (state before bulk), and housekeeping
 * between transactions (the engine's work, renewal of leases, sweep).
 *
 * A transaction is a function, fn(tx, arg), that the writer thread runs between BEGIN and COMMIT.
 * Its writes use tx->connection and tx->problem: after the first failure they have no effect, and
 * the caller gets this failure. State transactions that wait at the same time share one COMMIT,
 * each in a savepoint. Their callers return after the COMMIT. */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "base/metrics/metrics.h"
#include "store/engine/query.h"
#include "store/store.h"
#include <pthread.h>

/* A running transaction. */
struct store_tx {
    struct store *store;
    struct store_connection *connection; /* connection of the writer thread */
    struct problem *problem;             /* the caller's problem; keeps the first failure */
    int64_t now;                         /* milliseconds since 1970 */
};
typedef void (*store_tx_fn)(struct store_tx *tx, void *arg);

/* Records a change, which is added to the ring after the commit. name: of a dataset or model; NULL
 * for a job. */
void store_tx_change(struct store_tx *tx, enum store_change_kind kind, const char *name,
                     int64_t job);
/* Records a change of the versions of a model; see struct store_change. */
void store_tx_model_change(struct store_tx *tx, const char *name, int64_t live, int64_t oldest,
                           int64_t removed);

/* A queued transaction (work item). It is in memory of the caller until `done` is called. */
struct store_work {
    struct store_work *next;
    store_tx_fn run;
    void *arg;
    struct problem *problem; /* the caller's problem, {0} */
    /* called on the writer thread, after the commit or the failure; may free the work item */
    void (*done)(struct store_work *work);
    size_t bytes; /* bulk items: bytes that count against bulk_limit */
    /* STORE_BEGIN_LAZY: a power failure may undo the transaction */
    bool lazy;
    /* other processes may write at the same time: it inserts what no other process knows of, and
     * records no change */
    bool apart;
    /* time when the item was queued, for the latency histogram */
    int64_t queued_ns;
    size_t mark; /* number of changes recorded before this item */
};

struct store_queue {
    struct store_work *first, **last; /* last: the link to which the next item is added */
    size_t n;
    int64_t bytes; /* bytes of the items that are queued or being written */
};

enum { STORE_OWNERS = 64 }; /* processes that store_recover looks for at once */

struct store_writer {
    struct store_connection *connection;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the queues, the flags and the counters of the pulse */
    pthread_cond_t work;   /* signalled when an item was queued or a flag was set */
    pthread_cond_t pulse;  /* `answered` has changed */
    struct store_queue state, bulk;
    bool stopping; /* the thread ends when the queues are empty */
    bool sweep;    /* a step of the sweep is due */
    bool refused;  /* entries of refused calls are due */
    /* store_writer_pulse: number of requests, and number of those that the thread has answered */
    uint64_t asked, answered;
    enum store_writes writes;            /* OK, FAILING or FULL; see writes.h */
    int64_t writes_since, working_since; /* ms since 1970; 0: writes are OK; the thread waits */
    /* only the writer thread uses the members below */
    bool lost;      /* the database must be opened again before the next transaction */
    bool lost_full; /* for lack of room on the disk */
    /* time of the next probe, or of the next attempt to open the database again */
    int64_t probe_ns;
    size_t refused_bytes;  /* size of the last chunk that the disk had no room for; 0: none */
    int64_t idle_since_ns; /* time of the last work item or idle work; at first the time
                                     of the start */
    int64_t bulk_ns;       /* time when the bulk queue was last served or found empty */
    int64_t keep_alive_ns; /* time of the next renewal of leases */
    int64_t sweep_ns;      /* time of the next regular step of the sweep */
    int64_t recover_ns;    /* time of the next store_recover; 0: none is due */
    int64_t look_until_ns; /* until then store_recover looks again for processes that have ended */
    char gone[STORE_OWNERS][33]; /* those that it found at its last look */
    size_t n_gone;
    int64_t swept_ns;             /* time of the last step of the sweep */
    struct store_change *changes; /* changes of the transactions in the current COMMIT */
    size_t n_changes, changes_room;
    struct metric *state_seconds, *bulk_seconds, *swept_bytes;
    struct metric *writable, *failures[4], *reopened; /* failures: by enum store_failure */
};

bool store_writer_init(struct store *store, struct problem *problem);
void store_writer_done(struct store *store);
/* Starts the thread. The thread owns the connection, which the caller has opened, until
 * store_writer_stop. */
bool store_writer_start(struct store *store, struct problem *problem);
/* Runs the queued items and ends the thread. After that the caller owns the connection. */
void store_writer_stop(struct store *store);

/* Run fn as a state transaction and wait for its commit, which is durable or lazy. Must not be
 * called on the writer thread. */
bool store_write(struct store *store, store_tx_fn fn, void *arg, struct problem *problem);
bool store_write_lazy(struct store *store, store_tx_fn fn, void *arg, struct problem *problem);
/* Queues a bulk transaction. Returns false if the queue is now over its limit. */
bool store_writer_push_bulk(struct store *store, struct store_work *work);
/* Makes the entries of refused calls due. */
void store_writer_refused(struct store *store);
/* Makes a step of the sweep due. */
void store_writer_kick(struct store *store);
/* Asks the writer thread whether writes succeed. Sets out->writes and out->since:
 * STORE_WRITES_STUCK if the thread does not answer within the time. */
void store_writer_pulse(struct store *store, int64_t timeout_ms, struct store_health *out);

/* transaction.c, on the writer thread: runs a list of work items in one transaction and calls the
 * `done` of each. seconds: histogram of the time from queueing to commit. */
void store_run_group(struct store *store, struct store_work *works, struct metric *seconds);
/* For housekeeping on the writer thread: runs one transaction. */
bool store_writer_transact(struct store *store, store_tx_fn fn, void *arg, bool durable,
                           struct problem *problem);

#endif
