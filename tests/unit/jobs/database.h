/* The fixture's database from behind: statements on the store's own writing connection, so that the
 * store can be made to fail. */
#ifndef TESTS_JOBS_DATABASE_H
#define TESTS_JOBS_DATABASE_H

#include "store/sqlite/sqlite.h"
#include "support.h"

/* Runs one statement without values. */
void database_run(struct fixture *f, const char *sql);

/* Waits until bytes of dropped parts were given back. */
void database_await_sweep(struct fixture *f, double before);

#endif
