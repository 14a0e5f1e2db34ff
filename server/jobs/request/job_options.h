/* The options of a job that do not depend on the columns: the members "model", "class_weight",
 * "validation", "promote", "seed" and "snapshots". A client's request and the stored request have
 * the same form. */
#ifndef JOBS_JOB_OPTIONS_H
#define JOBS_JOB_OPTIONS_H

#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "jobs/request/job_request.h"

/* Reads the options into `r`; absent members get their defaults. Adds every fault to `problem`.
 * Strings and arrays are allocated in the arena. The dataset of "validation" is not read. */
void jobs_options_read(const json_t *root, struct arena *arena, struct jobs_request *r,
                       struct problem *problem);
/* Writes members into the open object: "weight", "class_weight", "validation" and "seed"; null
 * where a job has none. rule: and "decision", "conformal" and "expires_in", if the job has them. */
void jobs_options_write(const struct jobs_request *r, bool rule, struct json_writer *w);
/* Writes the member "limits"; its member "seconds" is null if there is no limit. */
void jobs_limits_write(const struct jobs_request *r, struct json_writer *w);
/* Writes the member "learning_curve". */
void jobs_learning_curve_write(const struct jobs_request *r, struct json_writer *w);
/* Writes the members "learning_curve", "snapshots" and "snapshots_of". */
void jobs_snapshots_write(const struct jobs_request *r, struct json_writer *w);

#endif
