/* Databases in the server of tests/with-postgresql, whose URI is in the variable POSTGRESQL. */
#ifndef TESTS_LIB_POSTGRESQL_H
#define TESTS_LIB_POSTGRESQL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the tests use PostgreSQL. */
bool postgresql_is_used(void);
/* Skips the test on PostgreSQL, for this reason. */
void postgresql_skip(const char *reason);
/* As postgresql_skip for a whole program, called by main, which returns POSTGRESQL_SKIPPED if this
 * is true. */
bool postgresql_skips(const char *reason);
#define POSTGRESQL_SKIPPED 77
/* Skips the test on SQLite. */
void postgresql_only(void);
/* Creates an empty database and writes its URI. */
void postgresql_create(char *uri, size_t size);
/* Deletes the database of the URI. */
void postgresql_drop(const char *uri);
/* Runs SQL and returns the number of changed rows. */
int postgresql_run(const char *uri, const char *sql);
/* Ends the connections to the database and refuses new ones, until postgresql_admit. */
void postgresql_block(const char *uri);
void postgresql_admit(const char *uri);
/* The same, but takes the lock of a daemon meanwhile, as another daemon would, and admits
 * connections. Returns what postgresql_release needs to end this. */
void *postgresql_take_over(const char *uri);
void postgresql_release(void *taken);
/* Fails the test unless the first value of the statement's result is the expected one. */
void postgresql_expect(const char *uri, const char *sql, const char *expected);

#endif
