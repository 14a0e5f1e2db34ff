/* Adds, deletes and lists entries of the audit. */
#include "store/tables/audit.h"
#include "store/tables/audit_hash.h"
#include "store/tables/page.h"
#include <ctype.h>
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
                " ORDER BY seq DESC LIMIT 1) AS a UNION ALL SELECT seq, hash FROM audit_anchor "
                "WHERE " STORE_IS_INTEGER("seq") " AND seq < " SEQ_MAX " ORDER BY seq DESC LIMIT 1",
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

/* Finds the model of a job. The caller frees it; NULL: there is no such job. */
static char *find_model(struct store_tx *tx, int64_t job) {
    struct store_query q;
    char *model = NULL;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT model FROM jobs WHERE id = ? AND " STORE_IS_TEXT("model"), store_int(job));
    if (store_query_row(&q)) {
        model = store_query_take(&q, 0);
    }
    store_query_end(&q);
    return model;
}

static void hash_or_null(struct store_audit_hash *h, int64_t value) {
    if (value != 0) {
        store_audit_hash_int(h, value);
    } else {
        store_audit_hash_text(h, NULL);
    }
}

/* Returns the number of the new entry. */
static int64_t insert(struct store_tx *tx, const struct store_audit_new *e) {
    struct last last;
    struct store_audit_hash h = {0};
    uint8_t hash[HASH_BLAKE2B_SIZE];
    find_last(tx, &last);
    char *model = e->name == NULL && e->job != 0 ? find_model(tx, e->job) : NULL;
    const char *name = e->name != NULL ? e->name : model;
    const int64_t seq = last.seq + 1, count = e->count > 0 ? e->count : 1;
    store_audit_hash_previous(&h, last.hash, last.n_hash);
    store_audit_hash_int(&h, seq);
    store_audit_hash_int(&h, tx->now);
    store_audit_hash_text(&h, e->by.token);
    store_audit_hash_text(&h, e->by.client);
    store_audit_hash_text(&h, e->by.request);
    store_audit_hash_text(&h, e->action);
    store_audit_hash_text(&h, e->kind);
    store_audit_hash_text(&h, name);
    hash_or_null(&h, e->version);
    hash_or_null(&h, e->job);
    store_audit_hash_text(&h, e->result);
    store_audit_hash_int(&h, count);
    store_audit_hash_text(&h, e->detail);
    if (!store_audit_hash_end(&h, hash)) {
        problem_no_memory(tx->problem);
    }
    STORE_RUN(tx->connection, tx->problem,
              "INSERT INTO audit (seq, at, token, client, request, action, kind, name, version, "
              "job, result, count, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
              "nullif(?9, 0), nullif(?10, 0), ?11, ?12, ?13, ?14)",
              store_int(seq), store_int(tx->now), store_text(e->by.token), store_text(e->by.client),
              store_text(e->by.request), store_text(e->action), store_text(e->kind),
              store_text(name), store_int(e->version), store_int(e->job), store_text(e->result),
              store_int(count), store_text(e->detail), store_bytes(hash, sizeof hash));
    free(model);
    return seq;
}

/* Writes a hash in hexadecimal digits; "" for another size. */
static void write_hash(struct store_query *q, int column, char out[HASH_BLAKE2B_TEXT]) {
    size_t size;
    const void *hash = store_query_bytes(q, column, &size);
    out[0] = '\0';
    if (hash != NULL && size == HASH_BLAKE2B_SIZE) {
        hash_hex(hash, size, out);
    }
}

/* Writes where a chain begins, as the entry "audit.prune" notes it. */
static void write_anchor(struct buf *out, int64_t seq, const char *hash) {
    buf_printf(out, "%" PRId64 " %s", seq, hash);
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
                  "SELECT seq FROM audit_anchor WHERE " STORE_IS_INTEGER("seq") " AND seq BETWEEN "
                                                                                "0 AND ?",
                  store_int(seq));
    if (n <= keep + keep / 10) {
        return;
    }
    const int64_t surplus = n - keep < PRUNE_AT_ONCE ? n - keep : PRUNE_AT_ONCE;
    struct buf anchor = {0};
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "UPDATE audit_anchor SET (seq, hash) = (SELECT seq, hash FROM audit WHERE seq >= "
                "audit_anchor.seq + ?1 ORDER BY seq LIMIT 1) RETURNING seq, hash",
                store_int(surplus));
    while (store_query_row(&q)) {
        char hash[HASH_BLAKE2B_TEXT];
        write_hash(&q, 1, hash);
        buf_clear(&anchor);
        write_anchor(&anchor, store_query_int(&q, 0), hash);
    }
    store_query_end(&q);
    int64_t deleted = 0;
    STORE_RUN_COUNT(tx->connection, tx->problem, &deleted,
                    "DELETE FROM audit WHERE seq <= (SELECT seq FROM audit_anchor)",
                    STORE_NO_VALUES);
    const struct store_audit_new entry = {.action = "audit.prune",
                                          .result = "done",
                                          .count = deleted,
                                          .detail = buf_cstr(&anchor)};
    (void)insert(tx, &entry);
    buf_done(&anchor);
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

/* The columns of an entry in the order of its hash, its hash and that of the entry before. */
#define ENTRY                                                                                      \
    "seq, at, token, client, request, action, kind, name, version, job, result, count, detail, "   \
    "hash, coalesce((SELECT p.hash FROM audit p WHERE p.seq = a.seq - 1), (SELECT n.hash FROM "    \
    "audit_anchor n WHERE n.seq = a.seq - 1))"
