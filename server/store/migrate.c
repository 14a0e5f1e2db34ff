/* Applying the embedded migrations. The table that records them is made by the transaction of the first one. */
#include "store/migrate.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "store/query.h"
#include <string.h>

static const struct store_migration embedded[] = {
#include "migrations.inc"
};

const struct store_migration *store_migrations(size_t *n) {
    *n = sizeof embedded / sizeof embedded[0];
    return embedded;
}

static bool checksum(const struct store_migration *m, char out[HASH_BLAKE2B_TEXT],
                     struct problem *problem) {
    struct hash_blake2b *h = hash_blake2b_new();
    if (!h) {
        return problem_set(problem, PROBLEM_INTERNAL, "out of memory");
    }
    uint8_t sum[HASH_BLAKE2B_SIZE];
    hash_blake2b_add(h, m->text, m->size);
    hash_blake2b_end(h, sum);
    hash_blake2b_free(h);
    hash_hex(sum, sizeof sum, out);
    return true;
}

/* The recorded ones must be the first of the list, in its order and with its texts. *done is how many there are. */
static bool compare(struct store_connection *c, const struct store_migration *list, size_t n,
                    size_t *done, struct problem *problem) {
    *done = 0;
    if (!STORE_ASK(c, problem, 0, "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'",
                   STORE_NO_VALUES)) {
        return problem->type == PROBLEM_NONE;
    }
    struct store_query q;
    STORE_QUERY(&q, c, problem, "SELECT name, checksum FROM migrations ORDER BY id",
                STORE_NO_VALUES);
    for (; store_query_row(&q); ++*done) {
        char name[128], recorded[HASH_BLAKE2B_TEXT], present[HASH_BLAKE2B_TEXT];
        store_query_copy(&q, 0, name, sizeof name);
        store_query_copy(&q, 1, recorded, sizeof recorded);
        if (*done >= n || strcmp(name, list[*done].name) != 0) {
            problem_set(problem, PROBLEM_INTERNAL,
                        "the database is newer than this binary: it has migration \"%s\", which is "
                        "not known here",
                        name);
        } else if (checksum(&list[*done], present, problem) && strcmp(recorded, present) != 0) {
            problem_set(problem, PROBLEM_INTERNAL,
                        "migration \"%s\" was changed after it had been applied to this database",
                        name);
        }
    }
    store_query_end(&q);
    return problem->type == PROBLEM_NONE;
}

static bool apply(struct store_connection *c, const struct store_migration *m, size_t number,
                  struct problem *problem) {
    char sum[HASH_BLAKE2B_TEXT];
    if (!checksum(m, sum, problem) || !store_connection_exec(c, "BEGIN IMMEDIATE", problem)) {
        return false;
    }
    store_connection_exec(c,
                          "CREATE TABLE IF NOT EXISTS migrations (id INTEGER PRIMARY KEY, name "
                          "TEXT NOT NULL UNIQUE, checksum TEXT NOT NULL,"
                          " applied_at INTEGER NOT NULL) STRICT",
                          problem);
    store_connection_exec(c, m->text, problem);
    STORE_RUN(c, problem,
              "INSERT INTO migrations (id, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
              store_int((int64_t)number), store_text(m->name), store_text(sum),
              store_int(clock_real_ms()));
    store_connection_exec(c, "COMMIT", problem);
    if (problem->type) {
        sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    log_info("store.migrated", log_str("migration", m->name));
    return true;
}

bool store_migrate(struct store_connection *c, const struct store_migration *list, size_t n,
                   struct problem *problem) {
    size_t done;
    if (!compare(c, list, n, &done, problem)) {
        return false;
    }
    while (done < n && apply(c, &list[done], done + 1, problem)) {
        done++;
    }
    return problem->type == PROBLEM_NONE;
}
