/* Loads jobs from rows, and declares what the files that change jobs share. */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H

#include "store/tables/tables.h"

/* Values of jobs.cancel_requested besides 0: what a user asked to end. STORE_CANCEL_SEARCH: the
 * search has ended for that. */
enum { STORE_CANCEL_JOB = 1, STORE_CANCEL_SEARCH = 2 };

/* Selects the columns that store_job_load reads. */
#define STORE_JOB_COLUMNS                                                                          \
    "id, state, model, algorithm, dataset, dataset_version, dataset_id, spec, created_at, "        \
    "started_at, finished_at, attempts,"                                                           \
    " cancel_requested, progress, warnings, error, result, version, last_event, "                  \
    "token, "
#define STORE_JOB_SELECT                                                                           \
    "SELECT " STORE_JOB_COLUMNS "coalesce(" STORE_DAMAGE_JOBS(                                     \
        "jobs") ", CASE WHEN r.job IS NOT "                                                        \
                "NULL THEN " STORE_DAMAGE_JOB_REQUESTS(                                            \
                    "r") " END), request, submitted_by FROM jobs LEFT JOIN job_requests "          \
                         "r ON r.job = id "
/* Without the request, which may be as long as a body. */
#define STORE_JOB_SELECT_BRIEF                                                                     \
    "SELECT " STORE_JOB_COLUMNS STORE_DAMAGE_JOBS("jobs") ", NULL, submitted_by FROM jobs "
/* Of a list, whose WHERE has STORE_LISTED. */
#define STORE_JOB_SELECT_LISTED "SELECT " STORE_JOB_COLUMNS "NULL, NULL, submitted_by FROM jobs "
/* Loads the current row into `out`, a struct store_job. On failure sets the query's problem; `out`
 * is then {0}. */
bool store_job_load(struct store_query *q, void *out);
/* Loads the job with this id, in a transaction or a read. brief: without the request.
 * Fails with PROBLEM_UNKNOWN_JOB if there is none. */
bool store_job_find(struct store_connection *c, int64_t id, bool brief, struct store_job *out,
                    struct problem *problem);
/* Returns the state of a job, and its ETag unless etag is NULL. Returns -1 after setting a problem
 * if there is no such job, or if it is damaged. */
int64_t store_job_state(struct store_connection *c, int64_t id, char etag[64],
                        struct problem *problem);

/* Sets PROBLEM_CONFLICT unless this process runs the job with this claim. */
void store_claim_check(struct store_tx *tx, const struct store_claim *claim);
/* Ends a queued or running job as cancelled. */
void store_job_set_cancelled(struct store_tx *tx, int64_t id);

#endif
