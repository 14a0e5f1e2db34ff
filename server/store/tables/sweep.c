/* The sweep: deletes what has expired, removes deleted dataset versions, dead parts, staged parts
 * whose lease has ended, and old answers of idempotency keys, then returns free space to the
 * system. A step removes some MiB, so that commits can run between steps. */
#include "base/log/log.h"
#include "store/tables/tables.h"

#define VERSION_INTACT STORE_INTACT_DATASET_VERSIONS("v")
#define PLACE_INTACT STORE_INTACT_DATASET_PARTS("p")
#define PART_INTACT STORE_INTACT_PARTS("parts")
#define CHUNK_INTACT STORE_INTACT_CHUNKS("c")

enum {
    /* limit of the bytes of the chunks that one transaction removes */
    STEP_BYTES = 8 * 1024 * 1024,
    STEP_BLOBS = 8192, /* the same limit for small blobs: their number */
    STEP_CHUNKS = 64,
    STEP_PARTS = 64
};

/* The input and the result of a step. */
struct sweep {
    int64_t dropped[STEP_PARTS]; /* parts that this process dropped */
    size_t n_dropped;
    int64_t bytes; /* number of bytes that this step removed */
    bool worked;
};

/* A stored chunk to be removed. */
struct doomed {
    int64_t chunk, first_blob, n_blobs, bytes;
};

void store_part_kill(struct store_tx *tx, int64_t part) {
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE parts SET state = ? WHERE id = ? AND " PART_INTACT,
              store_int(STORE_PART_DEAD), store_int(part));
}

/* Whether a call reads the version, of this process or of another. */
static bool is_read(struct store_tx *tx, int64_t version) {
    const struct store_sharing *sharing = tx->store->engine->sharing;
    return store_pinned(&tx->store->pins, version) ||
           (sharing != NULL && sharing->is_read(tx, version));
}

/* Returns the first deleted version that is not read; 0 if there is none. */
static int64_t find_hidden(struct store_tx *tx) {
    enum { AT_ONCE = 64 };
    struct store_query q;
    int64_t ids[AT_ONCE], last = 0;
    size_t n;
    do {
        n = 0;
        STORE_QUERY(&q, tx->connection, tx->problem,
                    "SELECT id FROM dataset_versions v WHERE hidden = 1 AND id > ?1 "
                    "AND " VERSION_INTACT " ORDER BY id LIMIT ?2",
                    store_int(last), store_int(AT_ONCE));
        while (n < AT_ONCE && store_query_row(&q)) {
            last = ids[n++] = store_query_int(&q, 0);
        }
        store_query_end(&q);
        for (size_t i = 0; i < n; i++) {
            if (!is_read(tx, ids[i])) {
                return ids[i];
            }
        }
    } while (n == AT_ONCE);
    return 0;
}

/* Removes a version. Its parts become dead unless another version shares them. */
static void remove_version(struct store_tx *tx, int64_t version, struct sweep *sweep) {
    sweep->bytes +=
        STORE_ASK(tx->connection, tx->problem, 0,
                  "SELECT " STORE_SUM("length(state)") " FROM dataset_summaries WHERE version = ?",
                  store_int(version));
    STORE_RUN(tx->connection, tx->problem, "DELETE FROM dataset_summaries WHERE version = ?",
              store_int(version));
    STORE_RUN(
        tx->connection, tx->problem,
        "UPDATE parts SET state = ?2 WHERE id IN (SELECT part FROM dataset_parts p WHERE version = "
        "?1 AND " PLACE_INTACT ")"
        " AND NOT EXISTS (SELECT 1 FROM dataset_parts o "
        "WHERE o.part = parts.id AND o.version <> "
        "?1) AND " PART_INTACT,
        store_int(version), store_int(STORE_PART_DEAD));
    STORE_RUN(tx->connection, tx->problem, "DELETE FROM dataset_parts WHERE version = ?",
              store_int(version));
    STORE_RUN(tx->connection, tx->problem, "DELETE FROM dataset_versions WHERE id = ?",
              store_int(version));
}

/* Lists the chunks to remove in this step. They are deleted after the query ends, because the query
 * reads the same table. */
