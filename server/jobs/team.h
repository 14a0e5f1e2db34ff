/* A team of threads that answers dn_run.sum: blocks are computed anywhere, added in the one order of dn_pairwise. */
#ifndef JOBS_TEAM_H
#define JOBS_TEAM_H

#include "base/problem.h"
#include <discern/discern.h>
#include <stdbool.h>
#include <stddef.h>

struct team;
/* n_threads >= 1, the caller's own included: n_threads - 1 are started. Heap object of one owner thread, which is the only one to call team_sum. */
bool team_start(size_t n_threads, struct team **out, struct problem *problem);
void team_stop(struct team *team); /* NULL is allowed */
size_t team_size(const struct team *team);
/* dn_run.sum's meaning. Working memory comes from the run's allocator. */
dn_status team_sum(struct team *team, const dn_run *run, const dn_rows *rows, dn_block_fn fn,
                   void *arg, size_t n_out, double *out, dn_error *err);

#endif
