/* FILE.lock: held by flock for the life of a daemon, it makes that daemon the only one on its
 * database; its text names the holder. */
#ifndef STORE_LOCKFILE_H
#define STORE_LOCKFILE_H

#include "base/problem.h"

/* Takes the lock of the database at `path` and writes our pid there. Whoever else has held it is
 * proven dead by that. Returns the descriptor, -1: problem. */
int store_lock_take(const char *path, struct problem *problem);
void store_lock_release(int fd); /* -1 is allowed. The file stays: removing it would let two
                                    processes lock two files of one name */

#endif
