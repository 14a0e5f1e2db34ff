/* The daemon of a test program, and the fixtures that start and stop it. */
#ifndef TESTS_LIB_SERVICE_H
#define TESTS_LIB_SERVICE_H

#include "lib/cmocka.h"
#include "lib/daemon.h"

extern struct daemon the_daemon;
/* Starts the_daemon on an empty database; a daemon that runs is ended first. flags: more
 * command-line flags, ending in NULL, which must live as long as the daemon; NULL: none. */
void service_start(const char *const *flags);
/* Starts the_daemon again with the same database and another port. */
void service_restart(const char *const *flags);
/* Sends SIGTERM to the_daemon, and fails the test unless its exit status is 0. */
void service_stop(void);
/* Stops the_daemon if it runs, checks its database, removes its folder. */
void service_end(void);

/* Fixtures. group_start starts the_daemon without further flags. test_end fails the test if
 * the_daemon runs but does not answer. */
int group_start(void **state);
int group_end(void **state);
int test_end(void **state);
#define TEST(function) cmocka_unit_test_teardown(function, test_end)
#define RUN(tests) cmocka_run_group_tests(tests, group_start, group_end)
/* For tests that start the_daemon themselves. */
#define RUN_WITHOUT_DAEMON(tests) cmocka_run_group_tests(tests, NULL, group_end)
#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
