/* Restores a backup. The order of the steps makes it safe against a crash at any time:
 *
 *   1. the locks of the database are taken, as a daemon takes them
 *   2. the backup is checked
 *   3. the backup is copied to FILE.restore and synced
 *   4. the old database leaves its write-ahead log: SQLite copies the log into the file and removes
 *      it. The old database is then complete in its file
 *   5. FILE.restore is renamed to FILE, and the folder is synced
 *
 * A log that stayed beside the new file would be taken for its own: SQLite does not compare
 * them. */
#include "store/sqlite/copies/source.h"
#include "store/sqlite/file/copy.h"
#include "store/sqlite/file/dbfile.h"
#include "store/sqlite/file/lockfile.h"
#include "store/sqlite/sqlite.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct restore {
    char *path; /* of the database, without symbolic links */
    char *folder;
    bool exists;     /* the database, when the lock was taken */
    struct stat old; /* of the database, or of its folder */
    struct store_lock *lock;
};

static const char *const beside[] = {"-wal", "-journal", "-shm"};
enum { N_BESIDE = sizeof beside / sizeof beside[0] };

static bool path_failed(const char *path, const char *what, struct problem *problem) {
    return problem_set(problem, PROBLEM_INTERNAL, "\"%s\" cannot be %s: %s", path, what,
                       strerror(errno));
}

/* ---- the old database ---- */

static bool find(struct restore *r, const char *backup, const char *path, bool replace,
                 struct problem *problem) {
    struct stat source;
    r->exists = stat(path, &r->old) == 0;
    r->path = r->exists ? realpath(path, NULL) : strdup(path);
    r->folder = r->path != NULL ? store_folder_of(r->path) : NULL;
    if (r->folder == NULL) {
        (void)problem_no_memory(problem);
        return false;
    }
    if (stat(backup, &source) != 0) {
        return path_failed(backup, "read", problem);
    }
    if (!r->exists && stat(r->folder, &r->old) != 0) {
        return path_failed(path, "written", problem);
    }
    if (r->exists && source.st_dev == r->old.st_dev && source.st_ino == r->old.st_ino) {
        return problem_set(problem, PROBLEM_INTERNAL, "\"%s\" is the database itself", backup);
    }
    return !r->exists || replace ||
           problem_set(problem, PROBLEM_INTERNAL,
                       "the database \"%s\" exists: with --force it is replaced", path);
}

/* Takes the locks. Files that were made by root belong to the owner of the database, or of the
 * folder: the daemon must be able to write them. */
static bool take_locks(struct restore *r, struct problem *problem) {
    if (!(r->exists ? store_lock_take(r->lock, r->path, problem)
                    : store_lock_take_name(r->lock, r->path, problem))) {
        return false;
    }
    if (geteuid() == 0 && fchown(r->lock->file, r->old.st_uid, r->old.st_gid) != 0) {
        return path_failed(r->path, "locked", problem);
    }
    /* another file is not replaced, even with --force */
    return !r->exists || store_dbfile_check(r->path, r->lock->database, problem);
}

static char *beside_of(const struct restore *r, size_t i) {
    const size_t size = strlen(r->path) + strlen(beside[i]) + 1;
    char *name = malloc(size);
    if (name != NULL) {
        (void)snprintf(name, size, "%s%s", r->path, beside[i]);
    }
    return name;
}

/* Without --force, a log whose database is gone is not removed: it may hold the last changes of a
 * database that was moved. */
static bool check_beside(const struct restore *r, bool replace, struct problem *problem) {
    for (size_t i = 0; i < 2 && !r->exists && !replace; i++) {
        struct stat st;
        char *name = beside_of(r, i);
        if (name == NULL) {
            return problem_no_memory(problem);
        }
        if (lstat(name, &st) == 0 && st.st_size > 0) {
            problem_set(problem, PROBLEM_INTERNAL,
                        "\"%s\" is of a database that is not there: move it to that database, or "
                        "remove it by --force",
                        name);
        }
        free(name);
    }
    return problem->type == PROBLEM_NONE;
}

