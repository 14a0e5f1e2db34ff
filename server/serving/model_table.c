/* Two hash tables with chaining, and eviction of the least recently used models. */
#include "serving/model_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MIN 64 /* buckets; grows by doubling */

/* A name and its live version. */
struct model_name {
    char name[IDS_NAME_SIZE];
    int64_t live;
    struct model_name *next;
};

static size_t hash_name(const char *name, int64_t version) {
    uint64_t h = 1469598103934665603u ^ (uint64_t)version; /* FNV-1a */
    for (const char *c = name; *c; c++) {
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    }
    return (size_t)(h ^ (h >> 32));
}

static void slot_remove(struct model_table *t, struct model_slot *slot) {
    slot->next = t->removed;
    t->removed = slot;
}

struct model_slot *model_table_take_removed(struct model_table *t) {
    struct model_slot *slots = t->removed;
    t->removed = NULL;
    return slots;
}

void model_loaded_free(struct model_loaded *loaded) {
    if (loaded->plan_free != NULL) {
        loaded->plan_free(loaded->plan);
    }
    dn_model_unref(loaded->model);
}

void model_slots_free(struct model_slot *slots) {
    while (slots != NULL) {
        struct model_slot *slot = slots;
        slots = slot->next;
        model_loaded_free(&slot->loaded);
        problem_done(&slot->problem);
        free(slot);
    }
}

/* ---- the table of names ---- */

static struct model_name **name_find(const struct model_table *t, const char *name) {
    struct model_name **at = &t->names[hash_name(name, 0) & (t->n_name_buckets - 1)];
    while (*at && strcmp((*at)->name, name) != 0) {
        at = &(*at)->next;
    }
    return at;
}

static void names_forget_all(struct model_table *t) {
    for (size_t b = 0; b < t->n_name_buckets; b++) {
        while (t->names[b]) {
            struct model_name *n = t->names[b];
            t->names[b] = n->next;
            free(n);
        }
    }
    t->n_names = 0;
}

static void name_forget(struct model_table *t, const char *name) {
    struct model_name **at = name_find(t, name);
    if (*at) {
        struct model_name *n = *at;
        *at = n->next;
        free(n);
        t->n_names--;
    }
}

static void names_grow(struct model_table *t) {
    size_t n = t->n_name_buckets * 2;
    struct model_name **fresh = calloc(n, sizeof *fresh);
    if (!fresh) {
        return; /* the chains get longer */
    }
    for (size_t b = 0; b < t->n_name_buckets; b++) {
        for (struct model_name *e = t->names[b], *next; e; e = next) {
            next = e->next;
            size_t k = hash_name(e->name, 0) & (n - 1);
            e->next = fresh[k];
            fresh[k] = e;
        }
    }
    free(t->names);
    t->names = fresh;
    t->n_name_buckets = n;
}

int64_t model_table_live(const struct model_table *t, const char *name) {
    const struct model_name *n = *name_find(t, name);
    return n ? n->live : 0;
}

void model_table_set_live(struct model_table *t, const char *name, int64_t version) {
    struct model_name **at = name_find(t, name);
    if (*at) {
        (*at)->live = version;
        return;
    }
    struct model_name *n = calloc(1, sizeof *n);
    if (!n) {
        return; /* the next call reads the store again */
    }
    memcpy(n->name, name, strlen(name) + 1);
    n->live = version;
    n->next = *at;
    *at = n;
    if (++t->n_names > t->n_name_buckets) {
        names_grow(t);
    }
}

/* ---- the table of versions ---- */

static struct model_slot **slot_find(const struct model_table *t, const char *name,
                                     int64_t version) {
    struct model_slot **at = &t->slots[hash_name(name, version) & (t->n_slot_buckets - 1)];
    while (*at && ((*at)->pub.version != version || strcmp((*at)->pub.name, name) != 0)) {
        at = &(*at)->next;
    }
    return at;
}

static void slots_grow(struct model_table *t) {
    size_t n = t->n_slot_buckets * 2;
    struct model_slot **fresh = calloc(n, sizeof *fresh);
    if (!fresh) {
        return;
    }
    for (size_t b = 0; b < t->n_slot_buckets; b++) {
        for (struct model_slot *e = t->slots[b], *next; e; e = next) {
            next = e->next;
            size_t k = hash_name(e->pub.name, e->pub.version) & (n - 1);
            e->next = fresh[k];
            fresh[k] = e;
        }
    }
    free(t->slots);
    t->slots = fresh;
    t->n_slot_buckets = n;
}

static void slot_drop(struct model_table *t, struct model_slot **at) {
    struct model_slot *slot = *at;
    assert(slot != NULL);
    *at = slot->next;
    t->n_slots--;
    if (slot->state == SLOT_READY) {
        t->stats.models--;
        t->stats.bytes -= slot->bytes;
    }
    slot->dropped = true;
    if (slot->users == 0) {
        slot_remove(t, slot);
    }
}

