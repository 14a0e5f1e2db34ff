/* What workers do to jobs: claim, renew, report, end. A job is a worker's while it is running and
 * carries this store's owner id.
 *
 * A lease of our own never runs out for us: the lock file makes this the only daemon on the file,
 * so a late renewal means a worker that was held up, and giving its job to another worker would run
 * it twice. Leases of others are ended by store_open, whose lock proves them dead, or by time.
 *
 * A crash costs every job that ran an attempt, for nobody knows which of them it was. So those that
 * were running in a crash are suspects from then on (a start that was no crash is given back, so
 * attempts that are not the present run's are crashes). Of the suspects only one runs at a time,
 * and one whose next crash would be its last runs wholly alone: other guilty ones, even such that
 * were never started, cannot end an innocent job. */
#include "store/sqlite/jobs.h"
#include <inttypes.h>

/* ---- claim ---- */

void store_jobs_expire(struct store_tx *tx) {
    enum { AT_ONCE = 100 };
    int64_t ids[AT_ONCE];
    bool cancel[AT_ONCE];
    size_t n = 0;
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT id, cancel_requested FROM jobs WHERE state = 1 AND owner <> ?1 AND "
                "lease_until < ?2",
                store_text(tx->store->owner), store_int(tx->now));
    while (n < AT_ONCE && store_query_row(&q)) { /* what is left over comes with the next claim */
        cancel[n] = store_query_int(&q, 1) != 0;
        ids[n++] = store_query_int(&q, 0);
    }
    store_query_end(&q);
    for (size_t i = 0; i < n; i++) {
        if (cancel[i]) {
            STORE_RUN(tx->connection, tx->problem,
                      "UPDATE jobs SET state = 4, owner = '', lease_until = 0, finished_at = ?2 "
                      "WHERE id = ?1",
                      store_int(ids[i]), store_int(tx->now));
            store_job_close(tx, ids[i]);
        } else {
            STORE_RUN(tx->connection, tx->problem,
                      "UPDATE jobs SET state = 0, owner = '', lease_until = 0, progress = NULL "
                      "WHERE id = ?",
                      store_int(ids[i]));
            store_event_add(tx, ids[i], STORE_EVENT_STATE, NULL);
        }
    }
}

/* A job that was started too often ends here; its error says so. */
static void fail_crashed(struct store_tx *tx, int64_t id, int64_t attempts) {
    struct problem crashed = {0};
    struct buf text = {0};
    problem_set(&crashed, PROBLEM_JOB_CRASHED,
                "the daemon ended while it ran this job, %" PRId64 " %s", attempts,
                attempts == 1 ? "time" : "times");
    problem_write(&crashed, "", NULL, &text);
    const char *error = buf_cstr(&text);
    if (!error) {
        problem_set(tx->problem, PROBLEM_INTERNAL, "out of memory");
    }
    STORE_RUN(
        tx->connection, tx->problem,
        "UPDATE jobs SET state = 3, error = ?2, finished_at = ?3, result_format = ?4 WHERE id = ?1",
        store_int(id), store_text(error), store_int(tx->now), store_int(STORE_DOCUMENT_FORMAT));
    store_job_close(tx, id);
    buf_done(&text);
    problem_done(&crashed);
}

struct claim {
    int64_t max_attempts;
    bool found;
    struct store_job job;
};

static void start(struct store_tx *tx, struct claim *c, int64_t id) {
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET state = 1, attempts = attempts + 1, owner = ?2, lease_until = ?3, "
              "started_at = ?4, progress = NULL WHERE id = ?1",
              store_int(id), store_text(tx->store->owner), store_int(tx->now + tx->store->lease_ms),
              store_int(tx->now));
    STORE_RUN(tx->connection, tx->problem, "DELETE FROM job_history WHERE job = ?", store_int(id));
    store_event_add(tx, id, STORE_EVENT_STATE, NULL);
    c->found = store_job_find(tx->connection, id, &c->job, tx->problem);
}