static bool remove_beside(const struct restore *r, struct problem *problem) {
    for (size_t i = 0; i < N_BESIDE; i++) {
        char *name = beside_of(r, i);
        if (name == NULL) {
            return problem_no_memory(problem);
        }
        if (unlink(name) != 0 && errno != ENOENT) {
            (void)path_failed(name, "removed", problem);
        }
        free(name);
    }
    return problem->type == PROBLEM_NONE &&
           (store_folder_sync(r->folder) || path_failed(r->folder, "written", problem));
}

/* Whether the old database has changes that are in its log only. */
static bool has_log(const struct restore *r) {
    struct stat st;
    char *name = beside_of(r, 0);
    const bool has = name == NULL || (stat(name, &st) == 0 && st.st_size > 0);
    free(name);
    return has;
}

/* Copies the log of the old database into its file, unless the file is too damaged for that. The
 * exclusive lock fails if another program has a connection. No journal is made: a crash would leave
 * it beside the file. */
static bool settle(const struct restore *r, struct problem *problem) {
    static const char sql[] = "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT; "
                              "PRAGMA wal_checkpoint(TRUNCATE)";
    struct problem own = {0};
    struct store_connection *c = store_sqlite_connect(r->path, STORE_WRITE, &own);
    const bool damaged = c == NULL && own.permanent;
    const int code =
        c != NULL ? sqlite3_exec(store_sqlite_db(c), sql, NULL, NULL, NULL) : SQLITE_CORRUPT;
    if (c == NULL && !damaged) {
        problem_copy(problem, &own);
    } else if ((code & 0xff) == SQLITE_BUSY || (code == SQLITE_OK && has_log(r))) {
        problem_set(problem, PROBLEM_UNAVAILABLE, "another program has the database \"%s\" open",
                    r->path);
    } else if (code != SQLITE_OK && (code & 0xff) != SQLITE_CORRUPT &&
               (code & 0xff) != SQLITE_NOTADB) {
        (void)store_sqlite_failed(c, code, sql, problem);
    }
    store_sqlite_disconnect(c);
    problem_done(&own);
    return problem->type == PROBLEM_NONE;
}

/* ---- the new one ---- */

static bool write_copy(struct store_copy *copy, const struct restore *r, const char *backup,
                       struct problem *problem) {
    const mode_t mode = r->exists ? r->old.st_mode & 0777 : 0640;
    struct buf name = {0};
    int64_t bytes;
    buf_printf(&name, "%s.restore", r->path);
    const char *path = buf_cstr(&name);
    struct store_connection *c = path != NULL ? store_source_open(backup, problem) : NULL;
    if (path == NULL) {
        (void)problem_no_memory(problem);
    }
    bool good = c != NULL && store_copy_begin(copy, path, mode, problem);
    if (good && geteuid() == 0 && fchown(copy->fd, r->old.st_uid, r->old.st_gid) != 0) {
        good = path_failed(path, "given to the owner of the database", problem);
    }
    good = good && store_copy_fits(c, r->folder, 0, "nothing was changed", &bytes, problem) &&
           store_copy_write(copy, c, NULL, problem);
    store_sqlite_disconnect(c);
    buf_done(&name);
    return good;
}

static bool faultless(const char *backup, struct store_check *check, struct problem *problem) {
    const int64_t before = check->n_faults;
    return store_sqlite_check(backup, check, problem) &&
           (check->n_faults == before ||
            problem_set(
                problem, PROBLEM_INTERNAL,
                "\"%s\" is damaged (faults: %lld): it was not restored, nothing was changed",
                backup, (long long)(check->n_faults - before)));
}

bool store_sqlite_restore(const char *backup, const char *path, bool replace,
                          struct store_check *check, int64_t *bytes, struct problem *problem) {
    struct store_lock lock = {-1, -1};
    struct restore r = {.lock = &lock};
    struct store_copy copy = {.fd = -1};
    struct stat st = {0};
    const bool good = find(&r, backup, path, replace, problem) && take_locks(&r, problem) &&
                      check_beside(&r, replace, problem) && faultless(backup, check, problem) &&
                      write_copy(&copy, &r, backup, problem) &&
                      (!r.exists || settle(&r, problem)) && remove_beside(&r, problem) &&
                      store_copy_publish(&copy, r.path, r.exists, problem);
    if (good && fstat(copy.fd, &st) == 0) {
        *bytes = st.st_size;
    }
    store_copy_done(&copy);
    store_lock_release(&lock);
    free(r.path);
    free(r.folder);
    return good;
}
