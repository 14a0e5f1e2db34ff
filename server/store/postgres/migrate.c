/* The migrations of PostgreSQL, migrations/postgresql. */
#include "base/log/log.h"
#include "store/engine/migrations.h"
#include "store/postgres/postgres.h"

static const struct store_migration embedded[] = {
#include "migrations_postgresql.inc"
};
enum { N_MIGRATIONS = sizeof embedded / sizeof embedded[0] };

static bool apply(struct store_connection *c, const struct store_migration *m, size_t number,
                  struct problem *problem) {
    store_postgres_exec(c, "BEGIN", problem);
    store_postgres_exec(c, m->text, problem);
    (void)(problem->type != PROBLEM_NONE || store_migration_record(c, m, number, problem));
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

bool store_postgres_migrate(struct store_connection *c, struct problem *problem) {
    size_t done = 0;
    store_postgres_exec(c,
                        "CREATE TABLE IF NOT EXISTS migrations (id BIGINT PRIMARY KEY, name TEXT "
                        "NOT NULL UNIQUE, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
                        problem);
    if (problem->type == PROBLEM_NONE) {
        (void)store_migrations_compare_recorded(c, embedded, N_MIGRATIONS, &done, problem);
    }
    while (problem->type == PROBLEM_NONE && done < N_MIGRATIONS) {
        (void)apply(c, &embedded[done], done + 1, problem);
        done++;
    }
    return problem->type == PROBLEM_NONE;
}
