/* Reads models. */
#include "store/tables/page.h"
#include "store/tables/tables.h"
#include <inttypes.h>

/* For store_unknown. */
#define MODEL_NAMES "SELECT name FROM models WHERE live > 0 LIMIT 10000"

#define VERSION_DAMAGE STORE_DAMAGE_MODEL_VERSIONS("v")
#define RULE_DAMAGE "CASE WHEN r.version IS NOT NULL THEN " STORE_DAMAGE_MODEL_RULES("r") " END"
#define MODEL_DAMAGE "coalesce(" VERSION_DAMAGE ", " STORE_DAMAGE_MODELS("m") ", " RULE_DAMAGE ")"
#define MODEL_SELECT MODEL_SELECT_WITH(MODEL_DAMAGE, "NULL")
/* Of a list, whose WHERE has MODEL_LISTED. */
#define MODEL_SELECT_LISTED MODEL_SELECT_WITH("NULL", "NULL")
#define MODEL_LISTED STORE_LISTED(MODEL_DAMAGE)
/* Selects how damage hides a model (store_unknown). */
#define MODEL_HIDDEN                                                                               \
    STORE_HIDDEN("models", "model_versions", "live", STORE_DAMAGE_MODELS("n"), VERSION_DAMAGE)
#define MODEL_SELECT_WITH(damage, sort)                                                            \
    "SELECT v.id, v.name, v.version, m.live, m.newest, v.created_at, v.bytes, v.info, "            \
    "m.description, m.tags, m.revision, " damage ", v.submitted_by, " sort                         \
    ", nullif(r.rule, 'null'), coalesce(r.revision, 0), m.expires_at"                              \
    " FROM model_versions v JOIN models m ON m.name = v.name "                                     \
    "LEFT JOIN model_rules r ON r.version = v.id "

void store_model_done(struct store_model *m) {
    if (m) {
        free(m->rule);
        free(m->submitted_by);
        free(m->info);
        free(m->description);
        free(m->tags);
        *m = (struct store_model){0};
    }
}

static bool load(struct store_query *q, void *item) {
    struct store_model *out = item;
    if (!store_query_intact(q, 11)) {
        *out = (struct store_model){0};
        return false;
    }
    *out = (struct store_model){.id = store_query_int(q, 0),
                                .version = store_query_int(q, 2),
                                .live_version = store_query_int(q, 3),
                                .newest_version = store_query_int(q, 4),
                                .created_at = store_query_int(q, 5),
                                .bytes = store_query_int(q, 6),
                                .info = store_query_take(q, 7),
                                .description = store_query_take(q, 8),
                                .tags = store_query_take(q, 9),
                                .revision = store_query_int(q, 10),
                                .submitted_by = store_query_take(q, 12),
                                .sort = store_query_real(q, 13),
                                .rule = store_query_take(q, 14),
                                .rule_revision = store_query_int(q, 15),
                                .expires_at = store_query_int(q, 16)};
    store_query_copy(q, 1, out->name, sizeof out->name);
    store_etag(out->version, out->revision, out->etag);
    if (q->problem->type) {
        store_model_done(out);
        return false;
    }
    return true;
}

/* Loads a version. version 0: the live version. Sets PROBLEM_UNKNOWN_MODEL if there is none. names:
 * see store_unknown. */
static bool find(struct store_connection *c, const char *name, int64_t version,
                 struct store_model *out, struct problem *problem) {
    struct store_query q;
    if (version) {
        STORE_QUERY(&q, c, problem, MODEL_SELECT "WHERE v.name = ? AND v.version = ?",
                    store_text(name), store_int(version));
    } else {
        STORE_QUERY(&q, c, problem, MODEL_SELECT "WHERE v.name = ? AND v.version = m.live",
                    store_text(name));
    }
    const bool found = store_query_row(&q);
    if (found) {
        load(&q, out);
    }
    store_query_end(&q);
    return found;
}

void store_model_find(struct store_tx *tx, const char *name, int64_t version,
                      struct store_model *out) {
    if (!tx->problem->type) {
        if (!find(tx->connection, name, version, out, tx->problem) && !tx->problem->type) {
            store_unknown(tx->connection, PROBLEM_UNKNOWN_MODEL, "model", name, version,
                          MODEL_HIDDEN, NULL, tx->problem);
        }
    }
}

/* version 0: the live version. found: receives whether there is one; NULL: it is a problem if there
 * is none. */
