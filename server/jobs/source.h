/* A stored dataset version as a dn_table_source: chunks are read, checked and decoded when asked
 * for; encoded blobs are kept in memory up to a budget, so that later passes read no file. */
#ifndef JOBS_SOURCE_H
#define JOBS_SOURCE_H

#include "jobs/request/spec.h"
#include "store/store.h"
#include <discern/discern.h>

struct jobs_source;
/* columns[n] of version `dataset_id` become columns 0 … n-1 of the source. n_slots: threads that
 * will read at once. keep_bytes: how much of the encoded blobs may stay in memory. The version is
 * pinned until closed. */
bool jobs_source_open(struct store *store, int64_t dataset_id, const struct jobs_column *columns,
                      size_t n, size_t n_slots, int64_t keep_bytes, struct jobs_source **out,
                      struct problem *problem);
const dn_table_source *jobs_source_table(const struct jobs_source *source);
void jobs_source_close(struct jobs_source *source); /* NULL is allowed */

#endif
