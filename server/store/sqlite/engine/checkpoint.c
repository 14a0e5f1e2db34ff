/* Checkpoints of the write-ahead log, made by the writer thread between transactions. They are
 * frequent and small, so that the log stays short and no commit waits long. */
#include "base/log/log.h"
#include "base/process/clock.h"
#include "store/sqlite/internal.h"

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

int store_checkpoint_hook(void *writer, sqlite3 *db, const char *name, int pages) {
    struct store_writer *w = writer;
    (void)db;
    (void)name;
    /* the log has restarted */
    if (pages < w->log_pages) {
        w->log_done = 0;
        w->log_retry = 0;
        w->log_blocked = false;
        w->log_durable = 0;
    }
    w->log_pages = pages;
    w->log_durable = w->durable ? pages : w->log_durable;
    return SQLITE_OK;
}

bool store_checkpoint(struct store_writer *w, int mode, int wait_ms) {
    int64_t start = clock_monotonic_ns();
    int pages = -1, done = -1;
    sqlite3_busy_timeout(w->connection->db, wait_ms);
    int code = sqlite3_wal_checkpoint_v2(w->connection->db, NULL, mode, &pages, &done);
    sqlite3_busy_timeout(w->connection->db, STORE_BUSY_MS);
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) {
        store_connection_checkpoint_failed(w->connection, code);
    }
    if (pages >= 0 && done >= 0) {
        w->log_pages = pages;
        w->log_done = done;
        /* SQLite has synced the file if all pages are in it */
        w->log_durable = done < pages ? w->log_durable : 0;
    }
    if (mode != SQLITE_CHECKPOINT_PASSIVE) {
        w->log_blocked = (code & 0xff) == SQLITE_BUSY;
    }
    metric_add(w->checkpoints[mode], 1);
    metric_observe(w->checkpoint_seconds, (double)(clock_monotonic_ns() - start) * 1e-9);
    return code == SQLITE_OK;
}

/* PASSIVE copies the pages that no reader needs in the log. If all were copied, the next commit
 * restarts the log, unless a reader still uses it. RESTART also waits for such readers. */
void store_checkpoint_due(struct store *store, bool pressing) {
    struct store_writer *w = &store->writer;
    if (w->lost) {
        return;
    }
    if (w->log_pages >= INSIST_PAGES && w->log_pages >= w->log_retry) {
        store_checkpoint(w, SQLITE_CHECKPOINT_RESTART, READER_MS);
        w->log_retry = w->log_pages >= HOLD_PAGES ? HOLD_PAGES : w->log_pages + STEP_PAGES / 2;
    } else if (w->log_pages - w->log_done >= (pressing ? DEFER_PAGES : STEP_PAGES)) {
        store_checkpoint(w, SQLITE_CHECKPOINT_PASSIVE, 0);
    }
}

bool store_checkpoint_holds(struct store *store) {
    struct store_writer *w = &store->writer;
    return w->log_pages >= HOLD_PAGES && w->log_blocked &&
           clock_monotonic_ns() - w->bulk_ns < (int64_t)HOLD_MS * 1000000;
}

void store_checkpoint_idle(struct store *store) {
    struct store_writer *w = &store->writer;
    store_checkpoint(w,
                     w->log_pages > TRUNCATE_PAGES ? SQLITE_CHECKPOINT_TRUNCATE
                                                   : SQLITE_CHECKPOINT_PASSIVE,
                     0);
}

void store_checkpoint_last(struct store *store) {
    if (!store->writer.lost) {
        store_checkpoint(&store->writer, SQLITE_CHECKPOINT_TRUNCATE, READER_MS);
    }
}
