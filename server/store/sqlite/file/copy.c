/* Copies by VACUUM INTO. Descriptors of the file are closed after SQLite has closed it: closing one
 * would drop SQLite's locks. */
#define _GNU_SOURCE /* renameat2 */
#include "store/sqlite/file/copy.h"
#include "base/process/clock.h"
#include "store/engine/query.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB (1024.0 * 1024.0)
enum {
    STEPS = 20,     /* instructions of SQLite between two looks at the clock: a few rows */
    WATCH_MS = 5,   /* time between two questions to the watch */
    RESERVE = 16384 /* KiB that a copy leaves free, at most 1/16 of the disk */
};

/* ---- files ---- */

char *store_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
}

bool store_folder_sync(const char *folder) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const bool good = fsync(fd) == 0;
    return close(fd) == 0 && good;
}

static bool is_full(int cause) {
    return cause == ENOSPC || cause == EDQUOT || cause == EFBIG;
}

static bool file_failed(const char *path, int cause, struct problem *problem) {
    if (is_full(cause)) {
        return problem_set(problem, PROBLEM_STORAGE_FULL,
                           "\"%s\" cannot be written: the disk is full", path);
    }
    return problem_set(problem, PROBLEM_INTERNAL, "\"%s\" cannot be written: %s", path,
                       strerror(cause));
}

/* Whether the name is still that of the open file: another process may have renamed or removed the
 * file before it was locked. */
static bool is_named(const char *path, int fd) {
    struct stat named, opened;
    return lstat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

static bool lock(const char *path, int fd, struct problem *problem) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(path, fd)) {
        return true;
    }
    return problem_set(problem, PROBLEM_UNAVAILABLE, "another process writes \"%s\"", path);
}

bool store_copy_begin(struct store_copy *copy, const char *path, mode_t mode,
                      struct problem *problem) {
    *copy = (struct store_copy){.fd = -1};
    char *own = strdup(path);
    if (own == NULL) {
        return problem_no_memory(problem);
    }
    const int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || (lock(path, fd, problem) && (ftruncate(fd, 0) != 0 || fchmod(fd, mode) != 0))) {
        (void)file_failed(path, errno, problem);
    }
    if (problem->type != PROBLEM_NONE) {
        if (fd >= 0) {
            close(fd);
        }
        free(own);
        return false;
    }
    *copy = (struct store_copy){.path = own, .fd = fd};
    return true;
}

bool store_copy_begin_unnamed(struct store_copy *copy, const char *prefix,
                              struct problem *problem) {
    const size_t size = strlen(prefix) + sizeof "XXXXXX";
    char *path = malloc(size);
    *copy = (struct store_copy){.fd = -1};
    if (path == NULL) {
        return problem_no_memory(problem);
    }
    (void)snprintf(path, size, "%sXXXXXX", prefix);
    const int fd = mkstemp(path);
    if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        (void)file_failed(path, errno, problem);
    } else {
        (void)lock(path, fd, problem);
    }
    *copy = (struct store_copy){.path = path, .fd = fd};
    if (problem->type != PROBLEM_NONE) {
        store_copy_done(copy);
        return false;
    }
    return true;
}

void store_copy_remove(const char *path) {
    const size_t size = strlen(path) + sizeof STORE_COPY_JOURNAL;
    char *journal = malloc(size);
    if (journal != NULL) {
        (void)snprintf(journal, size, "%s" STORE_COPY_JOURNAL, path);
        (void)unlink(journal);
    }
    (void)unlink(path);
    free(journal);
}

void store_copy_done(struct store_copy *copy) {
    if (copy->path != NULL && copy->fd >= 0) {
        store_copy_remove(copy->path);
    }
    if (copy->fd >= 0) {
        close(copy->fd);
    }
    free(copy->path);
    *copy = (struct store_copy){.fd = -1};
}

/* Renames a file, without replacing another one where the file system can do that. */
static bool rename_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return true;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return false;
    }
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