enum { N_VALUES = 13, HASH = N_VALUES, PREVIOUS };

#define LIST(name)                                                                                 \
    "SELECT " ENTRY " FROM audit a WHERE seq < ?1 AND at >= ?2 AND " name                          \
    " AND (?4 IS NULL OR token = ?4) AND (?5 IS NULL OR action = ?5) ORDER BY seq DESC LIMIT ?6"

/* Whether the hash of the entry fits its values and the hash of the entry before. */
static bool is_intact(struct store_query *q) {
    struct store_audit_hash h = {0};
    uint8_t expected[HASH_BLAKE2B_SIZE];
    size_t size;
    const void *previous = store_query_bytes(q, PREVIOUS, &size);
    store_audit_hash_previous(&h, previous, size);
    for (int i = 0; i < N_VALUES; i++) {
        store_audit_hash_column(&h, q, i);
    }
    if (!store_audit_hash_end(&h, expected)) {
        return problem_no_memory(q->problem);
    }
    const void *hash = store_query_bytes(q, HASH, &size);
    return hash != NULL && size == sizeof expected && memcmp(hash, expected, size) == 0;
}

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
                                    .intact = is_intact(q)};
    write_hash(q, HASH, e->hash);
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
                "SELECT coalesce((SELECT min(seq) FROM audit), 0), seq, hash FROM (SELECT seq, "
                "hash FROM audit ORDER BY seq DESC LIMIT 1) AS a UNION ALL SELECT 0, seq, hash "
                "FROM audit_anchor LIMIT 1",
                STORE_NO_VALUES);
    *out = (struct store_audit_head){0};
    if (store_query_row(&q)) {
        out->first = store_query_int(&q, 0);
        out->seq = store_query_int(&q, 1);
        write_hash(&q, 2, out->hash);
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
    STORE_QUERY(&q, c, problem, "SELECT " ENTRY " FROM audit a ORDER BY seq", STORE_NO_VALUES);
    while (store_query_row(&q)) {
        const int64_t seq = store_query_int(&q, 0);
        if (last == INT64_MAX || seq != last + 1) { /* damaged numbers may be any */
            add_fault(k, "entry %" PRId64 " follows entry %" PRId64, seq, last);
        } else if (!is_intact(&q) && problem->type == PROBLEM_NONE) {
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
    struct store_query q;
    struct buf anchor = {0}, noted = {0};
    int n = 0;
    STORE_QUERY(&q, c, problem, "SELECT seq, hash FROM audit_anchor", STORE_NO_VALUES);
    for (; store_query_row(&q); n++) {
        char hash[HASH_BLAKE2B_TEXT];
        write_hash(&q, 1, hash);
        buf_clear(&anchor);
        write_anchor(&anchor, store_query_int(&q, 0), hash);
        n += store_query_kind(&q, 0) != STORE_INTEGER; /* it is damaged */
    }
    store_query_end(&q);
    STORE_QUERY(&q, c, problem,
                "SELECT detail FROM audit WHERE action = 'audit.prune' ORDER BY seq DESC LIMIT 1",
                STORE_NO_VALUES);
    if (store_query_row(&q)) {
        const char *detail = store_query_text(&q, 0);
        buf_puts(&noted, detail != NULL ? detail : "");
    } else {
        static const uint8_t none[HASH_BLAKE2B_SIZE];
        char hash[HASH_BLAKE2B_TEXT];
        hash_hex(none, sizeof none, hash);
        write_anchor(&noted, 0, hash);
    }
    store_query_end(&q);
    const char *found = buf_cstr(&anchor), *expected = buf_cstr(&noted);
    if (found == NULL || expected == NULL) {
        problem_no_memory(problem);
    } else if (problem->type == PROBLEM_NONE && (n != 1 || strcmp(found, expected) != 0)) {
        add_fault(k, "the anchor, the hash before the first entry, is not the one that the last "
                     "deletion of old entries noted");
    }
    buf_done(&anchor);
    buf_done(&noted);
}

/* Reads a hash in hexadecimal digits. Returns false if the text is none. */
static bool read_hash(const char *text, uint8_t out[HASH_BLAKE2B_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    bool good = strlen(text) == 2 * HASH_BLAKE2B_SIZE;
    for (size_t i = 0; good && i < 2 * HASH_BLAKE2B_SIZE; i++) {
        const char *digit = strchr(digits, tolower((unsigned char)text[i]));
        good = digit != NULL;
        out[i / 2] = (uint8_t)(i % 2 == 0 ? 16 * (good ? digit - digits : 0)
                                          : out[i / 2] + (good ? digit - digits : 0));
    }
    return good;
}

static bool has_hash(struct store_connection *c, const char *text, struct problem *problem) {
    uint8_t hash[HASH_BLAKE2B_SIZE];
    return read_hash(text, hash) &&
           STORE_ASK(c, problem, 0,
                     "SELECT EXISTS (SELECT 1 FROM audit WHERE hash = ?1) OR EXISTS (SELECT 1 FROM "
                     "audit_anchor WHERE hash = ?1)",
                     store_bytes(hash, sizeof hash)) != 0;
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
    if (known != NULL && !has_hash(c, known, problem) && problem->type == PROBLEM_NONE) {
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

bool store_audit_verify(const char *path, const char *known, struct store_audit_report *out,
                        struct problem *problem) {
    const struct store_engine *engine = store_engine_of(path);
    struct store_connection *c = engine->inspect(path, problem);
    if (c == NULL) {
        return false;
    }
    const bool good = store_audit_check(c, known, NULL, out, problem);
    engine->disconnect(c);
    return good;
}
