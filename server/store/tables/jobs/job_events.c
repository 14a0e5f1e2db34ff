/* Events, history and trials of jobs. */
#include "store/tables/audit.h"
#include "store/tables/jobs/jobs.h"
#include "store/tables/page.h"
#include <inttypes.h>

#define EVENT_DAMAGE STORE_DAMAGE_JOB_EVENTS("e")
#define TRIAL_DAMAGE STORE_DAMAGE_JOB_TRIALS("t")
#define HISTORY_DAMAGE STORE_DAMAGE_JOB_HISTORY("h")

enum { PROGRESS_KEPT = 1000 }; /* limit of the progress events of a job; the oldest are deleted */

static void drop_oldest_progress(struct store_tx *tx, int64_t job) {
    STORE_RUN(tx->connection, tx->problem,
              "DELETE FROM job_events WHERE job = ?1 AND seq = (SELECT min(seq) FROM job_events "
              "WHERE job = ?1 AND kind = ?2)",
              store_int(job), store_int(STORE_EVENT_PROGRESS));
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET n_progress = n_progress - 1 WHERE id = ?", store_int(job));
}

/* A damaged event may have the number of the new one, which then replaces it. */
void store_event_add(struct store_tx *tx, int64_t job, enum store_event_kind kind,
                     const char *progress) {
    struct store_query q;
    int64_t seq = 0, n_progress = 0;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "UPDATE jobs SET last_event = last_event + 1, n_progress = n_progress + ?2 WHERE "
                "id = ?1 RETURNING last_event, n_progress",
                store_int(job), store_int(kind == STORE_EVENT_PROGRESS));
    while (store_query_row(&q)) {
        seq = store_query_int(&q, 0);
        n_progress = store_query_int(&q, 1);
    }
    store_query_end(&q);
    if (kind == STORE_EVENT_PROGRESS) {
        STORE_RUN(tx->connection, tx->problem,
                  STORE_INSERT_ANEW
                  " INTO job_events (job, seq, kind, progress) VALUES (?, ?, ?, ?)",
                  store_int(job), store_int(seq), store_int(kind), store_text(progress));
    } else {
        STORE_RUN(
            tx->connection, tx->problem,
            STORE_INSERT_ANEW
            " INTO job_events (job, seq, kind, state, attempts, started_at, "
            "warnings)"
            " SELECT id, ?2, ?3, state, attempts, started_at, warnings FROM jobs WHERE id = ?1",
            store_int(job), store_int(seq), store_int(kind));
    }
    if (n_progress > PROGRESS_KEPT) {
        drop_oldest_progress(tx, job);
    }
    store_tx_change(tx, STORE_CHANGE_JOB, NULL, job);
}

void store_job_close(struct store_tx *tx, int64_t job) {
    STORE_RUN(tx->connection, tx->problem, "DELETE FROM job_pins WHERE job = ?", store_int(job));
    store_event_add(tx, job, STORE_EVENT_STATE, NULL);
    store_event_add(tx, job, STORE_EVENT_DONE, NULL);
    store_audit_job_end(tx, job);
}

void store_job_set_cancelled(struct store_tx *tx, int64_t id) {
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET state = ?3, cancel_requested = 1, owner = '', lease_until = 0, "
              "finished_at = ?2 WHERE id = ?1",
              store_int(id), store_int(tx->now), store_int(STORE_JOB_CANCELLED));
    store_job_close(tx, id);
}

void store_history_add(struct store_tx *tx, int64_t job, const struct store_history_row *rows,
                       size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (rows[i].trial) {
            STORE_RUN(tx->connection, tx->problem,
                      "INSERT INTO job_trials (id, job, doc, crc) SELECT n, ?1, ?2, " STORE_ROW_CRC(
                          "n, ?1, ?2") " FROM (SELECT coalesce(max(id), 0) + 1 AS n FROM "
                                       "job_trials) AS m",
                      store_int(job), store_text(rows[i].doc));
            continue;
        }
        STORE_RUN(tx->connection, tx->problem,
                  "INSERT INTO job_history (job, snapshot, iteration, doc) VALUES (?, ?, ?, ?)",
                  store_int(job), store_int(rows[i].snapshot), store_int(rows[i].iteration),
                  store_text(rows[i].doc));
    }
}