/* What runs now, as far as it decides on what may start. */
struct running {
    int64_t n;
    int64_t most_attempts; /* of any of them, the present start counted; 0: none runs */
};

static struct running running_now(struct store_tx *tx) {
    struct running now = {0};
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT count(*), coalesce(max(attempts), 0) FROM jobs WHERE state = 1",
                STORE_NO_VALUES);
    if (store_query_row(&q)) {
        now = (struct running){store_query_int(&q, 0), store_query_int(&q, 1)};
    }
    store_query_end(&q);
    return now;
}

/* The oldest queued job that is not a suspect who has to wait for another one. A suspect before its
 * last start is not passed over, though it has to wait until nothing runs: a busy queue would keep
 * it waiting for ever. 0: none. */
static int64_t find_next(struct store_tx *tx, const struct running *now, int64_t max_attempts,
                         int64_t *attempts) {
    int64_t id = 0;
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT id, attempts FROM jobs WHERE state = 0 AND (?1 OR attempts = 0 OR attempts "
                ">= ?2) ORDER BY id LIMIT 1",
                store_int(now->most_attempts < 2), store_int(max_attempts - 1));
    if (store_query_row(&q)) {
        id = store_query_int(&q, 0);
        *attempts = store_query_int(&q, 1);
    }
    store_query_end(&q);
    return id;
}

static void claim(struct store_tx *tx, void *arg) {
    struct claim *c = arg;
    store_jobs_expire(tx);
    struct running now = running_now(tx);
    if (now.most_attempts > 1 && now.most_attempts >= c->max_attempts) { /* it runs alone */
        return;
    }
    while (!c->found && !tx->problem->type) {
        int64_t attempts = 0, id = find_next(tx, &now, c->max_attempts, &attempts);
        if (!id) {
            return;
        }
        if (attempts >= c->max_attempts) {
            fail_crashed(tx, id, attempts);
        } else if (attempts > 0 && attempts + 1 == c->max_attempts && now.n > 0) {
            return;
        } else {
            start(tx, c, id);
        }
    }
}

bool store_job_claim(struct store *store, int64_t max_attempts, struct store_job *out, bool *found,
                     struct problem *problem) {
    struct claim c = {.max_attempts = max_attempts};
    if (!store_write(store, claim, &c, problem)) {
        store_job_done(&c.job);
        return false;
    }
    if (c.found) {
        *out = c.job;
    }
    *found = c.found;
    return true;
}

/* ---- renew, progress ---- */

struct report {
    int64_t id;
    const char *progress; /* NULL: only the lease */
    const struct store_history_row *rows;
    size_t n_rows;
    bool cancel, ours;
};

static void report(struct store_tx *tx, void *arg) {
    struct report *r = arg;
    int64_t cancel = STORE_ASK(tx->connection, tx->problem, -1,
                               "UPDATE jobs SET lease_until = ?3, progress = coalesce(?4, "
                               "progress) WHERE id = ?1 AND state = 1 AND owner = ?2"
                               " RETURNING cancel_requested",
                               store_int(r->id), store_text(tx->store->owner),
                               store_int(tx->now + tx->store->lease_ms), store_text(r->progress));
    r->ours = cancel >= 0;
    r->cancel = cancel > 0;
    if (!r->ours) {
        return;
    }
    store_history_add(tx, r->id, r->rows, r->n_rows);
    if (r->progress) {
        store_event_add(tx, r->id, STORE_EVENT_PROGRESS, r->progress);
    }
}

static bool send(struct store *store, struct report *r, bool *cancel, bool *ours,
                 struct problem *problem) {
    if (!store_write_lazy(store, report, r, problem)) {
        return false;
    }
    *cancel = r->cancel;
    *ours = r->ours;
    return true;
}

bool store_job_renew(struct store *store, int64_t id, bool *cancel, bool *ours,
                     struct problem *problem) {
    struct report r = {.id = id};
    return send(store, &r, cancel, ours, problem);
}

