/* Idempotency keys. A call holds its key from its header to its answer, so that no two calls with
 * one key run at the same time. What a call made and its answer are committed together: after a
 * crash both exist or neither. */
#include "store/tables/keys.h"
#include "base/process/clock.h"
#include "store/tables/tables.h"
#include <inttypes.h>

#define KEY_INTACT STORE_INTACT_IDEMPOTENCY_KEYS("k")

enum { KEPT_MS = 24 * 60 * 60 * 1000, EXPIRE_AT_ONCE = 256 };

/* ---- keys in use ---- */

struct store_key_use {
    struct store_key_use *next;
    char *owner, *key;
    char *shared; /* owner and key, as the name of the key for all processes */
};

void store_keys_init(struct store_keys *keys) {
    *keys = (struct store_keys){0};
    pthread_mutex_init(&keys->mutex, NULL);
}

void store_keys_done(struct store_keys *keys) {
    pthread_mutex_destroy(&keys->mutex);
}

static void use_free(struct store_key_use *use) {
    if (use != NULL) {
        free(use->owner);
        free(use->key);
        free(use->shared);
        free(use);
    }
}

static struct store_key_use *use_new(const char *owner, const char *key) {
    struct store_key_use *use = calloc(1, sizeof *use);
    struct buf shared = {0};
    if (use != NULL) {
        use->owner = strdup(owner);
        use->key = strdup(key);
        buf_printf(&shared, "%s %s", owner, key);
        use->shared = buf_take(&shared, NULL);
    }
    if (use != NULL && use->owner != NULL && use->key != NULL && use->shared != NULL) {
        return use;
    }
    use_free(use);
    return NULL;
}

/* The mutex is held. */
static bool is_used(const struct store_keys *keys, const struct store_key_use *own) {
    for (const struct store_key_use *u = keys->first; u != NULL; u = u->next) {
        if (strcmp(u->key, own->key) == 0 && strcmp(u->owner, own->owner) == 0) {
            return true;
        }
    }
    return false;
}

static void forget(struct store_keys *keys, const struct store_key_use *use) {
    pthread_mutex_lock(&keys->mutex);
    struct store_key_use **link = &keys->first;
    while (*link != use) {
        link = &(*link)->next;
    }
    *link = use->next;
    pthread_mutex_unlock(&keys->mutex);
}

/* Whether no other process uses the key. */
static bool hold(struct store *store, const struct store_key_use *use, struct problem *problem) {
    const struct store_sharing *sharing = store->engine->sharing;
    return sharing == NULL || sharing->hold(store, STORE_HOLD_KEY, use->shared, problem);
}

struct store_key_use *store_key_enter(struct store *store, const struct store_key *key,
                                      struct problem *problem) {
    struct store_keys *keys = &store->keys;
    struct store_key_use *use = use_new(key->owner, key->key);
    if (use == NULL) {
        problem_no_memory(problem);
        return NULL;
    }
    pthread_mutex_lock(&keys->mutex);
    const bool used = is_used(keys, use);
    if (!used) {
        use->next = keys->first;
        keys->first = use;
    }
    pthread_mutex_unlock(&keys->mutex);
    if (!used && hold(store, use, problem)) {
        return use;
    }
    if (!used) {
        forget(keys, use);
    }
    if (problem->type == PROBLEM_NONE) {
        problem_set(problem, PROBLEM_KEY_IN_USE,
                    "a request with Idempotency-Key \"%s\" is in progress; try again later",
                    key->key);
    }
    use_free(use);
    return NULL;
}

void store_key_leave(struct store *store, struct store_key_use *use) {
    struct store_keys *keys = &store->keys;
    if (use == NULL) {
        return;
    }
    if (store->engine->sharing != NULL) {
        store->engine->sharing->release(store, STORE_HOLD_KEY, use->shared);
    }
    forget(keys, use);
    use_free(use);
}

/* ---- answers ---- */

void store_answer_done(struct store_answer *answer) {
    free(answer->location);
    buf_done(&answer->body);
    *answer = (struct store_answer){0};
}

bool store_key_check(const struct store_key *key, const struct store_answer *answer,
                     struct problem *problem) {
    const bool request = strcmp(key->request, answer->request) == 0;
    if (request && (key->body[0] == '\0' || strcmp(key->body, answer->body_digest) == 0)) {
        return true;
    }
    return problem_set(problem, PROBLEM_KEY_REUSED,
                       "Idempotency-Key \"%s\" was used for a request with another %s", key->key,
                       request ? "body" : "method, path, query or Content-Type");
}

