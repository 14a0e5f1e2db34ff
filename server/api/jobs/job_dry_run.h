/* The answer of POST /v1/jobs?dry_run=true. */
#ifndef API_JOB_DRY_RUN_H
#define API_JOB_DRY_RUN_H

#include "base/json/json_write.h"
#include "jobs/request/job_request.h"

/* Writes the answer: the job with all defaults filled in. */
void job_dry_run_write(const struct jobs_request *r, struct buf *out);
/* Writes the names of the features as a JSON array; null if the summary does not have all of them
 * (job_names.c). */
void job_names_write(const struct jobs_request *r, struct json_writer *w);

#endif
