/* The backup before migrations. */
#include "store/sqlite/file/backup.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "store/engine/query.h"
#include "store/sqlite/file/copy.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 * 1024, MOST_COPIES = 1000 };

struct backup {
    struct buf prefix; /* FILE.before-NUMBER */
    struct buf path;   /* name of the finished copy */
    char *folder;
};

/* Returns the bytes that migrations may write: twice the rows without the chunks, to the log and to
 * the file. A migration writes no chunk. */
static int64_t migration_bytes(struct store_connection *c, struct problem *problem) {
    const int64_t bytes = STORE_ASK(c, problem, 0, "PRAGMA page_count", STORE_NO_VALUES) *
                          STORE_ASK(c, problem, 0, "PRAGMA page_size", STORE_NO_VALUES);
    if (!STORE_ASK(c, problem, 0, "SELECT count(*) FROM sqlite_schema WHERE name = 'chunks'",
                   STORE_NO_VALUES)) {
        return 2 * bytes;
    }
    const int64_t chunks =
        STORE_ASK(c, problem, 0, "SELECT coalesce(sum(bytes), 0) FROM chunks", STORE_NO_VALUES);
    return bytes > chunks ? 2 * (bytes - chunks) : 0;
}

/* Whether two files have the same bytes. A file that cannot be read differs. */
static bool is_same(int a, int b) {
    struct stat sizes[2];
    char *pieces = malloc((size_t)2 * PIECE);
    bool same = pieces != NULL && fstat(a, &sizes[0]) == 0 && fstat(b, &sizes[1]) == 0 &&
                sizes[0].st_size == sizes[1].st_size;
    for (off_t at = 0; same && at < sizes[0].st_size; at += PIECE) {
        const ssize_t n = pread(a, pieces, PIECE, at);
        same = n > 0 && pread(b, pieces + PIECE, PIECE, at) == n &&
               memcmp(pieces, pieces + PIECE, (size_t)n) == 0;
    }
    free(pieces);
    return same;
}

/* Sets b->path to the name that the copy gets. *last: the copy of this number that was made last;
 * -1: none. */
static bool choose_name(struct backup *b, int *last, struct problem *problem) {
    *last = -1;
    for (int i = 1; i < MOST_COPIES; i++) {
        const char *prefix = buf_cstr(&b->prefix);
        buf_clear(&b->path);
        if (i == 1) {
            buf_puts(&b->path, prefix);
        } else {
            buf_printf(&b->path, "%s.%d", prefix, i);
        }
        const char *path = buf_cstr(&b->path);
        if (path == NULL) {
            return problem_no_memory(problem);
        }
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
            return true;
        }
        if (*last >= 0) {
            close(*last);
        }
        *last = fd;
    }
    return problem_set(problem, PROBLEM_INTERNAL,
                       "there are %d backups \"%s\" before the upgrade of the database: move them "
                       "to another place, or start once with --no-upgrade-backup",
                       MOST_COPIES, buf_cstr(&b->prefix));
}

/* Gives the written copy its name, unless the last copy is the same. */
static bool backup_keep(struct backup *b, struct store_copy *copy, struct problem *problem) {
    int last = -1;
    bool good = choose_name(b, &last, problem);
    if (good && last >= 0 && is_same(copy->fd, last)) {
        log_info("store.backup_exists", log_str("path", buf_cstr(&b->prefix)));
    } else if (good) {
        good = store_copy_publish(copy, buf_cstr(&b->path), false, problem);
    }
    if (last >= 0) {
        close(last);
    }
    return good;
}

static bool backup_init(struct backup *b, const char *database, const char *migration,
                        struct problem *problem) {
    *b = (struct backup){.folder = store_folder_of(database)};
    buf_printf(&b->prefix, "%s.before-%.*s", database, (int)strcspn(migration, "_."), migration);
    return (b->folder != NULL && buf_cstr(&b->prefix) != NULL) || problem_no_memory(problem);
}

static void backup_done(struct backup *b) {
    buf_done(&b->prefix);
    buf_done(&b->path);
    free(b->folder);
}

static bool backup_write(struct store_connection *c, struct backup *b, const char *database,
                         struct problem *problem) {
    static const char advice[] =
        "the database needs an upgrade with a backup; make room, or start once with "
        "--no-upgrade-backup";
    struct store_copy copy = {.fd = -1};
    struct buf temporary = {0};
    struct stat st;
    int64_t bytes = 0;
    const int64_t began = clock_monotonic_ns();
    buf_printf(&temporary, "%s.part", buf_cstr(&b->prefix));
    const char *path = buf_cstr(&temporary);
    if (path == NULL) {
        (void)problem_no_memory(problem);
        goto cleanup;
    }
    if (stat(database, &st) != 0) {
        problem_set(problem, PROBLEM_INTERNAL, "\"%s\" cannot be read: %s", database,
                    strerror(errno));
        goto cleanup;
    }
    if (!store_copy_begin(&copy, path, st.st_mode & 0777, problem) ||
        !store_copy_fits(c, b->folder, migration_bytes(c, problem), advice, &bytes, problem)) {
        goto cleanup;
    }
    log_info("store.backup", log_str("path", buf_cstr(&b->prefix)), log_int("bytes", bytes));
    if (store_copy_write(&copy, c, NULL, problem) && backup_keep(b, &copy, problem)) {
        log_info("store.backed_up", log_str("path", buf_cstr(&b->path)),
                 log_dbl("seconds", (double)(clock_monotonic_ns() - began) * 1e-9));
    }
cleanup:
    store_copy_done(&copy);
    buf_done(&temporary);
    return problem->type == PROBLEM_NONE;
}

bool store_backup_before(struct store_connection *c, const char *migration,
                         struct problem *problem) {
    const char *database = sqlite3_db_filename(store_sqlite_db(c), "main");
    struct problem own = {0};
    struct backup b;
    if (backup_init(&b, database, migration, &own) && backup_write(c, &b, database, &own)) {
        backup_done(&b);
        return true;
    }
    backup_done(&b);
    problem_set(problem, own.type,
                "the backup before the upgrade of the database cannot be written: %s",
                own.detail != NULL ? own.detail : "out of memory");
    problem_done(&own);
    return false;
}
