/* Opens connections, sets their pragmas, caches statements, and converts SQLite's error codes to
 * problems. */
#include "store/sqlite/connection.h"
#include "base/log/log.h"
#include "store/sqlite/row_crc.h"
#include "store/sqlite/sqlite.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* temp_store=MEMORY: statement journals and sorters need no writable /tmp. cache_size: in KiB if
 * negative. Each page of a chunk is used once, so a small cache is enough. */
static const char common_pragmas[] = "PRAGMA foreign_keys=ON; PRAGMA secure_delete=OFF; PRAGMA "
                                     "temp_store=MEMORY; PRAGMA wal_autocheckpoint=0;"
                                     "PRAGMA journal_size_limit=16777216;";
static const char read_pragmas[] = "PRAGMA query_only=ON; PRAGMA cache_size=-1024;";
static const char write_pragmas[] = "PRAGMA cache_size=-4096;";

/* Turns off SQLite's memory statistics: they lock one global mutex for each page, for which
 * parallel readers would wait. */
static void configure(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

void store_sqlite_configure(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure);
}

/* Returns the errno of the last failed call for a file; 0: none. */
static int file_errno(sqlite3_file *file) {
    int cause = 0;
    if (file != NULL && file->pMethods != NULL) {
        (void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &cause);
    }
    return cause;
}

/* Returns the errno of a failed transaction, whose writes go to the log, or of a failed checkpoint,
 * which writes the file. sqlite3_system_errno has no errno of a COMMIT. */
static int cause_of(struct store_connection *c, bool checkpoint) {
    sqlite3_file *file = NULL, *log = NULL;
    (void)sqlite3_file_control(store_sqlite_db(c), "main", SQLITE_FCNTL_FILE_POINTER, &file);
    (void)sqlite3_file_control(store_sqlite_db(c), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    const int cause = checkpoint && file_errno(file) != 0 ? file_errno(file) : file_errno(log);
    return cause != 0 ? cause : sqlite3_system_errno(store_sqlite_db(c));
}

static bool disk_is_full(struct store_connection *c, int code, bool checkpoint) {
    if ((code & 0xff) == SQLITE_FULL) {
        return true;
    }
    if ((code & 0xff) != SQLITE_IOERR || code == SQLITE_IOERR_NOMEM || !store_sqlite_db(c)) {
        return false;
    }
    const int cause = cause_of(c, checkpoint);
    return cause == ENOSPC || cause == EDQUOT || cause == EFBIG;
}

/* Whether a retry would fail too: the data are damaged or violate a constraint. */
static bool is_permanent(int code) {
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return true;
    default:
        return false;
    }
}

/* A write that the kernel refuses for lack of room leaves the bytes written before as they are. An
 * fsync that reports lack of room does not: the kernel drops the bytes that it could not place. */
static enum store_failure failure_of(int code, bool full) {
    switch (code) {
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
    case SQLITE_IOERR_TRUNCATE:
        return STORE_FAILURE_LOST;
    case SQLITE_IOERR_WRITE:
        return full ? STORE_FAILURE_FULL : STORE_FAILURE_LOST;
    case SQLITE_IOERR_NOMEM:
        return STORE_FAILURE_NONE;
    default:
        break;
    }
    switch (code & 0xff) {
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return full ? STORE_FAILURE_FULL : STORE_FAILURE_WRITE;
    default:
        return full ? STORE_FAILURE_FULL : STORE_FAILURE_NONE;
    }
}

/* After a loss SQLite must not copy the log into the file when it closes the connection: the log on
 * the disk may be shorter than the log that SQLite reads. */
