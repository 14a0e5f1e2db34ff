/* Copies all rows of a database into an empty one, of the same engine or of another. */
#include "base/hash.h"
#include "store/copies.h"
#include "store/engine/rows.h"
#include "store/tables/tables.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A table, with its columns but crc, which the database or the INSERT sets. types: a letter for each
 * column: i integer, n integer or null, t text, b bytes. */
struct table {
    const char *name, *types, *select, *insert, *count;
};

/* damage: a value, as STORE_DAMAGE_… of rows.h; key: the order of the rows */
#define TABLE_WITH(name, types, columns, damage, key, insert_columns, values)                      \
    {                                                                                              \
        name, types, "SELECT " columns ", " damage " FROM " name " r ORDER BY " key,               \
            "INSERT INTO " name " (" insert_columns ") VALUES (" values ")",                       \
            "SELECT count(*) FROM " name                                                           \
    }
#define TABLE(name, types, columns, damage, key, values)                                           \
    TABLE_WITH(name, types, columns, damage, key, columns, values)
/* A table whose triggers do not set crc. */
#define TABLE_CRC(name, types, columns, damage, key, values)                                       \
    TABLE_WITH(name, types, columns, damage, key, columns ", crc",                                 \
               values ", " STORE_ROW_CRC(values))
#define NO_DAMAGE "CAST(NULL AS TEXT)"
#define NUMBER(parameter) "CAST(" parameter " AS BIGINT)"

/* Each table stands behind those that it refers to. */
static const struct table tables[] = {
    TABLE("parts", "iitii", "id, state, owner, lease_until, created_at", STORE_DAMAGE_PARTS("r"),
          "id", "?1, ?2, ?3, ?4, ?5"),
    TABLE("chunks", "iiiiii", "part, chunk, n_rows, first_blob, n_blobs, bytes",
          STORE_DAMAGE_CHUNKS("r"), "part, chunk", "?1, ?2, ?3, ?4, ?5, ?6"),
    TABLE("blobs", "iib", "id, crc, bytes", NO_DAMAGE, "id", "?1, ?2, ?3"),
    TABLE("datasets", "tiittii",
          "name, last_version, newest, description, tags, revision, expires_at",
          STORE_DAMAGE_DATASETS("r"), "name", "?1, ?2, ?3, ?4, ?5, ?6, ?7"),
    TABLE("dataset_versions", "itiiiiiitttttit",
          "id, name, version, hidden, n_rows, n_cols, bytes, created_at, sha256, content, options, "
          "columns, notes, format, submitted_by",
          STORE_DAMAGE_DATASET_VERSIONS("r"), "id",
          "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15"),
    TABLE("dataset_parts", "iii", "version, seq, part", STORE_DAMAGE_DATASET_PARTS("r"),
          "version, seq", "?1, ?2, ?3"),
    TABLE_CRC("dataset_summaries", "iib", "version, \"column\", state",
              STORE_DAMAGE_DATASET_SUMMARIES("r"), "version, \"column\"", "?1, ?2, ?3"),
    TABLE("models", "tiiittii",
          "name, last_version, live, newest, description, tags, revision, expires_at",
          STORE_DAMAGE_MODELS("r"), "name", "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8"),
    TABLE("model_versions", "itiiitiit",
          "id, name, version, created_at, bytes, info, part, format, submitted_by",
          STORE_DAMAGE_MODEL_VERSIONS("r"), "id", "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"),
    TABLE_CRC("model_rules", "iiti", "version, revision, rule, changed_at",
              STORE_DAMAGE_MODEL_RULES("r"), "version", "?1, ?2, ?3, ?4"),
    TABLE("jobs", "itttiitiiiitiittttiiiiiitii",
          "id, model, algorithm, dataset, dataset_version, dataset_id, spec, created_at, "
          "started_at, finished_at, attempts, owner, lease_until, cancel_requested, progress, "
          "warnings, error, result, version, last_event, n_progress, spec_format, result_format, "
          "token, submitted_by, expires_in, state",
          STORE_DAMAGE_JOBS("r"), "id",
          "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, "
          "?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27"),
    TABLE_CRC("job_requests", "it", "job, request", STORE_DAMAGE_JOB_REQUESTS("r"), "job",
              "?1, ?2"),
    TABLE("job_pins", "ii", "job, version", STORE_DAMAGE_JOB_PINS("r"), "job, version", "?1, ?2"),
    TABLE("job_events", "iiitnnnt",
          "job, seq, kind, progress, state, attempts, started_at, warnings",
          STORE_DAMAGE_JOB_EVENTS("r"), "job, seq",
          "?1, ?2, ?3, ?4, " NUMBER("?5") ", " NUMBER("?6") ", " NUMBER("?7") ", ?8"),
    TABLE("job_history", "iiiit", "id, job, snapshot, iteration, doc",
          STORE_DAMAGE_JOB_HISTORY("r"), "id", "?1, ?2, ?3, ?4, ?5"),
    TABLE_CRC("job_trials", "iit", "id, job, doc", STORE_DAMAGE_JOB_TRIALS("r"), "id",
              "?1, ?2, ?3"),
    TABLE_CRC("idempotency_keys", "ittittittit",
              "id, owner, key, created_at, request, body, status, location, etag, bytes, answer",
              STORE_DAMAGE_IDEMPOTENCY_KEYS("r"), "id",
              "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11"),
    TABLE("audit", "iittttttnntitb",
          "seq, at, token, client, request, action, kind, name, version, job, result, count, "
          "detail, hash",
          NO_DAMAGE, "seq",
          "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, " NUMBER("?9") ", " NUMBER(
              "?10") ", ?11, ?12, ?13, ?14"),
};
enum { BLOBS = 2, N_TABLES = sizeof tables / sizeof tables[0], MOST_COLUMNS = 28 };

