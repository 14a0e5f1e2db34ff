/* Opens and closes a store; reports its health and its sizes. */
#include "base/log/log.h"
#include "base/process/clock.h"
#include "store/internal.h"
#include "store/postgres/postgres.h"
#include "store/sqlite/sqlite.h"
#include <inttypes.h>

enum { LEASE_MS = 15000, BULK_LIMIT = 8 * 1024 * 1024, HEALTH_MS = 1000 };

/* ---- open ---- */

const struct store_engine *store_engine_of(const char *database) {
    return store_postgres_names(database) ? &store_postgres_engine : &store_sqlite_engine;
}

const char *store_database_file(const char *database) {
    return store_postgres_names(database) ? NULL : database;
}

bool store_database_check(const char *option, const char *database, struct problem *problem) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-";
    const size_t n = strspn(database, letters);
    if (database[0] == '\0') {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "%s must be the name of a file or a URI of PostgreSQL, got \"\"",
                           option);
    }
    if (store_postgres_names(database)) {
        return true;
    }
    if (store_postgres_is_like(database)) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "%s must be the name of a file or a URI of PostgreSQL "
                           "(postgresql://USER@HOST/NAME); a file may be named \"./%.*s…\"",
                           option, (int)strcspn(database, ":=") + 1, database);
    }
    return strncmp(database + n, "://", 3) != 0 ||
           problem_set(
               problem, PROBLEM_BAD_REQUEST,
               "%s must be the name of a file or begin with postgresql://, got \"%.*s://…\"",
               option, (int)n, database);
}

char *store_database_name(const char *database) {
    return store_postgres_names(database) ? store_postgres_name(database) : strdup(database);
}

bool store_database_has_password(const char *database) {
    return store_postgres_names(database) && store_postgres_has_password(database);
}

void store_database_reads(const char *database, void (*read)(void *arg, const char *path),
                          void *arg) {
    if (store_postgres_names(database)) {
        store_postgres_reads(database, read, arg);
    }
}

static void set_up(struct store *store, const struct store_settings *settings) {
    store->engine = store_engine_of(settings->path);
    store->lease_ms = settings->lease_ms > 0 ? settings->lease_ms : LEASE_MS;
    store->no_hints = settings->no_hints;
    store->keep_audit = settings->keep_audit;
    store->alone = settings->alone;
    store->bulk_limit = settings->bulk_limit > 0 ? settings->bulk_limit : BULK_LIMIT;
    snprintf(store->owner, sizeof store->owner, "%016" PRIx64 "%016" PRIx64, ids_random(),
             ids_random());
}

/* Prepares everything except the writer thread. */
static bool prepare(struct store *store, const struct store_settings *settings,
                    struct problem *problem) {
    if (!store->engine->open(store, settings, problem) ||
        !store_check_documents(store->writer.connection, problem)) {
        return false;
    }
    return store_recover(store, problem);
}

static void dismantle(struct store *store) {
    store_readers_done(&store->readers);
    store_writer_done(store);
    store_parts_done(&store->parts);
    store_pins_done(&store->pins);
    store_appends_done(&store->appends);
    store_refusals_done(&store->refusals);
    store_keys_done(&store->keys);
    store_ring_done(&store->ring);
    store->engine->close(store);
    free(store->name);
    free(store);
}

/* Returns a store that is not open; NULL: out of memory. */
static struct store *store_new(const struct store_settings *settings, struct problem *problem) {
    struct store *store = calloc(1, sizeof *store);
    if (!store) {
        problem_no_memory(problem);
        return NULL;
    }
    set_up(store, settings);
    store_pins_init(&store->pins);
    store_appends_init(&store->appends);
    store_refusals_init(&store->refusals);
    store_keys_init(&store->keys);
    bool ok = store_ring_init(&store->ring, problem);
    ok = store_readers_init(&store->readers, problem) && ok;
    ok = store_parts_init(&store->parts, problem) && ok;
    ok = store_writer_init(store, problem) && ok;
    if (!ok) {
        dismantle(store);
    }
    return ok ? store : NULL;
}

bool store_open(const struct store_settings *settings, struct store **out,
                struct problem *problem) {
    struct store *store = store_new(settings, problem);
    if (!store) {
        return false;
    }
    const struct store_sharing *sharing = store->engine->sharing;
    if (!prepare(store, settings, problem) || !store_writer_start(store, problem)) {
        dismantle(store);
        return false;
    }
    if (sharing != NULL && !sharing->start(store, problem)) {
        store_writer_stop(store);
        dismantle(store);
        return false;
    }
    log_info("store.open", log_str("path", store->name), log_str("owner", store->owner));
    *out = store;
    return true;
}

bool store_open_reader(const char *path, struct store **out, struct problem *problem) {
    const struct store_settings settings = {.path = path};
    struct store *store = store_new(&settings, problem);
    struct store_read r;
    if (!store) {
        return false;
    }
    bool good = store->engine->find(store, path, problem) && store_read_begin(&r, store, problem);
    if (good) {
        (void)store_check_documents(r.connection, problem);
        good = store_read_end(&r);
    }
    if (!good) {
        dismantle(store);
        return false;
    }
    *out = store;
    return true;
}

