/* A discernd of the test's own: an empty database in a temporary folder, a free port of loopback.
 * Ended by its process id.
 *
 * The binary is named by the environment's DISCERND, else build/discernd. Whatever fails here fails
 * the test that called. */
#ifndef TESTS_API_DAEMON_H
#define TESTS_API_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct daemon {
    pid_t pid; /* 0: not running */
    int port;
    char dir[64];             /* holds discern.db, log, port */
    char database[128];       /* file name */
    char url[64];             /* "http://127.0.0.1:PORT" */
    const char *const *flags; /* further flags, NULL-terminated; NULL: none */
};

/* Makes the folder and starts. flags must live as long as the daemon. */
void daemon_open(struct daemon *d, const char *const *flags);
/* Starts again on the same database; the port may be another. */
void daemon_start(struct daemon *d);
/* … of which it is not known that it lives long enough to listen: false when it ended before.
 * *status: its exit status, −1: by a signal. */
bool daemon_try(struct daemon *d, int *status);
/* SIGTERM; the exit status (−1: it died by a signal). */
int daemon_stop(struct daemon *d);
void daemon_kill(struct daemon *d); /* SIGKILL */
/* Waits until it ends by itself; the exit status, −1: by a signal. */
int daemon_wait(struct daemon *d);
bool daemon_alive(const struct daemon *d);
/* Stops it if it runs (exit status 0 is asserted), asserts that PRAGMA integrity_check says ok,
 * removes the folder. */
void daemon_close(struct daemon *d);
/* The whole log; the caller frees. */
char *daemon_log(const struct daemon *d);

#endif
