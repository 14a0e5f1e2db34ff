/* Writes the write-ahead log again after a failed fsync. The file is accessed through SQLite's VFS,
 * as SQLite accesses it. */
#include "store/sqlite/file/logfile.h"
#include "base/log/log.h"
#include "store/sqlite/connection.h"
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 64 * 1024, /* bytes that are read and written at once; SQLite takes less than 128 KiB */
    SHM_CONNECTED = 128 /* the byte of FILE-shm that each connection locks for reading */
};

/* Whether another process has a connection to the database. */
static bool attached(const char *log_path, struct problem *problem) {
    const size_t n = strlen(log_path);
    char *shm = malloc(n + 1);
    if (shm == NULL) {
        return !problem_no_memory(problem);
    }
    memcpy(shm, log_path, n + 1);
    memcpy(shm + n - 3, "shm", 3); /* FILE-wal, FILE-shm */
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = SHM_CONNECTED,
                         .l_len = 1};
    const int fd = open(shm, O_RDWR | O_CLOEXEC);
    const bool others = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0) {
        close(fd);
    }
    free(shm);
    if (others) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "another program has the database open (pid %ld)",
                    (long)lock.l_pid);
    }
    return others;
}

static int rewrite_bytes(sqlite3_file *log, char *piece) {
    sqlite3_int64 size = 0;
    int code = log->pMethods->xFileSize(log, &size);
    for (sqlite3_int64 at = 0; code == SQLITE_OK && at < size; at += PIECE) {
        const int n = size - at < PIECE ? (int)(size - at) : PIECE;
        code = log->pMethods->xRead(log, piece, n, at);
        if (code == SQLITE_OK) {
            code = log->pMethods->xWrite(log, piece, n, at);
        }
    }
    return code == SQLITE_OK && size > 0 ? log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) : code;
}

static bool rewrite_failed(int code, int cause, struct problem *problem) {
    const bool full = (code & 0xff) == SQLITE_FULL || cause == ENOSPC || cause == EDQUOT;
    log_error("store.rewrite", log_int("code", code), log_str("message", sqlite3_errstr(code)));
    return problem_set(problem, full ? PROBLEM_STORAGE_FULL : PROBLEM_INTERNAL,
                       full ? "the disk of the database is full"
                            : "the write-ahead log of the database cannot be written: %s",
                       sqlite3_errstr(code));
}

bool store_logfile_rewrite(const char *log_path, struct problem *problem) {
    if (access(log_path, F_OK) != 0) {
        return true;
    }
    if (attached(log_path, problem) || problem->type) {
        return false;
    }
    store_sqlite_configure();
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_file *log = vfs ? calloc(1, (size_t)vfs->szOsFile) : NULL;
    char *piece = malloc(PIECE);
    if (log == NULL || piece == NULL) {
        free(log);
        free(piece);
        return problem_no_memory(problem);
    }
    errno = 0;
    int code = vfs->xOpen(vfs, log_path, log, SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL, NULL);
    if (code == SQLITE_OK) {
        code = rewrite_bytes(log, piece);
    }
    const int cause = errno;
    if (log->pMethods != NULL) {
        log->pMethods->xClose(log);
    }
    free(log);
    free(piece);
    return code == SQLITE_OK || rewrite_failed(code, cause, problem);
}
