/* The writes of workers: claim, report, end. Each has a claim as parameter; the claim is valid
 * while the job is running with the token of the claim and the owner id of this process.
 *
 * A lease of this process does not end by time: the lock file ensures that no other process uses
 * the file, so a late renewal only means that the worker is slow, and a second claim would run the
 * job twice. store_open ends the leases of other owners, because the lock proves that their
 * processes have ended. If several processes may have the database open, the writer thread renews
 * the leases of its process, and the jobs of an ended lease are queued again by any process.
 *
 * A crash counts as an attempt of each job that was running, because any of them may have caused
 * it. So all attempts of a job but the current one are crashes (a shutdown does not count). A job
 * with a crash is a suspect. One suspect runs at a time, and its last attempt runs while no other
 * job runs, so that a job fails only because of a crash that it caused. */
#include "base/process/clock.h"
#include "store/tables/jobs/jobs.h"
#include <inttypes.h>

/* A damaged job is not run. */
#define JOB_INTACT STORE_INTACT_JOBS("jobs")
/* Condition for jobs of other owners whose lease has ended. Parameters: ?1 owner id of this
 * process, ?2 time, ?3 the state "running". */
#define LEASE_ENDED "state = ?3 AND owner <> ?1 AND lease_until < ?2 AND " JOB_INTACT

/* ---- claim ---- */

void store_jobs_renew(struct store_tx *tx) {
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET lease_until = ?1 WHERE state = ?2 AND owner = ?3 AND " JOB_INTACT,
              store_int(tx->now + tx->store->lease_ms), store_int(STORE_JOB_RUNNING),
              store_text(tx->store->owner));
}

void store_jobs_expire(struct store_tx *tx) {
    enum { AT_ONCE = 100 };
    if (clock_monotonic_ns() < tx->store->expire_ns) {
        return;
    }
    int64_t ids[AT_ONCE];
    bool cancel[AT_ONCE];
    size_t n = 0;
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT id, cancel_requested FROM jobs WHERE " LEASE_ENDED,
                store_text(tx->store->owner), store_int(tx->now), store_int(STORE_JOB_RUNNING));
    /* the next claim continues with the rest */
    while (n < AT_ONCE && store_query_row(&q)) {
        cancel[n] = store_query_int(&q, 1) == STORE_CANCEL_JOB;
        ids[n++] = store_query_int(&q, 0);
    }
    store_query_end(&q);
    for (size_t i = 0; i < n; i++) {
        if (cancel[i]) {
            store_job_set_cancelled(tx, ids[i]);
        } else {
            STORE_RUN(tx->connection, tx->problem,
                      "UPDATE jobs SET state = ?2, owner = '', lease_until = 0, progress = NULL "
                      "WHERE id = ?1",
                      store_int(ids[i]), store_int(STORE_JOB_QUEUED));
            store_event_add(tx, ids[i], STORE_EVENT_STATE, NULL);
        }
    }
}

/* Ends a job as failed after max_attempts attempts. */
static void fail_crashed(struct store_tx *tx, int64_t id, int64_t attempts) {
    struct problem crashed = {0};
    struct buf text = {0};
    problem_set(&crashed, PROBLEM_JOB_CRASHED,
                "the daemon ended while it ran this job, %" PRId64 " %s", attempts,
                attempts == 1 ? "time" : "times");
    problem_write(&crashed, "", NULL, &text);
    const char *error = buf_cstr(&text);
    if (!error) {
        problem_no_memory(tx->problem);
    }
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET state = ?5, error = ?2, finished_at = ?3, result_format = ?4 WHERE "
              "id = ?1",
              store_int(id), store_text(error), store_int(tx->now),
              store_int(STORE_DOCUMENT_FORMAT), store_int(STORE_JOB_FAILED));
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
              "UPDATE jobs SET state = ?5, attempts = attempts + 1, token = token + 1, owner = ?2, "
              "lease_until = ?3, started_at = ?4, progress = NULL WHERE id = ?1",
              store_int(id), store_text(tx->store->owner), store_int(tx->now + tx->store->lease_ms),
              store_int(tx->now), store_int(STORE_JOB_RUNNING));
    STORE_RUN(tx->connection, tx->problem, "DELETE FROM job_history WHERE job = ?", store_int(id));
    store_event_add(tx, id, STORE_EVENT_STATE, NULL);
    c->found = store_job_find(tx->connection, id, true, &c->job, tx->problem);
}

/* The running jobs of this process: a crash ends no others. */
struct running {
    int64_t n;
    /* largest number of attempts of a running job, including the current attempt; 0: no job is
     * running */
    int64_t most_attempts;
};

