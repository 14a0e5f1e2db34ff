/* Transactions of the writer thread: one work item, or several in one COMMIT, each in a
 * savepoint. */
#include "base/process/clock.h"
#include "store/engine/writes.h"
#include "store/internal.h"

/* apart: as in struct store_work. */
static bool begin(struct store *store, bool durable, bool apart, struct problem *problem) {
    const struct store_writer *w = &store->writer;
    const struct store_sharing *sharing = store->engine->sharing;
    if (!w->connection->engine->begin(w->connection,
                                      durable ? STORE_BEGIN_DURABLE : STORE_BEGIN_LAZY, problem)) {
        return false;
    }
    if (sharing != NULL && !apart) {
        sharing->enter(store, problem);
    }
    return problem->type == PROBLEM_NONE;
}

/* Begins the transaction if writes are allowed. If the connection to a server turns out to be lost,
 * it begins once more on a new one: no statement of a work item has been sent. */
static bool try_begin(struct store *store, bool durable, bool apart, struct problem *problem) {
    const struct store_writer *w = &store->writer;
    struct problem first = {0};
    if (!store_writes_allowed(store, problem)) {
        return false;
    }
    if (begin(store, durable, apart, &first)) {
        return true;
    }
    store_writes_note(store);
    if (w->lost && store->engine->sharing != NULL && store_writes_reopen(store)) {
        problem_done(&first);
        return begin(store, durable, apart, problem);
    }
    problem_copy(problem, &first);
    problem_done(&first);
    return false;
}

/* Commits. Returns the number of the first change in the database; 0: it has none. */
static int64_t commit(struct store *store, struct problem *problem) {
    const struct store_writer *w = &store->writer;
    const struct store_sharing *sharing = store->engine->sharing;
    int64_t first = 0;
    if (sharing != NULL && w->n_changes > 0) {
        first = sharing->publish(store, w->changes, w->n_changes, problem);
    }
    STORE_RUN(w->connection, problem, "COMMIT", STORE_NO_VALUES);
    return first;
}

static bool in_transaction(const struct store_writer *w) {
    return w->connection->engine->in_transaction(w->connection);
}

static void roll_back(struct store_writer *w) {
    /* A failure may already have ended it. NULL: the database could not be opened again. */
    if (w->connection != NULL && in_transaction(w)) {
        struct problem ignored = {0};
        STORE_RUN(w->connection, &ignored, "ROLLBACK", STORE_NO_VALUES);
        problem_done(&ignored);
    }
}

static void run_one(struct store *store, struct store_work *work) {
    struct store_tx tx = {.store = store,
                          .connection = store->writer.connection,
                          .problem = work->problem,
                          .now = store_now(store)};
    if (!work->problem->type) {
        work->run(&tx, work->arg);
    }
}

/* Runs a work item of a group in a savepoint: if it fails, only this item is undone. */
static void run_in_savepoint(struct store *store, struct store_work *work) {
    struct store_writer *w = &store->writer;
    struct problem outer = {0};
    work->mark = w->n_changes;
    STORE_RUN(w->connection, work->problem, "SAVEPOINT one", STORE_NO_VALUES);
    run_one(store, work);
    if (!in_transaction(w)) {
        return; /* the failure ended the whole transaction; the caller checks this */
    }
    if (work->problem->type) {
        w->n_changes = work->mark;
        STORE_RUN(w->connection, &outer, "ROLLBACK TO one", STORE_NO_VALUES);
    }
    STORE_RUN(w->connection, &outer, "RELEASE one", STORE_NO_VALUES);
    /* not expected: undo the whole group */
    if (outer.type) {
        roll_back(w);
    }
    problem_done(&outer);
}

/* Runs the work items of a group. `problem` is set if the whole transaction fails: the only item
 * failed, or its failure ended the transaction. A chunk, which is always alone, runs without a
 * savepoint, because in a savepoint SQLite would copy each page that the chunk overwrites. */
static void run_all(struct store *store, struct store_work *works, struct problem *problem) {
    if (!works->next) {
        run_one(store, works);
        if (works->problem->type) {
            problem_copy(problem, works->problem);
        }
        return;
    }
    for (struct store_work *work = works; work; work = work->next) {
        run_in_savepoint(store, work);
        if (!in_transaction(&store->writer)) {
            if (work->problem->type) {
                problem_copy(problem, work->problem);
            }
            problem_set(problem, PROBLEM_INTERNAL, "the database rolled the transaction back");
            return;
        }
    }
}

static void fail_all(struct store_work *works, const struct problem *why) {
    for (struct store_work *work = works; work; work = work->next) {
        if (!work->problem->type) {
            problem_copy(work->problem, why);
        }
    }
}

/* Runs the work items in one transaction and calls the `done` of each. */
void store_run_group(struct store *store, struct store_work *works, struct metric *seconds) {
    struct store_writer *w = &store->writer;
    struct problem problem = {0};
    const bool lost = w->lost;
    bool durable = false;
    int64_t first = 0;
    for (struct store_work *work = works; work; work = work->next) {
        durable = durable || !work->lazy;
    }
    w->n_changes = 0;
    if (try_begin(store, durable, works->apart, &problem)) {
        run_all(store, works, &problem);
        store_ring_begin(&store->ring, w->changes, w->n_changes);
        first = commit(store, &problem);
    }
    if (problem.type) {
        roll_back(w);
        fail_all(works, &problem);
    }
    store_ring_end(&store->ring, w->changes, problem.type ? 0 : w->n_changes, first);
    problem_done(&problem);
    store_writes_note(store);
    if (w->lost && !lost) {
        store->engine->retract(store);
    }
    for (struct store_work *work = works, *next; work; work = next) {
        next = work->next; /* `done` may free the item */
        metric_observe(seconds, (double)(clock_monotonic_ns() - work->queued_ns) * 1e-9);
        work->done(work);
    }
}

static void nothing_to_tell(struct store_work *work) {
    (void)work;
}

bool store_writer_transact(struct store *store, store_tx_fn fn, void *arg, bool durable,
                           struct problem *problem) {
    struct store_work work = {.run = fn,
                              .arg = arg,
                              .problem = problem,
                              .done = nothing_to_tell,
                              .lazy = !durable,
                              .queued_ns = clock_monotonic_ns()};
    store_run_group(store, &work, store->writer.bulk_seconds);
    return problem->type == PROBLEM_NONE;
}

/* Records a change of the transaction. */
static void add_change(struct store_tx *tx, const struct store_change *change) {
    struct store_writer *w = &tx->store->writer;
    if (tx->problem->type) {
        return;
    }
    if (w->n_changes == w->changes_room) {
        size_t room = w->changes_room ? 2 * w->changes_room : 64;
        struct store_change *more = realloc(w->changes, room * sizeof *more);
        if (!more) {
            problem_no_memory(tx->problem);
            return;
        }
        w->changes = more;
        w->changes_room = room;
    }
    w->changes[w->n_changes++] = *change;
}

void store_tx_change(struct store_tx *tx, enum store_change_kind kind, const char *name,
                     int64_t job) {
    struct store_change change = {.kind = kind, .job = job};
    snprintf(change.name, sizeof change.name, "%s", name ? name : "");
    add_change(tx, &change);
}

void store_tx_model_change(struct store_tx *tx, const char *name, int64_t live, int64_t oldest,
                           int64_t removed) {
    struct store_change change = {.kind = STORE_CHANGE_MODEL,
                                  .live = live,
                                  .oldest = oldest,
                                  .removed = removed};
    snprintf(change.name, sizeof change.name, "%s", name);
    add_change(tx, &change);
}
