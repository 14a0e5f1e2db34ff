/* Reads chunks. The CRC of each blob is checked. */
#include "base/hash.h"
#include "base/log/log.h"
#include "store/tables/tables.h"
#include <inttypes.h>

#define CHUNK_DAMAGE STORE_DAMAGE_CHUNKS("c")
#define PLACE_DAMAGE "coalesce(" STORE_DAMAGE_DATASET_PARTS("p") ", " CHUNK_DAMAGE ")"

bool store_blob_read(struct store_read *r, int64_t part, int64_t chunk, size_t column,
                     struct buf *out) {
    /* an engine may load a selected column with its row, so large blobs are not selected */
    static const char sql[] =
        "SELECT b.id, b.crc, length(b.bytes), CASE WHEN length(b.bytes) <= ?4 THEN b.bytes "
        "END, " CHUNK_DAMAGE " FROM chunks c"
        " LEFT JOIN blobs b ON b.id = c.first_blob + ?3 AND ?3 < c.n_blobs WHERE c.part = ?1 AND "
        "c.chunk = ?2";
    const struct store_engine *engine = r->connection->engine;
    struct store_query q;
    uint32_t crc = 0;
    size_t size = 0;
    bool found = false;
    buf_clear(out);
    STORE_QUERY(&q, r->connection, r->problem, sql, store_int(part), store_int(chunk),
                store_int((int64_t)column), store_int(engine->small_blob));
    if (store_query_row(&q) && store_query_intact(&q, 4)) {
        found = !store_query_is_null(&q, 0);
        crc = (uint32_t)store_query_int(&q, 1);
        size = (size_t)store_query_int(&q, 2);
        if (!buf_reserve(out, size)) {
            problem_set(r->problem, PROBLEM_UNAVAILABLE, "out of memory for a blob of %zu bytes",
                        size);
        } else if ((int64_t)size <= engine->small_blob) {
            size_t n;
            const void *bytes = store_query_bytes(&q, 3, &n);
            buf_append(out, bytes, n);
        } else if (engine->read_blob(r->connection, store_query_int(&q, 0), out->data, size,
                                     r->problem)) {
            out->size = size;
        }
    }
    store_query_end(&q);
    if (r->problem->type) {
        return false;
    }
    if (!found) {
        return problem_set(r->problem, PROBLEM_INTERNAL,
                           "stored data is missing: chunks, part %" PRId64 " has no chunk %" PRId64
                           ", column %zu",
                           part, chunk, column);
    }
    if (out->size != size || hash_crc32(out->data, size) != crc) {
        buf_clear(out);
        log_error("store.damaged", log_int("part", part), log_int("chunk", chunk),
                  log_int("column", (int64_t)column));
        return problem_set(r->problem, PROBLEM_INTERNAL,
                           "stored data is damaged: blobs, part %" PRId64 ", chunk %" PRId64
                           ", column %zu does not match its checksum",
                           part, chunk, column);
    }
    return true;
}

bool store_part_read(struct store *store, int64_t part, int64_t chunk, size_t column,
                     struct buf *out, struct problem *problem) {
    struct store_read r;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    store_blob_read(&r, part, chunk, column, out);
    metric_add(store->readers.chunks_read, 1);
    return store_read_end(&r);
}

bool store_chunk_read(struct store *store, const struct store_chunk *chunk, size_t column,
                      struct buf *out, struct problem *problem) {
    return store_part_read(store, chunk->part, chunk->chunk, column, out, problem);
}

/* Lists the chunks of a version with n_rows rows. They are counted first, so the array is allocated
 * once. */
static bool load_chunks(struct store_read *r, int64_t id, int64_t n_rows, struct store_chunk **out,
                        size_t *n) {
    int64_t count = STORE_ASK(
        r->connection, r->problem, 0,
        "SELECT count(*) FROM dataset_parts p JOIN chunks c ON c.part = p.part WHERE p.version = ?",
        store_int(id));
    struct store_chunk *chunks = calloc(count > 0 ? (size_t)count : 1, sizeof *chunks);
    if (!chunks) {
        return problem_no_memory(r->problem);
    }
    struct store_query q;
    size_t i = 0;
    int64_t row = 0;
    STORE_QUERY(&q, r->connection, r->problem,
                "SELECT c.part, c.chunk, c.n_rows, " PLACE_DAMAGE
                " FROM dataset_parts p JOIN chunks c ON c.part = p.part WHERE p.version = ? "
                "ORDER BY p.seq, c.chunk",
                store_int(id));
    for (; i < (size_t)count && store_query_row(&q) && store_query_intact(&q, 3); i++) {
        chunks[i] = (struct store_chunk){.part = store_query_int(&q, 0),
                                         .chunk = store_query_int(&q, 1),
                                         .first_row = row,
                                         .n_rows = store_query_int(&q, 2)};
        row += chunks[i].n_rows;
    }
    store_query_end(&q);
    if (!r->problem->type && row != n_rows &&
        STORE_CHECK(r->connection, r->problem,
                    "SELECT " STORE_DAMAGE_DATASET_PARTS(
                        "p") " FROM dataset_parts p WHERE version = ? AND "
                             "NOT " STORE_INTACT_DATASET_PARTS("p") " LIMIT 1",
                    store_int(id))) {
        problem_set_permanent(r->problem, PROBLEM_INTERNAL,
                              "stored data is damaged: the chunks of dataset_versions, row %" PRId64
                              " have %" PRId64 " rows, not %" PRId64,
                              id, row, n_rows);
    }
    if (r->problem->type) {
        free(chunks);
        return false;
    }
    *out = chunks;
    *n = i;
    return true;
}

bool store_dataset_chunks(struct store *store, int64_t id, struct store_chunk **out, size_t *n,
                          struct problem *problem) {
    struct store_read r;
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    struct store_chunk *chunks = NULL;
    size_t n_chunks = 0;
    const int64_t n_rows =
        STORE_ASK(r.connection, problem, -1,
                  "SELECT n_rows FROM dataset_versions WHERE id = ? AND hidden = 0", store_int(id));
    if (n_rows >= 0) {
        load_chunks(&r, id, n_rows, &chunks, &n_chunks);
    } else if (STORE_CHECK(r.connection, problem,
                           "SELECT " STORE_DAMAGE_DATASET_VERSIONS(
                               "v") " FROM dataset_versions v WHERE id = ?",
                           store_int(id))) {
        problem_set(problem, PROBLEM_UNKNOWN_DATASET,
                    "there is no dataset version with id %" PRId64, id);
    }
    if (!store_read_end(&r)) {
        free(chunks);
        return false;
    }
    *out = chunks;
    *n = n_chunks;
    return true;
}
