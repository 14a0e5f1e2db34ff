/* The pool of reading connections. They are opened on demand, at most STORE_READERS, and stay
 * open. */
#include "store/internal.h"

enum { WAIT_MS = 30000 };

bool store_readers_init(struct store_readers *readers, struct problem *problem) {
    pthread_mutex_init(&readers->mutex, NULL);
    readers->chunks_read =
        metrics_series(metrics_register(METRICS_COUNTER, "discern_store_chunks_read_total",
                                        "Chunks of dataset columns read from the database.", "",
                                        NULL, 0),
                       NULL);
    return store_cond_init(&readers->cond) || problem_no_memory(problem);
}

void store_readers_done(struct store_readers *readers) {
    for (size_t i = 0; i < STORE_READERS; i++) {
        struct store_connection *c = readers->places[i].connection;
        if (c != NULL) {
            c->engine->disconnect(c);
        }
    }
    pthread_cond_destroy(&readers->cond);
    pthread_mutex_destroy(&readers->mutex);
}

/* Returns the lowest free place, so that connections with higher places may never be opened; -1 if
 * there is none. */
static int free_place(const struct store_readers *readers) {
    for (int i = 0; i < STORE_READERS; i++) {
        if (!readers->places[i].busy) {
            return i;
        }
    }
    return -1;
}

static bool take_place(struct store_readers *readers, int64_t wait_ms, int *place,
                       struct problem *problem) {
    struct timespec until = store_deadline(wait_ms);
    int failed = 0;
    pthread_mutex_lock(&readers->mutex);
    while ((*place = readers->shut ? -1 : free_place(readers)) < 0 && !failed) {
        failed = pthread_cond_timedwait(&readers->cond, &readers->mutex, &until);
    }
    if (*place >= 0) {
        readers->places[*place].busy = true;
    }
    pthread_mutex_unlock(&readers->mutex);
    return *place >= 0 ||
           problem_set(problem, PROBLEM_UNAVAILABLE,
                       "all reading connections of the database have been busy for %d ms",
                       (int)wait_ms);
}

static void give_back(struct store_readers *readers, int place) {
    pthread_mutex_lock(&readers->mutex);
    readers->places[place].busy = false;
    if (readers->shut) {
        pthread_cond_broadcast(&readers->cond); /* the thread that shuts waits, too */
    } else {
        pthread_cond_signal(&readers->cond);
    }
    pthread_mutex_unlock(&readers->mutex);
}

/* Closes the connection if it is lost: the next read opens another. The place is busy. */
static void drop_lost(struct store_reader *reader) {
    struct store_connection *c = reader->connection;
    if (c != NULL && c->failure == STORE_FAILURE_LOST) {
        c->engine->disconnect(c);
        reader->connection = NULL;
    }
}

static bool some_read_runs(const struct store_readers *readers) {
    for (size_t i = 0; i < STORE_READERS; i++) {
        if (readers->places[i].busy) {
            return true;
        }
    }
    return false;
}

bool store_readers_shut(struct store_readers *readers, int64_t wait_ms) {
    const struct timespec until = store_deadline(wait_ms);
    int failed = 0;
    pthread_mutex_lock(&readers->mutex);
    readers->shut = true;
    while (some_read_runs(readers) && !failed) {
        failed = pthread_cond_timedwait(&readers->cond, &readers->mutex, &until);
    }
    const bool idle = !some_read_runs(readers);
    pthread_mutex_unlock(&readers->mutex);
    if (!idle) {
        store_readers_admit(readers);
        return false;
    }
    for (size_t i = 0; i < STORE_READERS; i++) {
        struct store_connection *c = readers->places[i].connection;
        if (c != NULL) {
            c->engine->disconnect(c);
        }
        readers->places[i].connection = NULL;
    }
    return true;
}

void store_readers_admit(struct store_readers *readers) {
    pthread_mutex_lock(&readers->mutex);
    readers->shut = false;
    pthread_cond_broadcast(&readers->cond);
    pthread_mutex_unlock(&readers->mutex);
}

bool store_readers_wanted(struct store_readers *readers) {
    pthread_mutex_lock(&readers->mutex);
    const bool wanted = readers->shut;
    pthread_mutex_unlock(&readers->mutex);
    return wanted;
}

/* Begins the transaction, on a new connection if the server has closed this one since its last
 * use. */
static bool begin(struct store_read *r, struct store_reader *reader, struct problem *problem) {
    const struct store_engine *engine = r->store->engine;
    for (bool old = reader->connection != NULL;; old = false) {
        struct problem own = {0};
        if (reader->connection == NULL) {
            reader->connection = engine->connect(r->store, &own);
        }
        r->connection = reader->connection;
        if (r->connection != NULL && engine->begin(r->connection, STORE_BEGIN_READ, &own)) {
            store_ring_see(&r->store->ring, r->connection->seen);
            return true;
        }
        drop_lost(reader);
        if (!old || reader->connection != NULL) {
            problem_copy(problem, &own);
            problem_done(&own);
            return false;
        }
        problem_done(&own);
    }
}

bool store_read_begin(struct store_read *r, struct store *store, struct problem *problem) {
    return store_read_begin_within(r, store, WAIT_MS, problem);
}

bool store_read_begin_within(struct store_read *r, struct store *store, int64_t wait_ms,
                             struct problem *problem) {
    struct store_readers *readers = &store->readers;
    *r = (struct store_read){.store = store, .problem = problem};
    if (problem->type || !take_place(readers, wait_ms, &r->place, problem)) {
        return false;
    }
    /* the place is busy, so only this thread uses it */
    struct store_reader *reader = &readers->places[r->place];
    if (begin(r, reader, problem)) {
        return true;
    }
    give_back(readers, r->place);
    return false;
}

bool store_read_end(struct store_read *r) {
    struct problem ignored = {0}; /* the transaction must end after a failure, too */
    if (r->connection->engine->in_transaction(r->connection)) {
        STORE_RUN(r->connection, &ignored, "COMMIT", STORE_NO_VALUES);
    }
    problem_done(&ignored);
    drop_lost(&r->store->readers.places[r->place]);
    give_back(&r->store->readers, r->place);
    return r->problem->type == PROBLEM_NONE;
}
