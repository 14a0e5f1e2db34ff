/* FILE.lock: locked with flock while a process has the database open, so that only one process can
 * open it. It contains the process id. */
#ifndef STORE_LOCKFILE_H
#define STORE_LOCKFILE_H

#include "base/problem.h"

/* Locks the lock file of the database at `path` and writes the process id. On success no other
 * process has the database open. Returns the descriptor; -1 on failure, and sets problem. */
int store_lock_take(const char *path, struct problem *problem);
/* Unlocks. The file is not removed: otherwise two processes could lock two different files of the
 * same name. fd -1 is allowed. */
void store_lock_release(int fd);

#endif
