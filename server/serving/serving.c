/* Models in memory: the table under one lock, the changes that the store has committed, one load of
 * a version for all callers that wait for it, and the thread that frees models. */
#include "serving/serving.h"
#include "serving/model_rule.h"
#include "serving/model_table.h"

#include "base/log/log.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct serving {
    struct store *store;
    const struct serving_plans *plans; /* NULL: none */
    _Atomic int64_t seen; /* number of the last change that was applied; written under the lock */
    pthread_mutex_t lock; /* guards the table; leaf */
    pthread_cond_t loaded;
    pthread_cond_t removed; /* the table has removed slots, or the reclaimer must end */
    pthread_t reclaimer;
    bool closing;
    struct model_table table;
};

/* Releases the lock. Every change of the table ends here, so that slots it removed are freed. */
static void unlock(struct serving *s) {
    if (s->table.removed != NULL) {
        pthread_cond_signal(&s->removed);
    }
    pthread_mutex_unlock(&s->lock);
}

/* The thread that frees models, so that no I/O thread does. Frees them without the lock. */
static void *reclaim(void *arg) {
    struct serving *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->closing) {
        struct model_slot *slots = model_table_take_removed(&s->table);
        if (slots == NULL) {
            pthread_cond_wait(&s->removed, &s->lock);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        model_slots_free(slots);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Applies the changes committed since the last call. The store is read without the lock. Of two
 * threads that do so at once, the second finds its changes applied already. Returns false while a
 * change of this model is being committed: a client may have read it, so only the store knows the
 * live version. */
static bool absorb(struct serving *s, const char *name) {
    struct store_change changes[64];
    for (;;) {
        bool committing;
        int64_t since = atomic_load_explicit(&s->seen, memory_order_acquire),
                last = store_changes_look(s->store, name, &committing);
        if (since == last) {
            return !committing;
        }
        bool lost = false;
        size_t n =
            store_changes(s->store, since, changes, sizeof changes / sizeof changes[0], &lost);
        pthread_mutex_lock(&s->lock);
        if (atomic_load_explicit(&s->seen, memory_order_relaxed) == since) {
            if (lost) {
                model_table_forget(&s->table);
            }
            for (size_t i = 0; i < n && !lost; i++) {
                if (changes[i].kind == STORE_CHANGE_MODEL) {
                    model_table_change(&s->table, &changes[i]);
                }
            }
            atomic_store_explicit(&s->seen, lost || n == 0 ? last : changes[n - 1].seq,
                                  memory_order_release);
        }
        unlock(s);
    }
}

const struct serving_model *serving_try(struct serving *s, const char *name, int64_t version,
                                        int64_t change) {
    const struct serving_model *found = NULL;
    if (!store_changes_reached(s->store, change) || (!absorb(s, name) && version == 0)) {
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    if (version == 0) {
        version = model_table_live(&s->table, name);
    }
    struct model_slot *slot = version > 0 ? model_table_find(&s->table, name, version) : NULL;
    if (slot && slot->state == SLOT_READY) {
        s->table.stats.hits++;
        slot->users++;
        model_table_touch(&s->table, slot);
        found = &slot->pub;
    }
    unlock(s);
    return found;
}

void serving_release(struct serving *s, const struct serving_model *model) {
    if (!model) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    model_table_release(&s->table,
                        (struct model_slot *)(uintptr_t)model); /* pub is the first member */
    unlock(s);
}

/* Reads and decodes a version, and makes its plan, without the lock. */
static bool load(struct serving *s, const char *name, int64_t version, struct model_loaded *out,
                 struct problem *problem) {
    struct store_model m;
    struct model_loaded loaded = {0};
    struct buf bytes = {0};
    dn_error err;
    dn_error_clear(&err);
    if (!store_model_get(s->store, name, version, &m, problem)) {
        return false;
    }
    const dn_status read = store_model_bytes(s->store, m.id, &bytes, problem)
                               ? dn_model_read(bytes.data, bytes.size, &loaded.model, &err)
                               : DN_OK;
    if (read != DN_OK) {
        problem_set(problem, read == DN_ERR_MEMORY ? PROBLEM_UNAVAILABLE : PROBLEM_INTERNAL,
                    "model %s version %lld cannot be read back: %s", name, (long long)version,
                    err.message);
    }
    if (loaded.model != NULL && !model_rule_set(loaded.model, m.rule)) {
        problem_set(problem, PROBLEM_INTERNAL,
                    "the decision rule of model %s version %lld cannot be read back", name,
                    (long long)version);
    }
    if (loaded.model != NULL && s->plans != NULL) {
        loaded.plan_free = s->plans->free;
        loaded.plan = s->plans->make(loaded.model, name, version, m.info);
        if (loaded.plan == NULL) {
            problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to load model %s", name);
        }
    }
    if (problem->type == PROBLEM_INTERNAL) {
        log_error("model.load", log_str("model", name), log_int("version", version),
                  log_str("detail", problem->detail));
    }
    buf_done(&bytes);
    store_model_done(&m);
    if (problem->type != PROBLEM_NONE) {
        model_loaded_free(&loaded);
        return false;
    }
    *out = loaded;
    return true;
}

/* Returns the live version, which is read from the store if the table does not know it; 0 after
 * setting the problem. The version is stored in the table only if nothing changed while it was
 * read. */
static int64_t live_version(struct serving *s, const char *name, struct problem *problem) {
    const bool settled = absorb(s, name);
    pthread_mutex_lock(&s->lock);
    int64_t live = settled ? model_table_live(&s->table, name) : 0, seen = s->seen;
    unlock(s);
    if (live != 0) {
        return live;
    }
    struct store_model m;
    if (!store_model_get(s->store, name, 0, &m, problem)) {
        return 0;
    }
    live = m.version;
    store_model_done(&m);
    (void)absorb(s, name); /* the change of a later commit corrects the entry */
    pthread_mutex_lock(&s->lock);
    if (s->seen == seen) {
        model_table_set_live(&s->table, name, live);
    }
    unlock(s);
    return live;
}

const struct serving_model *serving_get(struct serving *s, const char *name, int64_t version,
                                        int64_t change, struct problem *problem) {
    if (!store_changes_reach(s->store, change, problem)) {
        return NULL;
    }
    if (!ids_name_valid(name, strlen(name))) {
        problem_set(problem, PROBLEM_UNKNOWN_MODEL, "there is no model \"%s\"", name);
        return NULL;
    }
    if (version == 0 && (version = live_version(s, name, problem)) == 0) {
        return NULL;
    }
    (void)absorb(s, name);
    pthread_mutex_lock(&s->lock);
    struct model_slot *slot = model_table_find(&s->table, name, version);
    if (!slot) {
        slot = model_table_add(&s->table, name, version);
        if (!slot) {
            unlock(s);
            problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to load model %s", name);
            return NULL;
        }
        unlock(s);
        struct problem why = {0};
        struct model_loaded loaded;
        const bool good = load(s, name, version, &loaded, &why);
        pthread_mutex_lock(&s->lock);
        model_table_end_load(&s->table, slot, good ? &loaded : NULL, &why);
        pthread_cond_broadcast(&s->loaded);
        problem_done(&why);
    } else {
        slot->users++;
        while (slot->state == SLOT_LOADING) {
            pthread_cond_wait(&s->loaded, &s->lock);
        }
    }
    const struct serving_model *found = NULL;
    if (slot->state == SLOT_READY) {
        model_table_touch(&s->table, slot);
        found = &slot->pub;
    } else {
        problem_copy(problem, &slot->problem);
        model_table_release(&s->table, slot);
    }
    unlock(s);
    return found;
}

static void serving_free(struct serving *s) {
    pthread_cond_destroy(&s->removed);
    pthread_cond_destroy(&s->loaded);
    pthread_mutex_destroy(&s->lock);
    model_table_done(&s->table);
    free(s);
}

bool serving_open(struct store *store, int64_t cache_bytes, const struct serving_plans *plans,
                  struct serving **out, struct problem *problem) {
    struct serving *s = calloc(1, sizeof *s);
    if (!s || !model_table_init(&s->table, cache_bytes)) {
        free(s);
        return problem_no_memory(problem);
    }
    s->store = store;
    s->plans = plans;
    atomic_init(&s->seen, store_changes_last(store));
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->loaded, NULL);
    pthread_cond_init(&s->removed, NULL);
    if (pthread_create(&s->reclaimer, NULL, reclaim, s) != 0) {
        serving_free(s);
        return problem_set(problem, PROBLEM_INTERNAL, "cannot start the thread that frees models");
    }
    *out = s;
    return true;
}

void serving_close(struct serving *s) {
    if (s == NULL) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_signal(&s->removed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->reclaimer, NULL);
    serving_free(s);
}

void serving_stats(struct serving *s, struct serving_stats *out) {
    pthread_mutex_lock(&s->lock);
    *out = s->table.stats;
    unlock(s);
}
