/* The writer thread and its queues. */
#include "store/engine/writer.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "store/engine/writes.h"
#include "store/internal.h"
#include <assert.h>
#include <signal.h>

enum { STATES_AT_ONCE = 64, SWEEP_PAUSE_MS = 5000, SWEEP_DEFER_MS = 200, IDLE_MS = 500 };

/* A caller of store_write that waits for the commit. */
struct waiter {
    /* must be the first member: a pointer to it is converted to a pointer to the waiter */
    struct store_work work;
    struct store_writer *writer;
    pthread_cond_t cond;
    bool finished;
};

/* ---- queues ---- */

static void queue_push(struct store_queue *q, struct store_work *work) {
    work->next = NULL;
    *q->last = work;
    q->last = &work->next;
    q->n++;
    q->bytes += (int64_t)work->bytes;
}

/* Removes up to `most` items from the queue; returns them as a list. */
static struct store_work *queue_take(struct store_queue *q, size_t most) {
    struct store_work *first = q->first, **end = &q->first;
    size_t n = 0;
    for (; *end && n < most; n++) {
        end = &(*end)->next;
    }
    if (n == 0) {
        return NULL;
    }
    q->first = *end;
    if (!q->first) {
        q->last = &q->first;
    }
    *end = NULL;
    q->n -= n;
    return first;
}

static void wake_waiter(struct store_work *work) {
    struct waiter *w = (struct waiter *)work;
    pthread_mutex_lock(&w->writer->mutex);
    w->finished = true;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->writer->mutex);
}

static bool write_and_wait(struct store *store, store_tx_fn fn, void *arg, bool lazy,
                           struct problem *problem) {
    struct store_writer *writer = &store->writer;
    assert(!pthread_equal(pthread_self(), writer->thread));
    struct waiter w = {.work = {.run = fn,
                                .arg = arg,
                                .problem = problem,
                                .done = wake_waiter,
                                .lazy = lazy,
                                .queued_ns = clock_monotonic_ns()},
                       .writer = writer};
    pthread_cond_init(&w.cond, NULL);
    pthread_mutex_lock(&writer->mutex);
    queue_push(&writer->state, &w.work);
    pthread_cond_signal(&writer->work);
    while (!w.finished) {
        pthread_cond_wait(&w.cond, &writer->mutex);
    }
    pthread_mutex_unlock(&writer->mutex);
    pthread_cond_destroy(&w.cond);
    return problem->type == PROBLEM_NONE;
}

bool store_write(struct store *store, store_tx_fn fn, void *arg, struct problem *problem) {
    return write_and_wait(store, fn, arg, false, problem);
}

bool store_write_lazy(struct store *store, store_tx_fn fn, void *arg, struct problem *problem) {
    return write_and_wait(store, fn, arg, true, problem);
}

bool store_writer_push_bulk(struct store *store, struct store_work *work) {
    struct store_writer *writer = &store->writer;
    work->lazy = work->apart = true;
    work->queued_ns = clock_monotonic_ns();
    pthread_mutex_lock(&writer->mutex);
    queue_push(&writer->bulk, work);
    bool room = writer->bulk.bytes <= store->bulk_limit;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->mutex);
    return room;
}

void store_writer_kick(struct store *store) {
    pthread_mutex_lock(&store->writer.mutex);
    store->writer.sweep = true;
    pthread_cond_signal(&store->writer.work);
    pthread_mutex_unlock(&store->writer.mutex);
}

void store_writer_refused(struct store *store) {
    pthread_mutex_lock(&store->writer.mutex);
    store->writer.refused = true;
    pthread_cond_signal(&store->writer.work);
    pthread_mutex_unlock(&store->writer.mutex);
}

void store_writer_pulse(struct store *store, int64_t timeout_ms, struct store_health *out) {
    struct store_writer *w = &store->writer;
    struct timespec until = store_deadline(timeout_ms);
    pthread_mutex_lock(&w->mutex);
    uint64_t mine = ++w->asked;
    pthread_cond_signal(&w->work);
    int failed = 0;
    while (w->answered < mine && !failed) {
        failed = pthread_cond_timedwait(&w->pulse, &w->mutex, &until);
    }
    out->writes = w->writes;
    out->since = w->writes_since;
    if (w->answered < mine && w->writes == STORE_WRITES_OK) {
        out->writes = STORE_WRITES_STUCK;
        out->since = w->working_since;
    }
    pthread_mutex_unlock(&w->mutex);
}

