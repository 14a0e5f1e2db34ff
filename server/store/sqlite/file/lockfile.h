/* FILE.lock: locked by flock while a process has the database open, so that there is only one. Its
 * text is the process id. */
#ifndef STORE_LOCKFILE_H
#define STORE_LOCKFILE_H

#include "base/problem.h"

/* Locks the lock file of the database at `path` and writes the process id. Success proves that no
 * other process has the database open. Returns the descriptor; -1: problem. */
int store_lock_take(const char *path, struct problem *problem);
/* Unlocks. The file stays: if it were removed, two processes could lock two files of one name. -1
 * is allowed. */
void store_lock_release(int fd);

#endif
