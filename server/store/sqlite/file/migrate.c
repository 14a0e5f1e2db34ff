/* Applies the embedded migrations. The transaction of the first migration creates the table in
 * which migrations are recorded. */
#include "store/sqlite/file/migrate.h"
#include "base/log/log.h"
#include "store/engine/query.h"
#include "store/sqlite/file/backup.h"

static const struct store_migration embedded[] = {
#include "migrations_sqlite.inc"
};

const struct store_migration *store_migrations(size_t *n) {
    *n = sizeof embedded / sizeof embedded[0];
    return embedded;
}

/* ---- applying ---- */

bool store_migrations_compare(struct store_connection *c, const struct store_migration *list,
                              size_t n, size_t *done, struct problem *problem) {
    *done = 0;
    if (!STORE_ASK(c, problem, 0, "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'",
                   STORE_NO_VALUES)) {
        return problem->type == PROBLEM_NONE;
    }
    return store_migrations_compare_recorded(c, list, n, done, problem);
}

/* Sets a problem if a row refers to a row that does not exist. */
static void check_foreign_keys(struct store_connection *c, const struct store_migration *m,
                               struct problem *problem) {
    struct store_query q;
    STORE_QUERY(&q, c, problem, "SELECT \"table\", parent FROM pragma_foreign_key_check",
                STORE_NO_VALUES);
    if (store_query_row(&q)) {
        char table[128], parent[128];
        store_query_copy(&q, 0, table, sizeof table);
        store_query_copy(&q, 1, parent, sizeof parent);
        problem_set_permanent(
            problem, PROBLEM_INTERNAL,
            "migration \"%s\" was not applied: rows of table \"%s\" would refer to "
            "rows of table \"%s\" that do not exist",
            m->name, table, parent);
    }
    store_query_end(&q);
}

static bool apply(struct store_connection *c, const struct store_migration *m, size_t number,
                  struct problem *problem) {
    if (!store_sqlite_exec(c, "BEGIN IMMEDIATE", problem)) {
        return false;
    }
    store_sqlite_exec(c,
                      "CREATE TABLE IF NOT EXISTS migrations (id INTEGER PRIMARY KEY, name "
                      "TEXT NOT NULL UNIQUE, checksum TEXT NOT NULL,"
                      " applied_at INTEGER NOT NULL) STRICT",
                      problem);
    store_sqlite_exec(c, m->text, problem);
    check_foreign_keys(c, m, problem);
    (void)store_migration_record(c, m, number, problem);
    store_sqlite_exec(c, "COMMIT", problem);
    if (problem->type) {
        sqlite3_exec(store_sqlite_db(c), "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    log_info("store.migrated", log_str("migration", m->name));
    return true;
}

bool store_migrate(struct store_connection *c, const struct store_migration *list, size_t n,
                   bool backup, struct problem *problem) {
    size_t done;
    if (!store_migrations_compare(c, list, n, &done, problem)) {
        return false;
    }
    if (done == n) {
        return true;
    }
    if (backup && done > 0 && !store_backup_before(c, list[done].name, problem)) {
        return false;
    }
    /* This pragma has no effect in a transaction. */
    store_sqlite_exec(c, "PRAGMA foreign_keys=OFF", problem);
    while (done < n && apply(c, &list[done], done + 1, problem)) {
        done++;
    }
    sqlite3_exec(store_sqlite_db(c), "PRAGMA foreign_keys=ON", NULL, NULL, NULL);
    return problem->type == PROBLEM_NONE;
}
