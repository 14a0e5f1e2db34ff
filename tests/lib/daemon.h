/* A process of discernd: an empty database in a temporary folder, a free port of loopback, ended by
 * its process id. The binary is the environment's DISCERND, or build/discernd.
 *
 * All functions fail the test on an error. */
#ifndef TESTS_LIB_DAEMON_H
#define TESTS_LIB_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct daemon {
    pid_t pid; /* 0: it does not run */
    int port;
    char dir[64];             /* holds discern.db, log, port */
    char database[128];       /* file name */
    char url[64];             /* "http://127.0.0.1:PORT" */
    const char *const *flags; /* further flags, ending in NULL; NULL: none */
};

/* Makes the folder and starts the daemon. flags must live as long as the daemon. */
void daemon_open(struct daemon *d, const char *const *flags);
/* Starts it again on the same database and another port. */
void daemon_start(struct daemon *d);
/* Starts it; returns false if it ended before it listened. *status: its exit status, or
 * minus the number of the signal. */
bool daemon_try(struct daemon *d, int *status);
/* Sends SIGTERM; returns the exit status, or minus the number of the signal. */
int daemon_stop(struct daemon *d);
/* Sends SIGKILL. */
void daemon_kill(struct daemon *d);
/* Waits until it ends; returns the exit status, or minus the number of the signal. */
int daemon_wait(struct daemon *d);
/* Stops it if it runs (its exit status must be 0), checks the database, removes the folder. */
void daemon_close(struct daemon *d);
/* Checks the database with SQLite: integrity, foreign keys, whole versions, no chunk without an
 * owner. The daemon must not run. */
void daemon_check_database(const struct daemon *d);
/* All that it has written to stdout and stderr. Lives until the test ends. */
const char *daemon_log(const struct daemon *d);
/* Runs discernd until it ends, at most a minute. Returns the exit status, or minus the number of the
 * signal. *out: its stdout and stderr; lives until the test ends. */
int discernd_run(const char *const *arguments, const char **out);

#endif
