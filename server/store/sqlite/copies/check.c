/* Checks a database. The statements are made from the tables that the file has, so that databases
 * of earlier releases and tables of later ones are checked too: each table with a column crc,
 * except blobs, has the row_crc of its other columns in it.
 *
 * The check is made of many statements, each a short read, so that a daemon can restart its log
 * between them. Only PRAGMA integrity_check reads the whole file in one. Counts are compared in one
 * transaction. */
#include "base/hash.h"
#include "store/sqlite/copies/source.h"
#include "store/sqlite/file/migrate.h"
#include "store/sqlite/sqlite.h"
#include "store/tables/audit.h"
#include "store/tables/parts.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_FAULTS = 1000, /* faults of one part of the check that are reported one by one */
    MOST_TABLES = 64,
    BLOBS_AT_ONCE = 64 /* rows of blobs that one read transaction checks */
};

struct checking {
    struct store_connection *c;
    struct store_check *check;
    struct problem *problem;
    int64_t n_faults; /* of this part */
    struct buf sql;   /* of this statement */
};

/* A table of the database. */
struct table {
    char name[64];
    char key[256];       /* SQL: the key of the row as text, with the alias t */
    struct buf computed; /* SQL: row_crc of the row, with the alias t; empty: no checksum */
};

/* ---- reports ---- */

static void report(struct checking *k, bool fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void report(struct checking *k, bool fault, const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    const char *line = buf_cstr(&text);
    if (line == NULL) {
        (void)problem_no_memory(k->problem);
    } else if (!fault) {
        k->check->passed(k->check->arg, line);
    } else {
        k->n_faults += 1;
        k->check->n_faults += 1;
        if (k->n_faults <= MOST_FAULTS) {
            k->check->fault(k->check->arg, line);
        }
    }
    buf_done(&text);
}

/* Ends a part of the check. */
static void part_end(struct checking *k, const char *part) {
    struct buf text = {0};
    if (k->n_faults > MOST_FAULTS) {
        buf_printf(&text, "%s: %" PRId64 " more faults", part, k->n_faults - MOST_FAULTS);
        const char *line = buf_cstr(&text);
        if (line != NULL) {
            k->check->fault(k->check->arg, line);
        }
    }
    buf_done(&text);
    k->n_faults = 0;
}

/* ---- statements ---- */

/* Reports a failed statement: as a fault if the file is damaged, otherwise as the problem. */
static void failed(struct checking *k, int code, const char *what) {
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* a damaged schema: the statement does not fit it */
    case SQLITE_FORMAT:
        report(k, true, "%s cannot be read: %s", what, sqlite3_errmsg(store_sqlite_db(k->c)));
        break;
    case SQLITE_IOERR:
        report(k, true, "%s cannot be read: %s (%s)", what, sqlite3_errmsg(store_sqlite_db(k->c)),
               strerror(sqlite3_system_errno(store_sqlite_db(k->c))));
        break;
    default:
        (void)store_sqlite_failed(k->c, code, what, k->problem);
    }
}

typedef void (*row_fn)(struct checking *k, sqlite3_stmt *row, void *arg);

/* Runs the statement k->sql and calls fn for each row. what: named if it fails. Returns false if it
 * did not reach its end. */
