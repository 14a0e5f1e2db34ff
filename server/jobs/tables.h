/* The tables of a training: the dataset of a job and its validation dataset, and the request of
 * dn_train for them. */
#ifndef JOBS_TABLES_H
#define JOBS_TABLES_H

#include "base/memory/arena.h"
#include "base/problem.h"
#include "jobs/request/job_request.h"
#include "jobs/source.h"
#include "store/store.h"
#include <discern/discern.h>

struct jobs_tables {
    struct store_dataset dataset, validation_dataset; /* {0}: none */
    struct jobs_source *source, *validation;          /* validation NULL: none */
};

/* Opens the tables of a job. The source has the columns of jobs_request_columns; the weight is a
 * column of the validation table only if its dataset has it.
 *
 *   request  of the job; its strings must outlive the tables
 *   n_slots  maximum number of threads that read at the same time
 *   run      as for jobs_source_open; what it points to must outlive the tables
 *   arena    for temporary arrays */
bool jobs_tables_open(struct store *store, const struct store_job *job,
                      const struct jobs_request *request, size_t n_slots, const dn_run *run,
                      struct arena *arena, struct jobs_tables *out, struct problem *problem);
void jobs_tables_close(struct jobs_tables *tables); /* {0} is allowed */

/* Sets the request of dn_train. Its arrays are allocated in the arena. */
bool jobs_tables_request(const struct jobs_tables *tables, const struct jobs_request *request,
                         const dn_run *run, struct arena *arena, dn_train_request *out,
                         struct problem *problem);

#endif
