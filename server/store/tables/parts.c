/* Stages parts: gives them ids, puts their chunks into the bulk queue, and counts the chunks; the
 * publish checks the counts. */
#include "store/tables/parts.h"
#include "base/hash.h"
#include "base/log/log.h"
#include "store/tables/jobs/jobs.h"
#include <inttypes.h>

/* A chunk in the bulk queue; owns its blobs. */
struct append {
    /* must be the first member: a pointer to it is converted to a pointer to the append */
    struct store_work work;
    struct store *store;
    int64_t part, chunk, n_rows;
    store_done_fn done; /* callback of the caller */
    void *arg;
    struct problem problem;
    size_t n_blobs;
    struct store_new_blob blobs[];
};

/* ---- staged parts of this process ---- */

bool store_parts_init(struct store_parts *parts, struct problem *problem) {
    pthread_mutex_init(&parts->mutex, NULL);
    return store_cond_init(&parts->cond) || problem_no_memory(problem);
}

void store_parts_done(struct store_parts *parts) {
    for (size_t i = 0; i < STORE_PART_BUCKETS; i++) {
        for (struct store_part *p = parts->buckets[i], *next; p; p = next) {
            next = p->next;
            free(p);
        }
    }
    pthread_cond_destroy(&parts->cond);
    pthread_mutex_destroy(&parts->mutex);
}

/* Returns the link to the part; a link to NULL if there is no such part. The mutex is held. */
static struct store_part **find(struct store_parts *parts, int64_t id) {
    struct store_part **link = &parts->buckets[(uint64_t)id % STORE_PART_BUCKETS];
    while (*link && (*link)->id != id) {
        link = &(*link)->next;
    }
    return link;
}

bool store_parts_alive(struct store_parts *parts) {
    pthread_mutex_lock(&parts->mutex);
    bool alive = parts->n > 0;
    pthread_mutex_unlock(&parts->mutex);
    return alive;
}

int64_t store_part_begin(struct store *store, const struct store_claim *claim) {
    struct store_parts *parts = &store->parts;
    struct store_part *p = calloc(1, sizeof *p);
    if (!p) {
        /* there is no part 0, so its first chunk is refused */
        return 0;
    }
    p->id = (int64_t)(ids_random() >> 2) + 1; /* 62 random bits: unique without a transaction */
    if (claim != NULL) {
        p->claim = *claim;
    }
    pthread_mutex_lock(&parts->mutex);
    struct store_part **bucket = &parts->buckets[(uint64_t)p->id % STORE_PART_BUCKETS];
    p->next = *bucket;
    *bucket = p;
    parts->n++;
    int64_t id = p->id;
    pthread_mutex_unlock(&parts->mutex);
    return id;
}

void store_part_drop(struct store *store, int64_t part) {
    pthread_mutex_lock(&store->parts.mutex);
    struct store_part *p = *find(&store->parts, part);
    if (p) {
        p->dropped = true;
    }
    pthread_mutex_unlock(&store->parts.mutex);
    if (p) {
        store_writer_kick(store);
    }
}

static enum problem_type failure(struct store_parts *parts, int64_t part) {
    pthread_mutex_lock(&parts->mutex);
    const struct store_part *p = *find(parts, part);
    const enum problem_type failed = p ? p->failed : PROBLEM_NONE;
    pthread_mutex_unlock(&parts->mutex);
    return failed;
}

bool store_part_failed(struct store *store, int64_t part) {
    return failure(&store->parts, part) != PROBLEM_NONE;
}

/* Sets the problem of a part that cannot be published. */
static bool refuse_failed(enum problem_type failed, struct problem *problem) {
    return problem_set(problem, failed, "%s",
                       failed == PROBLEM_STORAGE_FULL
                           ? "the disk of the database is full"
                           : "a part of the data could not be stored: send the data again");
}

bool store_parts_settle(struct store_parts *parts, int64_t part, struct store_part_sum *out,
                        struct problem *problem) {
    pthread_mutex_lock(&parts->mutex);
    struct store_part *p;
    while ((p = *find(parts, part)) && p->pending > 0) {
        pthread_cond_wait(&parts->cond, &parts->mutex);
    }
    bool staged = p && !p->dropped;
    enum problem_type failed = p ? p->failed : PROBLEM_NONE;
    *out = (struct store_part_sum){.part = part, .n_chunks = p ? p->n_chunks : 0};
    pthread_mutex_unlock(&parts->mutex);
    if (part == 0) { /* store_part_begin had no memory */
        return problem_no_memory(problem);
    }
    if (!staged) {
        return problem_set_permanent(problem, PROBLEM_INTERNAL, "part %" PRId64 " is not staged",
                                     part);
    }
    return failed ? refuse_failed(failed, problem) : true;
}

void store_parts_lose(struct store_parts *parts) {
    pthread_mutex_lock(&parts->mutex);
    for (size_t i = 0; i < STORE_PART_BUCKETS; i++) {
        for (struct store_part *p = parts->buckets[i]; p; p = p->next) {
            p->failed = p->made && !p->failed ? PROBLEM_UNAVAILABLE : p->failed;
        }
    }
    pthread_mutex_unlock(&parts->mutex);
}

