/* The table of models in memory: names with their live version, versions with their model.
 *
 * Two kinds of entry. A *name* remembers which version is live, and is forgotten ("stale") when the store reports a change of it. A *slot* is one version of a model: loading
 * (some thread reads it, others wait on the condition), ready, or failed. Slots are counted by their users; those nobody uses stay until the cache is over its budget. */
#include "serving/serving.h"

#include "base/log.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MIN 64 /* buckets; grows by doubling */

enum slot_state { SLOT_LOADING, SLOT_READY, SLOT_FAILED };

/* One version of a model. */
struct slot {
    struct serving_model pub; /* first: what callers hold */
    enum slot_state state;
    struct problem problem; /* of a failed load */
    dn_model *model;        /* owned reference; NULL until ready */
    int64_t bytes;          /* memory of the model */
    size_t users;           /* borrowed, or waiting for the load */
    bool dropped;           /* not in the table any more: freed by the last user */
    uint64_t used;          /* tick of the last borrow, for LRU */
    struct slot *next;      /* in its bucket */
};

/* What is known of a name: its live version. */
struct name {
    char name[IDS_NAME_SIZE];
    int64_t live;
    struct name *next;
};

struct serving {
    struct store *store;
    int64_t budget;
    _Atomic int64_t seen; /* seq of the last change taken in; written under the lock */
    pthread_mutex_t lock; /* guards all below; leaf */
    pthread_cond_t loaded;
    struct name **names;
    size_t n_names, n_name_buckets;
    struct slot **slots;
    size_t n_slots, n_slot_buckets;
    uint64_t tick;
    struct serving_stats stats;
};

static size_t hash_name(const char *name, int64_t version) {
    uint64_t h = 1469598103934665603u ^ (uint64_t)version; /* FNV-1a */
    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    return (size_t)(h ^ (h >> 32));
}

static void slot_free(struct slot *s) {
    dn_model_unref(s->model);
    problem_done(&s->problem);
    free(s);
}

/* ---- the table of names ---- */

