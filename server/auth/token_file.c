/* Token files on the disk. */
#include "auth/token_file.h"
#include "base/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

bool token_file_read(const char *path, struct buf *out, struct stat *info,
                     struct problem *problem) {
    static const struct config_file_rule rule = {.forbidden = S_IWGRP | S_IWOTH,
                                                 .fault =
                                                     "may be written by its group or by others",
                                                 .advice = "who could add tokens; chmod 600 it"};
    return config_file_read(path, &rule, out, info, problem);
}

/* Opens the folder of a file. */
static int open_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder =
        slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    const int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    return fd;
}

int token_file_lock(const char *path, struct problem *problem) {
    const int fd = open_folder(path);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        problem_set(problem, PROBLEM_INVALID, "the folder of %.300s cannot be locked: %s", path,
                    strerror(errno));
        if (fd >= 0) {
            (void)close(fd);
        }
        return -1;
    }
    return fd;
}

static bool write_all(int fd, const char *text, size_t n) {
    while (n > 0) {
        const ssize_t written = write(fd, text, n);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        text += written > 0 ? written : 0;
        n -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Gives the new file the mode and the owner that token_file_replace documents. */
static bool set_owner(int fd, const char *path, int folder) {
    struct stat old, parent;
    if (stat(path, &old) == 0) {
        const bool same = old.st_uid == geteuid() && old.st_gid == getegid();
        return (same || fchown(fd, old.st_uid, old.st_gid) == 0) &&
               fchmod(fd, old.st_mode & 0777) == 0;
    }
    return fchmod(fd, 0600) == 0 &&
           (geteuid() != 0 ||
            (fstat(folder, &parent) == 0 && fchown(fd, parent.st_uid, parent.st_gid) == 0));
}

bool token_file_replace(const char *path, const char *text, size_t n, struct problem *problem) {
    char *target = realpath(path, NULL); /* a symbolic link stays one */
    const char *name = target != NULL ? target : path;
    struct buf temporary = {0};
    buf_printf(&temporary, "%s.XXXXXX", name);
    char *beside = buf_take(&temporary, NULL);
    buf_done(&temporary);
    const int folder = open_folder(name);
    const int fd = beside != NULL && folder >= 0 ? mkstemp(beside) : -1;
    bool good = fd >= 0 && set_owner(fd, name, folder) && write_all(fd, text, n) && fsync(fd) == 0;
    good = good && rename(beside, name) == 0;
    if (!good) {
        problem_set(problem, PROBLEM_INVALID, "%.300s cannot be written: %s", path,
                    strerror(errno));
        if (fd >= 0) {
            (void)unlink(beside);
        }
    } else if (fsync(folder) != 0) {
        good = problem_set(problem, PROBLEM_INVALID, "the folder of %.300s cannot be synced: %s",
                           path, strerror(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (folder >= 0) {
        (void)close(folder);
    }
    free(beside);
    free(target);
    return good;
}