void store_parts_forget(struct store_parts *parts, int64_t part) {
    pthread_mutex_lock(&parts->mutex);
    struct store_part **link = find(parts, part), *p = *link;
    if (p) {
        *link = p->next;
        parts->n--;
    }
    pthread_mutex_unlock(&parts->mutex);
    free(p);
}

size_t store_parts_dropped(struct store_parts *parts, int64_t *out, size_t room) {
    size_t n = 0;
    pthread_mutex_lock(&parts->mutex);
    for (size_t i = 0; i < STORE_PART_BUCKETS; i++) {
        for (struct store_part *p = parts->buckets[i]; p && n < room; p = p->next) {
            if (p->dropped && p->pending == 0) {
                out[n++] = p->id;
            }
        }
    }
    pthread_mutex_unlock(&parts->mutex);
    return n;
}

/* ---- appending ---- */

static void insert_part(struct store_tx *tx, int64_t part, enum store_part_state state) {
    STORE_RUN(tx->connection, tx->problem,
              "INSERT INTO parts (id, state, owner, lease_until, created_at) VALUES (?, ?, ?, ?, "
              "?)",
              store_int(part), store_int(state), store_text(tx->store->owner),
              store_int(tx->now + tx->store->lease_ms), store_int(tx->now));
}

static void append_run(struct store_tx *tx, void *arg) {
    struct append *a = arg;
    struct store_parts *parts = &tx->store->parts;
    pthread_mutex_lock(&parts->mutex);
    struct store_part *p = *find(parts, a->part);
    bool dropped = !p || p->dropped, made = p && p->made;
    enum problem_type failed = p ? p->failed : PROBLEM_NONE;
    const struct store_claim claim = p ? p->claim : (struct store_claim){0};
    pthread_mutex_unlock(&parts->mutex);
    if (failed) {
        refuse_failed(failed, tx->problem);
        return;
    }
    if (dropped) {
        problem_set(tx->problem, PROBLEM_CONFLICT,
                    "the data were given up before this chunk was stored");
        return;
    }
    if (claim.job != 0) {
        store_claim_check(tx, &claim);
    }
    if (!made) {
        insert_part(tx, a->part, STORE_PART_STAGED);
    }
    const int64_t first = tx->store->engine->take_blobs(tx, (int64_t)a->n_blobs);
    tx->store->engine->put_blobs(tx, first, a->blobs, a->n_blobs);
    STORE_RUN(tx->connection, tx->problem,
              "INSERT INTO chunks (part, chunk, n_rows, first_blob, n_blobs, bytes) VALUES (?, ?, "
              "?, ?, ?, ?)",
              store_int(a->part), store_int(a->chunk), store_int(a->n_rows), store_int(first),
              store_int((int64_t)a->n_blobs), store_int((int64_t)a->work.bytes));
}

static void append_free(struct append *a) {
    for (size_t i = 0; i < a->n_blobs; i++) {
        free(a->blobs[i].blob.bytes);
    }
    problem_done(&a->problem);
    free(a);
}

static void append_done(struct store_work *work) {
    struct append *a = (struct append *)work;
    struct store_parts *parts = &a->store->parts;
    if (a->done) {
        a->done(a->arg, a->problem.type ? &a->problem : NULL);
    }
    bool sweep = false;
    pthread_mutex_lock(&parts->mutex);
    struct store_part *p = *find(parts, a->part);
    if (p) {
        p->made = p->made || !a->problem.type;
        p->failed = p->failed ? p->failed : a->problem.type;
        sweep = --p->pending == 0 && p->dropped;
        pthread_cond_broadcast(&parts->cond);
    }
    pthread_mutex_unlock(&parts->mutex);
    if (sweep) {
        store_writer_kick(a->store);
    }
    append_free(a);
}

/* Whether the chunk has the next number. If the first chunk has number 1, number 0 is accepted at
 * any time after it. The mutex is held. */
static bool is_due(struct store_part *p, int64_t chunk) {
    if (p->n_chunks == 0 && chunk == 1) {
        p->due = 1;
        p->front = true;
    }
    const bool next = chunk == p->due, front = chunk == 0 && p->front;
    p->due += next;
    p->front = p->front && !front;
    return next || front;
}

/* Counts the chunk. Returns false after setting the problem of the append if the chunk must be
 * refused. */
static bool enter(struct store_parts *parts, struct append *a) {
    pthread_mutex_lock(&parts->mutex);
    struct store_part *p = *find(parts, a->part);
    const int64_t due = p ? p->due : 0;
    bool fits = p && is_due(p, a->chunk);
    if (a->part == 0) { /* store_part_begin had no memory */
        problem_no_memory(&a->problem);
    } else if (!p) {
        problem_set(&a->problem, PROBLEM_INTERNAL, "part %" PRId64 " is not staged", a->part);
    } else {
        p->pending++;
        p->n_chunks++;
        if (!fits) {
            problem_set(&a->problem, PROBLEM_INTERNAL,
                        "chunk %" PRId64 " was appended in place of chunk %" PRId64, a->chunk, due);
        }
    }
    pthread_mutex_unlock(&parts->mutex);
    return fits;
}