static void note_failure(struct store_connection *c, enum store_failure failure, bool full) {
    c->failure = c->failure > failure ? c->failure : failure;
    if (failure == STORE_FAILURE_LOST && store_sqlite_db(c) != NULL) {
        c->lost_full = full;
        sqlite3_db_config(store_sqlite_db(c), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
}

static bool failed(struct store_connection *c, int code, bool checkpoint, const char *sql,
                   struct problem *problem) {
    const char *text =
        store_sqlite_db(c) ? sqlite3_errmsg(store_sqlite_db(c)) : sqlite3_errstr(code);
    const bool full = disk_is_full(c, code, checkpoint);
    note_failure(c, failure_of(code, full), full);
    if (full) {
        log_warn("store.full", log_int("code", code), log_str("message", text));
        return problem_set(problem, PROBLEM_STORAGE_FULL, "the disk of the database is full");
    }
    if ((code & 0xff) == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM) {
        log_warn("store.memory", log_int("code", code), log_str("sql", sql));
        return problem_no_memory(problem);
    }
    log_error("store.error", log_int("code", code), log_str("message", text), log_str("sql", sql));
    if (is_permanent(code)) {
        return problem_set_permanent(problem, PROBLEM_INTERNAL, "the database failed: %s", text);
    }
    return problem_set(problem, PROBLEM_INTERNAL, "the database failed: %s", text);
}

bool store_sqlite_failed(struct store_connection *c, int code, const char *sql,
                         struct problem *problem) {
    return failed(c, code, false, sql, problem);
}

void store_sqlite_checkpoint_failed(struct store_connection *c, int code) {
    struct problem told = {0};
    failed(c, code, true, "checkpoint", &told);
    problem_done(&told);
}

bool store_sqlite_exec(struct store_connection *c, const char *sql, struct problem *problem) {
    if (problem->type) {
        return false;
    }
    int code = sqlite3_exec(store_sqlite_db(c), sql, NULL, NULL, NULL);
    return code == SQLITE_OK || store_sqlite_failed(c, code, sql, problem);
}

struct store_connection *store_sqlite_connect(const char *path, enum store_access access,
                                              struct problem *problem) {
    store_sqlite_configure();
    struct store_sqlite *own = calloc(1, sizeof *own);
    if (!own) {
        problem_no_memory(problem);
        return NULL;
    }
    own->base.engine = &store_sqlite_engine;
    own->durable = true; /* SQLite's default is synchronous=FULL */
    struct store_connection *c = &own->base;
    const int mode = access == STORE_INSPECT ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int code =
        sqlite3_open_v2(path, &own->db, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code == SQLITE_OK) {
        code = store_row_crc_add(own->db);
    }
    if (code != SQLITE_OK) {
        store_sqlite_failed(c, code, "open", problem);
    } else {
        sqlite3_busy_timeout(store_sqlite_db(c), STORE_BUSY_MS);
        store_sqlite_exec(c, common_pragmas, problem);
        store_sqlite_exec(c, access == STORE_WRITE ? write_pragmas : read_pragmas, problem);
        /* only the writer thread makes checkpoints */
        sqlite3_db_config(store_sqlite_db(c), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
                          access != STORE_WRITE, NULL);
    }
    if (problem->type) {
        store_sqlite_disconnect(c);
        return NULL;
    }
    return c;
}

void store_sqlite_disconnect(struct store_connection *c) {
    if (!c) {
        return;
    }
    for (size_t i = 0; i < STORE_STATEMENTS; i++) {
        sqlite3_finalize(store_sqlite_of(c)->statements[i].statement);
    }
    int code = sqlite3_close(store_sqlite_db(c));
    if (code != SQLITE_OK) {
        log_error("store.close", log_int("code", code));
    }
    free(c);
}

void store_sqlite_abandon(struct store_connection *c) {
    if (c) {
        sqlite3_db_config(store_sqlite_db(c), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        store_sqlite_disconnect(c);
    }
}

void store_sqlite_set_durable(struct store_connection *c, bool durable, struct problem *problem) {
    struct store_sqlite *own = store_sqlite_of(c);
    if (durable != own->durable) {
        store_sqlite_exec(c, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
                          problem);
        own->durable = durable && problem->type == PROBLEM_NONE;
    }
}

sqlite3_stmt *store_sqlite_statement(struct store_connection *c, const char *sql,
                                     struct problem *problem) {
    size_t start = ((uintptr_t)sql >> 3) % STORE_STATEMENTS;
    for (size_t i = 0; i < STORE_STATEMENTS; i++) {
        struct store_sqlite_statement *slot =
            &store_sqlite_of(c)->statements[(start + i) % STORE_STATEMENTS];
        if (slot->sql == sql) {
            return slot->statement;
        }
        if (!slot->sql) {
            int code = sqlite3_prepare_v3(store_sqlite_db(c), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                          &slot->statement, NULL);
            if (code != SQLITE_OK) {
                store_sqlite_failed(c, code, sql, problem);
                return NULL;
            }
            slot->sql = sql;
            return slot->statement;
        }
    }
    problem_set(problem, PROBLEM_INTERNAL, "the cache of SQL statements is full");
    return NULL;
}
