/* The backup before migrations: VACUUM INTO a temporary file, sync it, rename it. */
#include "store/sqlite/file/backup.h"
#include "base/clock.h"
#include "base/log/log.h"
#include "store/sqlite/engine/query.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB (1024.0 * 1024.0)

struct backup {
    char *path; /* path of the finished copy */
    /* path while the copy is being written; a file that a crash left is replaced */
    char *temporary;
    char *folder;
};

static char *text_join(const char *a, const char *b, int n_b, const char *c) {
    size_t size = strlen(a) + (size_t)n_b + strlen(c) + 1;
    char *out = malloc(size);
    if (out != NULL) {
        snprintf(out, size, "%s%.*s%s", a, n_b, b, c);
    }
    return out;
}

static bool backup_init(struct backup *b, const char *database, const char *migration,
                        struct problem *problem) {
    const int number = (int)strcspn(migration, "_.");
    const char *slash = strrchr(database, '/');
    char *prefix = text_join(database, "", 0, ".before-");
    *b = (struct backup){0};
    if (prefix != NULL) {
        b->path = text_join(prefix, migration, number, "");
        b->temporary = text_join(prefix, migration, number, ".part");
        b->folder = slash == NULL ? strdup(".") : strndup(database, (size_t)(slash - database) + 1);
    }
    free(prefix);
    if (b->path == NULL || b->temporary == NULL || b->folder == NULL) {
        (void)problem_no_memory(problem);
        return false;
    }
    return true;
}

static void backup_done(struct backup *b) {
    free(b->path);
    free(b->temporary);
    free(b->folder);
}

static bool backup_failed(const struct backup *b, struct problem *problem) {
    return problem_set(problem, PROBLEM_INTERNAL,
                       "the backup \"%s\" before the upgrade of the database cannot be written: %s",
                       b->path, strerror(errno));
}

/* Returns the bytes that migrations may write: twice the rows without the chunks, to the log and to
 * the file. A migration writes no chunk. */
static int64_t migration_bytes(struct store_connection *c, int64_t bytes, struct problem *problem) {
    if (!STORE_ASK(c, problem, 0, "SELECT count(*) FROM sqlite_schema WHERE name = 'chunks'",
                   STORE_NO_VALUES)) {
        return 2 * bytes;
    }
    const int64_t chunks =
        STORE_ASK(c, problem, 0, "SELECT coalesce(sum(bytes), 0) FROM chunks", STORE_NO_VALUES);
    return bytes > chunks ? 2 * (bytes - chunks) : 0;
}

/* Whether the copy and the migrations fit on the disk. */
static bool backup_fits(struct store_connection *c, const struct backup *b, int64_t *bytes,
                        struct problem *problem) {
    struct statvfs v;
    const int64_t pages = STORE_ASK(c, problem, 0, "PRAGMA page_count", STORE_NO_VALUES) -
                          STORE_ASK(c, problem, 0, "PRAGMA freelist_count", STORE_NO_VALUES);
    *bytes = pages * STORE_ASK(c, problem, 0, "PRAGMA page_size", STORE_NO_VALUES);
    if (problem->type) {
        return false;
    }
    if (statvfs(b->folder, &v) != 0) {
        /* if there is no room, the write will fail */
        return true;
    }
    const double room = (double)v.f_bavail * (double)v.f_frsize,
                 needed = (double)*bytes + (double)migration_bytes(c, *bytes, problem);
    return room >= needed ||
           problem_set(
               problem, PROBLEM_STORAGE_FULL,
               "the database needs an upgrade, but its disk has only %.0f MiB free and the upgrade "
               "with its backup \"%s\" needs %.0f MiB: make room, or start once with "
               "--no-upgrade-backup",
               room / MIB, b->path, needed / MIB);
}

/* Creates the empty file with the permissions of the database; VACUUM INTO fills it. */
static bool backup_create(const struct backup *b, const char *database, struct problem *problem) {
    struct stat st;
    (void)unlink(b->temporary);
    if (stat(database, &st) != 0) {
        return backup_failed(b, problem);
    }
    const mode_t mode = st.st_mode & 0777;
    const int fd = open(b->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        return backup_failed(b, problem);
    }
    const bool good = fchmod(fd, mode) == 0;
    return (close(fd) == 0 && good) || backup_failed(b, problem);
}

static bool sync_path(const char *path, int flags) {
    const int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    const bool good = fsync(fd) == 0;
    return close(fd) == 0 && good;
}

static bool backup_write(struct store_connection *c, const struct backup *b,
                         struct problem *problem) {
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", b->temporary);
    if (sql == NULL) {
        return problem_no_memory(problem);
    }
    const bool good = store_connection_exec(c, sql, problem);
    sqlite3_free(sql);
    return good && ((sync_path(b->temporary, O_RDWR) && rename(b->temporary, b->path) == 0 &&
                     sync_path(b->folder, O_RDONLY | O_DIRECTORY)) ||
                    backup_failed(b, problem));
}

bool store_backup(struct store_connection *c, const char *migration, struct problem *problem) {
    const char *database = sqlite3_db_filename(c->db, "main");
    const int64_t began = clock_monotonic_ns();
    struct backup b;
    int64_t bytes = 0;
    bool good = backup_init(&b, database, migration, problem) &&
                backup_fits(c, &b, &bytes, problem) && backup_create(&b, database, problem);
    if (good) {
        log_info("store.backup", log_str("path", b.path), log_int("bytes", bytes));
        good = backup_write(c, &b, problem);
        if (good) {
            log_info("store.backed_up", log_str("path", b.path),
                     log_dbl("seconds", (double)(clock_monotonic_ns() - began) * 1e-9));
        } else {
            (void)unlink(b.temporary);
        }
    }
    backup_done(&b);
    return good;
}
