/* Loads dataset versions from rows. */
#ifndef STORE_DATASETS_H
#define STORE_DATASETS_H

#include "store/sqlite/internal.h"

/* Selects the columns of dataset_versions v and datasets d that store_dataset_load reads. */
#define STORE_DATASET_SELECT                                                                       \
    "SELECT v.id, v.name, v.version, v.n_rows, v.n_cols, v.bytes, v.created_at, v.sha256, "        \
    "v.content, v.columns, v.notes, d.description,"                                                \
    " d.tags, d.revision, d.newest = v.version, v.options, v.submitted_by FROM dataset_versions "  \
    "v JOIN datasets "                                                                             \
    "d ON d.name = v.name "
/* Loads the current row into `out`, a struct store_dataset. On failure sets the query's problem;
 * `out` is then {0}. */
bool store_dataset_load(struct store_query *q, void *out);
/* Loads the version with this id, in a transaction or a read. Fails with PROBLEM_UNKNOWN_DATASET if
 * there is none. */
bool store_dataset_find(struct store_connection *c, int64_t id, struct store_dataset *out,
                        struct problem *problem);

#endif
