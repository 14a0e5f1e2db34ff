/* The database file before SQLite sees it: where it is, whether it is ours; and its making. */
#ifndef STORE_DBFILE_H
#define STORE_DBFILE_H

#include "store/sqlite/engine/connection.h"

/* Makes the file if there is none (empty), and gives its path without symbolic links (malloc'ed),
 * so that two names cannot mean two locks. NULL: problem. */
char *store_dbfile_find(const char *path, struct problem *problem);
/* Refuses what is no database of ours by its first bytes, without touching it. Only with the lock
 * held. */
bool store_dbfile_check(const char *path, struct problem *problem);
/* Gives an empty database its page size, vacuum mode, mark and journal; refuses one that is not
 * ours. Outside any transaction, before the migrations. */
bool store_dbfile_prepare(struct store_connection *c, const char *path, struct problem *problem);

#endif
