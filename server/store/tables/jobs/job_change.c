/* Inserts, cancels, deletes and prunes jobs. The writes of workers are in job_run.c. */
#include "store/tables/audit.h"
#include "store/tables/jobs/jobs.h"
#include <inttypes.h>

enum { PRUNE_AT_ONCE = 200 };

/* result: NULL: done. */
static void audit(struct store_tx *tx, const struct store_actor *by, const char *action,
                  int64_t job, const char *result) {
    const struct store_audit_new entry = {.by = store_actor_of(by),
                                          .action = action,
                                          .kind = "job",
                                          .job = job,
                                          .result = result != NULL ? result : "done"};
    store_audit(tx, &entry);
}

struct insert {
    const struct store_job_new *j;
    int64_t id;
    struct store_job *job; /* the job as it is committed; NULL: not needed */
};

/* Pins a version for a job, so that it cannot be deleted before the job ends. */
static void pin(struct store_tx *tx, int64_t job, int64_t version) {
    int64_t there = STORE_ASK(tx->connection, tx->problem, 0,
                              "INSERT INTO job_pins (job, version) SELECT ?1, id FROM "
                              "dataset_versions WHERE id = ?2 AND hidden = 0 RETURNING 1",
                              store_int(job), store_int(version));
    if (!there) {
        problem_set(tx->problem, PROBLEM_UNKNOWN_DATASET,
                    "a dataset version that the job reads was deleted");
    }
}

static void insert(struct store_tx *tx, void *arg) {
    struct insert *in = arg;
    const struct store_job_new *j = in->j;
    if (j->max_queued > 0 &&
        STORE_ASK(tx->connection, tx->problem, 0, "SELECT count(*) FROM jobs WHERE state = ?",
                  store_int(STORE_JOB_QUEUED)) >= j->max_queued) {
        problem_set(tx->problem, PROBLEM_UNAVAILABLE,
                    "%" PRId64 " jobs are queued, as many as --max-queued-jobs allows",
                    j->max_queued);
        return;
    }
    if (j->expires_in > 0 &&
        STORE_ASK(tx->connection, tx->problem, 0,
                  "SELECT 1 FROM models WHERE name = ? AND live > 0 AND expires_at = 0",
                  store_text(j->model))) {
        (void)store_may_expire("model", j->model, 0, j->expires_in, tx->problem);
        return;
    }
    store_quota_check_jobs(tx, &j->quota);
    store_quota_check_bytes(tx, &j->quota);
    if (tx->problem->type != PROBLEM_NONE) {
        return;
    }
    in->id = STORE_ASK(
        tx->connection, tx->problem, 0,
        "INSERT INTO jobs (state, model, algorithm, dataset, dataset_version, "
        "dataset_id, spec, created_at, warnings, spec_format, result_format, submitted_by, "
        "expires_in) SELECT ?8, ?2, ?3, name, version, id, ?4, ?5, coalesce(?6, '[]'), ?7, ?7, ?9, "
        "?10 FROM dataset_versions WHERE id = ?1 AND hidden = 0 RETURNING id",
        store_int(j->dataset_id), store_text(j->model), store_text(j->algorithm),
        store_text(j->spec), store_int(tx->now), store_text(j->warnings),
        store_int(STORE_DOCUMENT_FORMAT), store_int(STORE_JOB_QUEUED), store_text(j->quota.owner),
        store_int(j->expires_in));
    if (!in->id) {
        problem_set(tx->problem, PROBLEM_UNKNOWN_DATASET,
                    "the dataset version of the job was deleted");
        return;
    }
    if (j->request != NULL) {
        STORE_RUN(tx->connection, tx->problem,
                  "INSERT INTO job_requests (job, request, crc) VALUES (?1, ?2, " STORE_ROW_CRC(
                      "?1, ?2") ")",
                  store_int(in->id), store_text(j->request));
    }
    pin(tx, in->id, j->dataset_id);
    if (j->validation_id && j->validation_id != j->dataset_id) {
        pin(tx, in->id, j->validation_id);
    }
    store_event_add(tx, in->id, STORE_EVENT_STATE, NULL);
    audit(tx, &j->by, "job.create", in->id, NULL);
    if (in->job) {
        store_job_find(tx->connection, in->id, false, in->job, tx->problem);
        store_key_add(tx, j->key, in->job);
    }
}

