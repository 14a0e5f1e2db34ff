/* Adds, deletes and lists entries of the audit. */
#include "store/tables/audit.h"
#include "base/hash.h"
#include "store/tables/page.h"
#include <inttypes.h>

/* A damaged number above this is not continued. */
#define SEQ_MAX "9007199254740991"
/* Entries that one transaction deletes at most. */
enum { PRUNE_AT_ONCE = 2000 };

/* ---- add ---- */

/* The entry that the next one follows. */
struct last {
    int64_t seq;
    uint8_t hash[HASH_BLAKE2B_SIZE];
    size_t n_hash; /* another size if the entry is damaged */
};

/* Finds the newest entry; without entries, the anchor. */
static void find_last(struct store_tx *tx, struct last *out) {
    struct store_query q;
    *out = (struct last){.n_hash = sizeof out->hash};
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT * FROM (SELECT seq, hash FROM audit WHERE seq < " SEQ_MAX
                " ORDER BY seq DESC LIMIT 1) UNION ALL SELECT seq, hash FROM audit_anchor WHERE "
                "typeof(seq) = 'integer' AND seq < " SEQ_MAX " ORDER BY seq DESC LIMIT 1",
                STORE_NO_VALUES);
    if (store_query_row(&q)) {
        size_t n;
        const void *hash = store_query_bytes(&q, 1, &n);
        out->seq = store_query_int(&q, 0) > 0 ? store_query_int(&q, 0) : 0;
        out->n_hash = hash == NULL ? 0 : n < sizeof out->hash ? n : sizeof out->hash;
        if (out->n_hash > 0) {
            memcpy(out->hash, hash, out->n_hash);
        }
    }
    store_query_end(&q);
}

/* Returns the number of the new entry. */
static int64_t insert(struct store_tx *tx, const struct store_audit_new *e) {
    struct last last;
    find_last(tx, &last);
    STORE_RUN(tx->connection, tx->problem,
              "INSERT INTO audit (seq, at, token, client, request, action, kind, name, version, "
              "job, result, count, detail, hash) SELECT *, audit_hash(?14, seq, at, token, client, "
              "request, action, kind, name, version, job, result, count, detail) FROM (SELECT ?1 "
              "AS seq, ?2 AS at, ?3 AS token, ?4 AS client, ?5 AS request, ?6 AS action, ?7 AS "
              "kind, coalesce(?8, (SELECT CASE typeof(model) WHEN 'text' THEN model END FROM jobs "
              "WHERE id = ?10)) AS name, nullif(?9, 0) AS version, nullif(?10, 0) AS job, ?11 AS "
              "result, ?12 AS count, ?13 AS detail)",
              store_int(last.seq + 1), store_int(tx->now), store_text(e->by.token),
              store_text(e->by.client), store_text(e->by.request), store_text(e->action),
              store_text(e->kind), store_text(e->name), store_int(e->version), store_int(e->job),
              store_text(e->result), store_int(e->count > 0 ? e->count : 1), store_text(e->detail),
              store_bytes(last.hash, last.n_hash));
    return last.seq + 1;
}

/* Deletes the oldest entries, if there are a tenth more than keep_audit, and notes in an entry
 * where the chain now begins. */
static void prune(struct store_tx *tx, int64_t seq) {
    const int64_t keep = tx->store->keep_audit;
    if (keep == 0) {
        return;
    }
    /* a damaged anchor does not move */
    const int64_t n =
        seq -
        STORE_ASK(tx->connection, tx->problem, seq,
                  "SELECT seq FROM audit_anchor WHERE typeof(seq) = 'integer' AND seq BETWEEN "
                  "0 AND ?",
                  store_int(seq));
    if (n <= keep + keep / 10) {
        return;
    }
    const int64_t surplus = n - keep < PRUNE_AT_ONCE ? n - keep : PRUNE_AT_ONCE;
    char *anchor = NULL;
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "UPDATE audit_anchor SET (seq, hash) = (SELECT seq, hash FROM audit WHERE seq >= "
                "audit_anchor.seq + ?1 ORDER BY seq LIMIT 1) RETURNING seq || ' ' || "
                "lower(hex(hash))",
                store_int(surplus));
    while (store_query_row(&q)) {
        free(anchor);
        anchor = store_query_take(&q, 0);
    }
    store_query_end(&q);
    int64_t deleted = 0;
    STORE_RUN_COUNT(tx->connection, tx->problem, &deleted,
                    "DELETE FROM audit WHERE seq <= (SELECT seq FROM audit_anchor)",
                    STORE_NO_VALUES);
    const struct store_audit_new entry = {.action = "audit.prune",
                                          .result = "done",
                                          .count = deleted,
                                          .detail = anchor};
    (void)insert(tx, &entry);
    free(anchor);
}