static bool get(struct store *store, const char *name, int64_t version, struct store_model *out,
                bool *found, struct problem *problem) {
    struct store_read r;
    struct store_model m = {0};
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    const bool loaded = find(r.connection, name, version, &m, problem);
    if (!loaded && found == NULL) {
        store_unknown(r.connection, PROBLEM_UNKNOWN_MODEL, "model", name, version, MODEL_HIDDEN,
                      store->no_hints ? NULL : MODEL_NAMES, problem);
    } else if (found != NULL) {
        *found = loaded;
        (void)(loaded ||
               STORE_CHECK(r.connection, problem, MODEL_HIDDEN, store_text(name), store_int(0)));
    }
    if (!store_read_end(&r)) {
        store_model_done(&m);
        return false;
    }
    *out = m;
    return true;
}

bool store_model_get(struct store *store, const char *name, int64_t version,
                     struct store_model *out, struct problem *problem) {
    return get(store, name, version, out, NULL, problem);
}

bool store_model_try_live(struct store *store, const char *name, struct store_model *out,
                          bool *found, struct problem *problem) {
    return get(store, name, 0, out, found, problem);
}

static void free_item(void *item) {
    store_model_done(item);
}
static const struct store_item model_item = {sizeof(struct store_model), load, free_item};

#define MODEL_ONLY STORE_ONLY("m.name", "?3")
#define MODEL_EXPIRING(parameter) STORE_EXPIRES("m.expires_at > 0", parameter)
#define MODEL_LIST                                                                                 \
    MODEL_SELECT_LISTED                                                                            \
    "WHERE v.version = m.live AND m.name > ?1 AND " MODEL_ONLY                                     \
    " AND " MODEL_EXPIRING("?4") " AND " MODEL_LISTED " ORDER BY m.name LIMIT ?2"

bool store_model_list(struct store *store, const char *after, const struct store_limit *limit,
                      struct store_page *out, struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem, MODEL_LIST, store_text(after ? after : ""),
                store_page_rows(limit), store_text(limit->only),
                store_int((int64_t)limit->expiring));
    return store_page_end(&r, &q, &model_item, limit, out);
}

/* The number by which models are sorted; its path is ?4. */
#define SORT_VALUE STORE_JSON_NUMBER("v.info", "?4")
/* after: the comparison of values that follow ?5 */
#define SORTED(after, direction)                                                                   \
    MODEL_SELECT_WITH("NULL", SORT_VALUE " AS sort_value")                                         \
    "WHERE v.version = m.live AND " MODEL_ONLY                                                     \
    " AND " MODEL_EXPIRING("?6") " AND " MODEL_LISTED                                              \
                                 " AND (?1 = '' OR CASE WHEN ?5 IS NULL THEN " SORT_VALUE          \
                                 " IS NULL AND m.name > ?1 ELSE " SORT_VALUE                       \
                                 " IS NULL OR " SORT_VALUE after "?5 OR (" SORT_VALUE              \
                                 " = ?5 AND m.name > ?1) END)"                                     \
                                 " ORDER BY sort_value " direction " NULLS LAST, m.name LIMIT ?2"

bool store_model_list_by(struct store *store, const struct store_model_order *order,
                         const struct store_limit *limit, struct store_page *out,
                         struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem,
                order->descending ? SORTED(" < ", "DESC") : SORTED(" > ", "ASC"),
                store_text(order->after_name != NULL ? order->after_name : ""),
                store_page_rows(limit), store_text(limit->only), store_text(order->path),
                store_real(order->after_value), store_int((int64_t)limit->expiring));
    return store_page_end(&r, &q, &model_item, limit, out);
}

bool store_model_versions(struct store *store, const char *name, int64_t after,
                          const struct store_limit *limit, struct store_page *out,
                          struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    if (!STORE_ASK(r.connection, problem, 0, "SELECT newest FROM models WHERE name = ?",
                   store_text(name)) &&
        !problem->type) {
        store_unknown(r.connection, PROBLEM_UNKNOWN_MODEL, "model", name, 0, MODEL_HIDDEN,
                      store->no_hints ? NULL : MODEL_NAMES, problem);
    }
    STORE_QUERY(&q, r.connection, problem,
                MODEL_SELECT_LISTED "WHERE v.name = ? AND v.version > ? AND " MODEL_LISTED
                                    " ORDER BY v.version LIMIT ?",
                store_text(name), store_int(after), store_page_rows(limit));
    return store_page_end(&r, &q, &model_item, limit, out);
}