static size_t collect(struct store_tx *tx, int64_t part, struct doomed *out) {
    struct store_query q;
    size_t n = 0;
    int64_t bytes = 0, blobs = 0;
    STORE_QUERY(
        &q, tx->connection, tx->problem,
        "SELECT chunk, first_blob, n_blobs, bytes FROM chunks c WHERE part = ? AND " CHUNK_INTACT
        " ORDER BY chunk",
        store_int(part));
    while (n < STEP_CHUNKS && bytes < STEP_BYTES && blobs < STEP_BLOBS && store_query_row(&q)) {
        out[n] = (struct doomed){store_query_int(&q, 0), store_query_int(&q, 1),
                                 store_query_int(&q, 2), store_query_int(&q, 3)};
        bytes += out[n].bytes;
        blobs += out[n].n_blobs;
        n++;
    }
    store_query_end(&q);
    return n;
}

static void remove_chunks(struct store_tx *tx, int64_t part, struct sweep *sweep) {
    struct doomed doomed[STEP_CHUNKS];
    size_t n = collect(tx, part, doomed);
    for (size_t i = 0; i < n; i++) {
        STORE_RUN(tx->connection, tx->problem, "DELETE FROM blobs WHERE id >= ? AND id < ?",
                  store_int(doomed[i].first_blob),
                  store_int(doomed[i].first_blob + doomed[i].n_blobs));
        STORE_RUN(tx->connection, tx->problem, "DELETE FROM chunks WHERE part = ? AND chunk = ?",
                  store_int(part), store_int(doomed[i].chunk));
        sweep->bytes += doomed[i].bytes;
    }
    if (n == 0) {
        STORE_RUN(tx->connection, tx->problem, "DELETE FROM parts WHERE id = ?", store_int(part));
    }
}

/* Selects a part to remove. A part that a version refers to, or that has a damaged chunk, stays:
 * its own row, or the row that made it dead, may be wrong. */
#define FIND_DEAD                                                                                  \
    "SELECT id FROM parts WHERE (state = ?3 OR (state = ?4 AND owner <> ?1 AND lease_until < ?2))" \
    " AND NOT EXISTS (SELECT 1 FROM dataset_parts WHERE part = parts.id)"                          \
    " AND NOT EXISTS (SELECT 1 FROM model_versions WHERE part = parts.id)"                         \
    " AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.part = parts.id AND NOT " CHUNK_INTACT ")"    \
    " AND " PART_INTACT " LIMIT 1"

static void step(struct store_tx *tx, void *arg) {
    struct sweep *sweep = arg;
    for (size_t i = 0; i < sweep->n_dropped; i++) {
        /* a publish that was reported as failed may be in the database, see sqlite/reopen.h */
        STORE_RUN(tx->connection, tx->problem,
                  "UPDATE parts SET state = ?2 WHERE id = ?1 AND state = ?3 AND " PART_INTACT,
                  store_int(sweep->dropped[i]), store_int(STORE_PART_DEAD),
                  store_int(STORE_PART_STAGED));
    }
    int64_t version = find_hidden(tx);
    int64_t part = version ? 0
                           : STORE_ASK(tx->connection, tx->problem, 0, FIND_DEAD,
                                       store_text(tx->store->owner), store_int(tx->now),
                                       store_int(STORE_PART_DEAD), store_int(STORE_PART_STAGED));
    if (version) {
        remove_version(tx, version, sweep);
    } else if (part) {
        remove_chunks(tx, part, sweep);
    }
    if (tx->store->engine->sharing != NULL) {
        tx->store->engine->sharing->prune(tx);
    }
    const bool expired = store_dataset_expire(tx) || store_model_expire(tx) || store_job_expire(tx);
    sweep->worked = store_keys_expire(tx) > 0 || expired || version || part;
}

bool store_sweep_step(struct store *store, bool busy, bool *more) {
    struct sweep sweep = {0};
    struct problem problem = {0};
    sweep.n_dropped = store_parts_dropped(&store->parts, sweep.dropped, STEP_PARTS);
    if (store_writer_transact(store, step, &sweep, false, &problem)) {
        for (size_t i = 0; i < sweep.n_dropped; i++) {
            store_parts_forget(&store->parts, sweep.dropped[i]);
        }
        metric_add(store->writer.swept_bytes, (double)sweep.bytes);
        *more = sweep.worked || sweep.n_dropped == STEP_PARTS;
        if (!*more && !busy) {
            store->engine->shrink(store, more, &problem);
        }
    }
    bool ok = problem.type == PROBLEM_NONE;
    if (!ok) {
        log_warn("store.sweep", log_str("problem", problem.detail));
    }
    problem_done(&problem);
    return ok;
}
