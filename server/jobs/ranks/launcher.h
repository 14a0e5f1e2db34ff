/* A process outside the sandbox that starts the command of --mpi, and nothing else.
 *
 * The daemon's sandbox forbids to start programs and cannot be left, so the launcher is forked
 * before the daemon enters it. A caller sends numbers (struct order); the rest of the command is
 * what it was at the start. For each command the launcher forks a keeper, which starts the command
 * in a new process group. When the caller closes `control` or ends, the keeper ends the command and
 * all processes that it started. The launcher ends with the daemon. */
#ifndef JOBS_LAUNCHER_H
#define JOBS_LAUNCHER_H

#include "base/problem.h"
#include "jobs/ranks/mpi_command.h"
#include <stdbool.h>
#include <stdint.h>

struct launcher;
/* Forks the launcher. Call it before the sandbox and before the first thread.
 *
 *   command   used by the launcher only; copied by the fork
 *   database  the value of --database */
bool launcher_start(const struct mpi_command *command, const char *database, struct launcher **out,
                    struct problem *problem);
/* Ends the launcher. Commands that run go on until their `control` is closed. NULL is allowed. */
void launcher_stop(struct launcher *launcher);

/* Returns the digest of discern-train when the launcher was started; "": unknown. */
const char *launcher_build(const struct launcher *launcher);
/* Whether the launcher has ended, for example by a signal: no command can be started. Writes the
 * first time an error to the log. Any thread. */
bool launcher_ended(struct launcher *launcher);

/* A started command. The caller closes the three. */
struct launched {
    int control; /* receives an int, as of waitpid, when the command and all its processes have
                  * ended. Closing it before ends them: SIGTERM, after LAUNCHER_GRACE_MS SIGKILL. If
                  * the keeper is killed, it is closed, and the kernel kills the command */
    int output;  /* what the command writes to standard output */
    int errors;  /* and to standard error */
};
enum { LAUNCHER_GRACE_MS = 3000 };
/* What the command is started for. */
struct order {
    int64_t job, ranks;
    int64_t memory_bytes, threads; /* at most, for each rank */
};
/* Starts the command. Any thread. */
bool launcher_run(struct launcher *launcher, const struct order *order, struct launched *out,
                  struct problem *problem);
enum launched_state {
    LAUNCHED_RUNS,
    LAUNCHED_ENDED, /* its status is known */
    LAUNCHED_LOST,  /* the keeper has ended without a status */
};
/* Waits until the command has ended, or to the timeout. *status: as of waitpid. */
enum launched_state launched_wait(const struct launched *run, int timeout_ms, int *status);
/* Asks the command to end: `control` stays open for launched_wait. */
void launched_end(const struct launched *run);

#endif