void store_close_reader(struct store *store) {
    if (store != NULL) {
        dismantle(store);
    }
}

/* ---- close ---- */

void store_close(struct store *store) {
    if (!store) {
        return;
    }
    if (store->engine->sharing != NULL) {
        store->engine->sharing->stop(store);
    }
    /* after this the connection belongs to this thread. The next store_open ends the leases */
    store_writer_stop(store);
    store_refusals_write(store, true);
    store->engine->finish(store);
    log_info("store.closed", log_str("path", store->name));
    dismantle(store);
}

/* ---- whole databases ---- */

bool store_backup_possible(const struct store *store, struct problem *problem) {
    return store->engine->backs_up(problem);
}

bool store_backup_make(struct store *store, const char *folder, const struct store_watch *watch,
                       struct store_backup **out, struct problem *problem) {
    return store->engine->backup(store, folder, watch, out, problem);
}

bool store_backup_file(const char *database, const char *path, int64_t *bytes,
                       struct problem *problem) {
    return store_engine_of(database)->backup_file(database, path, bytes, problem);
}

bool store_check_file(const char *database, struct store_check *check, struct problem *problem) {
    return store_engine_of(database)->check(database, check, problem);
}

bool store_restore(const char *backup, const char *database, bool replace,
                   struct store_check *check, int64_t *bytes, struct problem *problem) {
    return store_engine_of(database)->restore(backup, database, replace, check, bytes, problem);
}

/* ---- health and sizes ---- */

const char *store_owner(const struct store *store) {
    return store->owner;
}

static bool reads_succeed(struct store *store, struct problem *problem) {
    struct store_read r;
    if (!store_read_begin_within(&r, store, HEALTH_MS, problem)) {
        return false;
    }
    STORE_ASK(r.connection, problem, 0, "SELECT count(*) FROM migrations", STORE_NO_VALUES);
    return store_read_end(&r);
}

bool store_healthy(struct store *store, struct store_health *out, struct problem *problem) {
    char since[CLOCK_TEXT_SIZE];
    store_writer_pulse(store, HEALTH_MS, out);
    out->reads = reads_succeed(store, problem);
    clock_format(out->since, since);
    switch (out->writes) {
    case STORE_WRITES_OK:
        break;
    case STORE_WRITES_FAILING:
        problem_set(problem, PROBLEM_UNAVAILABLE,
                    "writes to the database have failed since %s; reads go on", since);
        break;
    case STORE_WRITES_FULL:
        problem_set(problem, PROBLEM_UNAVAILABLE,
                    "the disk of the database has been full since %s: writes are refused with 507, "
                    "reads go on",
                    since);
        break;
    case STORE_WRITES_STUCK:
        problem_set(problem, PROBLEM_UNAVAILABLE,
                    "the database's writer has not answered within %d ms; it has worked on one "
                    "thing since %s",
                    HEALTH_MS, since);
        break;
    }
    return problem->type == PROBLEM_NONE;
}

/* Returns the bytes of the summaries. hidden: 1: of deleted versions, 0: of the other versions. */
static int64_t summary_bytes(struct store_read *r, int64_t hidden) {
    return STORE_ASK(
        r->connection, r->problem, 0,
        "SELECT " STORE_SUM(
            "length(s.state)") " FROM dataset_summaries s JOIN "
                               "dataset_versions v ON v.id = s.version WHERE v.hidden = ?",
        store_int(hidden));
}

void store_stats(struct store *store, struct store_stats *out) {
    struct problem problem = {0};
    struct store_read r;
    *out = (struct store_stats){.appends = store_appends_count(&store->appends)};
    if (store_read_begin(&r, store, &problem)) {
        store->engine->sizes(store, r.connection, out, &problem);
        out->dataset_bytes =
            STORE_ASK(r.connection, &problem, 0,
                      "SELECT " STORE_SUM(
                          "bytes") " FROM chunks WHERE part IN "
                                   "(SELECT p.part FROM dataset_versions v JOIN"
                                   " dataset_parts p ON p.version = v.id WHERE v.hidden = 0)",
                      STORE_NO_VALUES) +
            summary_bytes(&r, 0);
        out->doomed_bytes =
            STORE_ASK(r.connection, &problem, 0,
                      "SELECT " STORE_SUM(
                          "bytes") " FROM chunks WHERE part IN "
                                   "(SELECT id FROM parts WHERE state = ? UNION"
                                   " SELECT p.part FROM dataset_versions v JOIN dataset_parts p "
                                   "ON p.version = v.id WHERE v.hidden = 1 AND NOT EXISTS"
                                   " (SELECT 1 FROM dataset_parts o JOIN dataset_versions w ON "
                                   "w.id = o.version WHERE o.part = p.part AND w.hidden = 0))",
                      store_int(STORE_PART_DEAD)) +
            summary_bytes(&r, 1);
        store_read_end(&r);
    }
    problem_done(&problem);
    pthread_mutex_lock(&store->writer.mutex);
    out->state_queue = store->writer.state.n;
    out->bulk_queue = store->writer.bulk.n;
    out->bulk_bytes = store->writer.bulk.bytes;
    pthread_mutex_unlock(&store->writer.mutex);
}
