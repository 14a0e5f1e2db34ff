/* Loads dataset versions from rows. */
#ifndef STORE_DATASETS_H
#define STORE_DATASETS_H

#include "store/tables/tables.h"

#define STORE_DATASET_DAMAGE                                                                       \
    "coalesce(" STORE_DAMAGE_DATASET_VERSIONS("v") ", " STORE_DAMAGE_DATASETS("d") ")"
/* Selects how damage hides a dataset (store_unknown). */
#define STORE_DATASET_HIDDEN                                                                       \
    STORE_HIDDEN("datasets", "dataset_versions", "newest", STORE_DAMAGE_DATASETS("n"),             \
                 STORE_DAMAGE_DATASET_VERSIONS("v"))
/* Selects the columns of dataset_versions v and datasets d that store_dataset_load reads. */
#define STORE_DATASET_SELECT STORE_DATASET_SELECT_WITH(STORE_DATASET_DAMAGE)
/* The same of a list, whose WHERE has STORE_LISTED. */
#define STORE_DATASET_SELECT_LISTED STORE_DATASET_SELECT_WITH("NULL")
#define STORE_DATASET_SELECT_WITH(damage)                                                          \
    "SELECT v.id, v.name, v.version, v.n_rows, v.n_cols, v.bytes, v.created_at, v.sha256, "        \
    "v.content, v.columns, v.notes, d.description,"                                                \
    " d.tags, d.revision, d.newest = v.version, v.options, " damage ", v.submitted_by, "           \
    "d.expires_at"                                                                                 \
    " FROM dataset_versions v JOIN datasets d ON d.name = v.name "
/* Loads the current row into `out`, a struct store_dataset. On failure sets the query's problem;
 * `out` is then {0}. */
bool store_dataset_load(struct store_query *q, void *out);
/* Loads the version with this id, in a transaction or a read. Fails with PROBLEM_UNKNOWN_DATASET if
 * there is none. */
bool store_dataset_find(struct store_connection *c, int64_t id, struct store_dataset *out,
                        struct problem *problem);

#endif
