/* A stored dataset version as a dn_table_source: chunks are read, checked and decoded when asked
 * for; encoded blobs are kept in memory up to a budget, so that later passes read no file. */
#ifndef JOBS_SOURCE_H
#define JOBS_SOURCE_H

#include "jobs/request/spec.h"
#include "store/store.h"
#include <discern/discern.h>

struct jobs_source;
/* columns[n] of version `dataset_id` become columns 0 … n-1 of the source. n_slots: threads that
 * will read at once. keep_bytes: how much of the encoded blobs may stay in memory, beside the
 * budget. budget: decoded chunks are charged to it, and DN_ERR_MEMORY when it does not have them; it
 * outlives the source. NULL: there is no budget. The version is pinned until closed. */
bool jobs_source_open(struct store *store, int64_t dataset_id, const struct jobs_column *columns,
                      size_t n, size_t n_slots, int64_t keep_bytes, const dn_allocator *budget,
                      struct jobs_source **out, struct problem *problem);
/* What the memory of decoded chunks depends on. */
struct jobs_source_shape {
    double chunk_rows;  /* rows of the largest chunk */
    double row_bytes;   /* mean bytes of text of a row */
    double row_entries; /* mean entries of a row in sparse columns */
};
/* Expected bytes of the decoded chunks that a source of these columns charges to its budget. */
double jobs_source_memory(const dn_table_column *columns, size_t n, size_t n_slots,
                          const struct jobs_source_shape *shape);
const dn_table_source *jobs_source_table(const struct jobs_source *source);
void jobs_source_close(struct jobs_source *source); /* NULL is allowed */

#endif