static bool each(struct checking *k, const char *what, row_fn fn, void *arg) {
    sqlite3_stmt *statement = NULL;
    const char *sql = buf_cstr(&k->sql);
    if (k->problem->type != PROBLEM_NONE) {
        return false;
    }
    if (sql == NULL) {
        return problem_no_memory(k->problem);
    }
    int code = sqlite3_prepare_v2(store_sqlite_db(k->c), sql, -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        fn(k, statement, arg);
        code = k->problem->type == PROBLEM_NONE ? SQLITE_OK : SQLITE_DONE;
    }
    if (code != SQLITE_DONE) {
        failed(k, code, what);
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE && k->problem->type == PROBLEM_NONE;
}

static void sql_set(struct checking *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void sql_set(struct checking *k, const char *format, ...) {
    va_list args;
    buf_clear(&k->sql);
    va_start(args, format);
    buf_vprintf(&k->sql, format, args);
    va_end(args);
}

static const char *text_at(sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "NULL";
}

/* A row of one column: a fault. */
static void take_fault(struct checking *k, sqlite3_stmt *row, void *arg) {
    (void)arg;
    report(k, true, "%s", text_at(row, 0));
}

static void take_number(struct checking *k, sqlite3_stmt *row, void *arg) {
    (void)k;
    *(int64_t *)arg = sqlite3_column_int64(row, 0);
}

static int64_t number(struct checking *k, const char *what, const char *sql) {
    int64_t n = 0;
    sql_set(k, "%s", sql);
    (void)each(k, what, take_number, &n);
    return n;
}

/* ---- pages and references ---- */

/* A row of integrity_check: lines, the first of which may name the database. */
static void take_page_faults(struct checking *k, sqlite3_stmt *row, void *arg) {
    (void)arg;
    const char *text = text_at(row, 0);
    if (strcmp(text, "ok") == 0) {
        return;
    }
    while (*text != '\0') {
        const int n = (int)strcspn(text, "\n");
        if (strncmp(text, "*** ", 4) != 0 && n > 0) {
            report(k, true, "pages: %.*s", n, text);
        }
        text += n + (text[n] == '\n');
    }
}

static void check_pages(struct checking *k) {
    sql_set(k, "PRAGMA integrity_check(%d)", MOST_FAULTS);
    const bool done = each(k, "pages", take_page_faults, NULL);
    if (done && k->n_faults == 0) {
        report(k, false, "pages: %" PRId64, number(k, "pages", "PRAGMA page_count"));
    }
    part_end(k, "pages");
}

static void take_reference(struct checking *k, sqlite3_stmt *row, void *arg) {
    (void)arg;
    report(k, true, "%s, row %s refers to a row of %s that does not exist", text_at(row, 0),
           sqlite3_column_type(row, 1) == SQLITE_NULL ? "(of a table without numbers)"
                                                      : text_at(row, 1),
           text_at(row, 2));
}

static void check_references(struct checking *k) {
    sql_set(k, "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check");
    if (each(k, "references", take_reference, NULL) && k->n_faults == 0) {
        report(k, false, "references between rows: %" PRId64 " kinds",
               number(k, "references",
                      "SELECT count(*) FROM sqlite_schema s, pragma_foreign_key_list(s.name)"
                      " WHERE s.type = 'table'"));
    }
    part_end(k, "references");
}

static void check_migrations(struct checking *k) {
    struct problem own = {0};
    size_t n, done = 0;
    const struct store_migration *list = store_migrations(&n);
    if (!store_migrations_compare(k->c, list, n, &done, &own)) {
        report(k, true, "migrations: %s", own.detail != NULL ? own.detail : "out of memory");
    } else if (done == n) {
        report(k, false, "migrations: %zu", done);
    } else {
        report(k, false, "migrations: %zu; the daemon will upgrade the database with %zu more",
               done, n - done);
    }
    problem_done(&own);
    part_end(k, "migrations");
}

/* ---- rows ---- */

static void take_column(struct checking *k, sqlite3_stmt *row, void *arg) {
    struct table *t = arg;
    (void)k;
    if (strcmp(text_at(row, 0), "crc") != 0) {
        buf_printf(&t->computed, "%st.\"%s\"", t->computed.size > 0 ? ", " : "", text_at(row, 0));
    }
}

static void take_key(struct checking *k, sqlite3_stmt *row, void *arg) {
    struct table *t = arg;
    const size_t used = strlen(t->key);
    (void)k;
    (void)snprintf(t->key + used, sizeof t->key - used, "%squote(t.\"%s\")",
                   used > 0 ? " || '/' || " : "", text_at(row, 0));
}

/* Reads key and columns of the table t->name. */
static bool table_read(struct checking *k, struct table *t) {
    sql_set(k,
            "SELECT name FROM pragma_table_info('%s') WHERE EXISTS (SELECT 1 FROM "
            "pragma_table_info('%s') WHERE name = 'crc') ORDER BY cid",
            t->name, t->name);
    if (!each(k, t->name, take_column, t)) {
        return false;
    }
    sql_set(k, "SELECT name FROM pragma_table_info('%s') WHERE pk > 0 ORDER BY pk", t->name);
    return each(k, t->name, take_key, t) && (!t->computed.failed || problem_no_memory(k->problem));
}

/* Checks the checksums of a table's rows. */
static void check_rows(struct checking *k, struct table *t) {
    int64_t n = 0;
    sql_set(k, "SELECT count(*) FROM \"%s\"", t->name);
    bool done = each(k, t->name, take_number, &n);
    if (done && t->computed.size > 0) {
        sql_set(k,
                "SELECT '%s, row ' || %s || ' does not match its checksum' FROM \"%s\" t "
                "WHERE t.crc IS NOT row_crc(%s)",
                t->name, t->key[0] != '\0' ? t->key : "'?'", t->name, buf_cstr(&t->computed));
        done = each(k, t->name, take_fault, NULL);
    }
    if (done && k->n_faults == 0) {
        report(k, false, "%s: %" PRId64 " rows%s", t->name, n,
               t->computed.size > 0 ? "" : ", which have no checksums");
    }
    part_end(k, t->name);
}

struct names {
    char name[MOST_TABLES][64];
    size_t n;
};

static void take_name(struct checking *k, sqlite3_stmt *row, void *arg) {
    struct names *names = arg;
    const char *name = text_at(row, 0);
    if (names->n < MOST_TABLES && strlen(name) < sizeof names->name[0] &&
        strpbrk(name, "'\"") == NULL) {
        (void)snprintf(names->name[names->n++], sizeof names->name[0], "%s", name);
    } else {
        report(k, true, "tables: \"%s\" is not checked", name);
    }
}

static void check_tables(struct checking *k) {
    struct names names = {.n = 0};
    sql_set(k, "SELECT name FROM sqlite_schema WHERE type = 'table' AND substr(name, 1, 7) <> "
               "'sqlite_' AND name NOT IN ('migrations', 'blobs', 'audit', 'audit_anchor') ORDER "
               "BY name");
    (void)each(k, "tables", take_name, &names);
    part_end(k, "tables");
    for (size_t i = 0; i < names.n && k->problem->type == PROBLEM_NONE; i++) {
        struct table t = {0};
        (void)snprintf(t.name, sizeof t.name, "%s", names.name[i]);
        if (table_read(k, &t)) {
            check_rows(k, &t);
        }
        part_end(k, t.name);
        buf_done(&t.computed);
    }
}

/* ---- blobs ---- */

struct blobs {
    int64_t last; /* id of the last one */
    int64_t n, bytes;
    size_t taken; /* by this statement */
};

static void take_place(struct checking *k, sqlite3_stmt *row, void *arg) {
    (void)k;
    (void)snprintf(arg, 100, " (part %s, chunk %s, column %s)", text_at(row, 0), text_at(row, 1),
                   text_at(row, 2));
}

static void take_blob(struct checking *k, sqlite3_stmt *row, void *arg) {
    struct blobs *b = arg;
    const void *bytes = sqlite3_column_blob(row, 2);
    const size_t size = (size_t)sqlite3_column_bytes(row, 2);
    char place[100] = "";
    b->last = sqlite3_column_int64(row, 0);
    b->n += 1;
    b->bytes += (int64_t)size;
    b->taken += 1;
    if (bytes == NULL && size > 0) {
        (void)problem_no_memory(k->problem);
    } else if (sqlite3_column_type(row, 1) != SQLITE_INTEGER ||
               sqlite3_column_int64(row, 1) != (int64_t)hash_crc32(size > 0 ? bytes : "", size)) {
        sql_set(k,
                "SELECT part, chunk, %" PRId64 " - first_blob FROM chunks WHERE %" PRId64
                " >= first_blob AND %" PRId64 " < first_blob + n_blobs",
                b->last, b->last, b->last);
        (void)each(k, "chunks", take_place, place);
        report(k, true, "blobs, row %" PRId64 "%s does not match its checksum", b->last, place);
    }
}

static void check_blobs(struct checking *k) {
    struct blobs b = {.last = INT64_MIN};
    bool done;
    do {
        b.taken = 0;
        sql_set(k, "SELECT id, crc, bytes FROM blobs WHERE id > %" PRId64 " ORDER BY id LIMIT %d",
                b.last, BLOBS_AT_ONCE);
        done = each(k, "blobs", take_blob, &b);
    } while (done && b.taken > 0);
    if (done && k->n_faults == 0) {
        report(k, false, "blobs: %" PRId64 " rows, %.1f MiB", b.n,
               (double)b.bytes / (1024.0 * 1024.0));
    }
    part_end(k, "blobs");
}

/* ---- counts ---- */

/* SQL of conditions: the row "t" of the table has its checksum, or the table has none. A damaged
 * row is reported once, by check_rows. */
struct intact {
    struct buf datasets, versions, places, parts, chunks, models, model_versions;
};

static void intact_of(struct checking *k, const char *table, struct buf *out) {
    struct table t = {0};
    (void)snprintf(t.name, sizeof t.name, "%s", table);
    if (table_read(k, &t) && t.computed.size > 0) {
        buf_printf(out, "t.crc IS row_crc(%s)", buf_cstr(&t.computed));
    } else {
        buf_puts(out, "1");
    }
    buf_done(&t.computed);
    if (buf_cstr(out) == NULL) {
        (void)problem_no_memory(k->problem);
    }
}

/* Chunks against blobs. */
static void check_chunks(struct checking *k, struct intact *i) {
    sql_set(
        k,
        "SELECT 'chunks, row ' || part || '/' || chunk || ' has ' || n || ' blobs of ' || size "
        "|| ' bytes, not ' || n_blobs || ' of ' || bytes FROM (SELECT part, chunk, n_blobs, "
        "bytes, (SELECT count(*) FROM blobs b WHERE b.id >= first_blob AND b.id < first_blob + "
        "n_blobs) AS n, (SELECT coalesce(sum(length(b.bytes)), 0) FROM blobs b WHERE b.id >= "
        "first_blob AND b.id < first_blob + n_blobs) AS size FROM chunks t WHERE %s) WHERE n <> "
        "n_blobs OR size <> bytes",
        buf_cstr(&i->chunks));
    if (!each(k, "chunks", take_fault, NULL) || k->n_faults > 0) {
        return;
    }
    sql_set(
        k,
        "SELECT 'blobs: ' || n || ' rows belong to no chunk' FROM (SELECT (SELECT count(*) FROM "
        "blobs) - (SELECT coalesce(sum(n_blobs), 0) FROM chunks) AS n) WHERE n <> 0 AND NOT "
        "EXISTS (SELECT 1 FROM chunks t WHERE NOT (%s))",
        buf_cstr(&i->chunks));
    (void)each(k, "blobs", take_fault, NULL);
}

/* Versions of datasets and models against chunks. */
static void check_versions(struct checking *k, struct intact *i) {
    sql_set(
        k,
        "SELECT 'dataset_versions, row ' || id || ': its chunks have ' || n || ' rows, not ' || "
        "n_rows FROM (SELECT id, n_rows, (SELECT coalesce(sum(c.n_rows), 0) FROM dataset_parts "
        "p JOIN chunks c ON c.part = p.part WHERE p.version = t.id) AS n FROM dataset_versions "
        "t WHERE hidden = 0 AND %s) v WHERE n <> n_rows AND NOT EXISTS (SELECT 1 FROM "
        "dataset_parts t WHERE t.version = v.id AND NOT (%s)) AND NOT EXISTS (SELECT 1 FROM "
        "dataset_parts p JOIN chunks t ON t.part = p.part WHERE p.version = v.id AND NOT (%s))",
        buf_cstr(&i->versions), buf_cstr(&i->places), buf_cstr(&i->chunks));
    (void)each(k, "dataset_versions", take_fault, NULL);
    sql_set(k,
            "SELECT DISTINCT 'dataset_versions, row ' || v.id || ': a chunk of part ' || t.part || "
            "' has ' || t.n_blobs || ' columns, not ' || v.n_cols FROM (SELECT * FROM "
            "dataset_versions t WHERE hidden = 0 AND %s) v JOIN dataset_parts p ON p.version = "
            "v.id JOIN chunks t ON t.part = p.part WHERE t.n_blobs <> v.n_cols AND %s",
            buf_cstr(&i->versions), buf_cstr(&i->chunks));
    (void)each(k, "dataset_versions", take_fault, NULL);
    sql_set(k,
            "SELECT 'model_versions, row ' || id || ': its chunks have ' || n || ' bytes, not ' || "
            "bytes FROM (SELECT id, part, bytes, (SELECT coalesce(sum(c.bytes), 0) FROM chunks c "
            "WHERE c.part = t.part AND c.n_rows = 0) AS n FROM model_versions t WHERE %s) v WHERE "
            "n <> bytes AND NOT "
            "EXISTS (SELECT 1 FROM chunks t WHERE t.part = v.part AND NOT (%s))",
            buf_cstr(&i->model_versions), buf_cstr(&i->chunks));
    (void)each(k, "model_versions", take_fault, NULL);
    sql_set(k,
            "SELECT 'parts, row ' || t.id || ' is of a version, but is in state ' || t.state FROM "
            "parts t WHERE t.state <> %d AND %s AND (t.id IN (SELECT p.part FROM dataset_parts p "
            "JOIN dataset_versions v ON v.id = p.version WHERE v.hidden = 0) OR t.id IN (SELECT "
            "part FROM model_versions))",
            STORE_PART_PUBLISHED, buf_cstr(&i->parts));
    (void)each(k, "parts", take_fault, NULL);
}

/* Names against versions. */
static void check_names(struct checking *k, struct intact *i) {
    sql_set(k,
            "SELECT 'datasets, row ' || quote(name) || ': the newest version is ' || n || ', not ' "
            "|| newest FROM (SELECT name, newest, (SELECT coalesce(max(v.version), 0) FROM "
            "dataset_versions v WHERE v.name = t.name AND v.hidden = 0) AS n FROM datasets t WHERE "
            "%s) d WHERE n <> newest AND NOT EXISTS (SELECT 1 FROM dataset_versions t WHERE t.name "
            "= d.name AND NOT (%s))",
            buf_cstr(&i->datasets), buf_cstr(&i->versions));
    (void)each(k, "datasets", take_fault, NULL);
    sql_set(k,
            "SELECT 'models, row ' || quote(name) || ': version ' || live || ', the live one, is "
            "missing' FROM (SELECT * FROM models t WHERE %s) m WHERE live <> 0 AND NOT EXISTS "
            "(SELECT 1 FROM model_versions t WHERE t.name = m.name AND (t.version = m.live OR NOT "
            "(%s)))",
            buf_cstr(&i->models), buf_cstr(&i->model_versions));
    (void)each(k, "models", take_fault, NULL);
    sql_set(
        k,
        "SELECT 'models, row ' || quote(name) || ': the newest version is ' || n || ', not ' || "
        "newest FROM (SELECT name, newest, (SELECT coalesce(max(v.version), 0) FROM "
        "model_versions v WHERE v.name = t.name) AS n FROM models t WHERE %s) m WHERE n <> "
        "newest AND NOT EXISTS (SELECT 1 FROM model_versions t WHERE t.name = m.name AND NOT "
        "(%s))",
        buf_cstr(&i->models), buf_cstr(&i->model_versions));
    (void)each(k, "models", take_fault, NULL);
}

/* In one transaction: a daemon may change what is compared. */
static void check_counts(struct checking *k) {
    struct intact i = {0};
    intact_of(k, "datasets", &i.datasets);
    intact_of(k, "dataset_versions", &i.versions);
    intact_of(k, "dataset_parts", &i.places);
    intact_of(k, "parts", &i.parts);
    intact_of(k, "chunks", &i.chunks);
    intact_of(k, "models", &i.models);
    intact_of(k, "model_versions", &i.model_versions);
    if (k->n_faults == 0 && store_sqlite_exec(k->c, "BEGIN", k->problem)) {
        check_chunks(k, &i);
        check_versions(k, &i);
        check_names(k, &i);
        if (k->n_faults == 0) {
            const int64_t datasets = number(k, "dataset_versions",
                                            "SELECT count(*) FROM dataset_versions"),
                          models =
                              number(k, "model_versions", "SELECT count(*) FROM model_versions"),
                          chunks = number(k, "chunks", "SELECT count(*) FROM chunks");
            report(k, false,
                   "counts: %" PRId64 " versions of datasets and %" PRId64
                   " of models against %" PRId64 " chunks",
                   datasets, models, chunks);
        }
        (void)sqlite3_exec(store_sqlite_db(k->c), "COMMIT", NULL, NULL, NULL);
    }
    part_end(k, "counts");
    struct buf *const all[] = {&i.datasets, &i.versions, &i.places,        &i.parts,
                               &i.chunks,   &i.models,   &i.model_versions};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++) {
        buf_done(all[n]);
    }
}

/* ---- audit ---- */

static void take_audit_fault(void *arg, const char *text) {
    report(arg, true, "audit: %s", text);
}

/* A database of a release before the audit has none. */
static void check_audit(struct checking *k) {
    const struct store_audit_sink sink = {take_audit_fault, k};
    struct store_audit_report audit;
    struct problem own = {0};
    if (number(k, "audit",
               "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
               "('audit', 'audit_anchor')") == 2) {
        if (!store_audit_check(k->c, NULL, &sink, &audit, &own)) {
            if (own.permanent) {
                report(k, true, "audit cannot be read: %s", own.detail != NULL ? own.detail : "");
                problem_done(&own);
            } else {
                problem_move(k->problem, &own);
            }
        } else if (audit.n_faults == 0) {
            report(k, false, "audit: %" PRId64 " entries", audit.n_entries);
        }
    }
    part_end(k, "audit");
}

bool store_sqlite_check(const char *path, struct store_check *check, struct problem *problem) {
    struct checking k = {.check = check, .problem = problem};
    struct problem own = {0};
    k.c = store_source_open(path, &own);
    if (k.c == NULL && own.permanent) { /* SQLite cannot read the schema */
        report(&k, true, "pages: %s", own.detail != NULL ? own.detail : "out of memory");
        problem_done(&own);
        return problem->type == PROBLEM_NONE;
    }
    if (k.c == NULL) {
        problem_move(problem, &own);
        return false;
    }
    void (*const parts[])(struct checking *) = {check_pages,  check_references, check_migrations,
                                                check_tables, check_blobs,      check_counts,
                                                check_audit};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && problem->type == PROBLEM_NONE; i++) {
        parts[i](&k);
    }
    buf_done(&k.sql);
    store_sqlite_disconnect(k.c);
    return problem->type == PROBLEM_NONE;
}