bool store_job_progress(struct store *store, int64_t id, const char *progress,
                        const struct store_history_row *rows, size_t n_rows, bool *cancel,
                        bool *ours, struct problem *problem) {
    struct report r = {.id = id, .progress = progress, .rows = rows, .n_rows = n_rows};
    return send(store, &r, cancel, ours, problem);
}

/* ---- end ---- */

struct end {
    const struct store_job_end *e;
    struct store_part_sum staged;
    int64_t version;
};

/* Drain: the start is not counted. One that somebody wanted to cancel is not queued again. */
static void give_back(struct store_tx *tx, const struct store_job_end *e, bool cancel) {
    if (cancel) {
        STORE_RUN(tx->connection, tx->problem,
                  "UPDATE jobs SET state = 4, owner = '', lease_until = 0, finished_at = ?2 WHERE "
                  "id = ?1",
                  store_int(e->id), store_int(tx->now));
        store_job_close(tx, e->id);
    } else {
        STORE_RUN(tx->connection, tx->problem,
                  "UPDATE jobs SET state = 0, attempts = attempts - 1, owner = '', lease_until = "
                  "0, started_at = 0, progress = NULL WHERE id = ?",
                  store_int(e->id));
        store_event_add(tx, e->id, STORE_EVENT_STATE, NULL);
    }
}

static void finish(struct store_tx *tx, struct end *end, const char *model) {
    const struct store_job_end *e = end->e;
    if (e->state == STORE_JOB_SUCCEEDED) {
        struct store_model_new m = {.name = model,
                                    .info = e->model_info,
                                    .part = e->model_part,
                                    .bytes = e->model_bytes,
                                    .keep = e->keep_versions};
        end->version = store_model_publish(tx, &m, &end->staged);
    }
    store_history_add(tx, e->id, e->rows, e->n_rows);
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET state = ?2, finished_at = ?3, progress = coalesce(?4, progress), "
              "warnings = coalesce(?5, warnings), error = "
              "?6, result = ?7,"
              " version = ?8, result_format = ?9, owner = '', lease_until = 0 WHERE id = ?1",
              store_int(e->id), store_int(e->state), store_int(tx->now), store_text(e->progress),
              store_text(e->warnings), store_text(e->error), store_text(e->result),
              store_int(end->version), store_int(STORE_DOCUMENT_FORMAT));
    store_job_close(tx, e->id);
}

static void end_job(struct store_tx *tx, void *arg) {
    struct end *end = arg;
    char model[IDS_NAME_SIZE] = "";
    bool ours = false, cancel = false;
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT model, cancel_requested FROM jobs WHERE id = ? AND state = 1 AND owner = ?",
                store_int(end->e->id), store_text(tx->store->owner));
    if (store_query_row(&q)) {
        ours = true;
        store_query_copy(&q, 0, model, sizeof model);
        cancel = store_query_int(&q, 1) != 0;
    }
    store_query_end(&q);
    if (!ours) {
        problem_set(tx->problem, PROBLEM_CONFLICT,
                    "job %" PRId64 " is not run by this worker any more", end->e->id);
    } else if (end->e->state == STORE_JOB_QUEUED) {
        give_back(tx, end->e, cancel);
    } else {
        finish(tx, end, model);
    }
}

bool store_job_end(struct store *store, const struct store_job_end *e, int64_t *out_version,
                   struct problem *problem) {
    struct end end = {.e = e};
    bool success = e->state == STORE_JOB_SUCCEEDED;
    if (e->state == STORE_JOB_RUNNING) {
        return problem_set(problem, PROBLEM_INTERNAL, "a job cannot end as running");
    }
    if (success && !store_parts_settle(&store->parts, e->model_part, &end.staged, problem)) {
        return false;
    }
    if (!store_write(store, end_job, &end, problem)) {
        return false;
    }
    if (success) {
        store_parts_forget(&store->parts, e->model_part);
        store_writer_kick(store); /* older versions may have gone */
    }
    if (out_version) {
        *out_version = end.version;
    }
    return true;
}
