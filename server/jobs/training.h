/* Runs a claimed job and writes its end to the store. */
#ifndef JOBS_TRAINING_H
#define JOBS_TRAINING_H

#include "jobs/jobs.h"
#include "jobs/mailbox.h"
#include "store/store.h"

/* Runs the training of a claimed job and writes how it ended: a model, a failure or a cancellation,
 * or, if the daemon ends, the job is queued again. Opens and closes the mailbox. */
void training_run(struct store *store, const struct jobs_settings *settings,
                  const struct store_job *job, struct mailbox *mailbox);

#endif
