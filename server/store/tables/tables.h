/* What the files of this folder share. They run SQL through engine/query.h, the same for all
 * engines. */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include "store/internal.h"

void store_etag(int64_t version, int64_t revision, char out[64]);
/* condition.c: like store_condition_check, for a job. */
bool store_condition_check_job(const struct store_condition *c, int64_t id, const char *etag,
                               struct problem *problem);

/* Marks a part as dead, so that the sweep removes it. */
void store_part_kill(struct store_tx *tx, int64_t part);
/* Returns the time when a name expires that a write in this transaction lets expire after
 * expires_in seconds; 0: never. */
static inline int64_t store_expiry(const struct store_tx *tx, int64_t expires_in) {
    return expires_in > 0 ? tx->now + expires_in * 1000 : 0;
}
/* In a step of the sweep: delete a dataset or a model that has expired, or some jobs of it, unless
 * a queued or running job uses the name (dataset_change.c, model_change.c). Return whether there
 * was one. */
bool store_dataset_expire(struct store_tx *tx);
bool store_model_expire(struct store_tx *tx);
/* The same of jobs that were to make an expiring model and made none (job_change.c). */
bool store_job_expire(struct store_tx *tx);
/* Deletes ended jobs of a model whose requests had expires_in. Returns whether more may be left. */
bool store_job_expire_of(struct store_tx *tx, const char *model);

/* SQL of a condition: enum store_expiring, which the parameter has, lists a name that expires if
 * the expression is true. */
#define STORE_EXPIRES(expires, parameter)                                                          \
    "(" parameter " = 0 OR (" expires ") = (" parameter " = 2))"

/* job_run.c: queues again the running jobs of other owners whose lease has ended; cancels those
 * that a user asked to cancel. */
void store_jobs_expire(struct store_tx *tx);
/* job_events.c: adds an event to the job. progress: JSON object for PROGRESS, otherwise NULL. */
void store_event_add(struct store_tx *tx, int64_t job, enum store_event_kind kind,
                     const char *progress);
void store_history_add(struct store_tx *tx, int64_t job, const struct store_history_row *rows,
                       size_t n);
/* Adds the last events of an ended job and its entry of the audit, and unpins its dataset
 * versions. */
void store_job_close(struct store_tx *tx, int64_t job);

/* unknown.c: sets the problem of a dataset or model that was not found. version 0: of no version.
 * damage: an SQL text that selects which damaged row hides it (STORE_HIDDEN); NULL: none does.
 * names: an SQL text that selects the names that exist, of which the nearest is suggested; NULL: no
 * suggestion. */
void store_unknown(struct store_connection *c, enum problem_type type, const char *noun,
                   const char *name, int64_t version, const char *damage, const char *names,
                   struct problem *problem);
/* names: the table of names, n its row; versions: the table of versions, v its row; first: the
 * column of n with the version that stands for version 0. ?1: the name; ?2: the version. */
#define STORE_HIDDEN(names, versions, first, name_damage, version_damage)                          \
    STORE_EITHER("SELECT coalesce((SELECT " name_damage " FROM " names " n WHERE n.name = ?1),"    \
                 " (SELECT " version_damage " FROM " versions                                      \
                 " v WHERE v.name = ?1 AND (v.version = ?2 OR ?2 = 0) AND " version_damage         \
                 " IS NOT NULL LIMIT 1),"                                                          \
                 " (SELECT '" names ", row ' || quote(n.name) || ': version ' || n." first         \
                 " || ' is missing' FROM " names " n WHERE n.name = ?1 AND n." first               \
                 " > 0 AND ?2 IN (0, n." first ")),"                                               \
                 " (SELECT '" versions ", row ' || v.id || ': its row of " names                   \
                 " is missing' FROM " versions                                                     \
                 " v WHERE v.name = ?1 AND NOT EXISTS (SELECT 1 FROM " names                       \
                 " n WHERE n.name = ?1) LIMIT 1))",                                                \
                 "SELECT CAST(NULL AS TEXT)")
/* SQLite only, whose rows may be damaged.
 * Makes the damaged row of a deleted name anew, so that the name can be used again. columns,
 * values: further columns, and their values after a comma. The time as revision makes no ETag equal
 * to an earlier one. ?1: the name; ?2: the time. */
#define STORE_NAME_ANEW(names, versions, columns, values, of_job, job_version)                     \
    "INSERT OR REPLACE INTO " names " (name, tags, revision, newest, " columns                     \
    "last_version) SELECT ?1, '[]', ?2, 0, " values "max(n) FROM ("                                \
    "SELECT coalesce(max(version), 0) AS n FROM " versions " WHERE name = ?1"                      \
    " UNION ALL SELECT coalesce(max(" job_version "), 0) FROM jobs WHERE " of_job " = ?1"          \
    " UNION ALL SELECT last_version FROM " names                                                   \
    " WHERE name = ?1 AND typeof(last_version) = 'integer')"

/* owners.c, in a transaction: set the problem if the owner has as many jobs, or more bytes, than the
 * quota allows. store_quota_check_jobs: before a job is inserted. store_quota_check_bytes: after a
 * version was inserted, or before a job is inserted. */
void store_quota_check_jobs(struct store_tx *tx, const struct store_quota *q);
void store_quota_check_bytes(struct store_tx *tx, const struct store_quota *q);
/* The same after a version of a model with `bytes` was inserted. */
void store_quota_check_model(struct store_tx *tx, const struct store_quota *q, const char *model,
                             int64_t bytes);

/* model_change.c: makes a new version from a staged part and returns its number. The version
 * becomes live unless m->promotion refuses it. keep: see keep_versions of struct store_job_end. */
struct store_model_new {
    const char *name, *info;
    const char *submitted_by; /* or NULL */
    int64_t part, bytes, keep;
    int64_t prediction_bytes;                /* see struct store_job_end */
    int64_t expires_in;                      /* as in struct store_job_new */
    const struct store_promotion *promotion; /* as in store_job_end */
};
int64_t store_model_publish(struct store_tx *tx, const struct store_model_new *m,
                            const struct store_part_sum *staged);
/* models.c: loads a version (0: the live one) in a transaction. *out must be {0}. Sets
 * PROBLEM_UNKNOWN_MODEL if there is none. */
void store_model_find(struct store_tx *tx, const char *name, int64_t version,
                      struct store_model *out);
/* model_change.c: stores the decision rule of a version; NULL: removes it. */
void store_model_put_rule(struct store_tx *tx, const char *name, int64_t version, const char *rule);

#endif
