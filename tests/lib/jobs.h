/* Posts jobs and waits for them. A job is JSON, written with ' for ", as in quoted(). */
#ifndef TESTS_LIB_JOBS_H
#define TESTS_LIB_JOBS_H

#include "lib/client.h"

/* Posts a job, which the daemon must accept. Returns its id. */
int64_t job_post(const char *spec, ...) __attribute__((format(printf, 1, 2)));
/* Wait until the job has ended, or (job_wait_state) until it has this state. They return the answer
 * with the job. */
const struct response *job_wait(int64_t id);
const struct response *job_wait_state(int64_t id, const char *state);
/* Posts a job and waits until it has succeeded. Returns the answer with the job. */
const struct response *job_train(const char *spec, ...) __attribute__((format(printf, 1, 2)));
/* Posts a job that runs for hours unless it is cancelled. Dataset "digits" must exist. */
int64_t job_endless(const char *model);

#endif
