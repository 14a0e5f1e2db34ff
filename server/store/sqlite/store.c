/* Opens and closes a store; reports its health and its sizes. */
#include "base/log/log.h"
#include "base/nearest.h"
#include "base/process/clock.h"
#include "store/sqlite/engine/writes.h"
#include "store/sqlite/file/dbfile.h"
#include "store/sqlite/file/logfile.h"
#include "store/sqlite/file/migrate.h"
#include "store/sqlite/internal.h"
#include <inttypes.h>
#include <sys/stat.h>

enum { LEASE_MS = 15000, BULK_LIMIT = 8 * 1024 * 1024, HEALTH_MS = 1000 };

/* ---- open ---- */

/* Ends the leases of other owners at once: this process has locked the lock file, so the other
 * processes have ended. */
static void recover(struct store_tx *tx, void *arg) {
    (void)arg;
    STORE_RUN(
        tx->connection, tx->problem,
        "UPDATE parts SET lease_until = 0 WHERE state = ? AND owner <> ? AND " STORE_INTACT_PARTS(
            "parts"),
        store_int(STORE_PART_STAGED), store_text(tx->store->owner));
    STORE_RUN(
        tx->connection, tx->problem,
        "UPDATE jobs SET lease_until = 0 WHERE state = ? AND owner <> ? AND " STORE_INTACT_JOBS(
            "jobs"),
        store_int(STORE_JOB_RUNNING), store_text(tx->store->owner));
    store_jobs_expire(tx);
}

/* If the disk is full or its fsync fails, store_open succeeds: the writer thread retries later. */
bool store_recover(struct store *store, struct problem *problem) {
    enum { AGAIN_MS = 2000 };
    struct problem own = {0};
    const bool done = store_writer_transact(store, recover, NULL, true, &own),
               later = own.type == PROBLEM_STORAGE_FULL || store->writer.lost;
    store->writer.recover_ns = later ? clock_monotonic_ns() + (int64_t)AGAIN_MS * 1000000 : 0;
    if (later) {
        log_warn("store.recover", log_str("problem", own.detail));
    } else if (!done) {
        problem_copy(problem, &own);
    }
    problem_done(&own);
    return done || later;
}

/* Opens the writing connection, which the writer thread will own. */
static bool open_database(struct store *store, bool backup, struct problem *problem) {
    struct store_connection *c = store_connection_open(store->path, STORE_WRITE, problem);
    store->writer.connection = c;
    if (!c || !store_dbfile_prepare(c, store->path, problem)) {
        return false;
    }
    size_t n;
    const struct store_migration *migrations = store_migrations(&n);
    return store_migrate(c, migrations, n, backup, problem);
}

static bool set_up(struct store *store, const struct store_settings *settings,
                   struct problem *problem) {
    store->lease_ms = settings->lease_ms > 0 ? settings->lease_ms : LEASE_MS;
    store->no_hints = settings->no_hints;
    store->keep_audit = settings->keep_audit;
    store->bulk_limit = settings->bulk_limit > 0 ? settings->bulk_limit : BULK_LIMIT;
    snprintf(store->owner, sizeof store->owner, "%016" PRIx64 "%016" PRIx64, ids_random(),
             ids_random());
    store->path = store_dbfile_find(settings->path, problem);
    if (!store->path) {
        return false;
    }
    size_t size = strlen(store->path) + sizeof "-wal";
    store->log_path = malloc(size);
    if (!store->log_path) {
        return problem_no_memory(problem);
    }
    snprintf(store->log_path, size, "%s-wal", store->path);
    return true;
}

/* Refuses documents of a newer format, which this binary would misinterpret. */
static bool check_documents(struct store_connection *c, struct problem *problem) {
    const int64_t highest = STORE_ASK(
        c, problem, 0,
        "SELECT max((SELECT coalesce(max(format), 0) FROM dataset_versions v WHERE format > ?1 "
        "AND " STORE_INTACT_DATASET_VERSIONS(
            "v") "),"
                 " (SELECT coalesce(max(format), 0) FROM model_versions v WHERE format > ?1 "
                 "AND " STORE_INTACT_MODEL_VERSIONS(
                     "v") "),"
                          " (SELECT coalesce(max(spec_format), 0) FROM jobs WHERE spec_format > ?1 "
                          "AND " STORE_INTACT_JOBS(
                              "jobs") "),"
                                      " (SELECT coalesce(max(result_format), 0) FROM jobs WHERE "
                                      "result_format > ?1 AND " STORE_INTACT_JOBS("jobs") "))",
        store_int(STORE_DOCUMENT_FORMAT));
    if (problem->type == PROBLEM_NONE && highest > STORE_DOCUMENT_FORMAT) {
        problem_set(problem, PROBLEM_INTERNAL,
                    "the database is newer than this binary: it has documents of format %lld, "
                    "but this binary reads only formats up to %d",
                    (long long)highest, STORE_DOCUMENT_FORMAT);
    }
    return problem->type == PROBLEM_NONE;
}

