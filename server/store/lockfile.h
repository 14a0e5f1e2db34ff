/* FILE.lock: held by flock for the life of a daemon, it makes that daemon the only one on its database; its text names the holder. */
#ifndef STORE_LOCKFILE_H
#define STORE_LOCKFILE_H

#include "base/problem.h"
#include <stdbool.h>

#define STORE_OWNER_SIZE 33 /* 32 hex digits and NUL */

/* Takes the lock of the database at `path`. previous: the owner id its last holder left there ("" when there was none): that process is proven dead by our holding the lock.
 * The text now names our pid and still the previous owner. Returns the descriptor, -1: problem. */
int store_lock_take(const char *path, char previous[STORE_OWNER_SIZE], struct problem *problem);
/* Names us as the owner, once what the previous one held has been given back. */
bool store_lock_sign(int fd, const char *owner, struct problem *problem);
void store_lock_release(int fd); /* -1 is allowed. The file stays: removing it would let two processes lock two files of one name */

#endif