/* Drops unused models, the least recently used first, until the models fit the budget. */
static void evict(struct model_table *t) {
    while (t->stats.bytes > t->budget) {
        struct model_slot **oldest = NULL;
        for (size_t b = 0; b < t->n_slot_buckets; b++) {
            for (struct model_slot **at = &t->slots[b]; *at; at = &(*at)->next) {
                if ((*at)->users == 0 && (*at)->state == SLOT_READY &&
                    (!oldest || (*at)->used < (*oldest)->used)) {
                    oldest = at;
                }
            }
        }
        if (!oldest) {
            return;
        }
        t->stats.evictions++;
        slot_drop(t, oldest);
    }
}

/* Returns true if the change removes the version of the slot. change NULL: true for every slot. */
static bool is_gone(const struct model_slot *slot, const struct store_change *change) {
    return change == NULL ||
           (strcmp(slot->pub.name, change->name) == 0 &&
            (slot->pub.version < change->oldest || slot->pub.version == change->removed));
}

static void slots_drop(struct model_table *t, const struct store_change *change) {
    for (size_t b = 0; b < t->n_slot_buckets; b++) {
        for (struct model_slot **at = &t->slots[b]; *at;) {
            if (is_gone(*at, change)) {
                slot_drop(t, at);
            } else {
                at = &(*at)->next;
            }
        }
    }
}

struct model_slot *model_table_find(const struct model_table *t, const char *name,
                                    int64_t version) {
    return *slot_find(t, name, version);
}

struct model_slot *model_table_add(struct model_table *t, const char *name, int64_t version) {
    struct model_slot *slot = calloc(1, sizeof *slot);
    if (!slot) {
        return NULL;
    }
    memcpy(slot->pub.name, name, strlen(name) + 1);
    slot->pub.version = version;
    slot->users = 1;
    struct model_slot **at = slot_find(t, name, version);
    slot->next = *at;
    *at = slot;
    if (++t->n_slots > t->n_slot_buckets) {
        slots_grow(t);
    }
    return slot;
}

void model_table_touch(struct model_table *t, struct model_slot *slot) {
    slot->used = ++t->tick;
}

void model_table_end_load(struct model_table *t, struct model_slot *slot,
                          const struct model_loaded *loaded, const struct problem *problem) {
    t->stats.loads++;
    if (loaded != NULL) {
        slot->loaded = *loaded;
        slot->pub.model = loaded->model;
        slot->pub.plan = loaded->plan;
        slot->bytes = (int64_t)dn_model_memory(loaded->model);
        slot->state = SLOT_READY;
        model_table_touch(t, slot);
        if (!slot->dropped) {
            t->stats.models++;
            t->stats.bytes += slot->bytes;
            evict(t);
        }
    } else {
        problem_copy(&slot->problem, problem);
        slot->state = SLOT_FAILED;
        if (!slot->dropped) {
            slot_drop(t, slot_find(t, slot->pub.name,
                                   slot->pub.version)); /* the next call loads it again */
        }
    }
}

void model_table_release(struct model_table *t, struct model_slot *slot) {
    assert(slot->users > 0);
    slot->users--;
    if (slot->users == 0) {
        if (slot->dropped) {
            slot_remove(t, slot);
        } else if (t->stats.bytes > t->budget) {
            evict(t);
        }
    }
}

/* ---- both tables ---- */

void model_table_change(struct model_table *t, const struct store_change *change) {
    if (change->live == 0) {
        name_forget(t, change->name);
    } else if (model_table_live(t, change->name) != 0) {
        model_table_set_live(t, change->name, change->live);
    }
    if (change->oldest > 0 || change->removed > 0) {
        slots_drop(t, change);
    }
}

void model_table_forget(struct model_table *t) {
    names_forget_all(t);
    slots_drop(t, NULL);
}

bool model_table_init(struct model_table *t, int64_t budget) {
    struct model_name **names = calloc(TABLE_MIN, sizeof *names);
    struct model_slot **slots = calloc(TABLE_MIN, sizeof *slots);
    if (!names || !slots) {
        free(names);
        free(slots);
        return false;
    }
    *t = (struct model_table){.budget = budget,
                              .names = names,
                              .slots = slots,
                              .n_name_buckets = TABLE_MIN,
                              .n_slot_buckets = TABLE_MIN};
    return true;
}

void model_table_done(struct model_table *t) {
    for (size_t b = 0; b < t->n_slot_buckets; b++) {
        for (const struct model_slot *slot = t->slots[b]; slot; slot = slot->next) {
            assert(slot->users == 0);
        }
    }
    model_table_forget(t);
    model_slots_free(model_table_take_removed(t));
    free(t->names);
    free(t->slots);
}