static void must_exist(struct store_read *r, int64_t id) {
    if (!STORE_ASK(r->connection, r->problem, 0, "SELECT 1 FROM jobs WHERE id = ?",
                   store_int(id))) {
        problem_set(r->problem, PROBLEM_UNKNOWN_JOB, "there is no job %" PRId64, id);
    }
}

static bool load_event(struct store_query *q, void *item) {
    struct store_event *e = item;
    if (!store_query_intact(q, 7)) {
        return false;
    }
    *e = (struct store_event){.seq = store_query_int(q, 0),
                              .kind = (enum store_event_kind)store_query_int(q, 1),
                              .progress = store_query_take(q, 2),
                              .state = (enum store_job_state)store_query_int(q, 3),
                              .attempts = store_query_int(q, 4),
                              .started_at = store_query_int(q, 5),
                              .warnings = store_query_take(q, 6)};
    return true;
}
static void free_event(void *item) {
    struct store_event *e = item;
    free(e->progress);
    free(e->warnings);
}
static const struct store_item event_item = {sizeof(struct store_event), load_event, free_event};

bool store_job_events(struct store *store, int64_t id, int64_t after,
                      const struct store_limit *limit, struct store_page *out,
                      struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    must_exist(&r, id);
    STORE_QUERY(&q, r.connection, problem,
                "SELECT seq, kind, progress, state, attempts, started_at, "
                "warnings, " EVENT_DAMAGE
                " FROM job_events e WHERE job = ? AND seq > ? ORDER BY seq LIMIT ?",
                store_int(id), store_int(after), store_page_rows(limit));
    return store_page_end(&r, &q, &event_item, limit, out);
}

static bool load_row(struct store_query *q, void *item) {
    struct store_history_row *row = item;
    if (!store_query_intact(q, 3)) {
        return false;
    }
    *row = (struct store_history_row){.iteration = store_query_int(q, 0),
                                      .snapshot = store_query_int(q, 1) != 0,
                                      .doc = store_query_take(q, 2)};
    return true;
}
static void free_row(void *item) {
    struct store_history_row *row = item;
    free((void *)(uintptr_t)row->doc);
}
static const struct store_item row_item = {sizeof(struct store_history_row), load_row, free_row};

bool store_job_history(struct store *store, int64_t id, bool snapshots,
                       const struct store_limit *limit, struct store_page *out,
                       struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    must_exist(&r, id);
    STORE_QUERY(&q, r.connection, problem,
                "SELECT iteration, snapshot, doc, " HISTORY_DAMAGE
                " FROM job_history h WHERE job = ? AND snapshot = ? "
                "ORDER BY id LIMIT ?",
                store_int(id), store_int(snapshots), store_page_rows(limit));
    return store_page_end(&r, &q, &row_item, limit, out);
}

static bool load_trial(struct store_query *q, void *item) {
    struct store_history_row *row = item;
    *row = (struct store_history_row){.trial = true, .doc = store_query_take(q, 0)};
    return true;
}
static const struct store_item trial_item = {sizeof(struct store_history_row), load_trial,
                                             free_row};

bool store_job_trials(struct store *store, int64_t id, const struct store_limit *limit,
                      struct store_page *out, struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    must_exist(&r, id);
    STORE_QUERY(&q, r.connection, problem,
                "SELECT doc FROM job_trials t WHERE job = ? AND " STORE_LISTED(
                    TRIAL_DAMAGE) " ORDER BY id LIMIT ?",
                store_int(id), store_page_rows(limit));
    return store_page_end(&r, &q, &trial_item, limit, out);
}

bool store_job_snapshot(struct store *store, int64_t id, int64_t iteration, char **doc,
                        struct problem *problem) {
    struct store_read r;
    struct store_query q;
    char *found = NULL;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    must_exist(&r, id);
    STORE_QUERY(&q, r.connection, problem,
                "SELECT doc, " HISTORY_DAMAGE
                " FROM job_history h WHERE job = ? AND snapshot = 1 AND iteration = ? "
                "ORDER BY id LIMIT 1",
                store_int(id), store_int(iteration));
    if (store_query_row(&q) && store_query_intact(&q, 1)) {
        found = store_query_take(&q, 0);
    }
    store_query_end(&q);
    if (!store_read_end(&r)) {
        free(found);
        return false;
    }
    *doc = found;
    return true;
}
