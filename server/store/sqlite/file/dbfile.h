/* The database file: its path, the check that it is a Discern database, its first contents. */
#ifndef STORE_DBFILE_H
#define STORE_DBFILE_H

#include "store/sqlite/connection.h"

/* Returns the path without symbolic links, which the caller frees. So there is one lock file for
 * all names of a file. Creates an empty file if there is none. Returns NULL on failure and sets
 * problem. */
char *store_dbfile_find(const char *path, struct problem *problem);
/* Fails if the header of the file is not that of a Discern database. Reads from `fd`, writes
 * nothing. */
bool store_dbfile_check(const char *path, int fd, struct problem *problem);
/* Sets page size, vacuum mode and application id of an empty database, and the journal mode. Fails
 * if the file is not a Discern database. To be called before the migrations, not in a
 * transaction. */
bool store_dbfile_prepare(struct store_connection *c, const char *path, struct problem *problem);

#endif
