/* Opens a database file that this process does not own: a daemon may have it open. */
#ifndef STORE_SOURCE_H
#define STORE_SOURCE_H

#include "store/sqlite/connection.h"

/* Opens the database for reading and checks that it is a Discern database. Returns NULL on failure
 * and sets problem. Nothing is created but FILE-wal and FILE-shm, which SQLite needs. */
struct store_connection *store_source_open(const char *path, struct problem *problem);

#endif
