/* Opens and closes a database of PostgreSQL, and lists the functions of the engine. */
#include "store/postgres/postgres.h"
#include "base/log/log.h"
#include <time.h>

/* The writer's connection holds this lock ("Discern" in ASCII) until it ends, so that one daemon at a
 * time has the database open. Locks of other databases of the server are others. */
#define LOCK "19256242726072942"

/* Each after 100 ms: the server needs a moment to see that a daemon that was killed has ended. */
enum { LOCK_TRIES = 30 };

/* The database of an open store, store->own. */
struct database {
    char *uri;
};

/* ---- open ---- */

static struct database *database_of(struct store *store) {
    return store->own;
}

/* Takes the lock for the life of the connection. tries: at least 1. */
static bool lock(struct store_connection *c, const char *name, int tries, struct problem *problem) {
    const struct timespec pause = {.tv_nsec = 100000000};
    int64_t locked = 0;
    for (int i = 0; i < tries && !locked && problem->type == PROBLEM_NONE; i++) {
        if (i > 0) {
            nanosleep(&pause, NULL);
        }
        locked = STORE_ASK(c, problem, 0, "SELECT CAST(pg_try_advisory_lock(" LOCK ") AS INTEGER)",
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
                                  "= " LOCK,
                                  STORE_NO_VALUES);
    return problem_set(problem, PROBLEM_UNAVAILABLE,
                       "the database \"%s\" is in use: another daemon has it open, with the "
                       "connection of pid %lld on the server",
                       name, (long long)pid);
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
    return store_postgres_connect(d->uri, problem);
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
    const bool good =
        lock(c, store->name, LOCK_TRIES, problem) && store_postgres_migrate(c, problem);
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
        return STORE_RUN(c, problem, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                         STORE_NO_VALUES);
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

static int64_t take_blobs(struct store_tx *tx, int64_t n) {
    return STORE_ASK(tx->connection, tx->problem, 0,
                     "UPDATE blob_ids SET next = next + ?1 RETURNING next - ?1", store_int(n));
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

/* Fails if another daemon has the database open now, or if one has changed its tables since the
 * connection was lost. */
static bool reopen(struct store *store) {
    struct problem problem = {0};
    store_postgres_disconnect(store->writer.connection);
    struct store_connection *c = store_postgres_connect(database_of(store)->uri, &problem);
    if (c != NULL &&
        (!lock(c, store->name, 1, &problem) || !store_postgres_check_schema(c, &problem))) {
        store_postgres_disconnect(c);
        c = NULL;
    }
    store->writer.connection = c;
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
                                                   .take_blobs = take_blobs,
                                                   .tend = tend,
                                                   .holds = has_none,
                                                   .has_idle_work = has_none,
                                                   .has_room = has_room,
                                                   .shrink = shrink,
                                                   .touch = touch,
                                                   .retract = retract,
                                                   .reopen = reopen,
                                                   .backs_up = store_postgres_backs_up,
                                                   .backup = store_postgres_backup,
                                                   .backup_file = store_postgres_backup_file,
                                                   .check = store_postgres_check,
                                                   .restore = store_postgres_restore};
