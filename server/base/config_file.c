/* Small files on the disk. */
#include "base/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 1 << 20 };
/* A file whose time of change is not older is read again: a second change within the resolution of
 * file times would not be seen. */
#define SETTLED_SECONDS 2

static bool check_info(const char *path, const struct config_file_rule *rule,
                       const struct stat *info, struct problem *problem) {
    if (!S_ISREG(info->st_mode)) {
        return problem_set(problem, PROBLEM_INVALID, "%.300s is not a regular file", path);
    }
    if (rule != NULL && (info->st_mode & rule->forbidden) != 0) {
        return problem_set(problem, PROBLEM_INVALID, "%.300s %s (mode %04o), %s", path, rule->fault,
                           (unsigned)(info->st_mode & 07777), rule->advice);
    }
    if (info->st_size > FILE_MAX_BYTES) {
        return problem_set(problem, PROBLEM_INVALID, "%.300s is longer than 1 MiB", path);
    }
    return true;
}

/* Reads all of an open file, at most one byte more than FILE_MAX_BYTES. */
static bool read_all(int fd, struct buf *out) {
    char bytes[16384];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) != 0 && out->size <= FILE_MAX_BYTES) {
        if (n < 0 && errno != EINTR) {
            return false;
        }
        buf_append(out, bytes, n > 0 ? (size_t)n : 0);
    }
    return true;
}

bool config_file_read(const char *path, const struct config_file_rule *rule, struct buf *out,
                      struct stat *info, struct problem *problem) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not wait for a FIFO */
    bool good = fd >= 0 && fstat(fd, info) == 0;
    if (good && !check_info(path, rule, info, problem)) {
        (void)close(fd);
        return false;
    }
    good = good && read_all(fd, out);
    if (!good) {
        problem_set(problem, PROBLEM_INVALID, "%.300s cannot be read: %s", path, strerror(errno));
    } else if (out->failed) {
        problem_no_memory(problem);
    } else if (out->size > FILE_MAX_BYTES) {
        problem_set(problem, PROBLEM_INVALID, "%.300s is longer than 1 MiB", path);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return problem->type == PROBLEM_NONE;
}

bool config_file_changed(const char *path, const struct stat *seen) {
    struct stat now;
    if (stat(path, &now) != 0) {
        return true;
    }
    return now.st_ino != seen->st_ino || now.st_dev != seen->st_dev ||
           now.st_size != seen->st_size || now.st_mode != seen->st_mode ||
           now.st_ctim.tv_sec != seen->st_ctim.tv_sec ||
           now.st_ctim.tv_nsec != seen->st_ctim.tv_nsec ||
           time(NULL) - now.st_ctim.tv_sec <= SETTLED_SECONDS;
}
