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
#include <time.h>

enum {
    PAUSE_MS = 1000,         /* between two looks at the changes without a notification */
    CHANGES_KEPT = 16384,    /* several times the size of the ring */
    BLOBS_AT_ONCE = 1 << 20, /* ids of blobs; the increment of the sequence blob_ranges */
    FOLLOW_AT_ONCE = 1024,   /* changes */
    FOLLOW_WAIT_MS = 5000,   /* for a reading connection */
    TURN_MS = 10             /* for another daemon to take the turn of an append */
};

static struct store_share *share_of(struct store *store) {
    return store_postgres_share(store);
}

bool store_share_init(struct store_share *share, struct problem *problem) {
    pthread_mutex_init(&share->mutex, NULL);
    pthread_mutex_init(&share->list, NULL);
    return wake_pipe_open(share->wake) ||
           problem_set(problem, PROBLEM_INTERNAL, "no pipe can be made: no descriptor is left");
}

static void free_list(struct store_held *first) {
    for (struct store_held *next; first != NULL; first = next) {
        next = first->next;
        free(first);
    }
}

void store_share_done(struct store_share *share) {
    store_postgres_disconnect(share->connection);
    free_list(share->held);
    free_list(share->released);
    wake_pipe_close(share->wake);
    pthread_mutex_destroy(&share->mutex);
    pthread_mutex_destroy(&share->list);
}

/* ---- the changes of other daemons ---- */

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

static void do_nothing(struct store_tx *tx, void *arg) {
    (void)tx;
    (void)arg;
}

static bool follow(struct store *store, struct problem *problem) {
    struct store_read r;
    if (!atomic_load(&share_of(store)->known)) {
        /* its begin compares the numbers */
        return store_write_lazy(store, do_nothing, NULL, problem);
    }
    if (!store_read_begin_within(&r, store, FOLLOW_WAIT_MS, problem)) {
        return false;
    }
    (void)read_changes(store, r.connection, problem);
    return store_read_end(&r);
}

static bool is_known(struct store *store) {
    return atomic_load(&share_of(store)->known);
}

/* ---- transactions ---- */

static void enter(struct store *store, struct problem *problem) {
    struct store_connection *c = store->writer.connection;
    struct store_share *share = share_of(store);
    struct store_query q;
    int64_t number = 0, now = 0;
    /* a separate statement: the next one sees all that was committed before the lock was taken */
    STORE_RUN(c, problem, "SELECT 1 FROM pg_advisory_xact_lock(" STORE_POSTGRES_WRITE ")",
              STORE_NO_VALUES);
    const int64_t before = clock_real_ms();
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
    atomic_store(&store->clock_ahead, now >= before && now <= after ? 0 : now - after);
    if (!is_known(store) || number < store_ring_followed(&store->ring)) {
        store_ring_restart(&store->ring, number);
        atomic_store(&share->known, true);
    } else if (number > store_ring_followed(&store->ring)) {
        (void)read_changes(store, c, problem);
    }
    share->number = number;
}

