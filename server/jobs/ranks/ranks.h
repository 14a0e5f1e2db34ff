/* Trains a job by several processes (ranks): starts the command of --mpi, and reads what its rank 0
 * writes to standard output, JSON objects of a line each:
 *
 *   {"problem": {…}}              why a rank cannot begin
 *   {"ranks": N, "build": "…"}    all ranks have the same build, request and database, and begin
 *   {"iteration": …}              ranks_put_progress
 *   {"error": {…}}                the error of dn_train
 *   {"bytes": "…"}                a piece of the result (handover.h) in hexadecimal
 *   {"exchanges": …}              the last: the result is complete */
#ifndef JOBS_RANKS_H
#define JOBS_RANKS_H

#include "base/json/json_write.h"
#include "base/problem.h"
#include "jobs/mailbox.h"
#include "jobs/ranks/handover.h"
#include "jobs/ranks/launcher.h"
#include "jobs/request/job_request.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- in the daemon ---- */
struct ranks_training {
    struct launcher *launcher;
    int64_t job, ranks;
    const struct jobs_request *request;
    struct mailbox *mailbox;       /* receives the progress */
    int64_t began_ns, deadline_ns; /* monotonic clock; deadline_ns 0: no time limit */
};
struct ranks_result {
    dn_train_result *result;        /* {0}; freed by the caller on success */
    struct handover_rows *rows;     /* predictions of held-out rows; freed by the caller */
    uint64_t exchanges, sent_bytes; /* of rank 0 */
    bool lost; /* out, after a failure: a rank has died, so that another attempt may succeed */
};
/* Trains. Returns false after setting the problem, also without one if the mailbox has the reason
 * to stop. The command and its processes have ended then, except on a host that does not answer. */
bool ranks_train(const struct ranks_training *t, struct ranks_result *out, struct problem *problem);

/* ---- in rank 0 ---- */
/* Write the members of the open object. */
void ranks_put_progress(const dn_progress *progress, struct json_writer *w);
void ranks_put_error(const dn_error *err, struct json_writer *w);
/* detail: without the list of faults. lost: as in struct problem */
void ranks_put_problem(enum problem_type type, const char *detail, bool lost,
                       struct json_writer *w);
enum { RANKS_PIECE = 32768 };
/* Appends a piece of a result, at most RANKS_PIECE bytes, in hexadecimal. */
void ranks_put_bytes(const void *bytes, size_t n, struct json_writer *w);

#endif
