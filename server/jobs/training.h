/* One training run: from a claimed job to its end in the store. */
#ifndef JOBS_TRAINING_H
#define JOBS_TRAINING_H

#include "jobs/jobs.h"
#include "jobs/mailbox.h"
#include "store/store.h"

/* Trains what the claimed job says and writes its end: a model, a failure, a cancellation, or back
 * to the queue (drain). The mailbox is opened and closed here. */
void training_run(struct store *store, const struct jobs_settings *settings,
                  const struct store_job *job, struct mailbox *mailbox);

#endif
