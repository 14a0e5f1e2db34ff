/* Finds, checks and creates the database file. The file is opened here only if it did not exist:
 * see the trap in lockfile.c. */
#include "store/sqlite/file/dbfile.h"
#include "store/engine/query.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[16] = "SQLite format 3";
enum { HEADER_SIZE = 100, APPLICATION_ID_AT = 68 };

static bool refuse_open(const char *path, int cause, struct problem *problem) {
    if (cause == ENOENT || cause == ENOTDIR) {
        const char *slash = strrchr(path, '/');
        int n = slash ? (int)(slash - path) : 1;
        return problem_set(
            problem, PROBLEM_INTERNAL,
            "the database \"%s\" cannot be created: the directory \"%.*s\" does not exist", path,
            n ? n : 1, slash ? path : ".");
    }
    return problem_set(problem, PROBLEM_INTERNAL, "the database \"%s\" is not writable: %s", path,
                       strerror(cause));
}

char *store_dbfile_find(const char *path, struct problem *problem) {
    struct stat st;
    if (stat(path, &st) != 0) {
        int fd = errno == ENOENT ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640) : -1;
        if (fd < 0) {
            refuse_open(path, errno, problem);
            return NULL;
        }
        close(fd);
    } else if (!S_ISREG(st.st_mode)) {
        problem_set(problem, PROBLEM_INTERNAL, "the database \"%s\" is not a regular file", path);
        return NULL;
    } else if (access(path, R_OK | W_OK) != 0) {
        refuse_open(path, errno, problem);
        return NULL;
    }
    char *real = realpath(path, NULL);
    if (!real) {
        refuse_open(path, errno, problem);
    }
    return real;
}

static bool journal_exists(const char *path) {
    size_t size = strlen(path) + sizeof "-journal";
    char *name = malloc(size);
    if (!name) {
        return false;
    }
    snprintf(name, size, "%s-journal", path);
    bool exists = access(name, F_OK) == 0;
    free(name);
    return exists;
}

bool store_dbfile_check(const char *path, int fd, struct problem *problem) {
    unsigned char header[HEADER_SIZE];
    ssize_t n = pread(fd, header, sizeof header, 0);
    /* A rollback journal beside the file means that there was a crash while the file was created.
     * SQLite will roll back first, and store_dbfile_prepare checks the application id. */
    if (n == 0 || journal_exists(path)) {
        return true;
    }
    if (n != (ssize_t)sizeof header || memcmp(header, magic, sizeof magic) != 0) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "\"%s\" is not a Discern database: it is not an SQLite file", path);
    }
    const unsigned char *id = header + APPLICATION_ID_AT;
    uint32_t application_id =
        (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3];
    if (application_id != STORE_APPLICATION_ID) {
        return problem_set(
            problem, PROBLEM_INTERNAL,
            "\"%s\" is not a Discern database: its application id is 0x%08x, not 0x%08x", path,
            (unsigned)application_id, (unsigned)STORE_APPLICATION_ID);
    }
    return true;
}

/* Writes page size, vacuum mode and application id in one transaction with a rollback journal. So
 * after a crash either all of them or none are in the file itself, where store_dbfile_check reads
 * them. The change to WAL follows. BEGIN must be deferred: the first write of a transaction fixes
 * the vacuum mode. */
static bool make(struct store_connection *c, struct problem *problem) {
    char sql[200];
    snprintf(sql, sizeof sql,
             "PRAGMA page_size=%d; BEGIN DEFERRED; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA "
             "application_id=%d; COMMIT",
             STORE_PAGE_SIZE, STORE_APPLICATION_ID);
    return store_sqlite_exec(c, sql, problem);
}

bool store_dbfile_prepare(struct store_connection *c, const char *path, struct problem *problem) {
    int64_t pages = STORE_ASK(c, problem, 0, "PRAGMA page_count", STORE_NO_VALUES);
    if (!problem->type && pages == 0) {
        make(c, problem);
    }
    int64_t id = STORE_ASK(c, problem, 0, "PRAGMA application_id", STORE_NO_VALUES);
    if (!problem->type && id != STORE_APPLICATION_ID) {
        return problem_set(
            problem, PROBLEM_INTERNAL,
            "\"%s\" is not a Discern database: its application id is 0x%08x, not 0x%08x", path,
            (unsigned)id, (unsigned)STORE_APPLICATION_ID);
    }
    struct store_query q;
    STORE_QUERY(&q, c, problem, "PRAGMA journal_mode=WAL", STORE_NO_VALUES);
    if (store_query_row(&q)) {
        const char *mode = store_query_text(&q, 0);
        if (!mode || strcmp(mode, "wal") != 0) {
            problem_set(problem, PROBLEM_INTERNAL,
                        "the database \"%s\" cannot use a write-ahead log on this file system "
                        "(journal mode \"%s\")",
                        path, mode ? mode : "");
        }
    }
    store_query_end(&q);
    return problem->type == PROBLEM_NONE;
}
