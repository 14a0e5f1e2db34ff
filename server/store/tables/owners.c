/* What the owners of datasets, models and jobs have. */
#include "store/tables/tables.h"
#include <inttypes.h>

static int64_t jobs_of(struct store_connection *c, struct problem *problem, const char *owner) {
    return STORE_ASK(c, problem, 0,
                     "SELECT count(*) FROM jobs WHERE state IN (?1, ?2) AND submitted_by = ?3",
                     store_int(STORE_JOB_QUEUED), store_int(STORE_JOB_RUNNING), store_text(owner));
}

/* A part belongs to the first version that has it. */
static int64_t bytes_of(struct store_connection *c, struct problem *problem, const char *owner) {
    return STORE_ASK(
               c, problem, 0,
               "SELECT " STORE_SUM(
                   "c.bytes") " FROM dataset_versions v JOIN dataset_parts p "
                              "ON p.version = v.id JOIN chunks c ON c.part = p.part "
                              "WHERE v.submitted_by = ?1 AND v.hidden = 0 AND NOT EXISTS (SELECT 1 "
                              "FROM "
                              "dataset_parts o JOIN dataset_versions w ON w.id = o.version "
                              "WHERE o.part = p.part AND o.version < p.version AND w.hidden = 0)",
               store_text(owner)) +
           STORE_ASK(c, problem, 0,
                     "SELECT " STORE_SUM("bytes") " FROM model_versions WHERE submitted_by = ?1",
                     store_text(owner)) +
           STORE_ASK(c, problem, 0, /* predictions of held-out rows */
                     "SELECT " STORE_SUM(
                         "c.bytes") " FROM model_versions v JOIN chunks c ON "
                                    "c.part = v.part AND c.n_rows > 0 WHERE v.submitted_by = ?1",
                     store_text(owner));
}

bool store_owned(struct store *store, const char *owner, int64_t *jobs, int64_t *bytes,
                 struct problem *problem) {
    struct store_read r;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    const int64_t n_jobs = jobs_of(r.connection, problem, owner),
                  n_bytes = bytes_of(r.connection, problem, owner);
    if (!store_read_end(&r)) {
        return false;
    }
    *jobs = n_jobs;
    *bytes = n_bytes;
    return true;
}

void store_quota_check_jobs(struct store_tx *tx, const struct store_quota *q) {
    if (q->owner != NULL && q->max_jobs > 0) {
        const int64_t jobs = jobs_of(tx->connection, tx->problem, q->owner);
        if (jobs >= q->max_jobs) {
            problem_set(tx->problem, PROBLEM_TOO_MANY_REQUESTS,
                        "token \"%s\" has %" PRId64 " queued and running jobs, as many as it may",
                        q->owner, jobs);
        }
    }
}

void store_quota_check_bytes(struct store_tx *tx, const struct store_quota *q) {
    if (q->owner != NULL && q->max_bytes > 0) {
        const int64_t bytes = bytes_of(tx->connection, tx->problem, q->owner);
        if (bytes > q->max_bytes) {
            problem_set(tx->problem, PROBLEM_QUOTA_EXCEEDED,
                        "token \"%s\" would store %" PRId64 " bytes, more than its %" PRId64,
                        q->owner, bytes, q->max_bytes);
        }
    }
}

void store_quota_check_model(struct store_tx *tx, const struct store_quota *q, const char *model,
                             int64_t bytes) {
    if (q->owner != NULL && q->max_bytes > 0) {
        const int64_t all = bytes_of(tx->connection, tx->problem, q->owner);
        if (all > q->max_bytes) {
            problem_set(tx->problem, PROBLEM_QUOTA_EXCEEDED,
                        "model \"%s\" has %" PRId64 " bytes; token \"%s\" stores %" PRId64
                        " without it, and may store %" PRId64,
                        model, bytes, q->owner, all - bytes, q->max_bytes);
        }
    }
}
