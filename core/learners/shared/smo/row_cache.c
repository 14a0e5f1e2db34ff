/* Slots in a ring, in the order of their use. */
#include "learners/shared/smo/row_cache.h"

#include <math.h>
#include <string.h>

/* A place for a row. */
struct dni_row_slot {
    uint32_t variable;     /* whose row; DNI_NO_PLACE: free */
    uint32_t before, next; /* in the order of use; slot 0 is the ring's head and keeps nothing */
};

/* More rows than variables are never kept. */
static double cache_floats(size_t n, double bytes) {
    return fmin(floor(bytes / sizeof(float)), (double)n * (double)n);
}

double dni_row_cache_memory(size_t n, double bytes) {
    return sizeof(float) * cache_floats(n, bytes) +
           (double)n * (sizeof(uint32_t) + sizeof(struct dni_row_slot));
}

dn_status dni_row_cache_init(dni_row_cache *cache, size_t n, uint32_t *slot_of, double bytes,
                             const dn_run *run, dn_error *err) {
    void *kept, *slots;
    const size_t room = (size_t)cache_floats(n, bytes);
    dn_status status =
        dn_run_alloc(run, room, sizeof(float), "the cache of kernel rows (cache_mib)", &kept, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_run_alloc(run, n + 1, sizeof(struct dni_row_slot), "the places of kernel rows",
                          &slots, err);
    if (status != DN_OK) {
        dn_run_free(run, kept);
        return status;
    }
    *cache = (dni_row_cache){
        .run = run, .kept = kept, .room = room, .slots = slots, .slot_of = slot_of, .n = n};
    dni_row_cache_forget(cache, n);
    return DN_OK;
}

void dni_row_cache_done(dni_row_cache *cache) {
    dn_run_free(cache->run, cache->kept);
    dn_run_free(cache->run, cache->slots);
}

static size_t slots_for(const dni_row_cache *cache, size_t n_active) {
    const size_t n_slots = n_active == 0 ? 0 : cache->room / n_active;
    return n_slots > cache->n ? cache->n : n_slots;
}

void dni_row_cache_forget(dni_row_cache *cache, size_t n_active) {
    cache->n_active = n_active;
    cache->n_slots = slots_for(cache, n_active);
    memset(cache->slot_of, 0, cache->n * sizeof *cache->slot_of);
    for (size_t s = 0; s <= cache->n_slots; s++) {
        cache->slots[s].variable = DNI_NO_PLACE;
        cache->slots[s].before = (uint32_t)(s == 0 ? cache->n_slots : s - 1);
        cache->slots[s].next = (uint32_t)(s == cache->n_slots ? 0 : s + 1);
    }
}

/* ---- the ring ---- */
static void take_out(dni_row_cache *cache, uint32_t s) {
    const struct dni_row_slot *slot = &cache->slots[s];
    cache->slots[slot->before].next = slot->next;
    cache->slots[slot->next].before = slot->before;
}

/* The last used stands before the head. */
static void put_last(dni_row_cache *cache, uint32_t s) {
    struct dni_row_slot *slot = &cache->slots[s], *head = &cache->slots[0];
    slot->before = head->before;
    slot->next = 0;
    cache->slots[head->before].next = s;
    head->before = s;
}

/* Free, and the next to be taken. */
static void put_first(dni_row_cache *cache, uint32_t s) {
    struct dni_row_slot *slot = &cache->slots[s], *head = &cache->slots[0];
    slot->variable = DNI_NO_PLACE;
    slot->before = 0;
    slot->next = head->next;
    cache->slots[head->next].before = s;
    head->next = s;
}

float *dni_row_cache_get(dni_row_cache *cache, size_t variable, bool *known) {
    uint32_t s = cache->slot_of[variable];
    if (cache->n_slots == 0) {
        return NULL;
    }
    *known = s != 0;
    if (s == 0) {
        s = cache->slots[0].next;
        if (cache->slots[s].variable != DNI_NO_PLACE) {
            cache->slot_of[cache->slots[s].variable] = 0;
        }
        cache->slots[s].variable = (uint32_t)variable;
        cache->slot_of[variable] = s;
    }
    take_out(cache, s);
    put_last(cache, s);
    return cache->kept + (s - 1) * cache->n_active;
}

void dni_row_cache_narrow(dni_row_cache *cache, const uint32_t *active, size_t n_active,
                          const uint32_t *place) {
    const size_t before = cache->n_active, n_slots = cache->n_slots;
    for (size_t s = 1; s <= n_slots; s++) {
        if (cache->slots[s].variable == DNI_NO_PLACE) {
            continue;
        }
        const float *from = cache->kept + (s - 1) * before;
        float *to = cache->kept + (s - 1) * n_active;
        for (size_t k = 0; k < n_active; k++) {
            to[k] = from[place[active[k]]];
        }
    }
    cache->n_active = n_active;
    cache->n_slots = slots_for(cache, n_active);
    for (uint32_t s = (uint32_t)n_slots + 1; s <= cache->n_slots; s++) {
        put_first(cache, s);
    }
}

void dni_row_cache_drop(dni_row_cache *cache, const uint32_t *place) {
    for (uint32_t s = 1; s <= cache->n_slots; s++) {
        const uint32_t variable = cache->slots[s].variable;
        if (variable == DNI_NO_PLACE || place[variable] != DNI_NO_PLACE) {
            continue;
        }
        cache->slot_of[variable] = 0;
        take_out(cache, s);
        put_first(cache, s);
    }
}