/* Reads all chunks in one transaction, so that a deletion at the same time has no effect. */
static void read_bytes(struct store_read *r, int64_t part, int64_t bytes, struct buf *out) {
    struct buf chunk = {0};
    int64_t n =
        STORE_ASK(r->connection, r->problem, 0,
                  "SELECT count(*) FROM chunks WHERE part = ? AND n_rows = 0", store_int(part));
    if (!r->problem->type && !buf_reserve(out, (size_t)bytes)) {
        problem_set(r->problem, PROBLEM_UNAVAILABLE,
                    "out of memory for a model of %" PRId64 " bytes", bytes);
    }
    for (int64_t i = 0; i < n && !r->problem->type && store_blob_read(r, part, i, 0, &chunk); i++) {
        buf_append(out, chunk.data, chunk.size);
    }
    if (!r->problem->type && (out->failed || out->size != (size_t)bytes)) {
        problem_set(r->problem, PROBLEM_INTERNAL,
                    "stored data is damaged: the chunks of parts, row %" PRId64
                    " have %zu bytes, not %" PRId64,
                    part, out->size, bytes);
    }
    buf_done(&chunk);
}

bool store_model_bytes(struct store *store, int64_t id, struct buf *out, struct problem *problem) {
    struct store_read r;
    struct store_query q;
    struct buf bytes = {0};
    int64_t part = 0, size = 0;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem,
                "SELECT part, bytes, " VERSION_DAMAGE " FROM model_versions v WHERE id = ?",
                store_int(id));
    if (store_query_row(&q) && store_query_intact(&q, 2)) {
        part = store_query_int(&q, 0);
        size = store_query_int(&q, 1);
    }
    store_query_end(&q);
    if (part) {
        read_bytes(&r, part, size, &bytes);
    } else if (!problem->type) {
        problem_set(problem, PROBLEM_UNKNOWN_MODEL, "there is no model version with id %" PRId64,
                    id);
    }
    if (!store_read_end(&r)) {
        buf_done(&bytes);
        return false;
    }
    buf_done(out);
    *out = bytes;
    return true;
}

/* Lists the chunks of the part with rows. They are counted first, so the array is allocated
 * once. */
static void list_predictions(struct store_read *r, int64_t part, struct store_chunk **out,
                             size_t *n) {
    const int64_t count =
        STORE_ASK(r->connection, r->problem, 0,
                  "SELECT count(*) FROM chunks WHERE part = ? AND n_rows > 0", store_int(part));
    struct store_chunk *chunks = calloc((size_t)count + 1, sizeof *chunks);
    struct store_query q;
    int64_t row = 0;
    if (chunks == NULL) {
        problem_no_memory(r->problem);
        return;
    }
    STORE_QUERY(&q, r->connection, r->problem,
                "SELECT chunk, n_rows FROM chunks WHERE part = ? AND n_rows > 0 ORDER BY chunk",
                store_int(part));
    for (; *n < (size_t)count && store_query_row(&q); (*n)++) {
        chunks[*n] = (struct store_chunk){.part = part,
                                          .chunk = store_query_int(&q, 0),
                                          .first_row = row,
                                          .n_rows = store_query_int(&q, 1)};
        row += chunks[*n].n_rows;
    }
    store_query_end(&q);
    *out = chunks;
}

bool store_model_predictions(struct store *store, const char *name, int64_t version,
                             struct store_chunk **out, size_t *n, struct problem *problem) {
    struct store_read r;
    struct store_query q;
    struct store_chunk *chunks = NULL;
    size_t n_chunks = 0;
    int64_t part = 0;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem,
                "SELECT part, " VERSION_DAMAGE
                " FROM model_versions v WHERE name = ? AND version = ?",
                store_text(name), store_int(version));
    if (store_query_row(&q) && store_query_intact(&q, 1)) {
        part = store_query_int(&q, 0);
    }
    store_query_end(&q);
    if (part != 0) {
        list_predictions(&r, part, &chunks, &n_chunks);
    } else if (!problem->type) {
        store_unknown(r.connection, PROBLEM_UNKNOWN_MODEL, "model", name, version, MODEL_HIDDEN,
                      NULL, problem);
    }
    if (!store_read_end(&r)) {
        free(chunks);
        return false;
    }
    *out = chunks;
    *n = n_chunks;
    return true;
}