/* Answers the pulses up to number `asked`. */
static void answer(struct store_writer *w, uint64_t asked) {
    pthread_mutex_lock(&w->mutex);
    if (w->answered < asked) {
        w->answered = asked;
        pthread_cond_broadcast(&w->pulse);
    }
    pthread_mutex_unlock(&w->mutex);
}

/* ---- the thread ---- */

static void renew(struct store_tx *tx, void *arg) {
    (void)arg;
    if (tx->store->engine->sharing != NULL) {
        store_jobs_renew(tx);
    }
    STORE_RUN(
        tx->connection, tx->problem,
        "UPDATE parts SET lease_until = ?1 WHERE state = ?3 AND owner = ?2 AND " STORE_INTACT_PARTS(
            "parts"),
        store_int(tx->now + tx->store->lease_ms), store_text(tx->store->owner),
        store_int(STORE_PART_STAGED));
}

/* Runs one step of the sweep if one is due. State transactions take precedence, but delay it by at
 * most SWEEP_DEFER_MS. */
static void sweep(struct store *store) {
    struct store_writer *w = &store->writer;
    int64_t now = clock_monotonic_ns();
    pthread_mutex_lock(&w->mutex);
    bool due = w->sweep || now >= w->sweep_ns;
    bool first = !w->state.first || now - w->swept_ns > (int64_t)SWEEP_DEFER_MS * 1000000;
    bool busy = w->bulk.first != NULL;
    due = due && !store->alone && first && !w->lost && !store->engine->holds(store);
    w->sweep = w->sweep && !due;
    pthread_mutex_unlock(&w->mutex);
    if (!due) {
        return;
    }
    bool more = false;
    w->swept_ns = now;
    const int64_t pause = store->lease_ms < SWEEP_PAUSE_MS ? store->lease_ms : SWEEP_PAUSE_MS;
    w->sweep_ns = now + pause * 1000000;
    /* After a failure the disk may be full: the next regular step tries again. */
    if (store_sweep_step(store, busy, &more) && more) {
        store_writer_kick(store);
    }
}

/* Runs between transactions: work of the engine, recovery, renewal of leases, sweep. asked: a pulse
 * is to be answered. */
static void keep_house(struct store *store, bool asked) {
    struct store_writer *w = &store->writer;
    pthread_mutex_lock(&w->mutex);
    bool pressing = w->state.first != NULL;
    w->refused = false;
    pthread_mutex_unlock(&w->mutex);
    if (!w->lost) {
        store->engine->tend(store, pressing);
    }
    store_writes_note(store);
    store_writes_probe(store, asked);
    int64_t now = clock_monotonic_ns();
    if (w->recover_ns && now >= w->recover_ns && !w->lost) {
        struct problem problem = {0};
        if (!store_recover(store, &problem)) {
            log_error("store.recover", log_str("problem", problem.detail));
        }
        problem_done(&problem);
    }
    if (now >= w->keep_alive_ns) {
        struct problem problem = {0};
        w->keep_alive_ns = now + store->lease_ms * 1000000 / 3;
        if (store_parts_alive(&store->parts) || store->engine->sharing != NULL) {
            store_writer_transact(store, renew, NULL, false, &problem);
        }
        problem_done(&problem);
    }
    sweep(store);
    if (!w->lost) {
        store_refusals_write(store, false);
    }
    store_writes_note(store);
}

/* Returns the next time of housekeeping. */
static int64_t next_time(struct store *store) {
    const struct store_writer *w = &store->writer;
    int64_t until = w->keep_alive_ns < w->sweep_ns ? w->keep_alive_ns : w->sweep_ns;
    if (w->lost) { /* the database must be opened again before anything else is done */
        return w->probe_ns;
    }
    if (w->recover_ns != 0 && w->recover_ns < until) {
        until = w->recover_ns;
    }
    if (w->writes != STORE_WRITES_OK && w->probe_ns < until) {
        until = w->probe_ns;
    }
    if (store->engine->has_idle_work(store) &&
        w->idle_since_ns + (int64_t)IDLE_MS * 1000000 < until) {
        until = w->idle_since_ns + (int64_t)IDLE_MS * 1000000;
    }
    return until;
}

/* Waits for work items or for the next time of housekeeping. The mutex is held before and after. */
static void wait_for_work(struct store *store) {
    struct store_writer *w = &store->writer;
    for (;;) {
        int64_t now = clock_monotonic_ns();
        const int64_t until = next_time(store);
        if (w->state.first || w->bulk.first || w->stopping ||
            ((w->sweep || w->refused) && !w->lost) || w->answered != w->asked || now >= until) {
            w->working_since = clock_real_ms();
            return;
        }
        struct timespec deadline = store_deadline((until - now) / 1000000 + 1);
        pthread_cond_timedwait(&w->work, &w->mutex, &deadline);
    }
}

