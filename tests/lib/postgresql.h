/* Databases in the server of tests/with-postgresql, whose URI is in the variable POSTGRESQL. */
#ifndef TESTS_LIB_POSTGRESQL_H
#define TESTS_LIB_POSTGRESQL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the tests use PostgreSQL. */
bool postgresql_is_used(void);
/* Skips the test on PostgreSQL, for this reason. */
void postgresql_skip(const char *reason);
/* Creates an empty database and writes its URI. */
void postgresql_create(char *uri, size_t size);
/* Deletes the database of the URI. */
void postgresql_drop(const char *uri);
/* Runs SQL and returns the number of changed rows. */
int postgresql_run(const char *uri, const char *sql);
/* Fails the test unless the first value of the statement's result is the expected one. */
void postgresql_expect(const char *uri, const char *sql, const char *expected);

#endif
