/* Opens the database again after a failed write or fsync. The steps are in reopen.h. */
#include "store/sqlite/engine/reopen.h"
#include "base/log/log.h"
#include "store/sqlite/engine/writes.h"
#include "store/sqlite/file/logfile.h"
#include <unistd.h>

enum { READERS_MS = 5000 };

static void close_connection(struct store_writer *w) {
    store_connection_abandon(w->connection);
    w->connection = NULL;
}

static _Noreturn void lost_for_good(const struct store *store, const char *what) {
    log_error("store.lost", log_str("database", store->path), log_str("reason", what));
    _exit(STORE_EXIT_LOST);
}

void store_supersede(struct store *store) {
    struct store_writer *w = &store->writer;
    if (w->connection != NULL) {
        w->lost = false; /* allows this transaction */
        w->superseding = true;
        w->in_log = !store_writes_try(store, false);
        w->superseding = false;
        w->lost = true;
    }
}

/* Opens the connection, which recovers the log, and copies the log into the file. */
static bool recover_log(struct store *store, struct problem *problem) {
    struct store_writer *w = &store->writer;
    const int durable = w->log_durable;
    int64_t blobs = 0;
    w->connection = store_connection_open(store->path, STORE_WRITE, problem);
    w->durable = true; /* SQLite's default is synchronous=FULL */
    w->log_pages = w->log_done = w->log_retry = 0;
    w->log_blocked = false;
    if (w->connection != NULL) {
        sqlite3_wal_hook(w->connection->db, store_checkpoint_hook, w);
        blobs = STORE_ASK(w->connection, problem, 0, "SELECT coalesce(max(id), 0) + 1 FROM blobs",
                          STORE_NO_VALUES);
    }
    if (problem->type != PROBLEM_NONE) {
        if (problem->permanent) {
            lost_for_good(store, problem->detail);
        }
        return false;
    }
    store->next_blob = blobs > store->next_blob ? blobs : store->next_blob;
    const bool copied = store_checkpoint(w, SQLITE_CHECKPOINT_PASSIVE, 0);
    if (copied && w->log_pages < durable) {
        lost_for_good(store, "the write-ahead log is shorter than the disk had confirmed");
    }
    return copied && w->log_done == w->log_pages;
}

static bool reopen(struct store *store, struct problem *problem) {
    struct store_writer *w = &store->writer;
    if (!store_logfile_rewrite(store->log_path, problem)) {
        return false;
    }
    const int durable = w->log_durable;
    if (recover_log(store, problem)) {
        return true;
    }
    w->log_durable = durable; /* for the next attempt */
    close_connection(w);
    return problem->type != PROBLEM_NONE
               ? false
               : problem_set(problem, PROBLEM_INTERNAL,
                             "the write-ahead log cannot be copied into the file");
}

bool store_reopen(struct store *store) {
    struct store_writer *w = &store->writer;
    struct problem problem = {0};
    if (w->in_log) {
        store_supersede(store);
    }
    if (!store_readers_shut(&store->readers, READERS_MS)) {
        log_warn("store.reopen", log_str("problem", "a read has not ended"));
        return false;
    }
    close_connection(w);
    const bool good = reopen(store, &problem);
    store_readers_admit(&store->readers);
    if (good) {
        /* a transaction that was reported as failed may be committed: caches read again */
        store_ring_lose(&store->ring);
        w->lost = w->in_log = false;
        metric_add(w->reopened, 1);
        log_warn("store.reopened", log_str("database", store->path));
    } else {
        log_warn("store.reopen", log_str("problem", problem.detail));
    }
    problem_done(&problem);
    return good;
}
