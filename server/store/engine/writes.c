/* Keeps the state of writes: notes failures, probes whether writes succeed again. */
#include "store/engine/writes.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "store/internal.h"

enum { PROBE_MS = 1000 };

static void set_state(struct store_writer *w, enum store_writes writes) {
    pthread_mutex_lock(&w->mutex);
    const enum store_writes before = w->writes;
    w->writes = writes;
    w->writes_since = writes == STORE_WRITES_OK   ? 0
                      : before == STORE_WRITES_OK ? clock_real_ms()
                                                  : w->writes_since;
    pthread_mutex_unlock(&w->mutex);
    metric_set(w->writable, writes == STORE_WRITES_OK);
    if (writes != before) {
        static const char *const names[] = {"ok", "failing", "full"};
        log_warn("store.writes", log_str("state", names[writes]));
    }
}

static void probe_later(struct store_writer *w) {
    w->probe_ns = clock_monotonic_ns() + (int64_t)PROBE_MS * 1000000;
}

void store_writes_note(struct store *store) {
    struct store_writer *w = &store->writer;
    const enum store_failure failure =
        w->connection != NULL ? w->connection->failure : STORE_FAILURE_NONE;
    if (failure == STORE_FAILURE_NONE) {
        return;
    }
    w->connection->failure = STORE_FAILURE_NONE;
    metric_add(w->failures[failure], 1);
    if (failure == STORE_FAILURE_LOST) {
        store_writes_lose(store, w->connection->lost_full);
    } else {
        set_state(w, failure == STORE_FAILURE_FULL ? STORE_WRITES_FULL : STORE_WRITES_FAILING);
        probe_later(w);
    }
}

void store_writes_lose(struct store *store, bool full) {
    struct store_writer *w = &store->writer;
    w->lost = true;
    w->lost_full = full;
    w->probe_ns = 0; /* at once */
    store_parts_lose(&store->parts);
    set_state(w, full ? STORE_WRITES_FULL : STORE_WRITES_FAILING);
}

void store_writes_refused(struct store *store, size_t bytes) {
    store->writer.refused_bytes = bytes;
    metric_add(store->writer.failures[STORE_FAILURE_FULL], 1);
    set_state(&store->writer, STORE_WRITES_FULL);
    probe_later(&store->writer);
}

bool store_writes_allowed(struct store *store, struct problem *problem) {
    const struct store_writer *w = &store->writer;
    if (w->lost && w->lost_full) {
        problem_set(problem, PROBLEM_STORAGE_FULL, "the disk of the database is full");
    } else if (w->lost) {
        problem_set_lost(problem,
                         "the database cannot be written: a write failed or its connection is "
                         "lost, and it is being opened again: send the request again");
    }
    return problem->type == PROBLEM_NONE;
}

static void touch(struct store_tx *tx, void *arg) {
    (void)arg;
    tx->store->engine->touch(tx);
}

bool store_writes_try(struct store *store, bool durable) {
    struct problem problem = {0};
    const bool good = store_writer_transact(store, touch, NULL, durable, &problem);
    problem_done(&problem);
    return good;
}

bool store_writes_reopen(struct store *store) {
    struct store_writer *w = &store->writer;
    if (!store->engine->reopen(store)) {
        return false;
    }
    /* a transaction that was reported as failed may be committed: caches read again */
    store_ring_lose(&store->ring);
    w->lost = false;
    metric_add(w->reopened, 1);
    log_warn("store.reopened", log_str("database", store->name));
    return true;
}

void store_writes_probe(struct store *store, bool now) {
    struct store_writer *w = &store->writer;
    const bool ok = w->writes == STORE_WRITES_OK, due = !ok && clock_monotonic_ns() >= w->probe_ns;
    int64_t lacking;
    if (due) {
        probe_later(w);
    }
    if (due && w->lost && !store_writes_reopen(store)) {
        return;
    }
    if (w->lost || (!due && !(ok && now))) {
        return;
    }
    if (!store->engine->has_room(store, w->refused_bytes, &lacking)) {
        set_state(w, STORE_WRITES_FULL);
    } else if (due && store_writes_try(store, true)) {
        w->refused_bytes = 0;
        set_state(w, STORE_WRITES_OK);
    }
}

void store_writes_register(struct store_writer *w) {
    static const char *const names[] = {NULL, "write", "full", "lost"};
    struct metrics_family *family =
        metrics_register(METRICS_COUNTER, "discern_store_failures_total",
                         "Writes of the database that failed: refused (write), for lack of room "
                         "(full), or with a possible loss of staged data (lost).",
                         "kind", NULL, 0);
    for (int kind = STORE_FAILURE_WRITE; kind <= STORE_FAILURE_LOST; kind++) {
        w->failures[kind] = metrics_series(family, names[kind], NULL);
    }
    w->writable = metrics_series(metrics_register(METRICS_GAUGE, "discern_store_writable",
                                                  "1 if the last write succeeded, 0 after a "
                                                  "failure or on a full disk.",
                                                  "", NULL, 0),
                                 NULL);
    w->reopened = metrics_series(metrics_register(METRICS_COUNTER, "discern_store_reopened_total",
                                                  "Times the database was opened again after a "
                                                  "failed write or fsync.",
                                                  "", NULL, 0),
                                 NULL);
    metric_set(w->writable, 1);
}