/* ---- rows ---- */

/* Adds a value to the digest: its kind, its size and its bytes. */
static void digest_add(struct hash_blake2b *digest, char kind, const void *bytes, size_t size) {
    uint8_t head[9] = {(uint8_t)kind};
    for (int i = 0; i < 8; i++) {
        head[1 + i] = (uint8_t)((uint64_t)size >> 8 * i);
    }
    hash_blake2b_add(digest, head, sizeof head);
    hash_blake2b_add(digest, bytes, size);
}

/* The values of a row, and the texts of its integers. */
struct row {
    struct store_value values[MOST_COLUMNS + 1];
    char texts[MOST_COLUMNS][24];
};

/* Reads the row of the query and adds it to the digest. The values are valid until the next row. */
static void read_row(struct store_query *q, const char *types, struct row *row,
                     struct hash_blake2b *digest) {
    const int n = (int)strlen(types);
    for (int i = 0; i < n; i++) {
        struct store_value *v = &row->values[i];
        char *text = row->texts[i];
        size_t size = 0;
        if (store_query_is_null(q, i)) {
            *v = store_text(NULL);
            digest_add(digest, '0', "", 0);
        } else if (types[i] == 'b') {
            const void *bytes = store_query_bytes(q, i, &size);
            *v = store_bytes(bytes, size);
            digest_add(digest, 'b', size > 0 ? bytes : "", size);
        } else if (types[i] == 't') {
            *v = store_text(store_query_text(q, i));
            digest_add(digest, 't', v->bytes, strlen(v->bytes));
        } else {
            (void)snprintf(text, sizeof row->texts[i], "%" PRId64, store_query_int(q, i));
            *v = types[i] == 'n' ? store_text(text) : store_int(store_query_int(q, i));
            digest_add(digest, 'i', text, strlen(text));
        }
    }
    row->values[n] = (struct store_value){0};
}