/* Writes the log of the last process again: its fsync may have failed. A full disk must not prevent
 * reads: the writer thread tries it again. */
static bool rewrite_log(struct store *store, struct problem *problem) {
    struct problem own = {0};
    if (store_logfile_rewrite(store->log_path, &own)) {
        return true;
    }
    log_warn("store.rewrite", log_str("problem", own.detail));
    if (own.type == PROBLEM_STORAGE_FULL) {
        store_writes_lose(store, true);
    } else if (own.type == PROBLEM_INTERNAL) {
        problem_copy(problem, &own);
    }
    problem_done(&own);
    return problem->type == PROBLEM_NONE;
}

/* Prepares everything except the writer thread. */
static bool prepare(struct store *store, const struct store_settings *settings,
                    struct problem *problem) {
    if (!set_up(store, settings, problem)) {
        return false;
    }
    if (!store_lock_take(&store->lock, store->path, problem) ||
        !store_dbfile_check(store->path, store->lock.database, problem) ||
        !rewrite_log(store, problem) || !open_database(store, !settings->no_backup, problem) ||
        !check_documents(store->writer.connection, problem)) {
        return false;
    }
    sqlite3_wal_hook(store->writer.connection->db, store_checkpoint_hook, &store->writer);
    /* after the last blob, and after the last that a chunk refers to: that one may be damaged */
    store->next_blob =
        STORE_ASK(store->writer.connection, problem, 0,
                  "SELECT max((SELECT coalesce(max(id), 0) + 1 FROM blobs), (SELECT "
                  "coalesce(max(first_blob + n_blobs), 0) FROM chunks c WHERE " STORE_INTACT_CHUNKS(
                      "c") "))",
                  STORE_NO_VALUES);
    return !problem->type && store_recover(store, problem);
}

static void dismantle(struct store *store) {
    store_readers_done(&store->readers);
    store_writer_done(store);
    store_parts_done(&store->parts);
    store_pins_done(&store->pins);
    store_appends_done(&store->appends);
    store_refusals_done(&store->refusals);
    store_keys_done(&store->keys);
    store_ring_done(&store->ring);
    /* released last, so that no other process opens the file before */
    store_lock_release(&store->lock);
    free(store->log_path);
    free(store->path);
    free(store);
}

bool store_open(const struct store_settings *settings, struct store **out,
                struct problem *problem) {
    struct store *store = calloc(1, sizeof *store);
    if (!store) {
        return problem_no_memory(problem);
    }
    store->lock = (struct store_lock){-1, -1};
    store_pins_init(&store->pins);
    store_appends_init(&store->appends);
    store_refusals_init(&store->refusals);
    store_keys_init(&store->keys);
    bool ok = store_ring_init(&store->ring, problem);
    ok = store_readers_init(&store->readers, problem) && ok;
    ok = store_parts_init(&store->parts, problem) && ok;
    ok = store_writer_init(store, problem) && ok;
    if (!ok || !prepare(store, settings, problem) || !store_writer_start(store, problem)) {
        dismantle(store);
        return false;
    }
    log_info("store.open", log_str("path", store->path), log_str("owner", store->owner));
    *out = store;
    return true;
}

/* ---- close ---- */

void store_close(struct store *store) {
    if (!store) {
        return;
    }
    /* after this the connection belongs to this thread. The next store_open ends the leases */
    store_writer_stop(store);
    store_refusals_write(store, true);
    store_checkpoint_last(store);
    log_info("store.closed", log_str("path", store->path));
    dismantle(store);
}

/* ---- health and sizes ---- */

const char *store_owner(const struct store *store) {
    return store->owner;
}

static bool reads_succeed(struct store *store, struct problem *problem) {
    struct store_read r;
    if (!store_read_begin_within(&r, store, HEALTH_MS, problem)) {
        return false;
    }
    STORE_ASK(r.connection, problem, 0, "SELECT count(*) FROM migrations", STORE_NO_VALUES);
    return store_read_end(&r);
}

