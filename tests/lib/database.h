/* Changes the database of the daemon under test. */
#ifndef TESTS_LIB_DATABASE_H
#define TESTS_LIB_DATABASE_H

/* Runs SQL on the database of the_daemon, which may run. Returns the number of changed rows. The
 * triggers compute the checksums of these rows, so the daemon takes the change for its own. */
int database_change(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same without triggers: the changed rows do not match their checksums. Skips the test on
 * PostgreSQL, whose rows have none. */
int database_damage(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
