/* Reading connections are made on demand, up to STORE_READERS, and kept. */
#include "store/sqlite/internal.h"

enum { WAIT_MS = 30000 };

bool store_readers_init(struct store_readers *readers, struct problem *problem) {
    pthread_mutex_init(&readers->mutex, NULL);
    readers->chunks_read =
        metrics_series(metrics_register(METRICS_COUNTER, "discern_store_chunks_read_total",
                                        "Chunks of dataset columns read from the database.", "",
                                        NULL, 0),
                       NULL);
    return store_cond_init(&readers->cond) ||
           problem_set(problem, PROBLEM_INTERNAL, "out of memory");
}

void store_readers_done(struct store_readers *readers) {
    for (size_t i = 0; i < STORE_READERS; i++) {
        store_connection_close(readers->places[i].connection);
    }
    pthread_cond_destroy(&readers->cond);
    pthread_mutex_destroy(&readers->mutex);
}

/* The lowest free place, which keeps the rest cold. -1: none. *mine: this thread holds one already.
 */
static int free_place(struct store_readers *readers, bool *mine) {
    int found = -1;
    *mine = false;
    for (int i = STORE_READERS - 1; i >= 0; i--) {
        if (!readers->places[i].busy) {
            found = i;
        } else if (pthread_equal(readers->places[i].holder, pthread_self())) {
            *mine = true;
        }
    }
    return found;
}

/* A thread that reads within the callback of another read must not wait for a place: those who hold
 * the others may be doing the same. It gets a connection of its own. */
static bool take_place(struct store_readers *readers, int64_t wait_ms, int *place,
                       struct problem *problem) {
    struct timespec until = store_deadline(wait_ms);
    bool mine;
    int failed = 0;
    pthread_mutex_lock(&readers->mutex);
    while ((*place = free_place(readers, &mine)) < 0 && !mine && !failed) {
        failed = pthread_cond_timedwait(&readers->cond, &readers->mutex, &until);
    }
    if (*place >= 0) {
        readers->places[*place].busy = true;
        readers->places[*place].holder = pthread_self();
    }
    pthread_mutex_unlock(&readers->mutex);
    return *place >= 0 || mine ||
           problem_set(problem, PROBLEM_UNAVAILABLE,
                       "all reading connections of the database have been busy for %d ms",
                       (int)wait_ms);
}

static void give_back(struct store_readers *readers, int place,
                      struct store_connection *connection) {
    if (place < 0) {
        store_connection_close(connection);
        return;
    }
    pthread_mutex_lock(&readers->mutex);
    readers->places[place].busy = false;
    pthread_cond_signal(&readers->cond);
    pthread_mutex_unlock(&readers->mutex);
}

bool store_read_begin(struct store_read *r, struct store *store, struct problem *problem) {
    return store_read_begin_within(r, store, WAIT_MS, problem);
}

bool store_read_begin_within(struct store_read *r, struct store *store, int64_t wait_ms,
                             struct problem *problem) {
    struct store_readers *readers = &store->readers;
    *r = (struct store_read){.store = store, .problem = problem, .place = -1};
    if (problem->type || !take_place(readers, wait_ms, &r->place, problem)) {
        return false;
    }
    r->connection = r->place >= 0 ? readers->places[r->place].connection : NULL;
    if (!r->connection) {
        r->connection = store_connection_open(store->path, STORE_READ, problem);
        if (r->place >= 0) {
            readers->places[r->place].connection = r->connection; /* ours while busy, so no lock */
        }
    }
    if (r->connection && STORE_RUN(r->connection, problem, "BEGIN", STORE_NO_VALUES)) {
        return true;
    }
    give_back(readers, r->place, r->connection);
    return false;
}

bool store_read_end(struct store_read *r) {
    struct problem ignored = {0}; /* a read that failed must end as well */
    if (!sqlite3_get_autocommit(r->connection->db)) {
        STORE_RUN(r->connection, &ignored, "COMMIT", STORE_NO_VALUES);
    }
    problem_done(&ignored);
    give_back(&r->store->readers, r->place, r->connection);
    return r->problem->type == PROBLEM_NONE;
}
