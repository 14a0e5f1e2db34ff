#include "store/sqlite/copies/source.h"
#include "store/engine/query.h"
#include "store/sqlite/file/dbfile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks the file before SQLite opens it: SQLite's locks would be dropped when the descriptor is
 * closed. */
static bool check_file(const char *path, struct problem *problem) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        problem_set(problem, PROBLEM_INTERNAL, "the database \"%s\" cannot be read: %s", path,
                    strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        problem_set(problem, PROBLEM_INTERNAL, "the database \"%s\" is not a regular file", path);
    } else if (st.st_size == 0) {
        problem_set(problem, PROBLEM_INTERNAL, "\"%s\" is not a Discern database: it is empty",
                    path);
    } else {
        (void)store_dbfile_check(path, fd, problem);
    }
    if (fd >= 0) {
        close(fd);
    }
    return problem->type == PROBLEM_NONE;
}

struct store_connection *store_source_open(const char *path, struct problem *problem) {
    if (!check_file(path, problem)) {
        return NULL;
    }
    struct store_connection *c = store_sqlite_connect(path, STORE_INSPECT, problem);
    if (c == NULL) {
        return NULL;
    }
    const int64_t id = STORE_ASK(c, problem, 0, "PRAGMA application_id", STORE_NO_VALUES);
    if (problem->type == PROBLEM_NONE && id != STORE_APPLICATION_ID) {
        problem_set(problem, PROBLEM_INTERNAL,
                    "\"%s\" is not a Discern database: its application id is 0x%08x, not 0x%08x",
                    path, (unsigned)id, (unsigned)STORE_APPLICATION_ID);
    }
    if (problem->type != PROBLEM_NONE) {
        store_sqlite_disconnect(c);
        return NULL;
    }
    return c;
}
