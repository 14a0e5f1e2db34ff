/* Opens the database again after a failed write or fsync. The steps are in reopen.h. */
#include "store/sqlite/reopen.h"
#include "base/log/log.h"
#include "store/engine/writes.h"
#include "store/sqlite/file/logfile.h"
#include <unistd.h>

enum { READERS_MS = 5000 };

static void close_connection(struct store_writer *w) {
    store_sqlite_abandon(w->connection);
    w->connection = NULL;
}

static _Noreturn void lost_for_good(const struct store *store, const char *what) {
    log_error("store.lost", log_str("database", store->name), log_str("reason", what));
    _exit(STORE_EXIT_LOST);
}

/* Does step 2. */
static void supersede(struct store *store) {
    struct store_writer *w = &store->writer;
    struct store_file *file = store_file_of(store);
    if (w->connection != NULL) {
        w->lost = false; /* allows this transaction */
        file->superseding = true;
        file->in_log = !store_writes_try(store, false);
        file->superseding = false;
        w->lost = true;
    }
}

void store_sqlite_retract(struct store *store) {
    struct store_file *file = store_file_of(store);
    if (!file->superseding) {
        file->in_log = true;
        supersede(store);
    }
}

/* Opens the connection, which recovers the log, and copies the log into the file. */
static bool recover_log(struct store *store, struct problem *problem) {
    struct store_writer *w = &store->writer;
    struct store_log *log = &store_file_of(store)->log;
    const int durable = log->durable;
    w->connection = store_sqlite_connect(store->name, STORE_WRITE, problem);
    log->pages = log->done = log->retry = 0;
    log->blocked = false;
    if (w->connection != NULL) {
        store_checkpoint_watch(store);
        store_count_blobs(store, problem);
    }
    if (problem->type != PROBLEM_NONE) {
        if (problem->permanent) {
            lost_for_good(store, problem->detail);
        }
        return false;
    }
    const bool copied = store_checkpoint(store, SQLITE_CHECKPOINT_PASSIVE, 0);
    if (copied && log->pages < durable) {
        lost_for_good(store, "the write-ahead log is shorter than the disk had confirmed");
    }
    return copied && log->done == log->pages;
}

static bool reopen(struct store *store, struct problem *problem) {
    struct store_file *file = store_file_of(store);
    if (!store_logfile_rewrite(file->log_path, problem)) {
        return false;
    }
    const int durable = file->log.durable;
    if (recover_log(store, problem)) {
        return true;
    }
    file->log.durable = durable; /* for the next attempt */
    close_connection(&store->writer);
    return problem->type != PROBLEM_NONE
               ? false
               : problem_set(problem, PROBLEM_INTERNAL,
                             "the write-ahead log cannot be copied into the file");
}

bool store_sqlite_reopen(struct store *store) {
    struct store_file *file = store_file_of(store);
    struct problem problem = {0};
    if (file->in_log) {
        supersede(store);
    }
    if (!store_readers_shut(&store->readers, READERS_MS)) {
        log_warn("store.reopen", log_str("problem", "a read has not ended"));
        return false;
    }
    close_connection(&store->writer);
    const bool good = reopen(store, &problem);
    store_readers_admit(&store->readers);
    if (good) {
        file->in_log = false;
    } else {
        log_warn("store.reopen", log_str("problem", problem.detail));
    }
    problem_done(&problem);
    return good;
}
