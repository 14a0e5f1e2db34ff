/* Reads datasets. */
#include "store/tables/datasets.h"
#include "store/tables/page.h"
#include <inttypes.h>

/* For store_unknown. */
#define DATASET_NAMES "SELECT name FROM datasets WHERE newest > 0 LIMIT 10000"

void store_dataset_done(struct store_dataset *d) {
    if (d) {
        free(d->sha256);
        free(d->content);
        free(d->columns);
        free(d->notes);
        free(d->options);
        free(d->submitted_by);
        free(d->description);
        free(d->tags);
        *d = (struct store_dataset){0};
    }
}

bool store_dataset_load(struct store_query *q, void *item) {
    struct store_dataset *out = item;
    if (!store_query_intact(q, 16)) {
        *out = (struct store_dataset){0};
        return false;
    }
    *out = (struct store_dataset){.id = store_query_int(q, 0),
                                  .version = store_query_int(q, 2),
                                  .n_rows = store_query_int(q, 3),
                                  .n_cols = store_query_int(q, 4),
                                  .bytes = store_query_int(q, 5),
                                  .created_at = store_query_int(q, 6),
                                  .sha256 = store_query_take(q, 7),
                                  .content = store_query_take(q, 8),
                                  .columns = store_query_take(q, 9),
                                  .notes = store_query_take(q, 10),
                                  .description = store_query_take(q, 11),
                                  .tags = store_query_take(q, 12),
                                  .revision = store_query_int(q, 13),
                                  .newest = store_query_int(q, 14) != 0,
                                  .options = store_query_take(q, 15),
                                  .submitted_by = store_query_take(q, 17),
                                  .expires_at = store_query_int(q, 18)};
    store_query_copy(q, 1, out->name, sizeof out->name);
    store_etag(out->version, out->revision, out->etag);
    if (q->problem->type) {
        store_dataset_done(out);
        return false;
    }
    return true;
}

/* Reads one version and ends the query. If there is no row, returns false without a problem. */
static bool load_one(struct store_query *q, struct store_dataset *out) {
    bool found = store_query_row(q) && store_dataset_load(q, out);
    store_query_end(q);
    return found;
}

/* version 0: the newest version. found: receives whether there is one; NULL: it is a problem if
 * there is none. */
static bool get(struct store *store, const char *name, int64_t version, struct store_dataset *out,
                bool *found, struct problem *problem) {
    struct store_read r;
    struct store_query q;
    struct store_dataset d = {0};
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    if (version) {
        STORE_QUERY(&q, r.connection, problem,
                    STORE_DATASET_SELECT "WHERE v.name = ? AND v.version = ? AND v.hidden = 0",
                    store_text(name), store_int(version));
    } else {
        STORE_QUERY(&q, r.connection, problem,
                    STORE_DATASET_SELECT "WHERE v.name = ? AND v.version = d.newest",
                    store_text(name));
    }
    const bool loaded = load_one(&q, &d);
    if (!loaded && found == NULL) {
        store_unknown(r.connection, PROBLEM_UNKNOWN_DATASET, "dataset", name, version,
                      STORE_DATASET_HIDDEN, store->no_hints ? NULL : DATASET_NAMES, problem);
    } else if (found != NULL) {
        *found = loaded;
        (void)(loaded || STORE_CHECK(r.connection, problem, STORE_DATASET_HIDDEN, store_text(name),
                                     store_int(0)));
    }
    if (!store_read_end(&r)) {
        store_dataset_done(&d);
        return false;
    }
    *out = d;
    return true;
}

bool store_dataset_get(struct store *store, const char *name, int64_t version,
                       struct store_dataset *out, struct problem *problem) {
    return get(store, name, version, out, NULL, problem);
}

bool store_dataset_try_newest(struct store *store, const char *name, struct store_dataset *out,
                              bool *found, struct problem *problem) {
    return get(store, name, 0, out, found, problem);
}