void store_audit(struct store_tx *tx, const struct store_audit_new *entry) {
    if (tx->problem->type == PROBLEM_NONE) {
        prune(tx, insert(tx, entry));
    }
}

static void add(struct store_tx *tx, void *arg) {
    store_audit(tx, arg);
}

bool store_audit_add(struct store *store, const struct store_audit_new *entry,
                     struct problem *problem) {
    struct store_audit_new e = *entry;
    return store_write(store, add, &e, problem);
}

void store_audit_job_end(struct store_tx *tx, int64_t job) {
    char owner[IDS_NAME_SIZE] = "";
    struct store_audit_new e = {.action = "job.end", .kind = "job", .job = job};
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT state, version, coalesce(submitted_by, ''), (SELECT live FROM models WHERE "
                "name = model) FROM jobs WHERE id = ?",
                store_int(job));
    if (store_query_row(&q)) {
        const int64_t live = store_query_int(&q, 3);
        e.result = store_job_state_name((enum store_job_state)store_query_int(&q, 0));
        e.version = store_query_int(&q, 1);
        e.detail = e.version == 0 ? NULL : e.version == live ? "live" : "not live";
        store_query_copy(&q, 2, owner, sizeof owner);
        e.by.token = owner[0] != '\0' ? owner : NULL;
    }
    store_query_end(&q);
    if (e.result != NULL) {
        store_audit(tx, &e);
    }
}

/* ---- lists ---- */

#define HASH                                                                                       \
    "audit_hash(coalesce((SELECT p.hash FROM audit p WHERE p.seq = a.seq - 1), (SELECT n.hash "    \
    "FROM audit_anchor n WHERE n.seq = a.seq - 1)), a.seq, a.at, a.token, a.client, a.request, "   \
    "a.action, a.kind, a.name, a.version, a.job, a.result, a.count, a.detail)"

#define LIST(name)                                                                                 \
    "SELECT seq, at, token, client, request, action, kind, name, version, job, result, count, "    \
    "detail, lower(hex(hash)), hash = " HASH " FROM audit a WHERE seq < ?1 AND at >= ?2 AND " name \
    " AND (?4 IS NULL OR token = ?4) AND (?5 IS NULL OR action = ?5) ORDER BY seq DESC LIMIT ?6"

static void entry_done(void *item) {
    struct store_audit_entry *e = item;
    free(e->token);
    free(e->client);
    free(e->request);
    free(e->action);
    free(e->kind);
    free(e->name);
    free(e->result);
    free(e->detail);
    *e = (struct store_audit_entry){0};
}

static bool entry_load(struct store_query *q, void *item) {
    struct store_audit_entry *e = item;
    *e = (struct store_audit_entry){.seq = store_query_int(q, 0),
                                    .at = store_query_int(q, 1),
                                    .token = store_query_take(q, 2),
                                    .client = store_query_take(q, 3),
                                    .request = store_query_take(q, 4),
                                    .action = store_query_take(q, 5),
                                    .kind = store_query_take(q, 6),
                                    .name = store_query_take(q, 7),
                                    .version = store_query_int(q, 8),
                                    .job = store_query_int(q, 9),
                                    .result = store_query_take(q, 10),
                                    .count = store_query_int(q, 11),
                                    .detail = store_query_take(q, 12),
                                    .intact = store_query_int(q, 14) != 0};
    store_query_copy(q, 13, e->hash, sizeof e->hash);
    if (q->problem->type != PROBLEM_NONE) {
        entry_done(e);
        return false;
    }
    return true;
}

static const struct store_item entry_item = {sizeof(struct store_audit_entry), entry_load,
                                             entry_done};

static void read_head(struct store_connection *c, struct store_audit_head *out,
                      struct problem *problem) {
    struct store_query q;
    STORE_QUERY(&q, c, problem,
                "SELECT coalesce((SELECT min(seq) FROM audit), 0), * FROM (SELECT seq, "
                "lower(hex(hash)) FROM audit ORDER BY seq DESC LIMIT 1) UNION ALL SELECT 0, seq, "
                "lower(hex(hash)) FROM audit_anchor LIMIT 1",
                STORE_NO_VALUES);
    *out = (struct store_audit_head){0};
    if (store_query_row(&q)) {
        out->first = store_query_int(&q, 0);
        out->seq = store_query_int(&q, 1);
        store_query_copy(&q, 2, out->hash, sizeof out->hash);
    }
    store_query_end(&q);
}