bool store_healthy(struct store *store, struct store_health *out, struct problem *problem) {
    char since[CLOCK_TEXT_SIZE];
    store_writer_pulse(store, HEALTH_MS, out);
    out->reads = reads_succeed(store, problem);
    clock_format(out->since, since);
    switch (out->writes) {
    case STORE_WRITES_OK:
        break;
    case STORE_WRITES_FAILING:
        problem_set(problem, PROBLEM_UNAVAILABLE,
                    "writes to the database have failed since %s; reads go on", since);
        break;
    case STORE_WRITES_FULL:
        problem_set(problem, PROBLEM_UNAVAILABLE,
                    "the disk of the database has been full since %s: writes are refused with 507, "
                    "reads go on",
                    since);
        break;
    case STORE_WRITES_STUCK:
        problem_set(problem, PROBLEM_UNAVAILABLE,
                    "the database's writer has not answered within %d ms; it has worked on one "
                    "thing since %s",
                    HEALTH_MS, since);
        break;
    }
    return problem->type == PROBLEM_NONE;
}

void store_unknown(struct store_connection *c, enum problem_type type, const char *noun,
                   const char *name, int64_t version, const char *damage, const char *names,
                   struct problem *problem) {
    if (damage != NULL && !STORE_CHECK(c, problem, damage, store_text(name), store_int(version))) {
        return;
    }
    struct nearest nearest = nearest_to(name, strlen(name));
    struct problem ignored = {0};
    struct store_query q;
    if (names != NULL) {
        STORE_QUERY(&q, c, &ignored, names, STORE_NO_VALUES);
        while (store_query_row(&q)) {
            const char *own = store_query_text(&q, 0);
            nearest_offer(&nearest, own != NULL ? own : "", own != NULL ? strlen(own) : 0);
        }
        store_query_end(&q);
        problem_done(&ignored);
    }
    if (version != 0) {
        problem_set(problem, type, "there is no version %" PRId64 " of a %s \"%s\"%s", version,
                    noun, name, nearest.hint);
    } else {
        problem_set(problem, type, "there is no %s \"%s\"%s", noun, name, nearest.hint);
    }
}

static int64_t file_size(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

/* Returns the bytes of the summaries. hidden: 1: of deleted versions, 0: of the other versions. */
static int64_t summary_bytes(struct store_read *r, int64_t hidden) {
    return STORE_ASK(r->connection, r->problem, 0,
                     "SELECT coalesce(sum(length(s.state)), 0) FROM dataset_summaries s JOIN "
                     "dataset_versions v ON v.id = s.version WHERE v.hidden = ?",
                     store_int(hidden));
}

void store_stats(struct store *store, struct store_stats *out) {
    struct problem problem = {0};
    struct store_read r;
    *out = (struct store_stats){.database_bytes = file_size(store->path),
                                .log_bytes = file_size(store->log_path),
                                .appends = store_appends_count(&store->appends)};
    if (store_read_begin(&r, store, &problem)) {
        out->free_bytes = STORE_PAGE_SIZE * STORE_ASK(r.connection, &problem, 0,
                                                      "PRAGMA freelist_count", STORE_NO_VALUES);
        out->dataset_bytes = STORE_ASK(r.connection, &problem, 0,
                                       "SELECT coalesce(sum(bytes), 0) FROM chunks WHERE part IN "
                                       "(SELECT p.part FROM dataset_versions v JOIN"
                                       " dataset_parts p ON p.version = v.id WHERE v.hidden = 0)",
                                       STORE_NO_VALUES) +
                             summary_bytes(&r, 0);
        out->doomed_bytes = STORE_ASK(r.connection, &problem, 0,
                                      "SELECT coalesce(sum(bytes), 0) FROM chunks WHERE part IN "
                                      "(SELECT id FROM parts WHERE state = ? UNION"
                                      " SELECT p.part FROM dataset_versions v JOIN dataset_parts p "
                                      "ON p.version = v.id WHERE v.hidden = 1 AND NOT EXISTS"
                                      " (SELECT 1 FROM dataset_parts o JOIN dataset_versions w ON "
                                      "w.id = o.version WHERE o.part = p.part AND w.hidden = 0))",
                                      store_int(STORE_PART_DEAD)) +
                            summary_bytes(&r, 1);
        store_read_end(&r);
    }
    problem_done(&problem);
    pthread_mutex_lock(&store->writer.mutex);
    out->state_queue = store->writer.state.n;
    out->bulk_queue = store->writer.bulk.n;
    out->bulk_bytes = store->writer.bulk.bytes;
    pthread_mutex_unlock(&store->writer.mutex);
}
