/* Opens and closes a database of PostgreSQL, and lists the functions of the engine. */
#include "store/postgres/postgres.h"
#include "base/log/log.h"
#include "base/process/clock.h"
#include "store/postgres/share.h"
#include <time.h>

/* Each after 100 ms: the server needs a moment to see that a daemon that was killed has ended. */
enum { LOCK_TRIES = 30 };

/* The database of an open store, store->own. */
struct database {
    char *uri;
    struct store_share share;
};

/* ---- open ---- */

static struct database *database_of(struct store *store) {
    return store->own;
}

struct store_share *store_postgres_share(struct store *store) {
    return &database_of(store)->share;
}

/* Takes the lock OPEN for the life of the connection: shared, or alone. tries: at least 1. */
static bool lock(struct store_connection *c, const char *name, bool alone, int tries,
                 struct problem *problem) {
    const struct timespec pause = {.tv_nsec = 100000000};
    int64_t locked = 0;
    for (int i = 0; i < tries && !locked && problem->type == PROBLEM_NONE; i++) {
        if (i > 0) {
            nanosleep(&pause, NULL);
        }
        locked =
            alone ? STORE_ASK(c, problem, 0,
                              "SELECT CAST(pg_try_advisory_lock(" STORE_POSTGRES_OPEN ") AS "
                              "INTEGER)",
                              STORE_NO_VALUES)
                  : STORE_ASK(c, problem, 0,
                              "SELECT CAST(pg_try_advisory_lock_shared(" STORE_POSTGRES_OPEN ") AS "
                              "INTEGER)",
                              STORE_NO_VALUES);
    }
    if (problem->type != PROBLEM_NONE || locked) {
        return problem->type == PROBLEM_NONE;
    }
    const int64_t pid = STORE_ASK(c, problem, 0,
                                  "SELECT coalesce(max(l.pid), 0) FROM pg_locks l JOIN pg_database "
                                  "d ON d.oid = l.database WHERE l.locktype = 'advisory' AND "
                                  "d.datname = current_database() AND l.granted AND "
                                  "(CAST(l.classid AS BIGINT) << 32) + CAST(l.objid AS BIGINT) "
                                  "= " STORE_POSTGRES_OPEN,
                                  STORE_NO_VALUES);
    return problem_set(problem, PROBLEM_UNAVAILABLE,
                       "the database \"%s\" is in use: %s has it open, with the connection of "
                       "pid %lld on the server",
                       name,
                       alone ? "a daemon" : "discernd copy, or a daemon of an earlier release,",
                       (long long)pid);
}

/* Connects to the database and sets store->own and store->name. Returns NULL on failure. */
static struct store_connection *reach(struct store *store, const char *uri,
                                      struct problem *problem) {
    struct database *d = calloc(1, sizeof *d);
    store->own = d;
    store->name = store_database_name(uri);
    if (d == NULL || store->name == NULL || (d->uri = strdup(uri)) == NULL) {
        problem_no_memory(problem);
        return NULL;
    }
    return store_share_init(&d->share, problem) ? store_postgres_connect(d->uri, problem) : NULL;
}

/* Prepares the writer's connection. The server ends its transaction if the daemon does not go on: the
 * others wait for it. */
static bool set_up_writer(struct store *store, struct store_connection *c,
                          struct problem *problem) {
    return (store->alone ||
            store_postgres_exec(c, "SET idle_in_transaction_session_timeout = '4s'", problem)) &&
           store_share_appear(store, c, problem);
}

/* Applies the missing migrations, while no other daemon does. */
static bool migrate(struct store_connection *c, struct problem *problem) {
    struct problem ignored = {0};
    store_postgres_exec(c,
                        "BEGIN; SET LOCAL statement_timeout = 0; SELECT "
                        "pg_advisory_lock(" STORE_POSTGRES_MIGRATE "); COMMIT",
                        problem);
    (void)(problem->type == PROBLEM_NONE && store_postgres_migrate(c, problem));
    STORE_RUN(c, &ignored, "SELECT CAST(pg_advisory_unlock(" STORE_POSTGRES_MIGRATE ") AS INTEGER)",
              STORE_NO_VALUES);
    problem_done(&ignored);
    return problem->type == PROBLEM_NONE;
}

static bool find_database(struct store *store, const char *uri, struct problem *problem) {
    struct store_connection *c = reach(store, uri, problem);
    const bool good = c != NULL && store_postgres_check_schema(c, problem);
    store_postgres_disconnect(c);
    return good;
}

static bool open_database(struct store *store, const struct store_settings *settings,
                          struct problem *problem) {
    struct store_connection *c = reach(store, settings->path, problem);
    store->writer.connection = c;
    if (c == NULL) {
        return false;
    }
    store_postgres_of(c)->opening = true;
    const bool good = migrate(c, problem) &&
                      lock(c, store->name, store->alone, LOCK_TRIES, problem) &&
                      set_up_writer(store, c, problem);
    store_postgres_of(c)->opening = false;
    return good;
}

static void finish(struct store *store) {
    (void)store;
}

static void close_database(struct store *store) {
    struct database *d = database_of(store);
    store_postgres_disconnect(store->writer.connection);
    store->writer.connection = NULL;
    if (d != NULL) {
        store_share_done(&d->share);
        free(d->uri);
        free(d);
    }
    store->own = NULL;
}