bool store_job_insert(struct store *store, const struct store_job_new *j, int64_t *id,
                      struct store_job *job, struct problem *problem) {
    struct store_job made = {0};
    struct insert in = {.j = j, .job = job || j->key ? &made : NULL};
    if (!store_write(store, insert, &in, problem)) {
        store_job_done(&made);
        return false;
    }
    *id = in.id;
    if (job) {
        *job = made;
    } else {
        store_job_done(&made);
    }
    return true;
}

static void refuse(struct store_tx *tx, int64_t id, const char *rule, int64_t state) {
    problem_set(tx->problem, PROBLEM_CONFLICT, "job %" PRId64 " is %s: %s", id,
                store_job_state_name((enum store_job_state)state), rule);
}

struct cancel {
    const struct store_actor *by;
    int64_t id;
    const struct store_condition *condition;
    struct store_key *key;
    struct store_job *job; /* the job as it is committed; NULL: not needed */
};

static void cancel(struct store_tx *tx, void *arg) {
    const struct cancel *c = arg;
    int64_t id = c->id;
    char etag[64];
    const int64_t state = store_job_state(tx->connection, id, etag, tx->problem);
    if (state < 0 || !store_condition_check_job(c->condition, id, etag, tx->problem)) {
        return;
    }
    if (state == STORE_JOB_QUEUED) {
        audit(tx, c->by, "job.cancel", id, NULL);
        store_job_set_cancelled(tx, id);
    } else if (state == STORE_JOB_RUNNING) {
        STORE_RUN(tx->connection, tx->problem,
                  "UPDATE jobs SET cancel_requested = ?2 WHERE id = ?1", store_int(id),
                  store_int(STORE_CANCEL_JOB));
        store_tx_change(tx, STORE_CHANGE_JOB, NULL, id);
        audit(tx, c->by, "job.cancel", id, "requested");
    } else {
        refuse(tx, id, "only a queued or running job can be cancelled", state);
    }
    if (c->job) {
        store_job_find(tx->connection, id, false, c->job, tx->problem);
        store_key_add(tx, c->key, c->job);
    }
}

bool store_job_cancel(struct store *store, const struct store_actor *by, int64_t id,
                      const struct store_condition *condition, struct store_key *key,
                      struct store_job *job, struct problem *problem) {
    struct store_job now = {0};
    struct cancel c = {
        .by = by, .id = id, .condition = condition, .key = key, .job = job || key ? &now : NULL};
    if (!store_write(store, cancel, &c, problem)) {
        store_job_done(&now);
        return false;
    }
    if (job) {
        *job = now;
    } else {
        store_job_done(&now);
    }
    return true;
}

struct delete {
    const struct store_actor *by;
    int64_t id;
    const struct store_condition *condition;
};

static void delete(struct store_tx *tx, void *arg) {
    const struct delete *d = arg;
    const int64_t id = d->id;
    struct problem damage = {0};
    char etag[64];
    /* A damaged job is deleted in any state: it cannot run, and its state may be wrong. A worker
     * that runs it loses its claim. */
    const int64_t state = store_job_state(tx->connection, id, etag, &damage);
    const bool conditional = d->condition != NULL && (d->condition->if_match != NULL ||
                                                      d->condition->if_none_match != NULL);
    /* not permanent: there is no such job, or the row could not be read now, so that its state is
     * not known. The ETag of a damaged job is not known. */
    if (state < 0 && (!damage.permanent || conditional)) {
        problem_copy(tx->problem, &damage);
    } else if (state >= 0 && !store_condition_check_job(d->condition, id, etag, tx->problem)) {
        problem_done(&damage);
        return;
    } else if (state >= 0 && state < STORE_JOB_SUCCEEDED) {
        refuse(tx, id, "only a job that has ended can be deleted", state);
    }
    problem_done(&damage);
    audit(tx, d->by, "job.delete", id, NULL);
    STORE_RUN(tx->connection, tx->problem, "DELETE FROM jobs WHERE id = ?", store_int(id));
    store_tx_change(tx, STORE_CHANGE_JOB, NULL, id);
}

