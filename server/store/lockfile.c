/* The lock file: "PID OWNER\n" in a record of fixed length, so that it is replaced by one write and never found half written. */
#include "store/lockfile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { RECORD_SIZE = 64 };

static bool write_record(int fd, const char *owner, struct problem *problem) {
    char record[RECORD_SIZE + 1];
    snprintf(record, sizeof record, "%-20ld %-42s\n", (long)getpid(), owner);
    if (pwrite(fd, record, RECORD_SIZE, 0) != RECORD_SIZE) {
        return problem_set(problem, errno == ENOSPC ? PROBLEM_STORAGE_FULL : PROBLEM_INTERNAL, "the lock file cannot be written: %s",
                           strerror(errno));
    }
    return true;
}

static void read_record(int fd, long *pid, char owner[STORE_OWNER_SIZE]) {
    char record[RECORD_SIZE + 1] = "";
    *pid = 0;
    owner[0] = '\0';
    if (pread(fd, record, RECORD_SIZE, 0) == RECORD_SIZE) {
        char *rest;
        *pid = strtol(record, &rest, 10);
        rest += strspn(rest, " ");
        size_t n = strspn(rest, "0123456789abcdef");
        if (n == STORE_OWNER_SIZE - 1) {
            memcpy(owner, rest, n);
            owner[n] = '\0';
        }
    }
}

int store_lock_take(const char *path, char previous[STORE_OWNER_SIZE], struct problem *problem) {
    size_t size = strlen(path) + sizeof ".lock";
    char *name = malloc(size);
    if (!name) {
        problem_set(problem, PROBLEM_INTERNAL, "out of memory");
        return -1;
    }
    snprintf(name, size, "%s.lock", path);
    long pid;
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) {
        problem_set(problem, PROBLEM_INTERNAL, "the lock file \"%s\" is not writable: %s", name, strerror(errno));
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        char owner[STORE_OWNER_SIZE];
        read_record(fd, &pid, owner);
        problem_set(problem, PROBLEM_UNAVAILABLE, "the database \"%s\" is in use: locked by pid %ld", path, pid);
    } else {
        read_record(fd, &pid, previous);
        write_record(fd, previous, problem);
    }
    free(name);
    if (problem->type && fd >= 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool store_lock_sign(int fd, const char *owner, struct problem *problem) {
    return write_record(fd, owner, problem);
}

void store_lock_release(int fd) {
    if (fd >= 0) {
        close(fd);
    }
}
