/* The migrations of PostgreSQL, migrations/postgresql. */
#include "base/log/log.h"
#include "store/engine/migrations.h"
#include "store/postgres/postgres.h"
#include "store/postgres/share.h"
#include <string.h>
#include <time.h>

static const struct store_migration embedded[] = {
#include "migrations_postgresql.inc"
};
enum { N_MIGRATIONS = sizeof embedded / sizeof embedded[0] };

/* The first line of a migration that only adds: daemons of the release before, which may be running,
 * go on with the database, and can be started with it. */
static const char compatible[] = "-- compatible\n";

static bool is_compatible(const struct store_migration *m) {
    return strncmp(m->text, compatible, sizeof compatible - 1) == 0;
}

static bool apply(struct store_connection *c, const struct store_migration *m, size_t number,
                  struct problem *problem) {
    store_postgres_exec(c, "BEGIN; SET LOCAL statement_timeout = 0", problem);
    store_postgres_exec(c, m->text, problem);
    (void)(problem->type != PROBLEM_NONE || store_migration_record(c, m, number, problem));
    if (is_compatible(m)) {
        STORE_RUN(c, problem, "UPDATE migrations SET compatible = 1 WHERE id = ?",
                  store_int((int64_t)number));
    }
    store_postgres_exec(c, "COMMIT", problem);
    if (problem->type != PROBLEM_NONE) {
        struct problem ignored = {0};
        store_postgres_exec(c, "ROLLBACK", &ignored);
        problem_done(&ignored);
        return false;
    }
    log_info("store.migrated", log_str("migration", m->name));
    return true;
}

/* Whether the schema of the database has the table that lists the migrations of Discern. */
static bool has_migrations(struct store_connection *c, struct problem *problem) {
    return STORE_ASK(c, problem, 0,
                     "SELECT count(*) FROM pg_attribute WHERE attrelid = "
                     "to_regclass(quote_ident(current_schema()) || '.migrations') AND attname IN "
                     "('id', 'name', 'checksum', 'applied_at') AND NOT attisdropped",
                     STORE_NO_VALUES) == 4;
}

/* Refuses a schema with tables of another program. Those of extensions may be there. */
static bool check_empty(struct store_connection *c, struct problem *problem) {
    struct store_query q;
    STORE_QUERY(&q, c, problem,
                "SELECT CAST(current_schema() AS TEXT), (SELECT min(CAST(r.relname AS TEXT)) FROM "
                "pg_class r WHERE r.relnamespace = CAST(current_schema() AS regnamespace) AND "
                "r.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT EXISTS (SELECT 1 FROM pg_depend d "
                "WHERE d.objid = r.oid AND d.classid = CAST('pg_class' AS regclass) AND d.deptype "
                "= 'e'))",
                STORE_NO_VALUES);
    if (store_query_row(&q) && store_query_is_null(&q, 0)) {
        problem_set(
            problem, PROBLEM_INTERNAL,
            "the database has no schema for its tables: search_path names none that exists");
    } else if (problem->type == PROBLEM_NONE && !store_query_is_null(&q, 1)) {
        problem_set(problem, PROBLEM_INTERNAL,
                    "the database is not one of Discern: its schema \"%s\" has \"%s\" of another "
                    "program; an empty database or schema is needed",
                    store_query_text(&q, 0), store_query_text(&q, 1));
    }
    store_query_end(&q);
    return problem->type == PROBLEM_NONE;
}

/* Keeps other daemons out while a migration is applied with which those of the release before cannot
 * go on. */
static bool keep_out(struct store_connection *c, const struct store_migration *m,
                     struct problem *problem) {
    enum {
        TRIES = 30
    }; /* each after 100 ms: the server needs a moment to see that a daemon has ended */
    const struct timespec pause = {.tv_nsec = 100000000};
    for (int i = 0; i < TRIES && problem->type == PROBLEM_NONE; i++) {
        if (STORE_ASK(c, problem, 0,
                      "SELECT CAST(pg_try_advisory_lock(" STORE_POSTGRES_OPEN ") AS INTEGER)",
                      STORE_NO_VALUES)) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return problem_set(
        problem, PROBLEM_UNAVAILABLE,
        "the database is in use, and its tables must be changed (migration \"%s\") so "
        "that daemons of the release before cannot go on: stop them first",
        m->name);
}

static void admit(struct store_connection *c) {
    struct problem ignored = {0};
    STORE_RUN(c, &ignored, "SELECT CAST(pg_advisory_unlock(" STORE_POSTGRES_OPEN ") AS INTEGER)",
              STORE_NO_VALUES);
    problem_done(&ignored);
}

bool store_postgres_migrate(struct store_connection *c, struct problem *problem) {
    size_t done = 0;
    if (!has_migrations(c, problem) && check_empty(c, problem)) {
        store_postgres_exec(c,
                            "CREATE TABLE migrations (id BIGINT PRIMARY KEY, name TEXT NOT NULL "
                            "UNIQUE, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
                            problem);
    }
    if (problem->type == PROBLEM_NONE) {
        (void)store_migrations_compare_recorded(c, embedded, N_MIGRATIONS, &done, problem);
    }
    for (const size_t first = done; problem->type == PROBLEM_NONE && done < N_MIGRATIONS; done++) {
        const struct store_migration *m = &embedded[done];
        const bool alone = first > 0 && !is_compatible(m);
        if (!alone || keep_out(c, m, problem)) {
            (void)apply(c, m, done + 1, problem);
        }
        if (alone) {
            admit(c);
        }
    }
    return problem->type == PROBLEM_NONE;
}

bool store_postgres_check_schema(struct store_connection *c, struct problem *problem) {
    size_t done = 0;
    if (!has_migrations(c, problem)) {
        return problem_set(problem, PROBLEM_INTERNAL, "the database is not one of Discern");
    }
    return store_migrations_compare_recorded(c, embedded, N_MIGRATIONS, &done, problem) &&
           (done == N_MIGRATIONS ||
            problem_set(problem, PROBLEM_INTERNAL,
                        "the database is older than this binary: start discernd with it once"));
}