static void load(struct store_query *q, struct store_answer *out) {
    out->status = (int)store_query_int(q, 1);
    out->location = store_query_take(q, 2);
    store_query_copy(q, 3, out->etag, sizeof out->etag);
    store_query_copy(q, 4, out->request, sizeof out->request);
    store_query_copy(q, 5, out->body_digest, sizeof out->body_digest);
    const char *text = store_query_text(q, 6);
    buf_puts(&out->body, text != NULL ? text : "");
    if (out->body.failed) {
        problem_no_memory(q->problem);
    }
}

bool store_key_find(struct store *store, const struct store_key *key, struct store_answer *out,
                    bool *found, struct problem *problem) {
    struct store_read r;
    struct store_query q;
    struct store_answer answer = {0};
    if (!store_read_begin(&r, store, problem)) {
        return false;
    }
    STORE_QUERY(&q, r.connection, problem,
                "SELECT " STORE_DAMAGE_IDEMPOTENCY_KEYS(
                    "k") ", status, location, etag, request, body, answer, created_at FROM "
                         "idempotency_keys k WHERE owner = ? AND key = ?",
                store_text(key->owner), store_text(key->key));
    const bool there = store_query_row(&q) && store_query_intact(&q, 0) &&
                       store_query_int(&q, 7) > store_now(store) - KEPT_MS;
    if (there) {
        load(&q, &answer);
    }
    store_query_end(&q);
    if (!store_read_end(&r) || (there && !store_key_check(key, &answer, problem))) {
        store_answer_done(&answer);
        return false;
    }
    *out = answer;
    *found = there;
    return true;
}

/* ---- in a transaction ---- */

static void check_number(struct store_tx *tx, struct store_key *key) {
    if (key->max_keys <= 0 ||
        STORE_ASK(tx->connection, tx->problem, 0,
                  "SELECT count(*) FROM idempotency_keys WHERE owner = ? AND created_at > ?",
                  store_text(key->owner), store_int(tx->now - KEPT_MS)) < key->max_keys) {
        return;
    }
    const int64_t oldest =
        STORE_ASK(tx->connection, tx->problem, tx->now,
                  "SELECT min(created_at) FROM idempotency_keys WHERE owner = ? AND created_at > ?",
                  store_text(key->owner), store_int(tx->now - KEPT_MS));
    key->retry_s = (oldest + KEPT_MS - tx->now) / 1000 + 1;
    problem_set(tx->problem, PROBLEM_TOO_MANY_REQUESTS,
                "%" PRId64 " Idempotency-Keys were used in 24 hours, as many as "
                "--idempotency-keys allows%s; send the request without one, or later",
                key->max_keys, key->owner[0] != '\0' ? " a token" : "");
}

void store_key_add(struct store_tx *tx, struct store_key *key, const void *made) {
    if (key == NULL || tx->problem->type != PROBLEM_NONE) {
        return;
    }
    check_number(tx, key);
    store_answer_done(&key->answer);
    key->write(key->arg, made, &key->answer);
    const struct store_answer *a = &key->answer;
    const char *text = buf_cstr(&key->answer.body);
    int64_t added = 0;
    if (text == NULL || a->location == NULL) {
        problem_no_memory(tx->problem);
        return;
    }
    STORE_RUN(tx->connection, tx->problem,
              "DELETE FROM idempotency_keys WHERE owner = ? AND key = ? AND created_at <= ?",
              store_text(key->owner), store_text(key->key), store_int(tx->now - KEPT_MS));
    STORE_RUN_COUNT(
        tx->connection, tx->problem, &added,
        "INSERT INTO idempotency_keys (id, owner, key, created_at, request, body, "
        "status, location, etag, bytes, answer, crc) SELECT id, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
        "?9, ?10, " STORE_ROW_CRC(
            "id, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10") " FROM (SELECT "
                                                           "coalesce(max(id), 0) + 1 AS id FROM "
                                                           "idempotency_keys) AS n WHERE true ON "
                                                           "CONFLICT DO "
                                                           "NOTHING",
        store_text(key->owner), store_text(key->key), store_int(tx->now), store_text(key->request),
        store_text(key->body), store_int(a->status), store_text(a->location), store_text(a->etag),
        store_int((int64_t)a->body.size), store_text(text));
    if (added == 0) { /* not expected: store_key_find has found none, and the key is held */
        problem_set(tx->problem, PROBLEM_CONFLICT, "Idempotency-Key \"%s\" was used meanwhile",
                    key->key);
    }
}

int64_t store_keys_expire(struct store_tx *tx) {
    int64_t n = 0;
    STORE_RUN_COUNT(tx->connection, tx->problem, &n,
                    "DELETE FROM idempotency_keys WHERE id IN (SELECT id FROM idempotency_keys k "
                    "WHERE created_at <= ?1 AND " KEY_INTACT " LIMIT ?2)",
                    store_int(tx->now - KEPT_MS), store_int(EXPIRE_AT_ONCE));
    return n;
}