static struct name **name_find(struct serving *s, const char *name) {
    struct name **at = &s->names[hash_name(name, 0) & (s->n_name_buckets - 1)];
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static void names_forget_all(struct serving *s) {
    for (size_t b = 0; b < s->n_name_buckets; b++) {
        while (s->names[b]) {
            struct name *n = s->names[b];
            s->names[b] = n->next;
            free(n);
        }
    }
    s->n_names = 0;
}

static void name_forget(struct serving *s, const char *name) {
    struct name **at = name_find(s, name);
    if (*at) {
        struct name *n = *at;
        *at = n->next;
        free(n);
        s->n_names--;
    }
}

static void names_grow(struct serving *s) {
    size_t n = s->n_name_buckets * 2;
    struct name **fresh = calloc(n, sizeof *fresh);
    if (!fresh)
        return; /* longer chains, nothing worse */
    for (size_t b = 0; b < s->n_name_buckets; b++) {
        for (struct name *e = s->names[b], *next; e; e = next) {
            next = e->next;
            size_t k = hash_name(e->name, 0) & (n - 1);
            e->next = fresh[k];
            fresh[k] = e;
        }
    }
    free(s->names);
    s->names = fresh;
    s->n_name_buckets = n;
}

static void name_remember(struct serving *s, const char *name, int64_t live) {
    struct name **at = name_find(s, name);
    if (*at) {
        (*at)->live = live;
        return;
    }
    struct name *n = calloc(1, sizeof *n);
    if (!n)
        return; /* asked for again next time */
    memcpy(n->name, name, strlen(name) + 1);
    n->live = live;
    n->next = *at;
    *at = n;
    if (++s->n_names > s->n_name_buckets)
        names_grow(s);
}

/* ---- the table of versions ---- */

static struct slot **slot_find(struct serving *s, const char *name, int64_t version) {
    struct slot **at = &s->slots[hash_name(name, version) & (s->n_slot_buckets - 1)];
    while (*at && ((*at)->pub.version != version || strcmp((*at)->pub.name, name) != 0))
        at = &(*at)->next;
    return at;
}

static void slots_grow(struct serving *s) {
    size_t n = s->n_slot_buckets * 2;
    struct slot **fresh = calloc(n, sizeof *fresh);
    if (!fresh)
        return;
    for (size_t b = 0; b < s->n_slot_buckets; b++) {
        for (struct slot *e = s->slots[b], *next; e; e = next) {
            next = e->next;
            size_t k = hash_name(e->pub.name, e->pub.version) & (n - 1);
            e->next = fresh[k];
            fresh[k] = e;
        }
    }
    free(s->slots);
    s->slots = fresh;
    s->n_slot_buckets = n;
}

static void slot_drop(struct serving *s, struct slot **at) {
    struct slot *slot = *at;
    assert(slot != NULL);
    *at = slot->next;
    s->n_slots--;
    if (slot->state == SLOT_READY) {
        s->stats.models--;
        s->stats.bytes -= slot->bytes;
    }
    slot->dropped = true;
    if (slot->users == 0)
        slot_free(slot);
}

/* Drops what nobody uses, longest unused first, until the cache is within its budget. */
static void evict(struct serving *s) {
    while (s->stats.bytes > s->budget) {
        struct slot **oldest = NULL;
        for (size_t b = 0; b < s->n_slot_buckets; b++)
            for (struct slot **at = &s->slots[b]; *at; at = &(*at)->next)
                if ((*at)->users == 0 && (*at)->state == SLOT_READY && (!oldest || (*at)->used < (*oldest)->used))
                    oldest = at;
        if (!oldest)
            return;
        s->stats.evictions++;
        slot_drop(s, oldest);
    }
}

/* Drops the versions of a name (NULL: of all): they go when their last user is done, one that is being loaded when its load ends. */
static void slots_drop(struct serving *s, const char *name) {
    for (size_t b = 0; b < s->n_slot_buckets; b++) {
        for (struct slot **at = &s->slots[b]; *at;) {
            if (!name || strcmp((*at)->pub.name, name) == 0)
                slot_drop(s, at);
            else
                at = &(*at)->next;
        }
    }
}

/* One change taken in: the name is forgotten, its versions too (one of them may be deleted; being asked again costs a load, being wrong more). Lock held. */
static void change_apply(struct serving *s, const struct store_change *change) {
    if (change->kind != STORE_CHANGE_MODEL)
        return;
    name_forget(s, change->name);
    slots_drop(s, change->name);
}

/* Takes in what was committed since the last look. The store is asked without our lock held; of two threads that asked at once the second finds its news old. */
static void absorb(struct serving *s) {
    struct store_change changes[64];
    for (;;) {
        int64_t since = atomic_load_explicit(&s->seen, memory_order_acquire), last = store_changes_last(s->store);
        if (since == last)
            return;
        bool lost = false;
        size_t n = store_changes(s->store, since, changes, sizeof changes / sizeof changes[0], &lost);
        pthread_mutex_lock(&s->lock);
        if (atomic_load_explicit(&s->seen, memory_order_relaxed) == since) {
            if (lost) {
                names_forget_all(s);
                slots_drop(s, NULL);
            }
            for (size_t i = 0; i < n && !lost; i++)
                change_apply(s, &changes[i]);
            atomic_store_explicit(&s->seen, lost || n == 0 ? last : changes[n - 1].seq, memory_order_release);
        }
        pthread_mutex_unlock(&s->lock);
    }
}

static const struct serving_model *borrow(struct serving *s, struct slot *slot) {
    slot->users++;
    slot->used = ++s->tick;
    return &slot->pub;
}

const struct serving_model *serving_try(struct serving *s, const char *name, int64_t version) {
    const struct serving_model *found = NULL;
    absorb(s);
    pthread_mutex_lock(&s->lock);
    if (version == 0) {
        struct name *n = *name_find(s, name);
        version = n ? n->live : -1;
    }
    struct slot *slot = version > 0 ? *slot_find(s, name, version) : NULL;
    if (slot && slot->state == SLOT_READY) {
        s->stats.hits++;
        found = borrow(s, slot);
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* Gives up a use; frees the slot if it was the last of one that left the table. Lock held. */
static void release(struct serving *s, struct slot *slot) {
    assert(slot->users > 0);
    slot->users--;
    if (slot->users == 0) {
        if (slot->dropped)
            slot_free(slot);
        else if (s->stats.bytes > s->budget)
            evict(s);
    }
}

void serving_release(struct serving *s, const struct serving_model *model) {
    if (!model)
        return;
    pthread_mutex_lock(&s->lock);
    release(s, (struct slot *)(uintptr_t)model); /* pub is the first member */
    pthread_mutex_unlock(&s->lock);
}

/* Reads and decodes a version outside the lock. */
static dn_model *load(struct serving *s, const char *name, int64_t version, struct problem *problem) {
    struct store_model m;
    dn_model *model = NULL;
    struct buf bytes = {0};
    dn_error err;
    dn_error_clear(&err);
    if (!store_model_get(s->store, name, version, &m, problem))
        return NULL;
    if (store_model_bytes(s->store, m.id, &bytes, problem) && dn_model_read(bytes.data, bytes.size, &model, &err) != DN_OK)
        problem_set(problem, PROBLEM_INTERNAL, "model %s version %lld cannot be read back: %s", name, (long long)version, err.message);
    if (problem->type == PROBLEM_INTERNAL)
        log_error("model.load", log_str("model", name), log_int("version", version), log_str("detail", problem->detail));
    buf_done(&bytes);
    store_model_done(&m);
    return model;
}

/* A new slot in state loading with one user; NULL: no memory. Lock held. */
static struct slot *slot_add(struct serving *s, const char *name, int64_t version) {
    struct slot *slot = calloc(1, sizeof *slot);
    if (!slot)
        return NULL;
    memcpy(slot->pub.name, name, strlen(name) + 1);
    slot->pub.version = version;
    slot->users = 1;
    struct slot **at = slot_find(s, name, version);
    slot->next = *at;
    *at = slot;
    if (++s->n_slots > s->n_slot_buckets)
        slots_grow(s);
    return slot;
}

/* Ends a load: publishes the model or the failure to all who wait. Lock held. */
static void slot_settle(struct serving *s, struct slot *slot, dn_model *model, const struct problem *problem) {
    s->stats.loads++;
    if (model) {
        slot->model = model;
        slot->pub.model = model;
        slot->bytes = (int64_t)dn_model_memory(model);
        slot->state = SLOT_READY;
        slot->used = ++s->tick;
        if (!slot->dropped) {
            s->stats.models++;
            s->stats.bytes += slot->bytes;
            evict(s);
        }
    } else {
        problem_copy(&slot->problem, problem);
        slot->state = SLOT_FAILED;
        if (!slot->dropped)
            slot_drop(s, slot_find(s, slot->pub.name, slot->pub.version)); /* the next one who asks tries again */
    }
    pthread_cond_broadcast(&s->loaded);
}

/* Which version is live, asking the store if the table does not know. 0: problem. The answer is remembered only if nothing changed while it was read. */
static int64_t live_version(struct serving *s, const char *name, struct problem *problem) {
    absorb(s);
    pthread_mutex_lock(&s->lock);
    struct name *n = *name_find(s, name);
    int64_t live = n ? n->live : 0, seen = s->seen;
    pthread_mutex_unlock(&s->lock);
    if (live != 0)
        return live;
    struct store_model m;
    if (!store_model_get(s->store, name, 0, &m, problem))
        return 0;
    live = m.version;
    store_model_done(&m);
    absorb(s);
    pthread_mutex_lock(&s->lock);
    if (s->seen == seen)
        name_remember(s, name, live);
    pthread_mutex_unlock(&s->lock);
    return live;
}

const struct serving_model *serving_get(struct serving *s, const char *name, int64_t version, struct problem *problem) {
    if (!ids_name_valid(name, strlen(name))) {
        problem_set(problem, PROBLEM_UNKNOWN_MODEL, "there is no model \"%s\"", name);
        return NULL;
    }
    if (version == 0 && (version = live_version(s, name, problem)) == 0)
        return NULL;
    absorb(s);
    pthread_mutex_lock(&s->lock);
    struct slot *slot = *slot_find(s, name, version);
    if (!slot) {
        slot = slot_add(s, name, version);
        if (!slot) {
            pthread_mutex_unlock(&s->lock);
            problem_set(problem, PROBLEM_UNAVAILABLE, "no memory to load model %s", name);
            return NULL;
        }
        pthread_mutex_unlock(&s->lock);
        struct problem why = {0};
        dn_model *model = load(s, name, version, &why);
        pthread_mutex_lock(&s->lock);
        slot_settle(s, slot, model, &why);
        problem_done(&why);
    } else {
        slot->users++;
        while (slot->state == SLOT_LOADING)
            pthread_cond_wait(&s->loaded, &s->lock);
    }
    const struct serving_model *found = NULL;
    if (slot->state == SLOT_READY) {
        slot->used = ++s->tick;
        found = &slot->pub;
    } else {
        problem_copy(problem, &slot->problem);
        release(s, slot);
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

bool serving_open(struct store *store, int64_t cache_bytes, struct serving **out, struct problem *problem) {
    struct serving *s = calloc(1, sizeof *s);
    if (s) {
        s->names = calloc(TABLE_MIN, sizeof(struct name *));
        s->slots = calloc(TABLE_MIN, sizeof(struct slot *));
    }
    if (!s || !s->names || !s->slots) {
        if (s) {
            free(s->names);
            free(s->slots);
        }
        free(s);
        return problem_set(problem, PROBLEM_INTERNAL, "out of memory");
    }
    s->n_name_buckets = s->n_slot_buckets = TABLE_MIN;
    s->store = store;
    s->budget = cache_bytes;
    atomic_init(&s->seen, store_changes_last(store));
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->loaded, NULL);
    *out = s;
    return true;
}

void serving_close(struct serving *s) {
    if (!s)
        return;
    names_forget_all(s);
    for (size_t b = 0; b < s->n_slot_buckets; b++)
        while (s->slots[b]) {
            assert(s->slots[b]->users == 0);
            slot_drop(s, &s->slots[b]);
        }
    pthread_cond_destroy(&s->loaded);
    pthread_mutex_destroy(&s->lock);
    free(s->names);
    free(s->slots);
    free(s);
}

void serving_stats(struct serving *s, struct serving_stats *out) {
    pthread_mutex_lock(&s->lock);
    *out = s->stats;
    pthread_mutex_unlock(&s->lock);
}
