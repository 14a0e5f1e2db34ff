/* A backup of the store that this process has open, in a file that loses its name when it is
 * complete. A place of the pool of readers is used, so that the store knows of the connection when
 * it must open the database again. */
#include "base/process/spool.h"
#include "store/sqlite/file/copy.h"
#include "store/sqlite/sqlite.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPOOL_PREFIX ".discern-backup-"

struct store_backup {
    struct store *store;
    int fd;
    int64_t size;
};

/* The caller's watch, and whether the store waits for reads to end. */
struct waits {
    struct store *store;
    const struct store_watch *watch;
};

static bool go_on(void *arg) {
    const struct waits *w = arg;
    return !store_readers_wanted(&w->store->readers) &&
           (w->watch == NULL || w->watch->go_on == NULL || w->watch->go_on(w->watch->arg));
}

/* Writes the copy with a connection of the pool, outside the transaction that a read begins. */
static bool write_copy(struct store_copy *copy, struct store *store, const char *folder,
                       const struct store_watch *watch, struct problem *problem) {
    struct waits waits = {store, watch};
    const struct store_watch own = {go_on, &waits};
    struct store_read r;
    int64_t bytes;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    const bool good =
        store_copy_fits(r.connection, folder, 0, "nothing was written", &bytes, problem) &&
        STORE_RUN(r.connection, problem, "COMMIT", STORE_NO_VALUES) &&
        store_copy_write(copy, r.connection, &own, problem);
    return store_read_end(&r) && good;
}

/* Takes the name from the file. Returns its size; -1 on failure. */
static int64_t finish(struct store_copy *copy) {
    struct stat st;
    const bool good = unlink(copy->path) == 0 && fstat(copy->fd, &st) == 0;
    free(copy->path);
    copy->path = NULL;
    return good ? (int64_t)st.st_size : -1;
}

static bool make(struct store_backup *b, const char *folder, const struct store_watch *watch,
                 struct problem *problem) {
    struct store_copy copy = {.fd = -1};
    struct buf prefix = {0};
    buf_printf(&prefix, "%s/" SPOOL_PREFIX, folder);
    const char *text = buf_cstr(&prefix);
    if (text == NULL) {
        return problem_no_memory(problem);
    }
    bool good = store_copy_begin_unnamed(&copy, text, problem) &&
                write_copy(&copy, b->store, folder, watch, problem);
    if (good) {
        b->size = finish(&copy);
        b->fd = copy.fd;
        copy.fd = -1;
        good = b->size >= 0 ||
               problem_set(problem, PROBLEM_INTERNAL, "a file in %s: %s", folder, strerror(errno));
    }
    store_copy_done(&copy);
    buf_done(&prefix);
    return good;
}

bool store_sqlite_backup(struct store *store, const char *folder, const struct store_watch *watch,
                         struct store_backup **out, struct problem *problem) {
    if (atomic_exchange(&store->backup_runs, true)) {
        return problem_set(problem, PROBLEM_UNAVAILABLE,
                           "another backup is being made or sent: there is one at a time");
    }
    struct store_backup *b = calloc(1, sizeof *b);
    if (b == NULL) {
        atomic_store(&store->backup_runs, false);
        return problem_no_memory(problem);
    }
    *b = (struct store_backup){.store = store, .fd = -1};
    if (!make(b, folder, watch, problem)) {
        store_backup_free(b);
        return false;
    }
    *out = b;
    return true;
}

int64_t store_backup_size(const struct store_backup *b) {
    return b->size;
}

bool store_backup_read(const struct store_backup *b, int64_t offset, size_t n, struct buf *out) {
    return spool_read_file(b->fd, b->size, offset, n, out);
}

void store_backup_free(struct store_backup *b) {
    if (b == NULL) {
        return;
    }
    if (b->fd >= 0) {
        close(b->fd);
    }
    atomic_store(&b->store->backup_runs, false);
    free(b);
}

/* Removes a copy and its journal, unless another daemon with the same folder writes it: that one
 * has locked the file. */
static void clean(const char *path) {
    const int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 ? flock(fd, LOCK_EX | LOCK_NB) == 0 : errno == ENOENT) {
        store_copy_remove(path);
    }
    if (fd >= 0) {
        close(fd);
    }
}

void store_backup_clean(const char *folder) {
    struct buf pattern = {0};
    glob_t found = {0};
    for (const char *c = folder; *c != '\0'; c++) { /* the folder is no pattern */
        if (strchr("*?[]\\", *c) != NULL) {
            buf_putc(&pattern, '\\');
        }
        buf_putc(&pattern, *c);
    }
    buf_puts(&pattern, "/" SPOOL_PREFIX "??????");
    const char *text = buf_cstr(&pattern);
    const int status = text != NULL ? glob(text, GLOB_NOSORT, NULL, &found) : GLOB_NOSPACE;
    buf_puts(&pattern, STORE_COPY_JOURNAL);
    text = buf_cstr(&pattern);
    if (text != NULL && (status == 0 || status == GLOB_NOMATCH)) {
        /* a journal may be left without its copy */
        (void)glob(text, GLOB_NOSORT | GLOB_APPEND, NULL, &found);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path = found.gl_pathv[i];
        const size_t size = strlen(path);
        if (size >= sizeof STORE_COPY_JOURNAL &&
            strcmp(path + size - (sizeof STORE_COPY_JOURNAL - 1), STORE_COPY_JOURNAL) == 0) {
            path[size - (sizeof STORE_COPY_JOURNAL - 1)] = '\0';
        }
        clean(path);
    }
    globfree(&found);
    buf_done(&pattern);
}