/* Compares the bytes of a row of `blobs` with their checksum. */
static bool check_blob(const struct row *row, struct problem *problem) {
    const struct store_value *bytes = &row->values[2];
    return (int64_t)hash_crc32(bytes->bytes, bytes->size) == row->values[1].i ||
           problem_set_permanent(problem, PROBLEM_INTERNAL,
                                 "stored data is damaged: blobs, row %" PRId64
                                 " does not match its checksum",
                                 row->values[0].i);
}

/* Reads the rows of a table, inserts them (to NULL: does not) and adds them to the digest. */
static bool copy_table(const struct table *t, struct store_connection *from,
                       struct store_connection *to, struct hash_blake2b *digest, int64_t *n_rows,
                       struct problem *problem) {
    struct row row;
    struct store_query q;
    STORE_QUERY(&q, from, problem, t->select, STORE_NO_VALUES);
    digest_add(digest, 'T', t->name, strlen(t->name));
    while (store_query_row(&q) && store_query_intact(&q, (int)strlen(t->types))) {
        read_row(&q, t->types, &row, digest);
        if (t->insert == tables[BLOBS].insert && !check_blob(&row, problem)) {
            break;
        }
        if (to != NULL && !store_run_values(to, problem, NULL, t->insert, row.values)) {
            break;
        }
        ++*n_rows;
    }
    store_query_end(&q);
    return problem->type == PROBLEM_NONE;
}

/* Reads the anchor of the audit and adds it to the digest. to: as for copy_table. */
static bool copy_anchor(struct store_connection *from, struct store_connection *to,
                        struct hash_blake2b *digest, struct problem *problem) {
    struct row row;
    struct store_query q;
    STORE_QUERY(&q, from, problem, "SELECT seq, hash FROM audit_anchor", STORE_NO_VALUES);
    if (store_query_row(&q)) {
        read_row(&q, "ib", &row, digest);
        if (to != NULL && row.values[0].i > 0) {
            (void)store_run_values(to, problem, NULL, "UPDATE audit_anchor SET seq = ?1, hash = ?2",
                                   row.values);
        }
    }
    store_query_end(&q);
    return problem->type == PROBLEM_NONE;
}

/* ---- ids that are never used again ---- */

#define SEQUENCE(table)                                                                            \
    {                                                                                              \
        STORE_EITHER("SELECT seq FROM sqlite_sequence WHERE name = '" table "'",                   \
                     "SELECT last_value FROM " table "_id_seq WHERE is_called"),                   \
            STORE_EITHER("INSERT INTO sqlite_sequence (name, seq) VALUES ('" table "', ?1)",       \
                         "SELECT setval('" table "_id_seq', ?1)")                                  \
    }
static const struct {
    const char *last, *set;
} sequences[] = {SEQUENCE("dataset_versions"), SEQUENCE("model_versions"), SEQUENCE("jobs")};

static bool copy_sequences(struct store_connection *from, struct store_connection *to,
                           struct problem *problem) {
    STORE_RUN(to, problem, STORE_EITHER("DELETE FROM sqlite_sequence", "SELECT 1"),
              STORE_NO_VALUES);
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        const int64_t last = STORE_ASK(from, problem, 0, sequences[i].last, STORE_NO_VALUES);
        if (last > 0) {
            STORE_RUN(to, problem, sequences[i].set, store_int(last));
        }
    }
    STORE_RUN(to, problem,
              STORE_EITHER("SELECT 1", "SELECT setval('job_history_id_seq', max(id)) FROM "
                                       "job_history HAVING max(id) > 0"),
              STORE_NO_VALUES);
    STORE_RUN(to, problem,
              STORE_EITHER("SELECT 1",
                           "SELECT setval('blob_ranges', (coalesce(max(id), 0) / 1048576 "
                           "+ 1) * 1048576) FROM blobs"),
              STORE_NO_VALUES);
    return problem->type == PROBLEM_NONE;
}

/* ---- whole databases ---- */

/* A table is read by one statement, while the rows are written. */
#define NO_TIME_LIMIT STORE_EITHER("SELECT 1", "SELECT set_config('statement_timeout', '0', false)")

