/* Opens and closes a database file, and lists the functions of the engine. */
#include "store/sqlite/sqlite.h"
#include "base/log/log.h"
#include "store/engine/writes.h"
#include "store/sqlite/file/dbfile.h"
#include "store/sqlite/file/logfile.h"
#include "store/sqlite/file/migrate.h"
#include "store/sqlite/reopen.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    VACUUM_PAGES = 4 * 1024 * 1024 / STORE_PAGE_SIZE,
    TIGHT_PAGES = 8 /* used instead if the disk has no room for VACUUM_PAGES */
};

/* ---- open ---- */

/* Opens the writing connection, which the writer thread will own. */
static bool open_database(struct store *store, bool backup, struct problem *problem) {
    struct store_connection *c = store_sqlite_connect(store->name, STORE_WRITE, problem);
    store->writer.connection = c;
    if (!c || !store_dbfile_prepare(c, store->name, problem)) {
        return false;
    }
    size_t n;
    const struct store_migration *migrations = store_migrations(&n);
    return store_migrate(c, migrations, n, backup, problem);
}

/* Writes the log of the last process again: its fsync may have failed. A full disk must not prevent
 * reads: the writer thread tries it again. */
static bool rewrite_log(struct store *store, struct problem *problem) {
    struct problem own = {0};
    if (store_logfile_rewrite(store_file_of(store)->log_path, &own)) {
        return true;
    }
    log_warn("store.rewrite", log_str("problem", own.detail));
    if (own.type == PROBLEM_STORAGE_FULL) {
        store_writes_lose(store, true);
    } else if (own.type == PROBLEM_INTERNAL) {
        problem_copy(problem, &own);
    }
    problem_done(&own);
    return problem->type == PROBLEM_NONE;
}

static bool name_files(struct store *store, const char *path, struct problem *problem) {
    struct store_file *file = calloc(1, sizeof *file);
    if (file == NULL) {
        return problem_no_memory(problem);
    }
    file->lock = (struct store_lock){-1, -1};
    store_checkpoint_register(&file->log);
    store->own = file;
    store->name = store_dbfile_find(path, problem);
    if (!store->name) {
        return false;
    }
    const size_t size = strlen(store->name) + sizeof "-wal";
    file->log_path = malloc(size);
    if (!file->log_path) {
        return problem_no_memory(problem);
    }
    snprintf(file->log_path, size, "%s-wal", store->name);
    return true;
}

static bool open_file(struct store *store, const struct store_settings *settings,
                      struct problem *problem) {
    if (!name_files(store, settings->path, problem)) {
        return false;
    }
    struct store_file *file = store_file_of(store);
    if (!store_lock_take(&file->lock, store->name, problem) ||
        !store_dbfile_check(store->name, file->lock.database, problem) ||
        !rewrite_log(store, problem) || !open_database(store, !settings->no_backup, problem)) {
        return false;
    }
    store_checkpoint_watch(store);
    store_count_blobs(store, problem);
    return problem->type == PROBLEM_NONE;
}

static bool find_file(struct store *store, const char *path, struct problem *problem) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    store->name = fd < 0 ? NULL : realpath(path, NULL);
    const bool good = store->name != NULL ? store_dbfile_check(store->name, fd, problem)
                                          : problem_set(problem, PROBLEM_INTERNAL,
                                                        "the database \"%s\" cannot be opened: %s",
                                                        path, strerror(errno));
    if (fd >= 0) {
        close(fd); /* this process has no connection yet whose locks this would end */
    }
    return good;
}

static void close_file(struct store *store) {
    struct store_file *file = store_file_of(store);
    if (file == NULL) {
        return;
    }
    if (store->writer.lost) {
        store_sqlite_abandon(store->writer.connection);
    } else {
        store_sqlite_disconnect(store->writer.connection);
    }
    /* released last, so that no other process opens the file before */
    store_lock_release(&file->lock);
    free(file->log_path);
    free(file);
    store->own = NULL;
}

static struct store_connection *connect_reader(struct store *store, struct problem *problem) {
    const bool found = store->own == NULL; /* find_file: another process may have it open */
    return store_sqlite_connect(store->name, found ? STORE_INSPECT : STORE_READ, problem);
}

/* ---- sizes ---- */

