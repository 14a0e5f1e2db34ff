/* What is done when a database is opened: leases of earlier processes, looked at again some seconds
 * later, the format of the documents, the number of the next blob. */
#include "base/log/log.h"
#include "base/process/clock.h"
#include "store/tables/tables.h"

enum { AGAIN_MS = 2000, LOOK_MS = 5000 };

/* Ends the leases of this owner, or of all owners but this process. */
static void end_leases(struct store_tx *tx, const char *owner) {
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE parts SET lease_until = 0 WHERE state = ?1 AND owner <> ?2 AND owner = "
              "coalesce(?3, owner) AND " STORE_INTACT_PARTS("parts"),
              store_int(STORE_PART_STAGED), store_text(tx->store->owner), store_text(owner));
    STORE_RUN(tx->connection, tx->problem,
              "UPDATE jobs SET lease_until = 0 WHERE state = ?1 AND owner <> ?2 AND owner = "
              "coalesce(?3, owner) AND " STORE_INTACT_JOBS("jobs"),
              store_int(STORE_JOB_RUNNING), store_text(tx->store->owner), store_text(owner));
}

static bool was_gone(const struct store_writer *w, const char *owner) {
    for (size_t i = 0; i < w->n_gone; i++) {
        if (strcmp(w->gone[i], owner) == 0) {
            return true;
        }
    }
    return false;
}

/* Ends the leases of the processes that have ended, some of them at once: a lease that stays ends by
 * time. At a later look a process must have been gone at the one before, too: it may be connecting
 * again. */
static void end_leases_of_gone(struct store_tx *tx) {
    struct store_writer *w = &tx->store->writer;
    char owners[STORE_OWNERS][sizeof w->gone[0]];
    size_t n = 0, n_gone = 0;
    struct store_query q;
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT owner FROM jobs WHERE state = ?1 AND owner <> ?3 UNION SELECT owner FROM "
                "parts WHERE state = ?2 AND owner <> ?3",
                store_int(STORE_JOB_RUNNING), store_int(STORE_PART_STAGED),
                store_text(tx->store->owner));
    while (n < STORE_OWNERS && store_query_row(&q)) {
        store_query_copy(&q, 0, owners[n++], sizeof owners[0]);
    }
    store_query_end(&q);
    for (size_t i = 0; i < n; i++) {
        if (tx->store->engine->sharing->is_gone(tx, owners[i])) {
            if (w->look_until_ns == 0 || was_gone(w, owners[i])) {
                end_leases(tx, owners[i]);
            }
            memmove(owners[n_gone++], owners[i], sizeof owners[0]);
        }
    }
    memcpy(w->gone, owners, n_gone * sizeof owners[0]);
    w->n_gone = n_gone;
}

/* Ends the leases of other owners at once: this process has locked the lock file, so the others have
 * ended. If other processes may have the database open, it looks which of them have. */
static void recover(struct store_tx *tx, void *arg) {
    (void)arg;
    if (tx->store->engine->sharing != NULL) {
        if (clock_monotonic_ns() >= tx->store->expire_ns) { /* else they may connect again */
            end_leases_of_gone(tx);
        }
    } else {
        end_leases(tx, NULL);
    }
    store_jobs_expire(tx);
}

/* Whether to look once more which processes have ended: the server needs a moment to see that. */
static bool looks_again(struct store *store) {
    struct store_writer *w = &store->writer;
    const int64_t now = clock_monotonic_ns();
    if (store->engine->sharing == NULL || store->alone) {
        return false;
    }
    if (w->look_until_ns == 0) {
        w->look_until_ns = now + (int64_t)LOOK_MS * 1000000;
    }
    return now < w->look_until_ns;
}

/* If the disk is full or its fsync fails, store_open succeeds: the writer thread retries later. */
bool store_recover(struct store *store, struct problem *problem) {
    struct problem own = {0};
    const bool done = store_writer_transact(store, recover, NULL, true, &own),
               later = own.type == PROBLEM_STORAGE_FULL || store->writer.lost,
               again = looks_again(store) || later;
    store->writer.recover_ns = again ? clock_monotonic_ns() + (int64_t)AGAIN_MS * 1000000 : 0;
    if (later) {
        log_warn("store.recover", log_str("problem", own.detail));
    } else if (!done) {
        problem_copy(problem, &own);
    }
    problem_done(&own);
    return done || later;
}

/* Refuses documents of a newer format, which this binary would misinterpret. */
bool store_check_documents(struct store_connection *c, struct problem *problem) {
    const int64_t highest =
        STORE_ASK(c, problem, 0,
                  "SELECT max(format) FROM (SELECT 0 AS format UNION ALL "
                  "SELECT format FROM dataset_versions v WHERE format > ?1 "
                  "AND " STORE_INTACT_DATASET_VERSIONS(
                      "v") " UNION ALL "
                           "SELECT format FROM model_versions v WHERE format > ?1 "
                           "AND " STORE_INTACT_MODEL_VERSIONS(
                               "v") " UNION ALL "
                                    "SELECT spec_format FROM jobs WHERE spec_format > ?1 "
                                    "AND " STORE_INTACT_JOBS(
                                        "jobs") " UNION ALL SELECT result_format FROM jobs WHERE "
                                                "result_format > ?1 AND " STORE_INTACT_JOBS(
                                                    "jobs") ") AS f",
                  store_int(STORE_DOCUMENT_FORMAT));
    if (problem->type == PROBLEM_NONE && highest > STORE_DOCUMENT_FORMAT) {
        problem_set(problem, PROBLEM_INTERNAL,
                    "the database is newer than this binary: it has documents of format %lld, "
                    "but this binary reads only formats up to %d",
                    (long long)highest, STORE_DOCUMENT_FORMAT);
    }
    return problem->type == PROBLEM_NONE;
}

/* After the last blob, and after the last that a chunk refers to: that one may be damaged. */
void store_count_blobs(struct store *store, struct problem *problem) {
    struct store_connection *c = store->writer.connection;
    const int64_t after[] = {
        STORE_ASK(c, problem, 0, "SELECT coalesce(max(id), 0) + 1 FROM blobs", STORE_NO_VALUES),
        STORE_ASK(c, problem, 0,
                  "SELECT coalesce(max(first_blob + n_blobs), 0) FROM chunks c "
                  "WHERE " STORE_INTACT_CHUNKS("c"),
                  STORE_NO_VALUES)};
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) {
        store->next_blob = after[i] > store->next_blob ? after[i] : store->next_blob;
    }
}
