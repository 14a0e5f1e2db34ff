/* The daemon of a test program, the fixtures around it. */
#ifndef TESTS_LIB_SERVICE_H
#define TESTS_LIB_SERVICE_H

#include "lib/cmocka.h"
#include "lib/daemon.h"

extern struct daemon the_daemon;
/* Starts the_daemon on an empty database; ends the previous one first. flags: further flags, ending
 * in NULL, which must live as long as the daemon; NULL: none. */
void service_start(const char *const *flags);
/* Starts it again on the same database and another port. */
void service_restart(const char *const *flags);
/* Sends SIGTERM; fails the test unless the exit code is 0. */
void service_stop(void);
/* Stops it if it runs, checks the database, removes the folder. */
void service_end(void);

/* Fixtures: group_start starts a daemon without further flags. test_end fails if the_daemon runs and
 * does not answer. */
int group_start(void **state);
int group_end(void **state);
int test_end(void **state);
#define TEST(function) cmocka_unit_test_teardown(function, test_end)
#define RUN(tests) cmocka_run_group_tests(tests, group_start, group_end)
/* … for tests that start the daemon themselves. */
#define RUN_WITHOUT_DAEMON(tests) cmocka_run_group_tests(tests, NULL, group_end)
#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