static int64_t file_size(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

static int64_t free_pages(struct store_connection *c, struct problem *problem) {
    return STORE_ASK(c, problem, 0, "PRAGMA freelist_count", STORE_NO_VALUES);
}

static void sizes(struct store *store, struct store_connection *c, struct store_stats *out,
                  struct problem *problem) {
    out->database_bytes = file_size(store->name);
    out->log_bytes = file_size(store_file_of(store)->log_path);
    out->free_bytes = STORE_PAGE_SIZE * free_pages(c, problem);
}

/* ---- transactions ---- */

static bool begin(struct store_connection *c, enum store_begin kind, struct problem *problem) {
    if (kind == STORE_BEGIN_READ) {
        return STORE_RUN(c, problem, "BEGIN", STORE_NO_VALUES);
    }
    /* SQLite ignores this pragma within a transaction. */
    store_sqlite_set_durable(c, kind == STORE_BEGIN_DURABLE, problem);
    return STORE_RUN(c, problem, "BEGIN IMMEDIATE", STORE_NO_VALUES);
}

static int64_t take_blobs(struct store_tx *tx, int64_t n) {
    const int64_t first = tx->store->next_blob;
    tx->store->next_blob += n;
    return first;
}

static void put_blobs(struct store_tx *tx, int64_t first, const struct store_new_blob *blobs,
                      size_t n) {
    static const char sql[] = "INSERT INTO blobs (id, crc, bytes) VALUES (?, ?, ?)";
    for (size_t i = 0; i < n && !tx->problem->type; i++) {
        const struct store_new_blob *b = &blobs[i];
        STORE_RUN(tx->connection, tx->problem, sql, store_int(first + (int64_t)i),
                  store_int(b->crc), store_bytes(b->blob.bytes, b->blob.size));
    }
}

static bool in_transaction(struct store_connection *c) {
    return !sqlite3_get_autocommit(store_sqlite_db(c));
}

/* Writes a page of the file, although no value changes. */
static void touch(struct store_tx *tx) {
    STORE_RUN(tx->connection, tx->problem, "PRAGMA user_version = 0", STORE_NO_VALUES);
}

/* Moves the last pages of the file into free pages and truncates the file. Called only if no chunk
 * is queued, because a chunk could use the free pages. */
static bool vacuum(struct store *store, bool *more, struct problem *problem) {
    struct store_connection *c = store->writer.connection;
    if (free_pages(c, problem) > 0) {
        int64_t lacking;
        char sql[64];
        snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%d)",
                 store_disk_has_room(store, VACUUM_PAGES * STORE_PAGE_SIZE, &lacking)
                     ? VACUUM_PAGES
                     : TIGHT_PAGES);
        store_sqlite_exec(c, sql, problem);
        *more = free_pages(c, problem) > 0;
    }
    return problem->type == PROBLEM_NONE;
}

static bool backs_up(struct problem *problem) {
    return problem->type == PROBLEM_NONE;
}

const struct store_engine store_sqlite_engine = {.open = open_file,
                                                 .find = find_file,
                                                 .finish = store_checkpoint_last,
                                                 .close = close_file,
                                                 .sizes = sizes,
                                                 .inspect = store_sqlite_inspect,
                                                 .connect = connect_reader,
                                                 .disconnect = store_sqlite_disconnect,
                                                 .start = store_sqlite_start,
                                                 .row = store_sqlite_row,
                                                 .end = store_sqlite_end,
                                                 .changed = store_sqlite_changed,
                                                 .kind = store_sqlite_kind,
                                                 .get_int = store_sqlite_get_int,
                                                 .get_real = store_sqlite_get_real,
                                                 .get_text = store_sqlite_get_text,
                                                 .get_bytes = store_sqlite_get_bytes,
                                                 .text_size = store_sqlite_text_size,
                                                 .small_blob = STORE_SQLITE_SMALL_BLOB,
                                                 .read_blob = store_sqlite_read_blob,
                                                 .begin = begin,
                                                 .in_transaction = in_transaction,
                                                 .take_blobs = take_blobs,
                                                 .put_blobs = put_blobs,
                                                 .tend = store_checkpoint_due,
                                                 .holds = store_checkpoint_holds,
                                                 .has_idle_work = store_checkpoint_pending,
                                                 .work_idle = store_checkpoint_idle,
                                                 .has_room = store_disk_has_room,
                                                 .shrink = vacuum,
                                                 .touch = touch,
                                                 .retract = store_sqlite_retract,
                                                 .reopen = store_sqlite_reopen,
                                                 .backs_up = backs_up,
                                                 .backup = store_sqlite_backup,
                                                 .backup_file = store_sqlite_backup_file,
                                                 .check = store_sqlite_check,
                                                 .restore = store_sqlite_restore};
