/* The lock file contains the process id in a record of fixed length, which a single write
 * replaces. */
#include "store/sqlite/file/lockfile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { RECORD_SIZE = 21 }; /* bytes of the record: digits of the process id, spaces, a newline */

/* Writes the record, which other processes show in their messages. If the disk is full, the record
 * is left out: the lock works without it. */
static void write_record(int fd, struct problem *problem) {
    char record[RECORD_SIZE + 1];
    snprintf(record, sizeof record, "%-20ld\n", (long)getpid());
    if ((pwrite(fd, record, RECORD_SIZE, 0) != RECORD_SIZE || ftruncate(fd, RECORD_SIZE) != 0) &&
        errno != ENOSPC && errno != EDQUOT) {
        problem_set(problem, PROBLEM_INTERNAL, "the lock file cannot be written: %s",
                    strerror(errno));
    }
}

static long read_record(int fd) {
    char record[RECORD_SIZE + 1] = "";
    return pread(fd, record, RECORD_SIZE, 0) > 0 ? strtol(record, NULL, 10) : 0;
}

int store_lock_take(const char *path, struct problem *problem) {
    size_t size = strlen(path) + sizeof ".lock";
    char *name = malloc(size);
    if (!name) {
        problem_set(problem, PROBLEM_INTERNAL, "out of memory");
        return -1;
    }
    snprintf(name, size, "%s.lock", path);
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) {
        problem_set(problem, PROBLEM_INTERNAL, "the lock file \"%s\" is not writable: %s", name,
                    strerror(errno));
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        problem_set(problem, PROBLEM_UNAVAILABLE,
                    "the database \"%s\" is in use: locked by pid %ld", path, read_record(fd));
    } else {
        write_record(fd, problem);
    }
    free(name);
    if (problem->type && fd >= 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void store_lock_release(int fd) {
    if (fd >= 0) {
        close(fd);
    }
}