static void append_refused(struct store_tx *tx, void *arg) {
    (void)tx;
    /* the problem of the append is set already, so the transaction is empty */
    (void)arg;
}

/* Refuses a chunk because there is no memory for its queue entry: calls `done` on the caller's
 * thread. */
static bool append_without_memory(struct store *store, int64_t part, const struct store_blob *blobs,
                                  size_t n_blobs, store_done_fn done, void *arg) {
    for (size_t i = 0; i < n_blobs; i++) {
        free(blobs[i].bytes);
    }
    pthread_mutex_lock(&store->parts.mutex);
    struct store_part *p = *find(&store->parts, part);
    if (p) {
        p->failed = p->failed ? p->failed : PROBLEM_UNAVAILABLE;
    }
    pthread_mutex_unlock(&store->parts.mutex);
    struct problem problem = {0};
    problem_no_memory(&problem);
    if (done) {
        done(arg, &problem);
    }
    problem_done(&problem);
    return true;
}

bool store_part_append(struct store *store, int64_t part, int64_t chunk, int64_t n_rows,
                       const struct store_blob *blobs, size_t n_blobs, store_done_fn done,
                       void *arg) {
    struct append *a = malloc(sizeof *a + n_blobs * sizeof *a->blobs);
    if (!a) {
        return append_without_memory(store, part, blobs, n_blobs, done, arg);
    }
    *a = (struct append){.store = store,
                         .part = part,
                         .chunk = chunk,
                         .n_rows = n_rows,
                         .done = done,
                         .arg = arg,
                         .n_blobs = n_blobs};
    a->work = (struct store_work){.run = append_run,
                                  .arg = a,
                                  .problem = &a->problem,
                                  .done = append_done};
    for (size_t i = 0; i < n_blobs; i++) {
        a->blobs[i] = (struct store_new_blob){.blob = blobs[i],
                                              .crc = hash_crc32(blobs[i].bytes, blobs[i].size)};
        a->work.bytes += blobs[i].size;
    }
    if (!enter(&store->parts, a)) {
        a->work.run = append_refused;
    }
    return store_writer_push_bulk(store, &a->work);
}

/* ---- publishing ---- */

/* Another process may have removed the part: this one has not renewed its lease in time. */
static void refuse_unstaged(struct store_tx *tx, int64_t part) {
    if (tx->store->engine->sharing != NULL) {
        problem_set_lost(
            tx->problem,
            "the daemon stood still for longer than its lease, and a part of the data was "
            "removed: send the data again");
    } else {
        problem_set_permanent(tx->problem, PROBLEM_INTERNAL, "part %" PRId64 " is not staged",
                              part);
    }
}

void store_part_publish(struct store_tx *tx, const struct store_part_sum *staged, int64_t n_rows,
                        int64_t bytes) {
    /* the part may have failed since store_parts_settle */
    const enum problem_type failed = failure(&tx->store->parts, staged->part);
    struct store_query q;
    int64_t found[3] = {0}, changed;
    if (failed) {
        refuse_failed(failed, tx->problem);
        return;
    }
    STORE_RUN_COUNT(tx->connection, tx->problem, &changed,
                    "UPDATE parts SET state = ?3 WHERE id = ?1 AND state = ?4 AND owner = ?2",
                    store_int(staged->part), store_text(tx->store->owner),
                    store_int(STORE_PART_PUBLISHED), store_int(STORE_PART_STAGED));
    if (changed == 0 && staged->n_chunks == 0) { /* a part without chunks has no row */
        insert_part(tx, staged->part, STORE_PART_PUBLISHED);
    } else if (changed == 0) {
        refuse_unstaged(tx, staged->part);
    }
    STORE_QUERY(&q, tx->connection, tx->problem,
                "SELECT count(*), " STORE_SUM("n_rows") ", " STORE_SUM("bytes") " FROM chunks "
                                                                                "WHERE part = ?",
                store_int(staged->part));
    if (store_query_row(&q)) {
        for (int i = 0; i < 3; i++) {
            found[i] = store_query_int(&q, i);
        }
    }
    store_query_end(&q);
    if (found[0] != staged->n_chunks || (n_rows >= 0 && found[1] != n_rows) ||
        (bytes >= 0 && found[2] != bytes)) {
        problem_set_permanent(tx->problem, PROBLEM_INTERNAL,
                              "part %" PRId64 " has %" PRId64 " chunks, %" PRId64 " rows, %" PRId64
                              " bytes; %" PRId64 " chunks, %" PRId64 " rows, %" PRId64
                              " bytes were expected (-1: any)",
                              staged->part, found[0], found[1], found[2], staged->n_chunks, n_rows,
                              bytes);
    }
}
