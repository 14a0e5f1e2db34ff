/* Replaces training_run (ld --wrap) in the daemon of tests/api/test_crashes.c: a job for the model
 * $TEST_CRASH_MODEL aborts the process, half a second after it starts, so that a test can see
 * predictions served meanwhile. */
#include "jobs/training.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void __real_training_run(struct store *store, const struct jobs_settings *settings,
                         const struct store_job *job, struct mailbox *mailbox);
void __wrap_training_run(struct store *store, const struct jobs_settings *settings,
                         const struct store_job *job, struct mailbox *mailbox);

void __wrap_training_run(struct store *store, const struct jobs_settings *settings,
                         const struct store_job *job, struct mailbox *mailbox) {
    const char *model = getenv("TEST_CRASH_MODEL");
    if (model != NULL && strcmp(model, job->model) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
        abort();
    }
    __real_training_run(store, settings, job, mailbox);
}