static int64_t publish(struct store *store, const struct store_change *changes, size_t n,
                       struct problem *problem) {
    struct store_connection *c = store->writer.connection;
    const int64_t first = share_of(store)->number + 1;
    if (!store_postgres_of(c)->durable) { /* no crash of the server loses a number that is known */
        STORE_RUN(c, problem, "SELECT set_config('synchronous_commit', 'on', true)",
                  STORE_NO_VALUES);
    }
    for (size_t i = 0; i < n; i++) {
        const struct store_change *change = &changes[i];
        STORE_RUN(c, problem,
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

/* ---- the session for locks ---- */

static int64_t ask_once(struct store_connection *c, const char *sql, int64_t key,
                        struct problem *problem) {
    return STORE_ASK(c, problem, 0, sql, store_int(key));
}

static int64_t take(struct store_connection *c, enum store_hold what, int64_t key,
                    struct problem *problem) {
    return what == STORE_HOLD_VERSION
               ? ask_once(c, "SELECT 1 FROM pg_advisory_lock_shared(?)", key, problem)
               : ask_once(c, "SELECT CAST(pg_try_advisory_lock(?) AS INTEGER)", key, problem);
}

/* Closes the connection if it is lost. The mutex is held. */
static bool drop_lost(struct store_share *share) {
    if (share->connection == NULL || share->connection->failure != STORE_FAILURE_LOST) {
        return false;
    }
    store_postgres_disconnect(share->connection);
    share->connection = NULL;
    return true;
}

/* Connects, and takes the locks again that a lost session held. Another daemon may have taken one of
 * them meanwhile: its call and that of this daemon then run at the same time. The mutex is held. */
static void connect_again(struct store *store, struct problem *problem) {
    struct store_share *share = share_of(store);
    share->connection = store->engine->connect(store, problem);
    for (struct store_held *h = share->held; h != NULL && share->connection != NULL; h = h->next) {
        (void)take(share->connection, h->what, h->key, problem);
        (void)drop_lost(share);
    }
}

/* Takes a lock, once more on a new connection if the session is lost. The mutex is held. */
static bool take_lock(struct store *store, enum store_hold what, int64_t key,
                      struct problem *problem) {
    struct store_share *share = share_of(store);
    for (bool old = share->connection != NULL;; old = false) {
        struct problem own = {0};
        bool taken = false;
        if (share->connection == NULL) {
            connect_again(store, &own);
        }
        if (share->connection != NULL) {
            taken = take(share->connection, what, key, &own) != 0;
        }
        if (!drop_lost(share) || !old) {
            if (own.type != PROBLEM_NONE) {
                problem_copy(problem, &own);
            }
            problem_done(&own);
            return taken;
        }
        problem_done(&own);
    }
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

/* Whether the follower is still to release a lock of this key. */
static bool is_released(struct store_share *share, int64_t key) {
    bool found = false;
    pthread_mutex_lock(&share->list);
    for (const struct store_held *h = share->released; h != NULL; h = h->next) {
        found = found || h->key == key;
    }
    pthread_mutex_unlock(&share->list);
    return found;
}

static bool hold(struct store *store, enum store_hold what, const char *name,
                 struct problem *problem) {
    struct store_share *share = share_of(store);
    struct store_held *held = malloc(sizeof *held);
    if (held == NULL) {
        return problem_no_memory(problem);
    }
    *held = (struct store_held){.key = key_of(what, name), .what = what};
    /* other daemons get their turn between two appends of this one */
    bool good = what != STORE_HOLD_APPEND || !is_released(share, held->key);
    if (good) {
        pthread_mutex_lock(&share->mutex);
        good = take_lock(store, what, held->key, problem);
        if (good) {
            held->next = share->held;
            share->held = held;
        }
        pthread_mutex_unlock(&share->mutex);
    }
    if (!good) {
        free(held);
    }
    return good;
}

/* The follower asks the server: a call may end on an I/O thread. Without memory the lock stays until
 * the session ends. */
static void release(struct store *store, enum store_hold what, const char *name) {
    struct store_share *share = share_of(store);
    struct store_held *held = malloc(sizeof *held);
    if (held == NULL) {
        return;
    }
    pthread_mutex_lock(&share->list);
    *held = (struct store_held){.key = key_of(what, name), .what = what, .next = share->released};
    share->released = held;
    pthread_mutex_unlock(&share->list);
    wake_pipe_wake(share->wake);
}

/* Removes one lock with this key from the list of those that the session holds. */
static void forget(struct store_share *share, int64_t key) {
    struct store_held **link = &share->held;
    while (*link != NULL && (*link)->key != key) {
        link = &(*link)->next;
    }
    struct store_held *held = *link;
    if (held != NULL) {
        *link = held->next;
        free(held);
    }
}

static void release_one(struct store_share *share, const struct store_held *lock) {
    struct problem ignored = {0}; /* if the session is lost, so is the lock */
    pthread_mutex_lock(&share->mutex);
    struct store_connection *c = share->connection;
    forget(share, lock->key);
    if (c != NULL && lock->what == STORE_HOLD_VERSION) {
        (void)ask_once(c, "SELECT CAST(pg_advisory_unlock_shared(?) AS INTEGER)", lock->key,
                       &ignored);
    } else if (c != NULL && lock->what == STORE_HOLD_KEY) {
        (void)ask_once(c, "SELECT CAST(pg_advisory_unlock(?) AS INTEGER)", lock->key, &ignored);
    } else if (c != NULL) { /* the other daemons try again */
        (void)ask_once(c, "SELECT 1 FROM pg_advisory_unlock(?), pg_notify('discern_changes', '')",
                       lock->key, &ignored);
    }
    (void)drop_lost(share);
    pthread_mutex_unlock(&share->mutex);
    problem_done(&ignored);
}

/* Releases what is to be released. A released lock stays in the list until the server has answered,
 * and that of an append some time longer, see is_released. */
static void release_all(struct store *store) {
    struct store_share *share = share_of(store);
    for (;;) {
        pthread_mutex_lock(&share->list);
        struct store_held *lock = share->released;
        pthread_mutex_unlock(&share->list);
        if (lock == NULL) {
            return;
        }
        release_one(share, lock);
        if (lock->what == STORE_HOLD_APPEND && store_appends_wait(store)) {
            const struct timespec turn = {.tv_nsec = TURN_MS * 1000000};
            nanosleep(&turn, NULL);
        }
        pthread_mutex_lock(&share->list);
        struct store_held **link = &share->released; /* new ones were added before it */
        while (*link != lock) {
            link = &(*link)->next;
        }
        *link = lock->next;
        pthread_mutex_unlock(&share->list);
        free(lock);
    }
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
    struct store_share *share = share_of(store);
    atomic_store(&share->known, false);
    share->next_blob = share->end_blob = 0;
    STORE_RUN(c, problem, "SELECT 1 FROM pg_advisory_lock_shared(?)",
              store_int(key_of(STORE_HOLD_OWNER, store->owner)));
    const int64_t up = STORE_ASK(
        c, problem, 0,
        "SELECT CAST(extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000 AS "
        "BIGINT)",
        STORE_NO_VALUES);
    if (up < store->lease_ms) {
        store->expire_ns = clock_monotonic_ns() + (store->lease_ms - up) * 1000000;
    }
    return problem->type == PROBLEM_NONE;
}

int64_t store_share_blobs(struct store_tx *tx, int64_t n) {
    struct store_share *share = share_of(tx->store);
    if (n > BLOBS_AT_ONCE) {
        problem_set(tx->problem, PROBLEM_INTERNAL, "a chunk has more than %d columns",
                    (int)BLOBS_AT_ONCE);
        return 0;
    }
    if (share->end_blob - share->next_blob < n) {
        share->next_blob = STORE_ASK(tx->connection, tx->problem, 0,
                                     "SELECT nextval('blob_ranges')", STORE_NO_VALUES);
        share->end_blob = share->next_blob > 0 ? share->next_blob + BLOBS_AT_ONCE : 0;
    }
    const int64_t first = share->next_blob;
    share->next_blob += n;
    return first;
}

/* ---- the thread that follows ---- */

/* Connects and begins to listen. */
static struct store_connection *listen_anew(struct store *store) {
    struct problem problem = {0};
    struct store_connection *c = store->engine->connect(store, &problem);
    if (c != NULL && !store_postgres_exec(c, "LISTEN discern_changes", &problem)) {
        store_postgres_disconnect(c);
        c = NULL;
    }
    problem_done(&problem);
    return c;
}

/* Takes the notifications that have arrived. Returns whether there were any. */
static bool take_notifications(PGconn *conn) {
    bool some = false;
    for (PGnotify *n; (n = PQnotifies(conn)) != NULL; some = true) {
        PQfreemem(n);
    }
    return some;
}

/* Waits for a notification, for something to do, or for the pause. */
static void wait_for_changes(const struct store_share *share, struct store_connection *c) {
    PGconn *conn = c != NULL ? store_postgres_of(c)->conn : NULL;
    struct pollfd fds[] = {{.fd = share->wake[0], .events = POLLIN},
                           {.fd = conn != NULL ? PQsocket(conn) : -1, .events = POLLIN}};
    if (conn != NULL && take_notifications(conn)) {
        return; /* they arrived with an answer */
    }
    (void)poll(fds, 2, PAUSE_MS);
    wake_pipe_clear(share->wake);
    if (conn != NULL && PQconsumeInput(conn) != 0) {
        (void)take_notifications(conn);
    }
}

static void *follower_main(void *arg) {
    struct store *store = arg;
    struct store_share *share = share_of(store);
    struct store_connection *c = NULL;
    while (!atomic_load(&share->stopping)) {
        struct problem problem = {0};
        release_all(store);
        c = c != NULL ? c : listen_anew(store);
        if (c != NULL && !read_changes(store, c, &problem) && c->failure == STORE_FAILURE_LOST) {
            store_postgres_disconnect(c);
            c = NULL;
            store_writer_kick(store); /* its connection may be lost, too */
        }
        if (c == NULL) {
            atomic_store(&share->known, false);
        }
        if (store_appends_wait(store)) {
            store_wake(store); /* they try again */
        }
        problem_done(&problem);
        wait_for_changes(share, c);
    }
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
        atomic_store(&share->stopping, true);
        wake_pipe_wake(share->wake);
        pthread_join(share->follower, NULL);
        share->follows = false;
    }
}

const struct store_sharing store_postgres_sharing = {.start = start,
                                                     .stop = stop,
                                                     .enter = enter,
                                                     .publish = publish,
                                                     .follow = follow,
                                                     .is_known = is_known,
                                                     .hold = hold,
                                                     .release = release,
                                                     .is_read = is_read,
                                                     .is_gone = is_gone,
                                                     .prune = prune};