bool store_dataset_find(struct store_connection *c, int64_t id, struct store_dataset *out,
                        struct problem *problem) {
    struct store_query q;
    STORE_QUERY(&q, c, problem, STORE_DATASET_SELECT "WHERE v.id = ? AND v.hidden = 0",
                store_int(id));
    return load_one(&q, out) ||
           !STORE_CHECK(c, problem,
                        "SELECT " STORE_DAMAGE_DATASET_VERSIONS(
                            "v") " FROM dataset_versions v WHERE "
                                 "v.id = ?",
                        store_int(id)) ||
           problem_set(problem, PROBLEM_UNKNOWN_DATASET,
                       "there is no dataset version with id %" PRId64, id);
}

bool store_dataset_get_by_id(struct store *store, int64_t id, struct store_dataset *out,
                             struct problem *problem) {
    struct store_read r;
    struct store_dataset d = {0};
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    store_dataset_find(r.connection, id, &d, problem);
    if (!store_read_end(&r)) {
        store_dataset_done(&d);
        return false;
    }
    *out = d;
    return true;
}

bool store_dataset_summary(struct store *store, int64_t id, size_t column, struct buf *out,
                           struct problem *problem) {
    struct store_read r;
    struct store_query q;
    buf_clear(out);
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem,
                "SELECT state FROM dataset_summaries s WHERE version = ? AND \"column\" = ? "
                "AND " STORE_LISTED(STORE_DAMAGE_DATASET_SUMMARIES("s")),
                store_int(id), store_int((int64_t)column));
    if (store_query_row(&q)) {
        size_t size;
        const void *bytes = store_query_bytes(&q, 0, &size);
        buf_append(out, bytes, size);
    }
    store_query_end(&q);
    return store_read_end(&r);
}

static void free_item(void *item) {
    store_dataset_done(item);
}
static const struct store_item dataset_item = {sizeof(struct store_dataset), store_dataset_load,
                                               free_item};

#define DATASET_ONLY STORE_ONLY("d.name", "?3")
#define DATASET_EXPIRING STORE_EXPIRES("d.expires_at > 0", "?4")
#define DATASET_LISTED STORE_LISTED(STORE_DATASET_DAMAGE)
#define DATASET_LIST                                                                               \
    STORE_DATASET_SELECT_LISTED                                                                    \
    "WHERE d.newest = v.version AND d.name > ?1 AND " DATASET_ONLY " AND " DATASET_EXPIRING        \
    " AND " DATASET_LISTED " ORDER BY d.name LIMIT ?2"

bool store_dataset_list(struct store *store, const char *after, const struct store_limit *limit,
                        struct store_page *out, struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem, DATASET_LIST, store_text(after ? after : ""),
                store_page_rows(limit), store_text(limit->only),
                store_int((int64_t)limit->expiring));
    return store_page_end(&r, &q, &dataset_item, limit, out);
}

bool store_dataset_versions(struct store *store, const char *name, int64_t after,
                            const struct store_limit *limit, struct store_page *out,
                            struct problem *problem) {
    struct store_read r;
    struct store_query q;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    if (!STORE_ASK(r.connection, problem, 0, "SELECT newest FROM datasets WHERE name = ?",
                   store_text(name)) &&
        !problem->type) {
        store_unknown(r.connection, PROBLEM_UNKNOWN_DATASET, "dataset", name, 0,
                      STORE_DATASET_HIDDEN, store->no_hints ? NULL : DATASET_NAMES, problem);
    }
    STORE_QUERY(&q, r.connection, problem,
                STORE_DATASET_SELECT_LISTED
                "WHERE v.name = ? AND v.version > ? AND v.hidden = 0 AND " STORE_LISTED(
                    STORE_DATASET_DAMAGE) " ORDER BY v.version LIMIT ?",
                store_text(name), store_int(after), store_page_rows(limit));
    return store_page_end(&r, &q, &dataset_item, limit, out);
}