static struct running running_now(struct store_tx *tx) {
    struct running now = {0};
    struct store_query q;
    STORE_QUERY(
        &q, tx->connection, tx->problem,
        "SELECT count(*), coalesce(max(attempts), 0) FROM jobs WHERE state = ? AND owner = ? "
        "AND " JOB_INTACT,
        store_int(STORE_JOB_RUNNING), store_text(tx->store->owner));
    if (store_query_row(&q)) {
        now = (struct running){store_query_int(&q, 0), store_query_int(&q, 1)};
    }
    store_query_end(&q);
    return now;
}

/* Returns the oldest queued job; 0 if there is none. While a suspect runs, other suspects are not
 * considered, except one before its last attempt: that one has to wait until no job runs, and if it
 * were skipped, newer jobs could start before it forever. */
static int64_t find_next(struct store_tx *tx, const struct running *now, int64_t max_attempts,
                         int64_t *attempts) {
    int64_t id = 0;
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT id, attempts FROM jobs WHERE state = ?3 AND (?1 <> 0 OR attempts = 0 OR "
                "attempts >= ?2) AND " JOB_INTACT " ORDER BY id LIMIT 1",
                store_int(now->most_attempts < 2), store_int(max_attempts - 1),
                store_int(STORE_JOB_QUEUED));
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
    /* a suspect in its last attempt must run alone */
    if (now.most_attempts > 1 && now.most_attempts >= c->max_attempts) {
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

/* Reads whether a job is queued, or the lease of a running job has ended. */
static bool some_job_waits(struct store *store, bool *waits, struct problem *problem) {
    struct store_read r;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    *waits = STORE_ASK(r.connection, problem, 0,
                       "SELECT EXISTS (SELECT 1 FROM jobs WHERE state = ?4 AND " JOB_INTACT
                       ") OR EXISTS (SELECT 1 "
                       "FROM jobs WHERE " LEASE_ENDED ")",
                       store_text(store->owner), store_int(store_now(store)),
                       store_int(STORE_JOB_RUNNING), store_int(STORE_JOB_QUEUED)) != 0;
    return store_read_end(&r);
}

bool store_job_claim(struct store *store, int64_t max_attempts, struct store_job *out, bool *found,
                     struct problem *problem) {
    struct claim c = {.max_attempts = max_attempts};
    bool waits = false;
    if (!some_job_waits(store, &waits, problem)) {
        return false;
    }
    if (!waits) {
        *found = false;
        return true;
    }
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

/* ---- report ---- */

struct report {
    const struct store_claim *claim;
    const char *progress; /* NULL: none */
    const struct store_history_row *rows;
    size_t n_rows;
    bool cancel;
};

static void report(struct store_tx *tx, void *arg) {
    struct report *r = arg;
    const int64_t id = r->claim->job;
    store_claim_check(tx, r->claim);
    r->cancel = STORE_ASK(tx->connection, tx->problem, 0,
                          "UPDATE jobs SET lease_until = ?2, progress = coalesce(?3, progress) "
                          "WHERE id = ?1 RETURNING cancel_requested",
                          store_int(id), store_int(tx->now + tx->store->lease_ms),
                          store_text(r->progress)) == STORE_CANCEL_JOB;
    store_history_add(tx, id, r->rows, r->n_rows);
    if (r->progress != NULL) {
        store_event_add(tx, id, STORE_EVENT_PROGRESS, r->progress);
    }
}

bool store_job_report(struct store *store, const struct store_claim *claim, const char *progress,
                      const struct store_history_row *rows, size_t n_rows, bool *cancel,
                      struct problem *problem) {
    struct report r = {.claim = claim, .progress = progress, .rows = rows, .n_rows = n_rows};
    if (!store_write_lazy(store, report, &r, problem)) {
        return false;
    }
    *cancel = r.cancel;
    return true;
}

static void end_search(struct store_tx *tx, void *arg) {
    const struct store_claim *claim = arg;
    store_claim_check(tx, claim);
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET cancel_requested = ?3 WHERE id = ?1 AND cancel_requested = ?2",
              store_int(claim->job), store_int(STORE_CANCEL_JOB), store_int(STORE_CANCEL_SEARCH));
}

bool store_job_end_search(struct store *store, const struct store_claim *claim,
                          struct problem *problem) {
    struct store_claim copy = *claim;
    return store_write(store, end_search, &copy, problem);
}

/* ---- end ---- */

struct end {
    const struct store_job_end *e;
    struct store_part_sum staged;
    int64_t version;
};

/* Queues the job again; the attempt is counted if it has crashed. If a user asked to cancel the job,
 * it ends as cancelled instead. */
static void give_back(struct store_tx *tx, int64_t id, bool cancel, bool crashed) {
    if (cancel) {
        store_job_set_cancelled(tx, id);
    } else {
        STORE_RUN(tx->connection, tx->problem,
                  "UPDATE jobs SET state = ?2, attempts = attempts - ?3, owner = '', lease_until = "
                  "0, started_at = 0, progress = NULL WHERE id = ?1",
                  store_int(id), store_int(STORE_JOB_QUEUED), store_int(!crashed));
        store_event_add(tx, id, STORE_EVENT_STATE, NULL);
    }
}

static void finish(struct store_tx *tx, struct end *end, const char *model,
                   const char *submitted_by, int64_t expires_in) {
    const struct store_job_end *e = end->e;
    if (e->state == STORE_JOB_SUCCEEDED) {
        struct store_model_new m = {.name = model,
                                    .info = e->model_info,
                                    .submitted_by = submitted_by,
                                    .part = e->model_part,
                                    .bytes = e->model_bytes,
                                    .prediction_bytes = e->prediction_bytes,
                                    .keep = e->keep_versions,
                                    .expires_in = expires_in,
                                    .promotion = e->promotion};
        const struct store_quota quota = {.owner = submitted_by, .max_bytes = e->max_bytes};
        end->version = store_model_publish(tx, &m, &end->staged);
        if (e->rule != NULL) {
            store_model_put_rule(tx, model, end->version, e->rule);
        }
        store_quota_check_model(tx, &quota, model, e->model_bytes + e->prediction_bytes);
    }
    store_history_add(tx, e->claim.job, e->rows, e->n_rows);
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET state = ?2, finished_at = ?3, progress = coalesce(?4, progress), "
              "warnings = coalesce(?5, warnings), error = "
              "?6, result = ?7,"
              " version = ?8, result_format = ?9, algorithm = coalesce(?10, algorithm), owner = '',"
              " lease_until = 0 WHERE id = ?1",
              store_int(e->claim.job), store_int(e->state), store_int(tx->now),
              store_text(e->progress), store_text(e->warnings), store_text(e->error),
              store_text(e->result), store_int(end->version), store_int(STORE_DOCUMENT_FORMAT),
              store_text(e->algorithm));
    store_job_close(tx, e->claim.job);
}

static void end_job(struct store_tx *tx, void *arg) {
    struct end *end = arg;
    const int64_t id = end->e->claim.job;
    char model[IDS_NAME_SIZE] = "", submitted_by[IDS_NAME_SIZE] = "";
    bool cancel = false;
    int64_t expires_in = 0;
    struct store_query q;
    store_claim_check(tx, &end->e->claim);
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT model, cancel_requested, coalesce(submitted_by, ''), " STORE_DAMAGE_JOBS(
                    "jobs") ", expires_in FROM jobs WHERE id = ?",
                store_int(id));
    if (store_query_row(&q) && store_query_intact(&q, 3)) {
        store_query_copy(&q, 0, model, sizeof model);
        cancel = store_query_int(&q, 1) == STORE_CANCEL_JOB;
        store_query_copy(&q, 2, submitted_by, sizeof submitted_by);
        expires_in = store_query_int(&q, 4);
    }
    store_query_end(&q);
    if (end->e->state == STORE_JOB_QUEUED) {
        for (size_t i = 0; i < end->e->n_rows; i++) {
            if (end->e->rows[i].trial) { /* the history begins again, the trials do not */
                store_history_add(tx, id, &end->e->rows[i], 1);
            }
        }
        give_back(tx, id, cancel, end->e->crashed);
    } else {
        finish(tx, end, model, submitted_by[0] != '\0' ? submitted_by : NULL, expires_in);
    }
}

bool store_job_end(struct store *store, const struct store_job_end *e, int64_t *out_version,
                   struct problem *problem) {
    struct end end = {.e = e};
    bool success = e->state == STORE_JOB_SUCCEEDED;
    if (e->state == STORE_JOB_RUNNING) {
        return problem_set(problem, PROBLEM_INTERNAL, "a job cannot end in the state \"running\"");
    }
    if (success && !store_parts_settle(&store->parts, e->model_part, &end.staged, problem)) {
        return false;
    }
    if (!store_write(store, end_job, &end, problem)) {
        return false;
    }
    if (success) {
        store_parts_forget(&store->parts, e->model_part);
        store_writer_kick(store); /* the sweep removes older versions that were deleted */
    }
    if (out_version) {
        *out_version = end.version;
    }
    return true;
}
