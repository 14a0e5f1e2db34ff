/* A backup made by a command, beside a daemon or without one. */
#include "store/sqlite/copies/source.h"
#include "store/sqlite/file/copy.h"
#include "store/sqlite/sqlite.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fails if there is something at the path. */
static bool is_free(const char *path, struct problem *problem) {
    struct stat st;
    if (lstat(path, &st) == 0) {
        return problem_set(problem, PROBLEM_INTERNAL,
                           "\"%s\" exists: a backup does not replace a file", path);
    }
    return errno == ENOENT || problem_set(problem, PROBLEM_INTERNAL, "\"%s\" cannot be written: %s",
                                          path, strerror(errno));
}

static bool copy_to(struct store_connection *c, const char *path, const char *part,
                    const char *folder, mode_t mode, int64_t *bytes, struct problem *problem) {
    struct store_copy copy = {.fd = -1};
    struct stat st = {0};
    int64_t estimate = 0;
    const bool good = store_copy_begin(&copy, part, mode, problem) &&
                      store_copy_fits(c, folder, 0, "nothing was written", &estimate, problem) &&
                      store_copy_write(&copy, c, NULL, problem) &&
                      store_copy_publish(&copy, path, false, problem);
    if (good && fstat(copy.fd, &st) == 0) {
        *bytes = st.st_size;
    }
    store_copy_done(&copy);
    return good;
}

bool store_sqlite_backup_file(const char *database, const char *path, int64_t *bytes,
                              struct problem *problem) {
    struct stat st;
    struct buf part = {0};
    char *folder = store_folder_of(path);
    struct store_connection *c = NULL;
    bool good = false;
    buf_printf(&part, "%s.part", path);
    if (folder == NULL || buf_cstr(&part) == NULL) {
        (void)problem_no_memory(problem);
        goto cleanup;
    }
    if (!is_free(path, problem)) {
        goto cleanup;
    }
    c = store_source_open(database, problem);
    if (c == NULL) {
        goto cleanup;
    }
    if (stat(database, &st) != 0) {
        problem_set(problem, PROBLEM_INTERNAL, "the database \"%s\" cannot be read: %s", database,
                    strerror(errno));
        goto cleanup;
    }
    good = copy_to(c, path, buf_cstr(&part), folder, st.st_mode & 0770, bytes, problem);
cleanup:
    store_sqlite_disconnect(c);
    buf_done(&part);
    free(folder);
    return good;
}
