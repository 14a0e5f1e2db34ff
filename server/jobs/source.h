/* Reads a stored dataset version as a dn_table_source: the callbacks read, check and decode chunks.
 * Encoded blobs are kept in memory up to a limit, so that later passes do not read them from the
 * file. */
#ifndef JOBS_SOURCE_H
#define JOBS_SOURCE_H

#include "base/problem.h"
#include "jobs/request/features.h"
#include "store/store.h"
#include <discern/discern.h>

struct jobs_source;
/* Opens a source. The version is pinned until jobs_source_close.
 *
 *   columns     [n] columns of version `dataset_id`; columns[i] becomes column i of the source
 *   n_slots     maximum number of threads that read at the same time
 *   keep_bytes  limit of the encoded blobs in memory; they are not charged to `budget`
 *   run         its allocator is charged for decoded chunks: a read beyond its limit fails with
 *               DN_ERR_MEMORY. While the database cannot be reached, reads wait and poll its `stop`;
 *               without `stop` they fail. Copied; what it points to must outlive the source. NULL:
 *               no limit, reads do not wait */
bool jobs_source_open(struct store *store, int64_t dataset_id, const struct jobs_column *columns,
                      size_t n, size_t n_slots, int64_t keep_bytes, const dn_run *run,
                      struct jobs_source **out, struct problem *problem);
/* The sizes that determine the memory of decoded chunks. */
struct jobs_source_shape {
    double chunk_rows;  /* rows of the largest chunk */
    double row_bytes;   /* mean size of a row in bytes */
    double row_entries; /* mean entries of a row in sparse columns */
};
/* Returns the expected bytes of the decoded chunks that a source of these columns charges to its
 * budget. */
double jobs_source_memory(const dn_table_column *columns, size_t n, size_t n_slots,
                          const struct jobs_source_shape *shape);
const dn_table_source *jobs_source_table(const struct jobs_source *source);
/* Returns the type of the problem of the first read that failed, whose error is DN_ERR_SOURCE;
 * PROBLEM_NONE: no read has failed. */
enum problem_type jobs_source_failed(const struct jobs_source *source);
void jobs_source_close(struct jobs_source *source); /* NULL is allowed */

#endif