/* Runs one bulk transaction, if one is queued and the engine does not hold it. */
static bool write_chunk(struct store *store) {
    struct store_writer *w = &store->writer;
    if (store->engine->holds(store)) {
        return false;
    }
    pthread_mutex_lock(&w->mutex);
    struct store_work *bulk = queue_take(&w->bulk, 1);
    pthread_mutex_unlock(&w->mutex);
    w->bulk_ns = clock_monotonic_ns();
    if (!bulk) {
        return false;
    }
    size_t bytes = bulk->bytes;
    int64_t lacking;
    if (!store_writes_allowed(store, bulk->problem)) {
        bulk->done(bulk);
    } else if (!store->engine->has_room(store, bytes, &lacking)) {
        log_warn("store.full", log_int("bytes", (int64_t)bytes), log_int("lacking", lacking));
        store_writes_refused(store, bytes);
        problem_set(bulk->problem, PROBLEM_STORAGE_FULL, "the disk of the database is full");
        bulk->done(bulk);
    } else {
        store_run_group(store, bulk, w->bulk_seconds);
    }
    pthread_mutex_lock(&w->mutex);
    w->bulk.bytes -= (int64_t)bytes;
    pthread_mutex_unlock(&w->mutex);
    return true;
}

static void *writer_main(void *arg) {
    struct store *store = arg;
    struct store_writer *w = &store->writer;
    for (;;) {
        pthread_mutex_lock(&w->mutex);
        wait_for_work(store);
        const uint64_t asked = w->asked;
        const bool pulse = asked != w->answered;
        struct store_work *states = queue_take(&w->state, STATES_AT_ONCE);
        bool last = w->stopping && !states && !w->bulk.first;
        pthread_mutex_unlock(&w->mutex);
        if (last) {
            return NULL;
        }
        if (states) {
            store_run_group(store, states, w->state_seconds);
        }
        bool wrote = write_chunk(store) || states;
        int64_t now = clock_monotonic_ns();
        if (wrote) {
            w->idle_since_ns = now;
        } else if (!w->lost && store->engine->has_idle_work(store) &&
                   now - w->idle_since_ns >= (int64_t)IDLE_MS * 1000000) {
            store->engine->work_idle(store);
            store_writes_note(store);
            w->idle_since_ns = now;
        }
        keep_house(store, pulse);
        answer(w, asked);
    }
}

static void register_metrics(struct store_writer *w) {
    static const double bounds[] = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                    0.1,    0.2,   0.5,   1,     2,    5};
    size_t n = sizeof bounds / sizeof bounds[0];
    struct metrics_family *family =
        metrics_register(METRICS_HISTOGRAM, "discern_store_transaction_seconds",
                         "Seconds from the queueing of a write to its commit, by queue.", "queue",
                         bounds, n);
    w->state_seconds = metrics_series(family, "state", NULL);
    w->bulk_seconds = metrics_series(family, "bulk", NULL);
    w->swept_bytes =
        metrics_series(metrics_register(METRICS_COUNTER, "discern_store_swept_bytes_total",
                                        "Bytes of deleted datasets and models that were freed.", "",
                                        NULL, 0),
                       NULL);
    store_writes_register(w);
}

bool store_writer_init(struct store *store, struct problem *problem) {
    struct store_writer *w = &store->writer;
    register_metrics(w);
    w->state.last = &w->state.first;
    w->bulk.last = &w->bulk.first;
    w->sweep = true;
    w->idle_since_ns = w->keep_alive_ns = w->sweep_ns = clock_monotonic_ns();
    pthread_mutex_init(&w->mutex, NULL);
    bool ok = store_cond_init(&w->work);
    return (store_cond_init(&w->pulse) && ok) || problem_no_memory(problem);
}

void store_writer_done(struct store *store) {
    struct store_writer *w = &store->writer;
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->pulse);
    pthread_mutex_destroy(&w->mutex);
    free(w->changes);
}

bool store_writer_start(struct store *store, struct problem *problem) {
    struct store_writer *w = &store->writer;
    sigset_t all, before; /* signals are handled by the main thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, writer_main, store);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed || problem_set(problem, PROBLEM_INTERNAL, "the writer thread cannot be started");
}

void store_writer_stop(struct store *store) {
    struct store_writer *w = &store->writer;
    pthread_mutex_lock(&w->mutex);
    w->stopping = true;
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
}
