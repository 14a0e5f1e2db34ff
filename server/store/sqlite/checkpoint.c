/* Checkpoints of the write-ahead log, made by the writer thread between transactions. They are
 * frequent and small, so that the log stays short and no commit waits long. */
#include "store/sqlite/checkpoint.h"
#include "base/process/clock.h"
#include "store/sqlite/sqlite.h"

#define PAGES(mib) ((mib)*1024 * 1024 / STORE_PAGE_SIZE)
enum {
    /* a checkpoint is due if at least this many pages of the log are not in the file yet */
    STEP_PAGES = PAGES(8),
    DEFER_PAGES = PAGES(12), /* the same limit while a caller waits for a commit */
    /* if the log has this many pages, wait for readers, so that the log can restart */
    INSIST_PAGES = PAGES(16),
    HOLD_PAGES = PAGES(40), /* if the log has this many pages, write no chunk before the restart */
    TRUNCATE_PAGES = PAGES(4), /* an idle store truncates a log file longer than this */
    READER_MS = 50,            /* longest wait for readers; a reader copies one chunk at a time */
    HOLD_MS = 2000             /* longest time that chunks wait for the restart */
};

static struct store_log *log_of(struct store *store) {
    return &store_file_of(store)->log;
}

/* Runs after each commit. */
static int note_commit(void *arg, sqlite3 *db, const char *name, int pages) {
    struct store *store = arg;
    struct store_log *log = log_of(store);
    (void)db;
    (void)name;
    /* the log has restarted */
    if (pages < log->pages) {
        log->done = 0;
        log->retry = 0;
        log->blocked = false;
        log->durable = 0;
    }
    log->pages = pages;
    log->durable = store_sqlite_of(store->writer.connection)->durable ? pages : log->durable;
    return SQLITE_OK;
}

void store_checkpoint_watch(struct store *store) {
    sqlite3_wal_hook(store_sqlite_db(store->writer.connection), note_commit, store);
}

bool store_checkpoint(struct store *store, int mode, int wait_ms) {
    struct store_connection *c = store->writer.connection;
    struct store_log *log = log_of(store);
    int64_t start = clock_monotonic_ns();
    int pages = -1, done = -1;
    sqlite3_busy_timeout(store_sqlite_db(c), wait_ms);
    int code = sqlite3_wal_checkpoint_v2(store_sqlite_db(c), NULL, mode, &pages, &done);
    sqlite3_busy_timeout(store_sqlite_db(c), STORE_BUSY_MS);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) {
        store_sqlite_checkpoint_failed(c, code);
    }
    if (pages >= 0 && done >= 0) {
        log->pages = pages;
        log->done = done;
        /* SQLite has synced the file if all pages are in it */
        log->durable = done < pages ? log->durable : 0;
    }
    if (mode != SQLITE_CHECKPOINT_PASSIVE) {
        log->blocked = (code & 0xff) == SQLITE_BUSY;
    }
    metric_add(log->made[mode], 1);
    metric_observe(log->seconds, (double)(clock_monotonic_ns() - start) * 1e-9);
    return code == SQLITE_OK;
}

/* PASSIVE copies the pages that no reader needs in the log. If all were copied, the next commit
 * restarts the log, unless a reader still uses it. RESTART also waits for such readers. */
void store_checkpoint_due(struct store *store, bool pressing) {
    struct store_log *log = log_of(store);
    if (log->pages >= INSIST_PAGES && log->pages >= log->retry) {
        store_checkpoint(store, SQLITE_CHECKPOINT_RESTART, READER_MS);
        log->retry = log->pages >= HOLD_PAGES ? HOLD_PAGES : log->pages + STEP_PAGES / 2;
    } else if (log->pages - log->done >= (pressing ? DEFER_PAGES : STEP_PAGES)) {
        store_checkpoint(store, SQLITE_CHECKPOINT_PASSIVE, 0);
    }
}

bool store_checkpoint_holds(struct store *store) {
    const struct store_log *log = log_of(store);
    return log->pages >= HOLD_PAGES && log->blocked &&
           clock_monotonic_ns() - store->writer.bulk_ns < (int64_t)HOLD_MS * 1000000;
}

bool store_checkpoint_pending(struct store *store) {
    return log_of(store)->pages > log_of(store)->done;
}

void store_checkpoint_idle(struct store *store) {
    const struct store_log *log = log_of(store);
    store_checkpoint(store,
                     log->pages > TRUNCATE_PAGES ? SQLITE_CHECKPOINT_TRUNCATE
                                                 : SQLITE_CHECKPOINT_PASSIVE,
                     0);
}

void store_checkpoint_last(struct store *store) {
    if (!store->writer.lost) {
        store_checkpoint(store, SQLITE_CHECKPOINT_TRUNCATE, READER_MS);
    }
}

void store_checkpoint_register(struct store_log *log) {
    static const double bounds[] = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                    0.1,    0.2,   0.5,   1,     2,    5};
    log->seconds =
        metrics_series(metrics_register(METRICS_HISTOGRAM, "discern_store_checkpoint_seconds",
                                        "Seconds that a checkpoint of the write-ahead log takes.",
                                        "", bounds, sizeof bounds / sizeof bounds[0]),
                       NULL);
    struct metrics_family *family =
        metrics_register(METRICS_COUNTER, "discern_store_checkpoints_total",
                         "Checkpoints of the write-ahead log, by mode.", "mode", NULL, 0);
    log->made[SQLITE_CHECKPOINT_PASSIVE] = metrics_series(family, "passive", NULL);
    log->made[SQLITE_CHECKPOINT_FULL] = metrics_series(family, "full", NULL);
    log->made[SQLITE_CHECKPOINT_RESTART] = metrics_series(family, "restart", NULL);
    log->made[SQLITE_CHECKPOINT_TRUNCATE] = metrics_series(family, "truncate", NULL);
}
