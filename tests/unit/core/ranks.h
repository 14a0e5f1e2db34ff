/* A group of ranks as threads of this process. A rank that has ended is no longer connected: the
 * exchanges of the others then fail. */
#ifndef TESTS_CORE_RANKS_H
#define TESTS_CORE_RANKS_H

#include <discern/discern.h>

/* Calls fn(arg, group) on n_ranks threads and waits for them. */
typedef void (*rank_fn)(void *arg, dn_group *group);
void ranks_run(size_t n_ranks, rank_fn fn, void *arg);

#endif
