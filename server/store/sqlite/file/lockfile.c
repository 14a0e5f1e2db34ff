/* The lock file contains the process id in a record of fixed length, which a single write
 * replaces. */
#include "store/sqlite/file/lockfile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
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

/* Locks FILE.lock. Returns its descriptor; -1 on failure. */
static int lock_file(const char *path, struct problem *problem) {
    size_t size = strlen(path) + sizeof ".lock";
    char *name = malloc(size);
    if (!name) {
        problem_no_memory(problem);
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

/* Trap: closing any descriptor of a file drops all fcntl locks that this process has on the file,
 * including those of SQLite. So the file is opened only while FILE.lock is locked, and its links
 * are counted before it is opened: a second name is the way by which another store of this process
 * could have it open. */
static int lock_database(const char *path, struct problem *problem) {
    struct stat st;
    if (stat(path, &st) == 0 && st.st_nlink > 1) {
        problem_set(problem, PROBLEM_INTERNAL,
                    "the database \"%s\" has %lu hard links: remove all names but one, because the "
                    "write-ahead log lies beside one of them only",
                    path, (unsigned long)st.st_nlink);
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        problem_set(problem, PROBLEM_INTERNAL, "the database \"%s\" is not readable: %s", path,
                    strerror(errno));
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            problem_set(problem, PROBLEM_UNAVAILABLE,
                        "the database \"%s\" is in use by another process (its lock file was "
                        "removed, or the process opened it by another name)",
                        path);
        } else {
            problem_set(problem, PROBLEM_UNAVAILABLE,
                        "the database \"%s\" cannot be locked with flock, as it must be: %s", path,
                        strerror(errno));
        }
        close(fd);
        fd = -1;
    }
    return fd;
}

bool store_lock_take(struct store_lock *lock, const char *path, struct problem *problem) {
    *lock = (struct store_lock){.file = lock_file(path, problem), .database = -1};
    if (lock->file >= 0) {
        lock->database = lock_database(path, problem);
    }
    if (lock->database < 0) {
        store_lock_release(lock);
    }
    return lock->database >= 0;
}

bool store_lock_take_name(struct store_lock *lock, const char *path, struct problem *problem) {
    *lock = (struct store_lock){.file = lock_file(path, problem), .database = -1};
    return lock->file >= 0;
}

void store_lock_release(struct store_lock *lock) {
    if (lock->database >= 0) {
        close(lock->database);
    }
    if (lock->file >= 0) {
        close(lock->file);
    }
    *lock = (struct store_lock){-1, -1};
}