bool store_audit_list(struct store *store, const struct store_audit_filter *filter,
                      const struct store_limit *limit, struct store_page *out,
                      struct store_audit_head *head, struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    read_head(r.connection, head, problem);
    /* with a name, SQLite reads the index audit_names, which is in the order of seq, too */
    STORE_QUERY(&q, r.connection, problem,
                filter->name != NULL ? LIST("name = ?3") : LIST("?3 IS NULL"),
                store_int(filter->before > 0 ? filter->before : INT64_MAX),
                store_int(filter->since), store_text(filter->name), store_text(filter->token),
                store_text(filter->action), store_page_rows(limit));
    return store_page_end(&r, &q, &entry_item, limit, out);
}

/* ---- check ---- */

struct chain_check {
    struct store_audit_report report;
    const struct store_audit_sink *sink; /* NULL: none */
};

static void add_fault(struct chain_check *k, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_fault(struct chain_check *k, const char *format, ...) {
    char text[sizeof k->report.fault];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (k->report.n_faults++ == 0) {
        memcpy(k->report.fault, text, sizeof text);
    }
    if (k->sink != NULL) {
        k->sink->fault(k->sink->arg, text);
    }
}

/* Checks the numbers and the hashes of the entries. */
static void check_entries(struct store_connection *c, int64_t anchor, struct chain_check *k,
                          struct problem *problem) {
    struct store_query q;
    int64_t last = anchor;
    STORE_QUERY(&q, c, problem, "SELECT seq, hash = " HASH " FROM audit a ORDER BY seq",
                STORE_NO_VALUES);
    while (store_query_row(&q)) {
        const int64_t seq = store_query_int(&q, 0);
        if (last == INT64_MAX || seq != last + 1) { /* damaged numbers may be any */
            add_fault(k, "entry %" PRId64 " follows entry %" PRId64, seq, last);
        } else if (store_query_int(&q, 1) == 0) {
            add_fault(k, "entry %" PRId64 " does not match its hash", seq);
        }
        last = seq;
        k->report.n_entries++;
    }
    store_query_end(&q);
}

/* Checks that the anchor is the one that the newest entry "audit.prune" notes. */
static void check_anchor(struct store_connection *c, struct chain_check *k,
                         struct problem *problem) {
    if (STORE_ASK(c, problem, 0,
                  "SELECT count(*) <> 1 OR coalesce(max(seq || ' ' || lower(hex(hash))), '') <> "
                  "coalesce((SELECT detail FROM audit WHERE action = 'audit.prune' ORDER BY seq "
                  "DESC LIMIT 1), '0 ' || lower(hex(zeroblob(32)))) FROM audit_anchor",
                  STORE_NO_VALUES)) {
        add_fault(k, "the anchor, the hash before the first entry, is not the one that the last "
                     "deletion of old entries noted");
    }
}

bool store_audit_check(struct store_connection *c, const char *known,
                       const struct store_audit_sink *sink, struct store_audit_report *out,
                       struct problem *problem) {
    struct chain_check k = {.sink = sink};
    if (!STORE_RUN(c, problem, "BEGIN", STORE_NO_VALUES)) {
        return false;
    }
    check_entries(c, STORE_ASK(c, problem, 0, "SELECT seq FROM audit_anchor", STORE_NO_VALUES), &k,
                  problem);
    check_anchor(c, &k, problem);
    if (known != NULL &&
        STORE_ASK(c, problem, 0,
                  "SELECT NOT EXISTS (SELECT 1 FROM audit WHERE hex(hash) = upper(?1)) AND NOT "
                  "EXISTS (SELECT 1 FROM audit_anchor WHERE hex(hash) = upper(?1))",
                  store_text(known))) {
        add_fault(&k,
                  "no entry has the hash %.64s: entries at the end are missing, or it was "
                  "deleted as old",
                  known);
    }
    read_head(c, &k.report.head, problem);
    struct problem ignored = {0};
    STORE_RUN(c, &ignored, "COMMIT", STORE_NO_VALUES);
    problem_done(&ignored);
    if (problem->type != PROBLEM_NONE) {
        return false;
    }
    *out = k.report;
    return true;
}
