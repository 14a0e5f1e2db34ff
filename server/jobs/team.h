/* A team of threads that implements dn_run.each. */
#ifndef JOBS_TEAM_H
#define JOBS_TEAM_H

#include "base/problem.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>

struct team;
/* Starts n_threads - 1 threads; the calling thread is the remaining one. n_threads >= 1. Heap
 * object; only its owner thread calls team_each. */
bool team_start(size_t n_threads, struct team **out, struct problem *problem);
void team_stop(struct team *team); /* NULL is allowed */
size_t team_size(const struct team *team);
/* Implements dn_run.each. Slots are 0 ... team_size - 1; slot 0 is the calling thread. If several
 * threads fail, returns the failure of the lowest slot, and DN_ERR_STOPPED only if no thread failed
 * for another reason. */
dn_status team_each(struct team *team, const dn_run *run, const dn_rows *rows, dn_each_fn fn,
                    void *arg, dn_error *err);

#endif
