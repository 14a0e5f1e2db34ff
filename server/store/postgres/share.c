/* Several daemons with one database: one of them writes at a time, the others learn of its changes
 * from the table `changes`, and locks of the server keep apart what must not run twice.
 *
 * A transaction that writes holds the lock WRITE from its begin to its commit, so what the tables
 * assume of one writing thread is true for all daemons, and changes are numbered in the order of their
 * commits. Chunks are inserted without it: nobody else knows their part before it is published. */
#include "store/postgres/share.h"
#include "base/hash.h"
#include "base/process/clock.h"
#include "base/process/wake_pipe.h"
#include "store/postgres/postgres.h"
#include <inttypes.h>
#include <poll.h>
#include <signal.h>

enum {
    PAUSE_MS = 1000,       /* between two looks at the changes without a notification */
    CHANGES_KEPT = 16384,  /* several times the size of the ring */
    BLOBS_AT_ONCE = 65536, /* ids of blobs */
    FOLLOW_AT_ONCE = 1024
};

static struct store_share *share_of(struct store *store) {
    return store_postgres_share(store);
}

bool store_share_init(struct store_share *share, struct problem *problem) {
    pthread_mutex_init(&share->mutex, NULL);
    return wake_pipe_open(share->stop) ||
           problem_set(problem, PROBLEM_INTERNAL, "no pipe can be made: no descriptor is left");
}

void store_share_done(struct store_share *share) {
    store_postgres_disconnect(share->connection);
    wake_pipe_close(share->stop);
    pthread_mutex_destroy(&share->mutex);
}

/* ---- the changes of other daemons ---- */

static int64_t newest(struct store_connection *c, struct problem *problem) {
    return STORE_ASK(c, problem, 0, "SELECT coalesce(max(seq), 0) FROM changes", STORE_NO_VALUES);
}

bool store_share_begin(struct store *store, struct store_connection *c, struct problem *problem) {
    const int64_t number = newest(c, problem);
    if (problem->type == PROBLEM_NONE) {
        store_ring_restart(&store->ring, number);
    }
    return problem->type == PROBLEM_NONE;
}

/* Adds the committed changes to the ring. */
static bool read_changes(struct store *store, struct store_connection *c, struct problem *problem) {
    size_t n;
    do {
        struct store_query q;
        n = 0;
        STORE_QUERY(
            &q, c, problem,
            "SELECT seq, kind, name, job, live, oldest, removed FROM changes WHERE seq > ?1 "
            "ORDER BY seq LIMIT ?2",
            store_int(store_ring_followed(&store->ring)), store_int(FOLLOW_AT_ONCE));
        for (; store_query_row(&q); n++) {
            struct store_change change = {.kind = (enum store_change_kind)store_query_int(&q, 1),
                                          .job = store_query_int(&q, 3),
                                          .live = store_query_int(&q, 4),
                                          .oldest = store_query_int(&q, 5),
                                          .removed = store_query_int(&q, 6)};
            store_query_copy(&q, 2, change.name, sizeof change.name);
            store_ring_follow(&store->ring, &change, store_query_int(&q, 0));
        }
        store_query_end(&q);
    } while (n == FOLLOW_AT_ONCE && problem->type == PROBLEM_NONE);
    return problem->type == PROBLEM_NONE;
}

static bool follow(struct store *store, struct problem *problem) {
    struct store_read r;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    (void)read_changes(store, r.connection, problem);
    return store_read_end(&r);
}

/* ---- transactions ---- */

static void enter(struct store *store, struct problem *problem) {
    struct store_connection *c = store->writer.connection;
    const int64_t before = clock_real_ms();
    struct store_query q;
    int64_t number = 0, now = 0;
    /* a statement of its own: the next one sees what was committed before the lock was taken */
    STORE_RUN(c, problem, "SELECT 1 FROM pg_advisory_xact_lock(" STORE_POSTGRES_WRITE ")",
              STORE_NO_VALUES);
    STORE_QUERY(
        &q, c, problem,
        "SELECT coalesce(max(seq), 0), CAST(extract(epoch FROM clock_timestamp()) * 1000 AS "
        "BIGINT) FROM changes",
        STORE_NO_VALUES);
    if (store_query_row(&q)) {
        number = store_query_int(&q, 0);
        now = store_query_int(&q, 1);
    }
    store_query_end(&q);
    if (problem->type != PROBLEM_NONE) {
        return;
    }
    const int64_t after = clock_real_ms();
    store->clock_ahead = now >= before && now <= after ? 0 : now - after;
    if (number < store_ring_followed(&store->ring)) {
        store_ring_restart(&store->ring, number); /* the server has lost its last commits */
    }
    if (number > store_ring_followed(&store->ring)) {
        (void)read_changes(store, c, problem);
    }
}

