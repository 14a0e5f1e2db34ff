/* The locks that let only one process have a database open: one on FILE.lock, which contains the
 * process id, and one on the database file itself. The second lock holds if FILE.lock was removed
 * or if the file is reached by another name. Both are locks of flock, which do not meet the fcntl
 * locks of SQLite. */
#ifndef STORE_LOCKFILE_H
#define STORE_LOCKFILE_H

#include "base/problem.h"

struct store_lock {
    int file;     /* descriptor of FILE.lock; -1: not locked */
    int database; /* descriptor of the database file, for reading; -1: not locked */
};

/* Locks the database at `path` and writes the process id to its lock file. On success no other
 * process has the database open. The database file must exist. Fails with PROBLEM_UNAVAILABLE if
 * it is in use, and with PROBLEM_INTERNAL if it has more than one hard link: the write-ahead log
 * lies beside one name, so a database that is opened by another name loses what the log has. */
bool store_lock_take(struct store_lock *lock, const char *path, struct problem *problem);
/* Locks FILE.lock only, before the database is created. */
bool store_lock_take_name(struct store_lock *lock, const char *path, struct problem *problem);
/* Unlocks. To be called after SQLite closed the database. FILE.lock is not removed: otherwise two
 * processes could lock two different files of the same name. Descriptors of -1 are allowed. */
void store_lock_release(struct store_lock *lock);

#endif