/* The argument of copy_all. */
struct copying {
    struct store_connection *from;
    struct hash_blake2b *digest;
    struct store_copied *copied;
};

static bool check_empty(struct store_connection *c, const char *name, struct problem *problem) {
    for (size_t i = 0; i < N_TABLES; i++) {
        if (STORE_ASK(c, problem, 0, tables[i].count, STORE_NO_VALUES) > 0) {
            return problem_set(problem, PROBLEM_CONFLICT,
                               "the database \"%s\" is not empty: it has rows in \"%s\"", name,
                               tables[i].name);
        }
    }
    return problem->type == PROBLEM_NONE;
}

/* Copies all tables; to NULL: only reads them. Writes the digest of what was read. */
static bool copy_tables(const struct copying *c, struct store_connection *from,
                        struct store_connection *to, uint8_t digest[HASH_BLAKE2B_SIZE],
                        struct problem *problem) {
    hash_blake2b_reset(c->digest);
    for (size_t i = 0; i < N_TABLES; i++) {
        int64_t n = 0;
        if (!copy_table(&tables[i], from, to, c->digest, &n, problem)) {
            return false;
        }
        if (to != NULL) {
            c->copied->n_rows += n;
            c->copied->table(c->copied->arg, tables[i].name, n);
        }
    }
    if (!copy_anchor(from, to, c->digest, problem)) {
        return false;
    }
    hash_blake2b_end(c->digest, digest);
    return true;
}

/* Runs in the transaction of the new database: copies, reads the copy and compares. */
static void copy_all(struct store_tx *tx, void *arg) {
    const struct copying *c = arg;
    uint8_t read[HASH_BLAKE2B_SIZE], written[HASH_BLAKE2B_SIZE];
    STORE_RUN(tx->connection, tx->problem, NO_TIME_LIMIT, STORE_NO_VALUES);
    if (!check_empty(tx->connection, tx->store->name, tx->problem) ||
        !copy_tables(c, c->from, tx->connection, read, tx->problem) ||
        !copy_sequences(c->from, tx->connection, tx->problem) ||
        !copy_tables(c, tx->connection, NULL, written, tx->problem)) {
        return;
    }
    hash_hex(written, sizeof written, c->copied->digest);
    if (memcmp(read, written, sizeof read) != 0) {
        problem_set_permanent(tx->problem, PROBLEM_INTERNAL,
                              "the copy differs from its source: nothing is stored");
    }
}

/* Says which of the two databases cannot be opened. */
static void name_database(const char *which, struct problem *why, struct problem *problem) {
    if (why->type != PROBLEM_NONE) {
        problem_set(problem, why->type, "%s: %s", which,
                    why->detail != NULL ? why->detail : "out of memory");
        problem->permanent = why->permanent;
    }
    problem_done(why);
}

bool store_copy(const char *from, const char *to, struct store_copied *copied,
                struct problem *problem) {
    const struct store_settings settings = {.path = to, .alone = true};
    struct store *source = NULL, *target = NULL;
    struct store_read r;
    struct problem why = {0};
    struct copying c = {.copied = copied, .digest = hash_blake2b_new()};
    if (c.digest == NULL) {
        return problem_no_memory(problem);
    }
    if (store_open_reader(from, &source, &why) && store_read_begin(&r, source, &why)) {
        c.from = r.connection;
        STORE_RUN(c.from, problem, NO_TIME_LIMIT, STORE_NO_VALUES);
        if (problem->type == PROBLEM_NONE && store_open(&settings, &target, &why)) {
            (void)store_write(target, copy_all, &c, problem);
        }
        (void)store_read_end(&r);
        name_database("the target of the copy", &why, problem);
    } else {
        name_database("the source of the copy", &why, problem);
    }
    store_close(target);
    store_close_reader(source);
    hash_blake2b_free(c.digest);
    return problem->type == PROBLEM_NONE;
}