bool store_job_delete(struct store *store, const struct store_actor *by, int64_t id,
                      const struct store_condition *condition, struct problem *problem) {
    struct delete d = {by, id, condition};
    if (!store_write(store, delete, &d, problem)) {
        return false;
    }
    store_writer_kick(store); /* the sweep gives free pages back */
    return true;
}

struct prune {
    int64_t keep;
    size_t n; /* number of deleted jobs */
};

/* Deletes the jobs whose ids the query has, at most PRUNE_AT_ONCE, and ends the query. Damaged jobs
 * stay. Returns how many were deleted.
 *
 *   model  of all of them, for the entry of the audit; NULL: of several */
static size_t delete_found(struct store_tx *tx, struct store_query *q, const char *action,
                           const char *model) {
    int64_t ids[PRUNE_AT_ONCE];
    size_t n = 0, n_deleted = 0;
    while (n < PRUNE_AT_ONCE && store_query_row(q)) {
        ids[n++] = store_query_int(q, 0);
    }
    store_query_end(q);
    for (size_t i = 0; i < n; i++) {
        int64_t deleted = 0;
        STORE_RUN_COUNT(tx->connection, tx->problem, &deleted,
                        "DELETE FROM jobs WHERE id = ? AND " STORE_INTACT_JOBS("jobs"),
                        store_int(ids[i]));
        n_deleted += deleted > 0;
        store_tx_change(tx, STORE_CHANGE_JOB, NULL, ids[i]);
    }
    if (n_deleted > 0) {
        const struct store_audit_new entry = {.action = action,
                                              .kind = "job",
                                              .name = model,
                                              .result = "done",
                                              .count = (int64_t)n_deleted};
        store_audit(tx, &entry);
    }
    return n_deleted;
}

static void prune(struct store_tx *tx, void *arg) {
    struct prune *p = arg;
    struct store_query q;
    STORE_QUERY(
        &q, tx->connection, tx->problem,
        "SELECT id FROM jobs WHERE finished_at > 0 ORDER BY finished_at DESC, id DESC LIMIT ?1 "
        "OFFSET ?2",
        store_int(PRUNE_AT_ONCE), store_int(p->keep));
    p->n = delete_found(tx, &q, "job.prune", NULL);
}

bool store_job_expire_of(struct store_tx *tx, const char *model) {
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT id FROM jobs WHERE expires_in > 0 AND model = ? AND finished_at > 0 "
                "AND " STORE_INTACT_JOBS("jobs") " LIMIT ?",
                store_text(model), store_int(PRUNE_AT_ONCE));
    return delete_found(tx, &q, "job.expire", model) == PRUNE_AT_ONCE;
}

bool store_job_expire(struct store_tx *tx) {
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT id FROM jobs WHERE expires_in > 0 AND finished_at > 0 AND version = 0 AND "
                "finished_at + 1000 * expires_in <= ? AND " STORE_INTACT_JOBS("jobs") " LIMIT ?",
                store_int(tx->now), store_int(PRUNE_AT_ONCE));
    return delete_found(tx, &q, "job.expire", NULL) > 0;
}

bool store_job_prune(struct store *store, int64_t keep, struct problem *problem) {
    struct prune p = {.keep = keep > 0 ? keep : 0};
    size_t total = 0;
    do {
        if (!store_write_lazy(store, prune, &p, problem)) {
            return false;
        }
        total += p.n;
    } while (p.n == PRUNE_AT_ONCE);
    if (total) {
        store_writer_kick(store);
    }
    return true;
}