bool store_copy_publish(struct store_copy *copy, const char *path, bool replace,
                        struct problem *problem) {
    char *folder = store_folder_of(path);
    if (folder == NULL) {
        return problem_no_memory(problem);
    }
    bool good = fsync(copy->fd) == 0 &&
                (replace ? rename(copy->path, path) == 0 : rename_new(copy->path, path));
    if (good) {
        free(copy->path);
        copy->path = NULL;
        good = store_folder_sync(folder);
    }
    if (!good) {
        (void)file_failed(path, errno, problem);
    }
    free(folder);
    return good;
}

/* ---- contents ---- */

bool store_copy_fits(struct store_connection *c, const char *folder, int64_t more,
                     const char *advice, int64_t *bytes, struct problem *problem) {
    struct statvfs v;
    const int64_t pages = STORE_ASK(c, problem, 0, "PRAGMA page_count", STORE_NO_VALUES) -
                          STORE_ASK(c, problem, 0, "PRAGMA freelist_count", STORE_NO_VALUES);
    const int64_t size = pages * STORE_ASK(c, problem, 0, "PRAGMA page_size", STORE_NO_VALUES);
    if (problem->type != PROBLEM_NONE) {
        return false;
    }
    *bytes = size;
    if (statvfs(folder, &v) != 0) {
        return true; /* if there is no room, the write will fail */
    }
    const double unit = (double)v.f_frsize, room = (double)v.f_bavail * unit,
                 share = (double)v.f_blocks * unit / 16,
                 reserve = share < RESERVE * 1024.0 ? share : RESERVE * 1024.0,
                 needed = (double)size + (double)more + reserve;
    return room >= needed ||
           problem_set(problem, PROBLEM_STORAGE_FULL,
                       "the copy of the database needs %.0f MiB, but the disk of \"%s\" has only "
                       "%.0f MiB free: %s",
                       needed / MIB, folder, room / MIB, advice);
}

struct watching {
    const struct store_watch *watch;
    int64_t next_ns; /* when the watch is asked again */
};

/* SQLite's progress handler. Returns whether to interrupt. */
static int ask(void *arg) {
    struct watching *w = arg;
    const int64_t now = clock_monotonic_ns();
    if (now < w->next_ns) {
        return 0;
    }
    const bool on = w->watch->go_on(w->watch->arg);
    w->next_ns = clock_monotonic_ns() + (int64_t)WATCH_MS * 1000000;
    return !on;
}

/* Runs VACUUM INTO. Returns an SQLite result code. *cause: errno. */
static int vacuum(struct store_connection *c, const char *sql, const struct store_watch *watch,
                  int *cause) {
    struct watching w = {.watch = watch};
    if (watch != NULL && watch->go_on != NULL) {
        sqlite3_progress_handler(store_sqlite_db(c), STEPS, ask, &w);
    }
    /* the copy is written, which query_only would forbid on a reading connection */
    const bool reads =
        sqlite3_exec(store_sqlite_db(c), "PRAGMA query_only=OFF", NULL, NULL, NULL) == SQLITE_OK;
    const int code = reads ? sqlite3_exec(store_sqlite_db(c), sql, NULL, NULL, NULL) : SQLITE_ERROR;
    *cause = sqlite3_system_errno(store_sqlite_db(c));
    sqlite3_progress_handler(store_sqlite_db(c), 0, NULL, NULL);
    return code;
}

bool store_copy_write(struct store_copy *copy, struct store_connection *c,
                      const struct store_watch *watch, struct problem *problem) {
    int cause = 0;
    const int64_t reads = STORE_ASK(c, problem, 0, "PRAGMA query_only", STORE_NO_VALUES);
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", copy->path);
    if (sql == NULL) {
        return problem_no_memory(problem);
    }
    const int code = vacuum(c, sql, watch, &cause);
    if ((code & 0xff) == SQLITE_INTERRUPT) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "the copy of the database was broken off");
    } else if ((code & 0xff) == SQLITE_FULL || ((code & 0xff) == SQLITE_IOERR && is_full(cause))) {
        (void)file_failed(copy->path, ENOSPC, problem);
    } else if (code != SQLITE_OK) {
        (void)store_sqlite_failed(c, code, sql, problem);
    }
    sqlite3_free(sql);
    if (reads != 0) {
        (void)sqlite3_exec(store_sqlite_db(c), "PRAGMA query_only=ON", NULL, NULL, NULL);
    }
    return problem->type == PROBLEM_NONE;
}