static int64_t publish(struct store *store, const struct store_change *changes, size_t n,
                       struct problem *problem) {
    const int64_t first = store_ring_followed(&store->ring) + 1;
    for (size_t i = 0; i < n; i++) {
        const struct store_change *change = &changes[i];
        STORE_RUN(store->writer.connection, problem,
                  "INSERT INTO changes (seq, kind, name, job, live, oldest, removed) VALUES (?, ?, "
                  "?, ?, ?, ?, ?)",
                  store_int(first + (int64_t)i), store_int((int64_t)change->kind),
                  store_text(change->name), store_int(change->job), store_int(change->live),
                  store_int(change->oldest), store_int(change->removed));
    }
    return first;
}

static void prune(struct store_tx *tx) {
    STORE_RUN(tx->connection, tx->problem,
              "DELETE FROM changes WHERE seq <= (SELECT max(seq) FROM changes) - ?",
              store_int(CHANGES_KEPT));
}

/* ---- the connection for locks and ids ---- */

/* Runs a query of one integer on the share's connection, once more on a new one if it is lost. */
static int64_t ask(struct store *store, const char *sql, int64_t value, struct problem *problem) {
    struct store_share *share = share_of(store);
    int64_t answer = 0;
    pthread_mutex_lock(&share->mutex);
    for (bool old = share->connection != NULL;; old = false) {
        struct problem own = {0};
        if (share->connection == NULL) {
            share->connection = store->engine->connect(store, &own);
        }
        if (share->connection != NULL) {
            answer = STORE_ASK(share->connection, &own, 0, sql, store_int(value));
        }
        if (share->connection != NULL && share->connection->failure == STORE_FAILURE_LOST) {
            store_postgres_disconnect(share->connection);
            share->connection = NULL;
        }
        if (!old || share->connection != NULL) {
            if (own.type != PROBLEM_NONE) {
                problem_copy(problem, &own);
            }
            problem_done(&own);
            break;
        }
        problem_done(&own);
    }
    pthread_mutex_unlock(&share->mutex);
    return answer;
}

/* Returns the key of the lock: a hash of what is held. Two names with one key only exclude each
 * other. */
static int64_t key_of(enum store_hold what, const char *name) {
    char text[512];
    uint8_t digest[HASH_BLAKE2B_SIZE];
    int64_t key;
    const int size = snprintf(text, sizeof text, "discern %d %s", (int)what, name);
    hash_blake2b(text, size < (int)sizeof text ? (size_t)size : sizeof text - 1, digest);
    memcpy(&key, digest, sizeof key);
    return key;
}

static bool hold(struct store *store, enum store_hold what, const char *name,
                 struct problem *problem) {
    const int64_t key = key_of(what, name);
    if (what == STORE_HOLD_VERSION) {
        return ask(store, "SELECT 1 FROM pg_advisory_lock_shared(?)", key, problem) != 0;
    }
    return ask(store, "SELECT CAST(pg_try_advisory_lock(?) AS INTEGER)", key, problem) != 0;
}

static void release(struct store *store, enum store_hold what, const char *name) {
    const int64_t key = key_of(what, name);
    struct problem ignored = {0}; /* the connection is lost, and with it the lock */
    if (what == STORE_HOLD_VERSION) {
        (void)ask(store, "SELECT CAST(pg_advisory_unlock_shared(?) AS INTEGER)", key, &ignored);
    } else {
        (void)ask(store, "SELECT CAST(pg_advisory_unlock(?) AS INTEGER)", key, &ignored);
    }
    problem_done(&ignored);
}

/* Whether nobody holds it; if so, nobody does until the end of the transaction. */
static bool is_free(struct store_tx *tx, enum store_hold what, const char *name) {
    return STORE_ASK(tx->connection, tx->problem, 0,
                     "SELECT CAST(pg_try_advisory_xact_lock(?) AS INTEGER)",
                     store_int(key_of(what, name))) != 0;
}