static void sizes(struct store *store, struct store_connection *c, struct store_stats *out,
                  struct problem *problem) {
    (void)store;
    out->database_bytes =
        STORE_ASK(c, problem, 0, "SELECT pg_database_size(current_database())", STORE_NO_VALUES);
}

/* The reason of a failure is for the log: it names the host and the user of the server, and the
 * problem is answered to anybody. */
static struct store_connection *connect_reader(struct store *store, struct problem *problem) {
    struct problem own = {0};
    struct store_connection *c = store_postgres_connect(database_of(store)->uri, &own);
    if (c == NULL && own.lost) {
        log_warn("store.connect", log_str("problem", own.detail));
        problem_set_lost(problem, "the database cannot be reached: send the request again");
    } else if (c == NULL) {
        problem_copy(problem, &own);
    }
    problem_done(&own);
    return c;
}

/* ---- transactions ---- */

static bool begin(struct store_connection *c, enum store_begin kind, struct problem *problem) {
    struct store_postgres *own = store_postgres_of(c);
    const bool durable = kind == STORE_BEGIN_DURABLE;
    if (kind == STORE_BEGIN_READ) {
        return store_postgres_begin_read(c, problem);
    }
    if (durable != own->durable) {
        store_postgres_exec(c,
                            durable ? "SET synchronous_commit = on"
                                    : "SET synchronous_commit = off",
                            problem);
        own->durable = durable && problem->type == PROBLEM_NONE;
    }
    return STORE_RUN(c, problem, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
                     STORE_NO_VALUES);
}

static bool in_transaction(struct store_connection *c) {
    const PGTransactionStatusType status = PQtransactionStatus(store_postgres_of(c)->conn);
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE;
}

/* The commit of a transaction with a number is written to the log of the server. */
static void touch(struct store_tx *tx) {
    STORE_RUN(tx->connection, tx->problem, "SELECT CAST(pg_current_xact_id() AS TEXT)",
              STORE_NO_VALUES);
}

/* ---- between transactions: PostgreSQL does its own housekeeping ---- */

/* A connection that was lost is noticed also if no transaction is due: the lock is lost with it. */
static void tend(struct store *store, bool pressing) {
    (void)pressing;
    if (!store_postgres_alive(store->writer.connection)) {
        log_error("store.lost", log_str("database", store->name));
    }
}

static bool has_none(struct store *store) {
    (void)store;
    return false;
}

static bool has_room(struct store *store, size_t bytes, int64_t *lacking) {
    (void)store;
    (void)bytes;
    *lacking = 0;
    return true;
}

static bool shrink(struct store *store, bool *more, struct problem *problem) {
    (void)store;
    *more = false;
    return problem->type == PROBLEM_NONE;
}

/* The server may have committed the transaction although the connection was lost. */
static void retract(struct store *store) {
    (void)store;
}

/* Fails if another process keeps daemons out now, or if one has changed the tables since the
 * connection was lost. The other daemons may not have renewed their leases meanwhile, either: they
 * get time for that. */
static bool reopen(struct store *store) {
    struct problem problem = {0};
    store_postgres_disconnect(store->writer.connection);
    struct store_connection *c = store_postgres_connect(database_of(store)->uri, &problem);
    if (c != NULL &&
        (!lock(c, store->name, store->alone, 1, &problem) ||
         !store_postgres_check_schema(c, &problem) || !set_up_writer(store, c, &problem))) {
        store_postgres_disconnect(c);
        c = NULL;
    }
    store->writer.connection = c;
    store->expire_ns = clock_monotonic_ns() + store->lease_ms * 1000000;
    if (problem.type != PROBLEM_NONE) {
        log_warn("store.reopen", log_str("problem", problem.detail));
    }
    problem_done(&problem);
    return c != NULL;
}

const struct store_engine store_postgres_engine = {.open = open_database,
                                                   .find = find_database,
                                                   .finish = finish,
                                                   .close = close_database,
                                                   .sizes = sizes,
                                                   .inspect = store_postgres_connect,
                                                   .connect = connect_reader,
                                                   .disconnect = store_postgres_disconnect,
                                                   .start = store_postgres_start,
                                                   .row = store_postgres_row,
                                                   .end = store_postgres_end,
                                                   .changed = store_postgres_changed,
                                                   .kind = store_postgres_kind,
                                                   .get_int = store_postgres_get_int,
                                                   .get_real = store_postgres_get_real,
                                                   .get_text = store_postgres_get_text,
                                                   .get_bytes = store_postgres_get_bytes,
                                                   .text_size = store_postgres_text_size,
                                                   .small_blob = INT64_MAX,
                                                   .begin = begin,
                                                   .in_transaction = in_transaction,
                                                   .take_blobs = store_share_blobs,
                                                   .put_blobs = store_postgres_put_blobs,
                                                   .tend = tend,
                                                   .holds = has_none,
                                                   .has_idle_work = has_none,
                                                   .has_room = has_room,
                                                   .shrink = shrink,
                                                   .touch = touch,
                                                   .retract = retract,
                                                   .reopen = reopen,
                                                   .sharing = &store_postgres_sharing,
                                                   .backs_up = store_postgres_backs_up,
                                                   .backup = store_postgres_backup,
                                                   .backup_file = store_postgres_backup_file,
                                                   .check = store_postgres_check,
                                                   .restore = store_postgres_restore};
