/* A process of discernd with an empty database in a temporary folder and a free port of the
 * loopback interface. Signals are sent to its process id only. The program is the environment
 * variable DISCERND, or build/discernd.
 *
 * All functions fail the test on an error. */
#ifndef TESTS_LIB_DAEMON_H
#define TESTS_LIB_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct daemon {
    pid_t pid; /* 0: the daemon does not run */
    int port;
    char dir[64];             /* contains discern.db, log, port */
    char database[256];       /* file name, or URI of PostgreSQL */
    char url[64];             /* "http://127.0.0.1:PORT", or https with the flag --tls-cert */
    const char *const *flags; /* more command-line flags, ending in NULL; NULL: none */
};

/* Makes the folder and starts the daemon. flags must live as long as the daemon. */
void daemon_open(struct daemon *d, const char *const *flags);
/* Starts the daemon again with the same database and another port. */
void daemon_start(struct daemon *d);
/* Starts the daemon. Returns false if it ended before it listened; *status is then its exit status,
 * or minus the number of the signal that ended it. */
bool daemon_try(struct daemon *d, int *status);
/* Sends SIGTERM to the daemon and waits until it ends. Returns its exit status, or minus the number
 * of the signal that ended it. */
int daemon_stop(struct daemon *d);
/* Sends SIGKILL to the daemon and waits until it ends. */
void daemon_kill(struct daemon *d);
/* Waits until the daemon ends. Returns its exit status, or minus the number of the signal that
 * ended it. */
int daemon_wait(struct daemon *d);
/* Stops the daemon if it runs (its exit status must be 0), checks the database, removes the
 * folder. */
void daemon_close(struct daemon *d);
/* Checks the database with SQLite: integrity, foreign keys, complete versions, no chunk without an
 * owner. The daemon must not run. */
void daemon_check_database(const struct daemon *d);
/* The text that the daemon has written to stdout and stderr. It lives until the test ends. */
const char *daemon_log(const struct daemon *d);
/* Whether discernd was built with a sanitizer: it then needs several times the time and memory. */
bool daemon_is_sanitized(void);
/* Runs discernd until it ends, at most one minute. Returns its exit status, or minus the number of
 * the signal that ended it. *out: its stdout and stderr, which live until the test ends. */
int discernd_run(const char *const *arguments, const char **out);

#endif