static bool is_read(struct store_tx *tx, int64_t version) {
    char name[32];
    (void)snprintf(name, sizeof name, "%" PRId64, version);
    return !is_free(tx, STORE_HOLD_VERSION, name);
}

static bool is_gone(struct store_tx *tx, const char *owner) {
    return is_free(tx, STORE_HOLD_OWNER, owner);
}

bool store_share_appear(struct store *store, struct store_connection *c, struct problem *problem) {
    return STORE_RUN(c, problem, "SELECT 1 FROM pg_advisory_lock(?)",
                     store_int(key_of(STORE_HOLD_OWNER, store->owner)));
}

int64_t store_share_blobs(struct store_tx *tx, int64_t n) {
    struct store_share *share = share_of(tx->store);
    if (share->end_blob - share->next_blob < n) {
        const int64_t taken = n > BLOBS_AT_ONCE ? n : BLOBS_AT_ONCE;
        share->next_blob =
            ask(tx->store, "UPDATE blob_ids SET next = next + ?1 RETURNING next - ?1", taken,
                tx->problem);
        share->end_blob = share->next_blob + taken;
    }
    const int64_t first = share->next_blob;
    share->next_blob += n;
    if (tx->problem->type != PROBLEM_NONE) {
        share->next_blob = share->end_blob = 0;
    }
    return first;
}

/* ---- the thread that follows ---- */

/* Connects and begins to listen. What was committed without this connection is not known: caches
 * are emptied. */
static struct store_connection *listen_anew(struct store *store) {
    struct problem problem = {0};
    struct store_connection *c = store->engine->connect(store, &problem);
    if (c != NULL && (!store_postgres_exec(c, "LISTEN discern_changes", &problem) ||
                      !store_share_begin(store, c, &problem))) {
        store_postgres_disconnect(c);
        c = NULL;
    }
    problem_done(&problem);
    return c;
}

/* Waits for a notification or for the pause. Returns false if the thread must end. */
static bool wait_for_changes(const struct store_share *share, struct store_connection *c) {
    PGconn *conn = c != NULL ? store_postgres_of(c)->conn : NULL;
    struct pollfd fds[] = {{.fd = share->stop[0], .events = POLLIN},
                           {.fd = conn != NULL ? PQsocket(conn) : -1, .events = POLLIN}};
    const int ready = poll(fds, 2, PAUSE_MS);
    if (ready > 0 && fds[0].revents != 0) {
        return false;
    }
    if (conn != NULL && PQconsumeInput(conn) != 0) {
        for (PGnotify *n; (n = PQnotifies(conn)) != NULL;) {
            PQfreemem(n);
        }
    }
    return true;
}

static void *follower_main(void *arg) {
    struct store *store = arg;
    struct store_connection *c = NULL;
    do {
        struct problem problem = {0};
        c = c != NULL ? c : listen_anew(store);
        if (c != NULL && !read_changes(store, c, &problem) && c->failure == STORE_FAILURE_LOST) {
            store_postgres_disconnect(c);
            c = NULL;
        }
        problem_done(&problem);
    } while (wait_for_changes(share_of(store), c));
    store_postgres_disconnect(c);
    return NULL;
}

static bool start(struct store *store, struct problem *problem) {
    struct store_share *share = share_of(store);
    sigset_t all, before; /* signals are handled by the main thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    share->follows = pthread_create(&share->follower, NULL, follower_main, store) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return share->follows || problem_set(problem, PROBLEM_INTERNAL,
                                         "the thread that follows changes cannot be started");
}

static void stop(struct store *store) {
    struct store_share *share = share_of(store);
    if (share->follows) {
        wake_pipe_wake(share->stop);
        pthread_join(share->follower, NULL);
        share->follows = false;
    }
}

const struct store_sharing store_postgres_sharing = {.start = start,
                                                     .stop = stop,
                                                     .enter = enter,
                                                     .publish = publish,
                                                     .follow = follow,
                                                     .hold = hold,
                                                     .release = release,
                                                     .is_read = is_read,
                                                     .is_gone = is_gone,
                                                     .prune = prune};
